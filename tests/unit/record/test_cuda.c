/* CUDA records made by hand: rows, names, places, tracks. */
#include "cuda_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/cuda/cuda.h"
#include "record/session/gpus.h"
#include "ring/wire.h"

#define TID 1000u

static struct fake_writer open_ring(struct bench *b, uint32_t tid)
{
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, tid, 10));
	return w;
}

static int64_t depth_at(struct bench *b, enum table_id table, int64_t start)
{
	return track_of(b, row_where(b, table, 0, start).track).values[COLUMN_TRACK_DEPTH];
}

static void a_launch_is_a_call_and_a_kernel(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct row api, kernel, launch, function, stream, track;

	put_call(&w, 211, "cudaLaunchKernel_v7000");
	put_function(&w, 1, "_Z3addPfS_i");
	put_launch(&w, 7, 1, 128);
	put_api(&w, TID, 211, 42, 100, 150);
	put_kernel(&w, 13, 7, 42, 160, 300);
	put_batch(&w, 0);
	bench_finish(b);
	api = row_where(b, TABLE_CUDA_API, COLUMN_CUDA_API_START, 100);
	assert_int_equal(api.values[COLUMN_CUDA_API_END], 150);
	assert_string_equal(bench_text(b, &api, COLUMN_CUDA_API_NAME), "cudaLaunchKernel_v7000");
	assert_int_equal(api.values[COLUMN_CUDA_API_CLASS], 0);
	assert_int_equal(api.values[COLUMN_CUDA_API_RESULT], 0);
	assert_int_equal(api.values[COLUMN_CUDA_API_CORRELATION], 42);
	assert_true(api.nulls[COLUMN_CUDA_API_STACK] && api.nulls[COLUMN_CUDA_API_FLAGS]);
	kernel = row_where(b, TABLE_GPU_KERNEL, COLUMN_GPU_KERNEL_START, 160);
	assert_int_equal(kernel.values[COLUMN_GPU_KERNEL_END], 300);
	assert_int_equal(kernel.values[COLUMN_GPU_KERNEL_CORRELATION], 42);
	assert_int_equal(kernel.values[COLUMN_GPU_KERNEL_GRID], 1042);
	assert_true(kernel.nulls[COLUMN_GPU_KERNEL_GRAPH_NODE] && kernel.nulls[COLUMN_GPU_KERNEL_GRAPH] &&
		    kernel.nulls[COLUMN_GPU_KERNEL_QUEUED] && kernel.nulls[COLUMN_GPU_KERNEL_CHANNEL]);
	launch = row_where(b, TABLE_CUDA_LAUNCH, COLUMN_CUDA_LAUNCH_ID, kernel.values[COLUMN_GPU_KERNEL_LAUNCH]);
	assert_int_equal(launch.values[COLUMN_CUDA_LAUNCH_GRID_X], 128);
	assert_int_equal(launch.values[COLUMN_CUDA_LAUNCH_BLOCK_X], 64);
	assert_int_equal(launch.values[COLUMN_CUDA_LAUNCH_REGISTERS], 40);
	assert_true(launch.nulls[COLUMN_CUDA_LAUNCH_PRIORITY] && launch.nulls[COLUMN_CUDA_LAUNCH_CARVEOUT]);
	assert_false(launch.nulls[COLUMN_CUDA_LAUNCH_CLUSTER_X]);
	function = row_where(b, TABLE_CUDA_FUNCTION, COLUMN_CUDA_FUNCTION_ID, launch.values[COLUMN_CUDA_LAUNCH_FUNCTION]);
	assert_string_equal(bench_text(b, &function, COLUMN_CUDA_FUNCTION_NAME), "add(float *, float *, int)");
	assert_string_equal(bench_text(b, &function, COLUMN_CUDA_FUNCTION_SHORT_NAME), "add");
	assert_string_equal(bench_text(b, &function, COLUMN_CUDA_FUNCTION_MANGLED), "_Z3addPfS_i");
	track = track_of(b, kernel.track);
	assert_int_equal(track.values[COLUMN_TRACK_KIND], TRACK_GPU_KERNEL);
	stream = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_UID, track.values[COLUMN_TRACK_DOMAIN]);
	assert_int_equal(stream.values[COLUMN_CUDA_STREAM_ID], 13);
	assert_int_equal(stream.values[COLUMN_CUDA_STREAM_CONTEXT], CONTEXT);
	assert_int_equal(stream.values[COLUMN_CUDA_STREAM_DEVICE], DEVICE);
	track = track_of(b, api.track);
	assert_int_equal(track.values[COLUMN_TRACK_KIND], TRACK_CUDA_API);
	row_where(b, TABLE_THREAD, COLUMN_THREAD_UID, track.values[COLUMN_TRACK_THREAD]);
	assert_int_equal(b->session.events, 2);
	assert_int_equal(b->session.dropped, 0);
}

