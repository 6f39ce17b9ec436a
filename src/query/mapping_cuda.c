/* Calls of CUDA and the work they start, as nsys's exports have them. */
#include "query/cuda_index.h"
#include "query/mapping_words.h"

/* nsys's numbers of event classes. */
enum {
	CLASS_GRAPH_NODE = 77, CLASS_GRAPH_EXEC = 94, CLASS_GRAPH_CREATION = 95, CLASS_GRAPH_CLONE = 96,
	CLASS_OVERHEAD = 103
};
#define NO_EVENT 4294967295
/* CUPTI's kinds of overhead that a profiler is to blame for. */
#define PROFILER_OVERHEAD_FIRST (1 << 16)
#define PROFILER_OVERHEAD_LAST (3 << 16)
/* cuda_overhead.listed. */
enum { LISTED_TWICE = 2, LISTED_AS_PROFILERS = 3 };

#define LAUNCH(from) { .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
/* A context that is waited for stands for all of its streams. */
#define ANY_STREAM { .convert = CONVERT_TRACK_STREAM, .other = STREAM_ID, .constant = 4294967295 }
#define OR(from, number) { .convert = CONVERT_NUMBER_OR, .column = (from), .constant = (number) }
#define LABEL_TEXT(number) { .convert = CONVERT_LABEL_TEXT, .constant = (number) }
#define LABEL(number) { .convert = CONVERT_LABEL, .constant = (number) }

/* What all GPU work has, and where it stands in the report. */
#define TIME_COLUMNS SHOWN("start", "INTEGER NOT NULL"), SHOWN("end", "INTEGER NOT NULL")
#define PLACE_COLUMNS                                                                            \
	SHOWN("deviceId", "INTEGER NOT NULL"), SHOWN("contextId", "INTEGER NOT NULL"),            \
	SHOWN("greenContextId", "INTEGER"), SHOWN("streamId", "INTEGER NOT NULL"),                \
	KEY("correlationId", "INTEGER"), SHOWN("globalPid", "INTEGER")
#define PLACE_CELLS(green, its_stream, correlation)                                              \
	STREAM(STREAM_DEVICE), STREAM(STREAM_CONTEXT), green, its_stream, FROM(NUMBER, correlation), \
	FROM(TRACK_PID, 0)
#define WORK_COLUMNS(its_duration, its_track)                                                    \
	BEHIND(its_duration, "INTEGER", "duration"), BEHIND(its_track, "INTEGER", "track"),       \
	BEHIND("streamUid", "INTEGER", NULL), BEHIND("gpuUid", "INTEGER", NULL),                  \
	BEHIND("processUid", "INTEGER", NULL)
#define WORK_CELLS                                                                               \
	WITH(DURATION, 1, UINT8_MAX), FROM(TRACK, 0), FROM(TRACK_OBJECT, 0), STREAM(STREAM_GPU), \
	FROM(TRACK_PROCESS, 0)

