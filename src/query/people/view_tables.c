/* Tables for people, beside those of nsys: names instead of numbers that name them, what rows refer to beside them.
 * Times are ns since the recording began. docs/sql.md lists the columns. */
#include "query/engine/call_values.h"
#include "query/index/cuda_index.h"
#include "query/engine/mapping_words.h"
#include "query/engine/view_values.h"

/* clang-format off */
#define LAUNCH(from) { .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
#define CALL(what, correlation) { .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what }
#define RANGE(what, correlation, node)                                                           \
	{ .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what, .constant = (node) }
#define VIEW(what, from) { .convert = CONVERT_VIEW, .column = (from), .other = VIEW_##what }
#define TRACK(what) { .convert = CONVERT_TRACK_VIEW, .other = VIEW_TRACK_##what }
#define WORD(which) { .convert = CONVERT_LABEL_TEXT, .constant = STRING_ID_VIEW - STRING_ID_MADE + (which) }
/* clang-format on */

#define NUMBER(its_name, ...) SHOWN(its_name, "INTEGER", __VA_ARGS__)
#define TEXT(its_name, ...) SHOWN(its_name, "TEXT", __VA_ARGS__)

#define TIMES NUMBER("start", FROM(NUMBER, 0)), NUMBER("end", FROM(NUMBER, 1)), NUMBER("duration", WITH(DURATION, 1, UINT8_MAX))
#define OPEN_TIMES(flags) NUMBER("start", FROM(NUMBER, 0)), NUMBER("end", WITH(END, 1, flags)), NUMBER("duration", WITH(DURATION, 1, flags))
/* Whose thread the track is of. */
#define WHO \
	NUMBER("pid", TRACK(PID)), TEXT("process", TRACK(PROCESS)), NUMBER("tid", TRACK(TID)), TEXT("thread", TRACK(THREAD)), \
		NUMBER("global_tid", FROM(TRACK_TID, 0))

/* Work of a GPU: where, the call that started it, and the innermost NVTX range around that call. */
#define PLACE \
	NUMBER("device", STREAM(STREAM_DEVICE)), NUMBER("gpu", STREAM(STREAM_GPU)), NUMBER("context", STREAM(STREAM_CONTEXT)), \
		NUMBER("stream", STREAM(STREAM_ID))
#define CAUSE(correlation, node) \
	NUMBER("pid", TRACK(PID)), TEXT("process", TRACK(PROCESS)), NUMBER("tid", CALL(TID_NUMBER, correlation)), \
		TEXT("thread", CALL(THREAD_NAME, correlation)), NUMBER("global_tid", CALL(TID, correlation)), \
		KEY("correlation_id", "INTEGER", FROM(NUMBER, correlation)), TEXT("api", CALL(NAME, correlation)), \
		NUMBER("api_start", CALL(START, correlation)), NUMBER("api_end", CALL(END, correlation)), \
		TEXT("nvtx_range", RANGE(NVTX_NAME, correlation, node)), TEXT("nvtx_domain", RANGE(NVTX_DOMAIN, correlation, node))
#define GRAPH(node, graph) KEY("graph_node", "INTEGER", FROM(NUMBER, node)), NUMBER("graph", FROM(NUMBER, graph))

/* clang-format off */
static const struct mapped_column kernels_columns[] = {
	TIMES, TEXT("name", LAUNCH_TEXT(LAUNCH_NAME)), TEXT("short_name", LAUNCH_TEXT(LAUNCH_SHORT_NAME)),
	TEXT("mangled_name", LAUNCH_TEXT(LAUNCH_MANGLED)), PLACE, NUMBER("grid_x", LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X)),
	NUMBER("grid_y", LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y)), NUMBER("grid_z", LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z)),
	NUMBER("block_x", LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X)), NUMBER("block_y", LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y)),
	NUMBER("block_z", LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z)), NUMBER("registers", LAUNCH(COLUMN_CUDA_LAUNCH_REGISTERS)),
	NUMBER("static_shared_bytes", LAUNCH(COLUMN_CUDA_LAUNCH_STATIC_SHARED)),
	NUMBER("dynamic_shared_bytes", LAUNCH(COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED)),
	NUMBER("queue_duration", CALL(QUEUE_DURATION, COLUMN_GPU_KERNEL_CORRELATION)),
	CAUSE(COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
	GRAPH(COLUMN_GPU_KERNEL_GRAPH_NODE, COLUMN_GPU_KERNEL_GRAPH),
};
/* clang-format on */
static const struct mapped_source kernels_sources[] = { { .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL } };
static MAPPED(kernels, "kernels");

