/* torch_gpu_tree(by [, start, end]): GPU time as a tree, from the outside in. `by` is operator: the operators and annotations around the
 * call that started the work; or module: the modules that were being called and the operator, those of backward operators below
 * "backward". Work counts as far as it lies between `start` and `end`. Parents come before their children. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "query/engine/function.h"
#include "query/torch/frames.h"

enum { COLUMN_ID, COLUMN_PARENT, COLUMN_NAME, COLUMN_TIME, COLUMN_BY, COLUMN_START, COLUMN_END };
#define DECLARATION "CREATE TABLE x(id INTEGER, parent INTEGER, name TEXT, time INTEGER, by HIDDEN, start HIDDEN, end HIDDEN)"

struct gpu_node {
	uint32_t parent; /* place + 1 */
	int32_t name;
	int64_t time; /* of itself */
};

struct cursor {
	struct list_cursor list;
	struct torch_ops *ops;
	struct gpu_node *nodes;
	size_t cap;
	struct idmap children; /* by parent and name: place + 1 */
	uint32_t *of_event;    /* of those on CPUs: place + 1; 0: started no work */
	uint32_t *of_frame;    /* the same of calls of modules */
	int64_t start, end;
	int by_module;
};

static int gpu_tree_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int gpu_tree_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, COLUMN_BY, 3, 1);
}

static int gpu_tree_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct cursor));
}

static void clear_gpu_tree(struct cursor *c)
{
	free(c->nodes);
	free(c->of_event);
	free(c->of_frame);
	idmap_release(&c->children);
	c->nodes = NULL;
	c->of_event = c->of_frame = NULL;
	c->cap = 0;
	c->list.at = c->list.count = 0;
}

