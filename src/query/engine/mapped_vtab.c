/* The SQLite module that shows mapped tables. Tables with nsys's names are created
 * in the database; those of the report itself exist under their names without being
 * listed (eponymous modules). */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "query/engine/call_values.h"
#include "query/engine/function.h"
#include "query/engine/lookup.h"
#include "query/engine/mapped_order.h"
#include "query/engine/result.h"
#include "query/index/stack_tree.h"
#include "query/engine/view_values.h"

/* Looking through the table a few times is cheaper than making an index; a key will be asked for again. */
#define INDEX_PAYS 4
#define INDEX_PAYS_FOR_ANY 16

/* In a plan, the place of a comparison: equal to a text. */
#define PLAN_TEXT 'T'
/* A column has few different texts: those seen last are at hand by their ids. A power of two. */
#define TEXTS_AT_HAND 256u

struct mapped_vtab {
	sqlite3_vtab base;
	struct query *q;
	const struct mapped_table *table;
	struct group_cache *spare; /* of the cursor closed last */
	struct ordered_rows *spare_ordered;
	uint64_t questions;     /* asked so far */
	uint64_t key_questions; /* those for a key */
};

struct known_text {
	int64_t id;
	const char *text;
	size_t len;
};

/* "column = text": leaves out rows, SQLite checks those that are left. */
struct text_check {
	int asked;
	unsigned column;
	struct buf text;
	const struct vector *vector; /* of the current group; NULL where every row is let through */
	struct {
		int64_t id;
		int known;
		int holds;
	} verdicts[TEXTS_AT_HAND];
};

struct mapped_cursor {
	sqlite3_vtab_cursor base;
	struct scan probe; /* has the conditions; reads nothing */
	struct group_cache *cache;
	int repeats;      /* not the first question: decoded groups are kept apart */
	struct scan *now; /* where `row` is; one of the cache's */
	uint64_t nth;     /* behind it */
	uint32_t row;
	uint32_t plain_limit; /* every row of the group up to here is shown; 0 where each is looked at */
	int at_end;
	struct row_check checks[SCAN_MAX_CONDITIONS];
	unsigned check_count;
	struct text_check text;
	struct known_text known[TEXTS_AT_HAND];
	int is_ordered; /* rows come in an order that was asked for: from `ordered` */
	struct ordered_rows *ordered;
	const struct column_lookup *lookup; /* rows come from an index: [found, found_end) */
	size_t found;
	size_t found_end;
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
static int mapped_create(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	const struct mapped_table *t = query_table(aux, argv[2]);

	if (!t) {
		*error = sqlite3_mprintf("a report has no table %s", argv[2]);
		return SQLITE_ERROR;
	}
	return connect_table(db, aux, t, ret);
}

static int native_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
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

static int is_text_column(const struct mapped_table *t, int column)
{
	return column >= 0 && strncmp(t->columns[column].declaration, "TEXT", 4) == 0;
}

static double row_count(const struct mapped_vtab *v)
{
	double rows = 0;

	for (unsigned i = 0; i < v->table->source_count; i++)
		rows += (double)report_row_count(v->q->report, v->table->sources[i].table);
	return rows;
}

static int is_constant_column(const struct mapped_table *t, int column)
{
	for (unsigned i = 0; i < t->source_count; i++)
		if (!cell_is_constant(mapped_cell(t, i, (unsigned)column)))
			return 0;
	return 1;
}

/* The comparison to make for that constraint; -1 for none. Values of an IN are asked for one by one: that is for keys,
 * and for what whole groups are left out by. */
static int usable_comparison(const struct mapped_table *t, sqlite3_index_info *info, int i)
{
	int column = info->aConstraint[i].iColumn, comparison = comparison_of(info->aConstraint[i].op);

	if (!info->aConstraint[i].usable || comparison < 0 || !is_number_column(t, column))
		return -1;
	if (comparison == COMPARE_EQ && sqlite3_vtab_in(info, i, -1) && !t->columns[column].is_key && !is_constant_column(t, column))
		return -1;
	return comparison;
}

static int is_usable_text(const struct mapped_table *t, sqlite3_index_info *info, int i)
{
	return info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       is_text_column(t, info->aConstraint[i].iColumn) && !sqlite3_vtab_in(info, i, -1) &&
	       sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

/* Whether no row is let through that does not meet the condition: of times that is not said, rows may have no end. */
static int is_exact(const struct mapped_table *t, int column)
{
	for (unsigned i = 0; i < t->source_count; i++)
		if (cell_time_edge(&t->sources[i], mapped_cell(t, i, (unsigned)column)) >= 0)
			return 0;
	return is_number_column(t, column);
}

/* A comparison with a whole number that is written in the statement need not be made twice. */
static void omit_exact_checks(const struct mapped_table *t, sqlite3_index_info *info)
{
	sqlite3_value *value;

	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraintUsage[i].argvIndex && is_exact(t, info->aConstraint[i].iColumn) &&
		    sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK && sqlite3_value_type(value) == SQLITE_INTEGER)
			info->aConstraintUsage[i].omit = 1;
}

/* The plan is a string of (column + 'A', comparison + '0') pairs, one per argument, and then the order. SQLite
 * checks each row again where it is not told otherwise, so a plan only has to leave out what cannot match. */
static int mapped_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct mapped_vtab *v = (struct mapped_vtab *)base;
	char plan[2 * SCAN_MAX_CONDITIONS + ORDER_MAX_COLUMNS + 4];
	double rows = row_count(v);
	struct row_order order;
	unsigned used = 0;
	int by_key = 0, by_text = 0;

