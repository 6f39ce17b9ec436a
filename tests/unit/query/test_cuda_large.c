/* CUDA tables over reports made here: many rows, and rows that make no sense. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support.h"

#define CALLS 100000
#define STREAMS 3

struct world {
	char folder[64];
	struct query *query;
};

static void append(struct report_writer *w, enum table_id table, uint32_t track, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(w, table, track), values, present), 0);
}

static struct report_writer *begin(struct world *world, char *path, size_t size)
{
	struct report_writer *w;
	struct error err;

	make_folder(world->folder, sizeof(world->folder));
	snprintf(path, size, "%s/run.sonde", world->folder);
	assert_int_equal(report_writer_open(&w, path, 1, NULL, 0, &err), 0);
	return w;
}

static void end(struct world *world, struct report_writer *w, const char *path)
{
	struct error err;

	assert_int_equal(report_writer_finish(w, &err), 0);
	if (query_open(&world->query, path, &err) < 0)
		fail_msg("%s", err.text);
}

static void finish(struct world *world)
{
	query_close(world->query);
	remove_folder(world->folder);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Call n is 1000 n long after the start and has correlation n; its kernel takes n % 7 ns. Each ten are in a range. */
static void write_calls(struct report_writer *w)
{
	int64_t name = (int64_t)report_string(w, "cudaLaunchKernel_v7000", 22);

	append(w, TABLE_PROCESS, 0, (int64_t[]){ 1, 100 }, 3);
	append(w, TABLE_THREAD, 0, (int64_t[]){ 1, 1, 100 }, 7);
	append(w, TABLE_CUDA_FUNCTION, 0, (int64_t[]){ 1, name, name, name }, 15);
	append(w, TABLE_CUDA_LAUNCH, 0, (int64_t[]){ 1, 1, 1, 1, 1, 1, 1, 1 }, 255);
	append(w, TABLE_TRACK, 0, (int64_t[]){ 1, TRACK_CUDA_API, 1, 1 }, 15);
	for (int i = 0; i < STREAMS; i++) {
		append(w, TABLE_CUDA_STREAM, 0, (int64_t[]){ i + 1, 1, i + 7, 1, 0 }, 31);
		append(w, TABLE_TRACK, 0, (int64_t[]){ i + 2, TRACK_GPU_KERNEL, 1, 0, i + 1, 0 }, 0x37);
	}
	append(w, TABLE_TRACK, 0, (int64_t[]){ 20, TRACK_NVTX_PUSHPOP, 1, 1, 0, 0 }, 0x3f);
	for (int64_t i = 0; i < CALLS / 10; i++)
		append(w, TABLE_SLICE, 20, (int64_t[]){ i * 10000 + 900, i * 10000 + 10600, name, 0 }, 15);
	for (int64_t n = 1; n <= CALLS; n++) {
		append(w, TABLE_CUDA_API, 1, (int64_t[]){ n * 1000, n * 1000 + 500, name, 0, 0, n }, 63);
		append(w, TABLE_GPU_KERNEL, (uint32_t)(n % STREAMS + 2), (int64_t[]){ n * 1000 + 700, n * 1000 + 700 + n % 7, 1, n, n },
		       31);
	}
}

/* Looking through all kernels for each call would take minutes. */
static void test_joins_are_not_quadratic(void **state)
{
	static const char *const joins[] = {
		"SELECT count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_KERNEL k "
		"ON k.correlationId = r.correlationId",
		"SELECT count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
		"ON k.correlationId = r.correlationId AND r.globalTid & ~16777215 = k.globalPid",
		"SELECT count(*), sum(d) FROM (SELECT (SELECT k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE "
		"k.correlationId = r.correlationId) d FROM CUPTI_ACTIVITY_KIND_RUNTIME r)",
		"SELECT count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN "
		"CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)",
		"SELECT count(*), sum(k.end - k.start) FROM NVTX_EVENTS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = "
		"n.globalTid AND r.start >= n.start AND r.end <= n.end JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = "
		"r.correlationId WHERE n.eventType = 59",
		"SELECT count(*), sum(k.end - k.start) FROM NVTX_EVENTS n CROSS JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.start "
		"BETWEEN n.start AND n.end + 200",
	};
	struct world world;
	char path[128], answer[64];
	int64_t sum = 0;
	double start;

	for (int64_t n = 1; n <= CALLS; n++)
		sum += n % 7;
	snprintf(answer, sizeof(answer), "%d|%lld", CALLS, (long long)sum);
	struct report_writer *w = begin(&world, path, sizeof(path));
	write_calls(w);
	end(&world, w, path);
	for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
		start = now();
		assert_string_equal(ask(world.query, joins[i]), answer);
		assert_true(now() - start < 20);
	}
	finish(&world);
}

