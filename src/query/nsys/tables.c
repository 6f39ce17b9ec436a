/* The tables of fmt/nsys/events.def, column for column as readers of nsys's exports expect them. What stacks are made of is in
 * callchains.c. */
#include "fmt/nsys/columns.h"
#include "fmt/record.h"
#include "query/index/cuda_index.h"
#include "query/engine/mapping_words.h"

/* nsys's numbers of event classes. */
/* clang-format off */
enum {
	CLASS_OSRT = 27, CLASS_GRAPH_NODE = 77, CLASS_GRAPH_EXEC = 94, CLASS_GRAPH_CREATION = 95, CLASS_GRAPH_CLONE = 96,
	CLASS_OVERHEAD = 103
};
/* Of NVTX_EVENTS. */
enum {
	EVENT_CATEGORY = 33, EVENT_MARK = 34, EVENT_THREAD_NAME = 39, EVENT_PUSH_POP = 59,
	EVENT_START_END = 60, EVENT_DOMAIN_CREATE = 75, EVENT_DOMAIN_DESTROY = 76
};
/* clang-format on */
/* CUPTI's counters of unified memory. */
enum { FAULT_OF_CPU = 3, FAULT_OF_GPU = 4 };
enum { POOL_LOCAL = 1, POOL_IMPORTED = 2 };
/* cuda_overhead.listed. */
enum { LISTED_TWICE = 2, LISTED_AS_PROFILERS = 3 };
/* CUPTI's kinds of overhead that a profiler is to blame for. */
#define PROFILER_OVERHEAD_FIRST (1 << 16)
#define PROFILER_OVERHEAD_LAST (3 << 16)
#define NO_EVENT 4294967295
#define VM_ID ((int64_t)1 << 48)

/* clang-format off */
#define OR(from, number) { .convert = CONVERT_NUMBER_OR, .column = (from), .constant = (number) }
#define MINUS_ONE(kind, from) { .convert = CONVERT_##kind, .column = (from), .constant = -1 }
#define LAUNCH(from) { .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
/* From 1, unlike CUPTI's. */
#define LAUNCH_TYPE_FROM_1 \
	{ .convert = CONVERT_LAUNCH, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = COLUMN_CUDA_LAUNCH_LAUNCH_TYPE, .constant = 1 }
#define LAUNCH_TEXT(from) { .convert = CONVERT_LAUNCH_TEXT, .column = COLUMN_GPU_KERNEL_LAUNCH, .other = (from) }
#define STREAM(from) { .convert = CONVERT_TRACK_STREAM, .other = (from) }
/* A context that is waited for stands for all of its streams. */
#define ANY_STREAM { .convert = CONVERT_TRACK_STREAM, .other = STREAM_ID, .constant = 4294967295 }
#define EVENT_STREAM(from) { .convert = CONVERT_STREAM, .column = COLUMN_CUDA_EVENT_STREAM, .other = (from) }
#define LABEL_TEXT(number) { .convert = CONVERT_LABEL_TEXT, .constant = (number) }
#define LABEL(number) { .convert = CONVERT_LABEL, .constant = (number) }
#define OF_POOL(from, type) \
	{ .convert = CONVERT_IF, .column = (from), .other = COLUMN_GPU_MEMORY_POOL_TYPE, .constant = (type) }
#define CONTEXT(from) { .convert = CONVERT_TRACK_CONTEXT, .other = (from) }
#define METRIC(from) { .convert = CONVERT_TRACK_METRIC, .other = (from) }
/* clang-format on */

/* Where a table's rows come from. */
#define SOURCES(these) these, COUNT_OF(these)
#define ONE_SOURCE(...) &(const struct mapped_source){ __VA_ARGS__ }, 1
#define ROWS(TABLE) ONE_SOURCE(.table = TABLE_##TABLE)
#define TRACKS(TABLE, KIND) ONE_SOURCE(.table = TABLE_##TABLE, .track_kind = TRACK_##KIND)
#define WHERE(TABLE, is, COLUMN, value) \
	.table = TABLE_##TABLE, .filter = FILTER_##is, .filter_column = COLUMN_##TABLE##_##COLUMN, .filter_value = (value)