	for (int i = 0; i < info->nConstraint && used < SCAN_MAX_CONDITIONS; i++) {
		int comparison = usable_comparison(v->table, info, i);
		int is_text = !by_text && is_usable_text(v->table, info, i);

		if (comparison < 0 && !is_text)
			continue;
		plan[2 * used] = (char)('A' + info->aConstraint[i].iColumn);
		plan[2 * used + 1] = is_text ? PLAN_TEXT : (char)('0' + comparison);
		info->aConstraintUsage[i].argvIndex = (int)++used;
		by_text |= is_text;
		rows /= comparison == COMPARE_EQ || is_text ? 8 : 2;
		if (comparison == COMPARE_EQ && v->table->columns[info->aConstraint[i].iColumn].is_key) {
			rows = rows < 2 ? rows : 2;
			by_key = 1;
		}
	}
	plan[2 * used] = '\0';
	/* Rows found by a key are not compared with anything else. */
	if (!by_key)
		omit_exact_checks(v->table, info);
	if (info->nOrderBy > 0 && !by_key && row_order_of(v->q, v->table, info, &order)) {
		row_order_write(&order, plan + 2 * used, sizeof(plan) - 2 * used);
		info->orderByConsumed = 1;
	}
	info->idxNum = info->orderByConsumed;
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
	c->cache = v->spare ? v->spare : calloc(1, sizeof(*c->cache));
	v->spare = NULL;
	if (!c->cache || (v->table->shows_frames && stack_tree_of(v->q, &ignored) < 0)) {
		group_cache_free(c->cache);
		free(c);
		return SQLITE_NOMEM;
	}
	scan_init(&c->probe, v->q, v->table);
	*ret = &c->base;
	return SQLITE_OK;
}

/* A subquery opens and closes the table for each row of what is around it: what was decoded is kept. */
static int mapped_close(sqlite3_vtab_cursor *base)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;
	struct mapped_vtab *v = (struct mapped_vtab *)base->pVtab;

	if (v->spare)
		group_cache_free(c->cache);
	else
		v->spare = c->cache;
	if (c->ordered) {
		ordered_rows_free(v->spare_ordered);
		v->spare_ordered = c->ordered;
	}
	scan_release(&c->probe);
	buf_release(&c->text.text);
	free(c);
	return SQLITE_OK;
}

static int mapped_disconnect(sqlite3_vtab *base)
{
	group_cache_free(((struct mapped_vtab *)base)->spare);
	ordered_rows_free(((struct mapped_vtab *)base)->spare_ordered);
	return vtab_disconnect(base);
}

/* A text that is in the report, or made by the reader once. */
static const struct known_text *get_known_text(struct mapped_cursor *c, int64_t id)
{
	struct known_text *known = &c->known[(uint64_t)id % TEXTS_AT_HAND];

	if (!known->text || known->id != id) {
		known->id = id;
		known->text = query_text(c->probe.q, id, &known->len);
	}
	return known;
}

/* Whether the text is the one asked for. Places in code without a name are left to SQLite. */
static int compare_text(struct mapped_cursor *c, int64_t id)
{
	const struct known_text *known;

	if (id >= STRING_ID_FRAME)
		return 1;
	known = get_known_text(c, id);
	return known->text && known->len == c->text.text.len &&
	       (known->len == 0 || memcmp(known->text, c->text.text.data, known->len) == 0);
}

