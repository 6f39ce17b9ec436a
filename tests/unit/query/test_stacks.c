/* Statistics of stacks against a plain computation that writes every stack out, on random trees; and trees that
 * no recorder would write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support.h"

#define STACKS 3000
#define FUNCTIONS 40
#define FRAMES 120
#define THREADS 3
#define SAMPLES 200000

static char folder[64], path[128];

static int set_up(void **state)
{
	make_folder(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/run.sonde", folder);
	return 0;
}

static int tear_down(void **state)
{
	remove_folder(folder);
	return 0;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static struct report_writer *begin(void)
{
	struct report_writer *w;
	struct error err;

	assert_int_equal(report_writer_open(&w, path, 1, NULL, 0, &err), 0);
	return w;
}

static struct query *finish(struct report_writer *w)
{
	struct query *q;
	struct error err;

	assert_int_equal(report_writer_finish(w, &err), 0);
	assert_int_equal(query_open(&q, path, &err), 0);
	return q;
}

static void append(struct report_writer *w, enum table_id table, uint32_t track, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(w, table, track), values, present), 0);
}

static int64_t text(struct report_writer *w, const char *format, int number)
{
	char name[64];

	snprintf(name, sizeof(name), format, number);
	return (int64_t)report_string(w, name, strlen(name));
}

static void write_threads(struct report_writer *w)
{
	append(w, TABLE_PROCESS, 0, (int64_t[]){ 1, 100 }, 3);
	for (int64_t i = 1; i <= THREADS; i++) {
		append(w, TABLE_THREAD, 0, (int64_t[]){ i, 1, 100 + i }, 7);
		append(w, TABLE_TRACK, 0, (int64_t[]){ i, TRACK_SAMPLES, 1, i }, 15);
	}
	append(w, TABLE_MODULE, 0, (int64_t[]){ 1, MODULE_FILE, text(w, "/bin/m%d", 1) }, 7);
	append(w, TABLE_MODULE, 0, (int64_t[]){ 2, MODULE_FILE, text(w, "/bin/m%d", 2) }, 7);
}

struct truth {
	int parent[STACKS + 1];
	int function[STACKS + 1]; /* of the stack's own frame */
	long self[FUNCTIONS], total[FUNCTIONS], self_weight[FUNCTIONS], total_weight[FUNCTIONS];
	long of_thread[THREADS + 1][FUNCTIONS];
};

/* Frame f is in function f % FUNCTIONS; functions of even number are in module 1. */
static void write_tree(struct report_writer *w, struct truth *t, uint64_t *random)
{
	int64_t frame;

	for (int64_t f = 1; f <= FRAMES; f++)
		append(w, TABLE_FRAME, 0, (int64_t[]){ f, 1 + f % FUNCTIONS % 2, f * 16 }, 7);
	for (int64_t f = 0; f < FUNCTIONS; f++)
		append(w, TABLE_SYMBOL, 0, (int64_t[]){ f + 1, 1 + f % 2, text(w, "f%d", (int)f) }, 7);
	for (int64_t f = 1; f <= FRAMES; f++)
		append(w, TABLE_FRAME_SYMBOL, 0, (int64_t[]){ f, f % FUNCTIONS + 1 }, 3);
	for (int64_t i = 1; i <= STACKS; i++) {
		t->parent[i] = next_random(random) % 50 ? (int)(next_random(random) % (uint64_t)i) : 0;
		frame = 1 + (int64_t)(next_random(random) % FRAMES);
		t->function[i] = (int)(frame % FUNCTIONS);
		append(w, TABLE_STACK, 0, (int64_t[]){ i, t->parent[i], frame }, t->parent[i] ? 7 : 5);
	}
}

static void count(struct truth *t, int stack, long weight, int thread)
{
	uint8_t met[FUNCTIONS] = { 0 };

	t->self[t->function[stack]]++;
	t->self_weight[t->function[stack]] += weight;
	t->of_thread[thread][t->function[stack]]++;
	for (; stack; stack = t->parent[stack]) {
		if (met[t->function[stack]]++)
			continue;
		t->total[t->function[stack]]++;
		t->total_weight[t->function[stack]] += weight;
	}
}

