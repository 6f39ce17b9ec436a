/* Usage: make_big_report [--events N] [--seconds S] OUTPUT.sonde
 *
 * Writes a report of a training on 8 GPUs as a recorder would: 8 processes with 8 threads and 16 streams each, NVTX ranges
 * three deep, CUDA calls and the kernels and copies they start, OS runtime calls, runs on CPUs between them, memory that is
 * allocated and released, GPU metrics. The same numbers give the same rows. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/writer.h"

#define GPUS 8
#define THREADS_PER_GPU 8
#define THREADS (GPUS * THREADS_PER_GPU)
#define STREAMS_PER_THREAD 2
#define STREAMS (THREADS * STREAMS_PER_THREAD)
#define OPS 300
#define KERNELS 200
#define LAUNCHES 400
#define METRICS 3
#define OPS_PER_LAYER 8
#define LAYERS_PER_STEP 8
#define COPY_EVERY 7
#define OSRT_EVERY 3
#define PREEMPTED_EVERY 16
/* Events to an op: itself, its call and work, its part of layer, step, OS runtime and run. */
#define EVENTS_PER_OP (3.0 + 1.0 / OPS_PER_LAYER + 1.0 / (OPS_PER_LAYER * LAYERS_PER_STEP) + 2.0 / OSRT_EVERY)
/* How much of its period an op takes, with what is around it: 1/20 + 1/3 + 1/6, some of them four times as long. */
#define OP_PART 0.576
#define SECOND INT64_C(1000000000)
#define HELD_BYTES (96u << 20)

struct thread {
	uint64_t random;
	int64_t time;
	int64_t correlation;
	int64_t layer_start;
	int64_t step_start;
	uint64_t ops;
	int64_t run_start;
	int64_t run_ready;                       /* 0: not known */
	int64_t allocated;                       /* bytes that are to be released; 0: none */
	int64_t stream_free[STREAMS_PER_THREAD]; /* when its last work ends */
	struct report_track *nvtx[3], *calls, *osrt, *runs, *memory, *kernels[STREAMS_PER_THREAD], *copies[STREAMS_PER_THREAD];
};

struct big {
	struct report_writer *w;
	uint64_t events;
	uint64_t written;
	int64_t length;
	int64_t period; /* of an op */
	uint64_t op_names[OPS], layer_name, step_name, launch_call, copy_call, osrt_names[3];
	struct thread threads[THREADS];
	struct report_track *metrics[GPUS][METRICS];
	uint32_t next_track;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Between half and one and a half of the mean; one in 64 is ten times as long. */
static int64_t about(uint64_t *state, int64_t mean)
{
	uint64_t x = next_random(state);
	int64_t value = mean / 2 + (int64_t)((x >> 8) % (uint64_t)(mean + 1));

	return x % 64 ? value : value * 4;
}

__attribute__((format(printf, 2, 3))) static uint64_t text(struct big *b, const char *format, ...)
{
	char made[160];
	va_list args;

	va_start(args, format);
	vsnprintf(made, sizeof(made), format, args);
	va_end(args);
	return report_string(b->w, made, strlen(made));
}

static void append(struct big *b, struct report_track *track, const int64_t *values, uint32_t present)
{
	if (report_append(track, values, present) < 0) {
		fprintf(stderr, "make_big_report: a row was refused\n");
		exit(1);
	}
	b->written++;
}

static void describe(struct big *b, enum table_id table, const int64_t *values, unsigned columns)
{
	report_append(report_track(b->w, table, 0), values, (1u << columns) - 1);
}

static struct report_track *new_track(struct big *b, enum table_id table, int kind, int process, int thread, int domain, int depth)
{
	int64_t values[] = { ++b->next_track, kind, process, thread, domain, depth };
	uint32_t present = 0x3f & ~(thread ? 0u : 1u << COLUMN_TRACK_THREAD);