static int text_holds(struct mapped_cursor *c, uint32_t row)
{
	struct text_check *t = &c->text;
	unsigned at;
	int64_t id;

	if (!t->vector)
		return 1;
	if (vector_is_null(t->vector, row))
		return 0;
	id = vector_value(t->vector, row);
	at = (unsigned)((uint64_t)id % TEXTS_AT_HAND);
	if (!t->verdicts[at].known || t->verdicts[at].id != id) {
		t->verdicts[at].id = id;
		t->verdicts[at].known = 1;
		t->verdicts[at].holds = compare_text(c, id);
	}
	return t->verdicts[at].holds;
}

static int begin_text_check(struct mapped_cursor *c, struct scan *s)
{
	const struct vector *v;
	int r;

	c->text.vector = NULL;
	if (!c->text.asked)
		return 0;
	r = scan_vector(s, c->text.column, &v);
	if (r >= 0 && (v->kind == VECTOR_STRING || v->kind == VECTOR_NULL))
		c->text.vector = v;
	return r;
}

/* Makes the group the current one. 1, or 0 where it has no row to show. */
static int enter_group_at(struct mapped_cursor *c, uint64_t nth, unsigned source, size_t group, int with_conditions)
{
	const struct mapped_vtab *v = (const struct mapped_vtab *)c->base.pVtab;
	struct scan *s = group_cache_scan(c->cache, v->q, v->table, c->repeats ? nth : 0);
	int r;

	if (!s)
		return -ENOMEM;
	s->condition_count = with_conditions ? c->probe.condition_count : 0;
	memcpy(s->conditions, c->probe.conditions, sizeof(s->conditions));
	r = scan_enter(s, source, group);
	if (r > 0 && (scan_checks(s, c->checks, &c->check_count) < 0 || begin_text_check(c, s) < 0))
		r = -EBADMSG;
	if (r == -EBADMSG) {
		atomic_fetch_add(&v->q->damaged, 1);
		return 0;
	}
	c->now = s;
	c->plain_limit = with_conditions && c->check_count == 0 && !c->text.vector && v->table->sources[source].filter == FILTER_NONE &&
					 !v->q->scope ?
				 s->limit :
				 0;
	return r;
}

/* Goes on from c->row to the next row that the table shows. */
static int find_shown_row(struct mapped_cursor *c)
{
	const struct mapped_vtab *v = (const struct mapped_vtab *)c->base.pVtab;
	unsigned source;
	size_t group;
	int r;

	for (;; c->nth++) {
		for (; c->now && c->row < c->now->limit; c->row++)
			if (row_checks_hold(c->checks, c->check_count, c->row) && text_holds(c, c->row) && scan_row_visible(c->now, c->row))
				return SQLITE_OK;
		c->now = NULL;
		if (!mapped_group(v->q, v->table, c->nth, &source, &group)) {
			c->at_end = 1;
			return SQLITE_OK;
		}
		r = scan_may_enter(&c->probe, source, group);
		if (r > 0)
			r = enter_group_at(c, c->nth, source, group, 1);
		if (r < 0)
			return function_code(r);
		if (r > 0)
			c->row = c->now->first;
		else
			c->now = NULL;
	}
}

/* The same among the rows that the index gave. */
static int settle_found(struct mapped_cursor *c)
{
	const struct mapped_vtab *v = (const struct mapped_vtab *)c->base.pVtab;
	const struct lookup_entry *entry;
	unsigned source;
	size_t group;
	int r;

	for (; c->found < c->found_end; c->found++) {
		entry = &c->lookup->entries[c->found];
		r = mapped_group(v->q, v->table, entry->nth, &source, &group);
		if (r > 0)
			r = enter_group_at(c, entry->nth, source, group, 0);
		if (r < 0)
			return function_code(r);
		c->row = entry->row;
		if (r > 0)
			return SQLITE_OK;
	}
	c->at_end = 1;
	return SQLITE_OK;
}

static int settle_ordered(struct mapped_cursor *c)
{
	int r;

	do
		r = ordered_rows_next(c->ordered, &c->now, &c->row);
	while (r > 0 && c->text.asked && begin_text_check(c, c->now) >= 0 && !text_holds(c, c->row));
	c->at_end = r == 0;
	return function_code(r);
}

/* An argument as a whole number such that no row that matches is left out. Returns 0 when it cannot
 * be used (texts, numbers out of range): SQLite's own check decides then. */
