/* Runs from switch events: each case is a story of a few threads, told to sched_take(), and the
 * rows that must come of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/perf/sched.h"
#include "support.h"

#define MAX_RUNS 64

static void event(struct bench *b, unsigned kind, int64_t time, uint32_t tid, uint32_t cpu)
{
	struct sched_event e = { .time = time, .pid = 1000, .tid = tid, .cpu = cpu, .kind = (uint8_t)kind };

	sched_take(&b->session, &e);
}

static void preempt(struct bench *b, int64_t time, uint32_t tid, uint32_t cpu)
{
	struct sched_event e = { .time = time, .pid = 1000, .tid = tid, .cpu = cpu, .kind = SCHED_OUT, .preempted = 1 };

	sched_take(&b->session, &e);
}

static const char *after_name(int64_t after)
{
	static const char *const names[] = { "unknown", "preempted", "blocked", "exited", "still" };

	return after >= 0 && after <= RUN_STILL ? names[after] : "?";
}

/* "start-end@cpu after ready=R in=SYSCALL", one per run, tracks apart by '|'. */
static void describe(struct bench *b, char *text, size_t size)
{
	struct row *rows = calloc(MAX_RUNS, sizeof(*rows));
	size_t count = bench_rows(b, TABLE_RUN, rows, MAX_RUNS), used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		const int64_t *v = rows[i].values;

		used += (size_t)snprintf(text + used, size - used, "%s%lld-%lld@%lld %s",
					 i == 0                             ? "" :
					 rows[i].track == rows[i - 1].track ? "; " :
									      " | ",
					 (long long)v[COLUMN_RUN_START], (long long)v[COLUMN_RUN_END], (long long)v[COLUMN_RUN_CPU],
					 after_name(v[COLUMN_RUN_AFTER]));
		if (!rows[i].nulls[COLUMN_RUN_READY] && used < size)
			used += (size_t)snprintf(text + used, size - used, " ready=%lld", (long long)v[COLUMN_RUN_READY]);
		if (!rows[i].nulls[COLUMN_RUN_SYSCALL] && used < size)
			used += (size_t)snprintf(text + used, size - used, " in=%s", bench_text(b, &rows[i], COLUMN_RUN_SYSCALL));
	}
	free(rows);
}

static void expect(struct bench *b, const char *runs)
{
	char text[4096];

	roster_finish(&b->session);
	bench_finish(b);
	describe(b, text, sizeof(text));
	assert_string_equal(text, runs);
}

static void test_blocked_and_preempted(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_IN, 100, 7, 0);
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_IN, 300, 7, 1);
	preempt(b, 350, 7, 1);
	event(b, SCHED_IN, 420, 7, 1);
	event(b, SCHED_GONE, 500, 7, 1);
	expect(b, "100-200@0 blocked; 300-350@1 preempted; 420-500@1 exited ready=350");
}

static void test_wakeups_give_ready(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_IN, 100, 7, 0);
	event(b, SCHED_WOKEN, 150, 7, 1); /* runs: means nothing */
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_WOKEN, 260, 7, 1);
	event(b, SCHED_WOKEN, 270, 7, 1); /* it could run already */
	event(b, SCHED_IN, 300, 7, 0);
	event(b, SCHED_OUT, 310, 7, 0);
	event(b, SCHED_IN, 400, 7, 0); /* its wakeup was not seen */
	event(b, SCHED_OUT, 410, 7, 0);
	event(b, SCHED_WOKEN, 411, 99, 0); /* nobody we know */
	expect(b, "100-200@0 blocked; 300-310@0 blocked ready=260; 400-410@0 blocked");
}

static void test_new_thread_waits_for_its_first_run(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_BORN, 90, 8, 0);
	event(b, SCHED_WOKEN, 95, 8, 0);
	event(b, SCHED_IN, 120, 8, 1);
	event(b, SCHED_GONE, 130, 8, 1);
	expect(b, "120-130@1 exited ready=95");
}

static void test_syscall_belongs_to_the_switch_that_follows(void **state)
{
	struct bench *b = *state;
	struct sched_event e = { .time = 199, .pid = 1000, .tid = 7, .kind = SCHED_LEAVING, .syscall = session_text(&b->session, "futex") };

	event(b, SCHED_IN, 100, 7, 0);
	sched_take(&b->session, &e);
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_IN, 300, 7, 0);
	event(b, SCHED_OUT, 400, 7, 0);
	event(b, SCHED_IN, 500, 7, 0);
	e.time = 599;
	sched_take(&b->session, &e);
	preempt(b, 600, 7, 0); /* did not block in it */
	expect(b, "100-200@0 blocked in=futex; 300-400@0 blocked; 500-600@0 preempted");
}

/* Who runs when the window opens is not switched in. */
static uint64_t late_name(void *context, uint64_t unnamed)
{
	return unnamed == (SCHED_UNNAMED | 5) ? session_text(context, "futex") : 0;
}

