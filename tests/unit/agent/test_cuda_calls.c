/* Which calls are recorded, under which names, by old and new versions of CUPTI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agent/cuda/records/buffers.h"
#include "agent/cuda/records/calls.h"
#include "agent/cuda/records/decode.h"
#include "fake_cuda.h"

static void names_without_versions(void **state)
{
	static const struct {
		const char *name;
		const char *plain;
	} names[] = {
		{ "cudaLaunchKernel_v7000", "cudaLaunchKernel" },
		{ "cudaMemcpy_ptds_v7000", "cudaMemcpy" },
		{ "cudaLaunchKernelExC_ptsz_v11060", "cudaLaunchKernelExC" },
		{ "cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD" },
		{ "cuStreamSynchronize_ptsz", "cuStreamSynchronize" },
		{ "cuCtxCreate_v4", "cuCtxCreate" },
		{ "cudaMalloc3D_v3020", "cudaMalloc3D" },
		{ "cuMemsetD2D8", "cuMemsetD2D8" },
		{ "cuInit", "cuInit" },
		{ "_v1", "_v1" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(cuda_call_name_size(names[i].name), strlen(names[i].plain));
		assert_memory_equal(names[i].name, names[i].plain, strlen(names[i].plain));
	}
}

static void check(enum cuda_api_class class, const char *name, enum cuda_call_choice choice, enum ring_cuda_call kind)
{
	enum ring_cuda_call found;

	if (cuda_call_choose(class, name, &found) != choice)
		fail_msg("%s", name);
	if (choice == CUDA_CALL_ALWAYS)
		assert_int_equal(found, kind);
}

static void choices(void **state)
{
	static const char *const boring[] = {
		"cudaGetDevice_v3020",
		"cudaSetDevice_v3020",
		"cudaGetLastError_v3020",
		"cudaPeekAtLastError_v3020",
		"cudaDeviceGetAttribute_v5000",
		"cudaFuncGetAttributes_v3020",
		"cudaFuncSetAttribute_v9000",
		"__cudaPushCallConfiguration_v9020",
		"__cudaPopCallConfiguration_v9020",
		"cudaStreamIsCapturing_v10000",
		"cudaStreamGetCaptureInfo_v2_ptsz_v11030",
		"cudaEventQuery_v3020",
		"cudaStreamQuery_v3020",
		"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000",
		"cudaGetDriverEntryPoint_v11030",
		"cudaPointerGetAttributes_v4000",
		"cudaMemGetInfo_v3020",
		"cudaMemPoolGetAttribute_v11020",
		"cudaGetDeviceProperties_v2_v12000",
		"cudaHostGetDevicePointer_v3020",
		"cudaThreadExchangeStreamCaptureMode_v10010",
		"cudaEventElapsedTime_v3020",
		"cudaGraphGetNodes_v10000",
	};
	static const char *const launches[] = { "cudaLaunchKernel_v7000",     "cudaLaunchKernel_ptsz_v7000",
						"cudaLaunchKernelExC_v11060", "cudaLaunchCooperativeKernel_v9000",
						"cudaGraphLaunch_v10000",     "cudaLaunch_v3020" };
	/* clang-format off */
	static const char *const boring_driver[] = {
		"cuCtxGetCurrent",     "cuCtxSetCurrent", "cuGetProcAddress_v2",	 "cuDeviceGetAttribute",
		"cuFuncGetAttribute",  "cuEventQuery",	  "cuStreamIsCapturing",	 "cuModuleGetFunction",
		"cuCtxPushCurrent_v2", "cuMemGetInfo_v2", "cuOccupancyMaxActiveClusters"
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(boring) / sizeof(boring[0]); i++)
		check(CUDA_CLASS_RUNTIME, boring[i], CUDA_CALL_ON_REQUEST, 0);
	for (size_t i = 0; i < sizeof(boring_driver) / sizeof(boring_driver[0]); i++)
		check(CUDA_CLASS_DRIVER, boring_driver[i], CUDA_CALL_ON_REQUEST, 0);
	for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
		check(CUDA_CLASS_RUNTIME, launches[i], CUDA_CALL_ALWAYS, RING_CUDA_CALL_KERNEL);
	check(CUDA_CLASS_DRIVER, "cuKernelGetName", CUDA_CALL_NEVER, 0);
	check(CUDA_CLASS_DRIVER, "cuLaunchKernelEx_ptsz", CUDA_CALL_ALWAYS, RING_CUDA_CALL_KERNEL);
	check(CUDA_CLASS_DRIVER, "cuMemcpyDtoHAsync_v2_ptsz", CUDA_CALL_ALWAYS, RING_CUDA_CALL_MEMORY);
	check(CUDA_CLASS_DRIVER, "cuMemAllocAsync", CUDA_CALL_ALWAYS, RING_CUDA_CALL_MEMORY);
	check(CUDA_CLASS_DRIVER, "cuModuleLoadDataEx", CUDA_CALL_ALWAYS, RING_CUDA_CALL_OTHER);
	check(CUDA_CLASS_DRIVER, "cuStreamSynchronize", CUDA_CALL_ALWAYS, RING_CUDA_CALL_SYNC);
	check(CUDA_CLASS_RUNTIME, "cudaMemcpyAsync_v3020", CUDA_CALL_ALWAYS, RING_CUDA_CALL_MEMORY);
	check(CUDA_CLASS_RUNTIME, "cudaMallocFromPoolAsync_v11020", CUDA_CALL_ALWAYS, RING_CUDA_CALL_MEMORY);
	check(CUDA_CLASS_RUNTIME, "cudaFreeHost_v3020", CUDA_CALL_ALWAYS, RING_CUDA_CALL_MEMORY);
	check(CUDA_CLASS_RUNTIME, "cudaMemPoolTrimTo_v11020", CUDA_CALL_ALWAYS, RING_CUDA_CALL_MEMORY);
	check(CUDA_CLASS_RUNTIME, "cudaDeviceSynchronize_v3020", CUDA_CALL_ALWAYS, RING_CUDA_CALL_SYNC);
	check(CUDA_CLASS_RUNTIME, "cudaEventRecordWithFlags_v11010", CUDA_CALL_ALWAYS, RING_CUDA_CALL_OTHER);
	check(CUDA_CLASS_RUNTIME, "cudaProfilerStart_v4000", CUDA_CALL_ALWAYS, RING_CUDA_CALL_KINDS);
	check(CUDA_CLASS_RUNTIME, "cudaGraphInstantiateWithFlags_v11040", CUDA_CALL_ALWAYS, RING_CUDA_CALL_OTHER);
	/* Of the other class. */
	check(CUDA_CLASS_DRIVER, "cudaLaunchKernel_v7000", CUDA_CALL_ON_REQUEST, 0);
}

