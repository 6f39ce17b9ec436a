/* cuda_gpu_ops: all work of the GPUs in one shape, with the call that started it and the NVTX range around that.
 * cuda_kernel_exec: each kernel from its call to its end. cuda_api_calls: the calls. */
#include "query/cuda_values.h"
#include "query/mapping_words.h"

#define LOOK_UP(what, by) { .convert = CONVERT_CUDA, .column = (by), .other = CUDA_##what }
#define LOOK_UP_RANGE(what, by, node) { .convert = CONVERT_CUDA, .column = (by), .other = CUDA_##what, .constant = (node) }

/* As they are in column `kind`. */
enum { OP_KERNEL = 1, OP_COPY = 2, OP_SET = 3, OP_GRAPH = 4, OP_SYNC = 5 };

static const struct mapped_column ops_columns[] = {
	SHOWN("start", "INTEGER"), SHOWN("end", "INTEGER"), SHOWN("duration", "INTEGER"),
	SHOWN("kind", "INTEGER"),
	SHOWN("name", "TEXT"), SHOWN("shortName", "TEXT"), SHOWN("mangled", "TEXT"),
	SHOWN("correlationId", "INTEGER"),
	SHOWN("grid", "INTEGER"), SHOWN("block", "INTEGER"),
	SHOWN("registersPerThread", "INTEGER"), SHOWN("staticShared", "INTEGER"), SHOWN("dynamicShared", "INTEGER"),
	SHOWN("bytes", "INTEGER"), SHOWN("copyKind", "INTEGER"), SHOWN("srcKind", "INTEGER"), SHOWN("dstKind", "INTEGER"),
	SHOWN("address", "INTEGER"),
	SHOWN("deviceId", "INTEGER"), SHOWN("deviceName", "TEXT"), SHOWN("contextId", "INTEGER"),
	SHOWN("greenContextId", "INTEGER"), SHOWN("streamId", "INTEGER"),
	SHOWN("graphNodeId", "INTEGER"), SHOWN("graphId", "INTEGER"),
	SHOWN("apiStart", "INTEGER"), SHOWN("apiEnd", "INTEGER"), SHOWN("apiName", "TEXT"), SHOWN("globalTid", "INTEGER"),
	SHOWN("processUid", "INTEGER"),
	SHOWN("nvtxName", "TEXT"), SHOWN("nvtxDomain", "TEXT"),
	SHOWN("nvtxRange", "INTEGER"), SHOWN("captureRange", "INTEGER"),
	SHOWN("track", "INTEGER"),
};

/* What all sources end with. */
#define PLACE LOOK_UP(DEVICE, 0), LOOK_UP(DEVICE_NAME, 0), LOOK_UP(CONTEXT, 0), LOOK_UP(GREEN_CONTEXT, 0), LOOK_UP(STREAM, 0)
#define CALL(correlation)                                                                                    \
	LOOK_UP(API_START, correlation), LOOK_UP(API_END, correlation), LOOK_UP(API_NAME, correlation),      \
	LOOK_UP(API_TID, correlation), FROM(TRACK_PROCESS, 0)
#define RANGE(correlation, node)                                                                             \
	LOOK_UP_RANGE(NVTX_NAME, correlation, node), LOOK_UP_RANGE(NVTX_DOMAIN, correlation, node),          \
	LOOK_UP_RANGE(NVTX_RANGE, correlation, node), LOOK_UP_RANGE(CAPTURE_RANGE, correlation, node), FROM(TRACK, 0)