/* A look-up goes to another group each time: what it shows must be that group's. */
static void test_found_rows_are_the_right_ones(void **state)
{
	struct world world;
	char path[128];
	struct report_writer *w = begin(&world, path, sizeof(path));

	write_calls(w);
	end(&world, w, path);
	assert_string_equal(ask(world.query, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT (x * 7919 + 13) % 100000 + 1 "
					     "FROM n LIMIT 5000) SELECT count(*), sum(k.start = x * 1000 + 700 AND "
					     "k.streamId = x % 3 + 7 AND k.gridId = x) FROM n CROSS JOIN "
					     "CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = x"),
			    "5000|5000");
	/* The same by time, which is asked of every group again. */
	assert_string_equal(ask(world.query, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT (x * 7919 + 13) % 100000 + 1 "
					     "FROM n LIMIT 500) SELECT count(*), sum(k.correlationId = x) FROM n CROSS JOIN "
					     "CUPTI_ACTIVITY_KIND_KERNEL k ON k.start = x * 1000 + 700"),
			    "500|500");
	finish(&world);
}

/* Work on a part of a context is shown as that context's, and the part beside it. */
static void test_green_contexts(void **state)
{
	struct world world;
	char path[128];
	struct report_writer *w = begin(&world, path, sizeof(path));

	append(w, TABLE_PROCESS, 0, (int64_t[]){ 1, 100 }, 3);
	append(w, TABLE_CUDA_CONTEXT, 0, (int64_t[]){ 1, 1, 1, 0, 7, 0, 0 }, 0x5f);
	append(w, TABLE_CUDA_CONTEXT, 0, (int64_t[]){ 2, 1, 4, 0, 9, 1, 1 }, 0x7f);
	append(w, TABLE_CUDA_STREAM, 0, (int64_t[]){ 1, 1, 7, 1, 0 }, 31);
	append(w, TABLE_CUDA_STREAM, 0, (int64_t[]){ 2, 1, 20, 4, 0 }, 31);
	for (int64_t i = 1; i <= 2; i++) {
		append(w, TABLE_TRACK, 0, (int64_t[]){ i, TRACK_GPU_KERNEL, 1, 0, i, 0 }, 0x37);
		append(w, TABLE_GPU_KERNEL, (uint32_t)i, (int64_t[]){ i, i + 1 }, 3);
	}
	end(&world, w, path);
	assert_string_equal(ask(world.query, "SELECT streamId, contextId, greenContextId FROM CUPTI_ACTIVITY_KIND_KERNEL"), "7|1|0;20|1|4");
	finish(&world);
}

