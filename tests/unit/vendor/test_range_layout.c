/* What src/vendor declares of the range profiler, of launches and of checkpoints is what their own headers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "vendor/cuda/launch.h"
#include "vendor/cupti/range.h"

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_profiler_host.h>) && __has_include(<cuda.h>)
/* The parameters of calls name types of all their versions. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <generated_cuda_meta.h>
#define HAS_RANGE 1
#else
#define HAS_RANGE 0
#endif

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define SAME(ours, our_field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
		       #theirs "." #their_field)
/* CUPTI goes by the size up to the last field. */
#define SAME_SIZE(ours, last, theirs) \
	_Static_assert(offsetof(struct ours, last) + sizeof(((struct ours *)0)->last) == theirs##_STRUCT_SIZE, #theirs)

#if HAS_RANGE
SAME_NUMBER(RANGE_PROFILER_TYPE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME_NUMBER(RANGE_PROFILER_API, CUPTI_PROFILER_RANGE_PROFILING);
SAME_NUMBER(RANGE_AUTO, CUPTI_AutoRange);
SAME_NUMBER(RANGE_USER, CUPTI_UserRange);
SAME_NUMBER(RANGE_REPLAYED_BY_USER, CUPTI_UserReplay);
SAME_SIZE(range_availability, image, CUpti_Profiler_GetCounterAvailability_Params);
SAME(range_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME(range_availability, image_size, CUpti_Profiler_GetCounterAvailability_Params, counterAvailabilityImageSize);
SAME_SIZE(range_enable, profiler, CUpti_RangeProfiler_Enable_Params);
SAME(range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME_SIZE(range_command, profiler, CUpti_RangeProfiler_Disable_Params);
SAME_SIZE(range_command, profiler, CUpti_RangeProfiler_Start_Params);
SAME_SIZE(range_command, profiler, CUpti_RangeProfiler_PopRange_Params);
SAME_SIZE(range_set_config, target_level, CUpti_RangeProfiler_SetConfig_Params);
SAME(range_set_config, profiler, CUpti_RangeProfiler_SetConfig_Params, pRangeProfilerObject);
SAME(range_set_config, image_size, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME(range_set_config, image, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME(range_set_config, counters_size, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME(range_set_config, counters, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME(range_set_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME(range_set_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME(range_set_config, max_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME(range_set_config, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME(range_set_config, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME(range_set_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME_SIZE(range_stop, all_submitted, CUpti_RangeProfiler_Stop_Params);
SAME(range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME(range_stop, target_level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
SAME_SIZE(range_push, name, CUpti_RangeProfiler_PushRange_Params);
SAME_SIZE(range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
SAME_SIZE(range_counters_size, counters_size, CUpti_RangeProfiler_GetCounterDataSize_Params);
SAME(range_counters_size, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME(range_counters_size, max_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
SAME(range_counters_size, max_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
SAME_SIZE(range_counters_initialize, counters, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
SAME_SIZE(range_counters_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);

SAME(cuda_launch_kernel, grid[1], cuLaunchKernel_params, gridDimY);
SAME(cuda_launch_kernel, block[2], cuLaunchKernel_params, blockDimZ);
SAME(cuda_launch_kernel, shared, cuLaunchKernel_params, sharedMemBytes);
SAME(cuda_launch_kernel, stream, cuLaunchKernel_params, hStream);
SAME(cuda_launch_kernel, parameters, cuLaunchKernel_params, kernelParams);
SAME(cuda_launch_kernel, extra, cuLaunchKernel_params, extra);
SAME(cuda_launch_kernel, parameters, cuLaunchCooperativeKernel_params, kernelParams);
SAME(cuda_launch_kernel_ex, function, cuLaunchKernelEx_params, f);
SAME(cuda_launch_kernel_ex, extra, cuLaunchKernelEx_params, extra);
SAME(cuda_launch_graph, stream, cuGraphLaunch_params, hStream);
SAME(cuda_launch_config, stream, CUlaunchConfig, hStream);
SAME(cuda_launch_config, attributes, CUlaunchConfig, attrs);
SAME(cuda_launch_config, attribute_count, CUlaunchConfig, numAttrs);
SAME(cuda_launch_attribute, value, CUlaunchAttribute, value);
_Static_assert(sizeof(struct cuda_launch_attribute) == sizeof(CUlaunchAttribute), "attributes lie side by side");
SAME_NUMBER(CUDA_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_NUMBER(CUDA_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_NUMBER(CUDA_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
SAME_NUMBER(CUDA_NODE_COPY, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME_NUMBER(CUDA_NODE_SET, CU_GRAPH_NODE_TYPE_MEMSET);
SAME_NUMBER(CUDA_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST);
SAME_NUMBER(CUDA_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
SAME_NUMBER(CUDA_NODE_EMPTY, CU_GRAPH_NODE_TYPE_EMPTY);
SAME_NUMBER(CUDA_NODE_WAIT, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
SAME_NUMBER(CUDA_NODE_EVENT, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
SAME_NUMBER(CUDA_NODE_SIGNAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
SAME_NUMBER(CUDA_NODE_SEMAPHORE, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
SAME_NUMBER(CUDA_NODE_ALLOC, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
SAME_NUMBER(CUDA_NODE_FREE, CU_GRAPH_NODE_TYPE_MEM_FREE);
SAME_NUMBER(CUDA_NODE_BATCH, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
SAME_NUMBER(CUDA_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
_Static_assert(sizeof(struct cuda_node_kernel) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2), "written by the driver");
SAME(cuda_node_kernel, grid[0], CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME(cuda_node_kernel, block[2], CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
SAME(cuda_node_kernel, shared, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME(cuda_node_kernel, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME(cuda_node_kernel, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME(cuda_node_kernel, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME(cuda_node_kernel, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
_Static_assert(sizeof(struct cuda_node_set) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1), "written by the driver");
SAME(cuda_node_set, pitch, CUDA_MEMSET_NODE_PARAMS_v1, pitch);
SAME(cuda_node_set, element, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
SAME(cuda_node_set, height, CUDA_MEMSET_NODE_PARAMS_v1, height);
_Static_assert(sizeof(struct cuda_copy) == sizeof(CUDA_MEMCPY3D_v2), "written by the driver");
SAME(cuda_copy, from.type, CUDA_MEMCPY3D_v2, srcMemoryType);
SAME(cuda_copy, from.device, CUDA_MEMCPY3D_v2, srcDevice);
SAME(cuda_copy, from.height, CUDA_MEMCPY3D_v2, srcHeight);
SAME(cuda_copy, to.type, CUDA_MEMCPY3D_v2, dstMemoryType);
SAME(cuda_copy, to.host, CUDA_MEMCPY3D_v2, dstHost);
SAME(cuda_copy, to.array, CUDA_MEMCPY3D_v2, dstArray);
SAME(cuda_copy, to.height, CUDA_MEMCPY3D_v2, dstHeight);
SAME(cuda_copy, width, CUDA_MEMCPY3D_v2, WidthInBytes);
SAME_NUMBER(CUDA_MEMORY_HOST, CU_MEMORYTYPE_HOST);
SAME_NUMBER(CUDA_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);
SAME_NUMBER(CUDA_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
_Static_assert(offsetof(cuGraphInstantiateWithFlags_params, hGraph) == sizeof(void *), "the graph comes second");
_Static_assert(offsetof(cuGraphInstantiateWithParams_params, hGraph) == sizeof(void *), "the graph comes second");
_Static_assert(offsetof(cuGraphInstantiate_v2_params, hGraph) == sizeof(void *), "the graph comes second");
_Static_assert(offsetof(cuGraphExecUpdate_v2_params, hGraph) == sizeof(void *), "the graph comes second");
_Static_assert(offsetof(cuGraphNodeSetEnabled_params, hGraphExec) == 0, "the executable graph comes first");
_Static_assert(offsetof(cuGraphExecKernelNodeSetParams_v2_params, hGraphExec) == 0, "the executable graph comes first");
SAME(cuda_call_set, value, cuMemsetD32_v2_params, ui);
SAME(cuda_call_set, count, cuMemsetD8_v2_params, N);
SAME(cuda_call_set, count, cuMemsetD16Async_params, N);
SAME(cuda_call_copy, from, cuMemcpy_params, src);
SAME(cuda_call_copy, size, cuMemcpyAsync_params, ByteCount);
SAME(cuda_call_copy, from, cuMemcpyDtoHAsync_v2_params, srcDevice);
SAME(cuda_call_copy, size, cuMemcpyHtoD_v2_params, ByteCount);
SAME(cuda_call_copy, size, cuMemcpyDtoDAsync_v2_params, ByteCount);
SAME_NUMBER(CUDA_DEVICE_L2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_NUMBER(CUDA_DEVICE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_NUMBER(CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
#endif

static void test_same(void **state)
{
	(void)state;
	if (!HAS_RANGE) {
		printf("no CUDA toolkit here: nothing was compared\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
