/* CUDA and GPUs under nsys's names, over tests/golden/cuda.txt. Process 1000 has globalPid
 * 1 << 48 | 1000 << 24 = 281491753926656, process 2000 has 281508531142656; a globalTid adds the tid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define WORK "start!,end!,deviceId!,contextId!,greenContextId,streamId!,correlationId,globalPid,"

static const struct {
	const char *table, *columns; /* in nsys's order, ! where nsys has no nulls, :T texts */
} tables[] = {
	{ "CUPTI_ACTIVITY_KIND_KERNEL",
	  WORK "demangledName!,shortName!,mangledName,launchType,cacheConfig,registersPerThread!,gridX!,gridY!,gridZ!,"
	       "blockX!,blockY!,blockZ!,staticSharedMemory!,dynamicSharedMemory!,localMemoryPerThread!,localMemoryTotal!,"
	       "gridId!,sharedMemoryExecuted,graphNodeId,sharedMemoryLimitConfig,qmdBulkReleaseDone,qmdPreexitDone,"
	       "qmdLastCtaDone,graphId,clusterX,clusterY,clusterZ,clusterSchedulingPolicy,maxPotentialClusterSize,"
	       "maxActiveClusters,sharedMemoryRequestedPercentage,tensorSizeMinusOneElements:T!" },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY",
	  WORK "bytes!,copyKind!,deprecatedSrcId,srcKind,dstKind,srcDeviceId,srcContextId,dstDeviceId,dstContextId,"
	       "migrationCause,graphNodeId,virtualAddress,copyCount" },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", WORK "value!,bytes!,graphNodeId,memKind" },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", "start!,end!,eventClass!,globalTid,correlationId,nameId!,returnValue!,"
					 "callchainId" },
	{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", WORK "deprecatedSyncType,syncType!,eventId!,eventSyncId" },
	{ "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "timestamp,deviceId!,contextId!,greenContextId,streamId!,correlationId,"
					    "globalPid,eventId!,eventSyncId" },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", WORK "graphId!,graphExecId!" },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "start!,end!,eventClass!,globalTid,correlationId,nameId,overheadType!" },
	{ "PROFILER_OVERHEAD", "start!,end!,globalTid,nameId!,overheadType!" },
	{ "CUDA_GRAPH_NODE_EVENTS", "start!,end!,eventClass!,globalTid,nameId!,graphNodeId!,originalGraphNodeId" },
	{ "CUDA_GRAPH_EVENTS", "start!,end!,eventClass!,globalTid,nameId!,graphId,originalGraphId,graphExecId" },
	{ "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start!,globalPid!,address!,originalFaultPc,CpuInstruction!,module!,"
					   "unresolvedFaultPc,sourceFile,sourceLine" },
	{ "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "start!,end!,globalPid!,deviceId!,address!,numberOfPageFaults!,"
					   "faultAccessType!" },
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS",
	  "start!,globalPid!,deviceId!,contextId!,address!,pc!,bytes!,memKind!,memoryOperationType!,name:T,"
	  "correlationId,streamId,localMemoryPoolAddress,localMemoryPoolReleaseThreshold,localMemoryPoolSize,"
	  "localMemoryPoolUtilizedSize,importedMemoryPoolAddress,importedMemoryPoolProcessId" },
	{ "CUDA_GPU_MEMORY_POOL_EVENTS", "start!,globalPid!,deviceId!,address!,operationType!,poolType!,correlationId,minBytesToKeep,"
					 "localMemoryPoolReleaseThreshold,localMemoryPoolSize,localMemoryPoolUtilizedSize" },
	{ "CUDA_CALLCHAINS", "id!,symbol!,module!,unresolved,originalIP,stackDepth!" },
	{ "TARGET_INFO_GPU", "vmId!,id!,name:T,busLocation:T,isDiscrete,l2CacheSize,totalMemory,memoryBandwidth,clockRate,smCount,pwGpuId,"
			     "uuid:T,luid,chipName:T,cuDevice,ctxswDevPath:T,ctrlDevPath:T,revision,nodeMask,constantMemory,maxIPC,"
			     "maxRegistersPerBlock,maxShmemPerBlock,maxShmemPerBlockOptin,maxShmemPerSm,maxRegistersPerSm,threadsPerWarp,"
			     "asyncEngines,maxWarpsPerSm,maxBlocksPerSm,maxThreadsPerBlock,maxBlockDimX,maxBlockDimY,maxBlockDimZ,"
			     "maxGridDimX,maxGridDimY,maxGridDimZ,computeMajor,computeMinor,smMajor,smMinor" },
	{ "TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId!,pid!,uuid:T,numMultiprocessors" },
	{ "TARGET_INFO_CUDA_CONTEXT_INFO",
	  "nullStreamId!,hwId!,vmId!,processId!,deviceId!,contextId!,parentContextId,isGreenContext,"
	  "numMultiprocessors,numTpcs,tpcMask:T,workqueueResourceId,workqueueConcurrencyLimit,workqueueSharingScope" },
	{ "TARGET_INFO_CUDA_STREAM", "streamId!,hwId!,vmId!,processId!,contextId!,priority!,flag!" },
	{ "TARGET_INFO_NVTX_CUDA_DEVICE", "name:T!,hwId!,vmId!,deviceId!" },
	{ "TARGET_INFO_NVTX_CUDA_CONTEXT", "name:T!,hwId!,vmId!,processId!,deviceId!,contextId!" },
	{ "TARGET_INFO_NVTX_CUDA_STREAM", "name:T!,hwId!,vmId!,processId!,deviceId!,contextId!,streamId!" },
	{ "GPU_METRICS", "rawTimestamp!,timestamp!,typeId!,metricId!,value!" },
	{ "TARGET_INFO_GPU_METRICS", "typeId!,sourceId!,typeName:T!,metricId!,metricName:T!" },
	{ "GPU_CONTEXT_SWITCH_EVENTS", "tag!,vmId!,seqNo!,contextId!,timestamp!,globalPid,gpuId" },
};
#define TABLE_COUNT (sizeof(tables) / sizeof(tables[0]))

