/* Every kind of CUDA record once, and those that make no sense. */
#include "cuda_support.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "record/cuda/cuda.h"

#define TID 1000u

static struct fake_writer open_ring(struct bench *b, uint32_t tid)
{
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, tid, 10));
	return w;
}

static struct row stream_of(struct bench *b, uint32_t track)
{
	return row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_UID, track_of(b, track).values[COLUMN_TRACK_DOMAIN]);
}

static void copies_and_sets(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	/* clang-format off */
	struct record_cuda_copy copy = { .time = 100, .end = 200, .place = { 0, CONTEXT, 7, 1 }, .bytes = 4096, .kind = 1,
					 .source = 1, .target = 3, .flags = 1, .source_device = CUDA_NO_ID,
					 .graph = { .node = 77, .graph = 5, .channel = 2u << 24 | 9 } };
	/* clang-format on */
	struct record_cuda_set set = { .time = 300, .end = 310, .place = { 0, CONTEXT, 7, 2 }, .bytes = 64, .value = 255, .memory = 3 };
	struct row row;

	put_record(&w, RECORD_CUDA_COPY, 0, 0, &copy, sizeof(copy), "");
	copy.time = 210;
	copy.end = 220;
	copy.kind = 10;
	copy.count = 3;
	copy.source_device = 1;
	copy.source_context = 2;
	copy.target_device = 3;
	copy.target_context = 4;
	copy.graph = (struct cuda_graph_place){ 0 };
	put_record(&w, RECORD_CUDA_COPY, 0, 0, &copy, sizeof(copy), "");
	put_record(&w, RECORD_CUDA_SET, 0, 0, &set, sizeof(set), "");
	bench_finish(b);
	row = row_where(b, TABLE_GPU_COPY, 0, 100);
	assert_int_equal(row.values[COLUMN_GPU_COPY_BYTES], 4096);
	assert_int_equal(row.values[COLUMN_GPU_COPY_KIND], 1);
	assert_int_equal(row.values[COLUMN_GPU_COPY_SOURCE], 1);
	assert_int_equal(row.values[COLUMN_GPU_COPY_TARGET], 3);
	assert_int_equal(row.values[COLUMN_GPU_COPY_FLAGS], 1);
	assert_int_equal(row.values[COLUMN_GPU_COPY_GRAPH_NODE], 77);
	assert_int_equal(row.values[COLUMN_GPU_COPY_GRAPH], 5);
	assert_int_equal(row.values[COLUMN_GPU_COPY_CHANNEL], 9 | 2ll << 32);
	assert_true(row.nulls[COLUMN_GPU_COPY_COUNT] && row.nulls[COLUMN_GPU_COPY_SOURCE_DEVICE] && row.nulls[COLUMN_GPU_COPY_CAUSE]);
	assert_int_equal(track_of(b, row.track).values[COLUMN_TRACK_KIND], TRACK_GPU_COPY);
	assert_int_equal(stream_of(b, row.track).values[COLUMN_CUDA_STREAM_ID], 7);
	row = row_where(b, TABLE_GPU_COPY, 0, 210);
	assert_int_equal(row.values[COLUMN_GPU_COPY_COUNT], 3);
	assert_int_equal(row.values[COLUMN_GPU_COPY_SOURCE_DEVICE], 1);
	assert_int_equal(row.values[COLUMN_GPU_COPY_TARGET_CONTEXT], 4);
	assert_true(row.nulls[COLUMN_GPU_COPY_GRAPH] && row.nulls[COLUMN_GPU_COPY_CHANNEL]);
	row = row_where(b, TABLE_GPU_SET, 0, 300);
	assert_int_equal(row.values[COLUMN_GPU_SET_VALUE], 255);
	assert_int_equal(row.values[COLUMN_GPU_SET_BYTES], 64);
	assert_int_equal(row.values[COLUMN_GPU_SET_MEMORY], 3);
}