static int gpu_tree_close(sqlite3_vtab_cursor *base)
{
	clear_gpu_tree((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

/* Place + 1; 0: no memory. */
static uint32_t reach_node(struct cursor *c, uint32_t parent, int32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | (uint32_t)name, found = idmap_get(&c->children, key);

	if (found != IDMAP_NONE)
		return (uint32_t)found;
	if (!ARRAY_ROOM(c->nodes, c->list.count, c->cap, 1) || idmap_put(&c->children, key, c->list.count + 1) < 0)
		return 0;
	c->nodes[c->list.count++] = (struct gpu_node){ .parent = parent, .name = name };
	return (uint32_t)c->list.count;
}

static uint32_t reach_text(struct cursor *c, uint32_t parent, const char *text)
{
	int32_t name = torch_made_text(&c->ops->texts, text);

	return name ? reach_node(c, parent, name) : 0;
}

static int64_t time_within(const struct cursor *c, const struct torch_event *e)
{
	int64_t start = e->start > c->start ? e->start : c->start, end = e->end < c->end ? e->end : c->end;

	return end > start ? torch_difference(end, start) : 0;
}

static int has_gpu_time(const struct cursor *c, uint32_t place)
{
	const struct torch_event *e = &c->ops->events[place];

	return torch_is_shown(e) && e->kind != TORCH_GPU_ANNOTATION && e->kind != TORCH_SYNC && time_within(c, e) > 0;
}

/* Operators that started work, and those around them; each stands before those within it. */
static int reach_operators(struct cursor *c)
{
	const struct torch_event *events = c->ops->events;

	for (uint32_t i = c->ops->host_count; i < c->ops->count; i++)
		for (uint32_t at = has_gpu_time(c, i) ? events[i].parent : 0; at && !c->of_event[at - 1]; at = events[at - 1].parent)
			c->of_event[at - 1] = 1;
	for (uint32_t i = 0; i < c->ops->host_count; i++) {
		if (!c->of_event[i])
			continue;
		c->of_event[i] = reach_node(c, events[i].parent ? c->of_event[events[i].parent - 1] : 0, events[i].name);
		if (!c->of_event[i])
			return -ENOMEM;
	}
	return 0;
}

/* Frames of modules stand before those within them. */
static int reach_modules(struct cursor *c)
{
	const struct torch_frames *f = c->ops->frames;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct torch_frame *frame = &f->frames[i];
		uint32_t around = frame->parent ? f->frames[frame->parent - 1].module : 0;
		const char *path = frame->is_module ? torch_text(c->ops, frame->path) : NULL, *last;

		if (!path)
			continue;
		last = around ? path + strlen(torch_text(c->ops, f->frames[around - 1].path)) + 1 : path;
		c->of_frame[i] = reach_text(c, around ? c->of_frame[around - 1] : 0, last);
		if (!c->of_frame[i])
			return -ENOMEM;
	}
	return 0;
}

/* Modules, "backward" where it is, the operator that started the work. */
static uint32_t reach_module_of(struct cursor *c, uint32_t place)
{
	const struct torch_event *e = &c->ops->events[place];
	uint32_t frame = torch_frame_of(c->ops, place), node;

	frame = frame ? c->ops->frames->frames[frame - 1].module : 0;
	node = frame ? c->of_frame[frame - 1] : reach_text(c, 0, "[outside of modules]");
	if (node && c->ops->forward[place])
		node = reach_text(c, node, "backward");
	if (!node || !e->parent)
		return node;
	return reach_node(c, node, c->ops->events[e->parent - 1].name);
}

static int add_work(struct cursor *c, uint32_t place)
{
	const struct torch_event *e = &c->ops->events[place];
	uint32_t node;

	if (!has_gpu_time(c, place))
		return 0;
	if (c->by_module)
		node = reach_module_of(c, place);
	else
		node = e->parent ? c->of_event[e->parent - 1] : reach_text(c, 0, "[no operator]");
	node = node ? reach_node(c, node, e->name) : 0;
	if (!node)
		return -ENOMEM;
	c->nodes[node - 1].time = torch_sum(c->nodes[node - 1].time, time_within(c, e));
	return 0;
}

static int make_gpu_tree(struct cursor *c)
{
	TRY(torch_load_frames(c->ops));
	c->of_event = calloc((size_t)c->ops->host_count + 1, sizeof(*c->of_event));
	c->of_frame = calloc((size_t)c->ops->frames->count + 1, sizeof(*c->of_frame));
	if (!c->of_event || !c->of_frame)
		return -ENOMEM;
	TRY(c->by_module ? reach_modules(c) : reach_operators(c));
	for (uint32_t i = c->ops->host_count; i < c->ops->count; i++)
		TRY(add_work(c, i));
	return 0;
}

static int64_t time_argument(int plan, int number, sqlite3_value **argv, int64_t otherwise)
{
	int at = (plan & 1) + (number > 1 ? plan >> 1 & 1 : 0);

	if (!(plan >> number & 1) || sqlite3_value_type(argv[at]) == SQLITE_NULL)
		return otherwise;
	return sqlite3_value_int64(argv[at]);
}

static int gpu_tree_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	const char *by = function_argument(plan, 0, argc, argv);
	struct error err = { "" };
	int r;

	clear_gpu_tree(c);
	c->by_module = by && strcmp(by, "module") == 0;
	if (!by || (!c->by_module && strcmp(by, "operator") != 0))
		return function_fail(base, error_set(&err, EINVAL, "The tree is by operator or by module, not by '%s'", by ? by : ""),
				     &err);
	c->start = time_argument(plan, 1, argv, INT64_MIN);
	c->end = time_argument(plan, 2, argv, INT64_MAX);
	r = torch_ops_of(((struct function_vtab *)base->pVtab)->q, &c->ops);
	if (r >= 0)
		r = make_gpu_tree(c);
	return function_code(r);
}

static int gpu_tree_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	const struct gpu_node *node = &c->nodes[c->list.at];

	if (column == COLUMN_ID)
		sqlite3_result_int64(context, (sqlite3_int64)c->list.at + 1);
	else if (column == COLUMN_PARENT && node->parent)
		sqlite3_result_int64(context, node->parent);
	else if (column == COLUMN_NAME)
		torch_result_text(context, c->ops, node->name);
	else if (column == COLUMN_TIME)
		sqlite3_result_int64(context, node->time);
	return SQLITE_OK;
}

const sqlite3_module torch_gpu_tree_module = LIST_MODULE(gpu_tree, gpu_tree_best_index);
