/* Rows of reports that say what no recorder writes: everything that is asked for is answered, from what is there. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../fuzz/view_texts.h"
#include "report/writer.h"
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/derived/derived.h"

#define PATH rows_path()

/* In the folder of the test, which may run twice at once. */
static const char *rows_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "./rows-test-%d.sonde", (int)getpid());
	return path;
}

static struct report_writer *begin_report(void)
{
	struct report_writer *w;
	struct error err;
	int64_t process[] = { 1, 100, 100, 0, 1, 0, 0, 1 }, thread[] = { 1, 1, 100, 100 };

	unlink(PATH);
	assert_int_equal(report_writer_open(&w, PATH, 1, NULL, 0, &err), 0);
	assert_int_equal(report_append(report_track(w, TABLE_PROCESS, 0), process, 0xff), 0);
	assert_int_equal(report_append(report_track(w, TABLE_THREAD, 0), thread, 0xf), 0);
	return w;
}

static void put_track(struct report_writer *w, int64_t id, int64_t kind)
{
	int64_t track[] = { id, kind, 1, 1, 0, 0 };

	assert_int_equal(report_append(report_track(w, TABLE_TRACK, 0), track, 0x3f), 0);
}

static struct view_report *open_report(struct report_writer *w)
{
	struct view_report *r;
	struct error err;

	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(view_report_open(&r, PATH, "x", &err), 0);
	return r;
}

static void end_report(struct view_report *r)
{
	view_report_close(r);
	unlink(PATH);
}

/* The answer's number of that name; -1: it has none. */
static long long ask_number(struct view_report *r, const char *uri, const char *name)
{
	struct view v = { .reports = &r, .report_count = 1 };
	struct buf answer = BUF_INIT;
	struct error err;
	const char *at;
	long long value = -1;

	assert_int_equal(view_answer(&v, uri, &answer, &err), 0);
	at = strstr(buf_cstr(&answer), name);
	if (at)
		sscanf(at + strlen(name), "\":%lld", &value);
	buf_release(&answer);
	return value;
}

static const struct row *row_of_kind(const struct view_report *r, enum row_kind kind)
{
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].kind == kind && r->rows[i].draw != DRAW_GROUP)
			return &r->rows[i];
	return NULL;
}

#define RUNS 300

/* Waits are made of each; all of them are in the thread's row. */
static void two_tracks_of_runs_of_one_thread(void **state)
{
	struct report_writer *w = begin_report();
	_Atomic bool stop = false;
	struct view_report *r;
	char uri[200];

	for (int track = 1; track <= 2; track++) {
		put_track(w, track, TRACK_RUN);
		for (int64_t i = 0; i < RUNS; i++) {
			int64_t run[] = { i * 100 + track, i * 100 + 50, 0, 0, RUN_BLOCKED };

			assert_int_equal(report_append(report_track(w, TABLE_RUN, (uint32_t)track), run, 0x17), 0);
		}
	}
	r = open_report(w);
	/* What is left unset is not zero. */
	mallopt(M_PERTURB, 0x55);
	assert_int_equal(view_report_make(r, MADE_LIMITS, &stop), 0);
	assert_non_null(row_of_kind(r, ROW_STATE));
	assert_int_equal(row_of_kind(r, ROW_STATE)->track_count, 4);
	snprintf(uri, sizeof(uri), "/api/find?report=0&text=%%20&row=%d", (int)(row_of_kind(r, ROW_STATE) - r->rows));
	assert_true(ask_number(r, uri, "total") >= RUNS);
	snprintf(uri, sizeof(uri), "/api/events?report=0&row=%d", (int)(row_of_kind(r, ROW_STATE) - r->rows));
	assert_in_range(ask_number(r, uri, "total"), 4 * RUNS - 2, 4 * RUNS);
	assert_true(ask_number(r, "/api/find?report=0&text=%20", "total") >= 0);
	assert_true(ask_number(r, "/api/sums?report=0", "count") > 0);
	mallopt(M_PERTURB, 0);
	end_report(r);
}

/* The values of a plot are those of its counters; a track may have other things besides. */
static void a_track_of_counters_and_slices(void **state)
{
	struct report_writer *w = begin_report();
	struct view_report *r;
	const struct row *plot, *slices = NULL;
	char uri[200];

	put_track(w, 1, TRACK_COUNTER);
	for (int64_t i = 0; i < RUNS; i++) {
		int64_t value[] = { i * 100, i }, slice[] = { i * 100, i * 100 + 50 };

		assert_int_equal(report_append(report_track(w, TABLE_COUNTER, 1), value, 3), 0);
		assert_int_equal(report_append(report_track(w, TABLE_SLICE, 1), slice, 3), 0);
	}
	r = open_report(w);
	plot = NULL;
	for (size_t i = 0; i < r->row_count; i++) {
		plot = r->rows[i].draw == DRAW_PLOT ? &r->rows[i] : plot;
		slices = r->rows[i].draw == DRAW_SLICES ? &r->rows[i] : slices;
	}
	for (size_t i = 0; i < r->row_count; i++)
		for (unsigned level = 0; level <= 30; level += 3) {
			snprintf(uri, sizeof(uri), "/api/tiles?report=0&level=%u&tiles=%zu:0", level, i);
			ask_number(r, uri, "none");
		}
	assert_non_null(plot);
	assert_non_null(slices);
	assert_int_equal(plot->track_count, 1);
	assert_int_equal(plot->count, RUNS);
	assert_true(plot->most == RUNS - 1);
	assert_int_equal(slices->count, RUNS);
	end_report(r);
}

/* Everything is asked for; nothing is there to be sorted, copied or looked through. */
static void nothing_was_recorded(void **state)
{
	/* clang-format off */
	static const char *const answered[] = {
		"/api/reports", "/api/rows?report=0", "/api/session?report=0", "/api/diagnostics?report=0", "/api/sums?report=0", "/api/tree?report=0",
		"/api/find?report=0&text=a", "/api/events?report=0", "/api/flame?report=0", "/api/names?report=0&ids=", "/api/kernels?report=0",
		"/api/counters?report=0&name=a", "/api/groups?report=0&by=kernel", "/api/groups?report=0&by=nvtx", "/api/groups?report=0&by=operator",
		"/api/groups?report=0&by=kernel&baseline=0", "/api/findings?report=0",
	};
	/* clang-format on */
	struct view_report *r = open_report(begin_report());
	struct view v = { .reports = &r, .report_count = 1, .texts = fuzz_texts() };
	_Atomic bool stop = false;
	struct buf answer = BUF_INIT;
	struct error err;

	assert_int_equal(view_report_find_lines(r, &stop), 0);
	assert_int_equal(view_report_make(r, MADE_LIMITS, &stop), 0);
	for (size_t i = 0; i < sizeof(answered) / sizeof(answered[0]); i++) {
		buf_clear(&answer);
		if (view_answer(&v, answered[i], &answer, &err) < 0)
			fail_msg("%s: %s", answered[i], err.text);
	}
	buf_release(&answer);
	end_report(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_tracks_of_runs_of_one_thread),
		cmocka_unit_test(a_track_of_counters_and_slices),
		cmocka_unit_test(nothing_was_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