static void waiting_and_events(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct record_cuda_event event = { .place = { 0, CONTEXT, 7, 5 }, .event = 3, .event_sync = 21 };
	struct record_cuda_graph graph = { .time = 500, .end = 900, .place = { 0, CONTEXT, 7, 6 }, .graph = 4, .exec = CUDA_NO_ID };
	struct row row;

	put_sync(&w, 4, CUDA_NO_ID, 1, 100, 200);
	put_sync(&w, 3, 7, 2, 300, 400);
	put_record(&w, RECORD_CUDA_EVENT, 0, 0, &event, sizeof(event), "");
	event.time = 450;
	event.event = 4;
	put_record(&w, RECORD_CUDA_EVENT, 0, 0, &event, sizeof(event), "");
	put_record(&w, RECORD_CUDA_GRAPH, 0, 0, &graph, sizeof(graph), "");
	bench_finish(b);
	row = row_where(b, TABLE_GPU_SYNC, 0, 100);
	assert_int_equal(row.values[COLUMN_GPU_SYNC_KIND], 4);
	assert_int_equal(row.values[COLUMN_GPU_SYNC_RESULT], 0);
	assert_true(row.nulls[COLUMN_GPU_SYNC_EVENT] && row.nulls[COLUMN_GPU_SYNC_EVENT_SYNC]);
	/* A stream without a number stands for the whole context. */
	row = stream_of(b, row.track);
	assert_true(row.nulls[COLUMN_CUDA_STREAM_ID]);
	assert_int_equal(row.values[COLUMN_CUDA_STREAM_CONTEXT], CONTEXT);
	row = row_where(b, TABLE_GPU_SYNC, 0, 300);
	assert_int_equal(stream_of(b, row.track).values[COLUMN_CUDA_STREAM_ID], 7);
	row = row_where(b, TABLE_CUDA_EVENT, COLUMN_CUDA_EVENT_EVENT, 3);
	assert_true(row.nulls[COLUMN_CUDA_EVENT_TIME]);
	assert_int_equal(row.values[COLUMN_CUDA_EVENT_EVENT_SYNC], 21);
	row = row_where(b, TABLE_CUDA_EVENT, COLUMN_CUDA_EVENT_TIME, 450);
	row = row_where(b, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_UID, row.values[COLUMN_CUDA_EVENT_STREAM]);
	assert_int_equal(row.values[COLUMN_CUDA_STREAM_ID], 7);
	row = row_where(b, TABLE_GPU_GRAPH, 0, 500);
	assert_int_equal(row.values[COLUMN_GPU_GRAPH_GRAPH], 4);
	assert_true(row.nulls[COLUMN_GPU_GRAPH_EXEC]);
}

