#include "query/nsys/unrecorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "query/engine/function.h"

#define MOST_COLUMNS 64
#define MOST_IMPORTED 1000 /* tables of one report */

static const struct {
	const char *name;
	const char *columns;
} known[] = {
#define OTHER(name, columns) { #name, columns },
#include "query/nsys/unrecorded_tables.def"
#undef OTHER
};
#define KNOWN_COUNT COUNT_OF(known)

/* Where a column's value is, if no argument of the row says it. */
enum place { PLACE_NONE, PLACE_START, PLACE_END, PLACE_TID, PLACE_PID, PLACE_NAME };

struct other_column {
	char name[128]; /* in the file */
	char shown[48]; /* as long as exports take it; what is no letter, digit or underscore is one */
	char kind;      /* 0: integers; else the letter behind the colon */
	uint8_t place;
	int not_null;
};

struct other_vtab {
	struct function_vtab function;
	struct other_column columns[MOST_COLUMNS];
	unsigned count;
	char name[64];
	int is_timed;
	uint64_t rows;
};

/* Rows of the statement that a row is made of: one for each of its arguments. */
struct other_cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *rows;
	int has_row; /* the statement is on one that is yet to be taken */
	int at_end;
	sqlite3_int64 id;
	sqlite3_value *values[MOST_COLUMNS]; /* NULL: null */
};

static int is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The names of a file that anybody may have made. */
static int is_free_name(struct query *q, const char *name)
{
	const char *taken;

	for (const char *c = name; *c; c++)
		if (!is_letter(*c))
			return 0;
	if (!*name || strncasecmp(name, "sqlite_", 7) == 0 || strncasecmp(name, "sonde_", 6) == 0 || query_table(q, name))
		return 0;
	for (unsigned i = 0; (taken = query_native_name(q, i)) != NULL; i++)
		if (strcasecmp(taken, name) == 0)
			return 0;
	return 1;
}

/* Among the first `count`. */
static const struct nsys_other *find_other_table(const struct nsys_others *others, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(others->tables[i].name, name) == 0)
			return &others->tables[i];
	return NULL;
}

static void add_other_table(struct nsys_others *others, const char *name, const char *columns, uint64_t rows)
{
	struct nsys_other *t = &others->tables[others->count++];

	*t = (struct nsys_other){ .columns = columns, .rows = rows };
	snprintf(t->name, sizeof(t->name), "%s", name);
}

static int take_other_meta(void *context, const int64_t *values, uint32_t present)
{
	const size_t prefix = sizeof(NSYS_COLUMNS_KEY) - 1;
	struct query *q = context;
	const char *key, *columns;
	size_t len, ignored;

	if (q->others.count == MOST_IMPORTED)
		return 0;

	key = present >> COLUMN_META_KEY & 1 ? report_text(q->report, (uint64_t)values[COLUMN_META_KEY], &len) : NULL;
	if (!key || len <= prefix || memcmp(key, NSYS_COLUMNS_KEY, prefix) != 0 || !(present >> COLUMN_META_VALUE & 1))
		return 0;
	key += prefix;
	columns = report_text(q->report, (uint64_t)values[COLUMN_META_VALUE], &ignored);
	if (columns && len - prefix < sizeof(q->others.tables->name) && is_free_name(q, key) &&
	    !find_other_table(&q->others, q->others.count, key))
		add_other_table(&q->others, key, columns, present >> COLUMN_META_NUMBER & 1 ? (uint64_t)values[COLUMN_META_NUMBER] : 0);
	return 0;
}

int nsys_others_load(struct query *q)
{
	size_t imported;
	int r;

	q->others.tables = calloc(MOST_IMPORTED + KNOWN_COUNT, sizeof(*q->others.tables));
	if (!q->others.tables)
		return -ENOMEM;
	r = report_each_row(q->report, TABLE_META, COLUMN_META_NUMBER + 1, take_other_meta, q);
	imported = q->others.count;
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if (!find_other_table(&q->others, imported, known[i].name) && !query_table(q, known[i].name))
			add_other_table(&q->others, known[i].name, known[i].columns, 0);
	return r == -ENOMEM ? r : 0;
}

