/* The tables that readers of nsys's exports expect, column for column. */
#include "fmt/record.h"
#include "query/mapping_words.h"

#define PAYLOAD(kind, table, which)                                                              \
	{ .convert = CONVERT_##kind, .column = COLUMN_##table##_PAYLOAD,                         \
	  .other = COLUMN_##table##_PAYLOAD_KIND, .constant = NVTX_PAYLOAD_##which }

/* NVTX_EVENTS. Hidden columns come behind nsys's twenty: SELECT * does not show
 * them, reports and group_stats() use them. */
enum {
	EVENT_CATEGORY = 33, EVENT_MARK = 34, EVENT_THREAD_NAME = 39, EVENT_PUSH_POP = 59,
	EVENT_START_END = 60, EVENT_DOMAIN_CREATE = 75, EVENT_DOMAIN_DESTROY = 76
};

static const struct mapped_column nvtx_events_columns[] = {
	SHOWN("start", "INTEGER NOT NULL"),
	SHOWN("end", "INTEGER"),
	SHOWN("eventType", "INTEGER NOT NULL"),
	SHOWN("rangeId", "INTEGER"),
	SHOWN("category", "INTEGER"),
	SHOWN("color", "INTEGER"),
	SHOWN("text", "TEXT"),
	SHOWN("globalTid", "INTEGER"),
	SHOWN("endGlobalTid", "INTEGER"),
	SHOWN("textId", "INTEGER"),
	SHOWN("domainId", "INTEGER"),
	SHOWN("uint64Value", "INTEGER"),
	SHOWN("int64Value", "INTEGER"),
	SHOWN("doubleValue", "REAL"),
	SHOWN("uint32Value", "INTEGER"),
	SHOWN("int32Value", "INTEGER"),
	SHOWN("floatValue", "REAL"),
	SHOWN("jsonTextId", "INTEGER"),
	SHOWN("jsonText", "TEXT"),
	SHOWN("binaryData", "TEXT"),
	BEHIND("eventName", "TEXT", "name"),
	BEHIND("domainName", "TEXT", NULL),
	BEHIND("eventDuration", "INTEGER", "duration"),
	BEHIND("eventIsOpen", "INTEGER", "open"),
	BEHIND("eventDepth", "INTEGER", "depth"),
	BEHIND("eventTrack", "INTEGER", "track"),
	BEHIND("threadUid", "INTEGER", NULL),
	BEHIND("processUid", "INTEGER", NULL),
};

#define EVENT_PAYLOADS(table)                                                                    \
	PAYLOAD(PAYLOAD, table, UINT64), PAYLOAD(PAYLOAD, table, INT64),                         \
	PAYLOAD(PAYLOAD_REAL, table, DOUBLE), PAYLOAD(PAYLOAD, table, UINT32),                   \
	PAYLOAD(PAYLOAD, table, INT32), PAYLOAD(PAYLOAD_FLOAT, table, FLOAT), NOTHING,           \
	{ .convert = CONVERT_JSON, .column = COLUMN_##table##_BLOB,                              \
	  .other = COLUMN_##table##_SCHEMA, .constant = COLUMN_##table##_ARGS },                 \
	WITH(HEX, COLUMN_##table##_BLOB, COLUMN_##table##_SCHEMA)
#define EVENT_TRACK FROM(TRACK_DEPTH, 0), FROM(TRACK, 0), FROM(TRACK_THREAD, 0), FROM(TRACK_PROCESS, 0)

#define RANGE_CELLS(type, domain_id, domain_name)                                                \
	{ FROM(NUMBER, COLUMN_SLICE_START), WITH(END, COLUMN_SLICE_END, COLUMN_SLICE_FLAGS),     \
	  CONSTANT(type), FROM(NUMBER, COLUMN_SLICE_RANGE_ID),                                   \
	  FROM(NUMBER_OR_NULL, COLUMN_SLICE_CATEGORY),                                           \
	  WITH(COLOR, COLUMN_SLICE_COLOR, COLUMN_SLICE_FLAGS),                                   \
	  WITH(FREE_TEXT, COLUMN_SLICE_NAME, COLUMN_SLICE_FLAGS), FROM(TRACK_TID, 0),            \
	  FROM(GLOBAL_TID, COLUMN_SLICE_END_THREAD),                                             \
	  WITH(REGISTERED_ID, COLUMN_SLICE_NAME, COLUMN_SLICE_FLAGS), domain_id,                 \
	  EVENT_PAYLOADS(SLICE), FROM(TEXT, COLUMN_SLICE_NAME), domain_name,                     \
	  WITH(DURATION, COLUMN_SLICE_END, COLUMN_SLICE_FLAGS),                                  \
	  FROM(OPEN, COLUMN_SLICE_FLAGS), EVENT_TRACK }

#define MARK_CELLS(domain_id, domain_name)                                                       \
	{ FROM(NUMBER, COLUMN_INSTANT_TIME), NOTHING, CONSTANT(EVENT_MARK), NOTHING,             \
	  FROM(NUMBER_OR_NULL, COLUMN_INSTANT_CATEGORY),                                         \
	  WITH(COLOR, COLUMN_INSTANT_COLOR, COLUMN_INSTANT_FLAGS),                               \
	  WITH(FREE_TEXT, COLUMN_INSTANT_NAME, COLUMN_INSTANT_FLAGS), FROM(TRACK_TID, 0), NOTHING, \
	  WITH(REGISTERED_ID, COLUMN_INSTANT_NAME, COLUMN_INSTANT_FLAGS), domain_id,             \
	  EVENT_PAYLOADS(INSTANT), FROM(TEXT, COLUMN_INSTANT_NAME), domain_name,                 \
	  NOTHING, NOTHING, EVENT_TRACK }
/* Domains of a program are numbered from 0; those of categories stand apart from them. */
#define CLASS_DOMAIN(its_class) { .convert = CONVERT_PLUS, .column = (its_class), .constant = IMPORTED_DOMAINS }

static const struct mapped_cell nvtx_pushpop_cells[] =
	RANGE_CELLS(EVENT_PUSH_POP, FROM(TRACK_DOMAIN_ID, 0), FROM(TRACK_DOMAIN_NAME, 0));
static const struct mapped_cell nvtx_startend_cells[] =
	RANGE_CELLS(EVENT_START_END, FROM(TRACK_DOMAIN_ID, 0), FROM(TRACK_DOMAIN_NAME, 0));
static const struct mapped_cell nvtx_mark_cells[] = MARK_CELLS(FROM(TRACK_DOMAIN_ID, 0), FROM(TRACK_DOMAIN_NAME, 0));

/* Naming calls: time, type, category, text, thread, domain; nothing else. */
#define NAMING_CELLS(time, type, category, text, tid, domain_id, domain_name, process)           \
	{ time, NOTHING, CONSTANT(type), NOTHING, category, NOTHING, text, tid, NOTHING, NOTHING, \
	  domain_id, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,     \
	  NOTHING, text, domain_name, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, process }
#define DOMAIN_CELLS(type)                                                                       \
	NAMING_CELLS(FROM(NUMBER, COLUMN_NVTX_DOMAIN_TIME), type, NOTHING,                       \
		     FROM(TEXT, COLUMN_NVTX_DOMAIN_NAME), FROM(GLOBAL_TID, COLUMN_NVTX_DOMAIN_THREAD), \
		     FROM(NUMBER, COLUMN_NVTX_DOMAIN_ID), FROM(TEXT, COLUMN_NVTX_DOMAIN_NAME),   \
		     FROM(NUMBER, COLUMN_NVTX_DOMAIN_PROCESS))

static const struct mapped_cell nvtx_domain_create_cells[] = DOMAIN_CELLS(EVENT_DOMAIN_CREATE);
static const struct mapped_cell nvtx_domain_destroy_cells[] = DOMAIN_CELLS(EVENT_DOMAIN_DESTROY);
static const struct mapped_cell nvtx_category_cells[] =
	NAMING_CELLS(FROM(NUMBER, COLUMN_NVTX_CATEGORY_TIME), EVENT_CATEGORY,
		     FROM(NUMBER, COLUMN_NVTX_CATEGORY_CATEGORY), FROM(TEXT, COLUMN_NVTX_CATEGORY_NAME),
		     FROM(GLOBAL_TID, COLUMN_NVTX_CATEGORY_THREAD),
		     FROM(DOMAIN_ID, COLUMN_NVTX_CATEGORY_DOMAIN),
		     FROM(DOMAIN_NAME, COLUMN_NVTX_CATEGORY_DOMAIN),
		     FROM(NUMBER, COLUMN_NVTX_CATEGORY_PROCESS));
static const struct mapped_cell nvtx_thread_name_cells[] =
	NAMING_CELLS(FROM(NUMBER, COLUMN_THREAD_NAME_TIME), EVENT_THREAD_NAME, NOTHING,
		     FROM(TEXT, COLUMN_THREAD_NAME_NAME), FROM(NAMED_TID, COLUMN_THREAD_NAME_PROCESS),
		     CONSTANT(0), NOTHING, FROM(NUMBER, COLUMN_THREAD_NAME_PROCESS));

static const struct mapped_source nvtx_events_sources[] = {
	{ .table = TABLE_SLICE, .track_kind = TRACK_NVTX_PUSHPOP, .cells = nvtx_pushpop_cells },
	{ .table = TABLE_SLICE, .track_kind = TRACK_NVTX_STARTEND, .cells = nvtx_startend_cells },
	{ .table = TABLE_INSTANT, .track_kind = TRACK_NVTX_MARK, .cells = nvtx_mark_cells },
	{ .table = TABLE_NVTX_DOMAIN, .filter = FILTER_EQUAL, .filter_column = COLUMN_NVTX_DOMAIN_KIND,
	  .filter_value = 1, .cells = nvtx_domain_create_cells },
	{ .table = TABLE_NVTX_DOMAIN, .filter = FILTER_EQUAL, .filter_column = COLUMN_NVTX_DOMAIN_KIND,
	  .filter_value = 2, .cells = nvtx_domain_destroy_cells },
	SOURCE(NVTX_CATEGORY, nvtx_category_cells),
	SOURCE(THREAD_NAME, nvtx_thread_name_cells),
};
static MAPPED(nvtx_events, "NVTX_EVENTS");

/* Events of other tools, in the shape of NVTX's: their category is their domain. */
static const struct mapped_cell imported_slice_cells[] =
	RANGE_CELLS(EVENT_PUSH_POP, CLASS_DOMAIN(COLUMN_SLICE_CLASS), FROM(TEXT, COLUMN_SLICE_CLASS));
static const struct mapped_cell imported_instant_cells[] =
	MARK_CELLS(CLASS_DOMAIN(COLUMN_INSTANT_CLASS), FROM(TEXT, COLUMN_INSTANT_CLASS));
static const struct mapped_source imported_sources[] = {
	{ .table = TABLE_SLICE, .track_kind = TRACK_GENERIC, .cells = imported_slice_cells },
	{ .table = TABLE_INSTANT, .track_kind = TRACK_GENERIC, .cells = imported_instant_cells },
};
const struct mapped_table mapped_imported = { "sonde_imported", nvtx_events_columns, COUNT(nvtx_events_columns),
					      imported_sources, COUNT(imported_sources), 0 };

/* Processes and threads: one row per number, the last to have had it. All
 * lives are in sonde_process and sonde_thread. */
static const struct mapped_column processes_columns[] = {
	SHOWN_AS("globalPid", "INTEGER", FROM(GLOBAL_PID, COLUMN_PROCESS_UID)),
	SHOWN_AS("pid", "INTEGER", FROM(NUMBER, COLUMN_PROCESS_PID)), SHOWN_AS("name", "TEXT", FROM(TEXT, COLUMN_PROCESS_NAME)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_PROCESS_UID)),
};
static const struct mapped_source processes_sources[] = {
	{ .table = TABLE_PROCESS, .filter = FILTER_LAST_PROCESS, .filter_column = COLUMN_PROCESS_UID },
};
static MAPPED(processes, "PROCESSES");

static const struct mapped_column thread_names_columns[] = {
	SHOWN("nameId", "INTEGER NOT NULL"), SHOWN("priority", "INTEGER"), SHOWN("globalTid", "INTEGER"),
	BEHIND("threadUid", "INTEGER", NULL),
};
static const struct mapped_cell thread_names_cells[] = {
	FROM(THREAD_NAME_ID, COLUMN_THREAD_UID), FROM(NUMBER, COLUMN_THREAD_PRIORITY), FROM(GLOBAL_TID, COLUMN_THREAD_UID),
	FROM(NUMBER, COLUMN_THREAD_UID),
};
static const struct mapped_cell unseen_thread_cells[] = {
	FROM(STRING_ID, COLUMN_THREAD_NAME_NAME), NOTHING, FROM(NAMED_TID, COLUMN_THREAD_NAME_PROCESS),
	NOTHING,
};
static const struct mapped_source thread_names_sources[] = {
	{ .table = TABLE_THREAD, .filter = FILTER_LAST_THREAD, .filter_column = COLUMN_THREAD_UID,
	  .cells = thread_names_cells },
	{ .table = TABLE_THREAD_NAME, .filter = FILTER_UNSEEN_THREAD,
	  .filter_column = COLUMN_THREAD_NAME_PROCESS, .cells = unseen_thread_cells },
};
static MAPPED(thread_names, "ThreadNames");

static const struct mapped_column process_streams_columns[] = {
	SHOWN_AS("globalPid", "INTEGER NOT NULL", FROM(GLOBAL_PID, COLUMN_OUTPUT_STREAM_PROCESS)),
	SHOWN_AS("filenameId", "INTEGER NOT NULL", FROM(STRING_ID, COLUMN_OUTPUT_STREAM_NAME)),
	SHOWN_AS("contentId", "INTEGER NOT NULL", FROM(BLOB_STRING_ID, COLUMN_OUTPUT_STREAM_BLOB)),
};
static const struct mapped_source process_streams_sources[] = {
	{ .table = TABLE_OUTPUT_STREAM, .filter = FILTER_EQUAL, .filter_column = COLUMN_OUTPUT_STREAM_FILE, .filter_value = 0 },
};
static MAPPED(process_streams, "ProcessStreams");

static const struct mapped_column analysis_files_columns[] = {
	SHOWN_AS("id", "INTEGER NOT NULL PRIMARY KEY", { .convert = CONVERT_PLUS, .column = COLUMN_OUTPUT_STREAM_FILE, .constant = -1 }),
	SHOWN_AS("filename", "TEXT", FROM(TEXT, COLUMN_OUTPUT_STREAM_NAME)),
	SHOWN_AS("contentId", "INTEGER", FROM(BLOB_STRING_ID, COLUMN_OUTPUT_STREAM_BLOB)),
	SHOWN_AS("globalPid", "INTEGER NOT NULL", FROM(GLOBAL_PID, COLUMN_OUTPUT_STREAM_PROCESS)),
};
static const struct mapped_source analysis_files_sources[] = {
	{ .table = TABLE_OUTPUT_STREAM, .filter = FILTER_NOT_EQUAL, .filter_column = COLUMN_OUTPUT_STREAM_FILE,
	  .filter_value = 0 },
};
static MAPPED(analysis_files, "ANALYSIS_FILE");

/* Times of diagnostics are the target's, but for some that nsys's files have of the host. */
#define DIAGNOSTIC_CLOCK { .convert = CONVERT_NUMBER_OR, .column = COLUMN_DIAGNOSTIC_CLOCK, .constant = 1 }
static const struct mapped_column diagnostic_columns[] = {
	SHOWN_AS("timestamp", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_DIAGNOSTIC_TIME)),
	SHOWN_AS("timestampType", "INTEGER NOT NULL", DIAGNOSTIC_CLOCK),
	SHOWN_AS("source", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_DIAGNOSTIC_SOURCE)),
	SHOWN_AS("severity", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_DIAGNOSTIC_SEVERITY)),
	SHOWN_AS("text", "TEXT NOT NULL", FROM(TEXT, COLUMN_DIAGNOSTIC_TEXT)),
	SHOWN_AS("globalPid", "INTEGER", FROM(GLOBAL_PID, COLUMN_DIAGNOSTIC_PROCESS)),
};
/* Those have ids of the host. */
static const struct mapped_cell diagnostic_elsewhere_cells[] = {
	FROM(NUMBER, COLUMN_DIAGNOSTIC_TIME), DIAGNOSTIC_CLOCK, FROM(NUMBER, COLUMN_DIAGNOSTIC_SOURCE),
	FROM(NUMBER, COLUMN_DIAGNOSTIC_SEVERITY), FROM(TEXT, COLUMN_DIAGNOSTIC_TEXT), FROM(NUMBER, COLUMN_DIAGNOSTIC_ELSEWHERE),
};
static const struct mapped_source diagnostic_sources[] = {
	{ .table = TABLE_DIAGNOSTIC, .filter = FILTER_EQUAL, .filter_column = COLUMN_DIAGNOSTIC_ELSEWHERE },
	{ .table = TABLE_DIAGNOSTIC, .filter = FILTER_NOT_EQUAL, .filter_column = COLUMN_DIAGNOSTIC_ELSEWHERE,
	  .cells = diagnostic_elsewhere_cells },
};
static MAPPED(diagnostic, "DIAGNOSTIC_EVENT");

