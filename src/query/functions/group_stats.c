/* group_stats(source, keys, value [, filter]): one row per key with the figures of a
 * column. Nulls are left out, as aggregate functions do; ranges without an end have no
 * duration and so do not count. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/engine/function.h"
#include "query/functions/group.h"
#include "query/index/parallel.h"
#include "query/engine/result.h"

/* clang-format off */
enum {
	STATS_KEY, STATS_KEY2, STATS_KEY3, STATS_KEY4, STATS_KEY5, STATS_KEY6, STATS_COUNT, STATS_SUM, STATS_AVG, STATS_MED,
	STATS_MIN, STATS_MAX, STATS_STDDEV, STATS_Q1, STATS_Q3, STATS_P90, STATS_P99,
	STATS_SOURCE, STATS_KEYS, STATS_VALUE, STATS_FILTER
};
/* clang-format on */

#define STATS_DECLARATION \
	"CREATE TABLE x(key, key2, key3, key4, key5, key6, count INTEGER, sum, avg REAL, " \
	"med REAL, min, max, " \
	"stddev REAL, q1 REAL, q3 REAL, p90 REAL, p99 REAL, source HIDDEN, keys HIDDEN, " \
	"value HIDDEN, filter HIDDEN)"

/* Ascending, as select_quantiles() wants them. */
enum { QUANTILE_Q1, QUANTILE_MED, QUANTILE_Q3, QUANTILE_P90, QUANTILE_P99, QUANTILE_COUNT };
static const double quantile_fractions[QUANTILE_COUNT] = { 0.25, 0.5, 0.75, 0.9, 0.99 };

struct stats_row {
	struct group_figures figures;
	struct quantile quantiles[QUANTILE_COUNT];
};

struct stats_cursor {
	struct list_cursor list;
	struct grouping grouping;
	struct stats_row *rows;
	/* Work shared by threads. */
	_Atomic size_t next;
	unsigned wanted; /* bits of the quantiles the statement reads */
};

static int group_stats_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, STATS_DECLARATION, ret);
}

static int quantile_of_column(int column)
{
	switch (column) {
	case STATS_Q1: return QUANTILE_Q1;
	case STATS_MED: return QUANTILE_MED;
	case STATS_Q3: return QUANTILE_Q3;
	case STATS_P90: return QUANTILE_P90;
	case STATS_P99: return QUANTILE_P99;
	default: return -1;
	}
}

/* Bits 0-3 of the plan: arguments given; above them: quantiles wanted. */
static int group_stats_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	int r = function_best_index(info, STATS_SOURCE, 4, 3);

	for (int column = 0; column < STATS_SOURCE; column++)
		if (quantile_of_column(column) >= 0 && info->colUsed >> column & 1)
			info->idxNum |= 16 << quantile_of_column(column);
	return r;
}

static int group_stats_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct stats_cursor));
}

static void clear_group_stats(struct stats_cursor *c)
{
	grouping_release(&c->grouping);
	free(c->rows);
	c->rows = NULL;
	c->list.at = 0;
}

