/* nvtx_projection: every NVTX range that begins and ends on one thread, in order of start, with its place
 * among the others and the GPU work of the calls made in it. nvtx_projection_stats([by]): those with work, added up by
 * name and style; by 'name#' folds the numbers in names. */
#include "query/index/times.h"
#include "query/nvtx/projection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "query/functions/fold.h"
#include "query/engine/function.h"
#include "query/functions/group.h"
#include "query/engine/scope.h"
#include "query/functions/select.h"

/* clang-format off */
enum { ROW_NAME, ROW_DOMAIN, ROW_STYLE, ROW_PROJ_START, ROW_PROJ_END, ROW_PROJ_DURATION, ROW_START, ROW_END,
       ROW_DURATION, ROW_PID, ROW_TID, ROW_GLOBAL_TID, ROW_THREAD, ROW_PROCESS, ROW_OPS, ROW_LEVEL,
       ROW_CHILDREN, ROW_ID, ROW_PARENT, ROW_STACK };
/* clang-format on */
#define ROW_DECLARATION \
	"CREATE TABLE x(name TEXT, domainName TEXT, style TEXT, projStart INTEGER, projEnd INTEGER, " \
	"projDuration INTEGER, start INTEGER, end INTEGER, duration INTEGER, pid INTEGER, tid INTEGER, " \
	"globalTid INTEGER, threadUid INTEGER, processUid INTEGER, gpuOps INTEGER, level INTEGER, " \
	"numChild INTEGER, rangeId INTEGER, parentId INTEGER, rangeStack TEXT)"

static const char *const style_names[] = { [RANGE_PUSH_POP] = "PushPop", [RANGE_START_END] = "StartEnd" };

static int load_both(struct query *q, struct nvtx_ranges **ranges, struct nvtx_projections **projections)
{
	TRY(nvtx_ranges_of(q, ranges));
	return nvtx_projections_of(q, *ranges, projections);
}

/* nvtx_projection */

struct row_cursor {
	struct list_cursor list;
	struct query *q;
	struct nvtx_ranges *ranges;
	struct nvtx_projections *projections;
	uint32_t *order; /* places - 1 by id; those shown */
};

static int row_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, ROW_DECLARATION, ret);
}

static int row_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct row_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->q = ((struct function_vtab *)base)->q;
	*ret = &c->list.base;
	return SQLITE_OK;
}

static int row_close(sqlite3_vtab_cursor *base)
{
	free(((struct row_cursor *)base)->order);
	free(base);
	return SQLITE_OK;
}

static int is_shown_range(const struct query *q, const struct nvtx_range *range)
{
	return scope_has(q, range->track, range->start, range->end);
}

static int make_order(struct row_cursor *c)
{
	c->order = malloc(((size_t)c->ranges->count + 1) * sizeof(*c->order));
	if (!c->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->ranges->count; i++)
		c->order[c->ranges->ranges[i].id - 1] = i;
	for (uint32_t i = 0; i < c->ranges->count; i++)
		if (is_shown_range(c->q, &c->ranges->ranges[c->order[i]]))
			c->order[c->list.count++] = c->order[i];
	return 0;
}

static int row_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct row_cursor *c = (struct row_cursor *)base;
	int r = load_both(c->q, &c->ranges, &c->projections);

	c->list.at = 0;
	if (r >= 0 && !c->order)
		r = make_order(c);
	return function_code(r);
}

static int64_t row_number(const struct row_cursor *c, const struct nvtx_range *range, const struct nvtx_projection *projection, int column)
{
	const int64_t *process, *thread;

	switch (column) {
	case ROW_PROJ_START: return projection->first;
	case ROW_PROJ_END: return projection->last;
	case ROW_PROJ_DURATION: return time_between(projection->first, projection->last);
	case ROW_START: return range->start;
	case ROW_END: return range->end;
	case ROW_DURATION: return time_between(range->start, range->end);
	case ROW_PID: process = index_find(&c->q->index.processes, range->track[TRACK_PROCESS]); return process ? process[PROCESS_PID] : 0;
	case ROW_TID: thread = index_find(&c->q->index.threads, range->track[TRACK_THREAD]); return thread ? thread[THREAD_TID] : 0;
	case ROW_GLOBAL_TID: return index_global_tid(&c->q->index, range->track[TRACK_THREAD]);
	case ROW_THREAD: return range->track[TRACK_THREAD];
	case ROW_PROCESS: return range->track[TRACK_PROCESS];
	case ROW_OPS: return (int64_t)projection->ops;
	case ROW_LEVEL: return range->level;
	case ROW_CHILDREN: return range->children;
	case ROW_ID: return range->id;
	default: return range->parent ? nvtx_range_get(c->ranges, range->parent)->id : 0;
	}
}