/* Calls come in the order of their ends: the outer one last. */
static void calls_nest(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);

	put_api(&w, TID, 1, 3, 120, 130);
	put_api(&w, TID, 1, 4, 130, 140);
	put_api(&w, TID, 1, 2, 110, 150);
	put_api(&w, TID, 1, 1, 100, 200);
	put_api(&w, TID, 1, 6, 200, 210); /* within the next one, which begins at the same time */
	put_api(&w, TID, 1, 5, 200, 300);
	put_batch(&w, 0);
	put_api(&w, TID, 1, 7, 300, 310);
	bench_finish(b);
	assert_int_equal(depth_at(b, TABLE_CUDA_API, 100), 0);
	assert_int_equal(depth_at(b, TABLE_CUDA_API, 110), 1);
	assert_int_equal(depth_at(b, TABLE_CUDA_API, 120), 2);
	assert_int_equal(depth_at(b, TABLE_CUDA_API, 130), 2);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, COLUMN_CUDA_API_CORRELATION, 5).track).values[COLUMN_TRACK_DEPTH], 0);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, COLUMN_CUDA_API_CORRELATION, 6).track).values[COLUMN_TRACK_DEPTH], 1);
	assert_int_equal(depth_at(b, TABLE_CUDA_API, 300), 0);
	assert_int_equal(b->session.dropped, 0);
}

static void kernels_that_overlap_have_lanes(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);

	put_kernel(&w, 7, 1, 3, 150, 350);
	put_kernel(&w, 7, 1, 1, 100, 200);
	put_kernel(&w, 7, 1, 2, 120, 160);
	put_kernel(&w, 8, 1, 4, 110, 130); /* another stream */
	put_batch(&w, 0);
	/* A buffer that comes late: older than what has its place already. */
	put_kernel(&w, 7, 1, 5, 50, 90);
	put_kernel(&w, 7, 1, 6, 90, 95);
	put_batch(&w, 0);
	put_kernel(&w, 7, 1, 7, 400, 500);
	bench_finish(b);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 100), 0);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 120), 1);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 150), 2);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 110), 0);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 50), 3);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 90), 3);
	assert_int_equal(depth_at(b, TABLE_GPU_KERNEL, 400), 0);
	assert_int_equal(count_rows(b, TABLE_GPU_KERNEL), 7);
	assert_int_equal(b->session.dropped, 0);
}

/* Every row of a table is on a track that is sorted by start and by end. */
static void check_order(struct bench *b, enum table_id table)
{
	size_t cap = count_rows(b, table);
	struct row *rows = calloc(cap + 1, sizeof(*rows));

	bench_rows(b, table, rows, cap);
	for (size_t i = 1; i < cap; i++)
		for (size_t j = i; j-- > 0;)
			if (rows[j].track == rows[i].track) {
				assert_true(rows[j].values[0] <= rows[i].values[0]);
				assert_true(rows[j].values[1] <= rows[i].values[0]);
				break;
			}
	free(rows);
}

static void any_order_is_sorted(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	uint64_t seed = 1, start;

	for (uint32_t i = 0; i < 2000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		start = 1000 + (seed >> 33) % 100000;
		put_kernel(&w, 5 + (uint32_t)(seed >> 60) % 3, 1, i, start, start + 1 + (seed >> 40) % 500);
		put_api(&w, TID + (uint32_t)(seed >> 58) % 2, 1, i, start, start + (seed >> 44) % 300);
		if (i % 300 == 0)
			put_batch(&w, 0);
		if (i % 20 == 0)
			bench_drain(b);
	}
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_GPU_KERNEL), 2000);
	assert_int_equal(count_rows(b, TABLE_CUDA_API), 2000);
	check_order(b, TABLE_GPU_KERNEL);
	check_order(b, TABLE_CUDA_API);
	assert_int_equal(b->session.dropped, 0);
}

