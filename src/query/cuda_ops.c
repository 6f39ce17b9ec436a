/* cuda_gpu_ops: all work of the GPUs in one shape, with the call that started it and the NVTX range around that.
 * cuda_kernel_exec: each kernel from its call to its end. */
#include "fmt/gpu_enums.h"
#include "query/call_values.h"
#include "query/cuda_index.h"
#include "query/cuda_labels.h"
#include "query/mapping_words.h"

#define LAUNCH(from) { .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
#define CALL(what, correlation) { .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what }
#define RANGE(what, correlation, node)                                                           \
	{ .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what, .constant = (node) }

static const struct mapped_column ops_columns[] = {
	SHOWN("start", "INTEGER"), SHOWN("end", "INTEGER"), SHOWN("duration", "INTEGER"), SHOWN("kind", "INTEGER"),
	SHOWN("name", "TEXT"), SHOWN("base", "TEXT"), SHOWN("mangled", "TEXT"),
	SHOWN("correlationId", "INTEGER"), SHOWN("launch", "INTEGER"), SHOWN("shape", "INTEGER"),
	SHOWN("gridX", "INTEGER"), SHOWN("gridY", "INTEGER"), SHOWN("gridZ", "INTEGER"),
	SHOWN("blockX", "INTEGER"), SHOWN("blockY", "INTEGER"), SHOWN("blockZ", "INTEGER"),
	SHOWN("registersPerThread", "INTEGER"), SHOWN("staticSharedMemory", "INTEGER"),
	SHOWN("dynamicSharedMemory", "INTEGER"),
	SHOWN("bytes", "INTEGER"), SHOWN("copyKind", "INTEGER"), SHOWN("srcKind", "INTEGER"), SHOWN("dstKind", "INTEGER"),
	SHOWN("deviceId", "INTEGER"), SHOWN("gpuUid", "INTEGER"), SHOWN("contextId", "INTEGER"),
	SHOWN("greenContextId", "INTEGER"), SHOWN("streamId", "INTEGER"),
	SHOWN("graphNodeId", "INTEGER"), SHOWN("graphId", "INTEGER"),
	SHOWN("apiStart", "INTEGER"), SHOWN("apiEnd", "INTEGER"), SHOWN("apiName", "TEXT"), SHOWN("globalTid", "INTEGER"),
	SHOWN("processUid", "INTEGER"),
	SHOWN("nvtxName", "TEXT"), SHOWN("nvtxDomain", "TEXT"),
	SHOWN("nvtxRange", "INTEGER"), SHOWN("captureRange", "INTEGER"), SHOWN("track", "INTEGER"),
};

/* What all sources have. */
#define TIMES(op)                                                                                \
	FROM(NUMBER, 0), FROM(NUMBER, 1), WITH(DURATION, 1, UINT8_MAX), CONSTANT(op)
#define PLACE                                                                                    \
	STREAM(STREAM_DEVICE), STREAM(STREAM_GPU), STREAM(STREAM_CONTEXT), STREAM(STREAM_GREEN), STREAM(STREAM_ID)
#define STARTED_BY(correlation, node)                                                            \
	CALL(START, correlation), CALL(END, correlation), CALL(NAME, correlation),               \
	CALL(TID, correlation), FROM(TRACK_PROCESS, 0),                                          \
	RANGE(NVTX_NAME, correlation, node), RANGE(NVTX_DOMAIN, correlation, node),              \
	RANGE(NVTX_RANGE, correlation, node), RANGE(CAPTURE_RANGE, correlation, node), FROM(TRACK, 0)
#define NO_LAUNCH                                                                                \
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING

