/* Work of a stream that arrived out of order lies in several tracks; it is drawn by its times. */
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
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/tiles/tile.h"

#define EVENTS 30000
#define TRACKS 3
#define PATH lines_path()

/* In the folder of the test, which may run twice at once. */
static const char *lines_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "./lines-test-%d.sonde", (int)getpid());
	return path;
}

struct truth {
	int count;
	struct {
		int64_t start, end;
		int track;
		uint64_t index; /* in the row */
		unsigned line;
	} events[EVENTS];
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Buffers of some hundred events, which end up in any of the tracks; `overlap`: now and then an event starts before the last one
 * has ended, in another track. */
static void make_truth(struct truth *t, bool overlap)
{
	uint64_t seed = 11, counts[TRACKS] = { 0 };
	int64_t free_at[TRACKS] = { 0 }, time = 0, last_end[TRACKS] = { 0 };
	int track = 0;

	for (t->count = 0; t->count < EVENTS; t->count++) {
		uint64_t x = next_random(&seed);
		int64_t start = time + 863 + (int64_t)(x % 900), length = 100 + (int64_t)(next_random(&seed) % (x % 50 ? 2000 : 90000));

		if (x % 7 == 0 || x % 300 == 1)
			track = (int)(next_random(&seed) % TRACKS);
		if (overlap && x % 40 == 3) {
			start = time - (int64_t)(next_random(&seed) % 3000);
			for (int i = 0; i < TRACKS; i++)
				if (last_end[i] <= start)
					track = i;
		}
		if (start < last_end[track])
			start = last_end[track];
		if (t->count && start < t->events[t->count - 1].start)
			start = t->events[t->count - 1].start + 1;
		if (start < last_end[track])
			start = last_end[track];
		t->events[t->count].start = start;
		t->events[t->count].end = last_end[track] = start + length;
		t->events[t->count].track = track;
		t->events[t->count].index = counts[track]++;
		time = start + length > time ? start + length : time;
	}
	for (int i = 0; i < EVENTS; i++) {
		unsigned line = 0;

		while (free_at[line] > t->events[i].start)
			line++;
		assert_true(line < TRACKS);
		free_at[line] = t->events[i].end;
		t->events[i].line = line;
		for (int k = 0; k < t->events[i].track; k++)
			t->events[i].index += counts[k];
	}
}

static struct view_report *write_and_open(const struct truth *t)
{
	struct report_writer *w;
	struct view_report *r;
	struct error err;
	int64_t process[] = { 1, 100, 100, 0, 1, 0, 0, 1 }, stream[] = { 1, 1, 7, 1, 0 };

	unlink(PATH);
	assert_int_equal(report_writer_open(&w, PATH, 1, NULL, 0, &err), 0);
	report_append(report_track(w, TABLE_PROCESS, 0), process, 0xff);
	report_append(report_track(w, TABLE_CUDA_STREAM, 0), stream, 0x1f);
	for (int64_t i = 0; i < TRACKS; i++) {
		int64_t track[] = { i + 1, TRACK_GPU_KERNEL, 1, 0, 1, i };

		report_append(report_track(w, TABLE_TRACK, 0), track, 0x3f);
	}
	for (int i = 0; i < t->count; i++) {
		int64_t row[] = { t->events[i].start, t->events[i].end, 1, i + 1 };

		assert_int_equal(report_append(report_track(w, TABLE_GPU_KERNEL, (uint32_t)t->events[i].track + 1), row, 0xf), 0);
		/* Groups of different sizes in each track. */
		if (i % 5003 == 0)
			assert_int_equal(report_writer_relieve(w, 0), 0);
	}
	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(view_report_open(&r, PATH, "x", &err), 0);
	return r;
}

static struct row *stream_row(struct view_report *r)
{
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].kind == ROW_STREAM)
			return &r->rows[i];
	fail();
	return NULL;
}