/* The same numbers in two processes are not the same streams; the same function is one. */
static void processes_share_names_only(void **state)
{
	struct bench *b = *state;
	struct process_info info = { .pid = 2000, .inner_pid = 2000 };
	struct traced_process *other = bench_process(b, 2, &info);
	struct fake_writer w = open_ring(b, TID), x;
	struct row first, second;

	assert_true(fake_open(&x, ring_reader_pool(&other->reader), 2000, 10));
	put_function(&w, 1, "_Z3addPfS_i");
	put_launch(&w, 1, 1, 8);
	put_launch(&w, 2, 1, 9);
	put_kernel(&w, 7, 1, 1, 100, 110);
	put_kernel(&w, 7, 2, 2, 110, 120);
	put_function(&x, 5, "_Z3subPfS_i");
	put_function(&x, 6, "_Z3addPfS_i");
	put_launch(&x, 1, 6, 8);
	put_launch(&x, 2, 5, 8);
	put_kernel(&x, 7, 1, 1, 200, 210);
	put_kernel(&x, 7, 2, 2, 210, 220);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_CUDA_FUNCTION), 2);
	assert_int_equal(count_rows(b, TABLE_CUDA_LAUNCH), 3);
	assert_int_equal(count_rows(b, TABLE_CUDA_STREAM), 2);
	assert_int_equal(count_rows(b, TABLE_CUDA_CONTEXT), 2);
	first = row_where(b, TABLE_GPU_KERNEL, 0, 100);
	second = row_where(b, TABLE_GPU_KERNEL, 0, 200);
	assert_int_equal(first.values[COLUMN_GPU_KERNEL_LAUNCH], second.values[COLUMN_GPU_KERNEL_LAUNCH]);
	assert_int_not_equal(first.track, second.track);
	assert_int_equal(track_of(b, first.track).values[COLUMN_TRACK_PROCESS], 1);
	assert_int_equal(track_of(b, second.track).values[COLUMN_TRACK_PROCESS], 2);
}

/* What describes a kernel may be read after it, from another ring; or never come. */
static void descriptions_come_late_or_never(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID), x = open_ring(b, 1001);
	struct cuda_wire_stream stream = { CONTEXT, DEVICE, -2, 2, 0xabc };
	struct row row, launch;

	put_api(&w, TID, 33, 1, 90, 95);
	put_kernel(&w, 9, 1, 1, 100, 110);
	put_kernel(&w, 10, 2, 2, 200, 210);
	put_batch(&w, 0);
	bench_drain(b);
	put_launch(&x, 1, 4, 77);
	put_function(&x, 4, "plain_name");
	put_call(&x, 33, "cudaFree_v3020");
	put_definition(&x, DEFINE_CUDA_STREAM, 50, 9, 0, &stream, sizeof(stream), "");
	bench_finish(b);
	row = row_where(b, TABLE_CUDA_API, 0, 90);
	assert_string_equal(bench_text(b, &row, COLUMN_CUDA_API_NAME), "cudaFree_v3020");
	row = row_where(b, TABLE_GPU_KERNEL, 0, 100);
	launch = row_where(b, TABLE_CUDA_LAUNCH, 0, row.values[COLUMN_GPU_KERNEL_LAUNCH]);
	assert_int_equal(launch.values[COLUMN_CUDA_LAUNCH_GRID_X], 77);
	row = row_where(b, TABLE_CUDA_FUNCTION, 0, launch.values[COLUMN_CUDA_LAUNCH_FUNCTION]);
	assert_string_equal(bench_text(b, &row, COLUMN_CUDA_FUNCTION_NAME), "plain_name");
	assert_string_equal(bench_text(b, &row, COLUMN_CUDA_FUNCTION_SHORT_NAME), "plain_name");
	row = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_ID, 9);
	assert_int_equal(row.values[COLUMN_CUDA_STREAM_PRIORITY], -2);
	assert_int_equal(row.values[COLUMN_CUDA_STREAM_TIME], 50);
	row = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_ID, 10);
	assert_true(row.nulls[COLUMN_CUDA_STREAM_PRIORITY] && row.nulls[COLUMN_CUDA_STREAM_TIME]);
	row = row_where(b, TABLE_GPU_KERNEL, 0, 200);
	launch = row_where(b, TABLE_CUDA_LAUNCH, 0, row.values[COLUMN_GPU_KERNEL_LAUNCH]);
	assert_true(launch.nulls[COLUMN_CUDA_LAUNCH_FUNCTION] && launch.nulls[COLUMN_CUDA_LAUNCH_GRID_X]);
	row = row_where(b, TABLE_DIAGNOSTIC, COLUMN_DIAGNOSTIC_SEVERITY, DIAGNOSTIC_WARNING);
	assert_non_null(strstr(bench_text(b, &row, COLUMN_DIAGNOSTIC_TEXT), "never described"));
}