#define ROWS_WHERE(TABLE, is, COLUMN, value) ONE_SOURCE(WHERE(TABLE, is, COLUMN, value))
#define CELLS(NAME) CELLS_AT(nsys_at_##NAME)

/* NVTX_EVENTS. */
#define AT(column) [NSYS_AT(NVTX_EVENTS, column)]
/* clang-format off */
#define PAYLOAD(kind, table, which)                                                              \
	{ .convert = CONVERT_##kind, .column = COLUMN_##table##_PAYLOAD,                         \
	  .other = COLUMN_##table##_PAYLOAD_KIND, .constant = NVTX_PAYLOAD_##which }
#define EVENT_CELLS(table, type)                                                                 \
	AT(eventType) = CONSTANT(type), AT(category) = FROM(NUMBER_OR_NULL, COLUMN_##table##_CATEGORY), \
	AT(color) = WITH(COLOR, COLUMN_##table##_COLOR, COLUMN_##table##_FLAGS),                 \
	AT(text) = WITH(FREE_TEXT, COLUMN_##table##_NAME, COLUMN_##table##_FLAGS), AT(globalTid) = FROM(TRACK_TID, 0), \
	AT(textId) = WITH(REGISTERED_ID, COLUMN_##table##_NAME, COLUMN_##table##_FLAGS),         \
	AT(uint64Value) = PAYLOAD(PAYLOAD, table, UINT64), AT(int64Value) = PAYLOAD(PAYLOAD, table, INT64), \
	AT(doubleValue) = PAYLOAD(PAYLOAD_REAL, table, DOUBLE), AT(uint32Value) = PAYLOAD(PAYLOAD, table, UINT32), \
	AT(int32Value) = PAYLOAD(PAYLOAD, table, INT32), AT(floatValue) = PAYLOAD(PAYLOAD_FLOAT, table, FLOAT), \
	AT(jsonText) = { .convert = CONVERT_JSON, .column = COLUMN_##table##_BLOB,               \
			 .other = COLUMN_##table##_SCHEMA, .constant = COLUMN_##table##_ARGS },  \
	AT(binaryData) = WITH(HEX, COLUMN_##table##_BLOB, COLUMN_##table##_SCHEMA),              \
	AT(eventName) = FROM(TEXT, COLUMN_##table##_NAME), AT(eventDepth) = FROM(TRACK_DEPTH, 0), \
	AT(eventTrack) = FROM(TRACK, 0), AT(threadUid) = FROM(TRACK_THREAD, 0), AT(processUid) = FROM(TRACK_PROCESS, 0)
#define RANGES(KIND, type, ...)                                                                  \
	{ .table = TABLE_SLICE, .track_kind = TRACK_##KIND, CELLS(NVTX_EVENTS){                  \
	  EVENT_CELLS(SLICE, type), AT(start) = FROM(NUMBER, COLUMN_SLICE_START),                \
	  AT(end) = WITH(END, COLUMN_SLICE_END, COLUMN_SLICE_FLAGS), AT(rangeId) = FROM(NUMBER, COLUMN_SLICE_RANGE_ID), \
	  AT(endGlobalTid) = FROM(GLOBAL_TID, COLUMN_SLICE_END_THREAD),                          \
	  AT(eventDuration) = WITH(DURATION, COLUMN_SLICE_END, COLUMN_SLICE_FLAGS),              \
	  AT(eventIsOpen) = FROM(OPEN, COLUMN_SLICE_FLAGS), __VA_ARGS__ } }
#define MARKS(KIND, ...)                                                                         \
	{ .table = TABLE_INSTANT, .track_kind = TRACK_##KIND, CELLS(NVTX_EVENTS){                \
	  EVENT_CELLS(INSTANT, EVENT_MARK), AT(start) = FROM(NUMBER, COLUMN_INSTANT_TIME), __VA_ARGS__ } }
/* clang-format on */
#define ITS_DOMAIN AT(domainId) = FROM(TRACK_DOMAIN_ID, 0), AT(domainName) = FROM(TRACK_DOMAIN_NAME, 0)
/* Calls that name something. */
#define NAMES(table, type, its_name) \
	AT(start) = FROM(NUMBER, COLUMN_##table##_TIME), AT(eventType) = CONSTANT(type), AT(text) = FROM(TEXT, its_name), \
	AT(eventName) = FROM(TEXT, its_name), AT(processUid) = FROM(NUMBER, COLUMN_##table##_PROCESS)
/* clang-format off */
#define DOMAINS(kind, type)                                                                      \
	{ WHERE(NVTX_DOMAIN, EQUAL, KIND, kind), CELLS(NVTX_EVENTS){                             \
	  NAMES(NVTX_DOMAIN, type, COLUMN_NVTX_DOMAIN_NAME), AT(globalTid) = FROM(GLOBAL_TID, COLUMN_NVTX_DOMAIN_THREAD), \
	  AT(domainId) = FROM(NUMBER, COLUMN_NVTX_DOMAIN_ID), AT(domainName) = FROM(TEXT, COLUMN_NVTX_DOMAIN_NAME) } }
/* clang-format on */

static const struct mapped_source nvtx_sources[] = {
	RANGES(NVTX_PUSHPOP, EVENT_PUSH_POP, ITS_DOMAIN),
	RANGES(NVTX_STARTEND, EVENT_START_END, ITS_DOMAIN),
	MARKS(NVTX_MARK, ITS_DOMAIN),
	DOMAINS(1, EVENT_DOMAIN_CREATE),
	DOMAINS(2, EVENT_DOMAIN_DESTROY),
	{ .table = TABLE_NVTX_CATEGORY,
	  CELLS(NVTX_EVENTS){ NAMES(NVTX_CATEGORY, EVENT_CATEGORY, COLUMN_NVTX_CATEGORY_NAME),
			      AT(category) = FROM(NUMBER, COLUMN_NVTX_CATEGORY_CATEGORY),
			      AT(globalTid) = FROM(GLOBAL_TID, COLUMN_NVTX_CATEGORY_THREAD),
			      AT(domainId) = FROM(DOMAIN_ID, COLUMN_NVTX_CATEGORY_DOMAIN),
			      AT(domainName) = FROM(DOMAIN_NAME, COLUMN_NVTX_CATEGORY_DOMAIN) } },
	{ .table = TABLE_THREAD_NAME,
	  CELLS(NVTX_EVENTS){ NAMES(THREAD_NAME, EVENT_THREAD_NAME, COLUMN_THREAD_NAME_NAME),
			      AT(globalTid) = FROM(NAMED_TID, COLUMN_THREAD_NAME_PROCESS), AT(domainId) = CONSTANT(0) } },
};
/* Events of other tools, in the shape of NVTX's: their category is their domain. Domains of a program are numbered from 0; those
 * of categories stand apart from them. */
#define CLASS_DOMAIN(its_class) \
	AT(domainId) = { .convert = CONVERT_PLUS, .column = (its_class), .constant = IMPORTED_DOMAINS }, \
	AT(domainName) = FROM(TEXT, its_class)
static const struct mapped_source imported_sources[] = {
	RANGES(GENERIC, EVENT_PUSH_POP, CLASS_DOMAIN(COLUMN_SLICE_CLASS)),
	MARKS(GENERIC, CLASS_DOMAIN(COLUMN_INSTANT_CLASS)),
};
#undef AT

#define AT(column) [NSYS_AT(ThreadNames, column)]
static const struct mapped_source thread_name_sources[] = {
	{ WHERE(THREAD, LAST_THREAD, UID, 0) },
	{ WHERE(THREAD_NAME, UNSEEN_THREAD, PROCESS, 0),
	  CELLS(ThreadNames){ AT(nameId) = FROM(STRING_ID, COLUMN_THREAD_NAME_NAME), AT(priority) = NOTHING,
			      AT(globalTid) = FROM(NAMED_TID, COLUMN_THREAD_NAME_PROCESS), AT(threadUid) = NOTHING } },
};
#undef AT

/* Times of diagnostics are the target's, but for some that nsys's files have of the host. Those have ids of the host. */
static const struct mapped_source diagnostic_sources[] = {
	{ WHERE(DIAGNOSTIC, EQUAL, ELSEWHERE, 0) },
	{ WHERE(DIAGNOSTIC, NOT_EQUAL, ELSEWHERE, 0),
	  CELLS(DIAGNOSTIC_EVENT){ [NSYS_AT(DIAGNOSTIC_EVENT, globalPid)] = FROM(NUMBER, COLUMN_DIAGNOSTIC_ELSEWHERE) } },
};

/* A run on a CPU is two events, getting it and leaving it. Who still had a CPU at the end did not leave it. */
#define AT(column) [NSYS_AT(SCHED_EVENTS, column)]
static const struct mapped_source sched_sources[] = {
	{ .table = TABLE_RUN, .track_kind = TRACK_RUN },
	{ WHERE(RUN, NOT_EQUAL, AFTER, RUN_STILL), .track_kind = TRACK_RUN,
	  CELLS(SCHED_EVENTS){ AT(start) = FROM(NUMBER, COLUMN_RUN_END), AT(isSchedIn) = CONSTANT(0),
			       AT(threadState) = FROM(NUMBER, COLUMN_RUN_AFTER), AT(threadBlock) = FROM(PRESENT, COLUMN_RUN_SYSCALL),
			       AT(syscallName) = FROM(TEXT, COLUMN_RUN_SYSCALL) } },
};
#undef AT

static const struct mapped_source profiler_overhead_sources[] = {
	{ WHERE(CUDA_OVERHEAD, BETWEEN, KIND, PROFILER_OVERHEAD_FIRST), .track_kind = TRACK_CUDA_OVERHEAD,
	  .filter_last = PROFILER_OVERHEAD_LAST, .unless = COLUMN_CUDA_OVERHEAD_LISTED },
	{ WHERE(CUDA_OVERHEAD, BETWEEN, LISTED, LISTED_TWICE), .track_kind = TRACK_CUDA_OVERHEAD, .filter_last = LISTED_AS_PROFILERS },
};

/* clang-format off */
#define GRAPHS(kind, its_class, label)                                                           \
	{ WHERE(CUDA_GRAPH, EQUAL, KIND, kind), CELLS(CUDA_GRAPH_EVENTS){                        \
	  [NSYS_AT(CUDA_GRAPH_EVENTS, eventClass)] = CONSTANT(its_class), [NSYS_AT(CUDA_GRAPH_EVENTS, nameId)] = LABEL(label) } }
/* clang-format on */
static const struct mapped_source graph_sources[] = {
	GRAPHS(1, CLASS_GRAPH_CREATION, LABEL_GRAPH_CREATED),
	GRAPHS(2, CLASS_GRAPH_CLONE, LABEL_GRAPH_CLONED),
	GRAPHS(3, CLASS_GRAPH_EXEC, LABEL_GRAPH_MADE_EXECUTABLE),
};

#define TABLE(NAME, ...) static const struct mapped_column NAME##_columns[] = {
#define COLUMN(its_name, type, import, ...) { .name = #its_name, .declaration = (type), .cell = __VA_ARGS__ },
#define INDEXED(its_name, type, import, ...) { .name = #its_name, .declaration = (type), .is_key = 1, .cell = __VA_ARGS__ },
#define HIDDEN(its_name, type, its_short_name, ...) \
	{ .name = #its_name, .declaration = type " HIDDEN", .short_name = (its_short_name), .cell = __VA_ARGS__ },
/* clang-format off */
#define END(NAME) }; \
	_Static_assert(COUNT_OF(NAME##_columns) <= MAPPED_MAX_COLUMNS, "scan.h has room for so many");
/* clang-format on */
#include "fmt/nsys/events.def"

const struct mapped_table mapped_tables[] = {
#define TABLE(NAME, ...) \
	{ #NAME, NAME##_columns, COUNT_OF(NAME##_columns), __VA_ARGS__, .shows_frames = NSYS_##NAME == NSYS_CUDA_UM_CPU_PAGE_FAULT_EVENTS },
#define COLUMN(...)
#define INDEXED(...)
#define HIDDEN(...)
#define END(NAME)
#include "fmt/nsys/events.def"
};
const unsigned mapped_table_count = COUNT_OF(mapped_tables);

const struct mapped_table mapped_imported = { "sonde_imported", NVTX_EVENTS_columns, COUNT_OF(NVTX_EVENTS_columns),
					      SOURCES(imported_sources), 0 };

_Static_assert(TABLE_MAX_COLUMNS + 2 <= MAPPED_MAX_COLUMNS, "scan.h has room for so many");
