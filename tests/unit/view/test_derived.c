/* What is made of a report, in small bites and in one group: the same, and what a loop over everything says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/writer.h"
#include "view/report/coarse.h"
#include "view/derived/derived.h"
#include "view/tiles/tile.h"

#define THREADS 3
#define OPS 3000
#define RUNS 9000
#define CORES 5

static const char *view_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "./made-test-%d.sonde", (int)getpid());
	return path;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

struct truth {
	struct span {
		int64_t start, end;
	} range[THREADS][2][OPS], work[THREADS][OPS], run[CORES][RUNS];
	int ranges[THREADS][2];
	int runs[CORES];
};

static void put(struct report_writer *w, enum table_id table, uint32_t track, const int64_t *row, uint32_t present)
{
	assert_int_equal(report_append(report_track(w, table, track), row, present), 0);
	/* Small groups. */
	if (row[0] % 97 == 0)
		assert_int_equal(report_writer_relieve(w, 0), 0);
}

static void describe(struct report_writer *w)
{
	int64_t process[] = { 1, 100, 100, 0, 1, 0, 0, 1 }, gpu[] = { 1, 0, 0, 0, 0 }, device[] = { 1, 0, 1 },
		context[] = { 1, 1, 1, 0, 7 };

	report_append(report_track(w, TABLE_PROCESS, 0), process, 0xff);
	report_append(report_track(w, TABLE_GPU, 0), gpu, 0x11);
	report_append(report_track(w, TABLE_CUDA_DEVICE, 0), device, 7);
	report_append(report_track(w, TABLE_CUDA_CONTEXT, 0), context, 0x1f);
	for (int t = 0; t < THREADS; t++) {
		int64_t thread[] = { t + 1, 1, 100 + t, 100 + t }, stream[] = { t + 1, 1, 7 + t, 1, 0 };
		int64_t tracks[][6] = { { t * 10 + 1, TRACK_NVTX_PUSHPOP, 1, t + 1, 0, 0 },
					{ t * 10 + 2, TRACK_NVTX_PUSHPOP, 1, t + 1, 0, 1 },
					{ t * 10 + 3, TRACK_CUDA_API, 1, t + 1, 0, 0 },
					{ t * 10 + 4, TRACK_GPU_KERNEL, 1, 0, t + 1, 0 },
					{ t * 10 + 5, TRACK_RUN, 1, t + 1, 0, 0 } };

		report_append(report_track(w, TABLE_THREAD, 0), thread, 0xf);
		report_append(report_track(w, TABLE_CUDA_STREAM, 0), stream, 0x1f);
		for (int i = 0; i < 5; i++)
			report_append(report_track(w, TABLE_TRACK, 0), tracks[i], 0x3f);
	}
}

/* Ranges of one call each, and ranges of seven of those; correlations of the threads lie among each other. */
static void put_ops(struct report_writer *w, struct truth *truth, int t, uint64_t *seed)
{
	int64_t time = 0, free_at = 0, outer = 0;

	for (int i = 0; i < OPS; i++) {
		int64_t start = time += 10 + (int64_t)(next_random(seed) % 200), call = start + (int64_t)(next_random(seed) % 20);
		int64_t end = call + (int64_t)(next_random(seed) % 50), op_end = end + (int64_t)(next_random(seed) % 30);
		int64_t api[] = { call, end, 0, 0, 0, (int64_t)i * THREADS + t + 1 }, inner[] = { start, op_end, 0 };
		int64_t work_start = end + (int64_t)(next_random(seed) % 300), kernel[4];

		work_start = work_start < free_at ? free_at : work_start;
		free_at = work_start + (int64_t)(next_random(seed) % 150);
		kernel[0] = work_start;
		kernel[1] = free_at;
		kernel[2] = 1;
		kernel[3] = api[5];
		put(w, TABLE_SLICE, (uint32_t)t * 10 + 2, inner, 3);
		put(w, TABLE_CUDA_API, (uint32_t)t * 10 + 3, api, 0x3b);
		put(w, TABLE_GPU_KERNEL, (uint32_t)t * 10 + 4, kernel, 0xf);
		truth->work[t][i] = (struct span){ work_start, free_at };
		truth->range[t][1][truth->ranges[t][1]++] = (struct span){ work_start, free_at };
		if (i % 7 == 0)
			outer = start;
		if (i % 7 == 6) {
			int64_t row[] = { outer, op_end, 0 };

			put(w, TABLE_SLICE, (uint32_t)t * 10 + 1, row, 3);
			truth->range[t][0][truth->ranges[t][0]++] = (struct span){ truth->work[t][i - 6].start, free_at };
		}
		time = op_end;
	}
}

