/* Rows of traces in their order, and calls found by correlation, in recordings made as if by chance: what the merge and the index
 * say against what sorting and joining the plain tables says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define THREADS 3
#define STREAMS 5
#define KERNELS 4

enum { CALL_TRACK = 1, KERNEL_TRACK = 11, COPY_TRACK = 21, SYNC_TRACK = 31, RANGE_TRACK = 41 };

struct world {
	char folder[64];
	struct query *query;
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

static int64_t text(struct report_writer *w, const char *words)
{
	return (int64_t)report_string(w, words, strlen(words));
}

static struct report_writer *begin(struct world *world, char *path, size_t size)
{
	static const char *const names[KERNELS] = { "void z<int>(int, float)", "alpha", "beta", "alpha2" };
	struct report_writer *w;
	struct error err;

	make_folder(world->folder, sizeof(world->folder));
	snprintf(path, size, "%s/run.sonde", world->folder);
	assert_int_equal(report_writer_open(&w, path, 1, NULL, 0, &err), 0);
	append(w, TABLE_PROCESS, 0, (int64_t[]){ 1, 100 }, 3);
	append(w, TABLE_GPU, 0, (int64_t[]){ 1, text(w, "Made-up GPU") }, 3);
	append(w, TABLE_CUDA_DEVICE, 0, (int64_t[]){ 1, 0, 1 }, 7);
	for (int i = 0; i < THREADS; i++) {
		append(w, TABLE_THREAD, 0, (int64_t[]){ i + 1, 1, 100 + i }, 7);
		append(w, TABLE_TRACK, 0, (int64_t[]){ CALL_TRACK + i, TRACK_CUDA_API, 1, i + 1, 0, 0 }, 0x3f);
		append(w, TABLE_TRACK, 0, (int64_t[]){ RANGE_TRACK + i, TRACK_NVTX_PUSHPOP, 1, i + 1, 0, 0 }, 0x3f);
	}
	for (int i = 0; i < STREAMS; i++) {
		/* Of two devices; the second has no name. */
		append(w, TABLE_CUDA_STREAM, 0, (int64_t[]){ i + 1, 1, 9 - i, 1, i % 2 }, 0x1f);
		append(w, TABLE_TRACK, 0, (int64_t[]){ KERNEL_TRACK + i, TRACK_GPU_KERNEL, 1, 0, i + 1, 0 }, 0x37);
		append(w, TABLE_TRACK, 0, (int64_t[]){ COPY_TRACK + i, TRACK_GPU_COPY, 1, 0, i + 1, 0 }, 0x37);
		append(w, TABLE_TRACK, 0, (int64_t[]){ SYNC_TRACK + i, TRACK_GPU_SYNC, 1, 0, i + 1, 0 }, 0x37);
	}
	for (int i = 0; i < KERNELS; i++) {
		append(w, TABLE_CUDA_FUNCTION, 0, (int64_t[]){ i + 1, text(w, names[i]) }, 3);
		append(w, TABLE_CUDA_LAUNCH, 0, (int64_t[]){ i + 1, i + 1, 1 + i, 1, 1, 32, 1, 1, 8 }, 0x1ff);
	}
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

/* The rows of both statements, which must be the same and `count` of them. */
static void same_rows(struct query *q, const char *one, const char *other, long count)
{
	sqlite3_stmt *a, *b;
	long rows = 0;
	int step;

	assert_int_equal(query_prepare(q, one, &a, NULL), SQLITE_OK);
	assert_int_equal(query_prepare(q, other, &b, NULL), SQLITE_OK);
	while ((step = sqlite3_step(a)) == SQLITE_ROW) {
		assert_int_equal(sqlite3_step(b), SQLITE_ROW);
		for (int i = 0; i < sqlite3_column_count(a); i++) {
			const char *x = (const char *)sqlite3_column_text(a, i), *y = (const char *)sqlite3_column_text(b, i);

			if (strcmp(x ? x : "", y ? y : "") != 0)
				fail_msg("row %ld, column %d: '%s', not '%s'", rows, i, x, y);
		}
		rows++;
	}
	assert_int_equal(step, SQLITE_DONE);
	assert_int_equal(sqlite3_step(b), SQLITE_DONE);
	assert_int_equal(rows, count);
	sqlite3_finalize(a);
	sqlite3_finalize(b);
}

