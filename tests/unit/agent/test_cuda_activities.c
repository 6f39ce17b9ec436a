/* What is enabled by which option, and what callbacks tell of contexts, streams, modules and graphs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "fake_cuda.h"

static void prepare(uint32_t flags)
{
	fake_cuda_reset(130001);
	fake_cuda.session.cuda_flags = flags;
	assert_int_equal(cuda_activities_prepare(), 0);
	atomic_store(&cuda_agent.state, CUDA_CLOSED);
}

#define MANAGED 30 /* a number that no call has */

static void open_window(void)
{
	cuda_activities_open();
	atomic_store(&cuda_agent.state, CUDA_OPEN);
}

static void *handle(uintptr_t number)
{
	return (void *)number;
}

static void prepared(void **state)
{
	(void)state;
	prepare(0);
	assert_int_equal(fake_cuda.thread_ids, CUPTI_THREAD_ID_SYSTEM);
	assert_non_null(fake_cuda.stamp);
	/* Contexts and their like from the start, work only in a window. */
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_DEVICE], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_CONTEXT], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_STREAM], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_CONCURRENT_KERNEL], 0);
	assert_int_equal(fake_cuda.resource_callbacks[CUPTI_CONTEXT_CREATED], 1);
	assert_int_equal(fake_cuda.resource_callbacks[CUPTI_GRAPH_NODE_CREATED], 1);
}

static void window(void **state)
{
	static const int always[] = { CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,     CUPTI_KIND_MEMCPY2,  CUPTI_KIND_MEMSET,
				      CUPTI_KIND_SYNCHRONIZATION,   CUPTI_KIND_CUDA_EVENT, CUPTI_KIND_OVERHEAD, CUPTI_KIND_JIT,
				      CUPTI_KIND_GRAPH_TRACE };

	(void)state;
	prepare(0);
	errno = 4242;
	open_window();
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		assert_int_equal(fake_cuda.kinds[always[i]], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_MEMORY2], 0);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_MEMORY_POOL], 0);
	cuda_activities_close();
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		assert_int_equal(fake_cuda.kinds[always[i]], 0);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_CONTEXT], 1);
	cuda_activities_flush(0);
	assert_int_equal(fake_cuda.forced_flushes, 0);
	cuda_activities_flush(1);
	assert_int_equal(fake_cuda.flushes, 2);
	assert_int_equal(fake_cuda.forced_flushes, 1);
	assert_int_equal(errno, 4242);
}

static void options(void **state)
{
	(void)state;
	prepare(RING_CUDA_MEMORY | RING_CUDA_GRAPH_NODES);
	open_window();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_MEMORY2], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_MEMORY_POOL], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_GRAPH_TRACE], 0);
	assert_int_equal(fake_agent.diagnostics, 0);
}

static void refused_kind(void **state)
{
	(void)state;
	prepare(RING_CUDA_MEMORY);
	fake_cuda.refused_kind = CUPTI_KIND_MEMORY2;
	open_window();
	assert_int_equal(fake_agent.diagnostics, 1);
	assert_non_null(strstr(fake_agent.last_diagnostic, "--cuda-memory-usage (CUPTI_ERROR_OF_THE_TEST)"));
	/* What nobody asked for goes without a word. */
	prepare(0);
	fake_cuda.refused_kind = CUPTI_KIND_JIT;
	open_window();
	assert_int_equal(fake_agent.diagnostics, 0);
}

static void resource(uint32_t id, void *context, void *stream, const void *descriptor)
{
	struct cupti_resource_data data = { context, stream, descriptor };

	errno = 4242;
	cuda_callback(CUPTI_DOMAIN_RESOURCE, id, &data);
	assert_int_equal(errno, 4242);
}

/* Not before the driver is initialised; only what was asked for. The state is the process's: this test comes
 * first. */
static void unified_memory(void **state)
{
	(void)state;
	prepare(RING_CUDA_GPU_FAULTS);
	open_window();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_UNIFIED_MEMORY_COUNTER], 0);
	resource(CUPTI_DRIVER_READY, NULL, NULL, NULL);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_UNIFIED_MEMORY_COUNTER], 1);
	assert_int_equal(fake_cuda.unified_count, 7);
	for (unsigned i = 0; i < fake_cuda.unified_count; i++)
		assert_int_not_equal(fake_cuda.unified_kinds[i], CUPTI_UNIFIED_CPU_FAULT);
	/* To stop watching takes CUPTI seconds, in which the program would wait. */
	cuda_activities_close();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_UNIFIED_MEMORY_COUNTER], 1);
	assert_true(cuda_activities_unified());
	cuda_activities_release();
	assert_false(cuda_activities_unified());
}

/* A program that asks for no page faults and has no managed memory is not watched. */
static void managed_memory(void **state)
{
	struct cupti_call_data call = { .site = CUPTI_SITE_ENTER };

	(void)state;
	prepare(0);
	fake_cuda.runtime_names[MANAGED] = "cudaMallocManaged_v6000";
	assert_int_equal(cuda_activities_prepare(), 0);
	assert_int_equal(fake_cuda.runtime_callbacks[MANAGED], 1);
	open_window();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_UNIFIED_MEMORY_COUNTER], 0);
	cuda_callback(CUPTI_DOMAIN_RUNTIME, MANAGED, &call);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_UNIFIED_MEMORY_COUNTER], 1);
	assert_int_equal(fake_cuda.unified_count, 3);
	assert_int_equal(fake_cuda.runtime_callbacks[MANAGED], 0);
}

