/* Rows in the order asked for, over reports of many groups and tracks made here: the merge of tracks, and where it gives way
 * to a sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define KERNEL "CUPTI_ACTIVITY_KIND_KERNEL"

struct world {
	char folder[64];
	char path[128];
	struct report_writer *writer;
	struct query *query;
};

static void append(struct world *world, enum table_id table, uint32_t track, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(world->writer, table, track), values, present), 0);
}

/* Streams 100, 101 ... on tracks 1, 2 ...; every third is on device 1. */
static void begin(struct world *world, int tracks)
{
	struct error err;

	make_folder(world->folder, sizeof(world->folder));
	snprintf(world->path, sizeof(world->path), "%s/run.sonde", world->folder);
	assert_int_equal(report_writer_open(&world->writer, world->path, 1, NULL, 0, &err), 0);
	append(world, TABLE_PROCESS, 0, (int64_t[]){ 1, 100 }, 3);
	for (int i = 0; i < tracks; i++) {
		append(world, TABLE_CUDA_STREAM, 0, (int64_t[]){ i + 1, 1, i + 100, 1, i % 3 == 2 }, 31);
		append(world, TABLE_TRACK, 0, (int64_t[]){ i + 1, TRACK_GPU_KERNEL, 1, 0, i + 1, 0 }, 0x37);
	}
}

static void kernel(struct world *world, int track, int64_t start, int64_t end, int64_t correlation)
{
	append(world, TABLE_GPU_KERNEL, (uint32_t)track + 1, (int64_t[]){ start, end, 1, correlation }, 15);
}

static void finish_writing(struct world *world)
{
	struct error err;

	assert_int_equal(report_writer_finish(world->writer, &err), 0);
	if (query_open(&world->query, world->path, &err) < 0)
		fail_msg("%s", err.text);
}

static void drop(struct world *world)
{
	query_close(world->query);
	remove_folder(world->folder);
}

/* Number of rows; their first column never goes down (up, where `down`) and their second adds up to *ret_sum. */
static int64_t rows_in_order(struct world *world, const char *sql, int down, int64_t *ret_sum)
{
	sqlite3_stmt *statement;
	int64_t last = 0, value, count = 0;

	*ret_sum = 0;
	assert_int_equal(query_prepare(world->query, sql, &statement, NULL), SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		value = sqlite3_column_int64(statement, 0);
		if (count++ && (down ? value > last : value < last))
			fail_msg("row %lld: %lld behind %lld in %s", (long long)count, (long long)value, (long long)last, sql);
		last = value;
		*ret_sum += sqlite3_column_int64(statement, 1);
	}
	sqlite3_finalize(statement);
	return count;
}

static int sorts(struct world *world, const char *sql)
{
	char explain[512];

	snprintf(explain, sizeof(explain), "EXPLAIN QUERY PLAN %s", sql);
	return strstr(ask(world->query, explain), "TEMP B-TREE") != NULL;
}

/* Kernel n starts at 10 n on stream n % 5, but stream 4 has all of its own in the last tenth: its groups come late. */
static void test_merge(void **state)
{
	enum { COUNT = 200000 };
	struct world world;
	int64_t sum, late = COUNT / 10 * 9;

	begin(&world, 5);
	for (int64_t n = 0; n < COUNT; n++)
		kernel(&world, n < late ? (int)(n % 4) : (int)(n % 5), 10 * n, 10 * n + 9, n);
	finish_writing(&world);
	assert_int_equal(rows_in_order(&world, "SELECT start, correlationId FROM " KERNEL " ORDER BY start", 0, &sum), COUNT);
	assert_int_equal(sum, (int64_t)COUNT * (COUNT - 1) / 2);
	assert_int_equal(rows_in_order(&world, "SELECT start, correlationId FROM " KERNEL " ORDER BY start DESC", 1, &sum), COUNT);
	assert_int_equal(sum, (int64_t)COUNT * (COUNT - 1) / 2);
	assert_int_equal(rows_in_order(&world,
				       "SELECT deviceId * 100000000 + streamId * 10000000 + start, 1 FROM " KERNEL
				       " ORDER BY deviceId, streamId, start",
				       0, &sum),
			 COUNT);
	/* 1000 of every 4000 in the first nine tenths are on stream 102, which is on device 1. */
	assert_int_equal(rows_in_order(&world,
				       "SELECT start, 1 FROM " KERNEL " WHERE start >= 400000 AND start < 480000 AND "
				       "deviceId = 1 ORDER BY start",
				       0, &sum),
			 2000);
	assert_int_equal(rows_in_order(&world,
				       "SELECT start, 1 FROM " KERNEL " WHERE correlationId % 2 = 1 AND gridId = 0 ORDER BY "
				       "start LIMIT 9",
				       0, &sum),
			 9);
	assert_string_equal(ask(world.query, "SELECT start FROM " KERNEL " ORDER BY start LIMIT 2 OFFSET 150000"), "1500000;1500010");
	assert_string_equal(ask(world.query, "SELECT min(start), count(*) FROM " KERNEL " WHERE streamId = 104"), "1800040|4000");
	assert_string_equal(ask(world.query, "SELECT max(start) FROM " KERNEL), "1999990");
	assert_false(sorts(&world, "SELECT start FROM " KERNEL " ORDER BY start"));
	assert_false(sorts(&world, "SELECT streamId FROM " KERNEL " GROUP BY deviceId, streamId"));
	assert_true(sorts(&world, "SELECT start FROM " KERNEL " ORDER BY correlationId"));
	drop(&world);
}

/* A decoded group for each of very many tracks would take too much memory. */
static void test_many_tracks(void **state)
{
	struct world world;
	int64_t sum;

	begin(&world, 200);
	for (int64_t n = 0; n < 20000; n++)
		kernel(&world, (int)(n % 200), n, n + 1, 1);
	finish_writing(&world);
	assert_true(sorts(&world, "SELECT start FROM " KERNEL " ORDER BY start"));
	assert_int_equal(rows_in_order(&world, "SELECT start, 1 FROM " KERNEL " ORDER BY start", 0, &sum), 20000);
	drop(&world);
}

/* Two tables in one, an inner loop of a join, a subquery that is asked again and again. */
static void test_again(void **state)
{
	struct world world;

	begin(&world, 2);
	for (int64_t n = 0; n < 1000; n++)
		kernel(&world, (int)(n % 2), n, n + 1, n);
	finish_writing(&world);
	assert_string_equal(ask(world.query, "WITH t(x) AS (VALUES (3), (500), (998), (999)) SELECT x, (SELECT start FROM " KERNEL
					     " k WHERE k.start > x ORDER BY start LIMIT 1), (SELECT start FROM " KERNEL
					     " k WHERE k.start < x AND streamId = 101 ORDER BY start DESC LIMIT 1) FROM t"),
			    "3|4|1;500|501|499;998|999|997;999||997");
	assert_string_equal(ask(world.query, "SELECT a.start, b.start FROM " KERNEL " a JOIN " KERNEL " b ON b.correlationId = "
					     "999 - a.correlationId WHERE a.start < 3 ORDER BY a.start"),
			    "0|999;1|998;2|997");
	drop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_many_tracks),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
