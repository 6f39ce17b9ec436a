/* torch_module_stats: time and memory by the modules that were being called, from the calls of nn.Module in traces with Python's
 * functions. Backward operators count for the module of their forward operator. The row without a module is all the rest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "query/engine/function.h"
#include "query/torch/frames.h"

/* clang-format off */
enum { COLUMN_MODULE, COLUMN_NAME, COLUMN_DEPTH, COLUMN_CALLS, COLUMN_CPU, COLUMN_SELF_CPU, COLUMN_DEVICE, COLUMN_SELF_DEVICE,
       COLUMN_BACKWARD_CPU, COLUMN_BACKWARD_DEVICE, COLUMN_CPU_MEMORY, COLUMN_SELF_CPU_MEMORY, COLUMN_DEVICE_MEMORY,
       COLUMN_SELF_DEVICE_MEMORY };
/* clang-format on */
#define DECLARATION \
	"CREATE TABLE x(module TEXT, name TEXT, depth INTEGER, calls INTEGER, cpuTime INTEGER, selfCpuTime INTEGER, " \
	"deviceTime INTEGER, selfDeviceTime INTEGER, backwardCpuTime INTEGER, backwardDeviceTime INTEGER, " \
	"cpuMemory INTEGER, selfCpuMemory INTEGER, deviceMemory INTEGER, selfDeviceMemory INTEGER)"

/* ns and bytes of what belongs to a module, without or with those within it. */
struct module_figures {
	int64_t device;
	int64_t backward_cpu;
	int64_t backward_device;
	int64_t cpu_memory;
	int64_t device_memory;
};

struct module {
	int32_t path;    /* 0: outside of all */
	uint32_t parent; /* place + 1 */
	uint32_t depth;  /* of the outermost: 0 */
	int64_t calls;
	int64_t cpu; /* from begin to end of its calls */
	int64_t self_cpu;
	struct module_figures self;
	struct module_figures total;
};

struct cursor {
	struct list_cursor list;
	struct torch_ops *ops;
	struct module *modules; /* the first is outside of all; those around others come before them */
	size_t cap;
	struct idmap places; /* by path */
};

static int modules_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int modules_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct cursor));
}

static void clear_modules(struct cursor *c)
{
	free(c->modules);
	idmap_release(&c->places);
	c->modules = NULL;
	c->cap = 0;
	c->list.at = c->list.count = 0;
}

