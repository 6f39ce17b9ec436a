/* The SQLite module that shows mapped tables. Tables with nsys's names are created
 * in the database; those of the report itself exist under their names without being
 * listed (eponymous modules). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "query/call_values.h"
#include "query/function.h"
#include "query/result.h"
#include "query/stack_tree.h"

struct mapped_vtab {
	sqlite3_vtab base;
	struct query *q;
	const struct mapped_table *table;
};

struct mapped_cursor {
	sqlite3_vtab_cursor base;
	struct scan scan;
	uint32_t row;
	int at_end;
};

/* What an eponymous module is registered with. */
struct native_aux {
	struct query *q;
	const struct mapped_table *table;
};

static int connect_table(sqlite3 *db, struct query *q, const struct mapped_table *t, sqlite3_vtab **ret)
{
	struct buf sql = BUF_INIT;
	struct mapped_vtab *v;
	int r = buf_puts(&sql, "CREATE TABLE x(");

	for (unsigned i = 0; r >= 0 && i < t->column_count; i++)
		r = buf_printf(&sql, "%s\"%s\" %s", i ? "," : "", t->columns[i].name, t->columns[i].declaration);
	if (r >= 0)
		r = buf_puts(&sql, ")");
	r = r < 0 ? SQLITE_NOMEM : vtab_connect(db, buf_cstr(&sql), sizeof(*v), ret);
	buf_release(&sql);
	if (r != SQLITE_OK)
		return r;
	v = (struct mapped_vtab *)*ret;
	v->q = q;
	v->table = t;
	return SQLITE_OK;
}

/* CREATE VIRTUAL TABLE name USING sonde_columns: argv[2] is the name. */
static int mapped_create(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
			 char **error)
{
	const struct mapped_table *t = query_table(aux, argv[2]);

	if (!t) {
		*error = sqlite3_mprintf("a report has no table %s", argv[2]);
		return SQLITE_ERROR;
	}
	return connect_table(db, aux, t, ret);
}

static int native_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
			  char **error)
{
	const struct native_aux *native = aux;

	return connect_table(db, native->q, native->table, ret);
}

static int comparison_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: return COMPARE_EQ;
	case SQLITE_INDEX_CONSTRAINT_LT: return COMPARE_LT;
	case SQLITE_INDEX_CONSTRAINT_LE: return COMPARE_LE;
	case SQLITE_INDEX_CONSTRAINT_GT: return COMPARE_GT;
	case SQLITE_INDEX_CONSTRAINT_GE: return COMPARE_GE;
	default: return -1;
	}
}

static int is_number_column(const struct mapped_table *t, int column)
{
	return column >= 0 && strncmp(t->columns[column].declaration, "INTEGER", 7) == 0;
}

static double row_count(const struct mapped_vtab *v)
{
	double rows = 0;

	for (unsigned i = 0; i < v->table->source_count; i++)
		rows += (double)report_row_count(v->q->report, v->table->sources[i].table);
	return rows;
}

/* The plan is a string of (column + 'A', comparison + '0') pairs, one per argument. SQLite
 * checks each row again, so a plan only has to leave out what cannot match. */
static int mapped_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct mapped_vtab *v = (struct mapped_vtab *)base;
	char plan[2 * SCAN_MAX_CONDITIONS + 1];
	double rows = row_count(v);
	unsigned used = 0;

	for (int i = 0; i < info->nConstraint && used < SCAN_MAX_CONDITIONS; i++) {
		int comparison = comparison_of(info->aConstraint[i].op);

		if (!info->aConstraint[i].usable || comparison < 0 ||
		    !is_number_column(v->table, info->aConstraint[i].iColumn))
			continue;
		plan[2 * used] = (char)('A' + info->aConstraint[i].iColumn);
		plan[2 * used + 1] = (char)('0' + comparison);
		info->aConstraintUsage[i].argvIndex = (int)++used;
		rows /= comparison == COMPARE_EQ ? 8 : 2;
	}
	plan[2 * used] = '\0';
	info->idxStr = sqlite3_mprintf("%s", plan);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + 10;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int mapped_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct mapped_vtab *v = (struct mapped_vtab *)base;
	struct mapped_cursor *c = calloc(1, sizeof(*c));
	struct stack_tree *ignored;

	if (!c)
		return SQLITE_NOMEM;
	if (v->table->shows_frames && stack_tree_of(v->q, &ignored) < 0) {
		free(c);
		return SQLITE_NOMEM;
	}
	scan_init(&c->scan, v->q, v->table);
	*ret = &c->base;
	return SQLITE_OK;
}

static int mapped_close(sqlite3_vtab_cursor *base)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;

	scan_release(&c->scan);
	free(c);
	return SQLITE_OK;
}

static int sqlite_code(int r)
{
	return r >= 0 ? SQLITE_OK : r == -ENOMEM ? SQLITE_NOMEM : SQLITE_CORRUPT;
}

