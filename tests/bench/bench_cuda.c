/* What a CUDA launch costs the recorder, in time and in the report: launches with realistic jitter, 20 kernels, buffers as
 * CUPTI gives them, a second after they happened. Prints one line per figure and fails beyond the limits.
 *
 *   bench_cuda [THOUSAND_LAUNCHES [FOLDER]] */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench_support.h"
#include "fmt/cuda_wire.h"
#include "record/cuda/cuda.h"
#include "record/drain/decode.h"
#include "record/nvtx/definitions.h"
#include "record/session/gpus.h"
#include "record/drain/process.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "ring/ring_reader.h"
#include "ring/wire.h"

#define KERNELS 20
#define THREADS 4
#define LAUNCHES_PER_BUFFER 20000
#define TICKS_PER_NS 2.1
#define BYTES_LIMIT 16.0
#define NS_LIMIT 500.0 /* two million launches a second */
#define FINISH_LIMIT 1.0

struct bench {
	struct session s;
	struct traced_process *p;
	struct ring_batch *batch;
	uint64_t seed;
	uint32_t threads;    /* each with a stream of its own */
	double now[THREADS]; /* ns of the program */
	double gpu_free[THREADS];
	uint32_t correlation;
	uint64_t grid;
	double decode_seconds;
};

static double normal(struct bench *b, double mean, double deviation)
{
	double x = sqrt(-2 * log(uniform(&b->seed))) * cos(6.283185307179586 * uniform(&b->seed));
	double value = mean + x * deviation;

	return value < mean / 4 ? mean / 4 : value;
}

static uint64_t ticks(double ns)
{
	return (uint64_t)(ns * TICKS_PER_NS);
}

/* The clock as the drain thread sees it: a snapshot each millisecond, with an error of its own. */
static void advance_clock(struct bench *b, double to)
{
	struct clock_snapshot snapshot = { 0 };

	while ((double)b->s.now < to) {
		b->s.now += 1000000;
		snapshot.raw = b->s.now;
		snapshot.ticks = (int64_t)((double)b->s.now * TICKS_PER_NS) + (int64_t)(next_random(&b->seed) % 60);
		timebase_add(&b->s.time, &snapshot);
	}
}

static void decode(struct bench *b)
{
	double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);

	b->batch->blocks[0].size = b->batch->used;
	decode_batch(&b->s, b->batch);
	b->decode_seconds += seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
	b->batch->used = 0;
}

static void put(struct bench *b, const void *record, uint32_t size)
{
	if (b->batch->used + record_stride(size) > RING_CHUNK_DATA)
		decode(b);
	memcpy(b->batch->data + b->batch->used, record, size);
	b->batch->used += record_stride(size);
}

static void put_definition(struct bench *b, unsigned kind, uint64_t id, const void *body, size_t size)
{
	struct record_define define = { record_head(RECORD_DEFINE, kind, (unsigned)(sizeof(define) + size), 0, 0), 1000, id, 0 };
	uint8_t bytes[1024];

	memcpy(bytes, &define, sizeof(define));
	memcpy(bytes + sizeof(define), body, size);
	put(b, bytes, (uint32_t)(sizeof(define) + size));
}

static void describe(struct bench *b)
{
	struct cuda_wire_launch launch = { .block = { 128, 1, 1 }, .grid = { 1, 1, 1 }, .priority = INT32_MIN };
	char name[64];

	put_definition(b, DEFINE_CUDA_CALL, 211, "cudaLaunchKernel_v7000", 22);
	for (uint32_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "_ZN2at6native%02ukernel_number_%06uIfEEvPT_", 20, i);
		put_definition(b, DEFINE_CUDA_FUNCTION, i, name, strlen(name));
		launch.function = i;
		launch.grid[0] = (int32_t)(i + 1) * 32;
		put_definition(b, DEFINE_CUDA_LAUNCH, i, &launch, sizeof(launch));
	}
}

/* Who is next to launch something. */
static uint32_t next_thread(const struct bench *b)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < b->threads; i++)
		first = b->now[i] < b->now[first] ? i : first;
	return first;
}

static void put_launch(struct bench *b, uint32_t kernel)
{
	struct record_cuda_api call = { .head = record_head(RECORD_CUDA_API, 0, sizeof(call), 0, 211) };
	struct record_cuda_kernel work = { .head = record_head(RECORD_CUDA_KERNEL, 0, sizeof(work), 0, 0), .launch = kernel };
	double api = normal(b, 2200, 180), duration = normal(b, 900 + kernel * 70, 25), start;
	uint32_t t = next_thread(b);

	b->correlation += 1 + (uint32_t)(next_random(&b->seed) % 3);
	call.tid = 77 + t;
	call.correlation = b->correlation;
	call.time = ticks(b->now[t]);
	call.end = ticks(b->now[t] + api);
	start = b->now[t] + api + normal(b, 1800, 250);
	start = start < b->gpu_free[t] ? b->gpu_free[t] + normal(b, 900, 60) : start;
	b->gpu_free[t] = start + duration;
	work.time = ticks(start);
	work.end = ticks(b->gpu_free[t]);
	work.grid = ++b->grid;
	work.graph.channel = 1u << 24 | 12;
	work.place = (struct cuda_place){ 0, 1, 7 + t, b->correlation };
	b->now[t] += api + normal(b, 450, 90);
	put(b, &call, sizeof(call));
	put(b, &work, sizeof(work));
}