/* kernelShape is the least launch id with the same grid and block: a key for both. */
static const struct mapped_column mapped_kernels_columns[] = {
	TIME_COLUMNS, PLACE_COLUMNS,
	SHOWN("demangledName", "INTEGER NOT NULL"), SHOWN("shortName", "INTEGER NOT NULL"),
	SHOWN("mangledName", "INTEGER"), SHOWN("launchType", "INTEGER"), SHOWN("cacheConfig", "INTEGER"),
	SHOWN("registersPerThread", "INTEGER NOT NULL"),
	SHOWN("gridX", "INTEGER NOT NULL"), SHOWN("gridY", "INTEGER NOT NULL"), SHOWN("gridZ", "INTEGER NOT NULL"),
	SHOWN("blockX", "INTEGER NOT NULL"), SHOWN("blockY", "INTEGER NOT NULL"), SHOWN("blockZ", "INTEGER NOT NULL"),
	SHOWN("staticSharedMemory", "INTEGER NOT NULL"), SHOWN("dynamicSharedMemory", "INTEGER NOT NULL"),
	SHOWN("localMemoryPerThread", "INTEGER NOT NULL"), SHOWN("localMemoryTotal", "INTEGER NOT NULL"),
	SHOWN("gridId", "INTEGER NOT NULL"), SHOWN("sharedMemoryExecuted", "INTEGER"), KEY("graphNodeId", "INTEGER"),
	SHOWN("sharedMemoryLimitConfig", "INTEGER"), SHOWN("qmdBulkReleaseDone", "INTEGER"),
	SHOWN("qmdPreexitDone", "INTEGER"), SHOWN("qmdLastCtaDone", "INTEGER"), SHOWN("graphId", "INTEGER"),
	SHOWN("clusterX", "INTEGER"), SHOWN("clusterY", "INTEGER"), SHOWN("clusterZ", "INTEGER"),
	SHOWN("clusterSchedulingPolicy", "INTEGER"), SHOWN("maxPotentialClusterSize", "INTEGER"),
	SHOWN("maxActiveClusters", "INTEGER"), SHOWN("sharedMemoryRequestedPercentage", "INTEGER"),
	SHOWN("tensorSizeMinusOneElements", "TEXT NOT NULL"),
	BEHIND("kernelName", "TEXT", "name"), BEHIND("kernelShortName", "TEXT", "base"),
	BEHIND("kernelMangledName", "TEXT", "mangled"), BEHIND("kernelLaunch", "INTEGER", "launch"),
	BEHIND("kernelShape", "INTEGER", "shape"), BEHIND("kernelPriority", "INTEGER", "priority"),
	BEHIND("kernelQueued", "INTEGER", "queued"), BEHIND("kernelSubmitted", "INTEGER", "submitted"),
	BEHIND("kernelChannel", "INTEGER", "channel"), WORK_COLUMNS("kernelDuration", "kernelTrack"),
};
static const struct mapped_cell kernel_cells[] = {
	FROM(NUMBER, COLUMN_GPU_KERNEL_START), FROM(NUMBER, COLUMN_GPU_KERNEL_END),
	PLACE_CELLS(STREAM(STREAM_GREEN), STREAM(STREAM_ID), COLUMN_GPU_KERNEL_CORRELATION),
	LAUNCH(LAUNCH_NAME), LAUNCH(LAUNCH_SHORT_NAME), LAUNCH(LAUNCH_MANGLED),
	/* From 1, unlike CUPTI's. */
	{ .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = COLUMN_CUDA_LAUNCH_LAUNCH_TYPE,
	  .constant = 1 },
	LAUNCH(COLUMN_CUDA_LAUNCH_CACHE_CONFIG), LAUNCH(COLUMN_CUDA_LAUNCH_REGISTERS),
	LAUNCH(COLUMN_CUDA_LAUNCH_GRID_X), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Y), LAUNCH(COLUMN_CUDA_LAUNCH_GRID_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_X), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Y), LAUNCH(COLUMN_CUDA_LAUNCH_BLOCK_Z),
	LAUNCH(COLUMN_CUDA_LAUNCH_STATIC_SHARED), LAUNCH(COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED),
	LAUNCH(COLUMN_CUDA_LAUNCH_LOCAL_PER_THREAD), LAUNCH(COLUMN_CUDA_LAUNCH_LOCAL_TOTAL),
	FROM(NUMBER_OR, COLUMN_GPU_KERNEL_GRID), LAUNCH(COLUMN_CUDA_LAUNCH_SHARED_EXECUTED),
	FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH_NODE), LAUNCH(COLUMN_CUDA_LAUNCH_SHARED_LIMIT),
	NOTHING, NOTHING, NOTHING, FROM(NUMBER, COLUMN_GPU_KERNEL_GRAPH),
	LAUNCH(COLUMN_CUDA_LAUNCH_CLUSTER_X), LAUNCH(COLUMN_CUDA_LAUNCH_CLUSTER_Y),
	LAUNCH(COLUMN_CUDA_LAUNCH_CLUSTER_Z), LAUNCH(COLUMN_CUDA_LAUNCH_CLUSTER_POLICY),
	LAUNCH(COLUMN_CUDA_LAUNCH_CLUSTER_POTENTIAL), LAUNCH(COLUMN_CUDA_LAUNCH_CLUSTER_ACTIVE),
	LAUNCH(COLUMN_CUDA_LAUNCH_CARVEOUT), LABEL_TEXT(LABEL_EMPTY_LIST),
	LAUNCH_TEXT(LAUNCH_NAME), LAUNCH_TEXT(LAUNCH_SHORT_NAME), LAUNCH_TEXT(LAUNCH_MANGLED),
	FROM(NUMBER, COLUMN_GPU_KERNEL_LAUNCH), LAUNCH(LAUNCH_SHAPE), LAUNCH(COLUMN_CUDA_LAUNCH_PRIORITY),
	FROM(NUMBER, COLUMN_GPU_KERNEL_QUEUED), FROM(NUMBER, COLUMN_GPU_KERNEL_SUBMITTED),
	FROM(NUMBER, COLUMN_GPU_KERNEL_CHANNEL), WORK_CELLS,
};
static const struct mapped_source mapped_kernels_sources[] = {
	{ .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL, .cells = kernel_cells },
};
MAPPED(mapped_kernels, "CUPTI_ACTIVITY_KIND_KERNEL");

