/* nvtx_sum over a large report: three threads with ranges of log-normal length (median
 * 20 us, sigma 1), 200 names. Then samples, as many, of 2,000 stacks 64 deep; then runs on CPUs, every
 * second one ending in an OS runtime call; then kernels of 200 functions in five shapes each, with the calls that
 * launched them. Prints the seconds it took, with what opening cost.
 * Usage: bench_query [MILLION_RANGES [FOLDER [ranges|samples|runs|kernels]]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_support.h"
#include "query/query.h"
#include "report/writer.h"

#define NAMES 200
#define TRACKS 3
#define STACKS 2000
#define DEPTH 64
#define FRAMES 5000

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "bench_query: %s: %s\n", what, err->text);
	exit(1);
}

static void append(struct report_writer *w, enum table_id table, const int64_t *values, uint32_t present)
{
	report_append(report_track(w, table, 0), values, present);
}

static void write_world(struct report_writer *w)
{
	int64_t name = (int64_t)report_string(w, "bench", 5);

	append(w, TABLE_PROCESS, (int64_t[]){ 1, 100, 0, 0, 0, 0, 0, 0, name }, 0x103);
	for (int64_t i = 1; i <= TRACKS; i++)
		append(w, TABLE_THREAD, (int64_t[]){ i, 1, 100 + i, 0, 0, 0, name }, 0x47);
}

static void write_ranges(struct report_writer *w, long count, struct error *err)
{
	struct report_track *tracks[TRACKS];
	int64_t names[NAMES], clock[TRACKS] = { 0 }, values[4] = { 0 };
	uint64_t state = 1;
	char text[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "range number %d", i);
		names[i] = (int64_t)report_string(w, text, strlen(text));
	}
	for (int i = 0; i < TRACKS; i++) {
		append(w, TABLE_TRACK, (int64_t[]){ i + 1, TRACK_NVTX_PUSHPOP, 1, i + 1, 0, 0, names[0] }, 0x3f);
		tracks[i] = report_track(w, TABLE_SLICE, (uint32_t)i + 1);
	}
	for (long n = 0; n < count; n++) {
		int t = (int)(n % TRACKS);
		double normal = sqrt(-2 * log(uniform(&state))) * cos(6.283185307179586 * uniform(&state));

		values[0] = clock[t] + (int64_t)(1000 * uniform(&state));
		values[1] = clock[t] = values[0] + (int64_t)(20000 * exp(normal));
		values[2] = names[(unsigned)(uniform(&state) * NAMES)];
		if (report_append(tracks[t], values, 0xf) < 0)
			exit(1);
		if (n % 500000 == 0 && report_writer_tick(w, NULL, NULL, err) < 0)
			die("writing", err);
	}
}

/* Stacks that part half-way; every frame has a name. */
static void write_stacks(struct report_writer *w)
{
	int64_t id = 0, parent = 0, trunk[DEPTH / 2];
	char text[32];

	append(w, TABLE_META, (int64_t[]){ (int64_t)report_string(w, "sampling.unit", 13), (int64_t)report_string(w, "ns", 2) }, 3);
	append(w, TABLE_MODULE, (int64_t[]){ 1, MODULE_FILE, (int64_t)report_string(w, "/bin/app", 8) }, 7);
	for (int64_t f = 1; f <= FRAMES; f++) {
		snprintf(text, sizeof(text), "function %d", (int)f);
		append(w, TABLE_FRAME, (int64_t[]){ f, 1, f * 64 }, 7);
		append(w, TABLE_SYMBOL, (int64_t[]){ f, 1, (int64_t)report_string(w, text, strlen(text)) }, 7);
		append(w, TABLE_FRAME_SYMBOL, (int64_t[]){ f, f }, 3);
	}
	for (int i = 0; i < DEPTH / 2; i++) {
		append(w, TABLE_STACK, (int64_t[]){ ++id, parent, i + 1 }, parent ? 7 : 5);
		trunk[i] = parent = id;
	}
	for (int64_t s = 0; s < STACKS; s++) {
		parent = trunk[DEPTH / 2 - 1];
		for (int64_t i = 0; i < DEPTH / 2; i++, parent = id)
			append(w, TABLE_STACK, (int64_t[]){ ++id, parent, 1 + (s * 31 + i * 7) % FRAMES }, 7);
	}
}

static void write_samples(struct report_writer *w, long count, struct error *err)
{
	struct report_track *tracks[TRACKS];
	uint64_t state = 2;

	for (int i = 0; i < TRACKS; i++) {
		append(w, TABLE_TRACK, (int64_t[]){ i + 1, TRACK_SAMPLES, 1, i + 1 }, 15);
		tracks[i] = report_track(w, TABLE_SAMPLE, (uint32_t)i + 1);
	}
	for (long n = 0; n < count; n++) {
		int64_t stack = DEPTH / 2 * (2 + (int64_t)(uniform(&state) * STACKS));

		if (report_append(tracks[n % TRACKS], (int64_t[]){ n * 1000, stack, n % 8, 1000000 + n % 1000, 0 }, 31) < 0)
			exit(1);
		if (n % 500000 == 0 && report_writer_tick(w, NULL, NULL, err) < 0)
			die("writing", err);
	}
}