static void memory_and_pools(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct record_cuda_memory memory = {
		.time = 200, .place = { 0, CONTEXT, CUDA_NO_ID, 1 }, .address = 0x7000, .bytes = 512, .operation = 1, .kind = 3
	};
	/* clang-format off */
	struct record_cuda_pool pool = { .time = 150, .device = 2, .operation = 3, .type = 1, .address = 0x9000, .keep = 1,
					 .threshold = 2, .size = 3, .used = 4, .correlation = 8 };
	/* clang-format on */
	struct row row;

	put_record(&w, RECORD_CUDA_MEMORY, 0, 0, &memory, sizeof(memory), "variable");
	memory.time = 100; /* older, and with all there can be */
	memory.place.stream = 7;
	memory.pool_type = 1;
	memory.pool = 0x9000;
	memory.pool_used = 99;
	memory.pc = 0x1234;
	put_record(&w, RECORD_CUDA_MEMORY, 0, 0, &memory, sizeof(memory), "");
	put_record(&w, RECORD_CUDA_POOL, 0, 0, &pool, sizeof(pool), "");
	put_batch(&w, 0);
	bench_finish(b);
	row = row_where(b, TABLE_GPU_MEMORY, 0, 200);
	assert_string_equal(bench_text(b, &row, COLUMN_GPU_MEMORY_NAME), "variable");
	assert_true(row.nulls[COLUMN_GPU_MEMORY_STREAM] && row.nulls[COLUMN_GPU_MEMORY_POOL] && row.nulls[COLUMN_GPU_MEMORY_PC]);
	assert_int_equal(track_of(b, row.track).values[COLUMN_TRACK_KIND], TRACK_GPU_MEMORY);
	row_where(b, TABLE_CUDA_CONTEXT, COLUMN_CUDA_CONTEXT_UID, track_of(b, row.track).values[COLUMN_TRACK_DOMAIN]);
	assert_int_equal(row_where(b, TABLE_GPU_MEMORY, 0, 100).track, row.track);
	row = row_where(b, TABLE_GPU_MEMORY, 0, 100);
	assert_int_equal(row.values[COLUMN_GPU_MEMORY_STREAM], 7);
	assert_int_equal(row.values[COLUMN_GPU_MEMORY_POOL_USED], 99);
	assert_int_equal(row.values[COLUMN_GPU_MEMORY_PC], 0x1234);
	row = row_where(b, TABLE_GPU_POOL, 0, 150);
	assert_int_equal(row.values[COLUMN_GPU_POOL_OPERATION], 3);
	assert_int_equal(row.values[COLUMN_GPU_POOL_USED], 4);
	assert_int_equal(row.values[COLUMN_GPU_POOL_CORRELATION], 8);
}

static void put_unified(struct fake_writer *w, uint32_t kind, uint64_t start, uint32_t source, uint32_t target)
{
	/* clang-format off */
	struct record_cuda_unified r = { .time = start, .end = start + 10, .value = 65536, .address = 0x40000, .kind = kind,
					 .source = source, .target = target, .flags = 2 };
	/* clang-format on */

	put_record(w, RECORD_CUDA_UNIFIED, 0, 0, &r, sizeof(r), "");
}

static void unified_memory(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct row row, stream;

	put_unified(&w, 1, 100, CUDA_NO_ID, 0);
	put_unified(&w, 2, 200, 0, CUDA_NO_ID);
	put_unified(&w, 8, 300, 0, 1);
	put_unified(&w, 3, 400, CUDA_NO_ID, CUDA_NO_ID);
	put_unified(&w, 4, 500, 1, CUDA_NO_ID);
	bench_finish(b);
	row = row_where(b, TABLE_GPU_COPY, COLUMN_GPU_COPY_KIND, 11);
	assert_int_equal(row.values[0], 100);
	assert_int_equal(row.values[COLUMN_GPU_COPY_BYTES], 65536);
	assert_int_equal(row.values[COLUMN_GPU_COPY_ADDRESS], 0x40000);
	assert_int_equal(row.values[COLUMN_GPU_COPY_CAUSE], 2);
	assert_int_equal(row.values[COLUMN_GPU_COPY_TARGET_DEVICE], 0);
	assert_true(row.nulls[COLUMN_GPU_COPY_SOURCE_DEVICE] && row.nulls[COLUMN_GPU_COPY_CORRELATION]);
	stream = stream_of(b, row.track);
	assert_true(stream.nulls[COLUMN_CUDA_STREAM_ID] && stream.nulls[COLUMN_CUDA_STREAM_CONTEXT]);
	assert_int_equal(stream.values[COLUMN_CUDA_STREAM_DEVICE], 0);
	assert_int_equal(row_where(b, TABLE_GPU_COPY, COLUMN_GPU_COPY_KIND, 12).track, row.track);
	row = row_where(b, TABLE_GPU_COPY, COLUMN_GPU_COPY_KIND, 13);
	assert_int_equal(stream_of(b, row.track).values[COLUMN_CUDA_STREAM_DEVICE], 1);
	row = row_where(b, TABLE_GPU_FAULT, COLUMN_GPU_FAULT_KIND, 3);
	assert_true(row.nulls[COLUMN_GPU_FAULT_END] && row.nulls[COLUMN_GPU_FAULT_DEVICE] && row.nulls[COLUMN_GPU_FAULT_PC]);
	row = row_where(b, TABLE_GPU_FAULT, COLUMN_GPU_FAULT_KIND, 4);
	assert_int_equal(row.values[COLUMN_GPU_FAULT_END], 510);
	assert_int_equal(row.values[COLUMN_GPU_FAULT_DEVICE], 1);
	assert_int_equal(row.values[COLUMN_GPU_FAULT_ACCESS], 2);
}