static void test_random_tree(void **state)
{
	struct truth *t = calloc(1, sizeof(*t));
	struct report_writer *w = begin();
	uint64_t random = 7;
	char sql[256], expected[256];
	struct query *q;

	write_threads(w);
	write_tree(w, t, &random);
	for (int64_t i = 0; i < SAMPLES; i++) {
		int stack = 1 + (int)(next_random(&random) % STACKS), thread = 1 + (int)(next_random(&random) % THREADS);
		int64_t weight = (int64_t)(next_random(&random) % 1000);

		append(w, TABLE_SAMPLE, (uint32_t)thread, (int64_t[]){ i, stack, 0, weight }, 15);
		count(t, stack, (long)weight, thread);
	}
	q = finish(w);
	for (int f = 0; f < FUNCTIONS; f++) {
		snprintf(sql, sizeof(sql),
			 "SELECT self_count, self, total_count, total, module FROM "
			 "sample_stats('samples') WHERE "
			 "function = 'f%d'",
			 f);
		snprintf(expected, sizeof(expected), "%ld|%ld|%ld|%ld|/bin/m%d", t->self[f], t->self_weight[f], t->total[f],
			 t->total_weight[f], 1 + f % 2);
		assert_string_equal(ask(q, sql), expected);
		snprintf(sql, sizeof(sql),
			 "SELECT thread, self_count FROM sample_stats('samples', 'thread') WHERE "
			 "function = 'f%d' ORDER BY 1",
			 f);
		snprintf(expected, sizeof(expected), "1|%ld;2|%ld;3|%ld", t->of_thread[1][f], t->of_thread[2][f], t->of_thread[3][f]);
		assert_string_equal(ask(q, sql), expected);
	}
	snprintf(expected, sizeof(expected), "%d", SAMPLES);
	assert_string_equal(ask(q, "SELECT sum(self_count) FROM stack_stats('samples')"), expected);
	assert_string_equal(ask(q, "SELECT sum(total_count) FROM stack_stats('samples', 'tree') WHERE depth = "
				   "0"),
			    expected);
	/* In the tree nobody comes before the one that called it. */
	assert_string_equal(ask(q, "WITH t AS MATERIALIZED (SELECT rowid AS place, * FROM "
				   "stack_stats('samples', 'tree')) "
				   "SELECT count(*) > 1000, sum(b.place >= a.place OR b.depth != a.depth - 1 "
				   "OR b.total < a.total) "
				   "FROM t a JOIN t b ON a.parent = b.id"),
			    "1|0");
	query_close(q);
	free(t);
}

/* Reports come from anywhere: parents that are their own children, ids that lead nowhere. */
static void test_hostile_tree(void **state)
{
	static const int64_t ids[] = { 1, 2, 3, 4, 5, INT64_MAX, INT64_MIN, -1, 0, 1ll << 32, 77 };
	struct report_writer *w = begin();
	struct query *q;

	write_threads(w);
	append(w, TABLE_FRAME, 0, (int64_t[]){ 1, 1, 16 }, 7);
	append(w, TABLE_FRAME, 0, (int64_t[]){ INT64_MAX, 1ll << 40, 16 }, 7);
	append(w, TABLE_FRAME, 0, (int64_t[]){ -3, -3, -3 }, 7);
	append(w, TABLE_SYMBOL, 0, (int64_t[]){ INT64_MAX, 1, 1 }, 7);
	append(w, TABLE_FRAME_SYMBOL, 0, (int64_t[]){ INT64_MIN, INT64_MAX }, 3);
	append(w, TABLE_FRAME_SYMBOL, 0, (int64_t[]){ 1, 99 }, 3);
	append(w, TABLE_MODULE, 0, (int64_t[]){ INT64_MAX, 99, INT64_MAX }, 7);
	append(w, TABLE_STACK, 0, (int64_t[]){ 1, 1, 1 }, 7); /* its own parent */
	append(w, TABLE_STACK, 0, (int64_t[]){ 2, 3, 1 }, 7); /* a circle */
	append(w, TABLE_STACK, 0, (int64_t[]){ 3, 2, 1ll << 33 }, 7);
	append(w, TABLE_STACK, 0, (int64_t[]){ 4, -7, INT64_MIN }, 7);
	append(w, TABLE_STACK, 0, (int64_t[]){ 5, INT64_MAX, 1 }, 7);
	append(w, TABLE_STACK, 0, (int64_t[]){ INT64_MAX, 1, 1 }, 7);
	append(w, TABLE_STACK, 0, (int64_t[]){ INT64_MIN, 1, 1 }, 7);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		append(w, TABLE_SAMPLE, 1, (int64_t[]){ (int64_t)i, ids[i], 0, INT64_MAX }, 15);
	q = finish(w);
	assert_string_equal(ask(q, "SELECT sum(self_count) FROM sample_stats('samples')"), "11");
	/* Stack 3 keeps the caller that was before it; all others are roots. Nothing is known of two of the frames. */
	assert_string_equal(ask(q, "SELECT id, stackDepth, unresolved FROM SAMPLING_CALLCHAINS"), "1|0|1;2|0|1;3|0|1;3|1|1;4|0|1;5|0|1");
	assert_string_equal(ask(q, "SELECT name, self_count FROM stack_stats('samples') ORDER BY 2 DESC, 1"),
			    "[no stack]|6;m1+0x10|3;[Unknown]|1;m1+0x10;[Unknown]|1");
	query_close(q);
}

