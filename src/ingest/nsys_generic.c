/* Tables of no meaning to us. Rows with a time become slices and instants of their thread, with the table's name as
 * their class and their columns as arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ingest/nsys_internal.h"

#define OTHER(name) { name, NSYS_OTHER, 0, 0 }
#define MOST_TABLES 1000
#define MOST_UNTIMED_ROWS 10000 /* of one table */

static const char *const known_tables[] = {
	"StringIds", "PROCESSES", "ThreadNames", "ProcessStreams", "ANALYSIS_FILE", "ANALYSIS_DETAILS", "DIAGNOSTIC_EVENT",
	"META_DATA_CAPTURE", "META_DATA_EXPORT", "PROFILER_OVERHEAD", "TARGET_INFO_SYSTEM_ENV",
	"TARGET_INFO_SESSION_START_TIME", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_CUDA_CONTEXT_INFO",
	"TARGET_INFO_CUDA_STREAM", "TARGET_INFO_NVTX_CUDA_DEVICE", "TARGET_INFO_NVTX_CUDA_CONTEXT",
	"TARGET_INFO_NVTX_CUDA_STREAM", "TARGET_INFO_GPU_METRICS", "CUPTI_ACTIVITY_KIND_KERNEL",
	"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUPTI_ACTIVITY_KIND_RUNTIME",
	"CUPTI_ACTIVITY_KIND_DRIVER", "CUPTI_ACTIVITY_KIND_OVERHEAD", "CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS",
	"CUDA_CALLCHAINS", "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	"CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_GPU_MEMORY_POOL_EVENTS", "NVTX_EVENTS", "NVTX_PAYLOAD_SCHEMAS",
	"NVTX_PAYLOAD_SCHEMA_ENTRIES", "NVTX_PAYLOAD_ENUMS", "NVTX_PAYLOAD_ENUM_ENTRIES", "NVTX_SCOPES", "OSRT_API",
	"OSRT_CALLCHAINS", "OSRT_FILE_ACCESS_EVENTS", "OSRT_FILE_ACCESS_DESCRIPTORS", "SCHED_EVENTS", "COMPOSITE_EVENTS",
	"SAMPLING_CALLCHAINS", "GPU_METRICS", "GPU_CONTEXT_SWITCH_EVENTS",
};

/* The first two are the times; which columns there are decides. */
enum { START, END, TIMESTAMP, TID, PID, NAME_ID, TEXT_ID, TEXT, NAME };
static const struct nsys_column event_columns[] = {
	OTHER("start"), OTHER("end"), OTHER("timestamp"), OTHER("globalTid"), OTHER("globalPid"), OTHER("nameId"),
	OTHER("textId"), OTHER("text"), OTHER("name"),
};

void nsys_put_generic(struct nsys_rows *rows, const struct nsys_thread *thread, uint64_t process, uint64_t class,
		      uint64_t name, uint64_t set)
{
	int is_slice = sqlite3_column_type(rows->statement, END) != SQLITE_NULL;
	unsigned at = is_slice ? COLUMN_SLICE_NAME : COLUMN_INSTANT_NAME;
	unsigned args = is_slice ? COLUMN_SLICE_ARGS : COLUMN_INSTANT_ARGS;
	unsigned kind = is_slice ? COLUMN_SLICE_CLASS : COLUMN_INSTANT_CLASS;
	enum table_id table = is_slice ? TABLE_SLICE : TABLE_INSTANT;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	present = (is_slice ? 3u : 1u) | SINK_BIT(at) | SINK_BIT(kind) | (set ? SINK_BIT(args) : 0);
	v[at] = (int64_t)name;
	v[args] = (int64_t)set;
	v[kind] = (int64_t)class;
	sink_event(&rows->n->sink, nsys_track(rows->n, TRACK_GENERIC, table, thread ? thread->process + 1 : process,
					      nsys_thread_uid(rows->n, thread), 0, class), v, present);
}

static int ends_in(const char *text, const char *ending)
{
	size_t len = strlen(text), ending_len = strlen(ending);

	return len >= ending_len && strcasecmp(text + len - ending_len, ending) == 0;
}

/* Numbers of strings are kept as the strings. */
static int is_string(const char *column)
{
	static const char *const strings[] = { "srcFile", "funcName", "varName", "kernelName", "filenameId", "contentId",
					       "symbol", "module" };

	for (unsigned i = 0; i < NSYS_COUNT(strings); i++)
		if (strcasecmp(column, strings[i]) == 0)
			return 1;
	return ends_in(column, "nameId") || ends_in(column, "textId");
}

static void put_string(struct nsys *n, uint64_t *set, const char *key, uint64_t text)
{
	int64_t v[TABLE_MAX_COLUMNS];

	if (!*set)
		*set = ++n->sink.next_set;
	v[COLUMN_ARG_SET] = (int64_t)*set;
	v[COLUMN_ARG_KEY] = (int64_t)sink_text(&n->sink, key);
	v[COLUMN_ARG_TEXT] = (int64_t)text;
	sink_row(&n->sink, TABLE_ARG, v, SINK_BIT(COLUMN_ARG_SET) | SINK_BIT(COLUMN_ARG_KEY) | SINK_BIT(COLUMN_ARG_TEXT));
}

