/* cuda_gpu_ops: all work of the GPUs in one shape, with the call that started it and the NVTX range around that.
 * cuda_kernel_exec: each kernel from its call to its end. */
#include "fmt/gpu_enums.h"
#include "query/engine/call_values.h"
#include "query/index/cuda_index.h"
#include "query/cuda/labels.h"
#include "query/engine/mapping_words.h"

/* clang-format off */
#define LAUNCH(from) { .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
#define CALL(what, correlation) { .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what }
#define RANGE(what, correlation, node)                                                           \
	{ .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what, .constant = (node) }

#define OPS(COLUMN)                                                                              \
	COLUMN(start, "INTEGER", FROM(NUMBER, 0)) COLUMN(end, "INTEGER", FROM(NUMBER, 1))        \
	COLUMN(duration, "INTEGER", WITH(DURATION, 1, UINT8_MAX)) COLUMN(kind, "INTEGER", OF_SOURCE) \
	COLUMN(name, "TEXT", OF_SOURCE) COLUMN(base, "TEXT", OF_SOURCE) COLUMN(mangled, "TEXT", OF_SOURCE) \
	COLUMN(correlationId, "INTEGER", OF_SOURCE) COLUMN(launch, "INTEGER", OF_SOURCE) COLUMN(shape, "INTEGER", OF_SOURCE) \
	COLUMN(gridX, "INTEGER", OF_SOURCE) COLUMN(gridY, "INTEGER", OF_SOURCE) COLUMN(gridZ, "INTEGER", OF_SOURCE) \
	COLUMN(blockX, "INTEGER", OF_SOURCE) COLUMN(blockY, "INTEGER", OF_SOURCE) COLUMN(blockZ, "INTEGER", OF_SOURCE) \
	COLUMN(registersPerThread, "INTEGER", OF_SOURCE) COLUMN(staticSharedMemory, "INTEGER", OF_SOURCE) \
	COLUMN(dynamicSharedMemory, "INTEGER", OF_SOURCE)                                        \
	COLUMN(bytes, "INTEGER", OF_SOURCE) COLUMN(copyKind, "INTEGER", OF_SOURCE)               \
	COLUMN(srcKind, "INTEGER", OF_SOURCE) COLUMN(dstKind, "INTEGER", OF_SOURCE)              \
	COLUMN(deviceId, "INTEGER", STREAM(STREAM_DEVICE)) COLUMN(gpuUid, "INTEGER", STREAM(STREAM_GPU)) \
	COLUMN(contextId, "INTEGER", STREAM(STREAM_CONTEXT)) COLUMN(greenContextId, "INTEGER", STREAM(STREAM_GREEN)) \
	COLUMN(streamId, "INTEGER", STREAM(STREAM_ID))                                           \
	COLUMN(graphNodeId, "INTEGER", OF_SOURCE) COLUMN(graphId, "INTEGER", OF_SOURCE)          \
	COLUMN(apiStart, "INTEGER", OF_SOURCE) COLUMN(apiEnd, "INTEGER", OF_SOURCE) COLUMN(apiName, "TEXT", OF_SOURCE) \
	COLUMN(globalTid, "INTEGER", OF_SOURCE) COLUMN(processUid, "INTEGER", FROM(TRACK_PROCESS, 0)) \
	COLUMN(nvtxName, "TEXT", OF_SOURCE) COLUMN(nvtxDomain, "TEXT", OF_SOURCE)                \
	COLUMN(nvtxRange, "INTEGER", OF_SOURCE) COLUMN(captureRange, "INTEGER", OF_SOURCE) COLUMN(track, "INTEGER", FROM(TRACK, 0))