/* clang-format off */
static const char *const enums[] = {
	"ENUM_NSYS_EVENT_CLASS", "ENUM_CUDA_MEMCPY_OPER", "ENUM_CUDA_MEM_KIND", "ENUM_CUDA_UNIF_MEM_MIGRATION",
	"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", "ENUM_CUDA_KERNEL_LAUNCH_TYPE", "ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG",
	"ENUM_CUDA_FUNC_CACHE_CONFIG", "ENUM_CUDA_DEV_MEM_EVENT_OPER", "ENUM_CUDA_MEMPOOL_OPER",
	"ENUM_CUDA_MEMPOOL_TYPE", "ENUM_CUPTI_SYNC_TYPE", "ENUM_CUPTI_STREAM_TYPE", "ENUM_CUPTI_OVERHEAD_TYPE",
};
/* clang-format on */
#define ENUM_COUNT (sizeof(enums) / sizeof(enums[0]))

static int set_up(void **state)
{
	return golden_set_up(state, "cuda.txt");
}

static void expect(void **state, const char *sql, const char *answer)
{
	assert_string_equal(ask(*state, sql), answer);
}

static void test_columns_are_nsyss(void **state)
{
	char sql[256];

	for (size_t i = 0; i < TABLE_COUNT; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT group_concat(name || CASE type WHEN 'TEXT' THEN ':T' WHEN 'INTEGER' THEN "
			 "'' ELSE type END || CASE WHEN \"notnull\" THEN '!' ELSE '' END, ',') "
			 "FROM pragma_table_info('%s')",
			 tables[i].table);
		expect(state, sql, tables[i].columns);
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM sqlite_master WHERE name = '%s'", tables[i].table);
		expect(state, sql, "1");
		snprintf(sql, sizeof(sql), "SELECT count(*) > 0 FROM %s", tables[i].table);
		expect(state, sql, "1");
	}
}

/* Nulls where nsys has none would break readers. */
static void test_no_nulls_where_nsys_has_none(void **state)
{
	const char *answer;
	char sql[256], columns[64][64];
	unsigned count;

	for (size_t i = 0; i < TABLE_COUNT; i++) {
		snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s') WHERE \"notnull\"", tables[i].table);
		answer = ask(*state, sql);
		for (count = 0; *answer && count < 64; answer += *answer == ';') {
			columns[count][0] = '\0';
			strncat(columns[count], answer, strcspn(answer, ";"));
			answer += strcspn(answer, ";");
			count++;
		}
		assert_true(count > 0);
		while (count--) {
			snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE \"%s\" IS NULL", tables[i].table, columns[count]);
			expect(state, sql, "0");
		}
	}
}

/* The same questions to a real export, where one lies beside the source tree. */
static const char *ask_export(sqlite3 *db, const char *sql)
{
	static char answer[65536];
	sqlite3_stmt *statement;
	size_t len = 0;

	answer[0] = '\0';
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *text = (const char *)sqlite3_column_text(statement, i);

			len += (size_t)snprintf(answer + len, sizeof(answer) - len, "%s%s", i ? "|" : len ? ";" : "", text ? text : "");
			assert_true(len < sizeof(answer));
		}
	sqlite3_finalize(statement);
	return answer;
}

