/* Memory of GPUs, faults, metrics and switches, as nsys's exports have them. */
#include "query/cuda_index.h"
#include "query/mapping_words.h"

#define VM_ID ((int64_t)1 << 48)
/* CUPTI's counters of unified memory. */
enum { FAULT_OF_CPU = 3, FAULT_OF_GPU = 4 };
enum { POOL_LOCAL = 1, POOL_IMPORTED = 2 };

static const struct mapped_column mapped_cpu_faults_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_GPU_FAULT_START)),
	SHOWN_AS("globalPid", "INTEGER NOT NULL", FROM(GLOBAL_PID, COLUMN_GPU_FAULT_PROCESS)),
	SHOWN_AS("address", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_FAULT_ADDRESS)),
	SHOWN_AS("originalFaultPc", "INTEGER", FROM(NUMBER, COLUMN_GPU_FAULT_PC)),
	SHOWN_AS("CpuInstruction", "INTEGER NOT NULL", WITH(FRAME_NAME, COLUMN_GPU_FAULT_FRAME, COLUMN_GPU_FAULT_PC)),
	SHOWN_AS("module", "INTEGER NOT NULL", WITH(FRAME_MODULE, COLUMN_GPU_FAULT_FRAME, COLUMN_GPU_FAULT_PC)),
	SHOWN_AS("unresolvedFaultPc", "INTEGER", FROM(ABSENT, COLUMN_GPU_FAULT_FRAME)), SHOWN_AS("sourceFile", "INTEGER", NOTHING),
	SHOWN_AS("sourceLine", "INTEGER", NOTHING),
	BEHIND_AS("faultFrame", "INTEGER", "frame", FROM(NUMBER, COLUMN_GPU_FAULT_FRAME)),
	BEHIND_AS("faultAccess", "INTEGER", "access", FROM(NUMBER, COLUMN_GPU_FAULT_ACCESS)),
	BEHIND_AS("faultCount", "INTEGER", "count", FROM(NUMBER, COLUMN_GPU_FAULT_COUNT)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_GPU_FAULT_PROCESS)),
};
static const struct mapped_source mapped_cpu_faults_sources[] = {
	{ .table = TABLE_GPU_FAULT, .filter = FILTER_EQUAL, .filter_column = COLUMN_GPU_FAULT_KIND,
	  .filter_value = FAULT_OF_CPU },
};
const struct mapped_table mapped_cpu_faults = {
	"CUDA_UM_CPU_PAGE_FAULT_EVENTS", mapped_cpu_faults_columns, COUNT(mapped_cpu_faults_columns),
	mapped_cpu_faults_sources, COUNT(mapped_cpu_faults_sources), 1,
};

static const struct mapped_column mapped_gpu_faults_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_GPU_FAULT_START)),
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_GPU_FAULT_END)),
	SHOWN_AS("globalPid", "INTEGER NOT NULL", FROM(GLOBAL_PID, COLUMN_GPU_FAULT_PROCESS)),
	SHOWN_AS("deviceId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_FAULT_DEVICE)),
	SHOWN_AS("address", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_FAULT_ADDRESS)),
	SHOWN_AS("numberOfPageFaults", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_FAULT_COUNT)),
	SHOWN_AS("faultAccessType", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_FAULT_ACCESS)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_GPU_FAULT_PROCESS)),
};
static const struct mapped_source mapped_gpu_faults_sources[] = {
	{ .table = TABLE_GPU_FAULT, .filter = FILTER_EQUAL, .filter_column = COLUMN_GPU_FAULT_KIND,
	  .filter_value = FAULT_OF_GPU },
};
MAPPED(mapped_gpu_faults, "CUDA_UM_GPU_PAGE_FAULT_EVENTS");

#define OF_POOL(from, type)                                                                      \
	{ .convert = CONVERT_IF, .column = (from), .other = COLUMN_GPU_MEMORY_POOL_TYPE, .constant = (type) }
