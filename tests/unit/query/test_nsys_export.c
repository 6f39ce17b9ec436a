/* Against a real export of nsys, where one lies beside the source tree: its NVTX rows are
 * written into a report, and what Sonde says about them must be what plain SQL over the
 * export says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "support.h"

struct event {
	int64_t start, end, tid;
	int64_t parent, children, child_time;
	int level;
};

struct world {
	sqlite3 *export;
	struct query *query;
	char folder[64];
	struct event *events;
	size_t count;
};

static int64_t ask_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t number = -1;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

static void append(struct report_writer *w, enum table_id table, uint32_t track, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(w, table, track), values, present), 0);
}

/* One thread's stack while its ranges are put onto tracks by depth. */
struct stack {
	size_t open[256];
	int depth;
	int64_t thread, tid;
	uint32_t tracks[256];
};

static uint32_t track_of(struct report_writer *w, struct stack *s, int depth, uint32_t *track_count)
{
	int64_t values[TABLE_MAX_COLUMNS] = { 0 };

	if (!s->tracks[depth]) {
		s->tracks[depth] = ++*track_count;
		values[COLUMN_TRACK_ID] = s->tracks[depth];
		values[COLUMN_TRACK_KIND] = TRACK_NVTX_PUSHPOP;
		values[COLUMN_TRACK_PROCESS] = s->tid >> 24 & 0xffffff;
		values[COLUMN_TRACK_THREAD] = s->thread;
		values[COLUMN_TRACK_DEPTH] = depth;
		append(w, TABLE_TRACK, 0, values, 0x3f);
	}
	return s->tracks[depth];
}

static void begin_thread(struct report_writer *w, struct stack *s, int64_t tid, int64_t *thread_count)
{
	int64_t process = tid >> 24 & 0xffffff;

	memset(s, 0, sizeof(*s));
	s->tid = tid;
	s->thread = ++*thread_count;
	append(w, TABLE_THREAD, 0, (int64_t[]){ s->thread, process, tid & 0xffffff }, 7);
}

/* The tree, from times alone; the test's own reckoning. */
static int nest(struct world *world, struct stack *s, size_t i)
{
	struct event *events = world->events, *parent;

	while (s->depth && events[s->open[s->depth - 1]].end < events[i].end)
		s->depth--;
	while (s->depth && events[s->open[s->depth - 1]].end <= events[i].start)
		s->depth--;
	events[i].level = s->depth;
	events[i].parent = -1;
	if (s->depth) {
		parent = &events[s->open[s->depth - 1]];
		events[i].parent = (int64_t)s->open[s->depth - 1];
		parent->children++;
		parent->child_time += events[i].end - events[i].start;
	}
	assert_true(s->depth < 256);
	s->open[s->depth++] = i;
	return s->depth - 1;
}

static void convert_events(struct world *world, struct report_writer *w)
{
	uint32_t track_count = 0;
	int64_t thread_count = 0;
	struct stack s = { .tid = -1 };
	sqlite3_stmt *rows;
	struct event *e;
	const char *text;

	assert_int_equal(
		sqlite3_prepare_v2(world->export,
				   "SELECT start, end, globalTid, text FROM NVTX_EVENTS "
				   "WHERE eventType = 59 AND end IS NOT NULL AND text IS NOT NULL ORDER BY globalTid, start, end DESC",
				   -1, &rows, NULL),
		SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW) {
		e = &world->events[world->count];
		*e = (struct event){ .start = sqlite3_column_int64(rows, 0),
				     .end = sqlite3_column_int64(rows, 1),
				     .tid = sqlite3_column_int64(rows, 2) };
		if (e->tid != s.tid)
			begin_thread(w, &s, e->tid, &thread_count);
		text = (const char *)sqlite3_column_text(rows, 3);
		append(w, TABLE_SLICE, track_of(w, &s, nest(world, &s, world->count), &track_count),
		       (int64_t[]){ e->start, e->end, (int64_t)report_string(w, text, strlen(text)), 0 }, 0xf);
		world->count++;
	}
	sqlite3_finalize(rows);
}

static void convert_processes(struct world *world, struct report_writer *w)
{
	sqlite3_stmt *rows;

	assert_int_equal(sqlite3_prepare_v2(world->export, "SELECT DISTINCT globalTid >> 24 & 0xffffff FROM NVTX_EVENTS", -1, &rows, NULL),
			 SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW)
		append(w, TABLE_PROCESS, 0, (int64_t[]){ sqlite3_column_int64(rows, 0), sqlite3_column_int64(rows, 0) }, 3);
	sqlite3_finalize(rows);
}

