/* Tables of no meaning to us. Rows with a time become slices and instants of their thread, with the table's name as
 * their class and their columns as arguments: all that is needed to show the table again (query/nsys/unrecorded.c). What a row
 * says by its time, thread, process and name is no argument; where an argument of that column stands there all the same, it
 * is what the file has. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "ingest/nsys/internal.h"

/* clang-format off */
#define OTHER(name) { name, NSYS_OTHER, 0, 0 }
/* clang-format on */
#define MOST_TABLES 1000
#define MOST_UNTIMED_ROWS 10000 /* of one table */

/* Words for numbers, which are ours, and what is read as a table of another name. */
static const char *const more_tables[] = {
	NSYS_OLD_DRIVER,
#define ENUM_TABLE(table, ...) #table,
#include "fmt/nsys/enum_tables.def"
#undef ENUM_TABLE
};

/* The first two are the times; which columns there are decides. */
enum { START, END, TIMESTAMP, TID, PID, NAME_ID, TEXT_ID, TEXT, NAME };
/* clang-format off */
static const struct nsys_column event_columns[] = {
	OTHER("start"), OTHER("end"), OTHER("timestamp"), OTHER("globalTid"), OTHER("globalPid"), OTHER("nameId"),
	OTHER("textId"), OTHER("text"), OTHER("name"),
};
/* clang-format on */

void nsys_put_generic(struct nsys_rows *rows, const struct nsys_thread *thread, uint64_t process, uint64_t class, uint64_t name,
		      uint64_t set)
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
	v[kind] = (int64_t) class;
	sink_event(&rows->n->sink,
		   nsys_track(rows->n, TRACK_GENERIC, table, thread ? thread->process + 1 : process, nsys_thread_uid(rows->n, thread), 0,
			      class),
		   v, present);
}

static int has_name_ending(const char *text, const char *ending)
{
	size_t len = strlen(text), ending_len = strlen(ending);

	return len >= ending_len && strcasecmp(text + len - ending_len, ending) == 0;
}