static int modules_close(sqlite3_vtab_cursor *base)
{
	clear_modules((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

/* Paths are made texts: their ids are negative. */
static struct module *find_module(struct cursor *c, int32_t path)
{
	uint64_t place = path ? idmap_get(&c->places, (uint64_t) - (int64_t)path) : 0;

	return place == IDMAP_NONE ? NULL : &c->modules[place];
}

static int add_module(struct cursor *c, int32_t path, const struct module *parent)
{
	uint32_t above = parent && parent->path ? (uint32_t)(parent - c->modules) + 1 : 0;
	uint32_t depth = above ? parent->depth + 1 : 0;

	if (!ARRAY_ROOM(c->modules, c->list.count, c->cap, 1))
		return -ENOMEM;
	if (path && idmap_put(&c->places, (uint64_t) - (int64_t)path, c->list.count) < 0)
		return -ENOMEM;
	c->modules[c->list.count++] = (struct module){ .path = path, .parent = above, .depth = depth };
	return 0;
}

static const struct torch_frame *module_around(const struct torch_frames *f, const struct torch_frame *frame)
{
	uint32_t module = frame->parent ? f->frames[frame->parent - 1].module : 0;

	return module ? &f->frames[module - 1] : NULL;
}

static int count_calls(struct cursor *c)
{
	const struct torch_frames *f = c->ops->frames;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct torch_frame *frame = &f->frames[i], *around;
		struct module *m;
		int64_t time = torch_difference(frame->end, frame->start);

		if (!frame->is_module)
			continue;
		around = module_around(f, frame);
		if (!find_module(c, frame->path))
			TRY(add_module(c, frame->path, around ? find_module(c, around->path) : NULL));
		if (!frame->counts)
			continue;
		m = find_module(c, frame->path);
		m->calls++;
		m->cpu = torch_sum(m->cpu, time);
		m->self_cpu = torch_sum(m->self_cpu, time);
		if (around && around->counts) {
			m = find_module(c, around->path);
			m->self_cpu = torch_difference(m->self_cpu, time);
		}
	}
	return 0;
}

static void add_module_event(struct cursor *c, uint32_t place)
{
	const struct torch_event *e = &c->ops->events[place];
	int is_backward = c->ops->forward[place] != 0;
	struct module_figures *self;
	struct torch_figures f;
	struct module *m = find_module(c, torch_module_of(c->ops, place));

	if (!m || e->kind == TORCH_GPU_ANNOTATION || e->kind == TORCH_SYNC)
		return;
	self = &m->self;
	torch_figures(c->ops, place, &f);
	if (torch_on_device(e)) {
		self->device = torch_sum(self->device, f.device);
		self->backward_device = torch_sum(self->backward_device, is_backward ? f.device : 0);
		return;
	}
	self->backward_cpu = torch_sum(self->backward_cpu, is_backward ? f.self_cpu : 0);
	self->cpu_memory = torch_sum(self->cpu_memory, f.self_cpu_memory);
	self->device_memory = torch_sum(self->device_memory, f.self_device_memory);
}

static void add_figures(struct module_figures *to, const struct module_figures *of)
{
	to->device = torch_sum(to->device, of->device);
	to->backward_cpu = torch_sum(to->backward_cpu, of->backward_cpu);
	to->backward_device = torch_sum(to->backward_device, of->backward_device);
	to->cpu_memory = torch_sum(to->cpu_memory, of->cpu_memory);
	to->device_memory = torch_sum(to->device_memory, of->device_memory);
}

/* The whole report is one with modules, or there is nothing to tell. */
static int gather_modules(struct cursor *c)
{
	TRY(torch_load_frames(c->ops));
	TRY(add_module(c, 0, NULL));
	TRY(count_calls(c));
	if (c->list.count == 1)
		c->list.count = 0;
	for (uint32_t i = 0; c->list.count && i < c->ops->count; i++)
		if (torch_is_shown(&c->ops->events[i]))
			add_module_event(c, i);
	for (size_t i = c->list.count; i-- > 0;) {
		add_figures(&c->modules[i].total, &c->modules[i].self);
		if (c->modules[i].parent)
			add_figures(&c->modules[c->modules[i].parent - 1].total, &c->modules[i].total);
	}
	return 0;
}

static int modules_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	int r;

	clear_modules(c);
	r = torch_ops_of(((struct function_vtab *)base->pVtab)->q, &c->ops);
	if (r >= 0)
		r = gather_modules(c);
	return function_code(r);
}

static void result_text_of(sqlite3_context *context, const struct cursor *c, const struct module *m, int column)
{
	const char *path = m->path ? torch_text(c->ops, m->path) : NULL, *last;

	if (!path)
		return; /* null */
	last = column == COLUMN_NAME ? strrchr(path, '.') : NULL;
	sqlite3_result_text(context, last ? last + 1 : path, -1, SQLITE_STATIC);
}

static int modules_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	const struct module *m = &c->modules[c->list.at];

	if (column >= COLUMN_CPU_MEMORY && !c->ops->memory)
		return SQLITE_OK; /* null */
	switch (column) {
	case COLUMN_MODULE:
	case COLUMN_NAME: result_text_of(context, c, m, column); break;
	case COLUMN_DEPTH: sqlite3_result_int64(context, m->depth); break;
	case COLUMN_CALLS: sqlite3_result_int64(context, m->calls); break;
	case COLUMN_CPU: sqlite3_result_int64(context, m->cpu); break;
	case COLUMN_SELF_CPU: sqlite3_result_int64(context, m->self_cpu); break;
	case COLUMN_DEVICE: sqlite3_result_int64(context, m->total.device); break;
	case COLUMN_SELF_DEVICE: sqlite3_result_int64(context, m->self.device); break;
	case COLUMN_BACKWARD_CPU: sqlite3_result_int64(context, m->total.backward_cpu); break;
	case COLUMN_BACKWARD_DEVICE: sqlite3_result_int64(context, m->total.backward_device); break;
	case COLUMN_CPU_MEMORY: sqlite3_result_int64(context, m->total.cpu_memory); break;
	case COLUMN_SELF_CPU_MEMORY: sqlite3_result_int64(context, m->self.cpu_memory); break;
	case COLUMN_DEVICE_MEMORY: sqlite3_result_int64(context, m->total.device_memory); break;
	default: sqlite3_result_int64(context, m->self.device_memory);
	}
	return SQLITE_OK;
}

const sqlite3_module torch_modules_module = LIST_MODULE(modules, plain_best_index);
