/* torch_op_stats([by [, sort]]): torch's table, in the order in which its rows first appear. `by` is a comma list of name (the default),
 * shapes (input shapes, too), stack=N (the innermost functions of Python), module, or kernel: then rows are kernels, copies and sets by
 * name and by the operator that started them. With # behind it numbers in names are folded. `sort` is a key of torch's sort_by: the
 * column sortKey has its value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "query/functions/fold.h"
#include "query/engine/function.h"
#include "query/functions/group.h"
#include "query/torch/asked.h"
#include "query/torch/flops.h"
#include "query/torch/frames.h"

/* clang-format off */
enum { COLUMN_NAME, COLUMN_SHAPES, COLUMN_STARTED_BY, COLUMN_ON_DEVICE, COLUMN_ANNOTATION, COLUMN_COUNT,
       COLUMN_FIGURES /* of struct torch_figures, in its order */, COLUMN_FLOPS = COLUMN_FIGURES + 8, COLUMN_STACK, COLUMN_MODULE,
       COLUMN_KIND, COLUMN_NESTED, COLUMN_ASYNC, COLUMN_FIRST, COLUMN_OWN_FLOPS, COLUMN_FLOP_RATE, COLUMN_SORT_KEY, COLUMN_BY, COLUMN_SORT };
/* clang-format on */
#define DECLARATION \
	"CREATE TABLE x(name TEXT, inputShapes TEXT, op TEXT, onDevice INTEGER, isAnnotation INTEGER, " \
	"count INTEGER, cpuTime INTEGER, selfCpuTime INTEGER, deviceTime INTEGER, selfDeviceTime INTEGER, " \
	"cpuMemory INTEGER, selfCpuMemory INTEGER, deviceMemory INTEGER, selfDeviceMemory INTEGER, flops INTEGER, " \
	"stack TEXT, module TEXT, kind TEXT, isNested INTEGER, isAsync INTEGER, first INTEGER, " \
	"ownFlops INTEGER, flopRate REAL, sortKey NUMERIC, by HIDDEN, sort HIDDEN)"
#define FIRST_MEMORY 4

enum { KEY_NAME, KEY_SIDE, KEY_SHAPES, KEY_STARTED_BY, KEY_STACK, KEY_MODULE };
enum { SIDE_DEVICE = 1, SIDE_ANNOTATION = 2 };

struct sum {
	int64_t count;
	int64_t figures[8];
	int64_t flops;     /* by torch's formulas */
	int64_t own_flops; /* by ours, where torch has none */
	int64_t counted;   /* ns of devices in which all of both were done */
	uint32_t first;    /* place of the event that began first: whether it is nested and such is told of the row */
};

#define NAMES 1024

/* What is known of a name; those asked about last. */
struct shown_name {
	int32_t name;
	int32_t shown;
	enum torch_formula formula;
	const struct torch_own_formula *own;
};

_Static_assert(sizeof(struct torch_figures) == 8 * sizeof(int64_t), "figures are added up one by one");

struct cursor {
	struct list_cursor list;
	struct torch_ops *ops;
	struct torch_by by;
	enum torch_sort sort;
	int32_t *stacks; /* by frame: its made text, once it was asked for */
	struct shown_name names[NAMES];
	struct group_table groups;
	struct sum *sums;
	size_t sum_cap;
	uint32_t *order; /* of groups: by first event */
};

static int torch_stats_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int torch_stats_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, COLUMN_BY, 2, 0);
}

static int torch_stats_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct cursor));
}

static void clear_torch_stats(struct cursor *c)
{
	group_table_release(&c->groups);
	free(c->sums);
	free(c->order);
	free(c->stacks);
	c->sums = NULL;
	c->order = NULL;
	c->stacks = NULL;
	c->sum_cap = 0;
	c->list.at = 0;
}

