/* Tables for people, beside those of nsys: names instead of numbers that name them, what rows refer to beside them.
 * Times are ns since the recording began. docs/sql.md lists the columns. */
#include "query/call_values.h"
#include "query/cuda_index.h"
#include "query/mapping_words.h"
#include "query/view_values.h"

#define LAUNCH(from) { .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
#define CALL(what, correlation) { .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what }
#define RANGE(what, correlation, node)                                                           \
	{ .convert = CONVERT_CALL, .column = (correlation), .other = CALL_##what, .constant = (node) }
#define VIEW(what, from) { .convert = CONVERT_VIEW, .column = (from), .other = VIEW_##what }
#define TRACK(what) { .convert = CONVERT_TRACK_VIEW, .other = VIEW_TRACK_##what }
#define WORD(which) { .convert = CONVERT_LABEL_TEXT, .constant = STRING_ID_VIEW - STRING_ID_MADE + (which) }

#define NUMBER(its_name) SHOWN(its_name, "INTEGER")
#define TEXT(its_name) SHOWN(its_name, "TEXT")

#define TIMES NUMBER("start"), NUMBER("end"), NUMBER("duration")
#define TIME_CELLS FROM(NUMBER, 0), FROM(NUMBER, 1), WITH(DURATION, 1, UINT8_MAX)
#define OPEN_TIME_CELLS(flags) FROM(NUMBER, 0), WITH(END, 1, flags), WITH(DURATION, 1, flags)
/* Whose thread the track is of. */
#define WHO NUMBER("pid"), TEXT("process"), NUMBER("tid"), TEXT("thread"), NUMBER("global_tid")
#define WHO_CELLS TRACK(PID), TRACK(PROCESS), TRACK(TID), TRACK(THREAD), FROM(TRACK_TID, 0)

/* Work of a GPU: where, the call that started it, and the innermost NVTX range around that call. */
#define PLACE NUMBER("device"), NUMBER("gpu"), NUMBER("context"), NUMBER("stream")
#define PLACE_CELLS STREAM(STREAM_DEVICE), STREAM(STREAM_GPU), STREAM(STREAM_CONTEXT), STREAM(STREAM_ID)
#define CAUSE                                                                                    \
	NUMBER("pid"), TEXT("process"), NUMBER("tid"), TEXT("thread"), NUMBER("global_tid"),     \
	KEY("correlation_id", "INTEGER"), TEXT("api"), NUMBER("api_start"), NUMBER("api_end"),   \
	TEXT("nvtx_range"), TEXT("nvtx_domain")
#define CAUSE_CELLS(correlation, node)                                                           \
	TRACK(PID), TRACK(PROCESS), CALL(TID_NUMBER, correlation), CALL(THREAD_NAME, correlation), \
	CALL(TID, correlation), FROM(NUMBER, correlation), CALL(NAME, correlation),              \
	CALL(START, correlation), CALL(END, correlation),                                        \
	RANGE(NVTX_NAME, correlation, node), RANGE(NVTX_DOMAIN, correlation, node)
#define GRAPH KEY("graph_node", "INTEGER"), NUMBER("graph")

static const struct mapped_column kernels_columns[] = {
	TIMES, TEXT("name"), TEXT("short_name"), TEXT("mangled_name"), PLACE,
	NUMBER("grid_x"), NUMBER("grid_y"), NUMBER("grid_z"), NUMBER("block_x"), NUMBER("block_y"), NUMBER("block_z"),
	NUMBER("registers"), NUMBER("static_shared_bytes"), NUMBER("dynamic_shared_bytes"), NUMBER("queue_duration"),
	CAUSE, GRAPH,
};
static const struct mapped_cell kernels_cells[] = {
	TIME_CELLS, LAUNCH_TEXT(LAUNCH_NAME), LAUNCH_TEXT(LAUNCH_SHORT_NAME), LAUNCH_TEXT(LAUNCH_MANGLED), PLACE_CELLS,
	LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_REGISTERS), LAUNCH(COLUMN_CUDA_LAUNCH_STATIC_SHARED),
	LAUNCH(COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED), CALL(QUEUE_DURATION, COLUMN_GPU_KERNEL_CORRELATION),
	CAUSE_CELLS(COLUMN_GPU_KERNEL_CORRELATION, COLUMN_GPU_KERNEL_GRAPH_NODE),
	FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH),
};
static const struct mapped_source kernels_sources[] = {
	{ .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL, .cells = kernels_cells },
};
static MAPPED(kernels, "kernels");