#define CONTEXT(from) { .convert = CONVERT_TRACK_CONTEXT, .other = (from) }
static const struct mapped_column mapped_memory_usage_columns[] = {
	SHOWN("start", "INTEGER NOT NULL"), SHOWN("globalPid", "INTEGER NOT NULL"),
	SHOWN("deviceId", "INTEGER NOT NULL"), SHOWN("contextId", "INTEGER NOT NULL"),
	SHOWN("address", "INTEGER NOT NULL"), SHOWN("pc", "INTEGER NOT NULL"), SHOWN("bytes", "INTEGER NOT NULL"),
	SHOWN("memKind", "INTEGER NOT NULL"), SHOWN("memoryOperationType", "INTEGER NOT NULL"), SHOWN("name", "TEXT"),
	KEY("correlationId", "INTEGER"), SHOWN("streamId", "INTEGER"), SHOWN("localMemoryPoolAddress", "INTEGER"),
	SHOWN("localMemoryPoolReleaseThreshold", "INTEGER"), SHOWN("localMemoryPoolSize", "INTEGER"),
	SHOWN("localMemoryPoolUtilizedSize", "INTEGER"), SHOWN("importedMemoryPoolAddress", "INTEGER"),
	SHOWN("importedMemoryPoolProcessId", "INTEGER"),
	BEHIND("memoryTrack", "INTEGER", "track"), BEHIND("contextUid", "INTEGER", NULL),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell memory_usage_cells[] = {
	FROM(NUMBER, COLUMN_GPU_MEMORY_TIME), FROM(TRACK_PID, 0), CONTEXT(CONTEXT_DEVICE), CONTEXT(CONTEXT_ID),
	FROM(NUMBER_OR, COLUMN_GPU_MEMORY_ADDRESS), FROM(NUMBER_OR, COLUMN_GPU_MEMORY_PC),
	FROM(NUMBER_OR, COLUMN_GPU_MEMORY_BYTES), FROM(MEMORY_KIND, COLUMN_GPU_MEMORY_KIND),
	/* From 0, unlike CUPTI's. */
	{ .convert = CONVERT_PLUS, .column = COLUMN_GPU_MEMORY_OPERATION, .constant = -1 },
	FROM(TEXT, COLUMN_GPU_MEMORY_NAME), FROM(NUMBER, COLUMN_GPU_MEMORY_CORRELATION),
	FROM(NUMBER, COLUMN_GPU_MEMORY_STREAM), OF_POOL(COLUMN_GPU_MEMORY_POOL, POOL_LOCAL),
	OF_POOL(COLUMN_GPU_MEMORY_POOL_THRESHOLD, POOL_LOCAL), OF_POOL(COLUMN_GPU_MEMORY_POOL_SIZE, POOL_LOCAL),
	OF_POOL(COLUMN_GPU_MEMORY_POOL_USED, POOL_LOCAL), OF_POOL(COLUMN_GPU_MEMORY_POOL, POOL_IMPORTED),
	OF_POOL(COLUMN_GPU_MEMORY_POOL_SIZE, POOL_IMPORTED),
	FROM(TRACK, 0), FROM(TRACK_OBJECT, 0), FROM(TRACK_PROCESS, 0),
};
static const struct mapped_source mapped_memory_usage_sources[] = {
	{ .table = TABLE_GPU_MEMORY, .track_kind = TRACK_GPU_MEMORY, .cells = memory_usage_cells },
};
MAPPED(mapped_memory_usage, "CUDA_GPU_MEMORY_USAGE_EVENTS");

static const struct mapped_column mapped_pools_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_GPU_POOL_TIME)),
	SHOWN_AS("globalPid", "INTEGER NOT NULL", FROM(GLOBAL_PID, COLUMN_GPU_POOL_PROCESS)),
	SHOWN_AS("deviceId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_POOL_DEVICE)),
	SHOWN_AS("address", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_POOL_ADDRESS)),
	SHOWN_AS("operationType", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_POOL_OPERATION)),
	SHOWN_AS("poolType", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_POOL_TYPE)),
	KEY_AS("correlationId", "INTEGER", FROM(NUMBER, COLUMN_GPU_POOL_CORRELATION)),
	SHOWN_AS("minBytesToKeep", "INTEGER", FROM(NUMBER, COLUMN_GPU_POOL_KEEP)),
	SHOWN_AS("localMemoryPoolReleaseThreshold", "INTEGER", FROM(NUMBER, COLUMN_GPU_POOL_THRESHOLD)),
	SHOWN_AS("localMemoryPoolSize", "INTEGER", FROM(NUMBER, COLUMN_GPU_POOL_SIZE)),
	SHOWN_AS("localMemoryPoolUtilizedSize", "INTEGER", FROM(NUMBER, COLUMN_GPU_POOL_USED)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_GPU_POOL_PROCESS)),
};
static const struct mapped_source mapped_pools_sources[] = { { .table = TABLE_GPU_POOL } };
MAPPED(mapped_pools, "CUDA_GPU_MEMORY_POOL_EVENTS");

