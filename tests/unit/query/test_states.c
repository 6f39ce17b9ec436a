/* States of threads from their runs, over small reports whose truth is written beside them, and over
 * random ones against SQLite's own window functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static void expect(struct query *q, const char *sql, const char *answer)
{
	assert_string_equal(ask(q, sql), answer);
}

/* after: 0 unknown, 1 preempted, 2 blocked, 3 exited, 4 still running. Track kinds: 7 runs, 8 OS runtime. */
#define PEOPLE \
	"process 0 uid=1 pid=100 name=\"app\"\n" \
	"thread 0 uid=1 process=1 tid=100 name=\"app\"\n" \
	"thread 0 uid=2 process=1 tid=101 name=\"worker\"\n" \
	"track 0 id=1 kind=7 process=1 thread=1\n" \
	"track 0 id=2 kind=7 process=1 thread=2\n" \
	"track 0 id=3 kind=8 process=1 thread=1 depth=0\n" \
	"track 0 id=4 kind=8 process=1 thread=1 depth=1\n"

static const char story[] = PEOPLE "meta 0 key=\"sched.wakeups\" value=\"1\" number=1\n"
				   "meta 0 key=\"sched.end\" value=\"1000\" number=1000\n"
				   /* Runs 100-200, sleeps in a call within another until 260, waits until 300; is preempted
	 * 350-360; goes to sleep in a system call; the last run ends in something unknown. */
				   "run 1 start=100 end=200 cpu=0 after=2\n"
				   "run 1 start=300 end=350 cpu=1 ready=260 after=1\n"
				   "run 1 start=360 end=400 cpu=1 ready=350 after=2 syscall=\"futex\"\n"
				   "run 1 start=500 end=600 cpu=0 ready=480 after=2\n"
				   "run 1 start=700 end=710 cpu=0 after=2\n"
				   /* Born at 40, exits; events are missing between 90 and 120. */
				   "run 2 start=50 end=90 cpu=1 ready=40 after=0\n"
				   "run 2 start=120 end=140 cpu=1 after=3\n"
				   "osrt 3 start=150 end=310 name=\"pthread_join\"\n"
				   "osrt 3 start=320 end=340 name=\"read\"\n"
				   "osrt 4 start=190 end=305 name=\"pthread_cond_wait\"\n";

static void test_states_in_order(void **state)
{
	struct query *q = open_text(story);

	expect(q, "SELECT state, start, end, reason, reasonSource, cpu FROM thread_states WHERE tid = 100",
	       "Running|100|200|||0;Blocked|200|260|pthread_cond_wait|OS runtime|;Runnable|260|300|||;"
	       "Running|300|350|||1;Preempted|350|360|||;Running|360|400|||1;"
	       "Blocked|400|480|futex|System call|;Runnable|480|500|||;Running|500|600|||0;"
	       "Not split|600|700|||;Running|700|710|||0;Blocked|710|1000|||");
	expect(q,
	       "SELECT state, start, duration, threadName, pid, globalTid % 16777216 FROM thread_states "
	       "WHERE tid = 101",
	       "Runnable|40|10|worker|100|101;Running|50|40|worker|100|101;Unknown|90|30|worker|100|101;"
	       "Running|120|20|worker|100|101");
	close_text(q);
}

static void test_state_sums(void **state)
{
	struct query *q = open_text(story);

	expect(q,
	       "SELECT state, reason, count, time, min, max, total FROM thread_state_stats WHERE tid = 100 "
	       "ORDER BY state, reason",
	       "Blocked||1|290|290|290|900;Blocked|futex|1|80|80|80|900;"
	       "Blocked|pthread_cond_wait|1|60|60|60|900;Not split||1|100|100|100|900;"
	       "Preempted||1|10|10|10|900;Runnable||2|60|20|40|900;Running||5|300|10|100|900");
	close_text(q);
}

static void test_sched_sums(void **state)
{
	struct query *q = open_text(story);

	expect(q,
	       "SELECT tid, runs, busy, voluntary, forced, migrations, waits, waitTime, waitMax, notSplit "
	       "FROM sched_stats WHERE kind = 'thread'",
	       "100|5|300|4|1|2|3|70|40|100;101|2|60|0|0|0|1|10|10|0");
	expect(q, "SELECT cpu, runs, busy, voluntary, forced, migrations, tid FROM sched_stats WHERE kind = 'core'",
	       "0|3|210|3|0|1|;1|4|150|1|1|1|");
	expect(q, "SELECT cpu, start, end, tid, migrated FROM cpu_runs",
	       "0|100|200|100|0;0|500|600|100|1;0|700|710|100|0;1|50|90|101|0;1|120|140|101|0;"
	       "1|300|350|100|1;1|360|400|100|0");
	close_text(q);
}