static const struct mapped_cell kernel_cells[] = {
	TIMES(OP_KERNEL), LAUNCH_TEXT(LAUNCH_NAME), LAUNCH_TEXT(LAUNCH_SHORT_NAME), LAUNCH_TEXT(LAUNCH_MANGLED),
	FROM(NUMBER, COLUMN_GPU_KERNEL_CORRELATION), FROM(NUMBER, COLUMN_GPU_KERNEL_LAUNCH), LAUNCH(LAUNCH_SHAPE),
	LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_REGISTERS), LAUNCH(COLUMN_CUDA_LAUNCH_STATIC_SHARED),
	LAUNCH(COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED), NOTHING, NOTHING, NOTHING, NOTHING,
	PLACE, FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH),
	STARTED_BY(COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
};
static const struct mapped_cell copy_cells[] = {
	TIMES(OP_COPY), NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_COPY_CORRELATION), NO_LAUNCH,
	FROM(NUMBER, COLUMN_GPU_COPY_BYTES), FROM(NUMBER_OR, COLUMN_GPU_COPY_KIND),
	FROM(MEMORY_KIND, COLUMN_GPU_COPY_SOURCE), FROM(MEMORY_KIND, COLUMN_GPU_COPY_TARGET),
	PLACE,
	FROM(NUMBER, COLUMN_GPU_COPY_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_COPY_GRAPH),
	STARTED_BY(COLUMN_GPU_COPY_CORRELATION, COLUMN_GPU_COPY_GRAPH_NODE),
};
static const struct mapped_cell set_cells[] = {
	TIMES(OP_SET), NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_SET_CORRELATION), NO_LAUNCH,
	FROM(NUMBER, COLUMN_GPU_SET_BYTES), NOTHING, FROM(MEMORY_KIND, COLUMN_GPU_SET_MEMORY), NOTHING,
	PLACE, FROM(NUMBER, COLUMN_GPU_SET_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_SET_GRAPH),
	STARTED_BY(COLUMN_GPU_SET_CORRELATION, COLUMN_GPU_SET_GRAPH_NODE),
};
static const struct mapped_cell graph_cells[] = {
	TIMES(OP_GRAPH), NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_GRAPH_CORRELATION), NO_LAUNCH,
	NOTHING, NOTHING, NOTHING, NOTHING,
	PLACE, NOTHING, FROM(NUMBER, COLUMN_GPU_GRAPH_GRAPH),
	STARTED_BY(COLUMN_GPU_GRAPH_CORRELATION, CALL_NO_NODE),
};
static const struct mapped_cell sync_cells[] = {
	TIMES(OP_SYNC), NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_SYNC_CORRELATION), NO_LAUNCH,
	NOTHING, NOTHING, NOTHING, NOTHING,
	PLACE, NOTHING, NOTHING,
	STARTED_BY(COLUMN_GPU_SYNC_CORRELATION, CALL_NO_NODE),
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
	SHOWN("name", "TEXT"), SHOWN("base", "TEXT"), SHOWN("mangled", "TEXT"), SHOWN("shape", "INTEGER"),
	SHOWN("gridX", "INTEGER"), SHOWN("gridY", "INTEGER"), SHOWN("gridZ", "INTEGER"),
	SHOWN("blockX", "INTEGER"), SHOWN("blockY", "INTEGER"), SHOWN("blockZ", "INTEGER"),
	SHOWN("nvtxName", "TEXT"), SHOWN("nvtxDomain", "TEXT"),
};
#define KERNEL_CALL(what) CALL(what, COLUMN_GPU_KERNEL_CORRELATION)
static const struct mapped_cell exec_cells[] = {
	KERNEL_CALL(START), KERNEL_CALL(DURATION), KERNEL_CALL(QUEUE_START), KERNEL_CALL(QUEUE_DURATION),
	FROM(NUMBER, COLUMN_GPU_KERNEL_START), WITH(DURATION, COLUMN_GPU_KERNEL_END, UINT8_MAX),
	KERNEL_CALL(TOTAL_DURATION), KERNEL_CALL(TID), STREAM(STREAM_DEVICE), KERNEL_CALL(NAME),
	LAUNCH_TEXT(LAUNCH_NAME), LAUNCH_TEXT(LAUNCH_SHORT_NAME), LAUNCH_TEXT(LAUNCH_MANGLED), LAUNCH(LAUNCH_SHAPE),
	LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z),
	RANGE(NVTX_NAME, COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
	RANGE(NVTX_DOMAIN, COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
};
static const struct mapped_source exec_sources[] = {
	{ .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL, .cells = exec_cells },
};
static MAPPED(exec, "cuda_kernel_exec");

const struct mapped_table *const call_tables[] = { &ops, &exec, &mapped_imported, &mapped_nsys_rows, &mapped_nsys_cells };
const unsigned call_table_count = COUNT(call_tables);

_Static_assert(COUNT(kernel_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(copy_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(set_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(graph_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(sync_cells) == COUNT(ops_columns), "a cell per column");
_Static_assert(COUNT(exec_cells) == COUNT(exec_columns), "a cell per column");
_Static_assert(COUNT(ops_columns) <= MAPPED_MAX_COLUMNS, "a scan has room for them");

const char *cuda_op_label(int64_t kind, int64_t copy)
{
	static const char *const copies[] = {
#define COPY_KIND(number, NAME, word, text, kineto, nsys) [number] = "[CUDA memcpy " text "]",
#include "fmt/gpu_enums.def"
	};

	switch (kind) {
	case OP_COPY: return copies[copy >= 0 && copy < (int64_t)COUNT(copies) ? copy : 0];
	case OP_SET: return "[CUDA memset]";
	case OP_GRAPH: return "[CUDA Graph]";
	default: return NULL;
	}
}

const char *cuda_memory_label(int64_t kind)
{
	return gpu_memory_kind(gpu_memory_kind_of_nsys(kind))->text;
}

/* cuda_op_label(kind, copyKind) */
void sql_cuda_op_label(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	sqlite3_result_text(context, cuda_op_label(sqlite3_value_int64(argv[0]), sqlite3_value_int64(argv[1])), -1,
			    SQLITE_STATIC);
}

/* cuda_memory_label(kind) */
void sql_cuda_memory_label(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_text(context, cuda_memory_label(sqlite3_value_int64(argv[0])), -1, SQLITE_STATIC);
}
