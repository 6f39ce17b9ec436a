/* torch_op_stats([by]): torch's table. `by` is name (the default), shapes (input shapes, too) or kernel: then rows are kernels,
 * copies and sets by name and by the operator that started them. With # behind it numbers in names are folded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "query/functions/fold.h"
#include "query/engine/function.h"
#include "query/functions/group.h"
#include "query/torch/ops.h"

/* clang-format off */
enum { COLUMN_NAME, COLUMN_SHAPES, COLUMN_STARTED_BY, COLUMN_ON_DEVICE, COLUMN_ANNOTATION, COLUMN_COUNT,
       COLUMN_FIGURES /* of struct torch_figures, in its order */, COLUMN_FLOPS = COLUMN_FIGURES + 8, COLUMN_BY };
/* clang-format on */
#define DECLARATION \
	"CREATE TABLE x(name TEXT, inputShapes TEXT, op TEXT, onDevice INTEGER, isAnnotation INTEGER, " \
	"count INTEGER, cpuTime INTEGER, selfCpuTime INTEGER, deviceTime INTEGER, selfDeviceTime INTEGER, " \
	"cpuMemory INTEGER, selfCpuMemory INTEGER, deviceMemory INTEGER, selfDeviceMemory INTEGER, flops INTEGER, by HIDDEN)"
#define FIRST_MEMORY 4

enum { KEY_NAME, KEY_SIDE, KEY_SHAPES, KEY_STARTED_BY };
enum { SIDE_DEVICE = 1, SIDE_ANNOTATION = 2 };
enum by { BY_NAME, BY_SHAPES, BY_KERNEL };

struct sum {
	int64_t count;
	int64_t figures[8];
	int64_t flops;
};

#define NAMES 1024

/* What is known of a name; those asked about last. */
struct shown_name {
	int32_t name;
	int32_t shown;
	enum torch_formula formula;
};

_Static_assert(sizeof(struct torch_figures) == 8 * sizeof(int64_t), "figures are added up one by one");

struct cursor {
	struct list_cursor list;
	struct torch_ops *ops;
	enum by by;
	int folds;
	struct shown_name names[NAMES];
	struct group_table groups;
	struct sum *sums;
	size_t sum_cap;
};

static int torch_stats_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int torch_stats_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, COLUMN_BY, 1, 0);
}

static int torch_stats_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct cursor));
}

static void clear_torch_stats(struct cursor *c)
{
	group_table_release(&c->groups);
	free(c->sums);
	c->sums = NULL;
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
		n->shown = c->folds && text ? folded_name(c, text) : name;
	}
	return n;
}

/* False where the event is in no row. */
static int get_event_key(struct cursor *c, const struct torch_event *e, int64_t *key)
{
	if (!torch_is_shown(e))
		return 0;
	if (c->by == BY_KERNEL && (!torch_on_device(e) || e->kind == TORCH_GPU_ANNOTATION))
		return 0;
	key[KEY_NAME] = find_shown_name(c, e->name)->shown;
	key[KEY_SIDE] = (torch_on_device(e) ? SIDE_DEVICE : 0) |
			(e->kind == TORCH_ANNOTATION || e->kind == TORCH_GPU_ANNOTATION ? SIDE_ANNOTATION : 0);
	key[KEY_SHAPES] = c->by != BY_SHAPES ? 0 : e->shapes ? e->shapes : c->ops->no_shapes;
	key[KEY_STARTED_BY] = c->by == BY_KERNEL && e->parent ? find_shown_name(c, c->ops->events[e->parent - 1].name)->shown : 0;
	return 1;
}

static int64_t flops_of(const struct torch_ops *t, const struct torch_event *e, enum torch_formula formula)
{
	size_t len;

	if (formula == TORCH_NO_FORMULA || e->kind != TORCH_OPERATOR)
		return 0;
	return torch_flops(formula, torch_text(t, e->shapes), query_text(t->q, e->inputs, &len));
}

static int gather_torch_sums(struct cursor *c)
{
	int64_t key[REQUEST_MAX_KEYS] = { 0 }, figures[8];
	struct torch_figures f;
	struct sum *sum;
	size_t group;
	int r;

	for (uint32_t i = 0; i < c->ops->count; i++) {
		if (!get_event_key(c, &c->ops->events[i], key))
			continue;
		r = group_table_find(&c->groups, key, 0, &group);
		sum = r < 0 ? NULL : reach_torch_sum(c, group);
		if (!sum)
			return -ENOMEM;
		torch_figures(c->ops, i, &f);
		memcpy(figures, &f, sizeof(f));
		sum->count++;
		sum->flops = torch_sum(sum->flops,
				       flops_of(c->ops, &c->ops->events[i], find_shown_name(c, c->ops->events[i].name)->formula));
		for (unsigned k = 0; k < 8; k++)
			sum->figures[k] = torch_sum(sum->figures[k], figures[k]);
	}
	return 0;
}

static int parse_torch_by(struct cursor *c, const char *by, struct error *err)
{
	static const char *const names[] = { [BY_NAME] = "name", [BY_SHAPES] = "shapes", [BY_KERNEL] = "kernel" };

	size_t len = by ? strcspn(by, "#") : 0;

	c->by = BY_NAME;
	c->folds = by && strcmp(by + len, "#") == 0;
	memset(c->names, 0, sizeof(c->names));
	for (unsigned i = 0; by && i < COUNT_OF(names); i++)
		if (strlen(names[i]) == len && strncmp(by, names[i], len) == 0 && (c->folds || !by[len])) {
			c->by = (enum by)i;
			return 0;
		}
	return by ? error_set(err, EINVAL, "Operators can be grouped by name, shapes or kernel, not by '%s'", by) : 0;
}

static int torch_stats_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct error err = { "" };
	int r;

	clear_torch_stats(c);
	r = parse_torch_by(c, function_argument(plan, 0, argc, argv), &err);
	if (r < 0)
		return function_fail(base, r, &err);
	r = torch_ops_of(((struct function_vtab *)base->pVtab)->q, &c->ops);
	if (r >= 0)
		r = gather_torch_sums(c);
	c->list.count = c->groups.count;
	return function_code(r);
}

static int torch_stats_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	const int64_t *key = c->groups.groups[c->list.at].key;
	int figure = column - COLUMN_FIGURES;

	switch (column) {
	case COLUMN_NAME: torch_result_text(context, c->ops, (int32_t)key[KEY_NAME]); break;
	case COLUMN_SHAPES: torch_result_text(context, c->ops, (int32_t)key[KEY_SHAPES]); break;
	case COLUMN_STARTED_BY: torch_result_text(context, c->ops, (int32_t)key[KEY_STARTED_BY]); break;
	case COLUMN_ON_DEVICE: sqlite3_result_int64(context, key[KEY_SIDE] & SIDE_DEVICE ? 1 : 0); break;
	case COLUMN_ANNOTATION: sqlite3_result_int64(context, key[KEY_SIDE] & SIDE_ANNOTATION ? 1 : 0); break;
	case COLUMN_COUNT: sqlite3_result_int64(context, c->sums[c->list.at].count); break;
	case COLUMN_FLOPS: sqlite3_result_int64(context, c->sums[c->list.at].flops); break;
	case COLUMN_BY: break;
	default:
		if (figure < FIRST_MEMORY || c->ops->memory)
			sqlite3_result_int64(context, c->sums[c->list.at].figures[figure]);
	}
	return SQLITE_OK;
}

const sqlite3_module torch_stats_module = LIST_MODULE(torch_stats, torch_stats_best_index);
