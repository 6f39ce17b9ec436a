/* sample_stats(source [, by [, filter]]): for each function (or module) how often it was executing itself,
 * and how often it was on the stack at all; recursion counts once. source: samples, osrt (time in calls of
 * the OS runtime) or offcpu. by: function, function# (numbers in names are folded) or module, and thread or process for
 * each apart. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/engine/function.h"
#include "query/stacks/weights.h"

/* clang-format off */
enum {
	STATS_FUNCTION, STATS_MODULE, STATS_KERNEL, STATS_THREAD, STATS_PROCESS, STATS_SELF_COUNT, STATS_SELF,
	STATS_SELF_TIME, STATS_TOTAL_COUNT, STATS_TOTAL, STATS_TOTAL_TIME,
	STATS_SOURCE, STATS_BY, STATS_FILTER
};
/* clang-format on */

#define STATS_DECLARATION \
	"CREATE TABLE x(function TEXT, module TEXT, kernel INTEGER, thread INTEGER, process INTEGER, " \
	"self_count INTEGER, self INTEGER, self_time INTEGER, total_count INTEGER, total INTEGER, " \
	"total_time INTEGER, source HIDDEN, by HIDDEN, filter HIDDEN)"

struct stats_row {
	uint32_t owner;
	uint32_t label; /* of the view */
	struct stack_sum self, total;
};

struct stats_cursor {
	struct list_cursor list;
	struct stack_weights weights;
	struct stack_view view;
	enum stack_labels labels;
	enum stack_owner owner;
	struct stats_row *rows;
	size_t cap;
};

static int sample_stats_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, STATS_DECLARATION, ret);
}

static int sample_stats_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, STATS_SOURCE, 3, 1);
}

static int sample_stats_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct stats_cursor));
}

static void clear_sample_stats(struct stats_cursor *c)
{
	stack_weights_release(&c->weights);
	stack_view_release(&c->view);
	free(c->rows);
	c->rows = NULL;
	c->list.count = c->cap = c->list.at = 0;
}