static int condition_value(sqlite3_value *argument, struct condition *c)
{
	double real;

	if (sqlite3_value_numeric_type(argument) == SQLITE_INTEGER) {
		c->value = sqlite3_value_int64(argument);
		return 1;
	}
	if (sqlite3_value_type(argument) != SQLITE_FLOAT)
		return 0;
	real = sqlite3_value_double(argument);
	if (!(fabs(real) < 0x1p63) || (c->comparison == COMPARE_EQ && real != floor(real)))
		return 0;
	if (real == floor(real)) {
		c->value = (int64_t)real;
	} else if (c->comparison == COMPARE_LT || c->comparison == COMPARE_LE) {
		c->comparison = COMPARE_LE;
		c->value = (int64_t)floor(real);
	} else {
		c->comparison = COMPARE_GE;
		c->value = (int64_t)ceil(real);
	}
	return 1;
}

/* 0, or -ENOMEM. What is not a text is left to SQLite. */
static int take_text_argument(struct mapped_cursor *c, unsigned column, sqlite3_value *argument)
{
	const void *text;

	c->text.asked = sqlite3_value_type(argument) == SQLITE_TEXT;
	if (!c->text.asked)
		return 0;
	text = sqlite3_value_text(argument);
	c->text.column = column;
	memset(c->text.verdicts, 0, sizeof(c->text.verdicts));
	buf_clear(&c->text.text);
	return text ? buf_append(&c->text.text, text, (size_t)sqlite3_value_bytes(argument)) : -ENOMEM;
}

/* Reads the plan. Returns 0 where nothing can match: no comparison holds for null. -ENOMEM. */
static int take_conditions(struct mapped_cursor *c, const char *plan, int argc, sqlite3_value **argv)
{
	c->probe.condition_count = 0;
	c->text.asked = 0;
	for (int i = 0; i < argc; i++) {
		struct condition condition = { .column = (uint8_t)(plan[2 * i] - 'A'), .comparison = (uint8_t)(plan[2 * i + 1] - '0') };

		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return 0;
		if (plan[2 * i + 1] == PLAN_TEXT) {
			if (take_text_argument(c, condition.column, argv[i]) < 0)
				return -ENOMEM;
			continue;
		}
		if (condition_value(argv[i], &condition))
			c->probe.conditions[c->probe.condition_count++] = condition;
	}
	return 1;
}

/* What is asked for besides may leave out more rows than a value that is in many; of a key, few rows have the same. */
static int can_be_looked_up(const struct mapped_cursor *c, const struct condition *condition)
{
	const struct mapped_table *t = c->probe.table;
	const struct mapped_cell *cell = mapped_cell(t, 0, condition->column);

	if (condition->comparison != COMPARE_EQ)
		return 0;
	return t->columns[condition->column].is_key ||
	       (c->probe.condition_count == 1 && !cell_is_constant(cell) && cell_time_edge(&t->sources[0], cell) < 0);
}

/* Who asks for one value after the other is a join: an index pays then. */
static int find_by_key(struct mapped_cursor *c)
{
	struct mapped_vtab *v = (struct mapped_vtab *)c->base.pVtab;
	const struct condition *key;

	c->lookup = NULL;
	for (unsigned i = 0; i < c->probe.condition_count && !c->lookup; i++) {
		key = &c->probe.conditions[i];
		if (!can_be_looked_up(c, key) ||
		    ++v->key_questions < (v->table->columns[key->column].is_key ? INDEX_PAYS : INDEX_PAYS_FOR_ANY))
			continue;
		TRY(lookup_of(v->q, v->table, key->column, &c->lookup));
		lookup_find(c->lookup, key->value, &c->found, &c->found_end);
	}
	return 0;
}

static int open_ordered(struct mapped_cursor *c, const char *order_text)
{
	struct mapped_vtab *v = (struct mapped_vtab *)c->base.pVtab;
	struct row_order order;
	int r;

	if (!c->ordered) {
		c->ordered = v->spare_ordered;
		v->spare_ordered = NULL;
	}
	row_order_read(&order, order_text);
	r = ordered_rows_open(&c->ordered, &c->probe, &order);
	return r < 0 ? function_code(r) : settle_ordered(c);
}

static int mapped_filter(sqlite3_vtab_cursor *base, int plan_number, const char *plan, int argc, sqlite3_value **argv)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;
	int r = take_conditions(c, plan, argc, argv);

	c->plain_limit = 0;
	c->at_end = r == 0;
	if (r <= 0)
		return function_code(r);
	c->repeats = ((struct mapped_vtab *)base->pVtab)->questions++ > 0;
	c->lookup = NULL;
	c->is_ordered = plan_number;
	if (plan_number)
		return open_ordered(c, plan + 2 * argc);
	r = find_by_key(c);
	if (r < 0)
		return function_code(r);
	if (c->lookup)
		return settle_found(c);
	c->now = NULL;
	c->nth = 0;
	c->row = 0;
	return find_shown_row(c);
}