/* One thread after the other gets a core that is free. */
static void put_runs(struct report_writer *w, struct truth *truth, uint64_t *seed)
{
	int64_t free_at[CORES] = { 0 }, thread_at[THREADS] = { 0 };

	for (int i = 0; i < RUNS; i++) {
		int t = (int)(next_random(seed) % THREADS), core = (int)(next_random(seed) % CORES);
		int64_t start = thread_at[t] > free_at[core] ? thread_at[t] : free_at[core], row[5];

		start += 1 + (int64_t)(next_random(seed) % (i % 64 ? 500 : 50000));
		row[0] = start;
		row[1] = free_at[core] = thread_at[t] = start + (int64_t)(next_random(seed) % (i % 200 ? 300 : 90000));
		row[2] = core;
		row[4] = RUN_BLOCKED;
		put(w, TABLE_RUN, (uint32_t)t * 10 + 5, row, 0x17);
		truth->run[core][truth->runs[core]++] = (struct span){ row[0], row[1] };
	}
}

static struct view_report *make(struct truth *truth, struct derived_limits limits)
{
	struct report_writer *w;
	struct view_report *r;
	_Atomic bool stop = false;
	struct error err;
	uint64_t seed = 77;

	memset(truth, 0, sizeof(*truth));
	unlink(view_path());
	assert_int_equal(report_writer_open(&w, view_path(), 1, NULL, 0, &err), 0);
	describe(w);
	for (int t = 0; t < THREADS; t++)
		put_ops(w, truth, t, &seed);
	put_runs(w, truth, &seed);
	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(view_report_open(&r, view_path(), "x", &err), 0);
	assert_int_equal(view_report_make(r, limits, &stop), 0);
	assert_int_equal(view_report_sum_tracks(r, &stop), 0);
	return r;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* All events of made rows of a kind, in order. */
static size_t made_spans(struct view_report *r, enum row_kind kind, int64_t uid, int64_t depth, struct span *ret, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < r->track_count; i++) {
		const struct derived_track *t = r->tracks[i].derived ? &r->derived_tracks[r->tracks[i].id - MADE_TRACKS - 1] : NULL;

		if (!t || t->kind != kind || (kind == ROW_CPU ? t->place : t->thread) != uid || (depth >= 0 && t->depth / 8 != depth))
			continue;
		for (size_t k = 0; k < r->tracks[i].group_count; k++) {
			const struct decoded_rows *c;

			assert_int_equal(store_decoded_rows(r, &r->groups[r->tracks[i].group + k], &c), 0);
			for (uint32_t n = 0; n < c->rows && count < room; n++)
				ret[count++] = (struct span){ c->start[n], c->end[n] };
			store_give(r->store, c);
		}
	}
	qsort(ret, count, sizeof(*ret), compare_spans);
	return count;
}

static void compare(struct span *want, size_t wanted, const struct span *got, size_t count)
{
	qsort(want, wanted, sizeof(*want), compare_spans);
	assert_int_equal(count, wanted);
	assert_memory_equal(got, want, count * sizeof(*got));
}

static void check_all(struct view_report *r, struct truth *truth)
{
	struct span *got = malloc(RUNS * sizeof(*got));

	for (int t = 0; t < THREADS; t++)
		for (int depth = 0; depth < 2; depth++)
			compare(truth->range[t][depth], (size_t)truth->ranges[t][depth], got,
				made_spans(r, ROW_GPU_NVTX, t + 1, depth, got, RUNS));
	for (int core = 0; core < CORES; core++)
		compare(truth->run[core], (size_t)truth->runs[core], got, made_spans(r, ROW_CPU, core, -1, got, RUNS));
	free(got);
}