/* Events of a bucket's length and more are where they belong, at every level, and no time is lost or counted twice. */
static void compare_levels(struct view_report *r, const struct truth *truth, unsigned lines)
{
	const struct row *row = stream_row(r);
	struct tile *t = malloc(sizeof(*t));
	uint64_t seed = 5;

	for (unsigned level = 0; level <= 30; level++) {
		int64_t index = truth->events[next_random(&seed) % EVENTS].start >> (level + TILE_SHIFT);
		uint64_t busy = 0, wanted = 0, begins = 0, wanted_begins = 0;

		for (unsigned line = 0; line < lines; line++) {
			uint32_t listed = 0;

			assert_true(tile_init(t, level, index));
			assert_int_equal(tile_add_line(t, r, row, line), 0);
			for (int i = 0; i < EVENTS; i++) {
				if (truth->events[i].line != line || truth->events[i].start >= t->to || truth->events[i].end <= t->from ||
				    !((uint64_t)(truth->events[i].end - truth->events[i].start) >> level))
					continue;
				assert_true(listed < t->listed_count);
				assert_int_equal(t->listed[listed].start, truth->events[i].start);
				assert_int_equal(t->listed[listed].end, truth->events[i].end);
				assert_int_equal(t->listed[listed++].index, truth->events[i].index);
			}
			assert_int_equal(listed, t->listed_count);
			for (unsigned b = 0; b < TILE_BUCKETS; b++) {
				busy += t->buckets[b].busy;
				begins += t->buckets[b].begins;
			}
		}
		for (int i = 0; i < EVENTS; i++) {
			int64_t from = truth->events[i].start > t->from ? truth->events[i].start : t->from;
			int64_t to = truth->events[i].end < t->to ? truth->events[i].end : t->to;

			if ((uint64_t)(truth->events[i].end - truth->events[i].start) >> level)
				continue;
			wanted += to > from ? (uint64_t)(to - from) : 0;
			wanted_begins += truth->events[i].start >= t->from && truth->events[i].start < t->to;
		}
		assert_int_equal(begins, wanted_begins);
		assert_true(busy <= wanted + wanted / 64 + TILE_BUCKETS && busy + wanted / 64 + TILE_BUCKETS >= wanted);
	}
	free(t);
}

/* What the server tells of an event leads back to it. */
static void compare_events(struct view_report *r, const struct truth *truth)
{
	struct view v = { .reports = &r, .report_count = 1 };
	struct buf answer = BUF_INIT;
	struct error err;
	char uri[200], wanted[200];

	for (int i = 0; i < EVENTS; i += 997) {
		snprintf(uri, sizeof(uri), "/api/slice?report=0&row=%d&lane=0&index=%llu&brief=1", (int)(stream_row(r) - r->rows),
			 (unsigned long long)truth->events[i].index);
		snprintf(wanted, sizeof(wanted), "\"lane\":%u,\"index\":%llu,\"start\":%lld,\"end\":%lld", truth->events[i].line,
			 (unsigned long long)truth->events[i].index, (long long)truth->events[i].start, (long long)truth->events[i].end);
		buf_clear(&answer);
		assert_int_equal(view_answer(&v, uri, &answer, &err), 0);
		assert_non_null(strstr(buf_cstr(&answer), wanted));
	}
	buf_release(&answer);
}

static void by_times(bool overlap)
{
	unsigned lines = 1;

	struct truth *truth = malloc(sizeof(*truth));
	_Atomic bool stop = false;
	struct view_report *r;

	make_truth(truth, overlap);
	for (int i = 0; i < EVENTS; i++)
		lines = truth->events[i].line + 1 > lines ? truth->events[i].line + 1 : lines;
	assert_int_equal(lines > 1, overlap);
	r = write_and_open(truth);
	assert_int_equal(row_line_count(stream_row(r)), TRACKS);
	assert_int_equal(view_report_find_lines(r, &stop), 0);
	assert_int_equal(row_line_count(stream_row(r)), lines);
	compare_levels(r, truth, lines);
	compare_events(r, truth);
	assert_int_equal(view_report_sum_tracks(r, &stop), 0);
	assert_non_null(r->tracks[0].coarse);
	compare_levels(r, truth, lines);
	view_report_close(r);
	unlink(PATH);
	free(truth);
}

static void what_does_not_overlap_is_in_one_line(void **state)
{
	by_times(false);
}

static void what_overlaps_is_in_several(void **state)
{
	by_times(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_overlap_is_in_one_line),
		cmocka_unit_test(what_overlaps_is_in_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
