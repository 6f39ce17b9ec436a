/* Statistics over a large recording of CUDA: kernels launched one by one by four threads onto eight streams, two calls for each,
 * every hundredth with a copy or a set, NVTX ranges three deep around every ten launches. Prints the seconds each statement
 * took, with opening the report.
 * Usage: bench_cuda_stats [MILLION_KERNELS [FOLDER [keep]]]: `keep` only writes the recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_support.h"
#include "query/query.h"
#include "report/writer.h"

#define THREADS 4
#define STREAMS 8
#define LAUNCHES 200 /* of 50 kernels */
#define CALL_NAMES 8
#define PER_COPY 100
#define PER_RANGE 10 /* launches in an innermost range */

/* Tracks. */
enum { CALL_TRACK = 1, KERNEL_TRACK = 11, RANGE_TRACK = 21, COPY_TRACK = 41, SET_TRACK = 51, DEPTH = 3 };

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "bench_cuda_stats: %s: %s\n", what, err->text);
	exit(1);
}

static void append(struct report_writer *w, enum table_id table, const int64_t *values, uint32_t present)
{
	report_append(report_track(w, table, 0), values, present);
}

static int64_t text(struct report_writer *w, const char *format, int number)
{
	char made[160];

	snprintf(made, sizeof(made), format, number);
	return (int64_t)report_string(w, made, strlen(made));
}

static void write_world(struct report_writer *w)
{
	append(w, TABLE_PROCESS, (int64_t[]){ 1, 100, 0, 0, 0, 0, 0, 0, text(w, "bench", 0) }, 0x103);
	append(w, TABLE_GPU, (int64_t[]){ 1, text(w, "NVIDIA H200", 0) }, 3);
	append(w, TABLE_CUDA_DEVICE, (int64_t[]){ 1, 0, 1 }, 7);
	append(w, TABLE_CUDA_CONTEXT, (int64_t[]){ 1, 1, 1, 0, 7 }, 0x1f);
	for (int i = 0; i < THREADS; i++) {
		append(w, TABLE_THREAD, (int64_t[]){ i + 1, 1, 100 + i }, 7);
		append(w, TABLE_TRACK, (int64_t[]){ CALL_TRACK + i, TRACK_CUDA_API, 1, i + 1, 0, 0 }, 0x3f);
		for (int depth = 0; depth < DEPTH; depth++)
			append(w, TABLE_TRACK, (int64_t[]){ RANGE_TRACK + i * DEPTH + depth, TRACK_NVTX_PUSHPOP, 1, i + 1, 0, depth },
			       0x3f);
	}
	for (int i = 0; i < STREAMS; i++) {
		append(w, TABLE_CUDA_STREAM, (int64_t[]){ i + 1, 1, 7 + i, 1, 0 }, 0x1f);
		append(w, TABLE_TRACK, (int64_t[]){ KERNEL_TRACK + i, TRACK_GPU_KERNEL, 1, 0, i + 1, 0 }, 0x37);
		append(w, TABLE_TRACK, (int64_t[]){ COPY_TRACK + i, TRACK_GPU_COPY, 1, 0, i + 1, 0 }, 0x37);
		append(w, TABLE_TRACK, (int64_t[]){ SET_TRACK + i, TRACK_GPU_SET, 1, 0, i + 1, 0 }, 0x37);
	}
	for (int i = 0; i < LAUNCHES; i++) {
		int64_t name = text(w, "void kernel<%d>(float*, float const*, unsigned long)", i / 4);

		if (i % 4 == 0)
			append(w, TABLE_CUDA_FUNCTION, (int64_t[]){ i / 4 + 1, name, text(w, "kernel%d", i / 4), name }, 15);
		append(w, TABLE_CUDA_LAUNCH, (int64_t[]){ i + 1, i / 4 + 1, 8 + i % 4, 1, 1, 256, 1, 1, 32, 0, 0, 0, 0, 0 }, 0x3fff);
	}
}