static const struct mapped_column mapped_copies_columns[] = {
	TIME_COLUMNS, PLACE_COLUMNS,
	SHOWN("bytes", "INTEGER NOT NULL"), SHOWN("copyKind", "INTEGER NOT NULL"), SHOWN("deprecatedSrcId", "INTEGER"),
	SHOWN("srcKind", "INTEGER"), SHOWN("dstKind", "INTEGER"), SHOWN("srcDeviceId", "INTEGER"),
	SHOWN("srcContextId", "INTEGER"), SHOWN("dstDeviceId", "INTEGER"), SHOWN("dstContextId", "INTEGER"),
	SHOWN("migrationCause", "INTEGER"), KEY("graphNodeId", "INTEGER"), SHOWN("virtualAddress", "INTEGER"),
	SHOWN("copyCount", "INTEGER"),
	BEHIND("copyGraph", "INTEGER", "graph"), BEHIND("copyChannel", "INTEGER", "channel"),
	BEHIND("copyFlags", "INTEGER", "flags"), WORK_COLUMNS("copyDuration", "copyTrack"),
};
static const struct mapped_cell copy_cells[] = {
	FROM(NUMBER, COLUMN_GPU_COPY_START), FROM(NUMBER, COLUMN_GPU_COPY_END),
	PLACE_CELLS(STREAM(STREAM_GREEN), STREAM(STREAM_ID), COLUMN_GPU_COPY_CORRELATION),
	FROM(NUMBER_OR, COLUMN_GPU_COPY_BYTES), FROM(NUMBER_OR, COLUMN_GPU_COPY_KIND), NOTHING,
	FROM(MEMORY_KIND, COLUMN_GPU_COPY_SOURCE), FROM(MEMORY_KIND, COLUMN_GPU_COPY_TARGET),
	FROM(NUMBER, COLUMN_GPU_COPY_SOURCE_DEVICE), FROM(NUMBER, COLUMN_GPU_COPY_SOURCE_CONTEXT),
	FROM(NUMBER, COLUMN_GPU_COPY_TARGET_DEVICE), FROM(NUMBER, COLUMN_GPU_COPY_TARGET_CONTEXT),
	FROM(NUMBER, COLUMN_GPU_COPY_CAUSE), FROM(NUMBER, COLUMN_GPU_COPY_GRAPH_NODE),
	FROM(NUMBER, COLUMN_GPU_COPY_ADDRESS), OR(COLUMN_GPU_COPY_COUNT, 1),
	FROM(NUMBER, COLUMN_GPU_COPY_GRAPH), FROM(NUMBER, COLUMN_GPU_COPY_CHANNEL),
	FROM(NUMBER, COLUMN_GPU_COPY_FLAGS), WORK_CELLS,
};
static const struct mapped_source mapped_copies_sources[] = {
	{ .table = TABLE_GPU_COPY, .track_kind = TRACK_GPU_COPY, .cells = copy_cells },
};
MAPPED(mapped_copies, "CUPTI_ACTIVITY_KIND_MEMCPY");