/* Hardware counters and NVML's values are of different types. gpuMetricReal has what rounding would lose. */
#define METRIC(from) { .convert = CONVERT_TRACK_METRIC, .other = (from) }
static const struct mapped_column mapped_gpu_metrics_columns[] = {
	SHOWN_AS("rawTimestamp", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_COUNTER_TIME)),
	SHOWN_AS("timestamp", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_COUNTER_TIME)),
	SHOWN_AS("typeId", "INTEGER NOT NULL", METRIC(METRIC_TYPE)), SHOWN_AS("metricId", "INTEGER NOT NULL", METRIC(METRIC_ID)),
	SHOWN_AS("value", "INTEGER NOT NULL", WITH(ROUNDED, COLUMN_COUNTER_INTEGER, COLUMN_COUNTER_REAL)),
	BEHIND_AS("gpuMetricReal", "REAL", "real", WITH(AS_REAL, COLUMN_COUNTER_INTEGER, COLUMN_COUNTER_REAL)),
	BEHIND_AS("gpuMetricTrack", "INTEGER", "track", FROM(TRACK, 0)),
	BEHIND_AS("gpuUid", "INTEGER", NULL, FROM(TRACK_OBJECT, 0)),
};
static const struct mapped_source mapped_gpu_metrics_sources[] = {
	{ .table = TABLE_COUNTER, .track_kind = TRACK_GPU_METRIC },
};
MAPPED(mapped_gpu_metrics, "GPU_METRICS");

static const struct mapped_column mapped_gpu_switches_columns[] = {
	SHOWN_AS("tag", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_SWITCH_TAG)),
	SHOWN_AS("vmId", "INTEGER NOT NULL", CONSTANT(VM_ID)),
	SHOWN_AS("seqNo", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_SWITCH_SEQUENCE)),
	SHOWN_AS("contextId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_GPU_SWITCH_CONTEXT)),
	SHOWN_AS("timestamp", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_GPU_SWITCH_TIME)),
	SHOWN_AS("globalPid", "INTEGER", FROM(PID, COLUMN_GPU_SWITCH_PID)),
	SHOWN_AS("gpuId", "INTEGER", { .convert = CONVERT_TRACK_OBJECT, .constant = -1 }),
	BEHIND_AS("gpuUid", "INTEGER", NULL, FROM(TRACK_OBJECT, 0)),
};
static const struct mapped_source mapped_gpu_switches_sources[] = {
	{ .table = TABLE_GPU_SWITCH, .track_kind = TRACK_GPU_SWITCH },
};
MAPPED(mapped_gpu_switches, "GPU_CONTEXT_SWITCH_EVENTS");

_Static_assert(COUNT(memory_usage_cells) == COUNT(mapped_memory_usage_columns), "a cell per column");