/* A thread is one thread: with a ring before, after, or never. */
static void threads_have_one_row(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID), x, y;
	struct row row;

	x = open_ring(b, 1001);
	fake_close(&x, 60);
	bench_drain(b);
	put_api(&w, 1001, 1, 1, 40, 50);   /* had a ring, and ended */
	put_api(&w, 1002, 1, 2, 70, 80);   /* will have one */
	put_api(&w, 1003, 1, 3, 100, 200); /* never */
	bench_drain(b);
	y = open_ring(b, 1002);
	bench_drain(b);
	put_api(&w, 1002, 1, 4, 300, 400);
	fake_close(&y, 500);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_THREAD), 4);
	for (uint32_t tid = 1000; tid < 1004; tid++)
		row_where(b, TABLE_THREAD, COLUMN_THREAD_INNER_TID, tid);
	row = row_where(b, TABLE_THREAD, COLUMN_THREAD_INNER_TID, 1002);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, 0, 70).track).values[COLUMN_TRACK_THREAD], row.values[COLUMN_THREAD_UID]);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, 0, 300).track).values[COLUMN_TRACK_THREAD],
			 row.values[COLUMN_THREAD_UID]);
	row = row_where(b, TABLE_THREAD, COLUMN_THREAD_INNER_TID, 1001);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, 0, 40).track).values[COLUMN_TRACK_THREAD], row.values[COLUMN_THREAD_UID]);
	row = row_where(b, TABLE_THREAD, COLUMN_THREAD_INNER_TID, 1003);
	assert_int_equal(row.values[COLUMN_THREAD_START], 100);
	assert_true(row.values[COLUMN_THREAD_END] >= 200);
}

/* perf knows threads too, also some that have ended when CUPTI tells of their calls. */
static void threads_known_to_perf(void **state)
{
	struct bench *b = *state;
	struct session *s = &b->session;
	struct process_info info = { .pid = 50, .inner_pid = 50 };
	struct traced_process *p;
	struct roster_life *life;
	struct fake_writer w;
	struct row row;

	s->roster.sideband = 1;
	life = roster_exec(s, 50, 100, "prog");
	p = bench_process(b, roster_attach(s, 50, 200, WIRE_ORIGIN_EXEC, "prog"), &info);
	assert_int_equal(p->uid, life->uid);
	roster_thread(s, life, 51, 300);
	roster_exit(s, 50, 51, 1000);
	assert_true(fake_open(&w, ring_reader_pool(&p->reader), 50, 250));
	put_api(&w, 51, 1, 1, 500, 600);
	put_api(&w, 52, 1, 2, 500, 700);
	put_batch(&w, 0);
	bench_drain(b);
	roster_thread(s, life, 52, 400); /* perf comes to its beginning */
	roster_age(s);
	process_end(s, p, 5000);
	roster_finish(s);
	bench_finish(b);
	row = row_where(b, TABLE_THREAD, COLUMN_THREAD_TID, 51);
	assert_int_equal(row.values[COLUMN_THREAD_START], 300);
	assert_int_equal(row.values[COLUMN_THREAD_END], 1000);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, COLUMN_CUDA_API_END, 600).track).values[COLUMN_TRACK_THREAD],
			 row.values[COLUMN_THREAD_UID]);
	row = row_where(b, TABLE_THREAD, COLUMN_THREAD_TID, 52);
	assert_int_equal(row.values[COLUMN_THREAD_START], 400);
	assert_int_equal(track_of(b, row_where(b, TABLE_CUDA_API, COLUMN_CUDA_API_END, 700).track).values[COLUMN_TRACK_THREAD],
			 row.values[COLUMN_THREAD_UID]);
	row_where(b, TABLE_THREAD, COLUMN_THREAD_TID, 50);
}