static const struct mapped_column findings_columns[] = {
	SHOWN_AS("rule", "TEXT", FROM(TEXT, COLUMN_FINDING_RULE)),
	SHOWN_AS("severity", "INTEGER", FROM(NUMBER, COLUMN_FINDING_SEVERITY)),
	SHOWN_AS("start", "INTEGER", FROM(NUMBER, COLUMN_FINDING_START)),
	SHOWN_AS("end", "INTEGER", FROM(NUMBER, COLUMN_FINDING_END)),
	SHOWN_AS("globalPid", "INTEGER", FROM(GLOBAL_PID, COLUMN_FINDING_PROCESS)),
	SHOWN_AS("globalTid", "INTEGER", FROM(GLOBAL_TID, COLUMN_FINDING_THREAD)),
	SHOWN_AS("gain", "INTEGER", FROM(NUMBER, COLUMN_FINDING_GAIN)), SHOWN_AS("title", "TEXT", FROM(TEXT, COLUMN_FINDING_TITLE)),
	SHOWN_AS("text", "TEXT", FROM(TEXT, COLUMN_FINDING_TEXT)),
};
static const struct mapped_source findings_sources[] = { { .table = TABLE_FINDING } };
static MAPPED(findings, "FINDINGS");

/* The payload extension. */
static const struct mapped_column schemas_columns[] = {
	SHOWN_AS("domainId", "INTEGER", FROM(DOMAIN_ID, COLUMN_NVTX_SCHEMA_DOMAIN)),
	SHOWN_AS("schemaId", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCHEMA_ID)),
	SHOWN_AS("name", "TEXT", FROM(TEXT, COLUMN_NVTX_SCHEMA_NAME)),
	SHOWN_AS("type", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCHEMA_TYPE)),
	SHOWN_AS("flags", "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_NVTX_SCHEMA_FLAGS)),
	SHOWN_AS("numEntries", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCHEMA_ENTRIES)),
	SHOWN_AS("payloadSize", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCHEMA_SIZE)),
	SHOWN_AS("alignTo", "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_NVTX_SCHEMA_ALIGN)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_NVTX_SCHEMA_PROCESS)),
};
static const struct mapped_source schemas_sources[] = { { .table = TABLE_NVTX_SCHEMA } };
static MAPPED(schemas, "NVTX_PAYLOAD_SCHEMAS");