enum { LAUNCH = 5, GET_DEVICE = 6, MALLOC = 7, DRIVER_LAUNCH = 9, KERNEL_NAME = 10, SYNCHRONIZE = 11, PROFILER = 12 };

static void prepare(uint32_t version, uint32_t flags)
{
	fake_cuda_reset(version);
	fake_cuda.session.cuda_flags = flags;
	fake_cuda.runtime_names[LAUNCH] = "cudaLaunchKernel_v7000";
	fake_cuda.runtime_names[GET_DEVICE] = "cudaGetDevice_v3020";
	fake_cuda.runtime_names[MALLOC] = "cudaMalloc_v3020";
	fake_cuda.runtime_names[SYNCHRONIZE] = "cudaDeviceSynchronize_v3020";
	fake_cuda.runtime_names[PROFILER] = "cudaProfilerStart_v4000";
	fake_cuda.driver_names[DRIVER_LAUNCH] = "cuLaunchKernel";
	fake_cuda.driver_names[KERNEL_NAME] = "cuKernelGetName";
	if (version < 23) {
		cuda_agent.cupti.cuptiActivityEnableRuntimeApi = NULL;
		cuda_agent.cupti.cuptiActivityEnableDriverApi = NULL;
	}
	assert_int_equal(cuda_activities_prepare(), 0);
}

/* All of a kind, less those that are not wanted. */
static void chosen_one_by_one(void **state)
{
	(void)state;
	prepare(130001, 0);
	fake_cuda.runtime_calls[GET_DEVICE] = 1;
	fake_cuda.driver_calls[KERNEL_NAME] = 1;
	cuda_activities_open();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_RUNTIME], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_DRIVER], 1);
	assert_int_equal(fake_cuda.runtime_calls[LAUNCH], 1);
	assert_int_equal(fake_cuda.runtime_calls[GET_DEVICE], 0);
	assert_int_equal(fake_cuda.runtime_calls[MALLOC], 1);
	assert_int_equal(fake_cuda.driver_calls[DRIVER_LAUNCH], 1);
	assert_int_equal(fake_cuda.driver_calls[KERNEL_NAME], 0);
	cuda_activities_close();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_RUNTIME], 0);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_DRIVER], 0);
}