static void leave(struct bench *b, int64_t time, uint32_t tid, uint64_t syscall)
{
	struct sched_event e = { .time = time, .pid = 1000, .tid = tid, .kind = SCHED_LEAVING, .syscall = syscall };

	sched_take(&b->session, &e);
}

/* Runs wait for their names, those of a thread that ends in the meantime, too. */
static void test_runs_wait_for_names(void **state)
{
	struct bench *b = *state;

	sched_hold(&b->session);
	event(b, SCHED_IN, 100, 7, 0);
	leave(b, 199, 7, SCHED_UNNAMED | 5);
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_IN, 210, 8, 0);
	leave(b, 219, 8, SCHED_UNNAMED | 6); /* says nothing */
	event(b, SCHED_OUT, 220, 8, 0);
	event(b, SCHED_IN, 230, 8, 0);
	event(b, SCHED_GONE, 240, 8, 0);
	event(b, SCHED_IN, 300, 7, 0);
	leave(b, 399, 7, SCHED_UNNAMED | 5); /* about to leave when the names come */
	assert_int_equal(b->session.events, 0);
	assert_int_equal(sched_held(&b->session), 4);
	sched_give(&b->session, late_name, &b->session);
	assert_int_equal(b->session.events, 3);
	assert_int_equal(sched_held(&b->session), 0);
	event(b, SCHED_OUT, 400, 7, 0);
	expect(b, "100-200@0 blocked in=futex; 300-400@0 blocked in=futex | 210-220@0 blocked; 230-240@0 exited");
}

static void test_window_edges(void **state)
{
	struct bench *b = *state;

	sched_window_open(&b->session, 1000);
	event(b, SCHED_OUT, 1100, 7, 0);
	event(b, SCHED_IN, 1200, 7, 0);
	event(b, SCHED_IN, 1300, 8, 1);
	sched_window_close(&b->session, 2000);
	sched_window_open(&b->session, 3000);
	event(b, SCHED_OUT, 3100, 7, 0);
	event(b, SCHED_OUT, 3200, 8, 1);
	event(b, SCHED_IN, 3300, 8, 1);
	sched_window_close(&b->session, 4000);
	event(b, SCHED_OUT, 4100, 8, 1);
	expect(b, "1000-1100@0 blocked; 1200-2000@0 still; 3000-3100@0 blocked | "
		  "1300-2000@1 still; 3000-3200@1 blocked; 3300-4000@1 still");
}

/* Nobody switched them: only samples say that they ran. */
static void test_seen_through_a_window(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_SEEN, 500, 7, 0); /* no window is open */
	sched_window_open(&b->session, 1000);
	event(b, SCHED_SEEN, 1100, 7, 0);
	event(b, SCHED_SEEN, 1200, 7, 0);
	event(b, SCHED_IN, 1300, 8, 1);
	event(b, SCHED_SEEN, 1350, 8, 1);
	event(b, SCHED_OUT, 1400, 8, 1);
	event(b, SCHED_SEEN, 1500, 8, 1); /* its switch-in is missing */
	event(b, SCHED_BORN, 1600, 9, 1);
	event(b, SCHED_SEEN, 1700, 9, 1);
	sched_window_close(&b->session, 2000);
	expect(b, "1000-2000@0 still | 1300-1400@1 blocked");
}

/* A thread that was not there when the window opened did not run then. */
static void test_late_thread_did_not_run_at_the_opening(void **state)
{
	struct bench *b = *state;

	sched_window_open(&b->session, 1000);
	event(b, SCHED_BORN, 1500, 9, 0);
	event(b, SCHED_OUT, 1600, 9, 0); /* its switch-in is missing */
	event(b, SCHED_IN, 1700, 9, 0);
	event(b, SCHED_OUT, 1800, 9, 0);
	expect(b, "1700-1800@0 blocked");
}

/* System-wide, an ended thread leaves its CPU after its exit was told. */
static void test_out_after_exit_is_not_a_run(void **state)
{
	struct bench *b = *state;

	sched_window_open(&b->session, 1000);
	event(b, SCHED_IN, 1100, 9, 0);
	event(b, SCHED_GONE, 1200, 9, 0);
	event(b, SCHED_OUT, 1210, 9, 0);
	event(b, SCHED_IN, 1300, 9, 0); /* the number is used again */
	event(b, SCHED_OUT, 1400, 9, 0);
	event(b, SCHED_OUT, 1500, 0, 0);
	event(b, SCHED_OUT, 1600, UINT32_MAX, 0);
	expect(b, "1100-1200@0 exited | 1300-1400@0 blocked");
}

/* Thread 7 is known to run until its CPU was heard of last, 8 was on another CPU. */
static void test_lost_events_end_what_ran_there(void **state)
{
	struct bench *b = *state;

	sched_window_open(&b->session, 1000);
	event(b, SCHED_IN, 1100, 7, 0);
	event(b, SCHED_IN, 1150, 8, 1);
	event(b, SCHED_LEAVING, 1200, 7, 0);
	event(b, SCHED_WOKEN, 1250, 8, 0); /* by somebody, perhaps another one by now */
	sched_lost(&b->session, 0);
	event(b, SCHED_OUT, 1500, 7, 0); /* which run this ends is not known */
	event(b, SCHED_OUT, 1600, 8, 1);
	event(b, SCHED_OUT, 1700, 9, 1); /* nor when this one began */
	event(b, SCHED_IN, 1800, 7, 0);
	preempt(b, 1900, 7, 0);
	expect(b, "1100-1200@0 unknown; 1800-1900@0 preempted | 1150-1600@1 blocked");
}