/* ":1:5:9", from the outermost range in. */
static int result_stack(sqlite3_context *context, const struct row_cursor *c, const struct nvtx_range *range)
{
	struct buf text = BUF_INIT;
	uint32_t *ids = malloc(((size_t)range->level + 1) * sizeof(*ids));
	uint32_t depth = 0;
	int r = ids ? 0 : -ENOMEM;

	for (; r >= 0; range = nvtx_range_get(c->ranges, range->parent)) {
		ids[depth++] = range->id;
		if (!range->parent)
			break;
	}
	for (uint32_t i = depth; r >= 0 && i > 1 && depth - i < RANGE_STACK_MOST; i--)
		r = buf_printf(&text, ":%" PRIu32, ids[i - 1]);
	if (r >= 0 && depth - 1 > RANGE_STACK_MOST)
		r = buf_puts(&text, RANGE_STACK_CUT);
	if (r >= 0)
		r = buf_printf(&text, ":%" PRIu32, ids[0]);
	if (r >= 0)
		sqlite3_result_text(context, buf_cstr(&text), (int)text.len, SQLITE_TRANSIENT);
	buf_release(&text);
	free(ids);
	return r < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

static int row_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct row_cursor *c = (struct row_cursor *)base;
	const struct nvtx_range *range = &c->ranges->ranges[c->order[c->list.at]];
	const struct nvtx_projection *projection = &c->projections->of_range[c->order[c->list.at]];

	if (column >= ROW_PROJ_START && column <= ROW_PROJ_DURATION && !projection->ops)
		return SQLITE_OK; /* null */
	if (column == ROW_PARENT && !range->parent)
		return SQLITE_OK;
	if (column == ROW_NAME)
		result_text(context, c->q, range->name);
	else if (column == ROW_DOMAIN)
		result_text(context, c->q, range->domain);
	else if (column == ROW_STYLE)
		sqlite3_result_text(context, style_names[nvtx_range_style(range)], -1, SQLITE_STATIC);
	else if (column == ROW_STACK)
		return result_stack(context, c, range);
	else
		sqlite3_result_int64(context, row_number(c, range, projection, column));
	return SQLITE_OK;
}

const sqlite3_module nvtx_projection_module = LIST_MODULE(row, plain_best_index);

/* nvtx_projection_stats */

/* clang-format off */
enum { SUM_NAME, SUM_DOMAIN, SUM_STYLE, SUM_PROJ_TOTAL, SUM_RANGE_TOTAL, SUM_COUNT, SUM_AVG, SUM_MED, SUM_MIN, SUM_MAX,
       SUM_STDDEV, SUM_OPS, SUM_LEVELS, SUM_CHILDREN, SUM_BY };
/* clang-format on */
#define SUM_DECLARATION \
	"CREATE TABLE x(name TEXT, domainName TEXT, style TEXT, projTotal INTEGER, rangeTotal INTEGER, " \
	"count INTEGER, avg REAL, med REAL, min INTEGER, max INTEGER, stddev REAL, gpuOps INTEGER, " \
	"levels INTEGER, children INTEGER, by HIDDEN)"

enum { KEY_NAME, KEY_DOMAIN, KEY_STYLE };

struct sum_extra {
	int64_t range_total;
	int64_t ops;
	int64_t levels;
	int64_t children;
};

struct sum_cursor {
	sqlite3_vtab_cursor base;
	struct query *q;
	struct fold_memo *fold;    /* NULL: names as they are */
	struct group_table groups; /* of the lengths of projections */
	struct sum_extra *extra;
	size_t extra_cap;
	struct group_figures figures; /* of the row that is shown */
	double median;
	size_t at;
};

static int sum_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, SUM_DECLARATION, ret);
}

static int sum_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct sum_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->q = ((struct function_vtab *)base)->q;
	*ret = &c->base;
	return SQLITE_OK;
}

static void sum_forget(struct sum_cursor *c)
{
	group_table_release(&c->groups);
	free(c->extra);
	free(c->fold);
	c->fold = NULL;
	c->extra = NULL;
	c->extra_cap = c->at = 0;
}