static const struct mapped_column memcpys_columns[] = {
	TIMES, TEXT("kind"), NUMBER("bytes"), SHOWN("gb_per_s", "REAL"), TEXT("source"), TEXT("target"),
	NUMBER("source_device"), NUMBER("target_device"), PLACE, CAUSE, GRAPH,
};
static const struct mapped_cell memcpys_cells[] = {
	TIME_CELLS, VIEW(COPY_KIND, COLUMN_GPU_COPY_KIND), FROM(NUMBER, COLUMN_GPU_COPY_BYTES),
	VIEW(BANDWIDTH, COLUMN_GPU_COPY_BYTES), VIEW(MEMORY_KIND, COLUMN_GPU_COPY_SOURCE),
	VIEW(MEMORY_KIND, COLUMN_GPU_COPY_TARGET), FROM(NUMBER, COLUMN_GPU_COPY_SOURCE_DEVICE),
	FROM(NUMBER, COLUMN_GPU_COPY_TARGET_DEVICE), PLACE_CELLS,
	CAUSE_CELLS(COLUMN_GPU_COPY_CORRELATION, COLUMN_GPU_COPY_GRAPH_NODE),
	FROM(NUMBER, COLUMN_GPU_COPY_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_COPY_GRAPH),
};
static const struct mapped_source memcpys_sources[] = {
	{ .table = TABLE_GPU_COPY, .track_kind = TRACK_GPU_COPY, .cells = memcpys_cells },
};
static MAPPED(memcpys, "memcpys");

static const struct mapped_column memsets_columns[] = {
	TIMES, NUMBER("value"), NUMBER("bytes"), SHOWN("gb_per_s", "REAL"), TEXT("target"), PLACE, CAUSE, GRAPH,
};
static const struct mapped_cell memsets_cells[] = {
	TIME_CELLS, FROM(NUMBER, COLUMN_GPU_SET_VALUE), FROM(NUMBER, COLUMN_GPU_SET_BYTES),
	VIEW(BANDWIDTH, COLUMN_GPU_SET_BYTES), VIEW(MEMORY_KIND, COLUMN_GPU_SET_MEMORY), PLACE_CELLS,
	CAUSE_CELLS(COLUMN_GPU_SET_CORRELATION, COLUMN_GPU_SET_GRAPH_NODE),
	FROM(NUMBER, COLUMN_GPU_SET_GRAPH_NODE), FROM(NUMBER, COLUMN_GPU_SET_GRAPH),
};
static const struct mapped_source memsets_sources[] = {
	{ .table = TABLE_GPU_SET, .track_kind = TRACK_GPU_SET, .cells = memsets_cells },
};
static MAPPED(memsets, "memsets");

static const struct mapped_column syncs_columns[] = { TIMES, TEXT("kind"), NUMBER("event"), PLACE, CAUSE };
static const struct mapped_cell syncs_cells[] = {
	TIME_CELLS, VIEW(SYNC_KIND, COLUMN_GPU_SYNC_KIND), FROM(NUMBER, COLUMN_GPU_SYNC_EVENT), PLACE_CELLS,
	CAUSE_CELLS(COLUMN_GPU_SYNC_CORRELATION, CALL_NO_NODE),
};
static const struct mapped_source syncs_sources[] = {
	{ .table = TABLE_GPU_SYNC, .track_kind = TRACK_GPU_SYNC, .cells = syncs_cells },
};
static MAPPED(syncs, "syncs");

