/* Tiles of random tracks against what a loop over all events gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/writer.h"
#include "view/report/coarse.h"
#include "view/tiles/tile.h"

#define EVENTS 60000
/* In the folder of the test, which may run twice at once. */
#define PATH view_path()

static const char *view_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "./view-test-%d.sonde", (int)getpid());
	return path;
}

struct truth {
	int64_t start[EVENTS];
	int64_t end[EVENTS];
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Bursts and pauses; lengths from nothing to much longer than all others. */
static void make_truth(struct truth *t, uint64_t seed)
{
	int64_t time = -100000;

	for (int i = 0; i < EVENTS; i++) {
		uint64_t x = next_random(&seed);

		time += (int64_t)(x % 64 == 0 ? next_random(&seed) % 500000 : x % 700);
		t->start[i] = time;
		x = next_random(&seed);
		time += (int64_t)(x % 512 == 0 ? next_random(&seed) % 3000000 : x % 8 == 0 ? 0 : x % 900);
		t->end[i] = time;
	}
}

static bool is_open(int i)
{
	return i % 3 == 0;
}

static struct view_report *write_and_open(const struct truth *t)
{
	struct report_writer *w;
	struct view_report *r;
	struct error err;
	int64_t track[] = { 1, TRACK_NVTX_PUSHPOP, 1, 1, 0, 0 };

	unlink(PATH);
	assert_int_equal(report_writer_open(&w, PATH, 1, NULL, 0, &err), 0);
	report_append(report_track(w, TABLE_TRACK, 0), track, 0x3f);
	for (int i = 0; i < EVENTS; i++) {
		int64_t row[] = { t->start[i], t->end[i], (int64_t)report_string(w, i % 2 ? "odd" : "even", i % 2 ? 3 : 4), SLICE_OPEN };

		assert_int_equal(report_append(report_track(w, TABLE_SLICE, 1), row, is_open(i) ? 15 : 7), 0);
	}
	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(view_report_open(&r, PATH, PATH, &err), 0);
	return r;
}

static void compare_tile(const struct tile *t, const struct truth *truth, bool summed)
{
	uint64_t width = UINT64_C(1) << t->level, busy[TILE_BUCKETS] = { 0 };
	uint32_t begins[TILE_BUCKETS] = { 0 }, listed = 0;

	for (int i = 0; i < EVENTS; i++) {
		int64_t start = truth->start[i], end = truth->end[i];

		if (start >= t->to || (end <= t->from && start < t->from))
			continue;
		if ((uint64_t)(end - start) >= width) {
			assert_true(listed < t->listed_count);
			assert_int_equal(t->listed[listed].start, start);
			assert_int_equal(t->listed[listed].end, end);
			assert_int_equal(t->listed[listed].flags, is_open(i) ? CHUNK_OPEN : 0);
			assert_int_equal(t->listed[listed++].index, i);
			continue;
		}
		if (start >= t->from)
			begins[(uint64_t)(start - t->from) >> t->level]++;
		for (unsigned b = 0; b < TILE_BUCKETS; b++) {
			int64_t from = t->from + (int64_t)(b * width), to = from + (int64_t)width;

			from = start > from ? start : from;
			to = end < to ? end : to;
			busy[b] += to > from ? (uint64_t)(to - from) : 0;
		}
	}
	assert_int_equal(listed, t->listed_count);
	for (unsigned b = 0; b < TILE_BUCKETS; b++) {
		unsigned share = tile_share(t, b);
		double wanted = (double)busy[b] * 255 / (double)width;

		assert_int_equal(t->buckets[b].begins, begins[b]);
		if (begins[b])
			assert_true(share > 0);
		if (!begins[b] && !busy[b])
			assert_int_equal(share, 0);
		if (!summed)
			assert_int_equal(share,
					 begins[b] || busy[b] ? (wanted < 1 ? 1 : (unsigned)((busy[b] * 255 + width - 1) / width)) : 0);
		assert_true((double)share >= wanted - 1 && (double)share <= wanted + 2);
	}
}

static struct truth *new_truth(uint64_t seed)
{
	struct truth *t = malloc(sizeof(*t));