static void overhead_and_jit(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct record_cuda_overhead overhead = { .time = 100, .end = 200, .kind = 1 };
	struct record_cuda_jit jit = {
		.time = 300, .end = 400, .link = 5, .size = 6, .entry = 1, .operation = 3, .device = 0, .correlation = 9, .tid = 1007
	};
	struct row row;

	put_record(&w, RECORD_CUDA_OVERHEAD, 0, 0, &overhead, sizeof(overhead), "");
	overhead.time = 150; /* at the same time, on a thread */
	overhead.tid = TID;
	overhead.correlation = 4;
	put_record(&w, RECORD_CUDA_OVERHEAD, 0, 0, &overhead, sizeof(overhead), "");
	put_record(&w, RECORD_CUDA_JIT, 0, 0, &jit, sizeof(jit), "/cache/entry");
	bench_finish(b);
	row = row_where(b, TABLE_CUDA_OVERHEAD, 0, 100);
	assert_true(row.nulls[COLUMN_CUDA_OVERHEAD_CORRELATION]);
	assert_true(track_of(b, row.track).nulls[COLUMN_TRACK_THREAD]);
	row = row_where(b, TABLE_CUDA_OVERHEAD, 0, 150);
	assert_int_equal(row.values[COLUMN_CUDA_OVERHEAD_CORRELATION], 4);
	assert_false(track_of(b, row.track).nulls[COLUMN_TRACK_THREAD]);
	row = row_where(b, TABLE_CUDA_JIT, 0, 300);
	assert_string_equal(bench_text(b, &row, COLUMN_CUDA_JIT_PATH), "/cache/entry");
	assert_int_equal(row.values[COLUMN_CUDA_JIT_LINK], 5);
	row = row_where(b, TABLE_THREAD, COLUMN_THREAD_UID, track_of(b, row.track).values[COLUMN_TRACK_THREAD]);
	assert_int_equal(row.values[COLUMN_THREAD_INNER_TID], 1007);
}