static const struct mapped_column apis_columns[] = {
	TIMES, TEXT("name"), TEXT("kind"), NUMBER("result"), KEY("correlation_id", "INTEGER"), NUMBER("depth"),
	NUMBER("stack"), WHO,
};
static const struct mapped_cell apis_cells[] = {
	OPEN_TIME_CELLS(COLUMN_CUDA_API_FLAGS), FROM(API_TEXT, COLUMN_CUDA_API_NAME),
	VIEW(API_KIND, COLUMN_CUDA_API_CLASS), FROM(NUMBER, COLUMN_CUDA_API_RESULT),
	FROM(NUMBER, COLUMN_CUDA_API_CORRELATION), FROM(TRACK_DEPTH, 0),
	FROM(NUMBER_OR_NULL, COLUMN_CUDA_API_STACK), WHO_CELLS,
};
static const struct mapped_source apis_sources[] = {
	{ .table = TABLE_CUDA_API, .track_kind = TRACK_CUDA_API, .cells = apis_cells },
};
static MAPPED(apis, "apis");

static const struct mapped_column ranges_columns[] = {
	TIMES, TEXT("name"), TEXT("kind"), TEXT("domain"), NUMBER("category"), TEXT("class"), NUMBER("depth"), WHO,
};
#define RANGE_CELLS(its_kind)                                                                    \
	{ OPEN_TIME_CELLS(COLUMN_SLICE_FLAGS), FROM(TEXT, COLUMN_SLICE_NAME), WORD(its_kind),    \
	  FROM(TRACK_DOMAIN_NAME, 0), FROM(NUMBER_OR_NULL, COLUMN_SLICE_CATEGORY),               \
	  FROM(TEXT, COLUMN_SLICE_CLASS), FROM(TRACK_DEPTH, 0), WHO_CELLS }
static const struct mapped_cell pushpop_cells[] = RANGE_CELLS(WORD_PUSH_POP);
static const struct mapped_cell startend_cells[] = RANGE_CELLS(WORD_START_END);
static const struct mapped_cell slice_cells[] = RANGE_CELLS(WORD_SLICE);
static const struct mapped_source ranges_sources[] = {
	{ .table = TABLE_SLICE, .track_kind = TRACK_NVTX_PUSHPOP, .cells = pushpop_cells },
	{ .table = TABLE_SLICE, .track_kind = TRACK_NVTX_STARTEND, .cells = startend_cells },
	{ .table = TABLE_SLICE, .track_kind = TRACK_GENERIC, .cells = slice_cells },
};
static MAPPED(ranges, "ranges");

static const struct mapped_column samples_columns[] = {
	NUMBER("time"), TEXT("function"), TEXT("module"), NUMBER("in_kernel"), NUMBER("cpu"), NUMBER("weight"),
	NUMBER("stack"), KEY("id", "INTEGER"), WHO,
};
static const struct mapped_cell samples_cells[] = {
	FROM(NUMBER, COLUMN_SAMPLE_TIME), VIEW(FUNCTION, COLUMN_SAMPLE_STACK), VIEW(MODULE, COLUMN_SAMPLE_STACK),
	FROM(NUMBER_OR, COLUMN_SAMPLE_KERNEL), FROM(NUMBER, COLUMN_SAMPLE_CPU), FROM(NUMBER, COLUMN_SAMPLE_WEIGHT),
	FROM(NUMBER, COLUMN_SAMPLE_STACK), FROM(ROW_ID, 0), WHO_CELLS,
};
static const struct mapped_source samples_sources[] = {
	{ .table = TABLE_SAMPLE, .track_kind = TRACK_SAMPLES, .cells = samples_cells },
};
static const struct mapped_table samples = { "samples", samples_columns, COUNT(samples_columns), samples_sources,
					     COUNT(samples_sources), 1 };