/* Without wakeups nothing is said about when a thread could have run. */
static void test_not_split(void **state)
{
	struct query *q = open_text(PEOPLE "meta 0 key=\"sched.wakeups\" value=\"0\" number=0\n"
					   "meta 0 key=\"sched.end\" value=\"1000\" number=1000\n"
					   "run 1 start=100 end=200 cpu=0 after=2 syscall=\"poll\"\n"
					   "run 1 start=300 end=400 cpu=0 after=1\n"
					   "run 1 start=450 end=500 cpu=0 ready=400 after=2\n"
					   "run 2 start=100 end=200 cpu=1 after=4\n"
					   "run 2 start=600 end=700 cpu=1 after=4\n");

	expect(q, "SELECT state, reason, start, end FROM thread_states WHERE state <> 'Running'",
	       "Not split|poll|200|300;Preempted||400|450;Not split||500|1000");
	expect(q, "SELECT waits, waitTime, notSplit FROM sched_stats WHERE tid = 100", "1|50|100");
	close_text(q);
}

static void test_nsys_table(void **state)
{
	struct query *q = open_text(PEOPLE "run 1 start=100 end=200 cpu=3 after=2 syscall=\"futex\"\n"
					   "run 1 start=300 end=400 cpu=2 after=4\n");

	expect(q,
	       "SELECT group_concat(name || CASE \"notnull\" WHEN 1 THEN '!' ELSE '' END) "
	       "FROM pragma_table_info('SCHED_EVENTS')",
	       "start!,cpu!,isSchedIn!,globalTid,threadState,threadBlock");
	/* 1 << 48 | 100 << 24 | 100 */
	expect(q,
	       "SELECT start, cpu, isSchedIn, globalTid = 281476654432356, s.label, b.label FROM SCHED_EVENTS "
	       "LEFT JOIN ENUM_SAMPLING_THREAD_STATE s ON s.id = threadState "
	       "LEFT JOIN ENUM_SCHEDULING_THREAD_BLOCK b ON b.id = threadBlock ORDER BY start",
	       "100|3|1|1||;200|3|0|1|Blocked|System call;300|2|1|1||");
	close_text(q);
}

static void test_nothing_without_runs(void **state)
{
	struct query *q = open_text("process 0 uid=1 pid=100 name=\"app\"\n");

	expect(q, "SELECT count(*) FROM thread_states", "0");
	expect(q, "SELECT count(*) FROM thread_state_stats", "0");
	expect(q, "SELECT count(*) FROM sched_stats", "0");
	expect(q, "SELECT count(*) FROM cpu_runs", "0");
	expect(q, "SELECT name FROM sqlite_master WHERE name LIKE '%SCHED%'", "");
	close_text(q);
}

/* A report may say anything. */
static void test_senseless_values(void **state)
{
	struct query *q = open_text(PEOPLE "track 0 id=9 kind=7\n"
					   "meta 0 key=\"sched.end\" value=\"9223372036854775807\"\n"
					   "run 1 start=-9223372036854775807 end=100 cpu=-5 ready=9000 after=77\n"
					   "run 1 start=100 end=9223372036854775807 cpu=99999999999 after=2 syscall=987654\n"
					   "run 9 start=5 end=6 cpu=65535 ready=-1 after=2 syscall=3\n");

	expect(q, "SELECT count(*), count(state) FROM thread_states WHERE threadUid = 1", "2|2");
	expect(q, "SELECT runs, busy FROM sched_stats WHERE cpu = 65535", "1|1");
	expect(q, "SELECT count(*) FROM cpu_runs", "1");
	expect(q, "SELECT count(*) > 0 FROM thread_state_stats", "1");
	close_text(q);
}

#define RANDOM_THREADS 5
#define RANDOM_RUNS 20000

static struct query *open_random(void)
{
	const size_t size = (size_t)RANDOM_THREADS * (RANDOM_RUNS + 2) * 120 + 4096;
	char *lines = malloc(size);
	size_t used = (size_t)snprintf(lines, size, "meta 0 key=\"sched.wakeups\" value=\"1\" number=1\n");
	struct query *q;