static const struct mapped_column schema_entries_columns[] = {
	SHOWN_AS("domainId", "INTEGER NOT NULL", FROM(DOMAIN_ID, COLUMN_NVTX_SCHEMA_ENTRY_DOMAIN)),
	SHOWN_AS("schemaId", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_NVTX_SCHEMA_ENTRY_SCHEMA)),
	SHOWN_AS("idx", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_NVTX_SCHEMA_ENTRY_INDEX)),
	SHOWN_AS("flags", "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_NVTX_SCHEMA_ENTRY_FLAGS)),
	SHOWN_AS("type", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCHEMA_ENTRY_TYPE)),
	SHOWN_AS("name", "TEXT", FROM(TEXT, COLUMN_NVTX_SCHEMA_ENTRY_NAME)),
	SHOWN_AS("description", "TEXT", FROM(TEXT, COLUMN_NVTX_SCHEMA_ENTRY_DESCRIPTION)),
	SHOWN_AS("arrayOrUnionDetail", "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_NVTX_SCHEMA_ENTRY_DETAIL)),
	SHOWN_AS("offset", "INTEGER", FROM(NUMBER_OR_NULL, COLUMN_NVTX_SCHEMA_ENTRY_OFFSET)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_NVTX_SCHEMA_ENTRY_PROCESS)),
};
static const struct mapped_source schema_entries_sources[] = {
	{ .table = TABLE_NVTX_SCHEMA_ENTRY },
};
static MAPPED(schema_entries, "NVTX_PAYLOAD_SCHEMA_ENTRIES");