/* Every life of a thread: numbers are given again. */
static const struct mapped_column threads_columns[] = {
	NUMBER("pid"), TEXT("process"), NUMBER("tid"), TEXT("name"), NUMBER("start"), NUMBER("end"),
	NUMBER("global_tid"), KEY("uid", "INTEGER"),
};
static const struct mapped_cell threads_cells[] = {
	VIEW(PID, COLUMN_THREAD_PROCESS), VIEW(PROCESS, COLUMN_THREAD_PROCESS), FROM(NUMBER, COLUMN_THREAD_TID),
	VIEW(THREAD, COLUMN_THREAD_UID), FROM(NUMBER, COLUMN_THREAD_START), FROM(NUMBER, COLUMN_THREAD_END),
	FROM(GLOBAL_TID, COLUMN_THREAD_UID), FROM(NUMBER, COLUMN_THREAD_UID),
};
static const struct mapped_source threads_sources[] = { SOURCE(THREAD, threads_cells) };
static MAPPED(threads, "threads");

static const struct mapped_column gpus_columns[] = {
	KEY("gpu", "INTEGER"), TEXT("name"), TEXT("uuid"), TEXT("bus"), NUMBER("nvml_index"), TEXT("chip"),
	NUMBER("memory_bytes"), NUMBER("memory_bytes_per_s"), NUMBER("clock_hz"), NUMBER("sm_count"),
	NUMBER("l2_bytes"), NUMBER("compute_major"), NUMBER("compute_minor"), NUMBER("mig"),
};
static const struct mapped_cell gpus_cells[] = {
	FROM(NUMBER, COLUMN_GPU_UID), FROM(TEXT, COLUMN_GPU_NAME), FROM(TEXT, COLUMN_GPU_UUID),
	FROM(TEXT, COLUMN_GPU_BUS), FROM(NUMBER, COLUMN_GPU_INDEX), FROM(TEXT, COLUMN_GPU_CHIP),
	FROM(NUMBER, COLUMN_GPU_MEMORY), FROM(NUMBER, COLUMN_GPU_BANDWIDTH), FROM(NUMBER, COLUMN_GPU_CLOCK),
	FROM(NUMBER, COLUMN_GPU_SM_COUNT), FROM(NUMBER, COLUMN_GPU_L2), FROM(NUMBER, COLUMN_GPU_MAJOR),
	FROM(NUMBER, COLUMN_GPU_MINOR), FROM(NUMBER, COLUMN_GPU_MIG),
};
static const struct mapped_cell unlisted_gpus_cells[] = {
	{ .convert = CONVERT_STREAM, .column = COLUMN_CUDA_STREAM_UID, .other = STREAM_GPU }, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
};
static const struct mapped_source gpus_sources[] = {
	SOURCE(GPU, gpus_cells),
	{ .table = TABLE_CUDA_STREAM, .filter = FILTER_UNLISTED_GPU, .filter_column = COLUMN_CUDA_STREAM_UID, .cells = unlisted_gpus_cells },
};
static MAPPED(gpus, "gpus");

const struct mapped_table *const view_tables[] = {
	&kernels, &memcpys, &memsets, &syncs, &apis, &ranges, &samples, &threads, &gpus,
};
const unsigned view_table_count = COUNT(view_tables);

#define A_CELL_PER_COLUMN(its_cells, columns) \
	_Static_assert(COUNT(its_cells) == COUNT(columns), "a cell per column")
A_CELL_PER_COLUMN(kernels_cells, kernels_columns);
A_CELL_PER_COLUMN(memcpys_cells, memcpys_columns);
A_CELL_PER_COLUMN(memsets_cells, memsets_columns);
A_CELL_PER_COLUMN(syncs_cells, syncs_columns);
A_CELL_PER_COLUMN(apis_cells, apis_columns);
A_CELL_PER_COLUMN(slice_cells, ranges_columns);
A_CELL_PER_COLUMN(samples_cells, samples_columns);
A_CELL_PER_COLUMN(threads_cells, threads_columns);
A_CELL_PER_COLUMN(gpus_cells, gpus_columns);
A_CELL_PER_COLUMN(unlisted_gpus_cells, gpus_columns);