static int torch_stats_close(sqlite3_vtab_cursor *base)
{
	clear_torch_stats((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

static struct sum *reach_torch_sum(struct cursor *c, size_t group)
{
	return ARRAY_REACH(c->sums, c->sum_cap, group) ? &c->sums[group] : NULL;
}

/* The name with its numbers folded; 0 without memory. */
static int32_t folded_name(struct cursor *c, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *folded = malloc(len + 1);
	int32_t id = 0;

	if (folded) {
		folded[fold_text(text ? text : "", len, folded)] = '\0';
		id = torch_made_text(&c->ops->texts, folded);
	}
	free(folded);
	return id;
}

static const struct shown_name *find_shown_name(struct cursor *c, int32_t name)
{
	struct shown_name *n = &c->names[(uint32_t)name % NAMES];
	const char *text;

	if (n->name != name || !n->shown) {
		text = name ? torch_text(c->ops, name) : NULL;
		n->name = name;
		n->formula = torch_formula_of(text);
		n->own = torch_own_formula_of(text);
		n->shown = c->by.folds && text ? folded_name(c, text) : name;
	}
	return n;
}

/* Most events of a frame are asked about one after the other. */
static int find_python_stack(struct cursor *c, uint32_t event, int64_t *ret)
{
	uint32_t frame = torch_frame_of(c->ops, event);
	int32_t text = 0;
	int r;

	if (frame && c->stacks[frame]) {
		*ret = c->stacks[frame];
		return 0;
	}
	r = torch_stack_text(c->ops, event, c->by.stack, &text);
	/* What the trace itself tells of an event is not that of its frame. */
	if (frame && !c->ops->has_text_stacks)
		c->stacks[frame] = text;
	*ret = text;
	return r;
}

/* False where the event is in no row. */
static int is_event_counted(const struct cursor *c, const struct torch_event *e)
{
	return torch_is_shown(e) && (!c->by.kernel || (torch_on_device(e) && e->kind != TORCH_GPU_ANNOTATION));
}

static int get_event_key(struct cursor *c, uint32_t place, int64_t *key)
{
	const struct torch_event *e = &c->ops->events[place];

	key[KEY_NAME] = find_shown_name(c, e->name)->shown;
	key[KEY_SIDE] = (torch_on_device(e) ? SIDE_DEVICE : 0) |
			(e->kind == TORCH_ANNOTATION || e->kind == TORCH_GPU_ANNOTATION ? SIDE_ANNOTATION : 0);
	key[KEY_SHAPES] = !c->by.shapes ? 0 : e->shapes ? e->shapes : c->ops->no_shapes;
	key[KEY_STARTED_BY] = c->by.kernel && e->parent ? find_shown_name(c, c->ops->events[e->parent - 1].name)->shown : 0;
	key[KEY_MODULE] = c->by.module ? torch_module_of(c->ops, place) : 0;
	return c->by.stack ? find_python_stack(c, place, &key[KEY_STACK]) : 0;
}

static void add_flops(struct cursor *c, const struct torch_event *e, int64_t device_time, struct sum *sum)
{
	const struct shown_name *name = find_shown_name(c, e->name);
	const char *shapes, *inputs;
	int64_t flops = 0, own = 0;
	size_t len;

	if (e->kind != TORCH_OPERATOR || (name->formula == TORCH_NO_FORMULA && !name->own))
		return;
	shapes = torch_text(c->ops, e->shapes);
	inputs = query_text(c->ops->q, e->inputs, &len);
	if (name->formula != TORCH_NO_FORMULA)
		flops = torch_flops(name->formula, shapes, inputs);
	if (!flops)
		own = torch_own_flops(name->own, shapes, inputs);
	sum->flops = torch_sum(sum->flops, flops);
	sum->own_flops = torch_sum(sum->own_flops, own);
	sum->counted = torch_sum(sum->counted, flops || own ? device_time : 0);
}

/* torch has events in order of their start, the longest of several first. */
static int is_earlier(const struct torch_ops *t, uint32_t a, uint32_t b)
{
	const struct torch_event *x = &t->events[a], *y = &t->events[b];

	if (x->start != y->start)
		return x->start < y->start;
	return x->end != y->end ? x->end > y->end : a < b;
}

static void add_stats_event(struct cursor *c, uint32_t place, struct sum *sum)
{
	const struct torch_event *e = &c->ops->events[place];
	struct torch_figures f;
	int64_t figures[8];

	torch_figures(c->ops, place, &f);
	memcpy(figures, &f, sizeof(f));
	if (!sum->count || is_earlier(c->ops, place, sum->first))
		sum->first = place;
	sum->count++;
	add_flops(c, e, f.device, sum);
	for (unsigned k = 0; k < 8; k++)
		sum->figures[k] = torch_sum(sum->figures[k], figures[k]);
}

static int gather_torch_sums(struct cursor *c)
{
	int64_t key[REQUEST_MAX_KEYS] = { 0 };
	struct sum *sum;
	size_t group;
	int r;

	for (uint32_t i = 0; i < c->ops->count; i++) {
		if (!is_event_counted(c, &c->ops->events[i]))
			continue;
		r = get_event_key(c, i, key);
		if (r >= 0)
			r = group_table_find(&c->groups, key, 0, &group);
		sum = r < 0 ? NULL : reach_torch_sum(c, group);
		if (!sum)
			return -ENOMEM;
		add_stats_event(c, i, sum);
	}
	return 0;
}

static int compare_torch_groups(const void *a, const void *b, void *context)
{
	const struct cursor *c = context;
	uint32_t x = c->sums[*(const uint32_t *)a].first, y = c->sums[*(const uint32_t *)b].first;

	return x == y ? 0 : is_earlier(c->ops, x, y) ? -1 : 1;
}

static int order_groups(struct cursor *c)
{
	c->order = malloc((c->groups.count + 1) * sizeof(*c->order));
	if (!c->order)
		return -ENOMEM;
	for (size_t i = 0; i < c->groups.count; i++)
		c->order[i] = (uint32_t)i;
	sort_items_with(c->order, c->groups.count, sizeof(*c->order), compare_torch_groups, c);
	return 0;
}

/* Python's functions are read only where rows are told apart by them. */
static int load_surroundings(struct cursor *c)
{
	if (!c->by.stack && !c->by.module)
		return 0;
	TRY(torch_load_frames(c->ops));
	c->stacks = calloc((size_t)c->ops->frames->count + 1, sizeof(*c->stacks));
	return c->stacks ? 0 : -ENOMEM;
}

static int make_rows(struct cursor *c)
{
	TRY(load_surroundings(c));
	TRY(gather_torch_sums(c));
	TRY(order_groups(c));
	c->list.count = c->groups.count;
	return 0;
}

static int torch_stats_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct error err = { "" };
	int r;

	clear_torch_stats(c);
	c->list.count = 0;
	memset(c->names, 0, sizeof(c->names));
	r = torch_by_parse(&c->by, function_argument(plan, 0, argc, argv), &err);
	if (r >= 0)
		r = torch_sort_parse(&c->sort, function_argument(plan, 1, argc, argv), &err);
	if (r < 0)
		return function_fail(base, r, &err);
	r = torch_ops_of(((struct function_vtab *)base->pVtab)->q, &c->ops);
	if (r >= 0)
		r = make_rows(c);
	return function_code(r);
}

static void result_sort_key(sqlite3_context *context, const struct cursor *c, const struct sum *sum)
{
	switch (c->sort) {
	case TORCH_UNSORTED: break;
	case TORCH_BY_CPU_AVERAGE: sqlite3_result_double(context, (double)sum->figures[0] / (double)sum->count); break;
	case TORCH_BY_DEVICE_AVERAGE: sqlite3_result_double(context, (double)sum->figures[2] / (double)sum->count); break;
	case TORCH_BY_COUNT: sqlite3_result_int64(context, sum->count); break;
	case TORCH_BY_FLOPS: sqlite3_result_int64(context, sum->flops); break;
	default: sqlite3_result_int64(context, sum->figures[c->sort - TORCH_BY_FIGURE]);
	}
}

/* Operations a second. */
static void result_rate(sqlite3_context *context, const struct sum *sum)
{
	if (sum->counted > 0)
		sqlite3_result_double(context, ((double)sum->flops + (double)sum->own_flops) / (double)sum->counted * 1e9);
}

/* What is said of a row by its first event. */
static void result_first(sqlite3_context *context, const struct cursor *c, const struct torch_event *e, int column)
{
	if (column == COLUMN_KIND)
		sqlite3_result_text(context, torch_kind_name(e->kind), -1, SQLITE_STATIC);
	else if (column == COLUMN_NESTED)
		sqlite3_result_int64(context, e->parent && !torch_on_device(e));
	else if (column == COLUMN_ASYNC)
		sqlite3_result_int64(context, e->flags & TORCH_ASYNC ? 1 : 0);
	else
		sqlite3_result_int64(context, (sqlite3_int64)c->list.at + 1);
}

static int torch_stats_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	uint32_t group = c->order[c->list.at];
	const int64_t *key = c->groups.groups[group].key;
	const struct sum *sum = &c->sums[group];
	int figure = column - COLUMN_FIGURES;

	switch (column) {
	case COLUMN_NAME: torch_result_text(context, c->ops, (int32_t)key[KEY_NAME]); break;
	case COLUMN_SHAPES: torch_result_text(context, c->ops, (int32_t)key[KEY_SHAPES]); break;
	case COLUMN_STARTED_BY: torch_result_text(context, c->ops, (int32_t)key[KEY_STARTED_BY]); break;
	case COLUMN_ON_DEVICE: sqlite3_result_int64(context, key[KEY_SIDE] & SIDE_DEVICE ? 1 : 0); break;
	case COLUMN_ANNOTATION: sqlite3_result_int64(context, key[KEY_SIDE] & SIDE_ANNOTATION ? 1 : 0); break;
	case COLUMN_COUNT: sqlite3_result_int64(context, sum->count); break;
	case COLUMN_FLOPS: sqlite3_result_int64(context, sum->flops); break;
	case COLUMN_STACK: torch_result_text(context, c->ops, (int32_t)key[KEY_STACK]); break;
	case COLUMN_MODULE: torch_result_text(context, c->ops, (int32_t)key[KEY_MODULE]); break;
	case COLUMN_KIND:
	case COLUMN_NESTED:
	case COLUMN_ASYNC:
	case COLUMN_FIRST: result_first(context, c, &c->ops->events[sum->first], column); break;
	case COLUMN_OWN_FLOPS: sqlite3_result_int64(context, sum->own_flops); break;
	case COLUMN_FLOP_RATE: result_rate(context, sum); break;
	case COLUMN_SORT_KEY: result_sort_key(context, c, sum); break;
	case COLUMN_BY:
	case COLUMN_SORT: break;
	default:
		if (figure < FIRST_MEMORY || c->ops->memory)
			sqlite3_result_int64(context, sum->figures[figure]);
	}
	return SQLITE_OK;
}

const sqlite3_module torch_stats_module = LIST_MODULE(torch_stats, torch_stats_best_index);
