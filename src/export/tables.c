/* Which tables are exported, and which of their rows. */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "export/internal.h"
#include "query/engine/mapping.h"

/* Columns with times of the recording's clock. A row is from `first` to `last`. */
static const struct {
	const char *first;
	const char *last;
} time_columns[] = {
	{ "start", "end" },
	{ "timestamp", NULL },
	{ "startedAt", "endedAt" },
	{ "openedAt", "closedAt" },
};

static const struct export_column *column_named(const struct export_table *t, const char *name)
{
	for (unsigned i = 0; name && i < t->column_count; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return &t->columns[i];
	return NULL;
}

static bool is_time(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(time_columns); i++)
		if (strcmp(name, time_columns[i].first) == 0 || (time_columns[i].last && strcmp(name, time_columns[i].last) == 0))
			return true;
	return false;
}

/* Stacks are kept with what they are of. */
static const struct {
	const char *stacks;
	const char *events;
	const char *key;  /* of the events */
	const char *last; /* column of their end */
} stack_tables[] = {
	{ "SAMPLING_CALLCHAINS", "COMPOSITE_EVENTS", "id", "\"start\"" },
	{ "OSRT_CALLCHAINS", "OSRT_API", "callchainId", "\"end\"" },
	{ "CUDA_CALLCHAINS", "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId", "\"end\"" },
};

/* An event that overlaps an edge is kept if it ends behind the start, or starts before the end. */
static int put_overlap_condition(const struct export_times *times, const char *first, const char *last, struct buf *sql)
{
	return buf_printf(sql, "%s >= %lld AND %s <= %lld", times->start_overlaps ? last : first, (long long)times->start,
			  times->end_overlaps ? first : last, (long long)times->end);
}

/* A range without an end was open until the recording ended. What gives names has no time of its own. */
static int put_nvtx_times(const struct export_times *times, struct buf *sql)
{
	TRY(buf_puts(sql, " WHERE eventType NOT IN (34, 59, 60) OR ("));
	TRY(put_overlap_condition(times, "start", "coalesce(\"end\", CASE eventType WHEN 34 THEN start ELSE 9223372036854775807 END)",
				  sql));
	return buf_puts(sql, ")");
}

static int put_stack_times(const struct export_times *times, size_t i, struct buf *sql)
{
	TRY(buf_printf(sql, " WHERE id IN (SELECT %s FROM \"%s\" WHERE ", stack_tables[i].key, stack_tables[i].events));
	TRY(put_overlap_condition(times, "\"start\"", stack_tables[i].last, sql));
	return buf_puts(sql, ")");
}

static int put_time_condition(const struct export *e, const struct export_table *t, struct buf *sql)
{
	const struct export_times *times = &e->request->times;
	const struct export_column *first = NULL, *last = NULL;
	char names[2][sizeof(first->name) + 2];

	/* Diagnostics are about the whole recording. */
	if (!times->given || strcmp(t->name, "DIAGNOSTIC_EVENT") == 0)
		return 0;
	if (strcmp(t->name, "NVTX_EVENTS") == 0)
		return put_nvtx_times(times, sql);
	for (size_t i = 0; i < COUNT_OF(stack_tables); i++)
		if (strcmp(t->name, stack_tables[i].stacks) == 0)
			return put_stack_times(times, i, sql);
	for (size_t i = 0; !first && i < COUNT_OF(time_columns); i++) {
		first = column_named(t, time_columns[i].first);
		last = column_named(t, time_columns[i].last);
	}
	if (!first)
		return 0;
	snprintf(names[0], sizeof(names[0]), "\"%s\"", first->name);
	snprintf(names[1], sizeof(names[1]), "\"%s\"", last ? last->name : first->name);
	TRY(buf_puts(sql, " WHERE "));
	return put_overlap_condition(times, names[0], names[1], sql);
}

static int put_select_column(const struct export *e, const struct export_column *c, bool filled, struct buf *sql)
{
	bool fill = filled && c->not_null;

	TRY(buf_printf(sql, "%s\"%s\"", fill ? "ifnull(" : "", c->name));
	if (e->shift && is_time(c->name))
		TRY(buf_printf(sql, " + %lld", (long long)e->shift));
	if (fill)
		TRY(buf_puts(sql, strcmp(c->type, "TEXT") == 0 ? ", '')" : ", 0)"));
	return 0;
}

static int put_select(const struct export *e, const struct export_table *t, const char *from, bool filled, struct buf *sql)
{
	TRY(buf_puts(sql, "SELECT "));
	for (unsigned i = 0; i < t->column_count; i++) {
		TRY(i ? buf_puts(sql, ", ") : 0);
		TRY(put_select_column(e, &t->columns[i], filled, sql));
	}
	TRY(buf_printf(sql, " FROM \"%s\"", from));
	return put_time_condition(e, t, sql);
}

int export_select_text(const struct export *e, const struct export_table *t, bool filled, struct buf *sql)
{
	int r = put_select(e, t, t->name, filled, sql);

	if (r >= 0 && export_is_imported(e, t->name))
		r = buf_puts(sql, " UNION ALL ");
	return r >= 0 && export_is_imported(e, t->name) ? put_select(e, t, "sonde_imported_ranges", filled, sql) : r;
}