static int mapped_next(sqlite3_vtab_cursor *base)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;

	if (++c->row < c->plain_limit)
		return SQLITE_OK;
	if (c->lookup) {
		c->found++;
		return settle_found(c);
	}
	return c->is_ordered ? settle_ordered(c) : find_shown_row(c);
}

static int mapped_eof(sqlite3_vtab_cursor *base)
{
	return ((struct mapped_cursor *)base)->at_end;
}

static void result_decoded(sqlite3_context *context, struct mapped_cursor *c, enum vector_kind kind, int64_t value)
{
	const struct known_text *known;

	if (kind == VECTOR_NUMBER) {
		sqlite3_result_int64(context, value);
		return;
	}
	if (kind != VECTOR_STRING || value >= STRING_ID_FRAME) {
		result_value(context, c->probe.q, kind, value);
		return;
	}
	/* Texts live as long as the report does. */
	known = get_known_text(c, value);
	if (known->text && known->len <= INT_MAX)
		sqlite3_result_text(context, known->text, (int)known->len, SQLITE_STATIC);
}

static int mapped_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;
	const struct scan_vector *made = &c->now->made[column];
	const struct vector *v = &made->vector;

	/* Most of what is asked for was decoded already. No result is null. */
	if (!made->made || v->kind > VECTOR_STRING)
		result_cell(context, c->now, (unsigned)column, c->row);
	else if (!vector_is_null(v, c->row))
		result_decoded(context, c, v->kind, vector_value(v, c->row));
	return SQLITE_OK;
}

/* Source and place in the report's table: the same for every query. */
static int mapped_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	struct mapped_cursor *c = (struct mapped_cursor *)base;
	const struct mapped_source *source = &c->now->table->sources[c->now->source];
	uint64_t first = report_group(c->now->q->report, source->table, c->now->group)->first_row;

	*ret = (sqlite3_int64)((uint64_t)c->now->source << 56 | (first + c->row + 1));
	return SQLITE_OK;
}

/* clang-format off */
const sqlite3_module mapped_module = {
	.iVersion = 1, .xCreate = mapped_create, .xConnect = mapped_create, .xBestIndex = mapped_best_index,
	.xDisconnect = mapped_disconnect, .xDestroy = mapped_disconnect, .xOpen = mapped_open,
	.xClose = mapped_close, .xFilter = mapped_filter, .xNext = mapped_next, .xEof = mapped_eof,
	.xColumn = mapped_column, .xRowid = mapped_rowid,
};

static const sqlite3_module native_module = {
	.iVersion = 1, .xConnect = native_connect, .xBestIndex = mapped_best_index,
	.xDisconnect = mapped_disconnect, .xOpen = mapped_open, .xClose = mapped_close,
	.xFilter = mapped_filter, .xNext = mapped_next, .xEof = mapped_eof, .xColumn = mapped_column,
	.xRowid = mapped_rowid,
};
/* clang-format on */

static int register_native(struct query *q, const struct mapped_table *t)
{
	struct native_aux *aux = malloc(sizeof(*aux));

	if (!aux)
		return SQLITE_NOMEM;
	*aux = (struct native_aux){ q, t };
	return sqlite3_create_module_v2(q->db, t->name, &native_module, aux, free);
}

int native_tables_register(struct query *q)
{
	int r = SQLITE_OK;

	for (unsigned i = 0; i < q->natives.count && r == SQLITE_OK; i++)
		r = register_native(q, &q->natives.tables[i].table);
	for (unsigned i = 0; i < call_table_count && r == SQLITE_OK; i++)
		r = register_native(q, call_tables[i]);
	for (unsigned i = 0; i < view_table_count && r == SQLITE_OK; i++)
		r = register_native(q, view_tables[i]);
	return r;
}

static const char *mapped_name(struct query *q, unsigned i)
{
	return i < mapped_table_count ? mapped_tables[i].name : NULL;
}

static int make_mapped(struct query *q, unsigned i)
{
	return listed_create(q, mapped_table_has_rows(q, &mapped_tables[i]), mapped_tables[i].name, "sonde_columns");
}

const struct listed_family mapped_family = { mapped_name, make_mapped };