static const struct mapped_cell kernel_cells[] = {
	FROM(NUMBER, COLUMN_GPU_KERNEL_START), FROM(NUMBER, COLUMN_GPU_KERNEL_END),
	WITH(DURATION, COLUMN_GPU_KERNEL_END, UINT8_MAX), CONSTANT(OP_KERNEL),
	LOOK_UP(NAME, COLUMN_GPU_KERNEL_LAUNCH), LOOK_UP(SHORT_NAME, COLUMN_GPU_KERNEL_LAUNCH),
	LOOK_UP(MANGLED, COLUMN_GPU_KERNEL_LAUNCH), FROM(NUMBER, COLUMN_GPU_KERNEL_CORRELATION),
	LOOK_UP(GRID, COLUMN_GPU_KERNEL_LAUNCH), LOOK_UP(BLOCK, COLUMN_GPU_KERNEL_LAUNCH),
	LOOK_UP(REGISTERS, COLUMN_GPU_KERNEL_LAUNCH), LOOK_UP(STATIC_SHARED, COLUMN_GPU_KERNEL_LAUNCH),
	LOOK_UP(DYNAMIC_SHARED, COLUMN_GPU_KERNEL_LAUNCH),
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, PLACE,
	FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH),
	CALL(COLUMN_GPU_KERNEL_CORRELATION), RANGE(COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
};
static const struct mapped_cell copy_cells[] = {
	FROM(NUMBER, COLUMN_GPU_COPY_START), FROM(NUMBER, COLUMN_GPU_COPY_END),
	WITH(DURATION, COLUMN_GPU_COPY_END, UINT8_MAX), CONSTANT(OP_COPY),
	NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_COPY_CORRELATION),
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	FROM(NUMBER, COLUMN_GPU_COPY_BYTES), FROM(NUMBER, COLUMN_GPU_COPY_KIND), FROM(NUMBER, COLUMN_GPU_COPY_SOURCE),
	FROM(NUMBER, COLUMN_GPU_COPY_TARGET), FROM(NUMBER, COLUMN_GPU_COPY_ADDRESS), PLACE,
	FROM(NUMBER, COLUMN_GPU_COPY_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_COPY_GRAPH),
	CALL(COLUMN_GPU_COPY_CORRELATION), RANGE(COLUMN_GPU_COPY_CORRELATION, COLUMN_GPU_COPY_GRAPH_NODE),
};
static const struct mapped_cell set_cells[] = {
	FROM(NUMBER, COLUMN_GPU_SET_START), FROM(NUMBER, COLUMN_GPU_SET_END),
	WITH(DURATION, COLUMN_GPU_SET_END, UINT8_MAX), CONSTANT(OP_SET),
	NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_SET_CORRELATION),
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	FROM(NUMBER, COLUMN_GPU_SET_BYTES), NOTHING, FROM(NUMBER, COLUMN_GPU_SET_MEMORY), NOTHING, NOTHING, PLACE,
	FROM(NUMBER, COLUMN_GPU_SET_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_SET_GRAPH),
	CALL(COLUMN_GPU_SET_CORRELATION), RANGE(COLUMN_GPU_SET_CORRELATION, COLUMN_GPU_SET_GRAPH_NODE),
};
static const struct mapped_cell graph_cells[] = {
	FROM(NUMBER, COLUMN_GPU_GRAPH_START), FROM(NUMBER, COLUMN_GPU_GRAPH_END),
	WITH(DURATION, COLUMN_GPU_GRAPH_END, UINT8_MAX), CONSTANT(OP_GRAPH),
	NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_GRAPH_CORRELATION),
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, PLACE,
	NOTHING, FROM(NUMBER, COLUMN_GPU_GRAPH_GRAPH),
	CALL(COLUMN_GPU_GRAPH_CORRELATION), RANGE(COLUMN_GPU_GRAPH_CORRELATION, CUDA_NO_NODE),
};
static const struct mapped_cell sync_cells[] = {
	FROM(NUMBER, COLUMN_GPU_SYNC_START), FROM(NUMBER, COLUMN_GPU_SYNC_END),
	WITH(DURATION, COLUMN_GPU_SYNC_END, UINT8_MAX), CONSTANT(OP_SYNC),
	NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_SYNC_CORRELATION),
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, PLACE,
	NOTHING, NOTHING,
	CALL(COLUMN_GPU_SYNC_CORRELATION), RANGE(COLUMN_GPU_SYNC_CORRELATION, CUDA_NO_NODE),
};
static const struct mapped_source ops_sources[] = {
	{ .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL, .cells = kernel_cells },
	{ .table = TABLE_GPU_COPY, .track_kind = TRACK_GPU_COPY, .cells = copy_cells },
	{ .table = TABLE_GPU_SET, .track_kind = TRACK_GPU_SET, .cells = set_cells },
	{ .table = TABLE_GPU_GRAPH, .track_kind = TRACK_GPU_GRAPH, .cells = graph_cells },
	{ .table = TABLE_GPU_SYNC, .track_kind = TRACK_GPU_SYNC, .cells = sync_cells },
};
static MAPPED(ops, "cuda_gpu_ops");