static const struct mapped_column enums_columns[] = {
	SHOWN_AS("domainId", "INTEGER", FROM(DOMAIN_ID, COLUMN_NVTX_ENUM_DOMAIN)),
	SHOWN_AS("schemaId", "INTEGER", FROM(NUMBER, COLUMN_NVTX_ENUM_SCHEMA)),
	SHOWN_AS("name", "TEXT", FROM(TEXT, COLUMN_NVTX_ENUM_NAME)),
	SHOWN_AS("numEntries", "INTEGER", FROM(NUMBER, COLUMN_NVTX_ENUM_ENTRIES)),
	SHOWN_AS("size", "INTEGER", FROM(NUMBER, COLUMN_NVTX_ENUM_SIZE)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_NVTX_ENUM_PROCESS)),
};
static const struct mapped_source enums_sources[] = { { .table = TABLE_NVTX_ENUM } };
static MAPPED(enums, "NVTX_PAYLOAD_ENUMS");

static const struct mapped_column enum_entries_columns[] = {
	SHOWN_AS("domainId", "INTEGER NOT NULL", FROM(DOMAIN_ID, COLUMN_NVTX_ENUM_ENTRY_DOMAIN)),
	SHOWN_AS("schemaId", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_NVTX_ENUM_ENTRY_SCHEMA)),
	SHOWN_AS("idx", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_NVTX_ENUM_ENTRY_INDEX)),
	SHOWN_AS("name", "TEXT", FROM(TEXT, COLUMN_NVTX_ENUM_ENTRY_NAME)),
	SHOWN_AS("value", "INTEGER", FROM(NUMBER, COLUMN_NVTX_ENUM_ENTRY_VALUE)),
	SHOWN_AS("isFlag", "INTEGER", FROM(NUMBER, COLUMN_NVTX_ENUM_ENTRY_IS_FLAG)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_NVTX_ENUM_ENTRY_PROCESS)),
};
static const struct mapped_source enum_entries_sources[] = { { .table = TABLE_NVTX_ENUM_ENTRY } };
static MAPPED(enum_entries, "NVTX_PAYLOAD_ENUM_ENTRIES");