/* Goes on from c->row to the next row that the table shows. */
static int settle(struct mapped_cursor *c)
{
	int r;

	for (;;) {
		for (; c->row < c->scan.limit; c->row++)
			if (scan_row_visible(&c->scan, c->row))
				return SQLITE_OK;
		r = scan_next_group(&c->scan);
		if (r <= 0) {
			c->at_end = 1;
			return sqlite_code(r);
		}
		c->row = c->scan.first;
	}
}

/* An argument as a whole number such that no row that matches is left out. Returns 0 when it cannot
 * be used (texts, nulls, numbers out of range): SQLite's own check decides then. */
static int condition_value(sqlite3_value *argument, struct condition *c)
{
	double real;

	if (sqlite3_value_numeric_type(argument) == SQLITE_INTEGER) {
		c->value = sqlite3_value_int64(argument);
		return 1;
	}
	if (sqlite3_value_type(argument) != SQLITE_FLOAT || c->comparison == COMPARE_EQ)
		return 0;
	real = sqlite3_value_double(argument);
	if (!(fabs(real) < 9e18))
		return 0;
	if (c->comparison == COMPARE_LT || c->comparison == COMPARE_LE) {
		c->comparison = COMPARE_LE;
		c->value = (int64_t)floor(real);
	} else {
		c->comparison = COMPARE_GE;
		c->value = (int64_t)ceil(real);
	}
	return 1;
}

static int mapped_filter(sqlite3_vtab_cursor *base, int plan_number, const char *plan, int argc,
			 sqlite3_value **argv)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;

	c->scan.condition_count = 0;
	for (int i = 0; i < argc; i++) {
		struct condition condition = { .column = (uint8_t)(plan[2 * i] - 'A'),
					       .comparison = (uint8_t)(plan[2 * i + 1] - '0') };

		if (condition_value(argv[i], &condition))
			c->scan.conditions[c->scan.condition_count++] = condition;
	}
	scan_rewind(&c->scan);
	c->row = 0;
	c->scan.limit = 0;
	c->at_end = 0;
	return settle(c);
}

static int mapped_next(sqlite3_vtab_cursor *base)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;

	c->row++;
	return settle(c);
}

static int mapped_eof(sqlite3_vtab_cursor *base)
{
	return ((struct mapped_cursor *)base)->at_end;
}

static int mapped_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;

	result_cell(context, &c->scan, (unsigned)column, c->row);
	return SQLITE_OK;
}

/* Source and place in the report's table: the same for every query. */
static int mapped_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;
	const struct mapped_source *source = &c->scan.table->sources[c->scan.source];
	uint64_t first = report_group(c->scan.q->report, source->table, c->scan.group)->first_row;

	*ret = (sqlite3_int64)((uint64_t)c->scan.source << 56 | (first + c->row + 1));
	return SQLITE_OK;
}

static const sqlite3_module created_module = {
	.iVersion = 1, .xCreate = mapped_create, .xConnect = mapped_create, .xBestIndex = mapped_best_index,
	.xDisconnect = vtab_disconnect, .xDestroy = vtab_disconnect, .xOpen = mapped_open,
	.xClose = mapped_close, .xFilter = mapped_filter, .xNext = mapped_next, .xEof = mapped_eof,
	.xColumn = mapped_column, .xRowid = mapped_rowid,
};

static const sqlite3_module native_module = {
	.iVersion = 1, .xConnect = native_connect, .xBestIndex = mapped_best_index,
	.xDisconnect = vtab_disconnect, .xOpen = mapped_open, .xClose = mapped_close,
	.xFilter = mapped_filter, .xNext = mapped_next, .xEof = mapped_eof, .xColumn = mapped_column,
	.xRowid = mapped_rowid,
};

static int register_native(struct query *q, const struct mapped_table *t)
{
	struct native_aux *aux = malloc(sizeof(*aux));

	if (!aux)
		return SQLITE_NOMEM;
	*aux = (struct native_aux){ q, t };
	return sqlite3_create_module_v2(q->db, t->name, &native_module, aux, free);
}

static int register_natives(struct query *q)
{
	int r = SQLITE_OK;

	for (unsigned i = 0; i < q->native_count && r == SQLITE_OK; i++)
		r = register_native(q, &q->natives[i].table);
	for (unsigned i = 0; i < call_table_count && r == SQLITE_OK; i++)
		r = register_native(q, call_tables[i]);
	return r;
}

int mapped_module_register(struct query *q)
{
	char *sql;
	int r = sqlite3_create_module_v2(q->db, "sonde_columns", &created_module, q, NULL);

	if (r == SQLITE_OK)
		r = register_natives(q);
	for (unsigned i = 0; i < mapped_table_count && r == SQLITE_OK; i++) {
		if (!mapped_table_has_rows(q, mapped_tables[i]))
			continue;
		sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING sonde_columns", mapped_tables[i]->name);
		r = sql ? sqlite3_exec(q->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	return r;
}