static void all_of_them(void **state)
{
	(void)state;
	prepare(130001, RING_CUDA_ALL_APIS);
	fake_cuda.driver_calls[KERNEL_NAME] = 1;
	cuda_activities_open();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_RUNTIME], 1);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_DRIVER], 1);
	assert_int_equal(fake_cuda.driver_calls[KERNEL_NAME], 0);
	cuda_activities_close();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_RUNTIME], 0);
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_DRIVER], 0);
}

static void deliver(int kind, uint32_t id, uint32_t correlation)
{
	struct cupti_api api = { .kind = (uint32_t)kind,
				 .id = id,
				 .start = 100,
				 .end = 250,
				 .process = 1,
				 .thread = 4711,
				 .correlation = correlation,
				 .result = 2 };
	struct fake_buffer buffer;

	fake_buffer_take(&buffer);
	fake_buffer_add(&buffer, &api, sizeof(api));
	fake_buffer_complete(&buffer);
}

/* CUPTI before 12.5 records all of them: the others are left out as they come. */
static void old_versions(void **state)
{
	const struct record_cuda_api *api;

	(void)state;
	prepare(CUPTI_11_8, 0);
	cuda_activities_open();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_RUNTIME], 1);
	deliver(CUPTI_KIND_RUNTIME, GET_DEVICE, 1);
	deliver(CUPTI_KIND_DRIVER, KERNEL_NAME, 2);
	deliver(CUPTI_KIND_RUNTIME, LAUNCH, 3);
	deliver(CUPTI_KIND_RUNTIME, 60, 4); /* without a name */
	deliver(CUPTI_KIND_RUNTIME, 100000, 5);
	api = fake_cuda_only(RECORD_CUDA_API);
	assert_int_equal(api->correlation, 3);
	assert_int_equal(fake_cuda_count(RECORD_CUDA_BATCH), 5);
	cuda_activities_close();
	assert_int_equal(fake_cuda.kinds[CUPTI_KIND_RUNTIME], 0);
}

static void names_are_reported_once(void **state)
{
	const struct record_define *define;
	const struct record_cuda_api *api;

	(void)state;
	prepare(130001, 0);
	deliver(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 7);
	api = fake_cuda_only(RECORD_CUDA_API);
	assert_int_equal(record_size(api->head), sizeof(*api));
	assert_int_equal(record_domain(api->head), DRIVER_LAUNCH);
	assert_int_equal(record_flags(api->head), CUDA_API_DRIVER);
	assert_int_equal(api->time, 100);
	assert_int_equal(api->end, 250);
	assert_int_equal(api->tid, 4711);
	assert_int_equal(api->correlation, 7);
	assert_int_equal(api->result, 2);
	deliver(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 8);
	deliver(CUPTI_KIND_RUNTIME, LAUNCH, 9);
	define = fake_cuda_definition(DEFINE_CUDA_CALL, 0);
	assert_int_equal(define->id, 1ull << 32 | DRIVER_LAUNCH);
	assert_string_equal(fake_cuda_text(define, sizeof(*define)), "cuLaunchKernel");
	define = fake_cuda_definition(DEFINE_CUDA_CALL, 1);
	assert_int_equal(define->id, LAUNCH);
	assert_string_equal(fake_cuda_text(define, sizeof(*define)), "cudaLaunchKernel_v7000");
	assert_null(fake_cuda_definition(DEFINE_CUDA_CALL, 2));
}

static void call(int domain, uint32_t id, uint64_t duration, uint32_t correlation)
{
	uint64_t kept = 0;
	struct cupti_call_data data = { .site = CUPTI_SITE_ENTER, .kept = &kept, .correlation = correlation };

	cuda_callback(domain, id, &data);
	fake_cuda.now += duration;
	data.site = CUPTI_SITE_EXIT;
	cuda_callback(domain, id, &data);
}