	make_truth(t, seed);
	return t;
}

static void compare_levels(struct view_report *r, const struct truth *truth, unsigned summed_from)
{
	struct tile *t = malloc(sizeof(*t));
	uint64_t seed = 3;

	for (unsigned level = 0; level <= 40; level++)
		for (int i = 0; i < (level > 20 ? 2 : 6); i++) {
			int64_t at = truth->start[next_random(&seed) % EVENTS], index = at >> (level + TILE_SHIFT);

			assert_true(tile_init(t, level, index));
			assert_true(at >= t->from && at < t->to);
			assert_int_equal(tile_add_track(t, r, &r->tracks[0]), 0);
			compare_tile(t, truth, level >= summed_from);
		}
	free(t);
}

static void exact_at_every_level(void **state)
{
	struct truth *truth = new_truth(1);
	struct view_report *r = write_and_open(truth);
	_Atomic bool stop = false;

	assert_int_equal(r->track_count, 1);
	assert_int_equal(r->tracks[0].rows, EVENTS);
	assert_true(r->tracks[0].group_count > 1);
	compare_levels(r, truth, r->groups[0].summary_level);
	/* The summaries were there, and used. */
	assert_true(r->groups[0].summary != NO_SUMMARY);
	assert_in_range(r->groups[0].summary_level, 8, 24);
	/* And with the track as a whole: finer than level 0, and exact. */
	assert_int_equal(view_report_sum_tracks(r, &stop), 0);
	assert_non_null(r->tracks[0].coarse);
	assert_true(r->tracks[0].coarse->level < r->groups[0].summary_level);
	compare_levels(r, truth, r->tracks[0].coarse->level);
	free(truth);
	view_report_close(r);
	unlink(PATH);
}

/* A tile has as much time in it as the two of the next finer level that lie in it, whatever these are made from. */
static void borders_do_not_matter(void **state)
{
	struct truth *truth = new_truth(5);
	struct view_report *r = write_and_open(truth);
	struct tile *wide = malloc(sizeof(*wide)), *half = malloc(sizeof(*half));
	uint64_t seed = 9;

	for (unsigned level = 1; level <= 40; level++) {
		int64_t index = truth->start[next_random(&seed) % EVENTS] >> (level + TILE_SHIFT);
		uint64_t busy = 0, halves = 0, width = UINT64_C(256) << level;

		assert_true(tile_init(wide, level, index));
		assert_int_equal(tile_add_heat(wide, r, (const struct view_track *[]){ &r->tracks[0] }, 1), 0);
		for (int side = 0; side < 2; side++) {
			assert_true(tile_init(half, level - 1, index * 2 + side));
			assert_int_equal(tile_add_heat(half, r, (const struct view_track *[]){ &r->tracks[0] }, 1), 0);
			for (unsigned b = 0; b < TILE_BUCKETS; b++)
				halves += half->buckets[b].busy;
		}
		for (unsigned b = 0; b < TILE_BUCKETS; b++)
			busy += wide->buckets[b].busy;
		assert_true(busy <= halves + width / 512 && halves <= busy + width / 512);
	}
	free(wide);
	free(half);
	free(truth);
	view_report_close(r);
	unlink(PATH);
}

#define VALUES 20000

/* Plots at every level, from values and from level 0; held ones have a value everywhere behind the first, others at the edges of
 * a tile that lies between two values. */
static void plots_at_every_level(void **state)
{
	static int64_t times[VALUES], values[VALUES];
	int64_t track[] = { 1, TRACK_COUNTER, 1, 1, 0, 0 }, time = 500, value = 0;
	struct plot *plot = malloc(sizeof(*plot));
	struct tile *t = malloc(sizeof(*t));
	struct report_writer *w;
	struct view_report *r;
	struct error err;
	uint64_t seed = 4;

	unlink(PATH);
	assert_int_equal(report_writer_open(&w, PATH, 1, NULL, 0, &err), 0);
	report_append(report_track(w, TABLE_TRACK, 0), track, 0x3f);
	for (int i = 0; i < VALUES; i++) {
		double real;
		int64_t row[3] = { times[i] = time += (int64_t)(next_random(&seed) % (i % 100 ? 3000 : 1000000)),
				   values[i] = value += (int64_t)(next_random(&seed) % 2001) - 1000 };

		/* Whole numbers and real ones in one track. */
		real = (double)row[1];
		memcpy(&row[2], &real, sizeof(real));
		assert_int_equal(report_append(report_track(w, TABLE_COUNTER, 1), row, i % 5 ? 3 : 5), 0);
	}
	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(view_report_open(&r, PATH, PATH, &err), 0);
	assert_true(r->groups[0].summary != NO_SUMMARY);
	for (unsigned level = 0; level <= 40; level++)
		for (int held = 0; held < 2; held++) {
			assert_true(tile_init(t, level, times[next_random(&seed) % VALUES] >> (level + TILE_SHIFT)));
			assert_int_equal(plot_fill(plot, t, r, &r->tracks[0], held), 0);
			for (unsigned b = 0; b < TILE_BUCKETS; b++) {
				int64_t from = t->from + ((int64_t)b << level), to = from + (INT64_C(1) << level), before = -1;
				double least = 1e18, most = -1e18, sum = 0;
				unsigned count = 0;
				bool carried;

				for (int i = 0; i < VALUES && times[i] < to; i++) {
					before = times[i] < from ? i : before;
					if (times[i] < from)
						continue;
					least = (double)values[i] < least ? (double)values[i] : least;
					most = (double)values[i] > most ? (double)values[i] : most;
					sum += (double)values[i];
					count++;
				}
				if (held && before >= 0 && (count || from <= times[VALUES - 1])) {
					least = (double)values[before] < least ? (double)values[before] : least;
					most = (double)values[before] > most ? (double)values[before] : most;
				}
				carried = !count && before >= 0 &&
					  (held ? from <= times[VALUES - 1] :
						  (b == 0 && times[VALUES - 1] >= t->from) ||
							   (b == TILE_BUCKETS - 1 && times[VALUES - 1] >= t->to));
				if (carried) {
					least = most = sum = (double)values[before];
					count = 1;
				}
				assert_int_equal(plot->buckets[b].count, count);
				assert_int_equal(tile_share(t, b), !count ? 0 : carried ? 1 : 255);
				assert_int_equal(t->buckets[b].touched, count > 0);
				if (!count)
					continue;
				assert_true(plot->buckets[b].least == least && plot->buckets[b].most == most);
				assert_true(fabs(plot->buckets[b].sum - sum) <= 1e-6 * count * 1e6);
			}
		}
	free(plot);
	free(t);
	view_report_close(r);
	unlink(PATH);
}

/* Heat lines sum up everything, whatever its length. */
static void heat(void **state)
{
	struct truth *truth = new_truth(2);
	struct view_report *r = write_and_open(truth);
	const struct view_track *track = &r->tracks[0];
	struct tile *t = malloc(sizeof(*t));

	for (unsigned level = 10; level <= 26; level += 4) {
		uint64_t sum = 0, wanted = 0;

		assert_true(tile_init(t, level, truth->start[EVENTS / 2] >> (level + TILE_SHIFT)));
		assert_int_equal(tile_add_heat(t, r, &track, 1), 0);
		assert_int_equal(t->listed_count, 0);
		for (unsigned b = 0; b < TILE_BUCKETS; b++)
			sum += t->buckets[b].busy;
		for (int i = 0; i < EVENTS; i++) {
			int64_t from = truth->start[i] > t->from ? truth->start[i] : t->from,
				to = truth->end[i] < t->to ? truth->end[i] : t->to;

			wanted += to > from ? (uint64_t)(to - from) : 0;
		}
		assert_true(sum >= wanted - wanted / 100 && sum <= wanted + wanted / 100 + 1);
	}
	free(t);
	free(truth);
	view_report_close(r);
	unlink(PATH);
}

static void borders_of_time(void **state)
{
	struct tile *t = malloc(sizeof(*t));
	struct listed event = { .start = INT64_MIN, .end = INT64_MAX };

	assert_false(tile_init(t, TILE_MAX_LEVEL + 1, 0));
	assert_false(tile_init(t, 0, INT64_MAX));
	assert_false(tile_init(t, TILE_MAX_LEVEL, INT64_MIN));
	for (unsigned level = 0; level <= TILE_MAX_LEVEL; level += 10) {
		int64_t most = INT64_MAX >> (level + TILE_SHIFT + 1);

		assert_true(tile_init(t, level, most));
		assert_true(t->to > t->from);
		assert_true(tile_init(t, level, -most));
		assert_true(t->to > t->from);
		t->table = TABLE_SLICE;
		tile_add_event(t, &event);
		assert_int_equal(t->listed_count, 1);
		t->heat = true;
		tile_add_event(t, &event);
		assert_int_equal(tile_share(t, 0), 255);
		assert_int_equal(tile_share(t, 255), 255);
	}
	free(t);
}

/* What is kept is bounded, and given back. */
static void store_is_bounded(void **state)
{
	struct truth *truth = new_truth(3);
	struct view_report *r = write_and_open(truth);
	const struct decoded_rows *held, *c;

	store_close(r->store);
	assert_int_equal(store_open(&r->store, 700000), 0);
	assert_int_equal(store_decoded_rows(r, &r->groups[0], &held), 0);
	for (size_t i = 0; i < r->group_count; i++) {
		assert_int_equal(store_decoded_rows(r, &r->groups[i], &c), 0);
		assert_int_equal(c->start[0], truth->start[r->groups[i].first]);
		store_give(r->store, c);
	}
	assert_true(store_size(r->store) <= 700000);
	/* The one held is as it was. */
	assert_int_equal(held->start[100], truth->start[100]);
	store_give(r->store, held);
	free(truth);
	view_report_close(r);
	unlink(PATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_at_every_level), cmocka_unit_test(borders_do_not_matter),
		cmocka_unit_test(plots_at_every_level), cmocka_unit_test(heat),
		cmocka_unit_test(borders_of_time),      cmocka_unit_test(store_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
