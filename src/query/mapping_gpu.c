/* Memory of GPUs, faults, metrics and switches, as nsys's exports have them. */
#include "query/cuda_index.h"
#include "query/mapping_words.h"

#define VM_ID ((int64_t)1 << 48)
/* CUPTI's counters of unified memory. */
enum { FAULT_OF_CPU = 3, FAULT_OF_GPU = 4 };
enum { POOL_LOCAL = 1, POOL_IMPORTED = 2 };

static const struct mapped_column mapped_cpu_faults_columns[] = {
	SHOWN("start", "INTEGER NOT NULL"), SHOWN("globalPid", "INTEGER NOT NULL"),
	SHOWN("address", "INTEGER NOT NULL"), SHOWN("originalFaultPc", "INTEGER"),
	SHOWN("CpuInstruction", "INTEGER NOT NULL"), SHOWN("module", "INTEGER NOT NULL"),
	SHOWN("unresolvedFaultPc", "INTEGER"), SHOWN("sourceFile", "INTEGER"), SHOWN("sourceLine", "INTEGER"),
	BEHIND("faultFrame", "INTEGER", "frame"), BEHIND("faultAccess", "INTEGER", "access"),
	BEHIND("faultCount", "INTEGER", "count"), BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell cpu_fault_cells[] = {
	FROM(NUMBER, COLUMN_GPU_FAULT_START), FROM(GLOBAL_PID, COLUMN_GPU_FAULT_PROCESS),
	FROM(NUMBER_OR, COLUMN_GPU_FAULT_ADDRESS), FROM(NUMBER, COLUMN_GPU_FAULT_PC),
	WITH(FRAME_NAME, COLUMN_GPU_FAULT_FRAME, COLUMN_GPU_FAULT_PC),
	WITH(FRAME_MODULE, COLUMN_GPU_FAULT_FRAME, COLUMN_GPU_FAULT_PC), FROM(ABSENT, COLUMN_GPU_FAULT_FRAME),
	NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_FAULT_FRAME), FROM(NUMBER, COLUMN_GPU_FAULT_ACCESS),
	FROM(NUMBER, COLUMN_GPU_FAULT_COUNT), FROM(NUMBER, COLUMN_GPU_FAULT_PROCESS),
};
static const struct mapped_source mapped_cpu_faults_sources[] = {
	{ .table = TABLE_GPU_FAULT, .filter = FILTER_EQUAL, .filter_column = COLUMN_GPU_FAULT_KIND,
	  .filter_value = FAULT_OF_CPU, .cells = cpu_fault_cells },
};
const struct mapped_table mapped_cpu_faults = {
	"CUDA_UM_CPU_PAGE_FAULT_EVENTS", mapped_cpu_faults_columns, COUNT(mapped_cpu_faults_columns),
	mapped_cpu_faults_sources, COUNT(mapped_cpu_faults_sources), 1,
};