static void in_one_group(void **state)
{
	struct truth *truth = malloc(sizeof(*truth));
	struct view_report *r = make(truth, MADE_LIMITS);

	check_all(r, truth);
	view_report_close(r);
	unlink(view_path());
	free(truth);
}

static void in_small_bites(void **state)
{
	static const struct derived_limits limits[] = { { 1, 1 }, { 50, 20 }, { 3000, 100 }, { 200, 100000 } };
	struct truth *truth = malloc(sizeof(*truth));

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct view_report *r = make(truth, limits[i]);

		check_all(r, truth);
		view_report_close(r);
	}
	unlink(view_path());
	free(truth);
}

/* The share of the cores that is busy, bucket by bucket, at every level. */
static void heat_of_cores(void **state)
{
	struct truth *truth = malloc(sizeof(*truth));
	struct view_report *r = make(truth, MADE_LIMITS);
	struct tile *t = malloc(sizeof(*t));
	const struct row *heading = NULL;
	const struct view_track *tracks[CORES];
	uint64_t seed = 5;

	for (size_t i = 0; i < r->row_count; i++)
		heading = r->rows[i].kind == ROW_CPUS ? &r->rows[i] : heading;
	assert_non_null(heading);
	assert_int_equal(heading->track_count, CORES);
	for (int i = 0; i < CORES; i++)
		tracks[i] = &r->tracks[heading->tracks[i]];
	for (unsigned level = 0; level <= 40; level++) {
		int64_t at = truth->run[0][next_random(&seed) % (uint64_t)truth->runs[0]].start;

		assert_true(tile_init(t, level, at >> (level + TILE_SHIFT)));
		t->among = CORES;
		assert_int_equal(tile_add_heat(t, r, tracks, CORES), 0);
		for (unsigned b = 0; b < TILE_BUCKETS; b++) {
			int64_t from = t->from + ((int64_t)b << level), to = from + (INT64_C(1) << level);
			double busy = 0;

			for (int core = 0; core < CORES; core++)
				for (int i = 0; i < truth->runs[core]; i++) {
					int64_t start = truth->run[core][i].start, end = truth->run[core][i].end;

					start = start > from ? start : from;
					end = end < to ? end : to;
					busy += end > start ? (double)(end - start) : 0;
				}
			busy = busy * 255 / CORES / (double)(INT64_C(1) << level);
			assert_true(tile_share(t, b) >= busy - 1.5 && tile_share(t, b) <= busy + 2);
		}
	}
	free(t);
	view_report_close(r);
	unlink(view_path());
	free(truth);
}

/* Rows keep their numbers when others come, and each is shown once, below its parent. */
static void numbers_stay(void **state)
{
	struct truth *truth = malloc(sizeof(*truth));
	struct view_report *r = make(truth, MADE_LIMITS), *before;
	uint8_t *seen = calloc(r->row_count + 1, 1);
	struct error err;

	assert_int_equal(view_report_open(&before, view_path(), "x", &err), 0);
	assert_true(r->row_count > before->row_count);
	for (size_t i = 0; i < before->row_count; i++) {
		assert_int_equal(r->rows[i].kind, before->rows[i].kind);
		assert_int_equal(r->rows[i].uid, before->rows[i].uid);
	}
	for (size_t i = 0; i < r->row_count; i++) {
		uint32_t id = r->order[i];

		assert_true(id < r->row_count && !seen[id]);
		assert_true(r->rows[id].parent == ROW_NO_PARENT || seen[r->rows[id].parent]);
		seen[id] = 1;
	}
	free(seen);
	view_report_close(before);
	view_report_close(r);
	unlink(view_path());
	free(truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_one_group),
		cmocka_unit_test(in_small_bites),
		cmocka_unit_test(heat_of_cores),
		cmocka_unit_test(numbers_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