/* Records are long on their way: what the ring's own thread does is not held up by them. */
static void times_of_the_ring_stay_its_own(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct record_plain pop = { record_head(RECORD_NVTX_POP, 0, sizeof(pop), 0, 0), 600 };
	struct record_plain push = { 0, 500 };
	struct row row;

	put_record(&w, RECORD_NVTX_PUSH, 0, 0, &push, sizeof(push), "range");
	put_kernel(&w, 5, 1, 1, 100, 5000000);
	put_api(&w, 1005, 1, 1, 90, 4000000);
	assert_true(fake_write(&w, &pop, sizeof(pop)));
	bench_finish(b);
	row = bench_slice(b, "range");
	assert_int_equal(row.values[COLUMN_SLICE_START], 500);
	assert_int_equal(row.values[COLUMN_SLICE_END], 600);
	row_where(b, TABLE_GPU_KERNEL, COLUMN_GPU_KERNEL_END, 5000000);
	row_where(b, TABLE_CUDA_API, COLUMN_CUDA_API_START, 90);
}

static struct cuda_wire_device device(uint8_t last_byte)
{
	/* clang-format off */
	struct cuda_wire_device w = { .memory = 80ull << 30, .bandwidth = 3350ull * 1000000000, .clock = 1980000000,
				      .sm_count = 132, .l2 = 50 << 20, .major = 9, .pci_domain = 0, .pci_bus = 0x1b,
				      .pci_device = 0 };
	/* clang-format on */

	for (unsigned i = 0; i < 16; i++)
		w.uuid[i] = (uint8_t)(i * 16);
	w.uuid[15] = last_byte;
	for (unsigned i = 0; i < CUDA_WIRE_ATTRIBUTES; i++)
		w.attributes[i] = CUDA_NO_ID;
	w.attributes[CUDA_ATTRIBUTE_THREADS_PER_WARP] = 32;
	return w;
}

