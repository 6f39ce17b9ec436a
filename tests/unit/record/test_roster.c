/* Who is who: agents and perf tell of the same processes and threads, in any order. */
#include "support.h"

#include <string.h>

#include "record/session/roster.h"
#include "ring/wire.h"

#define MS 1000000ll

static int set_up(void **state)
{
	struct bench *b;

	bench_set_up(state);
	b = *state;
	b->session.roster.sideband = 1;
	b->session.roster.next_process = 100;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	roster_finish(&b->session);
	return bench_tear_down(state);
}

/* Rows of a pid in PROCESS, and the last one of them. */
static int rows_of(struct bench *b, uint32_t pid, struct row *ret)
{
	struct row rows[64];
	size_t count = bench_rows(b, TABLE_PROCESS, rows, 64);
	int found = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_PROCESS_PID] == pid) {
			*ret = rows[i];
			found++;
		}
	return found;
}

static void test_perf_first(void **state)
{
	struct bench *b = *state;
	struct session *s = &b->session;
	struct roster_life *life = roster_exec(s, 50, 10 * MS, "prog");
	uint64_t uid = life->uid;

	assert_int_equal(roster_attach(s, 50, 12 * MS, WIRE_ORIGIN_EXEC, "prog"), uid);
	/* Again: the agent was loaded anew, or another exec is on its way. */
	assert_int_not_equal(roster_attach(s, 50, 13 * MS, WIRE_ORIGIN_EXEC, "prog"), uid);
}

static void test_agent_first(void **state)
{
	struct session *s = &((struct bench *)*state)->session;
	uint64_t uid = roster_attach(s, 50, 12 * MS, WIRE_ORIGIN_EXEC, "prog");
	struct roster_life *life = roster_exec(s, 50, 10 * MS, "prog");

	assert_int_equal(life->uid, uid);
	assert_int_equal(life->start, 10 * MS);
	assert_ptr_equal(roster_life(s, 50, 11 * MS), life);
	/* An exec later than the attachment is another life. */
	assert_int_not_equal(roster_exec(s, 50, 20 * MS, "other")->uid, uid);
}

/* fork, exec and attachment; perf's events come last, or in between. */
static void test_fork_and_exec(void **state)
{
	struct session *s = &((struct bench *)*state)->session;
	struct roster_life *parent = roster_exec(s, 50, 1 * MS, "shell");
	uint64_t parent_uid = parent->uid, uid, forked;

	uid = roster_attach(s, 60, 12 * MS, WIRE_ORIGIN_EXEC, "child");
	forked = roster_fork(s, 60, 50, 10 * MS)->uid;
	assert_int_not_equal(forked, uid);
	assert_int_equal(roster_exec(s, 60, 11 * MS, "child")->uid, uid);
	assert_int_equal(roster_by_uid(s, uid)->parent, parent_uid);
	assert_null(roster_by_uid(s, forked));

	roster_fork(s, 61, 50, 30 * MS);
	uid = roster_attach(s, 61, 32 * MS, WIRE_ORIGIN_EXEC, "child");
	assert_int_equal(roster_exec(s, 61, 31 * MS, "child")->uid, uid);

	uid = roster_attach(s, 62, 42 * MS, WIRE_ORIGIN_FORK, "shell");
	assert_int_equal(roster_fork(s, 62, 50, 41 * MS)->uid, uid);

	forked = roster_fork(s, 63, 50, 51 * MS)->uid;
	assert_int_equal(roster_attach(s, 63, 52 * MS, WIRE_ORIGIN_FORK, "shell"), forked);
}

/* A program without the agent runs another that has it: the exec in between has not been read. */
static void test_exec_not_read_yet(void **state)
{
	struct session *s = &((struct bench *)*state)->session;
	uint64_t first = roster_exec(s, 50, 1 * MS, "static")->uid;
	uint64_t uid = roster_attach(s, 50, 90 * MS, WIRE_ORIGIN_EXEC, "dynamic");

	assert_int_not_equal(uid, first);
	assert_int_equal(roster_life(s, 50, 50 * MS)->uid, first);
	assert_int_equal(roster_exec(s, 50, 80 * MS, "dynamic")->uid, uid);
}

static void test_numbers_again(void **state)
{
	struct bench *b = *state;
	struct session *s = &b->session;
	struct roster_life *life = roster_exec(s, 50, 1 * MS, "shell");
	struct roster_thread *t;
	uint64_t process, thread;
	struct row row;

	process = roster_fork(s, 70, 50, 2 * MS)->uid;
	roster_exit(s, 70, 70, 3 * MS);
	assert_null(roster_by_uid(s, process));
	assert_int_not_equal(roster_fork(s, 70, 50, 4 * MS)->uid, process);
	/* This time the exit is not seen. */
	process = roster_last(s, 70)->uid;
	assert_int_not_equal(roster_fork(s, 70, 50, 5 * MS)->uid, process);
	t = roster_thread(s, life, 71, 6 * MS);
	thread = t->uid;
	assert_ptr_equal(roster_thread(s, life, 71, 7 * MS), t);
	roster_exit(s, 50, 71, 8 * MS);
	assert_int_not_equal(roster_thread(s, life, 71, 9 * MS)->uid, thread);
	roster_finish(s);
	bench_finish(b);
	assert_int_equal(rows_of(b, 70, &row), 3);
	assert_int_equal(rows_of(b, 50, &row), 1);
}