static const struct mapped_column scopes_columns[] = {
	SHOWN_AS("domainId", "INTEGER", FROM(DOMAIN_ID, COLUMN_NVTX_SCOPE_DOMAIN)),
	SHOWN_AS("scopeId", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCOPE_ID)),
	SHOWN_AS("parentScopeId", "INTEGER", FROM(NUMBER, COLUMN_NVTX_SCOPE_PARENT)),
	SHOWN_AS("path", "TEXT", FROM(TEXT, COLUMN_NVTX_SCOPE_PATH)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_NVTX_SCOPE_PROCESS)),
};
static const struct mapped_source scopes_sources[] = { { .table = TABLE_NVTX_SCOPE } };
static MAPPED(scopes, "NVTX_SCOPES");

const struct mapped_table *const mapped_tables[] = {
	&nvtx_events, &processes, &thread_names, &process_streams, &analysis_files, &diagnostic, &findings,
	&schemas, &schema_entries, &enums, &enum_entries, &scopes, &mapped_sched_events,
	&mapped_osrt_api, &mapped_file_events, &mapped_file_descriptors, &mapped_composite_events,
	&mapped_kernels, &mapped_copies, &mapped_sets, &mapped_syncs, &mapped_cuda_events, &mapped_graph_traces,
	&mapped_cuda_calls, &mapped_overhead, &mapped_profiler_overhead, &mapped_graph_nodes, &mapped_graphs,
	&mapped_cpu_faults, &mapped_gpu_faults, &mapped_memory_usage, &mapped_pools, &mapped_gpu_metrics,
	&mapped_gpu_switches,
};
const unsigned mapped_table_count = COUNT(mapped_tables);

_Static_assert(COUNT(nvtx_pushpop_cells) == COUNT(nvtx_events_columns), "a cell per column");
_Static_assert(COUNT(nvtx_mark_cells) == COUNT(nvtx_events_columns), "a cell per column");
_Static_assert(COUNT(nvtx_category_cells) == COUNT(nvtx_events_columns), "a cell per column");
_Static_assert(COUNT(nvtx_events_columns) <= MAPPED_MAX_COLUMNS, "scan.h has room for so many");
_Static_assert(TABLE_MAX_COLUMNS + 2 <= MAPPED_MAX_COLUMNS, "scan.h has room for so many");