static int sum_close(sqlite3_vtab_cursor *base)
{
	sum_forget((struct sum_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static struct sum_extra *extra_of(struct sum_cursor *c, size_t group)
{
	return ARRAY_REACH(c->extra, c->extra_cap, group) ? &c->extra[group] : NULL;
}

static int add_projected_range(struct sum_cursor *c, const struct nvtx_range *range, const struct nvtx_projection *projection)
{
	int64_t key[REQUEST_MAX_KEYS] = { [KEY_NAME] = range->name, [KEY_DOMAIN] = range->domain, [KEY_STYLE] = nvtx_range_style(range) };
	struct sum_extra *extra;
	size_t group;

	TRY(c->fold ? fold_id_again(c->q, c->fold, &key[KEY_NAME]) : 0);
	TRY(group_table_find(&c->groups, key, 0, &group));
	extra = extra_of(c, group);
	if (!extra)
		return -ENOMEM;
	extra->range_total = (int64_t)((uint64_t)extra->range_total + (uint64_t)time_between(range->start, range->end));
	extra->ops += (int64_t)projection->ops;
	extra->levels += range->level;
	extra->children += range->children;
	return group_add_value(&c->groups.groups[group], time_between(projection->first, projection->last));
}

/* Figures of the row that is shown. */
static void compute_range_figures(struct sum_cursor *c)
{
	static const double half[] = { 0.5 };
	struct grouping kind = { .value_kind = VECTOR_NUMBER };
	struct group *group;
	struct quantile middle;

	if (c->at >= c->groups.count)
		return;
	group = &c->groups.groups[c->at];
	group_figures(&kind, group, &c->figures);
	group_quantiles(group, half, 1, &middle);
	c->median = (double)middle.low + ((double)middle.high - (double)middle.low) * middle.between;
}

static int parse_projection_by(struct sum_cursor *c, const char *by, struct error *err)
{
	if (!by || strcmp(by, "name") == 0)
		return 0;
	if (strcmp(by, "name#") != 0)
		return error_set(err, EINVAL, "Ranges can be grouped by name or name#, not by '%s'", by);
	c->fold = calloc(1, sizeof(*c->fold));
	return c->fold ? 0 : error_set(err, ENOMEM, "Not enough memory");
}

static int sum_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, SUM_BY, 1, 0);
}

static int sum_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct sum_cursor *c = (struct sum_cursor *)base;
	struct nvtx_ranges *ranges;
	struct nvtx_projections *projections;
	struct error err;
	int r;

	sum_forget(c);
	c->groups.narrow = 1;
	r = parse_projection_by(c, function_argument(plan, 0, argc, argv), &err);
	if (r < 0)
		return function_fail(base, r, &err);
	r = load_both(c->q, &ranges, &projections);
	for (uint32_t i = 0; r >= 0 && i < ranges->count; i++)
		if (projections->of_range[i].ops && is_shown_range(c->q, &ranges->ranges[i]))
			r = add_projected_range(c, &ranges->ranges[i], &projections->of_range[i]);
	compute_range_figures(c);
	return function_code(r);
}

static int sum_next(sqlite3_vtab_cursor *base)
{
	((struct sum_cursor *)base)->at++;
	compute_range_figures((struct sum_cursor *)base);
	return SQLITE_OK;
}

static int sum_eof(sqlite3_vtab_cursor *base)
{
	struct sum_cursor *c = (struct sum_cursor *)base;

	return c->at >= c->groups.count;
}

static int64_t sum_number(const struct sum_cursor *c, int column)
{
	const struct sum_extra *extra = &c->extra[c->at];

	switch (column) {
	case SUM_PROJ_TOTAL: return c->figures.whole_sum;
	case SUM_RANGE_TOTAL: return extra->range_total;
	case SUM_COUNT: return (int64_t)c->groups.groups[c->at].count;
	case SUM_MIN: return c->figures.least;
	case SUM_MAX: return c->figures.largest;
	case SUM_OPS: return extra->ops;
	case SUM_LEVELS: return extra->levels;
	default: return extra->children;
	}
}

static int sum_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct sum_cursor *c = (struct sum_cursor *)base;
	const int64_t *key = c->groups.groups[c->at].key;

	if (column == SUM_NAME)
		result_text(context, c->q, key[KEY_NAME]);
	else if (column == SUM_DOMAIN)
		result_text(context, c->q, key[KEY_DOMAIN]);
	else if (column == SUM_STYLE)
		sqlite3_result_text(context, style_names[key[KEY_STYLE]], -1, SQLITE_STATIC);
	else if (column == SUM_AVG)
		sqlite3_result_double(context, c->figures.average);
	else if (column == SUM_MED)
		sqlite3_result_double(context, c->median);
	else if (column == SUM_STDDEV)
		sqlite3_result_double(context, c->figures.deviation);
	else if (column != SUM_BY)
		sqlite3_result_int64(context, sum_number(c, column));
	return SQLITE_OK;
}

static int sum_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct sum_cursor *)base)->at + 1;
	return SQLITE_OK;
}

const sqlite3_module nvtx_projection_stats_module = FUNCTION_MODULE(sum, sum_best_index);