static void write_ranges(struct report_writer *w, int thread, int64_t n, int64_t clock, const int64_t *names)
{
	static const int64_t lengths[DEPTH] = { 100, 10, 1 }; /* in innermost ranges */
	int64_t number = n / PER_RANGE, span = PER_RANGE * 5000;

	for (int depth = 0; depth < DEPTH; depth++)
		if (number % lengths[depth] == 0)
			report_append(report_track(w, TABLE_SLICE, (uint32_t)(RANGE_TRACK + thread * DEPTH + depth)),
				      (int64_t[]){ clock - 100 + depth, clock - 100 + lengths[depth] * span - depth - 50,
						   names[(number + depth) % 100], 0 },
				      15);
}

/* Names of calls, the launch first. */
static const char *const call_names[CALL_NAMES] = {
	"cudaLaunchKernel_v7000",    "cudaGetLastError_v3020", "cudaEventRecord_v3020", "cudaStreamIsCapturing_v10000",
	"cudaPeekAtLastError_v3020", "cudaEventQuery_v3020",   "cudaMemcpyAsync_v3020", "cudaMemsetAsync_v3020",
};

struct making {
	struct report_writer *w;
	struct report_track *calls[THREADS], *kernels[STREAMS], *copies[STREAMS], *sets[STREAMS];
	int64_t calls_named[CALL_NAMES], ranges_named[100], stream_clock[STREAMS];
	uint64_t state;
};

static void begin_making(struct making *m, struct report_writer *w)
{
	*m = (struct making){ .w = w, .state = 1 };
	for (int i = 0; i < CALL_NAMES; i++)
		m->calls_named[i] = (int64_t)report_string(w, call_names[i], strlen(call_names[i]));
	for (int i = 0; i < 100; i++)
		m->ranges_named[i] = text(w, "range %d", i);
	for (int i = 0; i < THREADS; i++)
		m->calls[i] = report_track(w, TABLE_CUDA_API, (uint32_t)(CALL_TRACK + i));
	for (int i = 0; i < STREAMS; i++) {
		m->kernels[i] = report_track(w, TABLE_GPU_KERNEL, (uint32_t)(KERNEL_TRACK + i));
		m->copies[i] = report_track(w, TABLE_GPU_COPY, (uint32_t)(COPY_TRACK + i));
		m->sets[i] = report_track(w, TABLE_GPU_SET, (uint32_t)(SET_TRACK + i));
	}
}

/* Work begins when it is due, or when the stream is free. */
static int64_t enqueue(struct making *m, int stream, int64_t due, int64_t length)
{
	int64_t start = due > m->stream_clock[stream] ? due : m->stream_clock[stream];

	m->stream_clock[stream] = start + length;
	return start;
}

/* The second call of a launch; some copy or set memory. */
static void write_second_call(struct making *m, int64_t n, int thread, int stream, int64_t clock)
{
	int64_t correlation = 2 * n + 2, length = 300 + (int64_t)(m->state >> 54), bytes = 4096 << (m->state >> 40 & 7), start;
	int name = n % PER_COPY ? 1 + (int)(m->state >> 33 & 3) : n / PER_COPY % 4 ? 6 : 7;

	report_append(m->calls[thread], (int64_t[]){ clock, clock + length, m->calls_named[name], 0, 0, correlation, 0, 0 }, 0xbf);
	if (name < 6)
		return;
	start = enqueue(m, stream, clock + 3000, 500 + bytes / 50);
	if (name == 6)
		report_append(m->copies[stream],
			      (int64_t[]){ start, m->stream_clock[stream], bytes, 1 + (int)(m->state >> 50 & 1), 1, 3, correlation }, 0x7f);
	else
		report_append(m->sets[stream], (int64_t[]){ start, m->stream_clock[stream], bytes, 0, 3, correlation }, 0x3f);
}