static const struct mapped_column mapped_sets_columns[] = {
	TIME_COLUMNS, PLACE_COLUMNS,
	SHOWN("value", "INTEGER NOT NULL"), SHOWN("bytes", "INTEGER NOT NULL"), KEY("graphNodeId", "INTEGER"),
	SHOWN("memKind", "INTEGER"),
	BEHIND("setGraph", "INTEGER", "graph"), BEHIND("setChannel", "INTEGER", "channel"),
	BEHIND("setFlags", "INTEGER", "flags"), WORK_COLUMNS("setDuration", "setTrack"),
};
static const struct mapped_cell set_cells[] = {
	FROM(NUMBER, COLUMN_GPU_SET_START), FROM(NUMBER, COLUMN_GPU_SET_END),
	PLACE_CELLS(STREAM(STREAM_GREEN), STREAM(STREAM_ID), COLUMN_GPU_SET_CORRELATION),
	FROM(NUMBER_OR, COLUMN_GPU_SET_VALUE), FROM(NUMBER_OR, COLUMN_GPU_SET_BYTES),
	FROM(NUMBER, COLUMN_GPU_SET_GRAPH_NODE), FROM(MEMORY_KIND, COLUMN_GPU_SET_MEMORY),
	FROM(NUMBER, COLUMN_GPU_SET_GRAPH), FROM(NUMBER, COLUMN_GPU_SET_CHANNEL), FROM(NUMBER, COLUMN_GPU_SET_FLAGS),
	WORK_CELLS,
};
static const struct mapped_source mapped_sets_sources[] = {
	{ .table = TABLE_GPU_SET, .track_kind = TRACK_GPU_SET, .cells = set_cells },
};
MAPPED(mapped_sets, "CUPTI_ACTIVITY_KIND_MEMSET");