#define SHOWN \
	"start, end, kind, streamId, CASE kind WHEN 1 THEN coalesce(name, '[Unknown]') " \
	"ELSE cuda_op_label(kind, copyKind) END AS shown, gridX, blockX, registersPerThread, bytes, correlationId"

/* Many start together, in a track and across tracks, and some kernels have no name: more rows than a group has, so that some of
 * those are on both sides of its edge. */
static void test_ties(void **state)
{
	struct world world;
	char path[128];
	struct report_writer *w = begin(&world, path, sizeof(path));
	int64_t clock[STREAMS] = { 0 }, correlation = 0;
	uint64_t random = 3;

	for (int i = 0; i < 400000; i++) {
		int stream = i % STREAMS == 4 ? 0 : i % STREAMS;
		int64_t start = clock[stream] += next_random(&random) % 8 == 0, length = 0;

		correlation++;
		if (i % 100 == 99)
			append(w, TABLE_GPU_COPY, (uint32_t)(COPY_TRACK + stream),
			       (int64_t[]){ start, start + length, 4096, i % 3, 1, 3, correlation }, 0x7f);
		else
			append(w, TABLE_GPU_KERNEL, (uint32_t)(KERNEL_TRACK + stream),
			       (int64_t[]){ start, start + length, (int64_t)(next_random(&random) % (KERNELS + 1)) + 1, correlation,
					    correlation },
			       0x1f);
		if (i % 1000 == 0)
			append(w, TABLE_GPU_SYNC, (uint32_t)(SYNC_TRACK + stream), (int64_t[]){ start, start, 3 }, 7);
	}
	end(&world, w, path);
	/* The last is a place in the file, in which rows that are the same stay. */
	same_rows(world.query, "SELECT start, end, kind, streamId, shown, gridX, blockX, registersPerThread, bytes FROM cuda_gpu_trace",
		  "SELECT start, end, kind, streamId, shown, gridX, blockX, registersPerThread, bytes FROM (SELECT " SHOWN
		  " FROM cuda_gpu_ops WHERE kind <= 4 ORDER BY start, end, kind, streamId, shown)",
		  400000);
	same_rows(world.query, "SELECT count(*), count(DISTINCT correlationId), min(device), max(device) FROM cuda_gpu_trace",
		  "SELECT 400000, 400000, '(1)', 'Made-up GPU (0)'", 1);
	assert_string_equal(ask(world.query, "SELECT start FROM cuda_gpu_trace('nonsense')"),
			    "error: Kernels are shown by name, base or mangled, not by 'nonsense'");
	finish(&world);
}

/* Calls of several threads; times so far apart that half a number is not enough; correlations with gaps, used twice, of no call,
 * of no work. `scatter` is the distance of two correlations. */
static void make_calls(struct world *world, int count, int64_t step, int64_t scatter)
{
	char path[128];
	struct report_writer *w = begin(world, path, sizeof(path));
	int64_t names[2] = { text(w, "cudaLaunchKernel_v7000"), text(w, "cudaGraphLaunch_v10000") };
	uint64_t random = 7;

	for (int i = 0; i < count; i++) {
		int thread = (int)(next_random(&random) % THREADS);
		int64_t start = i * step, correlation = 1 + i * scatter;

		if (i % 50 == 0)
			append(w, TABLE_SLICE, (uint32_t)(RANGE_TRACK + i / 50 % THREADS),
			       (int64_t[]){ start, start + 40 * step, names[0], 0 }, 15);
		if (i % 7 != 3)
			append(w, TABLE_CUDA_API, (uint32_t)(CALL_TRACK + thread),
			       (int64_t[]){ start, start + 1 + (int64_t)(next_random(&random) % (uint64_t)step), names[i % 2], 0, 0,
					    i % 11 == 0 && i ? correlation - scatter : correlation, 0, 0 },
			       0xbf);
		if (i % 3 == 0) /* not always in the order of their calls, and some of the same */
			append(w, TABLE_GPU_KERNEL, KERNEL_TRACK + (uint32_t)(i % 2),
			       (int64_t[]){ start + step / 2, start + step / 2 + 1, 1 + (int64_t)(next_random(&random) % KERNELS),
					    i < 40 ? correlation : 1 + (i - (int64_t)(next_random(&random) % 40)) * scatter, i },
			       0x1f);
	}
	end(world, w, path);
}