static void a_gpu_is_one_row(void **state)
{
	struct bench *b = *state;
	struct process_info info = { .pid = 2000, .inner_pid = 2000 };
	struct traced_process *other = bench_process(b, 2, &info);
	struct cuda_wire_device one = device(1), two = device(2), part = device(1);
	struct fake_writer w = open_ring(b, TID), x;
	struct gpu_facts facts;
	struct row gpu, row, *args;
	size_t count;

	assert_true(fake_open(&x, ring_reader_pool(&other->reader), 2000, 10));
	one.pci_bus = CUDA_NO_ID;
	put_definition(&w, DEFINE_CUDA_DEVICE, 20, 0, 0, &one, sizeof(one), "NVIDIA H200");
	one.attributes[CUDA_ATTRIBUTE_INTEGRATED] = 0; /* again, and more is known */
	one.pci_bus = 0x1b;
	put_definition(&w, DEFINE_CUDA_DEVICE, 20, 0, 0, &one, sizeof(one), "NVIDIA H200");
	put_definition(&w, DEFINE_CUDA_DEVICE, 20, 1, 0, &two, sizeof(two), "NVIDIA H200");
	part.mig = 1;
	part.gpu_instance = 3;
	part.compute_instance = 4;
	part.sm_count = 16;
	memset(part.mig_uuid, 0xab, 16);
	put_definition(&x, DEFINE_CUDA_DEVICE, 20, 0, 0, &part, sizeof(part), "NVIDIA H200 MIG 1g.18gb");
	bench_drain(b);
	gpu_facts_init(&facts, "GPU-00102030-4050-6070-8090-a0b0c0d0e001");
	facts.index = 5;
	facts.chip = "GH100";
	facts.memory = 1; /* told before */
	assert_true(gpu_row(&b->session, &facts) > 0);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_GPU), 2);
	assert_int_equal(count_rows(b, TABLE_CUDA_DEVICE), 3);
	gpu = row_where(b, TABLE_GPU, COLUMN_GPU_INDEX, 5);
	assert_string_equal(bench_text(b, &gpu, COLUMN_GPU_NAME), "NVIDIA H200");
	assert_string_equal(bench_text(b, &gpu, COLUMN_GPU_UUID), "GPU-00102030-4050-6070-8090-a0b0c0d0e001");
	assert_string_equal(bench_text(b, &gpu, COLUMN_GPU_BUS), "0000:1b:00.0");
	assert_string_equal(bench_text(b, &gpu, COLUMN_GPU_CHIP), "GH100");
	assert_int_equal(gpu.values[COLUMN_GPU_MEMORY], 80ll << 30);
	assert_int_equal(gpu.values[COLUMN_GPU_SM_COUNT], 132);
	assert_int_equal(gpu.values[COLUMN_GPU_MIG], 1);
	args = rows_of(b, TABLE_ARG, &count); /* those of the first GPU come first */
	assert_int_equal(count, 3);
	assert_int_equal(args[0].values[COLUMN_ARG_SET], gpu.values[COLUMN_GPU_ATTRIBUTES]);
	assert_int_equal(args[1].values[COLUMN_ARG_SET], gpu.values[COLUMN_GPU_ATTRIBUTES]);
	assert_string_equal(bench_text(b, &args[0], COLUMN_ARG_KEY), "threadsPerWarp");
	assert_int_equal(args[0].values[COLUMN_ARG_INTEGER], 32);
	assert_string_equal(bench_text(b, &args[1], COLUMN_ARG_KEY), "integrated");
	assert_int_equal(args[1].values[COLUMN_ARG_INTEGER], 0);
	free(args);
	row = row_where(b, TABLE_CUDA_DEVICE, COLUMN_CUDA_DEVICE_PROCESS, 2);
	assert_int_equal(row.values[COLUMN_CUDA_DEVICE_GPU], gpu.values[COLUMN_GPU_UID]);
	assert_string_equal(bench_text(b, &row, COLUMN_CUDA_DEVICE_UUID), "MIG-abababab-abab-abab-abab-abababababab");
	assert_int_equal(row.values[COLUMN_CUDA_DEVICE_GPU_INSTANCE], 3);
	assert_int_equal(row.values[COLUMN_CUDA_DEVICE_SM_COUNT], 16);
	row = row_where(b, TABLE_CUDA_DEVICE, COLUMN_CUDA_DEVICE_ID, 1);
	assert_true(row.nulls[COLUMN_CUDA_DEVICE_GPU_INSTANCE]);
}