static const struct mapped_column mapped_syncs_columns[] = {
	TIME_COLUMNS, PLACE_COLUMNS,
	SHOWN("deprecatedSyncType", "INTEGER"), SHOWN("syncType", "INTEGER NOT NULL"),
	SHOWN("eventId", "INTEGER NOT NULL"), SHOWN("eventSyncId", "INTEGER"),
	BEHIND("syncResult", "INTEGER", "result"), WORK_COLUMNS("syncDuration", "syncTrack"),
};
static const struct mapped_cell sync_cells[] = {
	FROM(NUMBER, COLUMN_GPU_SYNC_START), FROM(NUMBER, COLUMN_GPU_SYNC_END),
	PLACE_CELLS(NOTHING, ANY_STREAM, COLUMN_GPU_SYNC_CORRELATION),
	NOTHING, FROM(NUMBER_OR, COLUMN_GPU_SYNC_KIND), OR(COLUMN_GPU_SYNC_EVENT, NO_EVENT),
	FROM(NUMBER_OR, COLUMN_GPU_SYNC_EVENT_SYNC), FROM(NUMBER, COLUMN_GPU_SYNC_RESULT), WORK_CELLS,
};
static const struct mapped_source mapped_syncs_sources[] = {
	{ .table = TABLE_GPU_SYNC, .track_kind = TRACK_GPU_SYNC, .cells = sync_cells },
};
MAPPED(mapped_syncs, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");

#define EVENT_STREAM(from) { .convert = CONVERT_STREAM, .column = COLUMN_CUDA_EVENT_STREAM, .other = (from) }
static const struct mapped_column mapped_cuda_events_columns[] = {
	SHOWN("timestamp", "INTEGER"), PLACE_COLUMNS, SHOWN("eventId", "INTEGER NOT NULL"),
	SHOWN("eventSyncId", "INTEGER"), BEHIND("streamUid", "INTEGER", NULL), BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell cuda_event_cells[] = {
	FROM(NUMBER_OR, COLUMN_CUDA_EVENT_TIME), EVENT_STREAM(STREAM_DEVICE), EVENT_STREAM(STREAM_CONTEXT), NOTHING,
	EVENT_STREAM(STREAM_ID), FROM(NUMBER, COLUMN_CUDA_EVENT_CORRELATION),
	FROM(STREAM_PID, COLUMN_CUDA_EVENT_STREAM), FROM(NUMBER_OR, COLUMN_CUDA_EVENT_EVENT),
	FROM(NUMBER_OR, COLUMN_CUDA_EVENT_EVENT_SYNC), FROM(NUMBER, COLUMN_CUDA_EVENT_STREAM),
	EVENT_STREAM(STREAM_PROCESS),
};
static const struct mapped_source mapped_cuda_events_sources[] = { SOURCE(CUDA_EVENT, cuda_event_cells) };
MAPPED(mapped_cuda_events, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");

static const struct mapped_column mapped_graph_traces_columns[] = {
	TIME_COLUMNS, PLACE_COLUMNS, SHOWN("graphId", "INTEGER NOT NULL"), SHOWN("graphExecId", "INTEGER NOT NULL"),
	WORK_COLUMNS("graphDuration", "graphTrack"),
};
static const struct mapped_cell graph_trace_cells[] = {
	FROM(NUMBER, COLUMN_GPU_GRAPH_START), FROM(NUMBER, COLUMN_GPU_GRAPH_END),
	PLACE_CELLS(STREAM(STREAM_GREEN), STREAM(STREAM_ID), COLUMN_GPU_GRAPH_CORRELATION),
	FROM(NUMBER_OR, COLUMN_GPU_GRAPH_GRAPH), FROM(NUMBER_OR, COLUMN_GPU_GRAPH_EXEC), WORK_CELLS,
};
static const struct mapped_source mapped_graph_traces_sources[] = {
	{ .table = TABLE_GPU_GRAPH, .track_kind = TRACK_GPU_GRAPH, .cells = graph_trace_cells },
};
MAPPED(mapped_graph_traces, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE");

/* Runtime and driver. A call that had not returned ends with the recording and has no duration. */
static const struct mapped_column mapped_cuda_calls_columns[] = {
	TIME_COLUMNS, SHOWN("eventClass", "INTEGER NOT NULL"), SHOWN("globalTid", "INTEGER"),
	KEY("correlationId", "INTEGER"), SHOWN("nameId", "INTEGER NOT NULL"),
	SHOWN("returnValue", "INTEGER NOT NULL"), SHOWN("callchainId", "INTEGER"),
	BEHIND("apiName", "TEXT", "name"), BEHIND("apiFullName", "TEXT", "fullName"),
	BEHIND("apiDuration", "INTEGER", "duration"), BEHIND("apiIsOpen", "INTEGER", "open"),
	BEHIND("apiDepth", "INTEGER", "depth"), BEHIND("apiTrack", "INTEGER", "track"),
	BEHIND("threadUid", "INTEGER", NULL), BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell cuda_call_cells[] = {
	FROM(NUMBER, COLUMN_CUDA_API_START), FROM(NUMBER, COLUMN_CUDA_API_END), FROM(NUMBER_OR, COLUMN_CUDA_API_CLASS),
	FROM(TRACK_TID, 0), FROM(NUMBER, COLUMN_CUDA_API_CORRELATION), FROM(NUMBER_OR, COLUMN_CUDA_API_NAME),
	FROM(NUMBER_OR, COLUMN_CUDA_API_RESULT), FROM(NUMBER_OR_NULL, COLUMN_CUDA_API_STACK),
	FROM(API_TEXT, COLUMN_CUDA_API_NAME), FROM(TEXT, COLUMN_CUDA_API_NAME),
	WITH(DURATION, COLUMN_CUDA_API_END, COLUMN_CUDA_API_FLAGS), FROM(OPEN, COLUMN_CUDA_API_FLAGS),
	FROM(TRACK_DEPTH, 0), FROM(TRACK, 0), FROM(TRACK_THREAD, 0), FROM(TRACK_PROCESS, 0),
};
static const struct mapped_source mapped_cuda_calls_sources[] = {
	{ .table = TABLE_CUDA_API, .track_kind = TRACK_CUDA_API, .cells = cuda_call_cells },
};
MAPPED(mapped_cuda_calls, "CUPTI_ACTIVITY_KIND_RUNTIME");

#define OVERHEAD_HIDDEN                                                                          \
	BEHIND("overheadDuration", "INTEGER", "duration"), BEHIND("threadUid", "INTEGER", NULL),  \
	BEHIND("processUid", "INTEGER", NULL)
#define OVERHEAD_HIDDEN_CELLS WITH(DURATION, 1, UINT8_MAX), FROM(TRACK_THREAD, 0), FROM(TRACK_PROCESS, 0)
static const struct mapped_column mapped_overhead_columns[] = {
	TIME_COLUMNS, SHOWN("eventClass", "INTEGER NOT NULL"), SHOWN("globalTid", "INTEGER"),
	KEY("correlationId", "INTEGER"), SHOWN("nameId", "INTEGER"), SHOWN("overheadType", "INTEGER NOT NULL"),
	OVERHEAD_HIDDEN,
};
static const struct mapped_cell overhead_cells[] = {
	FROM(NUMBER, COLUMN_CUDA_OVERHEAD_START), FROM(NUMBER, COLUMN_CUDA_OVERHEAD_END), CONSTANT(CLASS_OVERHEAD),
	FROM(TRACK_TID, 0), FROM(NUMBER, COLUMN_CUDA_OVERHEAD_CORRELATION),
	WITH(OVERHEAD_NAME, COLUMN_CUDA_OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_NAME), FROM(OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_KIND),
	OVERHEAD_HIDDEN_CELLS,
};
static const struct mapped_source mapped_overhead_sources[] = {
	{ .table = TABLE_CUDA_OVERHEAD, .track_kind = TRACK_CUDA_OVERHEAD, .filter = FILTER_NOT_EQUAL,
	  .filter_column = COLUMN_CUDA_OVERHEAD_LISTED, .filter_value = LISTED_AS_PROFILERS, .cells = overhead_cells },
};
MAPPED(mapped_overhead, "CUPTI_ACTIVITY_KIND_OVERHEAD");

static const struct mapped_column mapped_profiler_overhead_columns[] = {
	TIME_COLUMNS, SHOWN("globalTid", "INTEGER"), SHOWN("nameId", "INTEGER NOT NULL"),
	SHOWN("overheadType", "INTEGER NOT NULL"), OVERHEAD_HIDDEN,
};
static const struct mapped_cell profiler_overhead_cells[] = {
	FROM(NUMBER, COLUMN_CUDA_OVERHEAD_START), FROM(NUMBER, COLUMN_CUDA_OVERHEAD_END), FROM(TRACK_TID, 0),
	WITH(OVERHEAD_NAME, COLUMN_CUDA_OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_NAME), FROM(OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_KIND),
	OVERHEAD_HIDDEN_CELLS,
};
static const struct mapped_source mapped_profiler_overhead_sources[] = {
	{ .table = TABLE_CUDA_OVERHEAD, .track_kind = TRACK_CUDA_OVERHEAD, .filter = FILTER_BETWEEN,
	  .filter_column = COLUMN_CUDA_OVERHEAD_KIND, .filter_value = PROFILER_OVERHEAD_FIRST,
	  .filter_last = PROFILER_OVERHEAD_LAST, .unless = COLUMN_CUDA_OVERHEAD_LISTED, .cells = profiler_overhead_cells },
	{ .table = TABLE_CUDA_OVERHEAD, .track_kind = TRACK_CUDA_OVERHEAD, .filter = FILTER_BETWEEN,
	  .filter_column = COLUMN_CUDA_OVERHEAD_LISTED, .filter_value = LISTED_TWICE, .filter_last = LISTED_AS_PROFILERS,
	  .cells = profiler_overhead_cells },
};
MAPPED(mapped_profiler_overhead, "PROFILER_OVERHEAD");

/* Nodes and graphs are made at a moment: begin and end are one. */
static const struct mapped_column mapped_graph_nodes_columns[] = {
	TIME_COLUMNS, SHOWN("eventClass", "INTEGER NOT NULL"), SHOWN("globalTid", "INTEGER"),
	SHOWN("nameId", "INTEGER NOT NULL"), KEY("graphNodeId", "INTEGER NOT NULL"),
	SHOWN("originalGraphNodeId", "INTEGER"), BEHIND("nodeGraph", "INTEGER", "graph"),
	BEHIND("nodeType", "INTEGER", "type"), BEHIND("threadUid", "INTEGER", NULL),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell graph_node_cells[] = {
	FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_TIME), FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_TIME),
	CONSTANT(CLASS_GRAPH_NODE), FROM(GLOBAL_TID, COLUMN_CUDA_GRAPH_NODE_THREAD),
	WITH(NODE_NAME, COLUMN_CUDA_GRAPH_NODE_FUNCTION, COLUMN_CUDA_GRAPH_NODE_TYPE),
	FROM(NUMBER_OR, COLUMN_CUDA_GRAPH_NODE_NODE), FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_ORIGINAL),
	FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_GRAPH), FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_TYPE),
	FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_THREAD), FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_PROCESS),
};
static const struct mapped_source mapped_graph_nodes_sources[] = { SOURCE(CUDA_GRAPH_NODE, graph_node_cells) };
MAPPED(mapped_graph_nodes, "CUDA_GRAPH_NODE_EVENTS");