static sqlite3 *open_export(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(NSYS_EXPORT, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	return db;
}

static void test_columns_of_a_real_export(void **state)
{
	sqlite3 *db = open_export();
	unsigned compared = 0;
	char sql[256];

	for (size_t i = 0; i < TABLE_COUNT; i++) {
		snprintf(sql, sizeof(sql), "SELECT cid, name, type, \"notnull\" FROM pragma_table_info('%s')", tables[i].table);
		if (!*ask_export(db, sql))
			continue;
		assert_string_equal(ask(*state, sql), ask_export(db, sql));
		compared++;
	}
	assert_true(compared >= 9);
	sqlite3_close(db);
}

static void test_names_of_values_of_a_real_export(void **state)
{
	sqlite3 *db = open_export();
	char sql[256];

	for (size_t i = 0; i < ENUM_COUNT; i++) {
		snprintf(sql, sizeof(sql), "SELECT id, name, label FROM %s ORDER BY id", enums[i]);
		assert_string_equal(ask(*state, sql), ask_export(db, sql));
	}
	sqlite3_close(db);
}

static void test_names_of_values(void **state)
{
	expect(state, "SELECT group_concat(label, ', ') FROM ENUM_CUDA_MEM_KIND",
	       "Pageable, Pinned, Device, Array, Managed, Device Static, Managed Static, Unknown");
	expect(state, "SELECT count(*), min(id), max(id) FROM ENUM_CUDA_MEMCPY_OPER", "14|0|13");
	expect(state, "SELECT label FROM ENUM_NSYS_EVENT_CLASS WHERE id IN (0, 1, 27, 77, 103)",
	       "CUDA runtime;CUDA driver;OSRT runtime;CUDA graph node creation;CUDA overhead");
}

static void test_kernels(void **state)
{
	expect(state,
	       "SELECT start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, "
	       "d.value, s.value, m.value, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, "
	       "blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, "
	       "localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId, sharedMemoryLimitConfig, graphId, "
	       "clusterX, clusterY, clusterZ, clusterSchedulingPolicy, maxPotentialClusterSize, maxActiveClusters, "
	       "sharedMemoryRequestedPercentage, tensorSizeMinusOneElements FROM CUPTI_ACTIVITY_KIND_KERNEL "
	       "JOIN StringIds d ON d.id = demangledName JOIN StringIds s ON s.id = shortName "
	       "JOIN StringIds m ON m.id = mangledName WHERE gridId IN (101, 104, 107, 108) ORDER BY gridId",
	       "130000|180000|0|1|0|7|11|281491753926656|void gemm<float, 128>(float const*, float const*, float*, int)|"
	       "gemm|_Z4gemmIfLi128EEvPKT_S2_PS0_i|1|1|64|8|4|1|256|1|1|0|32768|0|250871808|101|65536||1||0|0|0|1|0|0||[];"
	       "320000|360000|0|1|0|7|16|281491753926656|void ns::reduce<int>(int*)|reduce|_ZN2ns6reduceIiEEvPT_|2|2|40|"
	       "1|1|1|512|1|1|2048|0|8|4096|104|16384||0||0|0|0|1|0|0||[];"
	       "670000|680000|0|1|0|7|30|281491753926656|add(float*, float const*, int)|add|_Z3addPfPKfi|1|1|16|100|1|1|"
	       "128|1|1|0|0|0|0|107|16384|21474836482|0|5|0|0|0|1|0|0||[];"
	       "206000|246000|0|1|0|14|15|281491753926656|triton_poi_fused_0|triton_poi_fused_0|triton_poi_fused_0|1|1|"
	       "255|32|1|1|128|1|1|0|1024|0|0|108|32768||0||2|1|1|2|8|16|50|[]");
	/* A CUPTI that does not know clusters; another device; another process. */
	expect(state,
	       "SELECT gridId, clusterX, clusterSchedulingPolicy, maxActiveClusters, deviceId, contextId, streamId, "
	       "globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE gridId IN (103, 201, 301) ORDER BY gridId",
	       "103||||0|1|7|281491753926656;201|0|1|0|1|2|13|281491753926656;301|0|1|0|0|1|7|281508531142656");
	expect(state,
	       "SELECT kernelDuration, kernelName, kernelShortName, kernelMangledName, kernelQueued, "
	       "kernelSubmitted, kernelPriority, streamUid, gpuUid, processUid FROM CUPTI_ACTIVITY_KIND_KERNEL "
	       "WHERE gridId IN (101, 108, 301) ORDER BY gridId",
	       "50000|void gemm<float, 128>(float const*, float const*, float*, int)|gemm|_Z4gemmIfLi128EEvPKT_S2_PS0_i|"
	       "126500|127000|0|1|1|1;40000|triton_poi_fused_0|triton_poi_fused_0|triton_poi_fused_0|||-1|2|1|1;"
	       "40000|void gemm<float, 128>(float const*, float const*, float*, int)|gemm|_Z4gemmIfLi128EEvPKT_S2_PS0_i|"
	       "||0|4|2|2");
}

static void test_copies(void **state)
{
	expect(state,
	       "SELECT start, end, deviceId, contextId, streamId, correlationId, bytes, copyKind, srcKind, dstKind, "
	       "srcDeviceId, srcContextId, dstDeviceId, dstContextId, migrationCause, graphNodeId, virtualAddress, "
	       "copyCount FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE globalPid = 281491753926656 ORDER BY start",
	       "118000|128000|0|1|7|10|1048576|1|1|2||||||||1;"
	       "265000|275000|1|2|13|40|1048576|8|2|2||||||||1;"
	       "480000|490000|0|1|7|22|2097152|10|2|2|0|1|1|2||||1;"
	       "521500|522500|0|1|14|50|1000|3|0|3||||||||1;"
	       "523500|525500|0|1|14|51|2000|4|3|1||||||||1;"
	       "525500|528500|0|1|14|52|3000|5|3|3||||||||1;"
	       "528500|532500|0|1|14|53|4000|6|3|2||||||||1;"
	       "532500|537500|0|1|14|54|5000|7|2|3||||||||1;"
	       "537500|538500|0|1|14|55|6000|9|0|7||||||||3;"
	       "540000|542000|0|0|0||65536|11|4|4|||0||2||139637976727552|1;"
	       "545000|546000|0|0|0||4096|12|4|4|0||||1||139637976793088|1;"
	       "550000|553000|1|0|0||131072|13|||0||1||5||139637976858624|1;"
	       "560000|561000|1|0|0||65536|11|||||1||3||139637976989696|1;"
	       "682000|684000|0|1|7|30|4096|8|2|2||||||21474836483||1;"
	       "790000|845000|0|1|7|33|8388608|2|2|0||||||||1");
	expect(state,
	       "SELECT start, value, bytes, graphNodeId, memKind, streamId FROM CUPTI_ACTIVITY_KIND_MEMSET "
	       "ORDER BY start",
	       "345000|0|4096||2|14;685000|255|256|21474836484|2|7");
}

static void test_calls(void **state)
{
	expect(state,
	       "SELECT start, end, eventClass, globalTid - 281491753926656, correlationId, value, returnValue, "
	       "callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE start IN (62000, "
	       "121000, 122000, 210000, 770000, 990000) ORDER BY start",
	       "62000|64000|0|1000|2|cudaMalloc_v3020|2|;121000|126000|0|1000|11|cudaLaunchKernel_v7000|0|2;"
	       "122000|125000|1|1000|12|cuLibraryGetKernel|0|;210000|214000|1|1001|41|cuLaunchKernel|0|;"
	       "770000|775000|0|1000|32|cudaLaunchKernel_v7000|98|;990000|1000000|0|1000|34|cudaFree_v3020|0|");
	/* As nsys's reports print names: only versions of four digits go. What had not returned has no duration. */
	expect(state,
	       "SELECT apiName, apiDuration, apiIsOpen, apiDepth, threadUid, processUid FROM "
	       "CUPTI_ACTIVITY_KIND_RUNTIME WHERE start IN (200000, 300000, 486000, 520000, 612000, 990000) ORDER BY "
	       "start",
	       "cudaLaunchKernelExC_v11060|4000|0|0|1|1;cudaLaunchKernel_ptsz|3000|0|0|2|1;cuCtxSynchronize|12000|0|1|1|1;"
	       "cuMemcpy3DAsync_v2|1000|0|0|2|1;cudaGraphLaunch_v10000|8000|0|0|1|1;cudaFree||1|0|1|1");
	expect(state,
	       "SELECT c.id, s.value, m.value, unresolved, originalIP, stackDepth FROM CUDA_CALLCHAINS c "
	       "JOIN StringIds s ON s.id = symbol JOIN StringIds m ON m.id = module",
	       "2|at::mm(Tensor&)|/usr/lib/libtorch.so|0|8192|0;2|main|/srv/train|0|4096|1");
	expect(state,
	       "SELECT s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUDA_CALLCHAINS c ON c.id = r.callchainId "
	       "JOIN StringIds s ON s.id = symbol WHERE stackDepth = 0",
	       "at::mm(Tensor&)");
}

static void test_waiting(void **state)
{
	expect(state,
	       "SELECT start, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, "
	       "deprecatedSyncType, syncType, eventId, eventSyncId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
	       "ORDER BY start",
	       "241000|0|1||7|12|281508531142656||4|4294967295|0;353500|0|1||14|20|281491753926656||2|7197|21619;"
	       "402000|0|1||7|21|281491753926656||3|4294967295|0;487000|0|1||4294967295|23|281491753926656||4|4294967295|0");
	expect(state, "SELECT * FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT ORDER BY eventId",
	       "365000|0|1||7|19|281491753926656|7197|21619;0|0|1||14|25|281491753926656|7198|0");
	expect(state,
	       "SELECT start, globalTid, correlationId, value, label FROM CUPTI_ACTIVITY_KIND_OVERHEAD "
	       "JOIN StringIds s ON s.id = nameId JOIN ENUM_CUPTI_OVERHEAD_TYPE t ON t.id = overheadType "
	       "ORDER BY start",
	       "123000|281491753927656|11|Lazy Function Loading|Lazy function loading (CUDA);"
	       "330500|281491753927656|17|Command Buffer Full|Command buffer full (CUDA);"
	       "700000|281491753926656||Buffer Flush|Buffer flush (Profiler)");
	expect(state, "SELECT start, end, overheadType FROM PROFILER_OVERHEAD", "700000|701000|3");
}

static void test_graphs(void **state)
{
	expect(state, "SELECT * FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "710000|760000|0|1|0|7|31|281491753926656|6|7");
	expect(state,
	       "SELECT start, end, eventClass, globalTid, value, graphNodeId, originalGraphNodeId FROM "
	       "CUDA_GRAPH_NODE_EVENTS JOIN StringIds ON id = nameId WHERE start < 133000 OR start = 481003 ORDER BY "
	       "start",
	       "130000|130000|77|281491753927656|void gemm<float, 128>(float const*, float const*, float*, int)|4294967297|;"
	       "131000|131000|77|281491753927656|add(float*, float const*, int)|4294967298|;"
	       "132000|132000|77|281491753927656|Memcpy|4294967299|;"
	       "481003|481003|77|281491753927656|Memset|21474836484|4294967300");
	/* A replayed node leads to where it was captured. */
	expect(state,
	       "SELECT o.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUDA_GRAPH_NODE_EVENTS n "
	       "ON n.graphNodeId = k.graphNodeId JOIN CUDA_GRAPH_NODE_EVENTS o ON o.graphNodeId = "
	       "n.originalGraphNodeId WHERE k.graphNodeId IS NOT NULL ORDER BY k.start",
	       "130000;131000");
	expect(state,
	       "SELECT start, eventClass, graphId, originalGraphId, graphExecId FROM CUDA_GRAPH_EVENTS ORDER BY "
	       "start",
	       "129000|95|1||;480500|94|5|1|5;702000|96|6|1|;703000|94|6|6|7");
}

static void test_memory(void **state)
{
	expect(state,
	       "SELECT start, globalPid, deviceId, contextId, address, pc, bytes, memKind, memoryOperationType, name, "
	       "correlationId, streamId, localMemoryPoolAddress, localMemoryPoolReleaseThreshold, "
	       "localMemoryPoolSize, localMemoryPoolUtilizedSize, importedMemoryPoolAddress, "
	       "importedMemoryPoolProcessId FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start",
	       "55000|281491753926656|0|1|140000000000|4096|1048576|2|0||1|||||||;"
	       "56000|281491753926656|0|1|140010000000|4100|2097152|2|0||3|14|94000000|0|33554432|2097152||;"
	       "57000|281491753926656|0|1|140020000000|0|4096|5|0|weights|4|||||||;"
	       "58000|281491753926656|0|1|140030000000|4104|8192|2|0||5|14|||||95000000|2000;"
	       "144000|281508531142656|0|1|150000000000|5000|524288|2|0||9|||||||;"
	       "800000|281491753926656|0|1|140000000000|4108|1048576|2|1||35|||||||");
	expect(state,
	       "SELECT start, deviceId, address, o.label, t.label, minBytesToKeep, localMemoryPoolSize FROM "
	       "CUDA_GPU_MEMORY_POOL_EVENTS JOIN ENUM_CUDA_MEMPOOL_OPER o ON o.id = operationType JOIN "
	       "ENUM_CUDA_MEMPOOL_TYPE t ON t.id = poolType",
	       "54000|0|94000000|Created|Local||0;900000|0|94000000|Trimmed|Local|1048576|33554432");
	expect(state,
	       "SELECT start, address, originalFaultPc, s.value, m.value, unresolvedFaultPc FROM "
	       "CUDA_UM_CPU_PAGE_FAULT_EVENTS JOIN StringIds s ON s.id = CpuInstruction JOIN StringIds m ON m.id = "
	       "module",
	       "539000|139637976793088|4100|main|/srv/train|0;539500|139637976797184|57005|0xdead|[Unknown]|1");
	expect(state,
	       "SELECT start, end, deviceId, address, numberOfPageFaults, label FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS "
	       "JOIN ENUM_CUDA_UNIF_MEM_ACCESS_TYPE ON id = faultAccessType",
	       "541000|543000|0|139637976727552|12|Read;544000|544500|1|139637976858624|3|Write");
}

static void test_devices(void **state)
{
	expect(state,
	       "SELECT vmId, id, name, busLocation, isDiscrete, l2CacheSize, totalMemory, memoryBandwidth, clockRate, "
	       "smCount, uuid, chipName, cuDevice, constantMemory, maxIPC, maxRegistersPerBlock, maxShmemPerBlock, "
	       "maxShmemPerBlockOptin, maxShmemPerSm, maxRegistersPerSm, threadsPerWarp, asyncEngines, maxWarpsPerSm, "
	       "maxBlocksPerSm, maxThreadsPerBlock, maxBlockDimX, maxBlockDimY, maxBlockDimZ, maxGridDimX, "
	       "maxGridDimY, maxGridDimZ, computeMajor, computeMinor, smMajor, smMinor FROM TARGET_INFO_GPU",
	       "281474976710656|0|NVIDIA H100 80GB HBM3|0000:06:00.0|1|52428800|85520809984|3352320000000|1980000000|132|"
	       "11111111-2222-3333-4444-555555555555|GH100|0|65536|4|65536|49152|232448|233472|65537|32|3|64|33|1024|"
	       "1025|1026|62|2147483647|65535|65534|9|0|9|0;"
	       "281474976710656|1|NVIDIA H100 80GB HBM3|0000:07:00.0|1|52428800|85520809984|3352320000000|1980000000|132|"
	       "66666666-7777-8888-9999-aaaaaaaaaaaa|GH100|1|||||||||||||||||||9|0|9|0");
	expect(state, "SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE ORDER BY pid, cudaId", "0|0|1000;1|1|1000;1|0|2000");
	expect(state,
	       "SELECT nullStreamId, hwId, vmId, processId, deviceId, contextId, parentContextId, isGreenContext, "
	       "numMultiprocessors FROM TARGET_INFO_CUDA_CONTEXT_INFO ORDER BY processId, contextId",
	       "7|0|1|1000|0|1||0|132;13|0|1|1000|1|2||0|132;19|0|1|1000|0|3|1|1|16;7|0|1|2000|0|1||0|132");
	expect(state,
	       "SELECT streamId, processId, contextId, priority, label FROM TARGET_INFO_CUDA_STREAM JOIN "
	       "ENUM_CUPTI_STREAM_TYPE ON id = flag ORDER BY processId, streamId",
	       "7|1000|1|0|Null stream;13|1000|2|0|Null stream;14|1000|1|4294967295|Non-blocking stream;"
	       "7|2000|1|0|Null stream");
	expect(state, "SELECT name, deviceId FROM TARGET_INFO_NVTX_CUDA_DEVICE", "main GPU|0;second GPU|1");
	expect(state, "SELECT name, processId, deviceId, contextId FROM TARGET_INFO_NVTX_CUDA_CONTEXT", "main context|1000|0|1");
	expect(state, "SELECT name, processId, deviceId, contextId, streamId FROM TARGET_INFO_NVTX_CUDA_STREAM", "copies|1000|0|1|14");
	expect(state, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'CudaDriverVersion'", "13000");
}

static void test_metrics(void **state)
{
	/* 75.6 % is rounded; the GPU is in the low byte of the type. */
	expect(state,
	       "SELECT timestamp, typeId & 255, metricName, value FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS "
	       "USING (typeId, metricId) WHERE typeName LIKE 'GPU Metrics%' ORDER BY typeId, metricId, timestamp",
	       "100000|0|SMs Active [Throughput %]|10;200000|0|SMs Active [Throughput %]|76;"
	       "300000|0|SMs Active [Throughput %]|0;100000|0|DRAM Read Bandwidth [Throughput %]|5;"
	       "200000|0|DRAM Read Bandwidth [Throughput %]|40;100000|1|SMs Active [Throughput %]|0;"
	       "200000|1|SMs Active [Throughput %]|99");
	expect(state,
	       "SELECT metricName, gpuMetricReal FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, "
	       "metricId) WHERE typeName LIKE 'NVML%' ORDER BY metricId, timestamp",
	       "Power|310.5;Power|402.25;Memory of the process|1073741824.0");
	expect(state, "SELECT count(DISTINCT typeId), min(typeId >> 48), max(typeId >> 48) FROM GPU_METRICS", "3|1|1");
	expect(state, "SELECT * FROM GPU_CONTEXT_SWITCH_EVENTS",
	       "8|281474976710656|1|11|100000|281491753926656|0;7|281474976710656|2|11|150000|281491753926656|0;"
	       "8|281474976710656|3|12|150100||0");
}

/* Sums by hand: gemm 50 + 100 + 40 + 40 + 40 us, add 10 four times, reduce 40, triton 40 + 10.1. */
static void test_functions(void **state)
{
	expect(state,
	       "SELECT key, count, sum, min, max FROM group_stats('CUPTI_ACTIVITY_KIND_KERNEL', 'base', 'duration') "
	       "ORDER BY sum DESC, key",
	       "gemm|5|270000|40000|100000;triton_poi_fused_0|2|50100|10100|40000;"
	       "add|4|40000|10000|10000;reduce|1|40000|40000|40000");
	expect(state,
	       "SELECT key, grid_x, block_y, count FROM group_stats('CUPTI_ACTIVITY_KIND_KERNEL', 'mangled, shape', "
	       "'duration') g JOIN sonde_cuda_launch l ON l.id = g.key2 WHERE key IN ('_Z3addPfPKfi', "
	       "'_Z4gemmIfLi128EEvPKT_S2_PS0_i') ORDER BY key, grid_x",
	       "_Z3addPfPKfi|50|2|1;_Z3addPfPKfi|100|1|3;_Z4gemmIfLi128EEvPKT_S2_PS0_i|8|1|4;"
	       "_Z4gemmIfLi128EEvPKT_S2_PS0_i|16|1|1");
	expect(state,
	       "SELECT count, sum FROM group_stats('CUPTI_ACTIVITY_KIND_KERNEL', '', 'duration', 'streamId = 7 and "
	       "deviceId = 0 and processUid = 1')",
	       "7|260000");
	/* Two kernels of stream 7 overlap by 5.5 us; those of stream 14 by none of them. */
	expect(state,
	       "SELECT key, count, total, busy FROM interval_union('CUPTI_ACTIVITY_KIND_KERNEL', 'streamUid') ORDER BY "
	       "key",
	       "1|7|260000|254500;2|1|40000|40000;3|3|60100|60100;4|1|40000|40000");
	expect(state,
	       "SELECT key, key2, count, sum FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', 'name, eventClass', "
	       "'duration') WHERE key IN ('cudaLaunchKernel', 'cuCtxSynchronize', 'cudaFree') ORDER BY key",
	       "cuCtxSynchronize|1|2|52000;cudaLaunchKernel|0|5|18000");
	expect(state,
	       "SELECT key, count, sum FROM group_stats('CUPTI_ACTIVITY_KIND_MEMCPY', 'copyKind', 'bytes') WHERE "
	       "key IN (1, 11) ORDER BY key",
	       "1|2|1572864;11|2|131072");
	expect(state, "SELECT key, max FROM group_stats('GPU_METRICS', 'gpuUid', 'value', 'metricId = 0') ORDER BY key", "1|402;2|99");
}

/* What is pushed down must not change answers: a column behind + is not. */
static void test_filters(void **state)
{
	/* clang-format off */
	static const char *const questions[][3] = {
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "streamId", "= 7" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "deviceId", "= 1" },
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "correlationId", "= 11" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "start", ">= 300000" },
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid", "= 281508531142656" },
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "gridX", "> 50" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "graphNodeId", "> 0" },
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "launchType", "= 2" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "end", "< 200000" },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "deviceId", "= 1" }, { "CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", ">= 11" },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "srcKind", "= 4" }, { "CUPTI_ACTIVITY_KIND_MEMCPY", "streamId", "= 0" },
		{ "CUPTI_ACTIVITY_KIND_RUNTIME", "returnValue", "<> 0" }, { "CUPTI_ACTIVITY_KIND_RUNTIME", "eventClass", "= 1" },
		{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "eventId", "= 4294967295" },
		{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "overheadType", "= 8" }, { "GPU_METRICS", "value", "> 50" },
		{ "GPU_METRICS", "metricId", "= 1" }, { "CUDA_GRAPH_EVENTS", "eventClass", "= 94" },
		{ "GPU_CONTEXT_SWITCH_EVENTS", "gpuId", "= 0" }, { "CUDA_GPU_MEMORY_USAGE_EVENTS", "contextId", "= 1" },
	};
	/* clang-format on */
	char sql[256], pushed[64], plain[64];

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE %s %s", questions[i][0], questions[i][1], questions[i][2]);
		snprintf(pushed, sizeof(pushed), "%s", ask(*state, sql));
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE +%s %s", questions[i][0], questions[i][1], questions[i][2]);
		snprintf(plain, sizeof(plain), "%s", ask(*state, sql));
		assert_string_equal(pushed, plain);
		assert_string_not_equal(pushed, "0");
	}
	expect(state, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = NULL", "0");
	expect(state, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 'eleven'", "0");
	expect(state, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = '11'", "2");
}

/* As people write them. Correlations repeat across processes; a kernel may lack its call, a call its kernel. */
static void test_joins(void **state)
{
	expect(state,
	       "SELECT s.value, count(*), sum(k.end - k.start) t FROM CUPTI_ACTIVITY_KIND_KERNEL k "
	       "JOIN StringIds s ON k.demangledName = s.id WHERE k.deviceId = 0 GROUP BY s.value ORDER BY t DESC LIMIT 1",
	       "void gemm<float, 128>(float const*, float const*, float*, int)|4|230000");
	expect(state,
	       "SELECT r.start, k.gridId FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_KERNEL k "
	       "ON k.correlationId = r.correlationId AND k.globalPid / 16777216 = r.globalTid / 16777216 ORDER BY "
	       "k.gridId",
	       "121000|101;160000|102;170000|103;311000|104;330000|105;612000|106;612000|107;200000|108;210000|201;"
	       "300000|202;150000|301");
	expect(state,
	       "SELECT k.gridId FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON "
	       "r.correlationId = k.correlationId AND k.globalPid / 16777216 = r.globalTid / 16777216 WHERE r.start IS "
	       "NULL",
	       "203");
	expect(state,
	       "SELECT group_concat(start) FROM (SELECT r.start FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.nameId IN "
	       "(SELECT id FROM StringIds WHERE value LIKE 'cudaLaunch%' OR value LIKE 'cuLaunch%') AND NOT EXISTS "
	       "(SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE k.correlationId = r.correlationId) ORDER BY r.start)",
	       "770000");
	expect(state,
	       "SELECT (SELECT sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE k.correlationId = "
	       "r.correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.start IN (121000, 612000) ORDER BY r.start",
	       "90000;50000");
	/* Kernels whose call is in a range of the same thread. */
	expect(state,
	       "SELECT n.text, count(*) FROM NVTX_EVENTS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = "
	       "n.globalTid AND r.start >= n.start AND r.end <= n.end JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON "
	       "k.correlationId = r.correlationId AND k.globalPid = r.globalTid & ~16777215 WHERE n.eventType = 59 "
	       "GROUP BY n.text ORDER BY n.text",
	       "backward|2;forward|6;launches|1;mm|1;step|9");
	/* A table with itself. */
	expect(state,
	       "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL a JOIN CUPTI_ACTIVITY_KIND_KERNEL b USING "
	       "(correlationId)",
	       "16");
}

static void test_strings_are_listed(void **state)
{
	/* clang-format off */
	static const char *const ids[][2] = {
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "shortName" },
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "mangledName" }, { "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId" },
		{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "nameId" }, { "CUDA_GRAPH_NODE_EVENTS", "nameId" },
		{ "CUDA_GRAPH_EVENTS", "nameId" }, { "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CpuInstruction" },
		{ "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "module" },
	};
	/* clang-format on */
	char sql[256];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE %s NOT IN (SELECT id FROM StringIds)", ids[i][0], ids[i][1]);
		expect(state, sql, "0");
	}
	expect(state, "SELECT count(*) - count(DISTINCT id) FROM StringIds", "0");
}