static void copy_text(char *to, size_t size, const unsigned char *from)
{
	snprintf(to, size, "%s", from ? (const char *)from : "");
}

int export_table_describe(struct export *e, const char *name, struct export_table *ret, struct error *err)
{
	sqlite3_stmt *statement;
	int r = sqlite3_prepare_v2(e->db, "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)", -1, &statement, NULL);

	if (r != SQLITE_OK)
		return export_sqlite_error(e, r, err);
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW && ret->column_count < EXPORT_MAX_COLUMNS) {
		struct export_column *c = &ret->columns[ret->column_count++];

		copy_text(c->name, sizeof(c->name), sqlite3_column_text(statement, 0));
		copy_text(c->type, sizeof(c->type), sqlite3_column_text(statement, 1));
		c->not_null = sqlite3_column_int(statement, 2) != 0;
		c->is_key = sqlite3_column_int(statement, 3) != 0;
	}
	r = sqlite3_finalize(statement);
	return r == SQLITE_OK ? 0 : export_sqlite_error(e, r, err);
}

struct patterns {
	regex_t *compiled;
	size_t count;
};

static void patterns_release(struct patterns *p)
{
	for (size_t i = 0; i < p->count; i++)
		regfree(&p->compiled[i]);
	free(p->compiled);
}

/* A pattern is of the whole name. */
static int add_pattern(struct patterns *p, const char *text, size_t len, struct error *err)
{
	char whole[512], why[128];
	int r;

	if (!LIST_ROOM(p->compiled, p->count))
		return error_set(err, ENOMEM, "Not enough memory for --tables");
	if (len > sizeof(whole) - 8)
		return error_set(err, EINVAL, "A pattern of --tables is too long");
	snprintf(whole, sizeof(whole), "^\\(%.*s\\)$", (int)len, text);
	r = regcomp(&p->compiled[p->count], whole, REG_ICASE | REG_NOSUB);
	if (r != 0) {
		regerror(r, NULL, why, sizeof(why));
		return error_set(err, EINVAL, "'%.*s' in --tables is not a regular expression: %s", (int)len, text, why);
	}
	p->count++;
	return 0;
}

static int patterns_load(struct patterns *p, const struct export_request *request, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < request->table_count; i++)
		for (const char *text = request->tables[i]; r >= 0 && *text; text += *text == ',') {
			size_t len = strcspn(text, ",");

			if (len)
				r = add_pattern(p, text, len, err);
			text += len;
		}
	return r;
}

static bool patterns_match(const struct patterns *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (regexec(&p->compiled[i], name, 0, NULL, 0) == 0)
			return true;
	return false;
}

static int add_export_name(struct export_names *names, const char *name)
{
	char(*grown)[64] = realloc(names->items, (names->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	names->items = grown;
	snprintf(grown[names->count++], sizeof(*grown), "%s", name);
	return 0;
}

static bool has_export_name(const struct export_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* The strings first, what was written last behind everything. Tables without rows are temporary ones; ?1: they are
 * written, ?2: one that gets rows all the same. */
#define LIST_TABLES \
	"SELECT name FROM (SELECT name FROM main.sqlite_master WHERE type = 'table' UNION SELECT name FROM " \
	"temp.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sonde%' AND (?1 OR name = ?2)) ORDER BY CASE WHEN name = " \
	"'StringIds' THEN 0 WHEN name LIKE 'ENUM\\_%' ESCAPE '\\' THEN 2 WHEN name LIKE 'META\\_DATA%' ESCAPE '\\' " \
	"THEN 3 ELSE 1 END, name"

int export_names_load(struct export *e, struct export_names *ret, struct error *err)
{
	struct patterns patterns = { NULL, 0 };
	sqlite3_stmt *statement;
	const char *name;
	int r = patterns_load(&patterns, e->request, err);

	if (r >= 0 && sqlite3_prepare_v2(e->db, LIST_TABLES, -1, &statement, NULL) != SQLITE_OK)
		r = error_set(err, EIO, "The tables cannot be listed: %s", sqlite3_errmsg(e->db));
	if (r >= 0) {
		sqlite3_bind_int(statement, 1, !e->request->only_with_rows);
		sqlite3_bind_text(statement, 2, e->imported ? "NVTX_EVENTS" : "", -1, SQLITE_STATIC);
		while (r >= 0 && sqlite3_step(statement) == SQLITE_ROW) {
			name = (const char *)sqlite3_column_text(statement, 0);
			if (name && (e->request->table_count == 0 || patterns_match(&patterns, name)))
				r = add_export_name(ret, name);
		}
		sqlite3_finalize(statement);
		if (r < 0)
			error_set(err, ENOMEM, "Not enough memory to list the tables");
	}
	if (!has_export_name(ret, "NVTX_EVENTS"))
		e->imported = 0; /* nobody asked for them */
	patterns_release(&patterns);
	return r;
}