/* Of calls with the same number the first in the file counts, which is not always the earliest. */
#define FIRST_CALL "(SELECT c.rowid FROM CUPTI_ACTIVITY_KIND_RUNTIME c WHERE c.correlationId = k.correlationId ORDER BY c.rowid LIMIT 1)"

static void check_calls(struct world *world, long kernels)
{
	same_rows(world->query,
		  "SELECT kernelStart, apiStart, apiDuration, queueDuration, totalDuration, globalTid, apiName FROM cuda_kernel_exec",
		  "SELECT k.start, r.start, r.end - r.start, CASE WHEN k.start > r.end THEN k.start - r.end END,"
		  " max(k.end, r.end) - r.start, r.globalTid, r.apiName FROM (SELECT start, end, correlationId, " FIRST_CALL " AS call"
		  " FROM CUPTI_ACTIVITY_KIND_KERNEL k) k LEFT JOIN (SELECT rowid AS place, start, end, globalTid, apiName FROM"
		  " CUPTI_ACTIVITY_KIND_RUNTIME) r ON r.place = k.call",
		  kernels);
	same_rows(world->query,
		  "SELECT apiStart, apiDuration, queueStart, kernelStart, totalDuration, tid, grid, block, shown"
		  " FROM cuda_kern_exec_trace('name', 1)",
		  "SELECT apiStart, apiDuration, queueStart, kernelStart, totalDuration, globalTid % 0x1000000,"
		  " printf('%4d %4d %4d', gridX, gridY, gridZ), printf('%4d %4d %4d', blockX, blockY, blockZ),"
		  " CASE WHEN nvtxName IS NULL THEN '' ELSE coalesce(nvtxDomain, '') || ':' || nvtxName || '/' END || name AS shown"
		  " FROM cuda_kernel_exec WHERE apiStart IS NOT NULL ORDER BY apiStart, kernelStart, shown",
		  strtol(ask(world->query, "SELECT count(apiStart) FROM cuda_kernel_exec"), NULL, 10));
	same_rows(world->query, "SELECT start, end, name, correlationId, pid, tid FROM cuda_api_trace",
		  "SELECT start, end, apiName, correlationId, globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000"
		  " FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start, end DESC",
		  strtol(ask(world->query, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"), NULL, 10));
}

static void test_calls(void **state)
{
	static const struct {
		int64_t step;
		int64_t scatter;
	} kinds[] = { { 1000, 1 }, { 3000000000, 1 }, { 1000, 100003 }, { 3000000000, 100003 } };
	struct world world;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		make_calls(&world, 3000, kinds[i].step, kinds[i].scatter);
		check_calls(&world, 1000);
		finish(&world);
	}
}

/* Durations on both sides of what half a number holds. */
static void test_widening(void **state)
{
	static const int64_t lengths[] = { 1, 5000000000, 4294967295, 4294967296, 2, 4294967295 };
	struct world world;
	char path[128];
	struct report_writer *w = begin(&world, path, sizeof(path));
	int64_t clock = 0;

	for (size_t i = 0; i < 6; i++) {
		append(w, TABLE_GPU_KERNEL, KERNEL_TRACK, (int64_t[]){ clock, clock + lengths[i], 1, 0, 0 }, 7);
		clock += lengths[i];
	}
	for (int i = 0; i < 3; i++, clock += 5000000000)
		append(w, TABLE_GPU_KERNEL, KERNEL_TRACK, (int64_t[]){ clock, clock + 4294967295 - i, 2, 0, 0 }, 7);
	end(&world, w, path);
	assert_string_equal(ask(world.query, "SELECT key, count, sum, min, max, med FROM group_stats('cuda_gpu_ops', 'name', 'duration') "
					     "ORDER BY key"),
			    "alpha|3|12884901882|4294967293|4294967295|4294967294.0;"
			    "void z<int>(int, float)|6|17884901889|1|5000000000|4294967295.0");
	finish(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_widening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
