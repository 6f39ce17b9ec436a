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
/* From 1, unlike CUPTI's. */
#define LAUNCH_TYPE_FROM_1 \
	{ .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = COLUMN_CUDA_LAUNCH_LAUNCH_TYPE, .constant = 1 }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
/* A context that is waited for stands for all of its streams. */
#define ANY_STREAM { .convert = CONVERT_TRACK_STREAM, .other = STREAM_ID, .constant = 4294967295 }
#define OR(from, number) { .convert = CONVERT_NUMBER_OR, .column = (from), .constant = (number) }
#define LABEL_TEXT(number) { .convert = CONVERT_LABEL_TEXT, .constant = (number) }
#define LABEL(number) { .convert = CONVERT_LABEL, .constant = (number) }

#define TIME_COLUMNS SHOWN("start", "INTEGER NOT NULL"), SHOWN("end", "INTEGER NOT NULL")

static const struct mapped_column mapped_kernels_columns[] = {
#define NSYS_KERNELS
#include "query/nsys_as_columns.h"
};
static const struct mapped_source mapped_kernels_sources[] = {
	{ .table = TABLE_GPU_KERNEL, .track_kind = TRACK_GPU_KERNEL },
};
MAPPED(mapped_kernels, "CUPTI_ACTIVITY_KIND_KERNEL");

static const struct mapped_column mapped_copies_columns[] = {
#define NSYS_COPIES
#include "query/nsys_as_columns.h"
};
static const struct mapped_source mapped_copies_sources[] = {
	{ .table = TABLE_GPU_COPY, .track_kind = TRACK_GPU_COPY },
};
MAPPED(mapped_copies, "CUPTI_ACTIVITY_KIND_MEMCPY");

static const struct mapped_column mapped_sets_columns[] = {
#define NSYS_SETS
#include "query/nsys_as_columns.h"
};
static const struct mapped_source mapped_sets_sources[] = {
	{ .table = TABLE_GPU_SET, .track_kind = TRACK_GPU_SET },
};
MAPPED(mapped_sets, "CUPTI_ACTIVITY_KIND_MEMSET");

static const struct mapped_column mapped_syncs_columns[] = {
#define NSYS_SYNCS
#include "query/nsys_as_columns.h"
};
static const struct mapped_source mapped_syncs_sources[] = {
	{ .table = TABLE_GPU_SYNC, .track_kind = TRACK_GPU_SYNC },
};
MAPPED(mapped_syncs, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");

#define EVENT_STREAM(from) { .convert = CONVERT_STREAM, .column = COLUMN_CUDA_EVENT_STREAM, .other = (from) }
static const struct mapped_column mapped_cuda_events_columns[] = {
#define NSYS_CUDA_EVENTS
#include "query/nsys_as_columns.h"
};
static const struct mapped_source mapped_cuda_events_sources[] = { { .table = TABLE_CUDA_EVENT } };
MAPPED(mapped_cuda_events, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");

static const struct mapped_column mapped_graph_traces_columns[] = {
#define NSYS_GRAPH_TRACES
#include "query/nsys_as_columns.h"
};
static const struct mapped_source mapped_graph_traces_sources[] = {
	{ .table = TABLE_GPU_GRAPH, .track_kind = TRACK_GPU_GRAPH },
};
MAPPED(mapped_graph_traces, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE");

/* Runtime and driver. A call that had not returned ends with the recording and has no duration. */
static const struct mapped_column mapped_cuda_calls_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_API_START)),
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_API_END)),
	SHOWN_AS("eventClass", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_CUDA_API_CLASS)),
	SHOWN_AS("globalTid", "INTEGER", FROM(TRACK_TID, 0)),
	KEY_AS("correlationId", "INTEGER", FROM(NUMBER, COLUMN_CUDA_API_CORRELATION)),
	SHOWN_AS("nameId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_CUDA_API_NAME)),
	SHOWN_AS("returnValue", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_CUDA_API_RESULT)),
	SHOWN_AS("callchainId", "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_CUDA_API_STACK)),
	BEHIND_AS("apiName", "TEXT", "name", FROM(API_TEXT, COLUMN_CUDA_API_NAME)),
	BEHIND_AS("apiFullName", "TEXT", "fullName", FROM(TEXT, COLUMN_CUDA_API_NAME)),
	BEHIND_AS("apiDuration", "INTEGER", "duration", WITH(DURATION, COLUMN_CUDA_API_END, COLUMN_CUDA_API_FLAGS)),
	BEHIND_AS("apiIsOpen", "INTEGER", "open", FROM(OPEN, COLUMN_CUDA_API_FLAGS)),
	BEHIND_AS("apiDepth", "INTEGER", "depth", FROM(TRACK_DEPTH, 0)), BEHIND_AS("apiTrack", "INTEGER", "track", FROM(TRACK, 0)),
	BEHIND_AS("threadUid", "INTEGER", NULL, FROM(TRACK_THREAD, 0)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
};
static const struct mapped_source mapped_cuda_calls_sources[] = {
	{ .table = TABLE_CUDA_API, .track_kind = TRACK_CUDA_API },
};
MAPPED(mapped_cuda_calls, "CUPTI_ACTIVITY_KIND_RUNTIME");

static const struct mapped_column mapped_overhead_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_OVERHEAD_START)),
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_OVERHEAD_END)),
	SHOWN_AS("eventClass", "INTEGER NOT NULL", CONSTANT(CLASS_OVERHEAD)), SHOWN_AS("globalTid", "INTEGER", FROM(TRACK_TID, 0)),
	KEY_AS("correlationId", "INTEGER", FROM(NUMBER, COLUMN_CUDA_OVERHEAD_CORRELATION)),
	SHOWN_AS("nameId", "INTEGER", WITH(OVERHEAD_NAME, COLUMN_CUDA_OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_NAME)),
	SHOWN_AS("overheadType", "INTEGER NOT NULL", FROM(OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_KIND)),
	BEHIND_AS("overheadDuration", "INTEGER", "duration", WITH(DURATION, 1, UINT8_MAX)),
	BEHIND_AS("threadUid", "INTEGER", NULL, FROM(TRACK_THREAD, 0)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
};
static const struct mapped_source mapped_overhead_sources[] = {
	{ .table = TABLE_CUDA_OVERHEAD, .track_kind = TRACK_CUDA_OVERHEAD, .filter = FILTER_NOT_EQUAL,
	  .filter_column = COLUMN_CUDA_OVERHEAD_LISTED, .filter_value = LISTED_AS_PROFILERS },
};
MAPPED(mapped_overhead, "CUPTI_ACTIVITY_KIND_OVERHEAD");