/* Every number is one that no recorder writes. */
static void write_nonsense(struct report_writer *w)
{
	static const int64_t odd[] = { 0, 5, -1, INT64_MAX, INT64_MIN, 1ll << 33 };
	double reals[] = { NAN, INFINITY, -INFINITY, 1e300, -0.0, 2.5 };
	int64_t bits, id = 0;
	const char *name;

	append(w, TABLE_CUDA_FUNCTION, 0, (int64_t[]){ 5, 1ll << 40, -3, 0 }, 15);
	append(w, TABLE_CUDA_LAUNCH, 0, (int64_t[]){ 5, 77, INT64_MAX, 1, 1, 1, 1, 1 }, 255);
	append(w, TABLE_CUDA_LAUNCH, 0, (int64_t[]){ 5, 5 }, 3);
	append(w, TABLE_CUDA_LAUNCH, 0, (int64_t[]){ 0, 5 }, 2);
	append(w, TABLE_GPU, 0, (int64_t[]){ 0, 1 }, 2);
	append(w, TABLE_GPU, 0, (int64_t[]){ INT64_MIN }, 1);
	append(w, TABLE_CUDA_CONTEXT, 0, (int64_t[]){ 0, 1 }, 2);
	append(w, TABLE_CUDA_STREAM, 0, (int64_t[]){ 1, 9, -7, 1, -2 }, 31);
	append(w, TABLE_GPU_METRIC, 0, (int64_t[]){ 9, INT64_MIN, -1, INT64_MAX }, 15);
	for (unsigned kind = TRACK_CUDA_API; kind <= TRACK_GPU_SWITCH; kind++)
		append(w, TABLE_TRACK, 0, (int64_t[]){ kind, kind, 1, 0, kind == TRACK_GPU_COPY ? INT64_MIN : 1 }, 0x1f);
	append(w, TABLE_TRACK, 0, (int64_t[]){ 50, TRACK_GPU_METRIC }, 3);
	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		memcpy(&bits, &reals[i], sizeof(bits));
		append(w, TABLE_GPU_KERNEL, TRACK_GPU_KERNEL, (int64_t[]){ id, id + 1, odd[i], odd[i], odd[i] }, i ? 31 : 3);
		append(w, TABLE_GPU_COPY, TRACK_GPU_COPY, (int64_t[]){ id, id + 1, odd[i], odd[i], odd[i], odd[i] }, 63);
		append(w, TABLE_GPU_SYNC, TRACK_GPU_SYNC, (int64_t[]){ id, id + 1, odd[i], odd[i] }, 15);
		append(w, TABLE_CUDA_OVERHEAD, TRACK_CUDA_OVERHEAD, (int64_t[]){ id, id + 1, odd[i] }, 7);
		append(w, TABLE_GPU_MEMORY, TRACK_GPU_MEMORY, (int64_t[]){ id, odd[i], odd[i], odd[i], odd[i] }, 31);
		append(w, TABLE_CUDA_GRAPH_NODE, 0, (int64_t[]){ 1, 1, id, odd[i], 0, 0, odd[i], odd[i] }, 0xcf);
		append(w, TABLE_GPU_FAULT, 0, (int64_t[]){ id, 0, 1, 0, 3, odd[i], 1, 1, odd[i], odd[i] }, 0x3f5);
		append(w, TABLE_CUDA_EVENT, 0, (int64_t[]){ id, odd[i], odd[i] }, 7);
		append(w, TABLE_COUNTER, 50, (int64_t[]){ id, 0, bits }, 5);
		append(w, TABLE_GPU_SWITCH, TRACK_GPU_SWITCH, (int64_t[]){ id, odd[i], odd[i], odd[i] }, 15);
		id += 10;
	}
	for (unsigned i = 0; i < 3; i++) {
		name = i == 0 ? "cu_v1234" : i == 1 ? "_v1234" : "cu";
		append(w, TABLE_CUDA_API, TRACK_CUDA_API, (int64_t[]){ i, i, (int64_t)report_string(w, name, strlen(name)) }, 7);
	}
}

static void test_nonsense(void **state)
{
	struct world world;
	char path[128], sql[256], names[4096], *next, *at = names;
	struct report_writer *w = begin(&world, path, sizeof(path));

	write_nonsense(w);
	end(&world, w, path);
	snprintf(names, sizeof(names), "%s",
		 ask(world.query, "SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = "
				  "'table'"));
	while ((next = strsep(&at, " ")) != NULL) {
		snprintf(sql, sizeof(sql), "SELECT count(*) > 0 FROM (SELECT * FROM %s)", next);
		assert_string_equal(ask(world.query, sql), "1");
	}
	for (unsigned i = 0; i < 9; i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) >= 0 FROM (SELECT * FROM %s)", query_native_name(world.query, i));
		assert_string_equal(ask(world.query, sql), "1");
	}
	/* The second row with id 5 or the first: one of them; the rest have no name. */
	assert_string_equal(ask(world.query, "SELECT count(*), count(demangledName), count(kernelName), count(gridX) <= 1 FROM "
					     "CUPTI_ACTIVITY_KIND_KERNEL"),
			    "6|1|0|1");
	assert_string_equal(ask(world.query, "SELECT srcKind, streamId, deviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
			    "7|0|0;4|0|0;7|0|0;7|0|0;7|0|0;7|0|0");
	assert_string_equal(ask(world.query, "SELECT overheadType FROM CUPTI_ACTIVITY_KIND_OVERHEAD"), "1;0;0;0;0;0");
	assert_string_equal(ask(world.query, "SELECT value FROM CUDA_GRAPH_NODE_EVENTS JOIN StringIds ON id = nameId ORDER BY "
					     "start"),
			    "Kernel;Unknown node;Unknown node;Unknown node;Unknown node");
	assert_string_equal(ask(world.query, "SELECT apiName FROM CUPTI_ACTIVITY_KIND_RUNTIME"), "cu;_v1234;cu");
	assert_string_equal(ask(world.query, "SELECT value FROM GPU_METRICS"), "0;0;0;0;0;3");
	assert_string_equal(ask(world.query, "SELECT count(*) FROM TARGET_INFO_GPU WHERE id IS NULL"), "0");
	finish(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins_are_not_quadratic),
		cmocka_unit_test(test_found_rows_are_the_right_ones),
		cmocka_unit_test(test_green_contexts),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