static int group_stats_close(sqlite3_vtab_cursor *base)
{
	clear_group_stats((struct stats_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static void select_wanted(struct stats_cursor *c, struct group *group, struct stats_row *row)
{
	struct quantile found[QUANTILE_COUNT];
	double fractions[QUANTILE_COUNT];
	size_t count = 0;

	for (unsigned i = 0; i < QUANTILE_COUNT; i++)
		if (c->wanted >> i & 1)
			fractions[count++] = quantile_fractions[i];
	group_quantiles(group, fractions, count, found);
	count = 0;
	for (unsigned i = 0; i < QUANTILE_COUNT; i++)
		if (c->wanted >> i & 1)
			row->quantiles[i] = found[count++];
}

static int compute_group_stats(void *context, unsigned worker)
{
	struct stats_cursor *c = context;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->grouping.count) {
		group_figures(&c->grouping, &c->grouping.groups[i], &c->rows[i].figures);
		select_wanted(c, &c->grouping.groups[i], &c->rows[i]);
		group_forget_values(&c->grouping.groups[i]); /* a statement may keep its tables open while it fills others */
	}
	return 0;
}

static int parse_group_stats(struct stats_cursor *c, int plan, int argc, sqlite3_value **argv, struct error *err)
{
	const char *source = function_argument(plan, 0, argc, argv), *keys = function_argument(plan, 1, argc, argv);
	const char *value = function_argument(plan, 2, argc, argv), *filter = function_argument(plan, 3, argc, argv);
	struct grouping *g = &c->grouping;
	int r;

	TRY(request_parse(&g->request, g->q, source, keys, filter, err));
	r = request_column(g->request.table, value ? value : "", value ? strlen(value) : 0, err);
	if (r < 0)
		return r;
	g->value_column = (uint8_t)r;
	if (strncmp(g->request.table->columns[r].declaration, "INTEGER", 7) != 0 &&
	    strncmp(g->request.table->columns[r].declaration, "REAL", 4) != 0)
		return error_set(err, EINVAL, "Column %s has no numbers to compute with", value);
	return 0;
}

static int group_stats_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct stats_cursor *c = (struct stats_cursor *)base;
	struct error err = { "" };
	int r;

	clear_group_stats(c);
	memset(&c->grouping, 0, sizeof(c->grouping));
	c->grouping.q = ((struct function_vtab *)base->pVtab)->q;
	c->grouping.narrow = 1;
	c->wanted = (unsigned)plan >> 4;
	r = parse_group_stats(c, plan & 15, argc, argv, &err);
	if (r >= 0)
		r = grouping_run(&c->grouping, &err);
	if (r < 0)
		return function_fail(base, r, &err);
	c->rows = calloc(c->grouping.count + 1, sizeof(*c->rows));
	if (!c->rows)
		return SQLITE_NOMEM;
	c->list.count = c->grouping.count;
	atomic_store(&c->next, 0);
	parallel_run(compute_group_stats, c, parallel_width(c->grouping.count));
	return SQLITE_OK;
}

static double stored_as_real(const struct stats_cursor *c, int64_t stored)
{
	return c->grouping.value_kind == VECTOR_REAL ? group_real(stored) : (double)stored;
}

static void result_stored(sqlite3_context *context, const struct stats_cursor *c, int64_t stored)
{
	if (c->grouping.value_kind == VECTOR_REAL)
		sqlite3_result_double(context, group_real(stored));
	else
		sqlite3_result_int64(context, stored);
}

static void result_sum(sqlite3_context *context, const struct stats_cursor *c, const struct group_figures *f)
{
	if (c->grouping.value_kind == VECTOR_REAL || f->sum_overflow)
		sqlite3_result_double(context, (double)f->sum);
	else
		sqlite3_result_int64(context, f->whole_sum);
}

static void result_key(sqlite3_context *context, const struct stats_cursor *c, unsigned key)
{
	const struct group *group = &c->grouping.groups[c->list.at];

	if (key < c->grouping.request.key_count && !(group->key_null >> key & 1))
		result_value(context, c->grouping.q, c->grouping.key_kind[key], group->key[key]);
}

static int group_stats_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct stats_cursor *c = (struct stats_cursor *)base;
	const struct group_figures *f = &c->rows[c->list.at].figures;
	const struct quantile *q;
	double low;

	if (column <= STATS_KEY6)
		result_key(context, c, (unsigned)column);
	else if (column == STATS_COUNT)
		sqlite3_result_int64(context, (sqlite3_int64)c->grouping.groups[c->list.at].count);
	else if (column == STATS_SUM)
		result_sum(context, c, f);
	else if (column == STATS_AVG)
		sqlite3_result_double(context, f->average);
	else if (column == STATS_MIN)
		result_stored(context, c, f->least);
	else if (column == STATS_MAX)
		result_stored(context, c, f->largest);
	else if (column == STATS_STDDEV)
		sqlite3_result_double(context, f->deviation);
	else if (quantile_of_column(column) >= 0) {
		q = &c->rows[c->list.at].quantiles[quantile_of_column(column)];
		low = stored_as_real(c, q->low);
		sqlite3_result_double(context, low + (stored_as_real(c, q->high) - low) * q->between);
	}
	return SQLITE_OK;
}

const sqlite3_module group_stats_module = LIST_MODULE(group_stats, group_stats_best_index);