static const struct mapped_column mapped_profiler_overhead_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_OVERHEAD_START)),
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_OVERHEAD_END)),
	SHOWN_AS("globalTid", "INTEGER", FROM(TRACK_TID, 0)),
	SHOWN_AS("nameId", "INTEGER NOT NULL", WITH(OVERHEAD_NAME, COLUMN_CUDA_OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_NAME)),
	SHOWN_AS("overheadType", "INTEGER NOT NULL", FROM(OVERHEAD_KIND, COLUMN_CUDA_OVERHEAD_KIND)),
	BEHIND_AS("overheadDuration", "INTEGER", "duration", WITH(DURATION, 1, UINT8_MAX)),
	BEHIND_AS("threadUid", "INTEGER", NULL, FROM(TRACK_THREAD, 0)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
};
static const struct mapped_source mapped_profiler_overhead_sources[] = {
	{ .table = TABLE_CUDA_OVERHEAD, .track_kind = TRACK_CUDA_OVERHEAD, .filter = FILTER_BETWEEN,
	  .filter_column = COLUMN_CUDA_OVERHEAD_KIND, .filter_value = PROFILER_OVERHEAD_FIRST,
	  .filter_last = PROFILER_OVERHEAD_LAST, .unless = COLUMN_CUDA_OVERHEAD_LISTED },
	{ .table = TABLE_CUDA_OVERHEAD, .track_kind = TRACK_CUDA_OVERHEAD, .filter = FILTER_BETWEEN,
	  .filter_column = COLUMN_CUDA_OVERHEAD_LISTED, .filter_value = LISTED_TWICE, .filter_last = LISTED_AS_PROFILERS },
};
MAPPED(mapped_profiler_overhead, "PROFILER_OVERHEAD");

/* Nodes and graphs are made at a moment: begin and end are one. */
static const struct mapped_column mapped_graph_nodes_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_TIME)),
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_TIME)),
	SHOWN_AS("eventClass", "INTEGER NOT NULL", CONSTANT(CLASS_GRAPH_NODE)),
	SHOWN_AS("globalTid", "INTEGER", FROM(GLOBAL_TID, COLUMN_CUDA_GRAPH_NODE_THREAD)),
	SHOWN_AS("nameId", "INTEGER NOT NULL", WITH(NODE_NAME, COLUMN_CUDA_GRAPH_NODE_FUNCTION, COLUMN_CUDA_GRAPH_NODE_TYPE)),
	KEY_AS("graphNodeId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_CUDA_GRAPH_NODE_NODE)),
	SHOWN_AS("originalGraphNodeId", "INTEGER", FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_ORIGINAL)),
	BEHIND_AS("nodeGraph", "INTEGER", "graph", FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_GRAPH)),
	BEHIND_AS("nodeType", "INTEGER", "type", FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_TYPE)),
	BEHIND_AS("threadUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_THREAD)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_CUDA_GRAPH_NODE_PROCESS)),
};
static const struct mapped_source mapped_graph_nodes_sources[] = { { .table = TABLE_CUDA_GRAPH_NODE } };
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

_Static_assert(COUNT(graph_created_cells) == COUNT(mapped_graphs_columns), "a cell per column");
_Static_assert(COUNT(mapped_kernels_columns) <= MAPPED_MAX_COLUMNS, "a scan has room for its columns");