	report_append(report_track(b->w, TABLE_TRACK, 0), values, present);
	return report_track(b->w, table, b->next_track);
}

static void put_fact(struct big *b, const char *key, const char *value)
{
	int64_t values[] = { (int64_t)report_string(b->w, key, strlen(key)), (int64_t)report_string(b->w, value, strlen(value)) };

	describe(b, TABLE_META, values, 2);
}

static void put_names(struct big *b)
{
	static const char *const osrt[] = { "read", "poll", "pthread_cond_wait" };

	for (int i = 0; i < OPS; i++)
		b->op_names[i] = text(b, "aten::op_%d", i);
	b->layer_name = text(b, "layer");
	b->step_name = text(b, "step");
	b->launch_call = text(b, "cudaLaunchKernel_v7000");
	b->copy_call = text(b, "cudaMemcpyAsync_v3020");
	for (int i = 0; i < 3; i++)
		b->osrt_names[i] = text(b, "%s", osrt[i]);
	for (int i = 0; i < KERNELS; i++) {
		int64_t f[] = { i + 1,
				(int64_t)(i % 16 ? text(b, "void kernel_%d<float, 128>(float const*, float*)", i) :
						   text(b, "ncclDevKernel_AllReduce_%d(ncclDevComm*)", i)),
				(int64_t)(i % 16 ? text(b, "kernel_%d", i) : text(b, "ncclDevKernel_AllReduce_%d", i)),
				(int64_t)text(b, "_Z6kernel%d", i) };

		describe(b, TABLE_CUDA_FUNCTION, f, 4);
	}
	for (int i = 0; i < LAUNCHES; i++) {
		int64_t l[] = { i + 1, i % KERNELS + 1, 1 + i % 64, 1, 1, 128, 1, 1, 32 };

		describe(b, TABLE_CUDA_LAUNCH, l, 9);
	}
}

static void put_thread(struct big *b, int gpu, int index)
{
	int number = gpu * THREADS_PER_GPU + index, process = gpu + 1;
	struct thread *t = &b->threads[number];
	/* clang-format off */
	int64_t row[] = { number + 1, process, 1000 * process + index, 1000 * process + index, 0, b->length,
			  (int64_t)(index ? text(b, "worker %d", index) : text(b, "python")) };
	/* clang-format on */

	describe(b, TABLE_THREAD, row, 7);
	t->random = (uint64_t)number + 1;
	t->correlation = (int64_t)index * 100000000;
	for (int depth = 0; depth < 3; depth++)
		t->nvtx[depth] = new_track(b, TABLE_SLICE, TRACK_NVTX_PUSHPOP, process, number + 1, 0, depth);
	t->calls = new_track(b, TABLE_CUDA_API, TRACK_CUDA_API, process, number + 1, 0, 0);
	t->osrt = new_track(b, TABLE_OSRT, TRACK_OSRT, process, number + 1, 0, 0);
	t->runs = new_track(b, TABLE_RUN, TRACK_RUN, process, number + 1, 0, 0);
	if (index == 0)
		t->memory = new_track(b, TABLE_GPU_MEMORY, TRACK_GPU_MEMORY, process, 0, process, 0);
	for (int s = 0; s < STREAMS_PER_THREAD; s++) {
		int uid = number * STREAMS_PER_THREAD + s + 1;
		int64_t stream[] = { uid, process, 7 + index * STREAMS_PER_THREAD + s, 1, 0 };

		describe(b, TABLE_CUDA_STREAM, stream, 5);
		t->kernels[s] = new_track(b, TABLE_GPU_KERNEL, TRACK_GPU_KERNEL, process, 0, uid, 0);
		t->copies[s] = new_track(b, TABLE_GPU_COPY, TRACK_GPU_COPY, process, 0, uid, 0);
	}
}

static void put_metrics(struct big *b, int gpu)
{
	static const char *const names[] = { "SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]", "Power" };

	for (int m = 0; m < METRICS; m++) {
		b->metrics[gpu][m] = new_track(b, TABLE_COUNTER, TRACK_GPU_METRIC, 0, 0, gpu + 1, 0);
		/* clang-format off */
		int64_t row[] = { b->next_track, gpu + 1, m < 2 ? 2 : 1, m, (int64_t)text(b, "%s", names[m]),
				  (int64_t)text(b, "%s", names[m]), (int64_t)text(b, "%s", m < 2 ? "%" : "W") };
		/* clang-format on */

		describe(b, TABLE_GPU_METRIC, row, 7);
	}
}

static void put_gpu(struct big *b, int gpu)
{
	int process = gpu + 1;
	int64_t card[] = { gpu + 1, (int64_t)text(b, "NVIDIA H200"), (int64_t)text(b, "GPU-%d", gpu),
			   (int64_t)text(b, "0000:%02x:00.0", gpu), gpu };
	int64_t life[] = { process, 1000 * process, 1000 * process, 0, 1, 0, b->length, 1, (int64_t)text(b, "python") };
	int64_t device[] = { process, 0, gpu + 1 };
	int64_t context[] = { process, process, 1, 0, 7 };

	describe(b, TABLE_GPU, card, 5);
	describe(b, TABLE_PROCESS, life, 9);
	describe(b, TABLE_CUDA_DEVICE, device, 3);
	describe(b, TABLE_CUDA_CONTEXT, context, 5);
	for (int i = 0; i < THREADS_PER_GPU; i++)
		put_thread(b, gpu, i);
	put_metrics(b, gpu);
}

static void put_work(struct big *b, struct thread *t, int64_t call_end, int is_copy)
{
	unsigned s = t->ops % STREAMS_PER_THREAD;
	int64_t start = call_end + about(&t->random, 3000), end;

	if (start < t->stream_free[s] + 200)
		start = t->stream_free[s] + 200;
	end = start + about(&t->random, is_copy ? b->period / 8 : b->period * 3 / 4);
	t->stream_free[s] = end;
	if (is_copy) {
		int64_t row[] = { start, end,           (int64_t)(1u << (10 + next_random(&t->random) % 12)), 1 + (int64_t)(t->ops % 2), 1,
				  3,     t->correlation };

		append(b, t->copies[s], row, 0x7f);
	} else {
		int64_t row[] = { start, end, 1 + (int64_t)(next_random(&t->random) % LAUNCHES), t->correlation };

		append(b, t->kernels[s], row, 0xf);
	}
}

static void put_range(struct big *b, struct thread *t, int depth, int64_t start, int64_t end, uint64_t name)
{
	int64_t row[] = { start, end, (int64_t)name, 0 };

	append(b, t->nvtx[depth], row, 0xf);
}

/* A thread runs until it waits in a call; one in some is preempted there instead. Each has two cores to itself. */
static void put_run(struct big *b, struct thread *t, int64_t until, int64_t next)
{
	int64_t turn = (int64_t)(t->ops / OSRT_EVERY), woken = next - (next - until) / 8;
	int preempted = turn % PREEMPTED_EVERY == 0;
	int64_t row[] = { t->run_start, until, (t - b->threads) * 2 + turn % 2, t->run_ready, preempted ? RUN_PREEMPTED : RUN_BLOCKED };

	append(b, t->runs, row, t->run_ready ? 0x1f : 0x17);
	t->run_start = next;
	t->run_ready = preempted ? until : woken;
}

static void put_memory(struct big *b, struct thread *t, int64_t time)
{
	int64_t bytes = t->allocated ? t->allocated : (int64_t)(1 + next_random(&t->random) % 4096) << 12;
	int64_t row[] = { time, t->allocated ? 2 : 1, 0x7f0000000000, bytes, 3 };

	append(b, t->memory, row, 0x1f);
	t->allocated = t->allocated ? 0 : bytes;
}

/* A range of an operator, the call in it and what that starts. */
static void put_op(struct big *b, struct thread *t)
{
	int is_copy = t->ops % COPY_EVERY == 0;
	int64_t start = t->time, call = start + about(&t->random, b->period / 20 + 1),
		call_end = call + about(&t->random, 5000 < b->period / 8 ? 5000 : b->period / 8);
	int64_t end = call_end + about(&t->random, b->period / 3), next = end + about(&t->random, b->period / 6 + 1);
	int64_t api[] = { call, call_end, (int64_t)(is_copy ? b->copy_call : b->launch_call), 0, 0, ++t->correlation };
	int64_t wait[] = { end + 1, next - 1 > end + 1 ? next - 1 : end + 1, (int64_t)b->osrt_names[t->ops % 3], 0 };

	put_range(b, t, 2, start, end, b->op_names[next_random(&t->random) % OPS]);
	append(b, t->calls, api, 0x3f);
	put_work(b, t, call_end, is_copy);
	if (t->ops % OSRT_EVERY == 0) {
		append(b, t->osrt, wait, 0xf);
		put_run(b, t, wait[0], wait[1]);
	}
	t->ops++;
	if (t->ops % OPS_PER_LAYER == 0) {
		put_range(b, t, 1, t->layer_start, end, b->layer_name);
		if (t->memory)
			put_memory(b, t, end);
		t->layer_start = next;
	}
	if (t->ops % (OPS_PER_LAYER * LAYERS_PER_STEP) == 0) {
		put_range(b, t, 0, t->step_start, end, b->step_name);
		t->step_start = next;
	}
	t->time = next;
}

static void put_samples(struct big *b, int64_t time)
{
	for (int g = 0; g < GPUS; g++)
		for (int m = 0; m < METRICS; m++) {
			double value = 50 + 40 * (double)((time / (SECOND / 10) * (m + 3) + g * 17) % 100 - 50) / 50;
			int64_t row[3] = { time };

			memcpy(&row[2], &value, sizeof(value));
			append(b, b->metrics[g][m], row, 1 | 1u << COLUMN_COUNTER_REAL);
		}
}

static int fill(struct big *b, struct error *err)
{
	int64_t slice = b->length / 1200 + 1;

	for (int64_t until = slice; b->written < b->events; until += slice) {
		for (int i = 0; i < THREADS; i++)
			while (b->threads[i].time < until && b->written < b->events)
				put_op(b, &b->threads[i]);
		for (int64_t at = until - slice; at < until && b->written < b->events; at += SECOND / 10)
			put_samples(b, at);
		if (report_writer_relieve(b->w, HELD_BYTES) < 0)
			return error_set(err, EIO, "what is held could not be written");
	}
	return 0;
}

static int make(struct big *b, const char *path, struct error *err)
{
	int r = report_writer_open(&b->w, path, 1, NULL, 0, err);

	if (r < 0)
		return r;
	b->period = (int64_t)((double)b->length * THREADS * EVENTS_PER_OP / (double)b->events / OP_PART);
	put_fact(b, "host", "bighost");
	put_fact(b, "sched.wakeups", "1");
	put_fact(b, "trace", "cuda,nvtx,osrt,sched");
	put_names(b);
	for (int gpu = 0; gpu < GPUS; gpu++)
		put_gpu(b, gpu);
	r = fill(b, err);
	if (r < 0) {
		report_writer_abandon(b->w);
		return r;
	}
	return report_writer_finish(b->w, err);
}

int main(int argc, char **argv)
{
	struct big *b = calloc(1, sizeof(*b));
	const char *path = NULL;
	struct error err;

	b->events = 1000000;
	b->length = 1200 * SECOND;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--events") == 0 && i + 1 < argc)
			b->events = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
			b->length = strtoll(argv[++i], NULL, 10) * SECOND;
		else
			path = argv[i];
	}
	if (!path || b->events < 1000 || b->length < SECOND) {
		fprintf(stderr, "Usage: make_big_report [--events N] [--seconds S] OUTPUT.sonde\n");
		return 2;
	}
	if (make(b, path, &err) < 0) {
		fprintf(stderr, "make_big_report: %s\n", err.text);
		return 1;
	}
	printf("%llu events\n", (unsigned long long)b->written);
	free(b);
	return 0;
}