/* Runs of 3 us, 10 us apart; eight CPUs, one in four preempted. */
static void write_runs(struct report_writer *w, long count, struct error *err)
{
	struct report_track *runs[TRACKS], *calls[TRACKS];
	int64_t name = (int64_t)report_string(w, "read", 4), futex = (int64_t)report_string(w, "futex", 5);

	for (int i = 0; i < TRACKS; i++) {
		append(w, TABLE_TRACK, (int64_t[]){ i + 1, TRACK_RUN, 1, i + 1 }, 15);
		append(w, TABLE_TRACK, (int64_t[]){ TRACKS + i + 1, TRACK_OSRT, 1, i + 1 }, 15);
		runs[i] = report_track(w, TABLE_RUN, (uint32_t)i + 1);
		calls[i] = report_track(w, TABLE_OSRT, (uint32_t)(TRACKS + i + 1));
	}
	for (long n = 0; n < count; n++) {
		int64_t start = n / TRACKS * 10000 + n % 1000, after = n % 4 ? RUN_BLOCKED : RUN_PREEMPTED;

		if (report_append(runs[n % TRACKS], (int64_t[]){ start, start + 3000, n % 8, start - 2000, after, futex }, 63) < 0)
			exit(1);
		if (n % 2 && report_append(calls[n % TRACKS], (int64_t[]){ start + 2900, start + 9000, name }, 7) < 0)
			exit(1);
		if (n % 500000 == 0 && report_writer_tick(w, NULL, NULL, err) < 0)
			die("writing", err);
	}
}

/* Calls on one thread, kernels in turn on the streams. */
static void write_kernels(struct report_writer *w, long count, struct error *err)
{
	struct report_track *kernels[TRACKS], *calls;
	int64_t name = (int64_t)report_string(w, "cudaLaunchKernel_v7000", 22), text_id, time = 0, launch;
	uint64_t state = 3;
	char text[96];

	for (int64_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "void kernel_%d<float, 128>(float const*, float*, int)", (int)i);
		text_id = (int64_t)report_string(w, text, strlen(text));
		append(w, TABLE_CUDA_FUNCTION, (int64_t[]){ i + 1, text_id, text_id, text_id }, 15);
	}
	for (int64_t i = 0; i < NAMES * 5; i++)
		append(w, TABLE_CUDA_LAUNCH, (int64_t[]){ i + 1, i % NAMES + 1, 1 + i / NAMES, 1, 1, 256, 1, 1 }, 255);
	append(w, TABLE_CUDA_CONTEXT, (int64_t[]){ 1, 1, 1, 0, 7 }, 31);
	append(w, TABLE_TRACK, (int64_t[]){ 1, TRACK_CUDA_API, 1, 1 }, 15);
	calls = report_track(w, TABLE_CUDA_API, 1);
	for (int i = 0; i < TRACKS; i++) {
		append(w, TABLE_CUDA_STREAM, (int64_t[]){ i + 1, 1, i + 7, 1, 0 }, 31);
		append(w, TABLE_TRACK, (int64_t[]){ i + 2, TRACK_GPU_KERNEL, 1, 0, i + 1, 0 }, 0x37);
		kernels[i] = report_track(w, TABLE_GPU_KERNEL, (uint32_t)i + 2);
	}
	for (long n = 0; n < count; n++, time += 5000) {
		launch = 1 + (int64_t)(uniform(&state) * NAMES * 5);
		if (report_append(calls, (int64_t[]){ time, time + 3000 + n % 100, name, 0, 0, n + 1 }, 63) < 0 ||
		    report_append(kernels[n % TRACKS],
				  (int64_t[]){ time + 8000, time + 9000 + (int64_t)(5000 * uniform(&state)), launch, n + 1, n }, 31) < 0)
			exit(1);
		if (n % 500000 == 0 && report_writer_tick(w, NULL, NULL, err) < 0)
			die("writing", err);
	}
}

enum content { RANGES, SAMPLES, RUNS, KERNELS };

static void make_report(const char *path, long count, enum content content)
{
	struct report_writer *w;
	struct error err;

	if (report_writer_open(&w, path, 1, NULL, 0, &err) < 0)
		die("opening the writer", &err);
	write_world(w);
	if (content == SAMPLES)
		write_stacks(w);
	if (content == SAMPLES)
		write_samples(w, count, &err);
	else if (content == RUNS)
		write_runs(w, count, &err);
	else if (content == KERNELS)
		write_kernels(w, count, &err);
	else
		write_ranges(w, count, &err);
	if (report_writer_finish(w, &err) < 0)
		die("finishing", &err);
}

