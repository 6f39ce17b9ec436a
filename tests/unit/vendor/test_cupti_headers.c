/* What src/vendor declares of CUPTI is what CUPTI's own headers say, older generations of records included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "vendor/cupti/cupti.h"
#include "vendor/cupti/activity.h"
#include "vendor/cupti/callbacks.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

#if defined(CUPTI_API_VERSION) && CUPTI_API_VERSION >= 130000

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME_NUMBER(CUPTI_OK, CUPTI_SUCCESS);
SAME_NUMBER(CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
SAME_NUMBER(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_NUMBER(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
SAME_NUMBER(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME_NUMBER(CUPTI_VIRTUAL_NOT_SUPPORTED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(CUPTI_LEGACY, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);

#define SAME_KIND(name) SAME_NUMBER(CUPTI_KIND_##name, CUPTI_ACTIVITY_KIND_##name)
SAME_KIND(MEMCPY);
SAME_KIND(MEMSET);
SAME_KIND(DRIVER);
SAME_KIND(RUNTIME);
SAME_KIND(DEVICE);
SAME_KIND(CONTEXT);
SAME_KIND(CONCURRENT_KERNEL);
SAME_KIND(OVERHEAD);
SAME_KIND(MEMCPY2);
SAME_KIND(UNIFIED_MEMORY_COUNTER);
SAME_KIND(CUDA_EVENT);
SAME_KIND(STREAM);
SAME_KIND(SYNCHRONIZATION);
SAME_KIND(INTERNAL_LAUNCH_API);
SAME_KIND(MEMORY2);
SAME_KIND(MEMORY_POOL);
SAME_KIND(GRAPH_TRACE);
SAME_KIND(JIT);
_Static_assert(CUPTI_ACTIVITY_KIND_COUNT <= (int)CUPTI_KINDS, "room for all kinds");

SAME_NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME_NUMBER(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME_NUMBER(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME_NUMBER(CUPTI_NO_VALUE, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
SAME_NUMBER(CUPTI_NO_VALUE, CUPTI_INVALID_STREAM_ID);

#define SAME_COUNTER(ours, theirs) SAME_NUMBER(CUPTI_UNIFIED_##ours, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##theirs)
SAME_COUNTER(HTOD, BYTES_TRANSFER_HTOD);
SAME_COUNTER(DTOH, BYTES_TRANSFER_DTOH);
SAME_COUNTER(CPU_FAULT, CPU_PAGE_FAULT_COUNT);
SAME_COUNTER(GPU_FAULT, GPU_PAGE_FAULT);
SAME_COUNTER(THRASHING, THRASHING);
SAME_COUNTER(THROTTLING, THROTTLING);
SAME_COUNTER(REMOTE_MAP, REMOTE_MAP);
SAME_COUNTER(DTOD, BYTES_TRANSFER_DTOD);
SAME_NUMBER(CUPTI_UNIFIED_ONE_DEVICE, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE);
SAME_NUMBER(CUPTI_UNIFIED_ALL_DEVICES, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);

SAME_NUMBER(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_NUMBER(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
SAME_NUMBER(CUPTI_SITE_EXIT, CUPTI_API_EXIT);

#define SAME_RESOURCE(ours, theirs) SAME_NUMBER(CUPTI_##ours, CUPTI_CBID_RESOURCE_##theirs)
SAME_RESOURCE(CONTEXT_CREATED, CONTEXT_CREATED);
SAME_RESOURCE(CONTEXT_DESTROY, CONTEXT_DESTROY_STARTING);
SAME_RESOURCE(STREAM_CREATED, STREAM_CREATED);
SAME_RESOURCE(DRIVER_READY, CU_INIT_FINISHED);
SAME_RESOURCE(MODULE_LOADED, MODULE_LOADED);
SAME_RESOURCE(MODULE_UNLOAD, MODULE_UNLOAD_STARTING);
SAME_RESOURCE(GRAPH_CREATED, GRAPH_CREATED);
SAME_RESOURCE(GRAPH_DESTROY, GRAPH_DESTROY_STARTING);
SAME_RESOURCE(GRAPH_CLONED, GRAPH_CLONED);
SAME_RESOURCE(GRAPH_NODE_CREATED, GRAPHNODE_CREATED);
SAME_RESOURCE(GRAPH_EXEC_CREATED, GRAPHEXEC_CREATED);
SAME_RESOURCE(GRAPH_EXEC_DESTROY, GRAPHEXEC_DESTROY_STARTING);
SAME_RESOURCE(GRAPH_NODE_CLONED, GRAPHNODE_CLONED);

#define SIZE_OF(type, member) sizeof(((type *)0)->member)
/* The same place and size of a field. */
#define SAME(ours, field, theirs, member) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, member), #theirs "." #member); \
	_Static_assert(SIZE_OF(struct ours, field) == SIZE_OF(theirs, member), #theirs "." #member)
/* Ours is as long as theirs. */
#define WHOLE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
/* Ours has no more than theirs. */
#define PREFIX(ours, theirs) _Static_assert(sizeof(struct ours) <= sizeof(theirs), #theirs)
/* An older generation has ours up to this field. */
#define ENDS(ours, field, theirs) _Static_assert(offsetof(struct ours, field) <= sizeof(theirs), #theirs " before " #field)

#define KERNEL_SINCE_11_8(T) \
	SAME(cupti_kernel, kind, T, kind); \
	SAME(cupti_kernel, cache_config, T, cacheConfig); \
	SAME(cupti_kernel, shared_config, T, sharedMemoryConfig); \
	SAME(cupti_kernel, registers, T, registersPerThread); \
	SAME(cupti_kernel, start, T, start); \
	SAME(cupti_kernel, end, T, end); \
	SAME(cupti_kernel, device, T, deviceId); \
	SAME(cupti_kernel, context, T, contextId); \
	SAME(cupti_kernel, stream, T, streamId); \
	SAME(cupti_kernel, grid[0], T, gridX); \
	SAME(cupti_kernel, grid[1], T, gridY); \
	SAME(cupti_kernel, grid[2], T, gridZ); \
	SAME(cupti_kernel, block[0], T, blockX); \
	SAME(cupti_kernel, block[1], T, blockY); \
	SAME(cupti_kernel, block[2], T, blockZ); \
	SAME(cupti_kernel, static_shared, T, staticSharedMemory); \
	SAME(cupti_kernel, dynamic_shared, T, dynamicSharedMemory); \
	SAME(cupti_kernel, local_per_thread, T, localMemoryPerThread); \
	SAME(cupti_kernel, correlation, T, correlationId); \
	SAME(cupti_kernel, grid_id, T, gridId); \
	SAME(cupti_kernel, name, T, name); \
	SAME(cupti_kernel, queued, T, queued); \
	SAME(cupti_kernel, submitted, T, submitted); \
	SAME(cupti_kernel, launch_type, T, launchType); \
	SAME(cupti_kernel, carveout_requested, T, isSharedMemoryCarveoutRequested); \
	SAME(cupti_kernel, carveout, T, sharedMemoryCarveoutRequested); \
	SAME(cupti_kernel, shared_executed, T, sharedMemoryExecuted); \
	SAME(cupti_kernel, graph_node, T, graphNodeId); \
	SAME(cupti_kernel, shared_limit, T, shmemLimitConfig); \
	SAME(cupti_kernel, graph, T, graphId); \
	SAME(cupti_kernel, channel, T, channelID); \
	SAME(cupti_kernel, channel_type, T, channelType); \
	SAME(cupti_kernel, cluster[0], T, clusterX); \
	SAME(cupti_kernel, cluster[1], T, clusterY); \
	SAME(cupti_kernel, cluster[2], T, clusterZ); \
	SAME(cupti_kernel, cluster_policy, T, clusterSchedulingPolicy); \
	SAME(cupti_kernel, local_total, T, localMemoryTotal_v2)
#define KERNEL_SINCE_12_0(T) \
	SAME(cupti_kernel, cluster_potential, T, maxPotentialClusterSize); \
	SAME(cupti_kernel, cluster_active, T, maxActiveClusters)
KERNEL_SINCE_11_8(CUpti_ActivityKernel8);
KERNEL_SINCE_11_8(CUpti_ActivityKernel9);
KERNEL_SINCE_11_8(CUpti_ActivityKernel10);
KERNEL_SINCE_12_0(CUpti_ActivityKernel9);
KERNEL_SINCE_12_0(CUpti_ActivityKernel10);
ENDS(cupti_kernel, cluster_potential, CUpti_ActivityKernel8);
ENDS(cupti_kernel, from_device, CUpti_ActivityKernel9);
SAME(cupti_kernel, from_device, CUpti_ActivityKernel10, isDeviceLaunched);
WHOLE(cupti_kernel, CUpti_ActivityKernel10);

#define COPY(ours, T) \
	SAME(ours, kind, T, kind); \
	SAME(ours, copy_kind, T, copyKind); \
	SAME(ours, source_kind, T, srcKind); \
	SAME(ours, target_kind, T, dstKind); \
	SAME(ours, flags, T, flags); \
	SAME(ours, bytes, T, bytes); \
	SAME(ours, start, T, start); \
	SAME(ours, end, T, end); \
	SAME(ours, device, T, deviceId); \
	SAME(ours, context, T, contextId); \
	SAME(ours, stream, T, streamId); \
	SAME(ours, correlation, T, correlationId); \
	SAME(ours, graph_node, T, graphNodeId); \
	SAME(ours, graph, T, graphId); \
	SAME(ours, channel, T, channelID); \
	SAME(ours, channel_type, T, channelType)
COPY(cupti_memcpy, CUpti_ActivityMemcpy5);
COPY(cupti_memcpy, CUpti_ActivityMemcpy6);
COPY(cupti_memcpy2, CUpti_ActivityMemcpyPtoP4);
ENDS(cupti_memcpy, from_device, CUpti_ActivityMemcpy5);
SAME(cupti_memcpy, from_device, CUpti_ActivityMemcpy6, isDeviceLaunched);
SAME(cupti_memcpy, count, CUpti_ActivityMemcpy6, copyCount);
WHOLE(cupti_memcpy, CUpti_ActivityMemcpy6);
SAME(cupti_memcpy2, source_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(cupti_memcpy2, source_context, CUpti_ActivityMemcpyPtoP4, srcContextId);
SAME(cupti_memcpy2, target_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(cupti_memcpy2, target_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
WHOLE(cupti_memcpy2, CUpti_ActivityMemcpyPtoP4);

SAME(cupti_memset, kind, CUpti_ActivityMemset4, kind);
SAME(cupti_memset, value, CUpti_ActivityMemset4, value);
SAME(cupti_memset, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_memset, start, CUpti_ActivityMemset4, start);
SAME(cupti_memset, end, CUpti_ActivityMemset4, end);
SAME(cupti_memset, device, CUpti_ActivityMemset4, deviceId);
SAME(cupti_memset, context, CUpti_ActivityMemset4, contextId);
SAME(cupti_memset, stream, CUpti_ActivityMemset4, streamId);
SAME(cupti_memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME(cupti_memset, flags, CUpti_ActivityMemset4, flags);
SAME(cupti_memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME(cupti_memset, graph_node, CUpti_ActivityMemset4, graphNodeId);
SAME(cupti_memset, graph, CUpti_ActivityMemset4, graphId);
SAME(cupti_memset, channel, CUpti_ActivityMemset4, channelID);
SAME(cupti_memset, channel_type, CUpti_ActivityMemset4, channelType);
WHOLE(cupti_memset, CUpti_ActivityMemset4);

SAME(cupti_api, kind, CUpti_ActivityAPI, kind);
SAME(cupti_api, id, CUpti_ActivityAPI, cbid);
SAME(cupti_api, start, CUpti_ActivityAPI, start);
SAME(cupti_api, end, CUpti_ActivityAPI, end);
SAME(cupti_api, process, CUpti_ActivityAPI, processId);
SAME(cupti_api, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_api, result, CUpti_ActivityAPI, returnValue);
WHOLE(cupti_api, CUpti_ActivityAPI);

#define SYNC_SINCE_11_8(T) \
	SAME(cupti_synchronization, kind, T, kind); \
	SAME(cupti_synchronization, type, T, type); \
	SAME(cupti_synchronization, start, T, start); \
	SAME(cupti_synchronization, end, T, end); \
	SAME(cupti_synchronization, correlation, T, correlationId); \
	SAME(cupti_synchronization, context, T, contextId); \
	SAME(cupti_synchronization, stream, T, streamId); \
	SAME(cupti_synchronization, event, T, cudaEventId)
SYNC_SINCE_11_8(CUpti_ActivitySynchronization);
SYNC_SINCE_11_8(CUpti_ActivitySynchronization2);
ENDS(cupti_synchronization, event_sync, CUpti_ActivitySynchronization);
SAME(cupti_synchronization, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME(cupti_synchronization, result, CUpti_ActivitySynchronization2, returnValue);
WHOLE(cupti_synchronization, CUpti_ActivitySynchronization2);

#define EVENT_SINCE_11_8(T) \
	SAME(cupti_cuda_event, kind, T, kind); \
	SAME(cupti_cuda_event, correlation, T, correlationId); \
	SAME(cupti_cuda_event, context, T, contextId); \
	SAME(cupti_cuda_event, stream, T, streamId); \
	SAME(cupti_cuda_event, event, T, eventId)
EVENT_SINCE_11_8(CUpti_ActivityCudaEvent);
EVENT_SINCE_11_8(CUpti_ActivityCudaEvent2);
ENDS(cupti_cuda_event, device, CUpti_ActivityCudaEvent);
SAME(cupti_cuda_event, device, CUpti_ActivityCudaEvent2, deviceId);
SAME(cupti_cuda_event, device_time, CUpti_ActivityCudaEvent2, deviceTimestamp);
SAME(cupti_cuda_event, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);
WHOLE(cupti_cuda_event, CUpti_ActivityCudaEvent2);

#define OVERHEAD_SINCE_11_8(T) \
	SAME(cupti_overhead, kind, T, kind); \
	SAME(cupti_overhead, overhead_kind, T, overheadKind); \
	SAME(cupti_overhead, object_kind, T, objectKind); \
	SAME(cupti_overhead, object, T, objectId); \
	SAME(cupti_overhead, object[1], T, objectId.pt.threadId); \
	SAME(cupti_overhead, start, T, start); \
	SAME(cupti_overhead, end, T, end)
OVERHEAD_SINCE_11_8(CUpti_ActivityOverhead);
OVERHEAD_SINCE_11_8(CUpti_ActivityOverhead2);
OVERHEAD_SINCE_11_8(CUpti_ActivityOverhead3);
ENDS(cupti_overhead, correlation, CUpti_ActivityOverhead);
SAME(cupti_overhead, correlation, CUpti_ActivityOverhead2, correlationId);
SAME(cupti_overhead, correlation, CUpti_ActivityOverhead3, correlationId);
WHOLE(cupti_overhead, CUpti_ActivityOverhead2);
PREFIX(cupti_overhead, CUpti_ActivityOverhead3);

#define MEMORY(T) \
	SAME(cupti_memory, kind, T, kind); \
	SAME(cupti_memory, operation, T, memoryOperationType); \
	SAME(cupti_memory, memory_kind, T, memoryKind); \
	SAME(cupti_memory, correlation, T, correlationId); \
	SAME(cupti_memory, address, T, address); \
	SAME(cupti_memory, bytes, T, bytes); \
	SAME(cupti_memory, time, T, timestamp); \
	SAME(cupti_memory, pc, T, PC); \
	SAME(cupti_memory, device, T, deviceId); \
	SAME(cupti_memory, context, T, contextId); \
	SAME(cupti_memory, stream, T, streamId); \
	SAME(cupti_memory, name, T, name); \
	SAME(cupti_memory, async, T, isAsync); \
	SAME(cupti_memory, pool_type, T, memoryPoolConfig.memoryPoolType); \
	SAME(cupti_memory, pool, T, memoryPoolConfig.address); \
	SAME(cupti_memory, pool_threshold, T, memoryPoolConfig.releaseThreshold); \
	SAME(cupti_memory, pool_size, T, memoryPoolConfig.pool.size); \
	SAME(cupti_memory, pool_used, T, memoryPoolConfig.utilizedSize); \
	PREFIX(cupti_memory, T)
MEMORY(CUpti_ActivityMemory3);
MEMORY(CUpti_ActivityMemory4);

#define POOL(T) \
	SAME(cupti_memory_pool, kind, T, kind); \
	SAME(cupti_memory_pool, operation, T, memoryPoolOperationType); \
	SAME(cupti_memory_pool, type, T, memoryPoolType); \
	SAME(cupti_memory_pool, correlation, T, correlationId); \
	SAME(cupti_memory_pool, device, T, deviceId); \
	SAME(cupti_memory_pool, keep, T, minBytesToKeep); \
	SAME(cupti_memory_pool, address, T, address); \
	SAME(cupti_memory_pool, size, T, size); \
	SAME(cupti_memory_pool, threshold, T, releaseThreshold); \
	SAME(cupti_memory_pool, time, T, timestamp); \
	SAME(cupti_memory_pool, used, T, utilizedSize); \
	PREFIX(cupti_memory_pool, T)
POOL(CUpti_ActivityMemoryPool2);
POOL(CUpti_ActivityMemoryPool3);

#define UNIFIED(T) \
	SAME(cupti_unified, kind, T, kind); \
	SAME(cupti_unified, counter_kind, T, counterKind); \
	SAME(cupti_unified, value, T, value); \
	SAME(cupti_unified, start, T, start); \
	SAME(cupti_unified, end, T, end); \
	SAME(cupti_unified, address, T, address); \
	SAME(cupti_unified, source, T, srcId); \
	SAME(cupti_unified, target, T, dstId); \
	SAME(cupti_unified, stream, T, streamId); \
	SAME(cupti_unified, flags, T, flags); \
	PREFIX(cupti_unified, T)
UNIFIED(CUpti_ActivityUnifiedMemoryCounter2);
UNIFIED(CUpti_ActivityUnifiedMemoryCounter3);
SAME(cupti_unified_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME(cupti_unified_config, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(cupti_unified_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME(cupti_unified_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
WHOLE(cupti_unified_config, CUpti_ActivityUnifiedMemoryCounterConfig);

#define GRAPH(T) \
	SAME(cupti_graph_trace, kind, T, kind); \
	SAME(cupti_graph_trace, correlation, T, correlationId); \
	SAME(cupti_graph_trace, start, T, start); \
	SAME(cupti_graph_trace, end, T, end); \
	SAME(cupti_graph_trace, device, T, deviceId); \
	SAME(cupti_graph_trace, graph, T, graphId); \
	SAME(cupti_graph_trace, context, T, contextId); \
	SAME(cupti_graph_trace, stream, T, streamId); \
	PREFIX(cupti_graph_trace, T)
GRAPH(CUpti_ActivityGraphTrace);
GRAPH(CUpti_ActivityGraphTrace2);

#define JIT_SINCE_11_8(T) \
	SAME(cupti_jit, kind, T, kind); \
	SAME(cupti_jit, entry, T, jitEntryType); \
	SAME(cupti_jit, operation, T, jitOperationType); \
	SAME(cupti_jit, device, T, deviceId); \
	SAME(cupti_jit, start, T, start); \
	SAME(cupti_jit, end, T, end); \
	SAME(cupti_jit, correlation, T, correlationId); \
	SAME(cupti_jit, link, T, jitOperationCorrelationId); \
	SAME(cupti_jit, size, T, cacheSize); \
	SAME(cupti_jit, path, T, cachePath)
JIT_SINCE_11_8(CUpti_ActivityJit);
JIT_SINCE_11_8(CUpti_ActivityJit2);
ENDS(cupti_jit, process, CUpti_ActivityJit);
SAME(cupti_jit, thread, CUpti_ActivityJit2, threadId);
WHOLE(cupti_jit, CUpti_ActivityJit2);

#define DEVICE(T) \
	SAME(cupti_device, kind, T, kind); \
	SAME(cupti_device, flags, T, flags); \
	SAME(cupti_device, bandwidth, T, globalMemoryBandwidth); \
	SAME(cupti_device, memory, T, globalMemorySize); \
	SAME(cupti_device, constant_memory, T, constantMemorySize); \
	SAME(cupti_device, l2, T, l2CacheSize); \
	SAME(cupti_device, threads_per_warp, T, numThreadsPerWarp); \
	SAME(cupti_device, clock, T, coreClockRate); \
	SAME(cupti_device, copy_engines, T, numMemcpyEngines); \
	SAME(cupti_device, sm_count, T, numMultiprocessors); \
	SAME(cupti_device, max_ipc, T, maxIPC); \
	SAME(cupti_device, warps_per_sm, T, maxWarpsPerMultiprocessor); \
	SAME(cupti_device, blocks_per_sm, T, maxBlocksPerMultiprocessor); \
	SAME(cupti_device, shared_per_sm, T, maxSharedMemoryPerMultiprocessor); \
	SAME(cupti_device, registers_per_sm, T, maxRegistersPerMultiprocessor); \
	SAME(cupti_device, registers_per_block, T, maxRegistersPerBlock); \
	SAME(cupti_device, shared_per_block, T, maxSharedMemoryPerBlock); \
	SAME(cupti_device, threads_per_block, T, maxThreadsPerBlock); \
	SAME(cupti_device, block[0], T, maxBlockDimX); \
	SAME(cupti_device, block[1], T, maxBlockDimY); \
	SAME(cupti_device, block[2], T, maxBlockDimZ); \
	SAME(cupti_device, grid[0], T, maxGridDimX); \
	SAME(cupti_device, grid[1], T, maxGridDimY); \
	SAME(cupti_device, grid[2], T, maxGridDimZ); \
	SAME(cupti_device, major, T, computeCapabilityMajor); \
	SAME(cupti_device, minor, T, computeCapabilityMinor); \
	SAME(cupti_device, id, T, id); \
	SAME(cupti_device, ecc, T, eccEnabled); \
	SAME(cupti_device, uuid, T, uuid); \
	SAME(cupti_device, name, T, name); \
	SAME(cupti_device, visible, T, isCudaVisible); \
	SAME(cupti_device, mig, T, isMigEnabled); \
	SAME(cupti_device, gpu_instance, T, gpuInstanceId); \
	SAME(cupti_device, compute_instance, T, computeInstanceId); \
	SAME(cupti_device, mig_uuid, T, migUuid); \
	PREFIX(cupti_device, T)
DEVICE(CUpti_ActivityDevice4);
DEVICE(CUpti_ActivityDevice5);

#define CONTEXT_SINCE_11_8(T) \
	SAME(cupti_context, kind, T, kind); \
	SAME(cupti_context, context, T, contextId); \
	SAME(cupti_context, device, T, deviceId); \
	SAME(cupti_context, null_stream, T, nullStreamId)
#define CONTEXT_SINCE_12_4(T) \
	SAME(cupti_context, parent, T, parentContextId); \
	SAME(cupti_context, green, T, isGreenContext); \
	SAME(cupti_context, sm_count, T, numMultiprocessors); \
	PREFIX(cupti_context, T)
CONTEXT_SINCE_11_8(CUpti_ActivityContext);
CONTEXT_SINCE_11_8(CUpti_ActivityContext2);
CONTEXT_SINCE_11_8(CUpti_ActivityContext3);
CONTEXT_SINCE_12_4(CUpti_ActivityContext2);
CONTEXT_SINCE_12_4(CUpti_ActivityContext3);
ENDS(cupti_context, parent, CUpti_ActivityContext);

SAME(cupti_stream, kind, CUpti_ActivityStream, kind);
SAME(cupti_stream, context, CUpti_ActivityStream, contextId);
SAME(cupti_stream, stream, CUpti_ActivityStream, streamId);
SAME(cupti_stream, priority, CUpti_ActivityStream, priority);
SAME(cupti_stream, flag, CUpti_ActivityStream, flag);
WHOLE(cupti_stream, CUpti_ActivityStream);

SAME(cupti_call_data, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call_data, name, CUpti_CallbackData, functionName);
SAME(cupti_call_data, parameters, CUpti_CallbackData, functionParams);
SAME(cupti_call_data, result, CUpti_CallbackData, functionReturnValue);
SAME(cupti_call_data, symbol, CUpti_CallbackData, symbolName);
SAME(cupti_call_data, context, CUpti_CallbackData, context);
SAME(cupti_call_data, context_id, CUpti_CallbackData, contextUid);
SAME(cupti_call_data, kept, CUpti_CallbackData, correlationData);
SAME(cupti_call_data, correlation, CUpti_CallbackData, correlationId);
SAME(cupti_resource_data, context, CUpti_ResourceData, context);
SAME(cupti_resource_data, stream, CUpti_ResourceData, resourceHandle.stream);
SAME(cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(cupti_module_data, module, CUpti_ModuleResourceData, moduleId);
SAME(cupti_module_data, size, CUpti_ModuleResourceData, cubinSize);
SAME(cupti_module_data, cubin, CUpti_ModuleResourceData, pCubin);
SAME(cupti_graph_data, graph, CUpti_GraphData, graph);
SAME(cupti_graph_data, original_graph, CUpti_GraphData, originalGraph);
SAME(cupti_graph_data, node, CUpti_GraphData, node);
SAME(cupti_graph_data, original_node, CUpti_GraphData, originalNode);
SAME(cupti_graph_data, node_type, CUpti_GraphData, nodeType);
SAME(cupti_graph_data, dependency, CUpti_GraphData, dependency);
SAME(cupti_graph_data, exec, CUpti_GraphData, graphExec);

#define TOOLKIT 1
#else
#define TOOLKIT 0
#endif

/* A version has no less of a record than those before it. */
static void records_only_grow(void **state)
{
	size_t sizes[CUPTI_KINDS] = { 0 };
	uint32_t versions[CUPTI_KINDS] = { 0 };

	(void)state;
#define GROWS(kind, size, version) \
	assert_true((size) > sizes[CUPTI_KIND_##kind]); \
	assert_true((uint32_t)(version) > versions[CUPTI_KIND_##kind]); \
	sizes[CUPTI_KIND_##kind] = (size); \
	versions[CUPTI_KIND_##kind] = (version);
#define CUPTI_ACTIVITY_RECORD(kind, structure, version, field) GROWS(kind, offsetof(struct structure, field), version)
#define CUPTI_ACTIVITY_WHOLE(kind, structure, version) GROWS(kind, sizeof(struct structure), version)
	CUPTI_ACTIVITY_RECORDS
#undef CUPTI_ACTIVITY_RECORD
#undef CUPTI_ACTIVITY_WHOLE
	assert_int_equal(versions[CUPTI_KIND_CONCURRENT_KERNEL], CUPTI_13_0);
}

/* The comparing is the compiler's. */
static void declarations_are_the_toolkits(void **state)
{
	(void)state;
	if (!TOOLKIT) {
		print_message("no CUDA toolkit of version 13 or later with CUPTI's headers was found\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_only_grow),
		cmocka_unit_test(declarations_are_the_toolkits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
