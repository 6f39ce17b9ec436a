/* stack_stats(source [, form [, filter]]): the stacks of a recording by their functions. form `folded` (as
 * it is without one): a row per stack that was met, its functions from the root on joined by ';'. form `tree`: a
 * row per caller, those that took most first, each before what it called. source: as for sample_stats(). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "query/engine/function.h"
#include "query/stacks/weights.h"

/* clang-format off */
enum {
	STACKS_NAME, STACKS_DEPTH, STACKS_ID, STACKS_PARENT, STACKS_SELF_COUNT, STACKS_SELF, STACKS_SELF_TIME,
	STACKS_TOTAL_COUNT, STACKS_TOTAL, STACKS_TOTAL_TIME, STACKS_SOURCE, STACKS_FORM, STACKS_FILTER
};
/* clang-format on */

#define STACKS_DECLARATION \
	"CREATE TABLE x(name TEXT, depth INTEGER, id INTEGER, parent INTEGER, self_count INTEGER, " \
	"self INTEGER, self_time INTEGER, total_count INTEGER, total INTEGER, total_time INTEGER, " \
	"source HIDDEN, form HIDDEN, filter HIDDEN)"

struct stacks_cursor {
	struct list_cursor list;
	struct stack_weights weights;
	struct stack_view view;
	struct stack_sums sums;
	int folded;
	uint32_t *nodes; /* to show, in order */
	uint32_t *ranks; /* by label */
};

static int stacks_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, STACKS_DECLARATION, ret);
}

static int stacks_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, STACKS_SOURCE, 3, 1);
}

static int stacks_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct stacks_cursor));
}

static void clear_stacks_cursor(struct stacks_cursor *c)
{
	stack_weights_release(&c->weights);
	stack_sums_release(&c->sums);
	stack_view_release(&c->view);
	free(c->nodes);
	free(c->ranks);
	c->nodes = c->ranks = NULL;
	c->list.count = c->list.at = 0;
}