static int set_up_without(void **state)
{
	return golden_set_up(state, "recording.txt");
}

static void test_absent_without_rows(void **state)
{
	expect(state,
	       "SELECT name FROM sqlite_master WHERE name LIKE 'CU%' OR name LIKE 'GPU%' OR name LIKE "
	       "'TARGET_INFO_GPU%' OR name LIKE 'TARGET_INFO_CUDA%' OR name LIKE 'TARGET_INFO_NVTX%' OR name LIKE "
	       "'ENUM_CU%' OR name LIKE 'PROFILER%'",
	       "");
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_nsyss), cmocka_unit_test(test_no_nulls_where_nsys_has_none),
		cmocka_unit_test(test_columns_of_a_real_export), cmocka_unit_test(test_names_of_values_of_a_real_export),
		cmocka_unit_test(test_names_of_values), cmocka_unit_test(test_kernels), cmocka_unit_test(test_copies),
		cmocka_unit_test(test_calls), cmocka_unit_test(test_waiting), cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_devices), cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_filters), cmocka_unit_test(test_joins),
		cmocka_unit_test(test_strings_are_listed),
	};
	/* clang-format on */
	const struct CMUnitTest without[] = { cmocka_unit_test(test_absent_without_rows) };
	int failed = cmocka_run_group_tests(tests, set_up, golden_tear_down);

	return failed + cmocka_run_group_tests(without, set_up_without, golden_tear_down);
}