/* Numbers of strings are kept as the strings. */
static int is_string(const char *column)
{
	static const char *const strings[] = {
		"srcFile", "funcName", "varName", "kernelName", "filenameId", "contentId", "symbol", "module"
	};

	for (unsigned i = 0; i < COUNT_OF(strings); i++)
		if (strcasecmp(column, strings[i]) == 0)
			return 1;
	return has_name_ending(column, "nameId") || has_name_ending(column, "textId");
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

static int is_null(const struct nsys_rows *rows, unsigned column)
{
	return sqlite3_column_type(rows->statement, (int)column) == SQLITE_NULL;
}

/* A column as it stands in the file; null as an argument without a value. */
static void put_cell(struct nsys_rows *rows, uint64_t *set, unsigned column)
{
	const char *key = column < rows->count ? rows->columns[column].name : rows->extras[column - rows->count];
	sqlite3_value *value = sqlite3_column_value(rows->statement, (int)column);
	uint64_t text = is_string(key) && sqlite3_value_type(value) == SQLITE_INTEGER ?
				nsys_map_find(&rows->n->strings, sqlite3_value_int64(value)) :
				0;

	if (text)
		put_string(rows->n, set, key, text);
	else
		nsys_arg(rows->n, set, key, value);
}

static void put_extras(struct nsys_rows *rows, uint64_t *set)
{
	for (unsigned i = rows->count; i < rows->count + rows->extra_count; i++)
		if (!is_null(rows, i))
			put_cell(rows, set, i);
}

/* What a marker says comes before the function that made it. */
static uint64_t find_generic_name(const struct nsys_rows *rows, unsigned *ret_column)
{
	static const uint8_t order[] = { TEXT_ID, NAME_ID, TEXT, NAME };
	uint64_t name = 0;

	for (unsigned i = 0; !name && i < COUNT_OF(order); i++) {
		*ret_column = order[i];
		name = order[i] == TEXT_ID || order[i] == NAME_ID ? nsys_string(rows, order[i]) : nsys_text(rows, order[i]);
	}
	return name;
}

/* The row is called by the first of its names. Those before it are null, which has to be said, and those behind it are
 * arguments. */
static void put_names(struct nsys_rows *rows, unsigned named_by, uint64_t *set)
{
	static const uint8_t order[] = { TEXT_ID, NAME_ID, TEXT, NAME };
	int before = 1;

	for (unsigned i = 0; i < COUNT_OF(order); i++) {
		before &= order[i] != named_by;
		if (order[i] != named_by && rows->there >> order[i] & 1 && (before || !is_null(rows, order[i])))
			put_cell(rows, set, order[i]);
	}
}

static void add_generic_event(struct nsys_rows *rows, uint64_t class)
{
	struct nsys_thread *thread = nsys_row_thread(rows, TID);
	uint64_t process = nsys_row_process(rows, PID), set = 0, name;
	unsigned named_by = COUNT_OF(event_columns);

	name = find_generic_name(rows, &named_by);
	put_names(rows, name ? named_by : COUNT_OF(event_columns), &set);
	if (rows->there >> PID & 1 && thread && process != thread->process + 1)
		put_cell(rows, &set, PID);
	if (!is_null(rows, TIMESTAMP))
		put_cell(rows, &set, TIMESTAMP);
	put_extras(rows, &set);
	nsys_put_generic(rows, thread, process, class, name ? name : class, set);
}

/* A table's columns, as query/nsys/unrecorded_tables.def has them. What is no letter, digit or underscore in a name is %XX. */
static int put_column_definition(struct buf *list, const char *name, const char *type, int not_null)
{
	static const char *const kinds[][2] = { { "INT", "" },    { "CHAR", ":T" }, { "CLOB", ":T" }, { "TEXT", ":T" },
						{ "BLOB", ":B" }, { "REAL", ":R" }, { "FLOA", ":R" }, { "DOUB", ":R" } };
	const char *kind = type && *type ? ":N" : ":B";
	int r = list->len ? buf_puts(list, " ") : 0;

	for (unsigned i = COUNT_OF(kinds); type && i-- > 0;)
		if (strcasestr(type, kinds[i][0]))
			kind = kinds[i][1];
	for (; r >= 0 && *name; name++)
		r = isalnum((unsigned char)*name) || *name == '_' ? buf_append(list, name, 1) :
								    buf_printf(list, "%%%02x", (unsigned char)*name);
	TRY(r);
	return buf_printf(list, "%s%s", kind, not_null ? "!" : "");
}

/* What shows the table again: its columns, and how many rows it has. */
static void keep_table(struct nsys *n, const char *table, uint64_t row_count)
{
	char *sql = sqlite3_mprintf("PRAGMA table_info(%Q)", table), key[160];
	struct buf list = BUF_INIT;
	sqlite3_stmt *statement;

	if (sql && sqlite3_prepare_v2(n->db, sql, -1, &statement, NULL) == SQLITE_OK) {
		while (sqlite3_step(statement) == SQLITE_ROW)
			put_column_definition(&list, (const char *)sqlite3_column_text(statement, 1),
					      (const char *)sqlite3_column_text(statement, 2), sqlite3_column_int(statement, 3));
		sqlite3_finalize(statement);
		snprintf(key, sizeof(key), "nsys.columns.%.140s", table);
		sink_meta_text(&n->sink, key, list.data, list.len, (const int64_t *)&row_count);
	}
	sqlite3_free(sql);
	buf_release(&list);
}

static void read_events(struct nsys *n, const char *table, int by_timestamp)
{
	struct nsys_column columns[COUNT_OF(event_columns)];
	const struct nsys_table shape = { table, columns, COUNT_OF(columns) };
	uint64_t class = sink_text(&n->sink, table);
	struct nsys_rows rows;

	memcpy(columns, event_columns, sizeof(columns));
	if (by_timestamp) {
		columns[START].name = "timestamp";
		columns[TIMESTAMP].name = "start";
	}
	if (!nsys_rows_open(&rows, n, &shape))
		return;
	while (nsys_rows_next(&rows))
		add_generic_event(&rows, class);
	keep_table(n, table, rows.read);
	nsys_rows_close(&rows);
}

/* Rows without a time: a set of arguments each, which a meta row names. */
static void read_untimed(struct nsys *n, const char *table)
{
	uint64_t kept = 0, set;
	struct nsys_rows rows;
	char key[160];

	snprintf(key, sizeof(key), "nsys.%.140s", table);
	if (!nsys_rows_open(&rows, n, &(const struct nsys_table){ .name = table }))
		return;
	while (nsys_rows_next(&rows)) {
		if (kept == MOST_UNTIMED_ROWS)
			continue;
		set = 0;
		put_extras(&rows, &set);
		/* One of nulls alone is a row, too. */
		sink_meta_number(&n->sink, key, (int64_t)(set ? set : ++n->sink.next_set));
		kept++;
	}
	keep_table(n, table, kept);
	nsys_rows_close(&rows);
	if (rows.read > kept) {
		n->unkept += rows.read - kept;
		buf_printf(&n->unkept_tables, "%s%.100s", n->unkept_tables.len ? ", " : "", table);
	}
}

static int has_column(struct nsys *n, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(n->db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static int is_known_nsys_table(const struct nsys *n, const char *table)
{
	for (unsigned i = 0; i < NSYS_TABLE_COUNT; i++)
		if (n->has_reader[i] && strcasecmp(table, nsys_tables[i].name) == 0)
			return 1;
	for (unsigned i = 0; i < COUNT_OF(more_tables); i++)
		if (strcasecmp(table, more_tables[i]) == 0)
			return 1;
	return strncasecmp(table, "sqlite_", 7) == 0;
}

static void read_unknown_table(struct nsys *n, const char *table)
{
	if (has_column(n, table, "start"))
		read_events(n, table, 0);
	else if (has_column(n, table, "timestamp"))
		read_events(n, table, 1);
	else
		read_untimed(n, table);
}

/* Views and virtual tables run what is in the file: neither is read. */
static void refuse_nsys_table(struct nsys *n, const char *name, const char *what)
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
			refuse_nsys_table(n, name, "a view");
		else if (sql && strncasecmp(sql, "CREATE VIRTUAL", 14) == 0)
			refuse_nsys_table(n, name, "a virtual table");
		else if (!is_known_nsys_table(n, name))
			count += (names[count] = strdup(name)) != NULL;
	}
	sqlite3_finalize(statement);
	for (unsigned i = 0; i < count; i++) {
		read_unknown_table(n, names[i]);
		free(names[i]);
	}
}