static const struct mapped_column exec_columns[] = {
	SHOWN("apiStart", "INTEGER"), SHOWN("apiDuration", "INTEGER"),
	SHOWN("queueStart", "INTEGER"), SHOWN("queueDuration", "INTEGER"),
	SHOWN("kernelStart", "INTEGER"), SHOWN("kernelDuration", "INTEGER"), SHOWN("totalDuration", "INTEGER"),
	SHOWN("globalTid", "INTEGER"), SHOWN("deviceId", "INTEGER"), SHOWN("apiName", "TEXT"),
	SHOWN("name", "TEXT"), SHOWN("shortName", "TEXT"), SHOWN("mangled", "TEXT"),
	SHOWN("grid", "INTEGER"), SHOWN("block", "INTEGER"),
	SHOWN("nvtxName", "TEXT"), SHOWN("nvtxDomain", "TEXT"),
};
static const struct mapped_cell exec_cells[] = {
	LOOK_UP(API_START, COLUMN_GPU_KERNEL_CORRELATION), LOOK_UP(API_DURATION, COLUMN_GPU_KERNEL_CORRELATION),
	LOOK_UP(QUEUE_START, COLUMN_GPU_KERNEL_CORRELATION), LOOK_UP(QUEUE_DURATION, COLUMN_GPU_KERNEL_CORRELATION),
	FROM(NUMBER, COLUMN_GPU_KERNEL_START), WITH(DURATION, COLUMN_GPU_KERNEL_END, UINT8_MAX),
	LOOK_UP(TOTAL_DURATION, COLUMN_GPU_KERNEL_CORRELATION), LOOK_UP(API_TID, COLUMN_GPU_KERNEL_CORRELATION),
	LOOK_UP(DEVICE, 0), LOOK_UP(API_NAME, COLUMN_GPU_KERNEL_CORRELATION),
	LOOK_UP(NAME, COLUMN_GPU_KERNEL_LAUNCH), LOOK_UP(SHORT_NAME, COLUMN_GPU_KERNEL_LAUNCH),
	LOOK_UP(MANGLED, COLUMN_GPU_KERNEL_LAUNCH), LOOK_UP(GRID, COLUMN_GPU_KERNEL_LAUNCH),
	LOOK_UP(BLOCK, COLUMN_GPU_KERNEL_LAUNCH),
	LOOK_UP_RANGE(NVTX_NAME, COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
	LOOK_UP_RANGE(NVTX_DOMAIN, COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
};
static const struct mapped_source exec_sources[] = {
	{ .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL, .cells = exec_cells },
};
static MAPPED(exec, "cuda_kernel_exec");

static const struct mapped_column calls_columns[] = {
	SHOWN("start", "INTEGER"), SHOWN("end", "INTEGER"), SHOWN("duration", "INTEGER"), SHOWN("name", "TEXT"),
	SHOWN("class", "INTEGER"), SHOWN("result", "INTEGER"), SHOWN("correlationId", "INTEGER"),
	SHOWN("globalTid", "INTEGER"), SHOWN("threadName", "TEXT"), SHOWN("nvtxName", "TEXT"), SHOWN("nvtxDomain", "TEXT"),
	SHOWN("open", "INTEGER"),
};
static const struct mapped_cell calls_cells[] = {
	FROM(NUMBER, COLUMN_CUDA_API_START), FROM(NUMBER, COLUMN_CUDA_API_END),
	WITH(DURATION, COLUMN_CUDA_API_END, COLUMN_CUDA_API_FLAGS), LOOK_UP(OWN_NAME, COLUMN_CUDA_API_NAME),
	FROM(NUMBER, COLUMN_CUDA_API_CLASS), FROM(NUMBER, COLUMN_CUDA_API_RESULT),
	FROM(NUMBER, COLUMN_CUDA_API_CORRELATION), FROM(TRACK_TID, 0), LOOK_UP(OWN_THREAD_NAME, 0),
	LOOK_UP(OWN_NVTX_NAME, 0), LOOK_UP(OWN_NVTX_DOMAIN, 0), FROM(OPEN, COLUMN_CUDA_API_FLAGS),
};
static const struct mapped_source calls_sources[] = {
	{ .table = TABLE_CUDA_API, .track_kind = TRACK_CUDA_API, .cells = calls_cells },
};
static MAPPED(calls, "cuda_api_calls");

const struct mapped_table *const cuda_tables[] = { &ops, &exec, &calls };
const unsigned cuda_table_count = COUNT(cuda_tables);

_Static_assert(COUNT(kernel_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(copy_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(set_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(graph_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(sync_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(exec_cells) == COUNT(exec_columns), "a cell per column");
_Static_assert(COUNT(calls_cells) == COUNT(calls_columns), "a cell per column");
_Static_assert(COUNT(ops_columns) <= MAPPED_MAX_COLUMNS, "a scan has room for them");
