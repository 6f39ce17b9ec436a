/* A GPU's timer against ours: drift, readings that are late, and times that never go back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/gpu/gpu_clock.h"

#define S 1000000000ll
#define MS 1000000ll
#define OFFSET 1700000000000000000ull

static uint64_t ticks_at(int64_t raw, double ppm)
{
	return OFFSET + (uint64_t)raw + (uint64_t)(int64_t)((double)raw * ppm * 1e-6);
}

/* A number from 0 to `most`, mostly small: delays are like that. */
static int64_t delay(uint32_t *seed, int64_t most)
{
	double u;

	*seed = *seed * 1664525u + 1013904223u;
	u = (double)(*seed >> 8) / (1 << 24);
	return (int64_t)((double)most * u * u * u);
}

struct outcome {
	int64_t worst; /* distance from the truth after the first seconds */
	int64_t worst_ever;
	int64_t stated;
};

/* For a minute: every 20 ms a reading whose raw time is late by up to `late` ns, and samples every ms before it. */
static struct outcome run(double ppm, int64_t late, int64_t settled)
{
	struct gpu_clock c = { 0 };
	struct gpu_reading r, kept;
	struct outcome o = { 0, 0, 0 };
	uint32_t seed = 4711;
	int64_t last = INT64_MIN, time, off, d;

	for (int64_t raw = 100 * S; raw < 160 * S; raw += 20 * MS) {
		d = delay(&seed, late) + 500;
		r = (struct gpu_reading){ ticks_at(raw, ppm), raw + d / 2, d };
		gpu_clock_add(&c, &r, &kept);
		for (int64_t at = raw - 20 * MS; at < raw; at += MS) {
			time = gpu_clock_raw(&c, ticks_at(at, ppm));
			assert_true(time >= last);
			last = time;
			off = time > at ? time - at : at - time;
			if (off > o.worst_ever)
				o.worst_ever = off;
			if (raw >= 100 * S + settled && off > o.worst)
				o.worst = off;
		}
	}
	o.stated = gpu_clock_error(&c);
	return o;
}

static void precise_readings(void **state)
{
	for (int ppm = -100; ppm <= 100; ppm += 25) {
		struct outcome o = run(ppm, 5000, 3 * S);

		assert_in_range(o.worst, 0, 5000);
		/* Before the drift is known: as much as it makes in two windows. */
		assert_in_range(o.worst_ever, 0, 120000);
		assert_true(o.worst_ever <= o.stated + 5000);
	}
}

static void poor_readings(void **state)
{
	struct outcome o = run(50, 3 * MS, 10 * S);

	assert_in_range(o.worst, 0, 100000);
	assert_true(o.worst_ever <= o.stated + 100000);
}

/* The first reading was 20 ms late: made good without going back. */
static void a_bad_first_reading(void **state)
{
	struct gpu_clock c = { 0 };
	struct gpu_reading r = { ticks_at(S, 0), S + 20 * MS, 40 * MS }, kept;
	int64_t last = 0, time = 0;

	assert_int_equal(gpu_clock_add(&c, &r, &kept), 1);
	for (int64_t raw = S + MS; raw < 5 * S; raw += MS) {
		r = (struct gpu_reading){ ticks_at(raw, 0), raw, 1000 };
		gpu_clock_add(&c, &r, &kept);
		time = gpu_clock_raw(&c, ticks_at(raw, 0));
		assert_true(time >= last);
		last = time;
	}
	assert_in_range(time - (5 * S - MS) + 2000, 0, 4000);
	assert_true(gpu_clock_error(&c) >= 20 * MS);
}

/* Of each window one reading counts, the narrowest. */
static void one_of_a_window(void **state)
{
	struct gpu_clock c = { 0 };
	struct gpu_reading r, kept;
	int count = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t raw = S + i * 10 * MS;

		r = (struct gpu_reading){ ticks_at(raw, 0), raw, i % 50 == 30 ? 100 : 5000 };
		if (gpu_clock_add(&c, &r, &kept)) {
			assert_int_equal(kept.error, count ? 100 : 5000);
			count++;
		}
	}
	assert_in_range(count, 18, 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(precise_readings),
		cmocka_unit_test(poor_readings),
		cmocka_unit_test(a_bad_first_reading),
		cmocka_unit_test(one_of_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