	srand(4711);
	for (int t = 1; t <= RANDOM_THREADS; t++) {
		long time = rand() % 1000, after = 1, end;

		used += (size_t)snprintf(lines + used, size - used,
					 "thread 0 uid=%d process=1 tid=%d\ntrack 0 id=%d kind=7 process=1 thread=%d\n", t, 100 + t, t, t);
		for (int i = 0; i < RANDOM_RUNS; i++) {
			long start = time + rand() % 1000;

			end = start + 1 + rand() % 1000;
			used += (size_t)snprintf(lines + used, size - used, "run %d start=%ld end=%ld cpu=%d", t, start, end, rand() % 8);
			if (i > 0 && after == 1)
				used += (size_t)snprintf(lines + used, size - used, " ready=%ld", time);
			else if (i > 0 && rand() % 2)
				used += (size_t)snprintf(lines + used, size - used, " ready=%ld", time + rand() % (start - time + 1));
			after = 1 + rand() % 2;
			used += (size_t)snprintf(lines + used, size - used, " after=%ld\n", after);
			time = end;
		}
	}
	q = open_text(lines);
	free(lines);
	return q;
}

static void same(struct query *q, const char *ours, const char *theirs)
{
	char *expected = strdup(ask(q, theirs));

	assert_true(strlen(expected) > 10);
	assert_string_equal(ask(q, ours), expected);
	free(expected);
}

#define RUNS_WITH_LAST \
	"WITH r AS (SELECT track, start, end, cpu, ready, after, " \
	"lag(cpu) OVER w AS last_cpu, lag(end) OVER w AS last_end, lag(after) OVER w AS last_after " \
	"FROM sonde_run WINDOW w AS (PARTITION BY track ORDER BY start)) "

static void test_random_runs_against_window_functions(void **state)
{
	struct query *q = open_random();

	same(q,
	     "SELECT threadUid, runs, busy, voluntary, forced, migrations, waitTime, waitMax, notSplit "
	     "FROM sched_stats WHERE kind = 'thread' ORDER BY 1",
	     RUNS_WITH_LAST "SELECT track, count(*), sum(end - start), sum(after = 2), sum(after = 1), "
			    "sum(last_cpu <> cpu), sum(start - ready), max(start - ready), "
			    "sum(CASE WHEN last_after = 2 AND ready IS NULL THEN start - last_end END) "
			    "FROM r GROUP BY 1 ORDER BY 1");
	same(q, "SELECT cpu, runs, busy, migrations FROM sched_stats WHERE kind = 'core' ORDER BY 1",
	     RUNS_WITH_LAST "SELECT cpu, count(*), sum(end - start), sum(last_cpu <> cpu) FROM r GROUP BY 1 ORDER BY 1");
	same(q,
	     "SELECT threadUid, sum(time) FILTER (WHERE state = 'Blocked'), "
	     "sum(time) FILTER (WHERE state = 'Preempted'), sum(time) FILTER (WHERE state = 'Runnable') "
	     "FROM thread_state_stats GROUP BY 1 ORDER BY 1",
	     RUNS_WITH_LAST "SELECT track, sum(CASE WHEN last_after = 2 THEN ready - last_end END), "
			    "sum(CASE WHEN last_after = 1 THEN start - last_end END), "
			    "sum(CASE WHEN last_after = 2 THEN start - ready END) FROM r GROUP BY 1 ORDER BY 1");
	/* Every moment has one state: the sums are the whole. */
	same(q, "SELECT threadUid, sum(duration) FROM thread_states GROUP BY 1 ORDER BY 1",
	     "SELECT track, max(end) - min(start) FROM sonde_run GROUP BY 1 ORDER BY 1");
	same(q, "SELECT threadUid, state, count(*), sum(duration) FROM thread_states GROUP BY 1, 2 ORDER BY 1, 2",
	     "SELECT threadUid, state, count, time FROM thread_state_stats ORDER BY 1, 2");
	same(q, "SELECT group_concat(cpu || ':' || start) FROM cpu_runs",
	     "SELECT group_concat(cpu || ':' || start) FROM (SELECT cpu, start FROM sonde_run ORDER BY cpu, start, end)");
	close_text(q);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_in_order), cmocka_unit_test(test_state_sums),
		cmocka_unit_test(test_sched_sums), cmocka_unit_test(test_not_split),
		cmocka_unit_test(test_nsys_table), cmocka_unit_test(test_nothing_without_runs),
		cmocka_unit_test(test_senseless_values),
		cmocka_unit_test(test_random_runs_against_window_functions),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