/* clang-format off */
static const struct mapped_column memcpys_columns[] = {
	TIMES, TEXT("kind", VIEW(COPY_KIND, COLUMN_GPU_COPY_KIND)), NUMBER("bytes", FROM(NUMBER, COLUMN_GPU_COPY_BYTES)),
	SHOWN("gb_per_s", "REAL", VIEW(BANDWIDTH, COLUMN_GPU_COPY_BYTES)),
	TEXT("source", VIEW(MEMORY_KIND, COLUMN_GPU_COPY_SOURCE)), TEXT("target", VIEW(MEMORY_KIND, COLUMN_GPU_COPY_TARGET)),
	NUMBER("source_device", FROM(NUMBER, COLUMN_GPU_COPY_SOURCE_DEVICE)),
	NUMBER("target_device", FROM(NUMBER, COLUMN_GPU_COPY_TARGET_DEVICE)), PLACE,
	CAUSE(COLUMN_GPU_COPY_CORRELATION, COLUMN_GPU_COPY_GRAPH_NODE), GRAPH(COLUMN_GPU_COPY_GRAPH_NODE, COLUMN_GPU_COPY_GRAPH),
};
/* clang-format on */
static const struct mapped_source memcpys_sources[] = { { .table = TABLE_GPU_COPY, .track_kind = TRACK_GPU_COPY } };
static MAPPED(memcpys, "memcpys");

/* clang-format off */
static const struct mapped_column memsets_columns[] = {
	TIMES, NUMBER("value", FROM(NUMBER, COLUMN_GPU_SET_VALUE)), NUMBER("bytes", FROM(NUMBER, COLUMN_GPU_SET_BYTES)),
	SHOWN("gb_per_s", "REAL", VIEW(BANDWIDTH, COLUMN_GPU_SET_BYTES)), TEXT("target", VIEW(MEMORY_KIND, COLUMN_GPU_SET_MEMORY)),
	PLACE, CAUSE(COLUMN_GPU_SET_CORRELATION, COLUMN_GPU_SET_GRAPH_NODE), GRAPH(COLUMN_GPU_SET_GRAPH_NODE, COLUMN_GPU_SET_GRAPH),
};
/* clang-format on */
static const struct mapped_source memsets_sources[] = { { .table = TABLE_GPU_SET, .track_kind = TRACK_GPU_SET } };
static MAPPED(memsets, "memsets");

static const struct mapped_column syncs_columns[] = {
	TIMES, TEXT("kind", VIEW(SYNC_KIND, COLUMN_GPU_SYNC_KIND)), NUMBER("event", FROM(NUMBER, COLUMN_GPU_SYNC_EVENT)),
	PLACE, CAUSE(COLUMN_GPU_SYNC_CORRELATION, CALL_NO_NODE),
};
static const struct mapped_source syncs_sources[] = { { .table = TABLE_GPU_SYNC, .track_kind = TRACK_GPU_SYNC } };
static MAPPED(syncs, "syncs");

/* clang-format off */
static const struct mapped_column apis_columns[] = {
	OPEN_TIMES(COLUMN_CUDA_API_FLAGS), TEXT("name", FROM(API_TEXT, COLUMN_CUDA_API_NAME)),
	TEXT("kind", VIEW(API_KIND, COLUMN_CUDA_API_CLASS)), NUMBER("result", FROM(NUMBER, COLUMN_CUDA_API_RESULT)),
	KEY("correlation_id", "INTEGER", FROM(NUMBER, COLUMN_CUDA_API_CORRELATION)), NUMBER("depth", FROM(TRACK_DEPTH, 0)),
	NUMBER("stack", FROM(NUMBER_OR_NULL, COLUMN_CUDA_API_STACK)), WHO,
};
/* clang-format on */
static const struct mapped_source apis_sources[] = { { .table = TABLE_CUDA_API, .track_kind = TRACK_CUDA_API } };
static MAPPED(apis, "apis");