static const struct mapped_column mapped_graphs_columns[] = {
	TIME_COLUMNS, SHOWN("eventClass", "INTEGER NOT NULL"), SHOWN("globalTid", "INTEGER"),
	SHOWN("nameId", "INTEGER NOT NULL"), SHOWN("graphId", "INTEGER"), SHOWN("originalGraphId", "INTEGER"),
	SHOWN("graphExecId", "INTEGER"), BEHIND("threadUid", "INTEGER", NULL), BEHIND("processUid", "INTEGER", NULL),
};
#define GRAPH_CELLS(its_class, label)                                                            \
	{ FROM(NUMBER, COLUMN_CUDA_GRAPH_TIME), FROM(NUMBER, COLUMN_CUDA_GRAPH_TIME),            \
	  CONSTANT(its_class), FROM(GLOBAL_TID, COLUMN_CUDA_GRAPH_THREAD), LABEL(label),         \
	  FROM(NUMBER, COLUMN_CUDA_GRAPH_GRAPH), FROM(NUMBER, COLUMN_CUDA_GRAPH_ORIGINAL),       \
	  FROM(NUMBER, COLUMN_CUDA_GRAPH_EXEC), FROM(NUMBER, COLUMN_CUDA_GRAPH_THREAD),          \
	  FROM(NUMBER, COLUMN_CUDA_GRAPH_PROCESS) }