static uint64_t arguments(struct nsys_rows *rows, unsigned first)
{
	uint64_t set = 0, text;

	for (unsigned i = first; i < rows->count + rows->extra_count; i++) {
		const char *key = i < rows->count ? rows->columns[i].name : rows->extras[i - rows->count];
		sqlite3_value *value = sqlite3_column_value(rows->statement, (int)i);

		if (sqlite3_value_type(value) == SQLITE_NULL)
			continue;
		text = is_string(key) && sqlite3_value_type(value) == SQLITE_INTEGER ?
		       nsys_map_find(&rows->n->strings, sqlite3_value_int64(value)) : 0;
		if (text)
			put_string(rows->n, &set, key, text);
		else
			nsys_arg(rows->n, &set, key, value);
	}
	return set;
}

static uint64_t name_of(const struct nsys_rows *rows, uint64_t otherwise)
{
	uint64_t name = nsys_string(rows, NAME_ID);

	if (!name)
		name = nsys_string(rows, TEXT_ID);
	if (!name)
		name = nsys_text(rows, TEXT);
	if (!name)
		name = nsys_text(rows, NAME);
	return name ? name : otherwise;
}

static void event(struct nsys_rows *rows, uint64_t class)
{
	uint64_t set = arguments(rows, NSYS_COUNT(event_columns)), process = nsys_row_process(rows, PID);

	nsys_put_generic(rows, nsys_row_thread(rows, TID), process, class, name_of(rows, class), set);
}

static void read_events(struct nsys *n, const char *table, int by_timestamp)
{
	struct nsys_column columns[NSYS_COUNT(event_columns)];
	uint64_t class = sink_text(&n->sink, table);
	struct nsys_rows rows;

	memcpy(columns, event_columns, sizeof(columns));
	if (by_timestamp) {
		columns[START].name = "timestamp";
		columns[TIMESTAMP].name = "start";
	}
	if (!nsys_rows_open(&rows, n, table, columns, NSYS_COUNT(columns), NULL))
		return;
	while (nsys_rows_next(&rows))
		event(&rows, class);
	nsys_rows_close(&rows);
}

/* Rows without a time: a set of arguments each, which a meta row names. */
static void read_untimed(struct nsys *n, const char *table)
{
	uint64_t kept = 0, left = 0, set;
	struct nsys_rows rows;
	char key[160];

	snprintf(key, sizeof(key), "nsys.%.140s", table);
	if (!nsys_rows_open(&rows, n, table, NULL, 0, NULL))
		return;
	while (nsys_rows_next(&rows)) {
		set = kept < MOST_UNTIMED_ROWS ? arguments(&rows, 0) : 0;
		if (set)
			sink_meta_number(&n->sink, key, (int64_t)set);
		kept += set != 0;
		left += set == 0;
	}
	nsys_rows_close(&rows);
	if (left) {
		n->unkept += left;
		buf_printf(&n->unkept_tables, "%s%.100s", n->unkept_tables.len ? ", " : "", table);
	}
}

static int has_column(struct nsys *n, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(n->db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static int is_known(const char *table)
{
	for (unsigned i = 0; i < NSYS_COUNT(known_tables); i++)
		if (strcasecmp(table, known_tables[i]) == 0)
			return 1;
	return strncasecmp(table, "ENUM_", 5) == 0 || strncasecmp(table, "sqlite_", 7) == 0;
}

static void read_table(struct nsys *n, const char *table)
{
	if (has_column(n, table, "start"))
		read_events(n, table, 0);
	else if (has_column(n, table, "timestamp"))
		read_events(n, table, 1);
	else
		read_untimed(n, table);
}

/* Views and virtual tables run what is in the file: neither is read. */
static void refuse(struct nsys *n, const char *name, const char *what)
{
	sink_diagnose(&n->sink, 2, "%.100s is %s and was not read.", name, what);
}

void nsys_read_others(struct nsys *n)
{
	static const char list[] = "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name";
	char *names[MOST_TABLES];
	unsigned count = 0;
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(n->db, list, -1, &statement, NULL) != SQLITE_OK)
		return;
	while (count < MOST_TABLES && sqlite3_step(statement) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);
		const char *type = (const char *)sqlite3_column_text(statement, 1);
		const char *sql = (const char *)sqlite3_column_text(statement, 2);

		if (!name || !type)
			continue;
		if (strcmp(type, "view") == 0)
			refuse(n, name, "a view");
		else if (sql && strncasecmp(sql, "CREATE VIRTUAL", 14) == 0)
			refuse(n, name, "a virtual table");
		else if (!is_known(name))
			count += (names[count] = strdup(name)) != NULL;
	}
	sqlite3_finalize(statement);
	for (unsigned i = 0; i < count; i++) {
		read_table(n, names[i]);
		free(names[i]);
	}
}