static size_t threads_of(struct bench *b, uint32_t tid, struct row *rows)
{
	struct row all[64];
	size_t count = bench_rows(b, TABLE_THREAD, all, 64), found = 0;

	for (size_t i = 0; i < count; i++)
		if (all[i].values[COLUMN_THREAD_TID] == tid)
			rows[found++] = all[i];
	return found;
}

static void test_threads_of_both(void **state)
{
	struct bench *b = *state;
	struct session *s = &b->session;
	struct roster_life *life = roster_exec(s, 50, 1 * MS, "prog");
	uint64_t uid = roster_attach(s, 50, 2 * MS, WIRE_ORIGIN_EXEC, "prog");
	struct roster_thread *early = roster_thread(s, life, 51, 3 * MS);
	struct roster_thread *t = roster_ring_opened(s, uid, 51, 5, 4 * MS);
	struct row rows[8];

	assert_ptr_equal(early, t);
	/* perf sees its end before the ring's is read. */
	roster_exit(s, 50, 51, 10 * MS);
	roster_ring_closed(s, t, 9 * MS, "worker");
	/* Ring first. */
	t = roster_ring_opened(s, uid, 52, 6, 5 * MS);
	assert_ptr_equal(roster_thread(s, life, 52, 4 * MS), t);
	roster_ring_closed(s, t, 8 * MS, "second");
	roster_exit(s, 50, 52, 11 * MS);
	/* A ring that is read after perf has told of the whole thread. */
	roster_thread(s, life, 53, 6 * MS);
	roster_exit(s, 50, 53, 12 * MS);
	t = roster_ring_opened(s, uid, 53, 7, 7 * MS);
	roster_age(s);
	roster_ring_closed(s, t, 9 * MS, "third");
	roster_exit(s, 50, 50, 20 * MS);
	roster_agent_over(s, uid, 21 * MS);
	roster_finish(s);
	bench_finish(b);
	assert_int_equal(threads_of(b, 51, rows), 1);
	assert_int_equal(rows[0].values[COLUMN_THREAD_START], 3 * MS);
	assert_int_equal(rows[0].values[COLUMN_THREAD_END], 10 * MS);
	assert_int_equal(rows[0].values[COLUMN_THREAD_INNER_TID], 5);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_THREAD_NAME), "worker");
	assert_int_equal(threads_of(b, 52, rows), 1);
	assert_int_equal(rows[0].values[COLUMN_THREAD_START], 4 * MS);
	assert_int_equal(rows[0].values[COLUMN_THREAD_END], 11 * MS);
	assert_int_equal(threads_of(b, 53, rows), 1);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_THREAD_NAME), "third");
	assert_int_equal(threads_of(b, 50, rows), 1);
}

/* A destructor of a thread makes events after the one that gave its ring back: it has a second ring, which is opened
 * before the first one's end is read. */
static void test_two_rings(void **state)
{
	struct bench *b = *state;
	struct session *s = &b->session;
	uint64_t uid = (roster_exec(s, 50, 1 * MS, "prog"), roster_attach(s, 50, 2 * MS, WIRE_ORIGIN_EXEC, "prog"));
	struct roster_thread *t = roster_ring_opened(s, uid, 51, 51, 4 * MS);
	struct row rows[8];

	assert_ptr_equal(roster_ring_opened(s, uid, 51, 51, 9 * MS), t);
	roster_exit(s, 50, 51, 10 * MS);
	roster_ring_closed(s, t, 8 * MS, "worker");
	s->now = 20000 * MS;
	roster_age(s);
	roster_ring_closed(s, t, 9 * MS, "worker");
	/* The life may end before a ring of one of its threads is read: the ring keeps the thread. */
	t = roster_ring_opened(s, uid, 52, 52, 5 * MS);
	roster_exit(s, 50, 50, 21000 * MS);
	roster_exit(s, 50, 52, 21000 * MS);
	roster_agent_over(s, uid, 21000 * MS);
	assert_int_equal(t->tid, 52);
	roster_ring_closed(s, t, 9 * MS, "late");
	roster_finish(s);
	bench_finish(b);
	assert_int_equal(threads_of(b, 51, rows), 1);
	assert_int_equal(rows[0].values[COLUMN_THREAD_END], 10 * MS);
	assert_int_equal(threads_of(b, 52, rows), 1);
}

/* Threads that come and go leave nothing behind but their rows. */
static void test_many_threads(void **state)
{
	struct bench *b = *state;
	struct session *s = &b->session;
	struct roster_life *life = roster_exec(s, 50, 1, "prog");
	uint64_t first = s->next_thread;

	roster_attach(s, 50, 2, WIRE_ORIGIN_EXEC, "prog");
	for (uint32_t i = 0; i < 100000; i++) {
		s->now = i * MS;
		assert_non_null(roster_thread(s, life, 1000 + i % 7000, i * MS));
		roster_exit(s, 50, 1000 + i % 7000, i * MS + 100);
		roster_age(s);
		assert_true(s->roster.threads.count < 4000);
	}
	assert_int_equal(s->next_thread - first, 100000);
	roster_exit(s, 50, 50, s->now);
	roster_agent_over(s, life->uid, s->now);
	assert_null(s->roster.lives);
	roster_finish(s);
	assert_int_equal(s->roster.threads.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_perf_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_agent_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fork_and_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec_not_read_yet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_numbers_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads_of_both, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_rings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_threads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