static const struct mapped_cell graph_created_cells[] = GRAPH_CELLS(CLASS_GRAPH_CREATION, LABEL_GRAPH_CREATED);
static const struct mapped_cell graph_cloned_cells[] = GRAPH_CELLS(CLASS_GRAPH_CLONE, LABEL_GRAPH_CLONED);
static const struct mapped_cell graph_executable_cells[] = GRAPH_CELLS(CLASS_GRAPH_EXEC, LABEL_GRAPH_MADE_EXECUTABLE);
#define GRAPH_SOURCE(kind, its_cells)                                                            \
	{ .table = TABLE_CUDA_GRAPH, .filter = FILTER_EQUAL, .filter_column = COLUMN_CUDA_GRAPH_KIND, \
	  .filter_value = (kind), .cells = its_cells }
static const struct mapped_source mapped_graphs_sources[] = {
	GRAPH_SOURCE(1, graph_created_cells), GRAPH_SOURCE(2, graph_cloned_cells),
	GRAPH_SOURCE(3, graph_executable_cells),
};
MAPPED(mapped_graphs, "CUDA_GRAPH_EVENTS");

#define A_CELL_PER_COLUMN(its_cells, columns) \
	_Static_assert(COUNT(its_cells) == COUNT(columns), "a cell per column")
A_CELL_PER_COLUMN(kernel_cells, mapped_kernels_columns);
A_CELL_PER_COLUMN(copy_cells, mapped_copies_columns);
A_CELL_PER_COLUMN(set_cells, mapped_sets_columns);
A_CELL_PER_COLUMN(sync_cells, mapped_syncs_columns);
A_CELL_PER_COLUMN(cuda_event_cells, mapped_cuda_events_columns);
A_CELL_PER_COLUMN(graph_trace_cells, mapped_graph_traces_columns);
A_CELL_PER_COLUMN(cuda_call_cells, mapped_cuda_calls_columns);
A_CELL_PER_COLUMN(overhead_cells, mapped_overhead_columns);
A_CELL_PER_COLUMN(profiler_overhead_cells, mapped_profiler_overhead_columns);
A_CELL_PER_COLUMN(graph_node_cells, mapped_graph_nodes_columns);
A_CELL_PER_COLUMN(graph_created_cells, mapped_graphs_columns);
_Static_assert(COUNT(mapped_kernels_columns) <= MAPPED_MAX_COLUMNS, "a scan has room for its columns");