static int set_up(void **state)
{
	static struct world world;
	struct report_writer *w;
	struct error err;
	char path[128];

	assert_int_equal(sqlite3_open_v2("file:" NSYS_EXPORT "?immutable=1", &world.export, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
			 SQLITE_OK);
	world.events = calloc((size_t)ask_number(world.export, "SELECT count(*) FROM NVTX_EVENTS"), sizeof(*world.events));
	make_folder(world.folder, sizeof(world.folder));
	snprintf(path, sizeof(path), "%s/run.sonde", world.folder);
	assert_int_equal(report_writer_open(&w, path, 1, NULL, 0, &err), 0);
	convert_processes(&world, w);
	convert_events(&world, w);
	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(query_open(&world.query, path, &err), 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	query_close(world->query);
	sqlite3_close(world->export);
	remove_folder(world->folder);
	free(world->events);
	return 0;
}

/* The same question to both. */
static char *ask_export(struct world *world, const char *sql)
{
	struct buf answer = BUF_INIT;
	sqlite3_stmt *statement;

	assert_int_equal(sqlite3_prepare_v2(world->export, sql, -1, &statement, NULL), SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		if (answer.len)
			buf_puts(&answer, ";");
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			buf_printf(&answer, "%s%s", i ? "|" : "",
				   sqlite3_column_text(statement, i) ? (const char *)sqlite3_column_text(statement, i) : "");
	}
	sqlite3_finalize(statement);
	buf_cstr(&answer);
	return answer.data;
}

static void expect_same(struct world *world, const char *theirs, const char *ours)
{
	char *expected = ask_export(world, theirs);

	assert_true(strlen(expected) > 10);
	assert_string_equal(ask(world->query, ours), expected);
	free(expected);
}

static void test_rows_are_the_same(void **state)
{
	static const char rows[] = "SELECT start, end, eventType, text, globalTid, domainId, rangeId, category, color, textId "
				   "FROM NVTX_EVENTS WHERE eventType = 59 AND text IS NOT NULL "
				   "ORDER BY globalTid, start, end DESC, text";
	static const char window[] = "SELECT count(*), sum(end - start), min(start) FROM NVTX_EVENTS WHERE eventType = 59 "
				     "AND start >= 155400000000 AND end <= 155600000000 AND text LIKE 'aten::%'";

	expect_same(*state, rows, rows);
	expect_same(*state, window, window);
}

static void test_groups_are_the_same(void **state)
{
	expect_same(*state,
		    "SELECT text, count(*), sum(end - start), min(end - start), max(end - start) FROM NVTX_EVENTS "
		    "WHERE eventType = 59 GROUP BY text ORDER BY text",
		    "SELECT key, count, sum, min, max FROM group_stats('NVTX_EVENTS', 'name', 'duration', "
		    "'eventType = 59') ORDER BY key");
	expect_same(*state,
		    "SELECT globalTid, count(*), sum(end - start), round(avg(end - start), 3) FROM NVTX_EVENTS "
		    "GROUP BY 1 ORDER BY 1",
		    "SELECT key, count, sum, round(avg, 3) FROM group_stats('NVTX_EVENTS', 'globalTid', 'duration') "
		    "ORDER BY 1");
}

static void test_median_and_deviation_are_the_same(void **state)
{
	expect_same(*state,
		    "SELECT globalTid, avg(d) FROM (SELECT globalTid, end - start AS d, row_number() OVER (PARTITION "
		    "BY globalTid ORDER BY end - start) AS place, count(*) OVER (PARTITION BY globalTid) AS n FROM "
		    "NVTX_EVENTS) WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY 1 ORDER BY 1",
		    "SELECT key, med FROM group_stats('NVTX_EVENTS', 'globalTid', 'duration') ORDER BY 1");
	expect_same(*state,
		    "SELECT globalTid, round(sqrt(sum((d - mean) * (d - mean)) / (count(*) - 1)), 2) FROM (SELECT "
		    "globalTid, end - start AS d, avg(end - start) OVER (PARTITION BY globalTid) AS mean FROM "
		    "NVTX_EVENTS) GROUP BY 1 ORDER BY 1",
		    "SELECT key, round(stddev, 2) FROM group_stats('NVTX_EVENTS', 'globalTid', 'duration') ORDER BY 1");
}

static void test_tree_is_the_same(void **state)
{
	struct world *world = *state;
	int64_t children = 0, child_time = 0, weighted = 0, level = 0;
	char expected[256];

	for (size_t i = 0; i < world->count; i++) {
		children += world->events[i].children;
		child_time += world->events[i].child_time;
		weighted += world->events[i].children * (world->events[i].start % 1000);
		level += world->events[i].level * (world->events[i].end % 1000);
	}
	assert_true(children > 100);
	snprintf(expected, sizeof(expected), "%zu|%lld|%lld|%lld|%lld", world->count, (long long)children, (long long)child_time,
		 (long long)weighted, (long long)level);
	assert_string_equal(ask(world->query, "SELECT count(*), sum(numChild), sum(durChild), "
					      "sum(numChild * (start % 1000)), sum(level * (end % 1000)) FROM nvtx_pushpop_tree"),
			    expected);
	assert_string_equal(ask(world->query, "SELECT count(*) FROM (SELECT start, lag(start) OVER (ORDER BY rangeId) AS "
					      "before FROM nvtx_pushpop_tree) WHERE before > start"),
			    "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_the_same),
		cmocka_unit_test(test_groups_are_the_same),
		cmocka_unit_test(test_median_and_deviation_are_the_same),
		cmocka_unit_test(test_tree_is_the_same),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