static void graphs_and_their_nodes(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct record_define define = { record_head(RECORD_DEFINE, DEFINE_CUDA_GRAPH, sizeof(define), 3, 0), 50, 9, 8ull << 32 | 2 };
	struct cuda_wire_node node = { .original = 100, .graph = 9, .type = 0, .tid = 1001, .function = 6 };
	struct row row;

	put_function(&w, 6, "kernel");
	assert_true(fake_write(&w, &define, sizeof(define)));
	put_definition(&w, DEFINE_CUDA_GRAPH_NODE, 60, 101, 0, &node, sizeof(node), "");
	node = (struct cuda_wire_node){ .graph = 9, .type = CUDA_NO_ID };
	put_definition(&w, DEFINE_CUDA_GRAPH_NODE, 61, 102, 0, &node, sizeof(node), "");
	put_definition(&w, DEFINE_CUDA_GRAPH_NODE, 62, 103, 0, &node, sizeof(node), "");
	node.original = 101;
	put_definition(&w, DEFINE_CUDA_GRAPH_NODE, 63, 103, 0, &node, sizeof(node), "");
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_CUDA_GRAPH_NODE), 3);
	row = row_where(b, TABLE_CUDA_GRAPH_NODE, COLUMN_CUDA_GRAPH_NODE_NODE, 103);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_NODE_TIME], 62);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_NODE_ORIGINAL], 101);
	row = row_where(b, TABLE_CUDA_GRAPH, COLUMN_CUDA_GRAPH_GRAPH, 9);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_TIME], 50);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_ORIGINAL], 8);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_EXEC], 2);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_KIND], 3);
	row = row_where(b, TABLE_CUDA_GRAPH_NODE, COLUMN_CUDA_GRAPH_NODE_NODE, 101);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_NODE_ORIGINAL], 100);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_NODE_TYPE], 0);
	assert_int_equal(row.values[COLUMN_CUDA_GRAPH_NODE_FUNCTION],
			 row_where(b, TABLE_CUDA_FUNCTION, COLUMN_CUDA_FUNCTION_ID, 1).values[COLUMN_CUDA_FUNCTION_ID]);
	assert_int_equal(row_where(b, TABLE_THREAD, COLUMN_THREAD_INNER_TID, 1001).values[COLUMN_THREAD_UID],
			 row.values[COLUMN_CUDA_GRAPH_NODE_THREAD]);
	row = row_where(b, TABLE_CUDA_GRAPH_NODE, COLUMN_CUDA_GRAPH_NODE_NODE, 102);
	assert_true(row.nulls[COLUMN_CUDA_GRAPH_NODE_ORIGINAL] && row.nulls[COLUMN_CUDA_GRAPH_NODE_TYPE] &&
		    row.nulls[COLUMN_CUDA_GRAPH_NODE_FUNCTION] && row.nulls[COLUMN_CUDA_GRAPH_NODE_STACK]);
}

static void put_stack(struct fake_writer *w, uint64_t time, uint32_t correlation)
{
	struct record_stack stack = { record_head(RECORD_STACK, 0, sizeof(stack), 0, 0), time, { 0 } };

	stack.registers[16] = 0x123456; /* the program counter; nothing is mapped there */
	assert_true(fake_write(w, &stack, sizeof(stack)));
	put_definition(w, DEFINE_CUDA_STACK, time, correlation, time, NULL, 0, "");
}

static void put_call_with_stack(struct fake_writer *w, uint32_t correlation, uint64_t start)
{
	struct record_cuda_api r = { .time = start, .end = start + 10, .tid = TID, .correlation = correlation };

	put_record(w, RECORD_CUDA_API, CUDA_API_STACK, 1, &r, sizeof(r), "");
}

/* The stack is in the ring of the calling thread, the call in another: whichever is read first. */
static void stacks_find_their_calls(void **state)
{
	struct bench *b = *state;
	struct fake_writer own = open_ring(b, TID), other = open_ring(b, 1001);
	struct row row;

	put_stack(&own, 190, 1);
	bench_drain(b);
	put_call_with_stack(&other, 1, 100); /* after its stack */
	put_call_with_stack(&other, 2, 200); /* before it */
	put_call_with_stack(&other, 3, 300); /* without */
	put_batch(&other, 0);
	bench_drain(b);
	put_stack(&own, 290, 2);
	bench_drain(b);
	put_batch(&other, 0);
	bench_finish(b);
	row = row_where(b, TABLE_CUDA_API, 0, 100);
	assert_false(row.nulls[COLUMN_CUDA_API_STACK]);
	row_where(b, TABLE_STACK, COLUMN_STACK_ID, row.values[COLUMN_CUDA_API_STACK]);
	assert_int_equal(row_where(b, TABLE_CUDA_API, 0, 200).values[COLUMN_CUDA_API_STACK], row.values[COLUMN_CUDA_API_STACK]);
	assert_true(row_where(b, TABLE_CUDA_API, 0, 300).nulls[COLUMN_CUDA_API_STACK]);
	assert_int_equal(b->session.dropped, 0);
}