/* clang-format on */
static const struct mapped_column ops_columns[] = { OPS(AS_COLUMN) };
struct op_places {
	OPS(AS_MEMBER)
};
#define AT(column) [offsetof(struct op_places, column)]
/* clang-format off */
#define WORK(T, node, ...)                                                                       \
	{ .table = TABLE_GPU_##T, .track_kind = TRACK_GPU_##T, CELLS_AT(op_places){              \
	  AT(kind) = CONSTANT(OP_##T), AT(correlationId) = FROM(NUMBER, COLUMN_GPU_##T##_CORRELATION), \
	  AT(apiStart) = CALL(START, COLUMN_GPU_##T##_CORRELATION), AT(apiEnd) = CALL(END, COLUMN_GPU_##T##_CORRELATION), \
	  AT(apiName) = CALL(NAME, COLUMN_GPU_##T##_CORRELATION), AT(globalTid) = CALL(TID, COLUMN_GPU_##T##_CORRELATION), \
	  AT(nvtxName) = RANGE(NVTX_NAME, COLUMN_GPU_##T##_CORRELATION, node),                   \
	  AT(nvtxDomain) = RANGE(NVTX_DOMAIN, COLUMN_GPU_##T##_CORRELATION, node),               \
	  AT(nvtxRange) = RANGE(NVTX_RANGE, COLUMN_GPU_##T##_CORRELATION, node),                 \
	  AT(captureRange) = RANGE(CAPTURE_RANGE, COLUMN_GPU_##T##_CORRELATION, node), __VA_ARGS__ } }
/* clang-format on */
#define GRAPH(T) AT(graphNodeId) = FROM(NUMBER, COLUMN_GPU_##T##_GRAPH_NODE), AT(graphId) = FROM(NUMBER, COLUMN_GPU_##T##_GRAPH)

static const struct mapped_source ops_sources[] = {
	WORK(KERNEL, COLUMN_GPU_KERNEL_GRAPH_NODE, GRAPH(KERNEL), AT(name) = LAUNCH_TEXT(LAUNCH_NAME),
	     AT(base) = LAUNCH_TEXT(LAUNCH_SHORT_NAME), AT(mangled) = LAUNCH_TEXT(LAUNCH_MANGLED),
	     AT(launch) = FROM(NUMBER, COLUMN_GPU_KERNEL_LAUNCH), AT(shape) = LAUNCH(LAUNCH_SHAPE),
	     AT(gridX) = LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X), AT(gridY) = LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y),
	     AT(gridZ) = LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z), AT(blockX) = LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X),
	     AT(blockY) = LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y), AT(blockZ) = LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z),
	     AT(registersPerThread) = LAUNCH(COLUMN_CUDA_LAUNCH_REGISTERS),
	     AT(staticSharedMemory) = LAUNCH(COLUMN_CUDA_LAUNCH_STATIC_SHARED),
	     AT(dynamicSharedMemory) = LAUNCH(COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED)),
	WORK(COPY, COLUMN_GPU_COPY_GRAPH_NODE, GRAPH(COPY), AT(bytes) = FROM(NUMBER, COLUMN_GPU_COPY_BYTES),
	     AT(copyKind) = FROM(NUMBER_OR, COLUMN_GPU_COPY_KIND), AT(srcKind) = FROM(MEMORY_KIND, COLUMN_GPU_COPY_SOURCE),
	     AT(dstKind) = FROM(MEMORY_KIND, COLUMN_GPU_COPY_TARGET)),
	WORK(SET, COLUMN_GPU_SET_GRAPH_NODE, GRAPH(SET), AT(bytes) = FROM(NUMBER, COLUMN_GPU_SET_BYTES),
	     AT(srcKind) = FROM(MEMORY_KIND, COLUMN_GPU_SET_MEMORY)),
	WORK(GRAPH, CALL_NO_NODE, AT(graphId) = FROM(NUMBER, COLUMN_GPU_GRAPH_GRAPH)),
	WORK(SYNC, CALL_NO_NODE, AT(graphId) = NOTHING),
};
static MAPPED(ops, "cuda_gpu_ops");

#define KERNEL_CALL(what) CALL(what, COLUMN_GPU_KERNEL_CORRELATION)
#define KERNEL_RANGE(what) RANGE(what, COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE)
/* clang-format off */
static const struct mapped_column exec_columns[] = {
	SHOWN("apiStart", "INTEGER", KERNEL_CALL(START)), SHOWN("apiDuration", "INTEGER", KERNEL_CALL(DURATION)),
	SHOWN("queueStart", "INTEGER", KERNEL_CALL(QUEUE_START)), SHOWN("queueDuration", "INTEGER", KERNEL_CALL(QUEUE_DURATION)),
	SHOWN("kernelStart", "INTEGER", FROM(NUMBER, COLUMN_GPU_KERNEL_START)),
	SHOWN("kernelDuration", "INTEGER", WITH(DURATION, COLUMN_GPU_KERNEL_END, UINT8_MAX)),
	SHOWN("totalDuration", "INTEGER", KERNEL_CALL(TOTAL_DURATION)), SHOWN("globalTid", "INTEGER", KERNEL_CALL(TID)),
	SHOWN("deviceId", "INTEGER", STREAM(STREAM_DEVICE)), SHOWN("apiName", "TEXT", KERNEL_CALL(NAME)),
	SHOWN("name", "TEXT", LAUNCH_TEXT(LAUNCH_NAME)), SHOWN("base", "TEXT", LAUNCH_TEXT(LAUNCH_SHORT_NAME)),
	SHOWN("mangled", "TEXT", LAUNCH_TEXT(LAUNCH_MANGLED)), SHOWN("shape", "INTEGER", LAUNCH(LAUNCH_SHAPE)),
	SHOWN("gridX", "INTEGER", LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X)), SHOWN("gridY", "INTEGER", LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y)),
	SHOWN("gridZ", "INTEGER", LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z)), SHOWN("blockX", "INTEGER", LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X)),
	SHOWN("blockY", "INTEGER", LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y)), SHOWN("blockZ", "INTEGER", LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z)),
	SHOWN("nvtxName", "TEXT", KERNEL_RANGE(NVTX_NAME)), SHOWN("nvtxDomain", "TEXT", KERNEL_RANGE(NVTX_DOMAIN)),
};
/* clang-format on */
static const struct mapped_source exec_sources[] = { { .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL } };
static MAPPED(exec, "cuda_kernel_exec");

const struct mapped_table *const call_tables[] = { &ops, &exec, &mapped_imported, &mapped_nsys_rows, &mapped_nsys_cells };
const unsigned call_table_count = COUNT_OF(call_tables);

_Static_assert(COUNT_OF(ops_columns) <= MAPPED_MAX_COLUMNS, "a scan has room for them");

const char *cuda_op_label(int64_t kind, int64_t copy)
{
	static const char *const copies[] = {
#define COPY_KIND(number, NAME, word, text, kineto, nsys) [number] = "[CUDA memcpy " text "]",
#include "fmt/gpu_enums.def"
	};

	switch (kind) {
	case OP_COPY: return copies[copy >= 0 && copy < (int64_t)COUNT_OF(copies) ? copy : 0];
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
	sqlite3_result_text(context, cuda_op_label(sqlite3_value_int64(argv[0]), sqlite3_value_int64(argv[1])), -1, SQLITE_STATIC);
}

/* cuda_memory_label(kind) */
void sql_cuda_memory_label(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_text(context, cuda_memory_label(sqlite3_value_int64(argv[0])), -1, SQLITE_STATIC);
}