static void contexts_and_modules_end(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct cuda_wire_context context = { .device = 2, .null_stream = 7, .parent = 1, .green = 1, .sm_count = 16 };
	struct cuda_wire_module module = { .context = 3, .size = 4096 };
	struct row row;

	put_definition(&w, DEFINE_CUDA_CONTEXT, 30, 3, 0, &context, sizeof(context), "");
	put_definition(&w, DEFINE_CUDA_MODULE, 40, 11, 0, &module, sizeof(module), "");
	put_definition(&w, DEFINE_CUDA_MODULE, 41, 12, 0, &module, sizeof(module), "");
	module.ended = 1;
	put_definition(&w, DEFINE_CUDA_MODULE, 60, 11, 0, &module, sizeof(module), "");
	put_definition(&w, DEFINE_CUDA_MODULE, 61, 99, 0, &module, sizeof(module), ""); /* never loaded */
	context.ended = 1;
	put_definition(&w, DEFINE_CUDA_CONTEXT, 70, 3, 0, &context, sizeof(context), "");
	context.ended = 0;
	context.parent = context.green = context.sm_count = 0;
	put_definition(&w, DEFINE_CUDA_CONTEXT, 80, 4, 0, &context, sizeof(context), "");
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_CUDA_MODULE), 2);
	row = row_where(b, TABLE_CUDA_MODULE, COLUMN_CUDA_MODULE_ID, 11);
	assert_int_equal(row.values[COLUMN_CUDA_MODULE_TIME], 40);
	assert_int_equal(row.values[COLUMN_CUDA_MODULE_END], 60);
	assert_int_equal(row.values[COLUMN_CUDA_MODULE_SIZE], 4096);
	assert_true(row_where(b, TABLE_CUDA_MODULE, COLUMN_CUDA_MODULE_ID, 12).nulls[COLUMN_CUDA_MODULE_END]);
	row = row_where(b, TABLE_CUDA_CONTEXT, COLUMN_CUDA_CONTEXT_ID, 3);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_TIME], 30);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_END], 70);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_DEVICE], 2);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_NULL_STREAM], 7);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_PARENT], 1);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_SM_COUNT], 16);
	row = row_where(b, TABLE_CUDA_CONTEXT, COLUMN_CUDA_CONTEXT_ID, 4);
	assert_true(row.nulls[COLUMN_CUDA_CONTEXT_END] && row.nulls[COLUMN_CUDA_CONTEXT_PARENT]);
}

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	int c;

	assert_true(in && out);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
}

/* Opens what would be left if the recorder were killed now. */
static void recover_copy(struct bench *b, char *ret_path, size_t size)
{
	char from[256], to[256];
	struct error err = { "" };

	snprintf(from, sizeof(from), "%s.journal", b->path);
	snprintf(to, sizeof(to), "%s/killed.sonde.journal", b->folder);
	copy_file(from, to);
	snprintf(from, sizeof(from), "%s.part", b->path);
	snprintf(to, sizeof(to), "%s/killed.sonde.part", b->folder);
	copy_file(from, to);
	if (report_recover(to, 0, ret_path, size, &err) < 0 || report_open(&b->report, ret_path, &err) < 0)
		fail_msg("%s", err.text);
}

/* A callback knows the time, CUPTI's record (time 0) the rest: in either order. */
static void two_report_one_place(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct cuda_wire_context early = { .device = 2, .null_stream = CUDA_NO_ID, .handle = 0xdef },
				 late = { .device = 2, .null_stream = 7 };
	struct cuda_wire_stream when = { 3, 2, INT32_MIN, 0, 0xabc }, rest = { 3, CUDA_NO_ID, -1, 2, 0 };
	struct row row;

	put_definition(&w, DEFINE_CUDA_CONTEXT, 30, 3, 0, &early, sizeof(early), "");
	put_definition(&w, DEFINE_CUDA_CONTEXT, 0, 3, 0, &late, sizeof(late), "");
	put_definition(&w, DEFINE_CUDA_STREAM, 0, 8, 0, &rest, sizeof(rest), "");
	put_definition(&w, DEFINE_CUDA_STREAM, 40, 8, 0, &when, sizeof(when), "");
	put_definition(&w, DEFINE_CUDA_STREAM, 50, 9, 0, &when, sizeof(when), "");
	put_definition(&w, DEFINE_CUDA_STREAM, 0, 9, 0, &rest, sizeof(rest), "");
	put_definition(&w, DEFINE_CUDA_STREAM, 60, 10, 0, &when, sizeof(when), "");
	put_definition(&w, DEFINE_CUDA_STREAM, 0, 11, 0, &rest, sizeof(rest), "");
	bench_finish(b);
	row = row_where(b, TABLE_CUDA_CONTEXT, COLUMN_CUDA_CONTEXT_ID, 3);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_TIME], 30);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_NULL_STREAM], 7);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_HANDLE], 0xdef);
	assert_int_equal(count_rows(b, TABLE_CUDA_STREAM), 4);
	for (unsigned i = 8; i < 10; i++) {
		row = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_ID, i);
		assert_int_equal(row.values[COLUMN_CUDA_STREAM_TIME], i == 8 ? 40 : 50);
		assert_int_equal(row.values[COLUMN_CUDA_STREAM_PRIORITY], -1);
		assert_int_equal(row.values[COLUMN_CUDA_STREAM_FLAG], 2);
		assert_int_equal(row.values[COLUMN_CUDA_STREAM_HANDLE], 0xabc);
		assert_int_equal(row.values[COLUMN_CUDA_STREAM_DEVICE], 2);
	}
	row = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_ID, 10);
	assert_true(row.nulls[COLUMN_CUDA_STREAM_PRIORITY] && row.nulls[COLUMN_CUDA_STREAM_FLAG]);
	row = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_ID, 11);
	assert_true(row.nulls[COLUMN_CUDA_STREAM_TIME]);
	assert_int_equal(row.values[COLUMN_CUDA_STREAM_DEVICE], 2);
}