static int sample_stats_close(sqlite3_vtab_cursor *base)
{
	clear_sample_stats((struct stats_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int parse_samples_by(struct stats_cursor *c, const char *by, struct error *err)
{
	static const struct {
		const char *name;
		int labels, owner;
	} words[] = {
		{ "function", STACK_FUNCTIONS, -1 }, { "module", STACK_MODULES, -1 },  { "function#", STACK_SAME_NAME, -1 },
		{ "thread", -1, OWNER_THREAD },      { "process", -1, OWNER_PROCESS },
	};
	size_t len, i;

	c->labels = STACK_FUNCTIONS;
	c->owner = OWNER_ALL;
	for (by = by ? by : ""; *by; by += len) {
		by += strspn(by, " ,");
		len = strcspn(by, " ,");
		for (i = 0; i < 5 && (strlen(words[i].name) != len || strncmp(words[i].name, by, len) != 0); i++)
			;
		if (len && i == 5)
			return error_set(err, EINVAL,
					 "Cannot group by '%.*s': write function or module, and thread or "
					 "process",
					 (int)len, by);
		if (len && words[i].labels >= 0)
			c->labels = (enum stack_labels)words[i].labels;
		if (len && words[i].owner >= 0)
			c->owner = (enum stack_owner)words[i].owner;
	}
	return 0;
}

static int add_sample_row(struct stats_cursor *c, const struct stats_row *row)
{
	if (!ARRAY_ROOM(c->rows, c->list.count, c->cap, 1))
		return -ENOMEM;
	c->rows[c->list.count++] = *row;
	return 0;
}

/* Rows of one owner: nodes with the same label come together. `place` has, by label, the
 * row + 1 + what came before this owner. */
static int add_owner(struct stats_cursor *c, const struct stack_sums *sums, uint32_t owner, size_t *place, size_t first)
{
	const struct stack_fold *fold = &c->view.fold;
	struct stats_row *row;
	int r = 0;

	for (uint32_t n = stack_sums_next(sums, 0); r >= 0 && n < fold->count; n = stack_sums_next(sums, n + 1)) {
		uint32_t label = stack_view_label(&c->view, n);

		if (place[label] <= first) {
			r = add_sample_row(c, &(struct stats_row){ .owner = owner, .label = label });
			place[label] = c->list.count;
		}
		if (r < 0)
			break;
		row = &c->rows[place[label] - 1];
		row->self.count += sums->self[n].count;
		row->self.weight += sums->self[n].weight;
		if (n == 0 || fold->outermost[n]) {
			row->total.count += sums->total[n].count;
			row->total.weight += sums->total[n].weight;
		}
	}
	return r;
}

static int sum_sample_stacks(struct stats_cursor *c)
{
	size_t *place = calloc((size_t)c->view.fold.label_count + 1, sizeof(*place)), begin = 0, end;
	struct stack_sums sums;
	int r = stack_sums_init(&sums, &c->view.fold);

	if (!place)
		r = -ENOMEM;
	for (; r >= 0 && begin < c->weights.count; begin = end) {
		end = stack_weights_end(&c->weights, begin);
		stack_sums_add(&sums, &c->weights, c->view.nodes, begin, end);
		r = add_owner(c, &sums, c->weights.rows[begin].owner, place, c->list.count);
	}
	stack_sums_release(&sums);
	free(place);
	return r;
}

static int sample_stats_filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc, sqlite3_value **argv)
{
	struct stats_cursor *c = (struct stats_cursor *)base;
	struct query *q = ((struct function_vtab *)base->pVtab)->q;
	struct error err = { "" };
	int r;

	clear_sample_stats(c);
	r = parse_samples_by(c, function_argument(given, 1, argc, argv), &err);
	if (r >= 0)
		r = stack_weights_collect(&c->weights, q, function_argument(given, 0, argc, argv), c->owner,
					  function_argument(given, 2, argc, argv), &err);
	if (r >= 0)
		r = stack_view_open(&c->view, q, c->labels, &c->weights);
	if (r >= 0)
		r = sum_sample_stacks(c);
	return r < 0 ? function_fail(base, r, &err) : SQLITE_OK;
}

/* Rows of modules have a function only where it says that there is none. */
static void result_function(sqlite3_context *context, struct query *q, const struct stats_cursor *c, uint32_t label)
{
	struct buf text = BUF_INIT;

	if (c->labels == STACK_MODULES && label && label < c->view.fold.label_count)
		return;
	if (stack_view_text(q, &c->view, label, &text) < 0)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text(context, buf_cstr(&text), (int)text.len, SQLITE_TRANSIENT);
	buf_release(&text);
}

static void result_module(sqlite3_context *context, struct query *q, const struct stats_cursor *c, uint32_t label)
{
	const struct code_function *f = stack_view_function(&c->view, label);

	if (f)
		result_text(context, q, f->path);
	else if (c->labels == STACK_MODULES && label < c->view.fold.label_count)
		result_text(context, q, c->view.tree->module_paths[label]);
}

static void result_owner(sqlite3_context *context, const struct query *q, const struct stats_cursor *c, uint32_t owner, int column)
{
	int64_t uid = c->weights.owners[owner];
	const int64_t *thread;

	if (column == STATS_THREAD && c->owner == OWNER_THREAD)
		sqlite3_result_int64(context, uid);
	else if (column == STATS_PROCESS && c->owner == OWNER_PROCESS)
		sqlite3_result_int64(context, uid);
	else if (column == STATS_PROCESS && c->owner == OWNER_THREAD && (thread = index_find(&q->index.threads, uid)) != NULL)
		sqlite3_result_int64(context, thread[THREAD_PROCESS]);
}

static void result_time(sqlite3_context *context, const struct stats_cursor *c, const struct stack_sum *sum)
{
	int64_t time;

	if (stack_weights_time(&c->weights, sum->count, sum->weight, &time))
		sqlite3_result_int64(context, time);
}

static int sample_stats_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct stats_cursor *c = (struct stats_cursor *)base;
	struct query *q = ((struct function_vtab *)base->pVtab)->q;
	const struct stats_row *row = &c->rows[c->list.at];
	const struct code_function *f = stack_view_function(&c->view, row->label);

	switch (column) {
	case STATS_FUNCTION: result_function(context, q, c, row->label); break;
	case STATS_MODULE: result_module(context, q, c, row->label); break;
	case STATS_KERNEL:
		if (f)
			sqlite3_result_int(context, code_function_is_kernel(f));
		break;
	case STATS_THREAD:
	case STATS_PROCESS: result_owner(context, q, c, row->owner, column); break;
	case STATS_SELF_COUNT: sqlite3_result_int64(context, (sqlite3_int64)row->self.count); break;
	case STATS_SELF: sqlite3_result_int64(context, (sqlite3_int64)row->self.weight); break;
	case STATS_SELF_TIME: result_time(context, c, &row->self); break;
	case STATS_TOTAL_COUNT: sqlite3_result_int64(context, (sqlite3_int64)row->total.count); break;
	case STATS_TOTAL: sqlite3_result_int64(context, (sqlite3_int64)row->total.weight); break;
	case STATS_TOTAL_TIME: result_time(context, c, &row->total); break;
	}
	return SQLITE_OK;
}

const sqlite3_module sample_stats_module = LIST_MODULE(sample_stats, sample_stats_best_index);