static void losses_of_cupti_are_reported(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);

	put_batch(&w, 5);
	put_batch(&w, 0);
	put_batch(&w, 7);
	bench_finish(b);
	assert_int_equal(bench_loss(b, LOSS_CUPTI), 12);
	assert_int_equal(b->session.dropped, 12);
}

/* No times, times that cannot be: counted, and said once. */
static void records_without_a_place(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct row row;

	put_kernel(&w, 7, 1, 1, 0, 0);
	put_kernel(&w, 7, 1, 1, 500, 400);
	put_kernel(&w, 7, 1, 1, 500, UINT64_MAX);
	put_kernel(&w, 7, 1, 1, 500, (uint64_t)NOW + 2000000000);
	put_kernel(&w, 7, 1, 2, 600, 700);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_GPU_KERNEL), 1);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 4);
	row = row_where(b, TABLE_LOSS, COLUMN_LOSS_REASON, LOSS_DAMAGED);
	assert_int_equal(row.values[COLUMN_LOSS_COUNT], 4);
}

static const struct {
	unsigned type;
	uint32_t size;
} records[] = {
	{ RECORD_CUDA_API, sizeof(struct record_cuda_api) },           { RECORD_CUDA_KERNEL, sizeof(struct record_cuda_kernel) },
	{ RECORD_CUDA_COPY, sizeof(struct record_cuda_copy) },         { RECORD_CUDA_SET, sizeof(struct record_cuda_set) },
	{ RECORD_CUDA_SYNC, sizeof(struct record_cuda_sync) },         { RECORD_CUDA_EVENT, sizeof(struct record_cuda_event) },
	{ RECORD_CUDA_GRAPH, sizeof(struct record_cuda_graph) },       { RECORD_CUDA_MEMORY, sizeof(struct record_cuda_memory) },
	{ RECORD_CUDA_POOL, sizeof(struct record_cuda_pool) },         { RECORD_CUDA_UNIFIED, sizeof(struct record_cuda_unified) },
	{ RECORD_CUDA_OVERHEAD, sizeof(struct record_cuda_overhead) }, { RECORD_CUDA_JIT, sizeof(struct record_cuda_jit) },
	{ RECORD_CUDA_BATCH, sizeof(struct record_cuda_batch) },
};

/* Cut anywhere: refused, and nothing behind the end is looked at (a copy of the exact size shows it to sanitizers). */
static void cut_records(void **state)
{
	struct bench *b = *state;
	uint8_t *bytes;
	uint64_t head;
	int r;

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		for (uint32_t size = 16; size <= records[i].size; size++) {
			bytes = malloc(size);
			memset(bytes, 1, size);
			head = record_head(records[i].type, 0, size, 0, 1);
			memcpy(bytes, &head, sizeof(head));
			r = cuda_record(&b->session, b->process, bytes, size);
			assert_int_equal(r, size < records[i].size ? -EBADMSG : 0);
			free(bytes);
		}
	}
}

static void cut_definitions(void **state)
{
	static const struct {
		unsigned kind;
		uint32_t size;
	} kinds[] = { { DEFINE_CUDA_LAUNCH, sizeof(struct cuda_wire_launch) },   { DEFINE_CUDA_DEVICE, sizeof(struct cuda_wire_device) },
		      { DEFINE_CUDA_CONTEXT, sizeof(struct cuda_wire_context) }, { DEFINE_CUDA_STREAM, sizeof(struct cuda_wire_stream) },
		      { DEFINE_CUDA_MODULE, sizeof(struct cuda_wire_module) },   { DEFINE_CUDA_GRAPH_NODE, sizeof(struct cuda_wire_node) },
		      { DEFINE_CUDA_CLOCK, sizeof(struct cuda_wire_clock) } };
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	uint8_t *body;
	int r;

	(void)w;
	bench_drain(b);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (uint32_t size = 0; size <= kinds[i].size; size++) {
			struct record_define define = { record_head(RECORD_DEFINE, kinds[i].kind, 32, 0, 0), 1, 5, 0 };

			body = malloc(size + 1);
			memset(body, 0xff, size + 1);
			r = cuda_definition(&b->session, b->process, b->process->threads[0], &define, body, size, 1);
			assert_int_equal(r, size < kinds[i].size ? -EBADMSG : 0);
			free(body);
		}
	}
}