/* It went to the other CPU in what is missing, and ended there. */
static void test_end_elsewhere_does_not_stretch_a_run(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_IN, 100, 7, 0);
	event(b, SCHED_GONE, 900, 7, 1);
	event(b, SCHED_IN, 910, 8, 0);
	event(b, SCHED_OUT, 920, 8, 0);
	expect(b, "100-100@0 unknown | 910-920@0 blocked");
}

static void test_missing_switches_do_not_stretch_runs(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_IN, 100, 7, 0);
	event(b, SCHED_IN, 300, 7, 1);  /* twice in */
	event(b, SCHED_OUT, 400, 7, 0); /* out elsewhere */
	event(b, SCHED_IN, 500, 7, 0);
	event(b, SCHED_IN, 700, 8, 0); /* another one has its CPU */
	event(b, SCHED_OUT, 800, 8, 0);
	event(b, SCHED_OUT, 900, 7, 0);
	expect(b, "100-100@0 unknown; 300-300@1 unknown; 500-500@0 unknown | 700-800@0 blocked");
}

static void test_exec_splits_the_run(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_IN, 100, 7, 0);
	event(b, SCHED_EXEC, 150, 7, 0);
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_EXEC, 250, 99, 0); /* not known: nothing to split */
	expect(b, "100-150@0 still | 150-200@0 blocked");
}

/* The first thread has ended, and was preempted at it, when another one takes its number. */
static void test_exec_of_another_thread(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_IN, 100, 7, 0);
	event(b, SCHED_GONE, 110, 7, SCHED_NO_CPU);
	event(b, SCHED_IN, 120, 7, 1);
	event(b, SCHED_OUT, 130, 7, 1);
	event(b, SCHED_IN, 140, 8, 0);
	event(b, SCHED_EXEC, 150, 7, 0);
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_IN, 210, 9, 0);
	event(b, SCHED_OUT, 220, 9, 0);
	sched_window_close(&b->session, 900);
	expect(b, "100-110@0 exited | 120-130@1 blocked | 140-150@0 exited | 150-200@0 blocked | 210-220@0 blocked");
}

/* Who leaves a CPU had it: nobody else has it any more, by whatever number. */
static void test_leaving_vacates(void **state)
{
	struct bench *b = *state;

	event(b, SCHED_OUT, 50, 7, 1);
	event(b, SCHED_IN, 100, 8, 0);
	event(b, SCHED_OUT, 200, 7, 0);
	event(b, SCHED_IN, 210, 9, 0);
	event(b, SCHED_OUT, 220, 9, 0);
	sched_window_close(&b->session, 900);
	expect(b, "100-100@0 unknown | 210-220@0 blocked");
}

/* Two threads take turns on a CPU, with one event in sixteen lost: runs of a CPU
 * never overlap and none is longer than a turn. */
static void test_random_losses_never_overlap(void **state)
{
	struct bench *b = *state;
	struct row *rows = calloc(4096, sizeof(*rows));
	uint32_t random = 1;
	size_t count;

	for (int64_t turn = 0; turn < 1000; turn++) {
		random = random * 1103515245 + 12345;
		if (random >> 16 & 15)
			event(b, SCHED_IN, turn * 10 + 1, 7 + turn % 2, 0);
		if (random >> 20 & 15)
			event(b, SCHED_OUT, turn * 10 + 9, 7 + turn % 2, 0);
	}
	roster_finish(&b->session);
	bench_finish(b);
	count = bench_rows(b, TABLE_RUN, rows, 4096);
	assert_true(count > 800 && count < 1000);
	for (size_t i = 0; i < count; i++) {
		const int64_t *v = rows[i].values;

		assert_true(v[COLUMN_RUN_END] - v[COLUMN_RUN_START] <= 8);
		assert_int_equal(v[COLUMN_RUN_START] % 10, 1);
		assert_true(i == 0 || rows[i].track != rows[i - 1].track || v[COLUMN_RUN_START] > rows[i - 1].values[COLUMN_RUN_END]);
	}
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blocked_and_preempted, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_wakeups_give_ready, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_new_thread_waits_for_its_first_run, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_syscall_belongs_to_the_switch_that_follows, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_runs_wait_for_names, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_seen_through_a_window, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_window_edges, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_late_thread_did_not_run_at_the_opening, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_out_after_exit_is_not_a_run, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_lost_events_end_what_ran_there, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_end_elsewhere_does_not_stretch_a_run, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_missing_switches_do_not_stretch_runs, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_exec_splits_the_run, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_exec_of_another_thread, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_leaving_vacates, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_random_losses_never_overlap, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