void nsys_others_release(struct nsys_others *others)
{
	free(others->tables);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

static void read_column(struct other_column *ret, const char *text, size_t len)
{
	size_t at = 0, out = 0;

	*ret = (struct other_column){ 0 };
	for (; at < len && text[at] != ':' && text[at] != '!' && out < sizeof(ret->name) - 1; at++)
		if (text[at] == '%' && at + 2 < len) {
			ret->name[out++] = (char)(hex(text[at + 1]) << 4 | hex(text[at + 2]));
			at += 2;
		} else {
			ret->name[out++] = text[at];
		}
	for (; at < len; at++) {
		ret->not_null |= text[at] == '!';
		if (text[at] == ':' && at + 1 < len)
			ret->kind = text[at + 1];
	}
}

static void show_column(struct other_column *c)
{
	size_t len = 0;

	for (; c->name[len] && len < sizeof(c->shown) - 1; len++)
		c->shown[len] = is_letter(c->name[len]) ? c->name[len] : '_';
}

static int is_other_column(const struct other_vtab *v, const char *shown)
{
	for (unsigned i = 0; i < v->count; i++)
		if (strcasecmp(v->columns[i].shown, shown) == 0)
			return 1;
	return 0;
}

static int column_named(const struct other_vtab *v, const char *name)
{
	for (unsigned i = 0; i < v->count; i++)
		if (strcasecmp(v->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void give_place(struct other_vtab *v, const char *name, enum place place)
{
	int at = column_named(v, name);

	if (at >= 0)
		v->columns[at].place = (uint8_t)place;
}

static void give_places(struct other_vtab *v)
{
	v->is_timed = column_named(v, "start") >= 0 || column_named(v, "timestamp") >= 0;
	if (!v->is_timed)
		return;
	give_place(v, column_named(v, "start") >= 0 ? "start" : "timestamp", PLACE_START);
	give_place(v, "end", PLACE_END);
	give_place(v, "globalTid", PLACE_TID);
	give_place(v, "globalPid", PLACE_PID);
}

static void read_other_columns(struct other_vtab *v, const char *list)
{
	size_t len;

	for (; *list && v->count < MOST_COLUMNS; list += len) {
		list += strspn(list, " ");
		len = strcspn(list, " ");
		read_column(&v->columns[v->count], list, len);
		show_column(&v->columns[v->count]);
		/* One name twice is no table. */
		if (v->columns[v->count].shown[0] && !is_other_column(v, v->columns[v->count].shown))
			v->count++;
	}
	give_places(v);
}

static char *declaration(const struct other_vtab *v)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (unsigned i = 0; i < v->count; i++) {
		const struct other_column *c = &v->columns[i];
		const char *type = c->kind == 'T' ? "TEXT" :
				   c->kind == 'R' ? "REAL" :
				   c->kind == 'B' ? "BLOB" :
				   c->kind == 'N' ? "NUMERIC" :
						    "INTEGER";

		sqlite3_str_appendf(sql, "%s\"%w\" %s%s", i ? ", " : "", c->shown, type, c->not_null ? " NOT NULL" : "");
	}
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

/* argv[2] is the table's name. */
static int other_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	struct query *q = aux;
	const struct nsys_other *table = find_other_table(&q->others, q->others.count, argv[2]);
	struct other_vtab *v = sqlite3_malloc(sizeof(*v));
	char *sql = NULL;
	int r = v ? SQLITE_OK : SQLITE_NOMEM;

	if (v) {
		memset(v, 0, sizeof(*v));
		v->function.q = q;
		v->rows = table ? table->rows : 0;
		snprintf(v->name, sizeof(v->name), "%s", argv[2]);
		read_other_columns(v, table ? table->columns : "");
		if (!v->count) /* a list that is damaged */
			read_other_columns(v, "value");
		sql = declaration(v);
		r = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	}
	sqlite3_free(sql);
	if (r != SQLITE_OK) {
		sqlite3_free(v);
		return r;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*ret = &v->function.base;
	return SQLITE_OK;
}

static int other_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	info->estimatedRows = (sqlite3_int64)((const struct other_vtab *)base)->rows;
	info->estimatedCost = (double)info->estimatedRows * 10 + 1;
	return SQLITE_OK;
}

static int other_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct other_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	*ret = &c->base;
	return SQLITE_OK;
}

static void forget_values(struct other_cursor *c)
{
	for (unsigned i = 0; i < MOST_COLUMNS; i++) {
		sqlite3_value_free(c->values[i]);
		c->values[i] = NULL;
	}
}

static int other_close(sqlite3_vtab_cursor *base)
{
	struct other_cursor *c = (struct other_cursor *)base;

	forget_values(c);
	sqlite3_finalize(c->rows);
	free(c);
	return SQLITE_OK;
}

enum { ID, START, END, NAME, NAME_TEXT, GLOBAL_TID, GLOBAL_PID, KEY, INTEGER, REAL, STRING, TEXT, BLOB };

#define CELLS "c.key, c.integer, c.real, c.string, c.text, c.blob"
#define TIMED_ROWS \
	"SELECT r.rowid, r.start, r.\"end\", r.name, r.nameText, iif(r.thread, r.globalTid, NULL), r.globalPid, " CELLS \
	" FROM sonde_nsys_rows r LEFT JOIN sonde_nsys_cells c ON c.\"set\" = r.args WHERE r.class = ?1"
#define UNTIMED_ROWS \
	"SELECT m.rowid, NULL, NULL, NULL, NULL, NULL, NULL, " CELLS \
	" FROM sonde_meta m LEFT JOIN sonde_nsys_cells c ON c.\"set\" = m.number WHERE m.key = '" NSYS_ROW_KEY "' || ?1"

/* A string's number where the column has numbers. */
static sqlite3_value *cell_value(const struct other_cursor *c, const struct other_column *column)
{
	static const int plain[] = { INTEGER, REAL, BLOB };

	for (unsigned i = 0; i < COUNT_OF(plain); i++)
		if (sqlite3_column_type(c->rows, plain[i]) != SQLITE_NULL)
			return sqlite3_column_value(c->rows, plain[i]);
	return sqlite3_column_value(c->rows, column->kind ? TEXT : STRING);
}

/* A value that is null is one, too. */
static int keep_other_value(struct other_cursor *c, unsigned column, sqlite3_value *value)
{
	sqlite3_value_free(c->values[column]);
	c->values[column] = sqlite3_value_dup(value);
	return c->values[column] ? SQLITE_OK : SQLITE_NOMEM;
}

/* Takes the arguments of the row that the statement is on, up to the next row. */
static int take_cells(struct other_cursor *c, const struct other_vtab *v)
{
	int step = SQLITE_ROW, r = SQLITE_OK, column;
	const char *key;

	while (r == SQLITE_OK && step == SQLITE_ROW && sqlite3_column_int64(c->rows, ID) == c->id) {
		key = (const char *)sqlite3_column_text(c->rows, KEY);
		column = key ? column_named(v, key) : -1;
		if (column >= 0)
			r = keep_other_value(c, (unsigned)column, cell_value(c, &v->columns[column]));
		step = sqlite3_step(c->rows);
	}
	c->has_row = step == SQLITE_ROW;
	return r != SQLITE_OK || step == SQLITE_ROW || step == SQLITE_DONE ? r : step;
}

/* The name is that of the first column of these that no argument tells. */
static int take_event_name(struct other_cursor *c, const struct other_vtab *v, sqlite3_value *number, sqlite3_value *text)
{
	static const char *const names[] = { "textId", "nameId", "text", "name" };
	int at;

	for (unsigned i = 0; v->is_timed && i < COUNT_OF(names); i++) {
		at = column_named(v, names[i]);
		if (at >= 0 && !c->values[at])
			return keep_other_value(c, (unsigned)at, v->columns[at].kind ? text : number);
	}
	return SQLITE_OK;
}

static int take_other_row(struct other_cursor *c)
{
	static const int of_place[] = { [PLACE_START] = START, [PLACE_END] = END, [PLACE_TID] = GLOBAL_TID, [PLACE_PID] = GLOBAL_PID };
	const struct other_vtab *v = (const struct other_vtab *)c->base.pVtab;
	sqlite3_value *own[KEY] = { NULL };
	int r = SQLITE_OK;

	forget_values(c);
	c->at_end = !c->has_row;
	if (c->at_end)
		return SQLITE_OK;
	c->id = sqlite3_column_int64(c->rows, ID);
	for (unsigned i = START; r == SQLITE_OK && i < KEY; i++) {
		own[i] = sqlite3_value_dup(sqlite3_column_value(c->rows, (int)i));
		r = own[i] ? SQLITE_OK : SQLITE_NOMEM;
	}
	if (r == SQLITE_OK)
		r = take_cells(c, v);
	for (unsigned i = 0; r == SQLITE_OK && i < v->count; i++)
		if (v->columns[i].place && !c->values[i])
			r = keep_other_value(c, i, own[of_place[v->columns[i].place]]);
	if (r == SQLITE_OK)
		r = take_event_name(c, v, own[NAME], own[NAME_TEXT]);
	for (unsigned i = START; i < KEY; i++)
		sqlite3_value_free(own[i]);
	return r;
}

static int other_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct other_cursor *c = (struct other_cursor *)base;
	const struct other_vtab *v = (const struct other_vtab *)base->pVtab;
	int r = SQLITE_OK;

	c->has_row = 0;
	sqlite3_finalize(c->rows);
	c->rows = NULL;
	if (v->rows) {
		r = sqlite3_prepare_v2(v->function.q->db, v->is_timed ? TIMED_ROWS : UNTIMED_ROWS, -1, &c->rows, NULL);
		if (r == SQLITE_OK)
			r = sqlite3_bind_text(c->rows, 1, v->name, -1, SQLITE_STATIC);
		if (r == SQLITE_OK) {
			r = sqlite3_step(c->rows);
			c->has_row = r == SQLITE_ROW;
			r = r == SQLITE_ROW || r == SQLITE_DONE ? SQLITE_OK : r;
		}
	}
	return r == SQLITE_OK ? take_other_row(c) : r;
}

static int other_next(sqlite3_vtab_cursor *base)
{
	return take_other_row((struct other_cursor *)base);
}

static int other_eof(sqlite3_vtab_cursor *base)
{
	return ((struct other_cursor *)base)->at_end;
}

static int other_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct other_cursor *c = (const struct other_cursor *)base;

	if (c->values[column])
		sqlite3_result_value(context, c->values[column]);
	return SQLITE_OK;
}

static int other_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct other_cursor *)base)->id;
	return SQLITE_OK;
}

/* clang-format off */
const sqlite3_module nsys_other_module = {
	.iVersion = 1, .xCreate = other_connect, .xConnect = other_connect, .xBestIndex = other_best_index,
	.xDisconnect = vtab_disconnect, .xDestroy = vtab_disconnect, .xOpen = other_open, .xClose = other_close,
	.xFilter = other_filter, .xNext = other_next, .xEof = other_eof, .xColumn = other_column, .xRowid = other_rowid,
};
/* clang-format on */

static const char *other_name(struct query *q, unsigned i)
{
	return i < q->others.count ? q->others.tables[i].name : NULL;
}

static int make_other(struct query *q, unsigned i)
{
	return listed_create(q, q->others.tables[i].rows > 0, q->others.tables[i].name, "sonde_nsys_other");
}

const struct listed_family other_family = { other_name, make_other };
