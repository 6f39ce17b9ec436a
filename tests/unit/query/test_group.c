/* group_stats() over many groups of columns, against sums kept by the test itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define NAMES 50
#define TRACKS 7
#define ROWS 200000

struct truth {
	int64_t *durations;
	size_t count;
	int64_t open;
};

struct world {
	char folder[64];
	struct query *query;
	struct truth names[NAMES];
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 24;
}

static void append(struct report_writer *w, enum table_id table, uint32_t track, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(w, table, track), values, present), 0);
}

/* Every name has two ids: a literal and one whose text was told later. */
static void make_names(struct report_writer *w, int64_t ids[NAMES][2])
{
	char text[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "name %02d", i);
		ids[i][0] = (int64_t)report_string(w, text, strlen(text));
		ids[i][1] = (int64_t)report_string_later(w);
		assert_int_equal(report_string_define(w, (uint64_t)ids[i][1], text, strlen(text)), 0);
	}
}

static void fill(struct world *world, struct report_writer *w)
{
	int64_t ids[NAMES][2], clock[TRACKS] = { 0 };
	uint64_t random = 5;

	make_names(w, ids);
	append(w, TABLE_PROCESS, 0, (int64_t[]){ 1, 77 }, 3);
	for (int t = 1; t <= TRACKS; t++) {
		append(w, TABLE_THREAD, 0, (int64_t[]){ t, 1, 100 + t }, 7);
		append(w, TABLE_TRACK, 0, (int64_t[]){ t, TRACK_NVTX_PUSHPOP, 1, t, 0, 0 }, 0x3f);
	}
	for (int n = 0; n < ROWS; n++) {
		int track = n % TRACKS, name = (int)(next_random(&random) % NAMES);
		int64_t start = clock[track] + (int64_t)(next_random(&random) % 100);
		int64_t end = start + (int64_t)(next_random(&random) % (uint64_t)(1000 * (name + 1)));
		int open = n >= ROWS - TRACKS;
		struct truth *truth = &world->names[name];

		clock[track] = end;
		append(w, TABLE_SLICE, (uint32_t)track + 1, (int64_t[]){ start, end, ids[name][n & 1], open ? SLICE_OPEN : 0 }, 0xf);
		if (open)
			truth->open++;
		else
			truth->durations[truth->count++] = end - start;
	}
}

static int set_up(void **state)
{
	static struct world world;
	struct report_writer *w;
	struct error err;
	char path[128];

	for (int i = 0; i < NAMES; i++)
		world.names[i].durations = malloc(ROWS * sizeof(int64_t));
	make_folder(world.folder, sizeof(world.folder));
	snprintf(path, sizeof(path), "%s/run.sonde", world.folder);
	assert_int_equal(report_writer_open(&w, path, 1, NULL, 0, &err), 0);
	fill(&world, w);
	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(query_open(&world.query, path, &err), 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < NAMES; i++)
		free(world->names[i].durations);
	query_close(world->query);
	remove_folder(world->folder);
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_every_figure(void **state)
{
	struct world *world = *state;
	char expected[256], sql[256];

	for (int i = 0; i < NAMES; i++) {
		struct truth *t = &world->names[i];
		int64_t sum = 0;

		qsort(t->durations, t->count, sizeof(int64_t), compare);
		for (size_t k = 0; k < t->count; k++)
			sum += t->durations[k];
		snprintf(expected, sizeof(expected), "%zu|%lld|%lld|%lld|%.1f", t->count, (long long)sum, (long long)t->durations[0],
			 (long long)t->durations[t->count - 1],
			 (double)(t->durations[(t->count - 1) / 2] + t->durations[t->count / 2]) / 2);
		snprintf(sql, sizeof(sql),
			 "SELECT count, sum, min, max, med FROM group_stats('NVTX_EVENTS', 'name', "
			 "'duration') WHERE key = 'name %02d'",
			 i);
		assert_string_equal(ask(world->query, sql), expected);
	}
}

static void test_same_text_is_one_group(void **state)
{
	struct world *world = *state;

	assert_string_equal(ask(world->query, "SELECT count(*), sum(count) FROM group_stats('NVTX_EVENTS', 'name', "
					      "'duration')"),
			    "50|199993");
	assert_string_equal(ask(world->query, "SELECT count(*), sum(count) FROM group_stats('NVTX_EVENTS', "
					      "'globalTid, name', 'duration')"),
			    "350|199993");
	assert_string_equal(ask(world->query, "SELECT count FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1')"), "7");
}

/* A window in time, by both ways of asking. */
static void test_filter_is_where(void **state)
{
	struct world *world = *state;
	char expected[256];

	snprintf(expected, sizeof(expected), "%s",
		 ask(world->query, "SELECT count(*), sum(eventDuration) FROM NVTX_EVENTS "
				   "WHERE start >= 1000000 AND end < 90000000 AND globalTid % 16777216 = 103"));
	assert_true(strlen(expected) > 6);
	assert_string_equal(ask(world->query, "SELECT count, sum FROM group_stats('NVTX_EVENTS', 'threadUid', 'duration', "
					      "'start >= 1000000 and end < 90000000 and threadUid = 3')"),
			    expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_figure),
		cmocka_unit_test(test_same_text_is_one_group),
		cmocka_unit_test(test_filter_is_where),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