static const struct mapped_column mapped_gpu_faults_columns[] = {
	SHOWN("start", "INTEGER NOT NULL"), SHOWN("end", "INTEGER NOT NULL"), SHOWN("globalPid", "INTEGER NOT NULL"),
	SHOWN("deviceId", "INTEGER NOT NULL"), SHOWN("address", "INTEGER NOT NULL"),
	SHOWN("numberOfPageFaults", "INTEGER NOT NULL"), SHOWN("faultAccessType", "INTEGER NOT NULL"),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell gpu_fault_cells[] = {
	FROM(NUMBER, COLUMN_GPU_FAULT_START), FROM(NUMBER, COLUMN_GPU_FAULT_END),
	FROM(GLOBAL_PID, COLUMN_GPU_FAULT_PROCESS), FROM(NUMBER_OR, COLUMN_GPU_FAULT_DEVICE),
	FROM(NUMBER_OR, COLUMN_GPU_FAULT_ADDRESS), FROM(NUMBER_OR, COLUMN_GPU_FAULT_COUNT),
	FROM(NUMBER_OR, COLUMN_GPU_FAULT_ACCESS), FROM(NUMBER, COLUMN_GPU_FAULT_PROCESS),
};
static const struct mapped_source mapped_gpu_faults_sources[] = {
	{ .table = TABLE_GPU_FAULT, .filter = FILTER_EQUAL, .filter_column = COLUMN_GPU_FAULT_KIND,
	  .filter_value = FAULT_OF_GPU, .cells = gpu_fault_cells },
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
	SHOWN("start", "INTEGER NOT NULL"), SHOWN("globalPid", "INTEGER NOT NULL"),
	SHOWN("deviceId", "INTEGER NOT NULL"), SHOWN("address", "INTEGER NOT NULL"),
	SHOWN("operationType", "INTEGER NOT NULL"), SHOWN("poolType", "INTEGER NOT NULL"),
	KEY("correlationId", "INTEGER"), SHOWN("minBytesToKeep", "INTEGER"),
	SHOWN("localMemoryPoolReleaseThreshold", "INTEGER"), SHOWN("localMemoryPoolSize", "INTEGER"),
	SHOWN("localMemoryPoolUtilizedSize", "INTEGER"), BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell pool_cells[] = {
	FROM(NUMBER, COLUMN_GPU_POOL_TIME), FROM(GLOBAL_PID, COLUMN_GPU_POOL_PROCESS),
	FROM(NUMBER_OR, COLUMN_GPU_POOL_DEVICE), FROM(NUMBER_OR, COLUMN_GPU_POOL_ADDRESS),
	FROM(NUMBER_OR, COLUMN_GPU_POOL_OPERATION), FROM(NUMBER_OR, COLUMN_GPU_POOL_TYPE),
	FROM(NUMBER, COLUMN_GPU_POOL_CORRELATION), FROM(NUMBER, COLUMN_GPU_POOL_KEEP),
	FROM(NUMBER, COLUMN_GPU_POOL_THRESHOLD), FROM(NUMBER, COLUMN_GPU_POOL_SIZE),
	FROM(NUMBER, COLUMN_GPU_POOL_USED), FROM(NUMBER, COLUMN_GPU_POOL_PROCESS),
};
static const struct mapped_source mapped_pools_sources[] = { SOURCE(GPU_POOL, pool_cells) };
MAPPED(mapped_pools, "CUDA_GPU_MEMORY_POOL_EVENTS");

/* Hardware counters and NVML's values are of different types. gpuMetricReal has what rounding would lose. */
#define METRIC(from) { .convert = CONVERT_TRACK_METRIC, .other = (from) }
static const struct mapped_column mapped_gpu_metrics_columns[] = {
	SHOWN("rawTimestamp", "INTEGER NOT NULL"), SHOWN("timestamp", "INTEGER NOT NULL"),
	SHOWN("typeId", "INTEGER NOT NULL"), SHOWN("metricId", "INTEGER NOT NULL"), SHOWN("value", "INTEGER NOT NULL"),
	BEHIND("gpuMetricReal", "REAL", "real"), BEHIND("gpuMetricTrack", "INTEGER", "track"),
	BEHIND("gpuUid", "INTEGER", NULL),
};
static const struct mapped_cell gpu_metric_cells[] = {
	FROM(NUMBER, COLUMN_COUNTER_TIME), FROM(NUMBER, COLUMN_COUNTER_TIME), METRIC(METRIC_TYPE), METRIC(METRIC_ID),
	WITH(ROUNDED, COLUMN_COUNTER_INTEGER, COLUMN_COUNTER_REAL),
	WITH(AS_REAL, COLUMN_COUNTER_INTEGER, COLUMN_COUNTER_REAL), FROM(TRACK, 0), FROM(TRACK_OBJECT, 0),
};
static const struct mapped_source mapped_gpu_metrics_sources[] = {
	{ .table = TABLE_COUNTER, .track_kind = TRACK_GPU_METRIC, .cells = gpu_metric_cells },
};
MAPPED(mapped_gpu_metrics, "GPU_METRICS");

static const struct mapped_column mapped_gpu_switches_columns[] = {
	SHOWN("tag", "INTEGER NOT NULL"), SHOWN("vmId", "INTEGER NOT NULL"), SHOWN("seqNo", "INTEGER NOT NULL"),
	SHOWN("contextId", "INTEGER NOT NULL"), SHOWN("timestamp", "INTEGER NOT NULL"), SHOWN("globalPid", "INTEGER"),
	SHOWN("gpuId", "INTEGER"), BEHIND("gpuUid", "INTEGER", NULL),
};
static const struct mapped_cell gpu_switch_cells[] = {
	FROM(NUMBER_OR, COLUMN_GPU_SWITCH_TAG), CONSTANT(VM_ID), FROM(NUMBER_OR, COLUMN_GPU_SWITCH_SEQUENCE),
	FROM(NUMBER_OR, COLUMN_GPU_SWITCH_CONTEXT), FROM(NUMBER, COLUMN_GPU_SWITCH_TIME),
	FROM(PID, COLUMN_GPU_SWITCH_PID), { .convert = CONVERT_TRACK_OBJECT, .constant = -1 }, FROM(TRACK_OBJECT, 0),
};
static const struct mapped_source mapped_gpu_switches_sources[] = {
	{ .table = TABLE_GPU_SWITCH, .track_kind = TRACK_GPU_SWITCH, .cells = gpu_switch_cells },
};
MAPPED(mapped_gpu_switches, "GPU_CONTEXT_SWITCH_EVENTS");

#define A_CELL_PER_COLUMN(its_cells, columns) \
	_Static_assert(COUNT(its_cells) == COUNT(columns), "a cell per column")
A_CELL_PER_COLUMN(cpu_fault_cells, mapped_cpu_faults_columns);
A_CELL_PER_COLUMN(gpu_fault_cells, mapped_gpu_faults_columns);
A_CELL_PER_COLUMN(memory_usage_cells, mapped_memory_usage_columns);
A_CELL_PER_COLUMN(pool_cells, mapped_pools_columns);
A_CELL_PER_COLUMN(gpu_metric_cells, mapped_gpu_metrics_columns);
A_CELL_PER_COLUMN(gpu_switch_cells, mapped_gpu_switches_columns);
