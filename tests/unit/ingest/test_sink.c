/* Rows that do not fit into memory come back sorted, complete and in order of arrival where they are equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/rows/sink_store.h"

#define TRACKS 3u
#define SMALL (64u << 10)

struct expected {
	int64_t start, end, serial;
};

struct seen {
	const struct expected *wanted;
	size_t at, count;
	int is_span;
};

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 8;
}

/* By arrival in the end: what a stable sort gives. */
static int compare_spans(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->serial < y->serial ? -1 : 1;
}

static int compare_points(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->serial < y->serial ? -1 : 1;
}

static void check_row(void *context, const int64_t *row)
{
	struct seen *seen = context;
	const struct expected *w = &seen->wanted[seen->at];
	int has_extra = w->serial % 3 == 0;

	assert_true(seen->at < seen->count);
	assert_int_equal((uint32_t)row[0], has_extra ? 0x2b : 0xb);
	assert_int_equal(row[1], w->start);
	assert_int_equal(row[2], w->end);
	assert_int_equal(row[3], w->serial);
	if (has_extra)
		assert_int_equal(row[4], -w->serial);
	seen->at++;
}

static void put_row(struct store *s, struct store_track *t, const struct expected *e)
{
	int r = 0;
	int64_t *row = store_row(s, t, e->serial % 3 ? 0xb : 0x2b, &r);

	assert_non_null(row);
	row[1] = e->start;
	row[2] = e->end;
	row[3] = e->serial;
	if (e->serial % 3 == 0)
		row[4] = -e->serial;
}

static void round_trip(size_t per_track, int disorder, int wants_file)
{
	struct expected *wanted[TRACKS];
	struct store_track tracks[TRACKS];
	unsigned state = 7;
	struct store s;

	assert_int_equal(store_begin(&s, "/nowhere/at all", SMALL), 0);
	for (unsigned t = 0; t < TRACKS; t++) {
		store_add_track(&s, &tracks[t], t != 1);
		wanted[t] = calloc(per_track, sizeof(*wanted[t]));
	}
	for (size_t i = 0; i < per_track; i++) {
		for (unsigned t = 0; t < TRACKS; t++) {
			struct expected *e = &wanted[t][i];

			e->start = (int64_t)(i / 4) + (disorder ? next_random(&state) % (unsigned)disorder : 0);
			e->end = e->start + next_random(&state) % 3;
			e->serial = (int64_t)i;
			put_row(&s, &tracks[t], e);
		}
	}
	assert_int_equal(store_end(&s), 0);
	assert_int_equal(s.fd >= 0, wants_file);
	for (unsigned t = 0; t < TRACKS; t++) {
		struct seen seen = { wanted[t], 0, per_track, t != 1 };

		qsort(wanted[t], per_track, sizeof(*wanted[t]), t != 1 ? compare_spans : compare_points);
		assert_int_equal(store_each(&s, &tracks[t], check_row, &seen), 0);
		assert_int_equal(seen.at, per_track);
		free(wanted[t]);
	}
	store_release(&s);
}

static void in_memory(void **state)
{
	round_trip(0, 0, 0);
	round_trip(500, 0, 0);
	round_trip(500, 1000, 0);
}

static void through_the_file(void **state)
{
	round_trip(20000, 0, 1);
	round_trip(20000, 100, 1);
	round_trip(20000, 1000000, 1);
}

/* More runs than are merged at once: 200000 rows of 36 bytes and more in pieces of 64 KiB. */
static void in_two_passes(void **state)
{
	round_trip(200000, 100000, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_memory),
		cmocka_unit_test(through_the_file),
		cmocka_unit_test(in_two_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
