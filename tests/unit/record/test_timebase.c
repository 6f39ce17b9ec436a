/* Conversion of ticks: bracketed, piecewise, and the quick way as exact as the slow one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/session/timebase.h"

#define HZ 2800000000ll
#define START 5000000000000ll

/* A TSC that starts at 7e12 and runs 500 ppm fast against the reference between
 * 1 s and 2 s, 500 ppm slow between 2 s and 3 s, right otherwise. */
static int64_t ticks_at(int64_t ns)
{
	double fast = 0;

	if (ns > 1000000000)
		fast += 500e-6 * (double)((ns < 2000000000 ? ns : 2000000000) - 1000000000);
	if (ns > 2000000000)
		fast -= 500e-6 * (double)((ns < 3000000000 ? ns : 3000000000) - 2000000000);
	return 7000000000000ll + (int64_t)(((double)ns + fast) * ((double)HZ / 1e9));
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

static void add(struct timebase *t, struct clock_map *map, int64_t ns)
{
	struct clock_snapshot s = { .ticks = ticks_at(ns), .raw = START + ns };

	assert_true(timebase_add(t, &s) >= 0);
	assert_int_equal(clock_map_add(map, &s), 0);
}

/* Snapshots every 10 ms: times between are right to 5 ns in spite of the slew. */
static void slew_is_followed(void **state)
{
	struct timebase t;
	struct clock_map map = CLOCK_MAP_INIT;

	timebase_init(&t, 1, START);
	add(&t, &map, 0);
	for (int64_t ns = 10000000; ns <= 4000000000; ns += 10000000) {
		add(&t, &map, ns);
		for (int64_t at = ns - 10000000; at < ns; at += 333331) {
			int64_t time = timebase_convert(&t, (uint64_t)ticks_at(at));

			assert_true(distance(time, at) <= 5);
			assert_true(distance(time + START, clock_map_to_raw(&map, ticks_at(at))) <= 1);
		}
	}
	clock_map_release(&map);
	timebase_release(&t);
}

/* A hundred thousand snapshots: old ones are forgotten, but a late stamp is still right to
 * what a kept snapshot in about 50 ms allows. */
static void late_stamps_use_the_kept_snapshots(void **state)
{
	struct timebase t;
	struct clock_snapshot s;
	int kept = 0;

	timebase_init(&t, 1, START);
	for (int64_t ns = 0; ns <= 4000000000; ns += 400000) {
		s = (struct clock_snapshot){ .ticks = ticks_at(ns), .raw = START + ns };
		kept += timebase_add(&t, &s) == 1;
	}
	assert_true(kept >= 80 && kept <= 90);
	assert_true(t.fine.count < 4096);
	assert_true(distance(timebase_convert(&t, (uint64_t)ticks_at(500000000)), 500000000) <= 5);
	assert_true(distance(timebase_convert(&t, (uint64_t)ticks_at(1500000000)), 1500000000) <= 5);
	timebase_release(&t);
}

/* A clock of another kind (a GPU's timer at 1 MHz, begun elsewhere) is just other snapshots. */
static void another_domain(void **state)
{
	struct timebase t;
	struct clock_snapshot s;

	timebase_init(&t, 0, START);
	for (int64_t i = 0; i <= 10; i++) {
		s = (struct clock_snapshot){ .ticks = 42 + i * 100000, .raw = START + i * 100000000 };
		assert_true(timebase_add(&t, &s) >= 0);
	}
	assert_int_equal(timebase_convert(&t, 42), 0);
	assert_int_equal(timebase_convert(&t, 42 + 123456), 123456000);
	assert_int_equal(timebase_convert(&t, 42 + 1000100), 1000100000); /* a little beyond */
	s.ticks -= 1;
	assert_int_equal(timebase_add(&t, &s), -EINVAL);
	timebase_release(&t);
}

static void wild_stamps_do_no_harm(void **state)
{
	struct timebase t;
	struct clock_snapshot a = { .ticks = 1000, .raw = START }, b = { .ticks = 2000, .raw = START + 1000 };

	timebase_init(&t, 1, START);
	timebase_add(&t, &a);
	timebase_add(&t, &b);
	timebase_convert(&t, 0);
	timebase_convert(&t, UINT64_MAX);
	timebase_convert(&t, UINT64_C(1) << 63);
	timebase_convert(&t, INT64_MAX);
	assert_int_equal(timebase_convert(&t, 1500), 500);
	timebase_release(&t);
}

static void real_snapshots_bracket(void **state)
{
	struct timebase t;
	struct clock_snapshot s, first;
	int64_t before, after;

	clock_take_snapshot(clock_tsc_trusted(), &first);
	timebase_init(&t, clock_tsc_trusted(), first.raw);
	assert_true(timebase_snap(&t, &s) >= 0);
	before = timebase_now(&t);
	clock_take_snapshot(t.use_tsc, &first); /* only its ticks are used below */
	after = timebase_now(&t);
	assert_true(timebase_snap(&t, &s) >= 0);
	assert_true(timebase_convert(&t, (uint64_t)first.ticks) >= before - 1000);
	assert_true(timebase_convert(&t, (uint64_t)first.ticks) <= after + 1000);
	timebase_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slew_is_followed),       cmocka_unit_test(late_stamps_use_the_kept_snapshots),
		cmocka_unit_test(another_domain),         cmocka_unit_test(wild_stamps_do_no_harm),
		cmocka_unit_test(real_snapshots_bracket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