/* A chain of half a million callers is cut, and does not take forever. */
static void test_endless_stack(void **state)
{
	struct report_writer *w = begin();
	struct timespec from, to;
	struct query *q;

	write_threads(w);
	append(w, TABLE_FRAME, 0, (int64_t[]){ 1, 1, 16 }, 7);
	for (int64_t i = 1; i <= 500000; i++)
		append(w, TABLE_STACK, 0, (int64_t[]){ i, i - 1, 1 }, 7);
	for (int64_t i = 1; i <= 1000; i++)
		append(w, TABLE_SAMPLE, 1, (int64_t[]){ i, i * 500, 0, 1 }, 15);
	q = finish(w);
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_string_equal(ask(q, "SELECT total_count FROM sample_stats('samples')"), "1000");
	assert_string_equal(ask(q, "SELECT max(stackDepth) < 5000 FROM SAMPLING_CALLCHAINS"), "1");
	assert_string_equal(ask(q, "SELECT max(depth) < 5000 AND max(length(name)) < 50000 FROM "
				   "stack_stats('samples')"),
			    "1");
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec < 20);
	query_close(q);
}

static int64_t nonsense(uint64_t *random)
{
	static const int64_t edges[] = { 0, -1, INT64_MAX, INT64_MIN, UINT32_MAX, 1ll << 32, 65536, 4096 };

	return next_random(random) % 4 ? (int64_t)(next_random(random) % 12) : edges[next_random(random) % 8];
}

/* Any values whatsoever: any answer will do, but no crash, and samples are not lost. */
static void test_nonsense(void **state)
{
	static const enum table_id tables[] = { TABLE_MODULE,       TABLE_FRAME, TABLE_STACK, TABLE_SYMBOL,
						TABLE_FRAME_SYMBOL, TABLE_FILE,  TABLE_TRACK, TABLE_THREAD };
	/* clang-format off */
	static const char *const questions[] = {
		"SELECT * FROM sample_stats('samples', 'thread')",
		"SELECT * FROM sample_stats('osrt', 'module, process')",
		"SELECT * FROM stack_stats('samples', 'tree')", "SELECT * FROM stack_stats('offcpu')",
		"SELECT * FROM SAMPLING_CALLCHAINS", "SELECT * FROM OSRT_CALLCHAINS", "SELECT * FROM StringIds",
		"SELECT * FROM SAMPLING_CALLCHAINS WHERE id = 7", "SELECT * FROM OSRT_FILE_ACCESS_EVENTS",
		"SELECT * FROM OSRT_API", "SELECT * FROM COMPOSITE_EVENTS",
	};
	/* clang-format on */
	uint64_t random = 11;

	for (int round = 0; round < 40; round++) {
		struct report_writer *w = begin();
		struct query *q;

		write_threads(w);
		append(w, TABLE_TRACK, 0, (int64_t[]){ 8, TRACK_OSRT, 1, 1 }, 15);
		append(w, TABLE_TRACK, 0, (int64_t[]){ 9, TRACK_RUN, 1, 1 }, 15);
		for (int i = 0; i < 200; i++) {
			int64_t v[8], from;

			for (int k = 0; k < 8; k++)
				v[k] = nonsense(&random);
			report_append(report_track(w, tables[next_random(&random) % 8], 0), v, next_random(&random) & 7);
			from = v[0];
			v[0] = i;
			append(w, TABLE_SAMPLE, 1, v, 31 & ((uint32_t)next_random(&random) | 1));
			v[1] = i + from % 3;
			report_append(report_track(w, TABLE_OSRT, 8), v, 255 & ((uint32_t)next_random(&random) | 3));
			report_append(report_track(w, TABLE_RUN, 9), v, 127 & ((uint32_t)next_random(&random) | 3));
		}
		q = finish(w);
		for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
			ask(q, questions[i]);
		/* A row of TRACK may have made nonsense of the samples' own. */
		if (strcmp(ask(q, "SELECT count(*) FROM COMPOSITE_EVENTS"), "200") == 0)
			assert_string_equal(ask(q, "SELECT sum(self_count) FROM sample_stats('samples')"), "200");
		query_close(q);
	}
}