static void contexts(void **state)
{
	const struct record_define *define;
	const struct cuda_wire_context *context;

	(void)state;
	prepare(0); /* no window */
	resource(CUPTI_CONTEXT_CREATED, handle(11), NULL, NULL);
	resource(CUPTI_CONTEXT_DESTROY, handle(11), NULL, NULL);
	define = fake_cuda_definition(DEFINE_CUDA_CONTEXT, 0);
	context = (const void *)(define + 1);
	assert_int_equal(define->id, 11);
	assert_true(define->time != 0);
	assert_int_equal(context->device, 3);
	assert_int_equal(context->null_stream, CUDA_NO_ID);
	assert_int_equal(context->ended, 0);
	context = (const void *)(fake_cuda_definition(DEFINE_CUDA_CONTEXT, 1) + 1);
	assert_int_equal(context->ended, 1);
}

static void streams_and_modules(void **state)
{
	struct cupti_module_data data = { .module = 21, .size = 123456 };
	const struct record_define *define;
	const struct cuda_wire_stream *stream;
	const struct cuda_wire_module *module;

	(void)state;
	prepare(0);
	resource(CUPTI_STREAM_CREATED, handle(12), handle(33), NULL);
	define = fake_cuda_definition(DEFINE_CUDA_STREAM, 0);
	stream = (const void *)(define + 1);
	assert_int_equal(define->id, 33);
	assert_int_equal(stream->context, 12);
	assert_int_equal(stream->device, 4);
	assert_int_equal(stream->priority, INT32_MIN);
	resource(CUPTI_MODULE_LOADED, handle(12), NULL, &data);
	resource(CUPTI_MODULE_UNLOAD, handle(12), NULL, &data);
	resource(CUPTI_MODULE_LOADED, handle(12), NULL, NULL);
	define = fake_cuda_definition(DEFINE_CUDA_MODULE, 0);
	module = (const void *)(define + 1);
	assert_int_equal(define->id, 21);
	assert_int_equal(module->context, 12);
	assert_int_equal(module->size, 123456);
	assert_int_equal(module->ended, 0);
	assert_int_equal(((const struct cuda_wire_module *)(fake_cuda_definition(DEFINE_CUDA_MODULE, 1) + 1))->ended, 1);
	assert_null(fake_cuda_definition(DEFINE_CUDA_MODULE, 2));
}

static void graphs(void **state)
{
	struct cupti_graph_data data = { .graph = handle(51), .original_graph = handle(50), .exec = handle(61) };
	static const struct {
		uint32_t id;
		unsigned kind;
		uint64_t extra;
	} expected[] = {
		{ CUPTI_GRAPH_CREATED, 1, 0 },
		{ CUPTI_GRAPH_CLONED, 2, 50ull << 32 },
		{ CUPTI_GRAPH_EXEC_CREATED, 3, 61 },
		{ CUPTI_GRAPH_EXEC_DESTROY, 4, 61 },
	};
	const struct record_define *define;

	(void)state;
	prepare(0);
	for (unsigned i = 0; i < 4; i++) {
		resource(expected[i].id, handle(12), NULL, &data);
		define = fake_cuda_definition(DEFINE_CUDA_GRAPH, i);
		assert_non_null(define);
		assert_int_equal(define->id, 51);
		assert_int_equal(define->extra, expected[i].extra);
		assert_int_equal(record_level(define->head), expected[i].kind);
	}
}

static void graph_nodes(void **state)
{
	struct cupti_graph_data data = {
		.graph = handle(51), .node = handle(0x500000001), .original_node = handle(0x400000001), .node_type = 0
	};
	const struct record_define *define;
	const struct cuda_wire_node *node;

	(void)state;
	prepare(0);
	resource(CUPTI_GRAPH_NODE_CREATED, handle(12), NULL, &data);
	define = fake_cuda_definition(DEFINE_CUDA_GRAPH_NODE, 0);
	node = (const void *)(define + 1);
	assert_int_equal(define->id, 0x500000001);
	assert_true(define->time != 0);
	assert_int_equal(node->graph, 51);
	assert_int_equal(node->original, 0);
	assert_int_equal(node->tid, (uint32_t)syscall(SYS_gettid));
	assert_int_equal(node->stack, 0);
	resource(CUPTI_GRAPH_NODE_CLONED, handle(12), NULL, &data);
	node = (const void *)(fake_cuda_definition(DEFINE_CUDA_GRAPH_NODE, 1) + 1);
	assert_int_equal(node->original, 0x400000001);
	assert_int_equal(fake_cuda.stacks, 0);
	/* With stacks: that of the capture, not of the cloning. */
	prepare(RING_CUDA_BACKTRACES);
	resource(CUPTI_GRAPH_NODE_CREATED, handle(12), NULL, &data);
	resource(CUPTI_GRAPH_NODE_CLONED, handle(12), NULL, &data);
	define = fake_cuda_definition(DEFINE_CUDA_GRAPH_NODE, 0);
	node = (const void *)(define + 1);
	assert_int_equal(node->stack, 1);
	assert_int_equal(fake_cuda.stacks, 1);
	assert_int_equal(fake_cuda.stack_time, define->time);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unified_memory),
		cmocka_unit_test(managed_memory),
		cmocka_unit_test(prepared),
		cmocka_unit_test(window),
		cmocka_unit_test(options),
		cmocka_unit_test(refused_kind),
		cmocka_unit_test(contexts),
		cmocka_unit_test(streams_and_modules),
		cmocka_unit_test(graphs),
		cmocka_unit_test(graph_nodes),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