/* A number that no call has: one row less, and nothing else. */
static void a_call_without_a_name(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);

	put_api(&w, TID, 65535, 1, 100, 200);
	put_api(&w, TID, 1, 2, 300, 400);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_CUDA_API), 1);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
}

/* Any number is a number; many different ones do not fill memory. */
static void numbers_of_any_size(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	size_t n = sizeof(numbers) / sizeof(numbers[0]);

	for (size_t i = 0; i < n; i++) {
		struct record_cuda_kernel r = { .time = 100 + i,
						.end = 101 + i,
						.launch = numbers[i],
						.grid = UINT64_MAX,
						.place = { numbers[i], numbers[n - 1 - i], numbers[i], numbers[i] } };

		put_record(&w, RECORD_CUDA_KERNEL, 0, 0, &r, sizeof(r), "");
		put_api(&w, numbers[i], 1, numbers[i], 100 + i, 200 + i);
		put_definition(&w, DEFINE_CUDA_STREAM, 20, numbers[i] * 0x100000001ull, 0, numbers, sizeof(numbers), "");
	}
	put_batch(&w, UINT64_MAX);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_GPU_KERNEL), n);
	assert_int_equal(count_rows(b, TABLE_CUDA_API), n);
}

static size_t heap_used(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* No end of a buffer ever comes, and all on one stream at the same time. */
static void memory_is_bounded(void **state)
{
	struct bench *b = *state;
	struct record_cuda_kernel kernel = { .head = record_head(RECORD_CUDA_KERNEL, 0, sizeof(kernel), 0, 0), .end = 2000 };
	struct record_cuda_api api = { .head = record_head(RECORD_CUDA_API, 0, sizeof(api), 0, 1), .time = 100, .end = 200 };
	size_t before = heap_used(), most = 0, now;

	for (uint32_t i = 0; i < 600000; i++) {
		kernel.time = 1000 + i % 7;
		kernel.place = (struct cuda_place){ 0, i, i, i };
		kernel.launch = i;
		api.tid = i;
		assert_int_equal(cuda_record(&b->session, b->process, (uint8_t *)&kernel, sizeof(kernel)), 0);
		kernel.place = (struct cuda_place){ 0, 1, 1, i };
		assert_int_equal(cuda_record(&b->session, b->process, (uint8_t *)&kernel, sizeof(kernel)), 0);
		if (i < 3000) /* each makes a thread, and looks for it in /proc */
			assert_int_equal(cuda_record(&b->session, b->process, (uint8_t *)&api, sizeof(api)), 0);
		if (i % 10000 == 0) {
			now = heap_used();
			most = now > most ? now : most;
		}
	}
	assert_true(most - before < 256u << 20);
	bench_finish(b);
	/* 65,536 streams with a kernel each, and 256 tracks of the one on which all overlap. */
	assert_true(count_rows(b, TABLE_GPU_KERNEL) < 70000);
	assert_true(bench_loss(b, LOSS_DAMAGED) > 1000000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		TEST(copies_and_sets),
		TEST(waiting_and_events),
		TEST(memory_and_pools),
		TEST(unified_memory),
		TEST(overhead_and_jit),
		TEST(graphs_and_their_nodes),
		TEST(stacks_find_their_calls),
		TEST(losses_of_cupti_are_reported),
		TEST(records_without_a_place),
		TEST(cut_records),
		TEST(cut_definitions),
		TEST(a_call_without_a_name),
		TEST(numbers_of_any_size),
		TEST(memory_is_bounded),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