static void provisional(struct report_writer *w, void *context)
{
	struct bench *b = context;

	b->session.tables[TABLE_PROCESS] = report_track(w, TABLE_PROCESS, 0);
	b->session.tables[TABLE_THREAD] = report_track(w, TABLE_THREAD, 0);
	process_provisional(&b->session, b->process);
	gpus_provisional(&b->session);
}

static void tick(struct bench *b)
{
	struct error err = { "" };

	cuda_tick(&b->session, b->process);
	assert_int_equal(report_writer_tick(b->session.writer, provisional, b, &err), 0);
}

/* A buffer whose end does not come waits two ticks and no longer; what a recorder that is killed leaves has all that the
 * rows refer to. */
static void a_killed_recorder_leaves_whole_rows(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct cuda_wire_device gpu = device(1);
	struct cuda_wire_context context = { .device = DEVICE, .null_stream = 7 };
	char found[256];
	uint64_t before;
	struct row row;

	put_definition(&w, DEFINE_CUDA_DEVICE, 20, DEVICE, 0, &gpu, sizeof(gpu), "NVIDIA H200");
	put_definition(&w, DEFINE_CUDA_CONTEXT, 30, CONTEXT, 0, &context, sizeof(context), "");
	put_function(&w, 1, "kernel");
	put_launch(&w, 1, 1, 2);
	put_api(&w, 1009, 1, 1, 100, 110);
	put_kernel(&w, 7, 1, 1, 120, 130);
	bench_drain(b);
	before = report_writer_rows(b->session.writer);
	tick(b);
	assert_int_equal(report_writer_rows(b->session.writer), before);
	tick(b);
	assert_int_equal(report_writer_rows(b->session.writer), before + 4); /* two rows on two new tracks */
	tick(b);
	recover_copy(b, found, sizeof(found));
	row = row_where(b, TABLE_GPU_KERNEL, 0, 120);
	row = row_where(b, TABLE_CUDA_STREAM, 0, track_of(b, row.track).values[COLUMN_TRACK_DOMAIN]);
	assert_int_equal(row.values[COLUMN_CUDA_STREAM_ID], 7);
	row = row_where(b, TABLE_CUDA_CONTEXT, COLUMN_CUDA_CONTEXT_ID, CONTEXT);
	assert_int_equal(row.values[COLUMN_CUDA_CONTEXT_TIME], 30);
	row = row_where(b, TABLE_CUDA_API, 0, 100);
	row = row_where(b, TABLE_THREAD, 0, track_of(b, row.track).values[COLUMN_TRACK_THREAD]);
	assert_int_equal(row.values[COLUMN_THREAD_INNER_TID], 1009);
	assert_int_equal(count_rows(b, TABLE_GPU), 1);
	assert_int_equal(row_where(b, TABLE_CUDA_CLOCK, 0, 1).values[COLUMN_CUDA_CLOCK_EARLY], 20);
	report_close(b->report);
	b->report = NULL;
	unlink(found);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_launch_is_a_call_and_a_kernel),
		TEST(calls_nest),
		TEST(kernels_that_overlap_have_lanes),
		TEST(any_order_is_sorted),
		TEST(processes_share_names_only),
		TEST(descriptions_come_late_or_never),
		TEST(threads_have_one_row),
		TEST(threads_known_to_perf),
		TEST(times_of_the_ring_stay_its_own),
		TEST(a_gpu_is_one_row),
		TEST(contexts_and_modules_end),
		TEST(two_report_one_place),
		TEST(a_killed_recorder_leaves_whole_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