static void run(struct bench *b, uint32_t launches)
{
	struct record_cuda_batch end = { .head = record_head(RECORD_CUDA_BATCH, 0, sizeof(end), 0, 0) };
	struct error err;
	double begin;

	describe(b);
	for (uint32_t i = 0; i < launches; i++) {
		put_launch(b, i % KERNELS);
		if ((i + 1) % LAUNCHES_PER_BUFFER && i + 1 < launches)
			continue;
		put(b, &end, sizeof(end));
		decode(b);
		begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
		report_writer_tick(b->s.writer, NULL, NULL, &err);
		b->decode_seconds += seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
		/* Records of the next buffer are read a second late. */
		advance_clock(b, b->now[0] + 1.05e9);
	}
}

static int begin_session(struct bench *b, const char *path)
{
	struct process_info info = { .pid = 0, .inner_pid = 1, .origin = WIRE_ORIGIN_EXEC, .name = "bench" };
	struct ring_pool_size size = { .slots = 16, .chunks = 16, .initial_chunks = 8, .reserve = 2 };
	struct ring_slot slot = { .tid = 76 };
	struct clock_snapshot first = { 0 };
	struct error err = { "" };
	int fd;

	if (report_writer_open(&b->s.writer, path, 1, NULL, 0, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	roster_init(&b->s.roster);
	timebase_init(&b->s.time, 1, 0);
	timebase_add(&b->s.time, &first);
	b->seed = 1;
	for (uint32_t i = 0; i < THREADS; i++)
		b->now[i] = 1e6 + i * 300;
	advance_clock(b, 1.05e9);
	b->p = process_new(1, &info);
	if (!b->p || ring_reader_create(&b->p->reader, &size, &fd, NULL) < 0)
		return -1;
	close(fd);
	process_begin(&b->s, b->p);
	b->batch = ring_batch_new();
	memcpy(b->batch->data, &slot, sizeof(slot));
	b->batch->blocks[0] = (struct ring_block){ .owner = b->p, .kind = RING_BLOCK_OPEN, .size = sizeof(slot) };
	b->batch->count = 1;
	decode_batch(&b->s, b->batch);
	b->batch->blocks[0] = (struct ring_block){ .owner = b->p, .kind = RING_BLOCK_DATA };
	return 0;
}

static void end_session(struct bench *b)
{
	for (uint32_t i = 0; i < SESSION_DEAD_DEFINITIONS; i++)
		definitions_unref(b->s.dead_definitions[i]);
	cuda_session_release(&b->s);
	stacks_release(&b->s);
	spaces_release(&b->s);
	idmap_release(&b->s.process_uids);
	roster_release(&b->s.roster);
	timebase_release(&b->s.time);
	ring_batch_free(b->batch);
}

static int figure(const char *what, double value, double limit, const char *unit)
{
	printf("%-34s %8.2f %s (limit %g)\n", what, value, unit, limit);
	return value > limit;
}

static int measure(uint32_t launches, uint32_t threads, const char *path)
{
	struct bench b = { .seed = 1, .threads = threads };
	struct error err = { "" };
	int failed = 0;
	struct stat st;
	double begin;

	if (begin_session(&b, path) < 0)
		return 1;
	run(&b, launches);
	printf("%u launches by %u threads: %llu events, %llu lost\n", launches, threads, (unsigned long long)b.s.events,
	       (unsigned long long)b.s.dropped);
	failed |= b.s.events != 2ull * launches;
	begin = seconds_of(CLOCK_MONOTONIC);
	process_end(&b.s, b.p, b.s.now);
	gpus_finish(&b.s);
	failed |= report_writer_finish(b.s.writer, &err) < 0;
	failed |= figure("finish", seconds_of(CLOCK_MONOTONIC) - begin, FINISH_LIMIT, "s");
	failed |= figure("decode, place, encode", b.decode_seconds * 1e9 / launches, NS_LIMIT, "ns/launch");
	if (stat(path, &st) == 0)
		failed |= figure("report", (double)st.st_size / launches, BYTES_LIMIT, "bytes/launch");
	unlink(path);
	end_session(&b);
	return failed;
}

int main(int argc, char **argv)
{
	uint32_t launches = (argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000) * 1000;
	char path[4096];

	snprintf(path, sizeof(path), "%s/bench-cuda.sonde", argc > 2 ? argv[2] : ".");
	return !launches || measure(launches, 1, path) | measure(launches, THREADS, path);
}