/* Two calls every 5 us, the kernel 8 us behind the first. */
static void write_launches(struct report_writer *w, int64_t count, struct error *err)
{
	struct making m;

	begin_making(&m, w);
	for (int64_t n = 0; n < count; n++) {
		int thread = (int)(n % THREADS), stream = (int)(n / THREADS % STREAMS);
		int64_t own = n / THREADS, clock = own * 5000 + thread * 700, start;

		m.state = m.state * 6364136223846793005ull + 1442695040888963407ull;
		if (own % PER_RANGE == 0)
			write_ranges(w, thread, own, clock, m.ranges_named);
		report_append(m.calls[thread],
			      (int64_t[]){ clock, clock + 2000 + (int64_t)(m.state >> 55), m.calls_named[0], 0, 0, 2 * n + 1, 0, 0 }, 0xbf);
		start = enqueue(&m, stream, clock + 8000 + (int64_t)(m.state >> 56), 2000 + (int64_t)(m.state >> 57));
		report_append(m.kernels[stream],
			      (int64_t[]){ start, m.stream_clock[stream], 1 + (int64_t)(m.state >> 34) % LAUNCHES, 2 * n + 1, 2 * n + 1 },
			      0x1f);
		write_second_call(&m, n, thread, stream, clock + 2700);
		if (n % 500000 == 0 && report_writer_tick(w, NULL, NULL, err) < 0)
			die("writing", err);
	}
}

static void measure(const char *path, const char *name, const char *sql)
{
	struct query *q;
	struct error err;
	sqlite3_stmt *statement;
	double begun = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	long rows = 0;

	if (query_open(&q, path, &err) < 0)
		die("opening", &err);
	if (query_prepare(q, sql, &statement, NULL) != SQLITE_OK) {
		snprintf(err.text, sizeof(err.text), "%s", sqlite3_errmsg(query_db(q)));
		die(sql, &err);
	}
	while (sqlite3_step(statement) == SQLITE_ROW)
		rows++;
	sqlite3_finalize(statement);
	printf("%s  %.3f s with opening (CPU time %.3f s, %ld rows)\n", name, seconds_of(CLOCK_MONOTONIC) - begun,
	       seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu, rows);
	query_close(q);
}

int main(int argc, char **argv)
{
	double millions = argc > 1 ? strtod(argv[1], NULL) : 10;
	char path[512];
	struct report_writer *w;
	struct error err;

	snprintf(path, sizeof(path), "%s/bench_cuda_stats.sonde", argc > 2 ? argv[2] : ".");
	if (report_writer_open(&w, path, 1, NULL, 0, &err) < 0)
		die("writing", &err);
	write_world(w);
	write_launches(w, (int64_t)(millions * 1e6), &err);
	if (report_writer_finish(w, &err) < 0)
		die("writing", &err);
	if (argc > 3)
		return 0;
	for (int i = 0; i < 3; i++) {
		measure(path, "cuda_api_sum",
			"SELECT key, count, sum, avg, med, min, max, stddev FROM "
			"group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', 'name', 'duration')");
		measure(path, "cuda_gpu_kern_sum",
			"SELECT key, count, sum, avg, med, min, max, stddev FROM "
			"group_stats('cuda_gpu_ops', 'name', 'duration', 'kind = 1')");
		measure(path, "correlation", "SELECT apiStart FROM cuda_kernel_exec LIMIT 1");
	}
	measure(path, "kernels by call",
		"SELECT key, count, med FROM group_stats('cuda_kernel_exec', "
		"'globalTid, deviceId, apiName, name', 'queueDuration')");
	measure(path, "kernels by innermost range",
		"SELECT key, key2, count, med FROM group_stats('cuda_gpu_ops', "
		"'name, nvtxName', 'duration', 'kind = 1')");
	measure(path, "nvtx_gpu_proj_sum", "SELECT * FROM nvtx_projection_stats");
	measure(path, "nvtx_kern_sum", "SELECT * FROM nvtx_kernel_stats");
	unlink(path);
	return 0;
}