/* clang-format off */
#define RANGES(COLUMN)                                                                           \
	COLUMN(start, "INTEGER", FROM(NUMBER, 0)) COLUMN(end, "INTEGER", WITH(END, 1, COLUMN_SLICE_FLAGS)) \
	COLUMN(duration, "INTEGER", WITH(DURATION, 1, COLUMN_SLICE_FLAGS)) COLUMN(name, "TEXT", FROM(TEXT, COLUMN_SLICE_NAME)) \
	COLUMN(kind, "TEXT", OF_SOURCE) COLUMN(domain, "TEXT", FROM(TRACK_DOMAIN_NAME, 0))       \
	COLUMN(category, "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_SLICE_CATEGORY))                 \
	COLUMN(class, "TEXT", FROM(TEXT, COLUMN_SLICE_CLASS)) COLUMN(depth, "INTEGER", FROM(TRACK_DEPTH, 0))
/* clang-format on */
static const struct mapped_column ranges_columns[] = { RANGES(AS_COLUMN) WHO };
struct range_places {
	RANGES(AS_MEMBER)
	char who[5];
};
_Static_assert(sizeof(struct range_places) == COUNT_OF(ranges_columns), "a cell per column");
/* clang-format off */
#define RANGE_SOURCE(KIND, its_kind)                                                             \
	{ .table = TABLE_SLICE, .track_kind = TRACK_##KIND,                                      \
	  CELLS_AT(range_places){ [offsetof(struct range_places, kind)] = WORD(its_kind) } }
/* clang-format on */
static const struct mapped_source ranges_sources[] = {
	RANGE_SOURCE(NVTX_PUSHPOP, WORD_PUSH_POP),
	RANGE_SOURCE(NVTX_STARTEND, WORD_START_END),
	RANGE_SOURCE(GENERIC, WORD_SLICE),
};
static MAPPED(ranges, "ranges");

/* clang-format off */
static const struct mapped_column samples_columns[] = {
	NUMBER("time", FROM(NUMBER, COLUMN_SAMPLE_TIME)), TEXT("function", VIEW(FUNCTION, COLUMN_SAMPLE_STACK)),
	TEXT("module", VIEW(MODULE, COLUMN_SAMPLE_STACK)), NUMBER("in_kernel", FROM(NUMBER_OR, COLUMN_SAMPLE_KERNEL)),
	NUMBER("cpu", FROM(NUMBER, COLUMN_SAMPLE_CPU)), NUMBER("weight", FROM(NUMBER, COLUMN_SAMPLE_WEIGHT)),
	NUMBER("stack", FROM(NUMBER, COLUMN_SAMPLE_STACK)), KEY("id", "INTEGER", FROM(ROW_ID, 0)), WHO,
};
/* clang-format on */
static const struct mapped_source samples_sources[] = { { .table = TABLE_SAMPLE, .track_kind = TRACK_SAMPLES } };
static const struct mapped_table samples = { "samples",       samples_columns,           COUNT_OF(samples_columns),
					     samples_sources, COUNT_OF(samples_sources), 1 };

/* Every life of a thread: numbers are given again. */
/* clang-format off */
static const struct mapped_column threads_columns[] = {
	NUMBER("pid", VIEW(PID, COLUMN_THREAD_PROCESS)), TEXT("process", VIEW(PROCESS, COLUMN_THREAD_PROCESS)),
	NUMBER("tid", FROM(NUMBER, COLUMN_THREAD_TID)), TEXT("name", VIEW(THREAD, COLUMN_THREAD_UID)),
	NUMBER("start", FROM(NUMBER, COLUMN_THREAD_START)), NUMBER("end", FROM(NUMBER, COLUMN_THREAD_END)),
	NUMBER("global_tid", FROM(GLOBAL_TID, COLUMN_THREAD_UID)), KEY("uid", "INTEGER", FROM(NUMBER, COLUMN_THREAD_UID)),
};
/* clang-format on */
static const struct mapped_source threads_sources[] = { { .table = TABLE_THREAD } };
static MAPPED(threads, "threads");

/* clang-format off */
static const struct mapped_column gpus_columns[] = {
	KEY("gpu", "INTEGER", FROM(NUMBER, COLUMN_GPU_UID)), TEXT("name", FROM(TEXT, COLUMN_GPU_NAME)),
	TEXT("uuid", FROM(TEXT, COLUMN_GPU_UUID)), TEXT("bus", FROM(TEXT, COLUMN_GPU_BUS)),
	NUMBER("nvml_index", FROM(NUMBER, COLUMN_GPU_INDEX)), TEXT("chip", FROM(TEXT, COLUMN_GPU_CHIP)),
	NUMBER("memory_bytes", FROM(NUMBER, COLUMN_GPU_MEMORY)), NUMBER("memory_bytes_per_s", FROM(NUMBER, COLUMN_GPU_BANDWIDTH)),
	NUMBER("clock_hz", FROM(NUMBER, COLUMN_GPU_CLOCK)), NUMBER("sm_count", FROM(NUMBER, COLUMN_GPU_SM_COUNT)),
	NUMBER("l2_bytes", FROM(NUMBER, COLUMN_GPU_L2)), NUMBER("compute_major", FROM(NUMBER, COLUMN_GPU_MAJOR)),
	NUMBER("compute_minor", FROM(NUMBER, COLUMN_GPU_MINOR)), NUMBER("mig", FROM(NUMBER, COLUMN_GPU_MIG)),
};
/* clang-format on */
/* A GPU that only work names has a number and nothing else. */
static const struct mapped_cell unlisted_gpus_cells[] = {
	{ .convert = CONVERT_STREAM, .column = COLUMN_CUDA_STREAM_UID, .other = STREAM_GPU },
	[1 ... COUNT_OF(gpus_columns) - 1] = NOTHING,
};
/* clang-format off */
static const struct mapped_source gpus_sources[] = {
	{ .table = TABLE_GPU },
	{ .table = TABLE_CUDA_STREAM, .filter = FILTER_UNLISTED_GPU, .filter_column = COLUMN_CUDA_STREAM_UID, .cells = unlisted_gpus_cells },
};
/* clang-format on */
static MAPPED(gpus, "gpus");

const struct mapped_table *const view_tables[] = {
	&kernels, &memcpys, &memsets, &syncs, &apis, &ranges, &samples, &threads, &gpus,
};
const unsigned view_table_count = COUNT_OF(view_tables);