static int stacks_close(sqlite3_vtab_cursor *base)
{
	clear_stacks_cursor((struct stacks_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int sum_stack_view(struct stacks_cursor *c)
{
	int r = stack_sums_init(&c->sums, &c->view.fold);

	if (r >= 0)
		stack_sums_add(&c->sums, &c->weights, c->view.nodes, 0, c->weights.count);
	return r;
}

/* By their texts from the innermost function outwards, at last by number: below 0 when x comes first. */
static int compare_stack_names(const struct stacks_cursor *c, uint32_t x, uint32_t y)
{
	uint32_t a = x, b = y, rank_a, rank_b;

	for (; a != b; a = c->view.fold.parents[a], b = c->view.fold.parents[b]) {
		if (!a || !b)
			return a ? 1 : -1;
		rank_a = c->ranks[stack_view_label(&c->view, a)];
		rank_b = c->ranks[stack_view_label(&c->view, b)];
		if (rank_a != rank_b)
			return rank_a < rank_b ? -1 : 1;
	}
	return x < y ? -1 : x > y;
}

static int compare_sums(const struct stacks_cursor *c, const struct stack_sum *sums, uint32_t x, uint32_t y)
{
	if (sums[x].weight != sums[y].weight)
		return sums[x].weight > sums[y].weight ? -1 : 1;
	if (sums[x].count != sums[y].count)
		return sums[x].count > sums[y].count ? -1 : 1;
	return compare_stack_names(c, x, y);
}

static int compare_self(const void *a, const void *b, void *context)
{
	const struct stacks_cursor *c = context;

	return compare_sums(c, c->sums.self, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* The least first. */
static int compare_total(const void *a, const void *b, void *context)
{
	const struct stacks_cursor *c = context;

	return compare_sums(c, c->sums.total, *(const uint32_t *)b, *(const uint32_t *)a);
}

static size_t touched_nodes(const struct stack_sums *s, uint32_t *nodes, int with_self)
{
	size_t count = 0;

	for (uint32_t n = stack_sums_next(s, 0); n < s->fold->count; n = stack_sums_next(s, n + 1))
		if (!with_self || s->self[n].count)
			nodes[count++] = n;
	return count;
}

/* Depth first: the nodes from the least to the most are pushed to the front of their caller's list, so
 * that each list begins with the most; then the lists are walked. */
static int order_tree(struct stacks_cursor *c)
{
	const struct stack_fold *fold = &c->view.fold;
	uint32_t *child = calloc(fold->count, sizeof(*child)), *sibling = calloc(fold->count, sizeof(*sibling));
	uint32_t node, nothing = 0;
	int root = c->sums.self[0].count != 0;
	size_t count = 0;

	if (!child || !sibling) {
		free(child);
		free(sibling);
		return -ENOMEM;
	}
	sort_items_with(c->nodes, c->list.count, sizeof(*c->nodes), compare_total, c);
	for (size_t i = 0; i < c->list.count; i++) {
		node = c->nodes[i];
		if (!node)
			continue;
		sibling[node] = child[fold->parents[node]];
		child[fold->parents[node]] = node;
	}
	/* Node 0, what has no stack, stands among the outermost callers. */
	for (node = child[0]; node;) {
		if (root && fold->parents[node] == 0 && compare_total(&node, &nothing, c) < 0)
			c->nodes[count++] = root = 0;
		c->nodes[count++] = node;
		if (child[node]) {
			node = child[node];
			continue;
		}
		while (node && !sibling[node])
			node = fold->parents[node];
		node = sibling[node];
	}
	if (root)
		c->nodes[count++] = 0;
	c->list.count = count;
	free(child);
	free(sibling);
	return 0;
}

static int choose_rows(struct stacks_cursor *c)
{
	c->nodes = calloc((size_t)c->view.fold.count + 1, sizeof(*c->nodes));
	if (!c->nodes)
		return -ENOMEM;
	c->list.count = touched_nodes(&c->sums, c->nodes, 0);
	TRY(stack_view_ranks(((struct function_vtab *)c->list.base.pVtab)->q, &c->view, c->nodes, c->list.count, &c->ranks));
	if (!c->folded)
		return order_tree(c);
	c->list.count = touched_nodes(&c->sums, c->nodes, 1);
	sort_items_with(c->nodes, c->list.count, sizeof(*c->nodes), compare_self, c);
	return 0;
}

/* With # behind it, functions whose names differ in numbers only are one. */
static int parse_form(struct stacks_cursor *c, const char *form, enum stack_labels *ret_by, struct error *err)
{
	size_t len = strcspn(form, "#");

	c->folded = len == 6 && strncmp(form, "folded", len) == 0;
	*ret_by = form[len] ? STACK_SAME_NAME : STACK_FUNCTIONS;
	if ((!c->folded && (len != 4 || strncmp(form, "tree", len) != 0)) || strlen(form + len) > 1)
		return error_set(err, EINVAL, "Unknown form '%s'; use folded or tree", form);
	return 0;
}

static int stacks_filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc, sqlite3_value **argv)
{
	struct stacks_cursor *c = (struct stacks_cursor *)base;
	struct query *q = ((struct function_vtab *)base->pVtab)->q;
	const char *form = function_argument(given, 1, argc, argv);
	enum stack_labels by;
	struct error err = { "" };
	int r;

	clear_stacks_cursor(c);
	r = parse_form(c, form ? form : "folded", &by, &err);
	if (r >= 0)
		r = stack_weights_collect(&c->weights, q, function_argument(given, 0, argc, argv), OWNER_ALL,
					  function_argument(given, 2, argc, argv), &err);
	if (r >= 0)
		r = stack_view_open(&c->view, q, by, &c->weights);
	if (r >= 0)
		r = sum_stack_view(c);
	if (r >= 0)
		r = choose_rows(c);
	return r < 0 ? function_fail(base, r, &err) : SQLITE_OK;
}

/* Functions from the root on; what separates them does not occur in the names shown. */
static int folded_text(struct query *q, const struct stacks_cursor *c, uint32_t node, struct buf *ret)
{
	uint32_t depth = c->view.fold.depths[node], *path = calloc((size_t)depth + 1, sizeof(*path));
	size_t from;
	int r = path ? 0 : -ENOMEM;

	for (uint32_t i = depth + 1; r >= 0 && i-- > 0; node = c->view.fold.parents[node])
		path[i] = node;
	for (uint32_t i = 0; r >= 0 && i <= depth; i++) {
		if (i)
			r = buf_puts(ret, ";");
		from = ret->len;
		if (r >= 0)
			r = stack_view_text(q, &c->view, stack_view_label(&c->view, path[i]), ret);
		for (; r >= 0 && from < ret->len; from++)
			if (ret->data[from] == ';')
				ret->data[from] = ':';
	}
	free(path);
	return r;
}

static void result_name(sqlite3_context *context, struct query *q, const struct stacks_cursor *c, uint32_t node)
{
	struct buf text = BUF_INIT;
	int r = c->folded ? folded_text(q, c, node, &text) : stack_view_text(q, &c->view, stack_view_label(&c->view, node), &text);

	if (r < 0 || text.len > INT_MAX)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text(context, buf_cstr(&text), (int)text.len, SQLITE_TRANSIENT);
	buf_release(&text);
}

static void result_sum(sqlite3_context *context, const struct stacks_cursor *c, const struct stack_sum *sum, int column)
{
	int64_t time;

	if (column == STACKS_SELF_COUNT)
		sqlite3_result_int64(context, (sqlite3_int64)sum->count);
	else if (column == STACKS_SELF)
		sqlite3_result_int64(context, (sqlite3_int64)sum->weight);
	else if (stack_weights_time(&c->weights, sum->count, sum->weight, &time))
		sqlite3_result_int64(context, time);
}

static int stacks_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct stacks_cursor *c = (struct stacks_cursor *)base;
	uint32_t node = c->nodes[c->list.at];

	if (column == STACKS_NAME)
		result_name(context, ((struct function_vtab *)base->pVtab)->q, c, node);
	else if (column == STACKS_DEPTH)
		sqlite3_result_int64(context, c->view.fold.depths[node]);
	else if (column == STACKS_ID)
		sqlite3_result_int64(context, node);
	else if (column == STACKS_PARENT && c->view.fold.parents[node])
		sqlite3_result_int64(context, c->view.fold.parents[node]);
	else if (column >= STACKS_SELF_COUNT && column <= STACKS_SELF_TIME)
		result_sum(context, c, &c->sums.self[node], column);
	else if (column >= STACKS_TOTAL_COUNT && column <= STACKS_TOTAL_TIME)
		result_sum(context, c, &c->sums.total[node], column - STACKS_TOTAL_COUNT + STACKS_SELF_COUNT);
	return SQLITE_OK;
}

const sqlite3_module stack_stats_module = LIST_MODULE(stacks, stacks_best_index);