static void run(const char *path, const char *label, const char *sql)
{
	double begin = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), opened;
	struct query *q;
	struct error err;
	sqlite3_stmt *statement;
	unsigned long rows = 0;

	if (query_open(&q, path, &err) < 0)
		die("opening", &err);
	opened = seconds_of(CLOCK_MONOTONIC);
	if (query_prepare(q, sql, &statement, NULL) != SQLITE_OK) {
		fprintf(stderr, "bench_query: %s\n", sqlite3_errmsg(query_db(q)));
		exit(1);
	}
	while (sqlite3_step(statement) == SQLITE_ROW)
		rows++;
	sqlite3_finalize(statement);
	printf("%-28s %7.3f s  (open %.3f s, CPU %.3f s, %lu rows)\n", label, seconds_of(CLOCK_MONOTONIC) - begin, opened - begin,
	       seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu, rows);
	query_close(q);
}

static void bench_ranges(const char *path)
{
	for (int i = 0; i < 6; i++)
		run(path, "nvtx_sum",
		    "SELECT 100.0 * sum / sum(sum) OVER (), sum, count, avg, med, min, max, "
		    "stddev "
		    "FROM group_stats('NVTX_EVENTS', 'eventType, domainName, name', 'duration')");
	run(path, "open ranges", "SELECT count FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1')");
	run(path, "all quantiles",
	    "SELECT q1, med, q3, p90, p99 FROM group_stats('NVTX_EVENTS', 'name', "
	    "'duration')");
	run(path, "interval_union", "SELECT busy FROM interval_union('NVTX_EVENTS', 'globalTid')");
	run(path, "plain GROUP BY", "SELECT count(*), sum(end - start) FROM NVTX_EVENTS GROUP BY text");
	run(path, "nvtx_pushpop_tree", "SELECT rangeId FROM nvtx_pushpop_tree");
}

static void bench_samples(const char *path)
{
	for (int i = 0; i < 6; i++)
		run(path, "sample_stats", "SELECT * FROM sample_stats('samples')");
	run(path, "sample_stats by thread", "SELECT * FROM sample_stats('samples', 'function, thread')");
	run(path, "stack_stats", "SELECT * FROM stack_stats('samples')");
	run(path, "stack_stats as a tree", "SELECT * FROM stack_stats('samples', 'tree')");
	run(path, "1,000 stacks by id",
	    "WITH RECURSIVE s(id) AS (SELECT 997 UNION ALL SELECT id + 997 FROM s "
	    "LIMIT 1000) "
	    "SELECT c.symbol FROM s CROSS JOIN SAMPLING_CALLCHAINS c ON c.id = s.id");
	run(path, "a million frames", "SELECT count(*) FROM (SELECT symbol FROM SAMPLING_CALLCHAINS LIMIT 1000000)");
}

static void bench_runs(const char *path)
{
	run(path, "thread_state_stats", "SELECT * FROM thread_state_stats");
	run(path, "sched_stats", "SELECT * FROM sched_stats");
	run(path, "cpu_runs", "SELECT start FROM cpu_runs");
	run(path, "thread_states", "SELECT start FROM thread_states");
}

static void bench_kernels(const char *path)
{
	for (int i = 0; i < 6; i++)
		run(path, "kernels by name",
		    "SELECT key, sum, count, avg, med, min, max, stddev FROM "
		    "group_stats('CUPTI_ACTIVITY_KIND_KERNEL', 'name', 'duration')");
	run(path, "kernels by name and shape",
	    "SELECT sum, med FROM group_stats('CUPTI_ACTIVITY_KIND_KERNEL', "
	    "'name, shape', 'duration')");
	run(path, "calls by name",
	    "SELECT key, sum, med FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', 'name', "
	    "'duration')");
	run(path, "busy GPU", "SELECT busy FROM interval_union('CUPTI_ACTIVITY_KIND_KERNEL', 'deviceId')");
	run(path, "one correlation", "SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 4321");
	run(path, "join 100,000 by correlation",
	    "SELECT sum(k.end - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_KERNEL k "
	    "ON k.correlationId = r.correlationId AND k.globalPid = r.globalTid & ~16777215 "
	    "WHERE r.start < 500000000");
	run(path, "plain GROUP BY name",
	    "SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
	    "JOIN StringIds s ON k.demangledName = s.id GROUP BY k.demangledName");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*bench)(const char *path);
	} parts[] = { { "ranges", bench_ranges }, { "samples", bench_samples }, { "runs", bench_runs }, { "kernels", bench_kernels } };
	long count = (long)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
	char path[4096];

	snprintf(path, sizeof(path), "%s/bench_query.%d.sonde", argc > 2 ? argv[2] : ".", (int)getpid());
	for (int i = RANGES; i <= KERNELS; i++) {
		if (argc > 3 && strcmp(argv[3], parts[i].name) != 0)
			continue;
		make_report(path, count, (enum content)i);
		parts[i].bench(path);
	}
	unlink(path);
	return 0;
}