static void test_nothing_recorded(void **state)
{
	struct report_writer *w = begin();
	struct query *q;

	write_threads(w);
	q = finish(w);
	assert_string_equal(ask(q, "SELECT * FROM sample_stats('samples')"), "");
	assert_string_equal(ask(q, "SELECT * FROM sample_stats('offcpu', 'module')"), "");
	assert_string_equal(ask(q, "SELECT * FROM stack_stats('osrt', 'tree')"), "");
	assert_string_equal(ask(q, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%CALLCHAINS'"), "0");
	query_close(q);
}

/* Time: the weight where it is in ns, else what the rate says; unknown where nothing does. */
static void test_time_of_samples(void **state)
{
	static const struct {
		const char *unit, *frequency, *time;
	} cases[] = {
		{ "ns", "1000", "300" },
		{ "cycles", "1000", "2000000" },
		{ "cycles", NULL, "" },
		{ NULL, NULL, "" },
		{ "cycles", "0", "" },
		{ "cycles", "nonsense", "" },
		{ "cycles", "1e-300", "9223372036854775807" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report_writer *w = begin();
		struct query *q;

		write_threads(w);
		if (cases[i].unit)
			append(w, TABLE_META, 0, (int64_t[]){ text(w, "sampling.unit", 0), text(w, cases[i].unit, 0) }, 3);
		if (cases[i].frequency)
			append(w, TABLE_META, 0, (int64_t[]){ text(w, "sampling.frequency", 0), text(w, cases[i].frequency, 0) }, 3);
		append(w, TABLE_FRAME, 0, (int64_t[]){ 1, 1, 16 }, 7);
		append(w, TABLE_STACK, 0, (int64_t[]){ 1, 0, 1 }, 5);
		append(w, TABLE_SAMPLE, 1, (int64_t[]){ 1, 1, 0, 100 }, 15);
		append(w, TABLE_SAMPLE, 1, (int64_t[]){ 2, 1, 0, 200 }, 15);
		q = finish(w);
		assert_string_equal(ask(q, "SELECT self_time FROM sample_stats('samples')"), cases[i].time);
		query_close(q);
	}
}

/* What weighs the same is ordered by name, not by the numbers a report happens to have. */
static void test_order_of_equals(void **state)
{
	for (int turned = 0; turned < 2; turned++) {
		struct report_writer *w = begin();
		struct query *q;

		write_threads(w);
		/* f1 calls f3, f2 calls f3, f2 calls f1: one sample each */
		for (int64_t i = 1; i <= 3; i++) {
			append(w, TABLE_FRAME, 0, (int64_t[]){ i, 1, i * 16 }, 7);
			append(w, TABLE_SYMBOL, 0, (int64_t[]){ i, 1, text(w, "f%d", (int)(turned ? 4 - i : i)) }, 7);
			append(w, TABLE_FRAME_SYMBOL, 0, (int64_t[]){ i, i }, 3);
		}
		int64_t f1 = turned ? 3 : 1, f2 = 2, f3 = turned ? 1 : 3, root1 = turned ? 2 : 1, root2 = turned ? 1 : 2;

		append(w, TABLE_STACK, 0, (int64_t[]){ 1, 0, turned ? f2 : f1 }, 5);
		append(w, TABLE_STACK, 0, (int64_t[]){ 2, 0, turned ? f1 : f2 }, 5);
		append(w, TABLE_STACK, 0, (int64_t[]){ 3, turned ? root2 : root1, f3 }, 7);
		append(w, TABLE_STACK, 0, (int64_t[]){ 4, root2, turned ? f1 : f3 }, 7);
		append(w, TABLE_STACK, 0, (int64_t[]){ 5, turned ? root1 : root2, turned ? f3 : f1 }, 7);
		for (int64_t i = 3; i <= 5; i++)
			append(w, TABLE_SAMPLE, 1, (int64_t[]){ i, i, 0, 100 }, 15);
		q = finish(w);
		assert_string_equal(ask(q, "SELECT name FROM stack_stats('samples')"), "f2;f1;f1;f3;f2;f3");
		assert_string_equal(ask(q, "SELECT name FROM stack_stats('samples', 'tree')"), "f2;f1;f3;f1;f3");
		query_close(q);
	}
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_tree), cmocka_unit_test(test_hostile_tree),
		cmocka_unit_test(test_endless_stack), cmocka_unit_test(test_nonsense), cmocka_unit_test(test_nothing_recorded),
		cmocka_unit_test(test_time_of_samples), cmocka_unit_test(test_order_of_equals),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