static void stacks_of_long_calls(void **state)
{
	const struct record_define *define;

	(void)state;
	prepare(130001, RING_CUDA_BACKTRACES);
	fake_cuda.session.cuda_stack_threshold[RING_CUDA_CALL_KERNEL] = 1000;
	fake_cuda.session.cuda_stack_threshold[RING_CUDA_CALL_MEMORY] = UINT64_MAX;
	fake_cuda.session.cuda_stack_threshold[RING_CUDA_CALL_SYNC] = 0;
	fake_cuda.session.cuda_stack_threshold[RING_CUDA_CALL_OTHER] = UINT64_MAX;
	cuda_activities_open();
	assert_int_equal(fake_cuda.runtime_callbacks[LAUNCH], 1);
	assert_int_equal(fake_cuda.runtime_callbacks[SYNCHRONIZE], 1);
	assert_int_equal(fake_cuda.runtime_callbacks[MALLOC], 0);
	assert_int_equal(fake_cuda.runtime_callbacks[GET_DEVICE], 0);
	assert_int_equal(fake_cuda.driver_callbacks[DRIVER_LAUNCH], 1);
	call(CUPTI_DOMAIN_RUNTIME, LAUNCH, 500, 20);
	assert_int_equal(fake_cuda.stacks, 0);
	call(CUPTI_DOMAIN_RUNTIME, LAUNCH, 1500, 21);
	assert_int_equal(fake_cuda.stacks, 1);
	call(CUPTI_DOMAIN_RUNTIME, SYNCHRONIZE, 1, 22);
	assert_int_equal(fake_cuda.stacks, 2);
	define = fake_cuda_definition(DEFINE_CUDA_STACK, 0);
	assert_int_equal(define->id, 21);
	define = fake_cuda_definition(DEFINE_CUDA_STACK, 1);
	assert_int_equal(define->id, 22);
	assert_int_equal(define->extra, fake_cuda.stack_time);
	fake_cuda.closed = 1; /* a warm-up */
	call(CUPTI_DOMAIN_RUNTIME, LAUNCH, 1500, 23);
	assert_int_equal(fake_cuda.stacks, 2);
	fake_cuda.closed = 0;
	/* The records say for which calls to look. */
	deliver(CUPTI_KIND_RUNTIME, LAUNCH, 21);
	assert_int_equal(record_flags(((const struct record_cuda_api *)fake_cuda_only(RECORD_CUDA_API))->head), CUDA_API_STACK);
	cuda_activities_close();
	assert_int_equal(fake_cuda.runtime_callbacks[LAUNCH], 0);
}

/* Callbacks of cudaProfilerStart are not ours to switch: those who open windows with it have. */
static void callbacks_of_others(void **state)
{
	(void)state;
	prepare(130001, RING_CUDA_BACKTRACES); /* of all calls */
	fake_cuda.runtime_callbacks[PROFILER] = 1;
	cuda_activities_open();
	assert_int_equal(fake_cuda.runtime_callbacks[MALLOC], 1);
	assert_int_equal(fake_cuda.runtime_calls[PROFILER], 1);
	cuda_activities_close();
	assert_int_equal(fake_cuda.runtime_callbacks[MALLOC], 0);
	assert_int_equal(fake_cuda.runtime_callbacks[PROFILER], 1);
}

/* The call began before its callbacks were on. */
static void stack_without_a_beginning(void **state)
{
	uint64_t kept = 0;
	struct cupti_call_data data = { .site = CUPTI_SITE_EXIT, .kept = &kept, .correlation = 1 };

	(void)state;
	prepare(130001, RING_CUDA_BACKTRACES);
	cuda_callback(CUPTI_DOMAIN_RUNTIME, LAUNCH, &data);
	data.kept = NULL;
	cuda_callback(CUPTI_DOMAIN_RUNTIME, LAUNCH, &data);
	assert_int_equal(fake_cuda.stacks, 0);
	assert_null(fake_cuda_definition(DEFINE_CUDA_STACK, 0));
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_without_versions), cmocka_unit_test(choices),
		cmocka_unit_test(chosen_one_by_one),	  cmocka_unit_test(all_of_them),
		cmocka_unit_test(old_versions),		  cmocka_unit_test(names_are_reported_once),
		cmocka_unit_test(stacks_of_long_calls),	  cmocka_unit_test(stack_without_a_beginning),
		cmocka_unit_test(callbacks_of_others),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
