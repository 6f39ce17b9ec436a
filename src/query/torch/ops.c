/* torch_ops: a row for everything torch's table counts, in order of thread and start; the work of devices behind. */
#include "query/torch/ops.h"

#include <errno.h>
#include <stdlib.h>

#include "query/engine/function.h"
#include "query/torch/frames.h"

/* clang-format off */
enum { COLUMN_ID, COLUMN_PARENT, COLUMN_LEVEL, COLUMN_NAME, COLUMN_KIND, COLUMN_SHAPES, COLUMN_PID, COLUMN_TID,
       COLUMN_THREAD, COLUMN_START, COLUMN_END, COLUMN_DURATION, COLUMN_CPU, COLUMN_SELF_CPU, COLUMN_DEVICE,
       COLUMN_SELF_DEVICE, COLUMN_CPU_MEMORY, COLUMN_SELF_CPU_MEMORY, COLUMN_DEVICE_MEMORY,
       COLUMN_SELF_DEVICE_MEMORY, COLUMN_EXTERNAL, COLUMN_SEQUENCE, COLUMN_FORWARD_THREAD, COLUMN_ASYNC,
       COLUMN_STACK, COLUMN_ARGS, COLUMN_FORWARD, COLUMN_MODULE };
/* clang-format on */
#define DECLARATION \
	"CREATE TABLE x(id INTEGER, parent INTEGER, level INTEGER, name TEXT, kind TEXT, inputShapes TEXT, " \
	"pid INTEGER, tid INTEGER, threadUid INTEGER, start INTEGER, end INTEGER, duration INTEGER, " \
	"cpuTime INTEGER, selfCpuTime INTEGER, deviceTime INTEGER, selfDeviceTime INTEGER, " \
	"cpuMemory INTEGER, selfCpuMemory INTEGER, deviceMemory INTEGER, selfDeviceMemory INTEGER, " \
	"externalId INTEGER, sequence INTEGER, forwardThread INTEGER, isAsync INTEGER, stack TEXT, args INTEGER, forward INTEGER, module TEXT)"

struct cursor {
	sqlite3_vtab_cursor base;
	struct torch_ops *ops;
	uint32_t at;
	uint32_t limit;
};

void torch_ops_release(struct torch_ops *t)
{
	if (!t)
		return;
	free(t->events);
	free(t->memory);
	free(t->details);
	free(t->forward);
	torch_frames_release(t->frames);
	keymap_release(&t->texts);
	free(t);
}

static int make_ops(struct query *q, struct torch_ops **ret)
{
	struct torch_loading l = { .ops = calloc(1, sizeof(*l.ops)) };
	int r = l.ops ? 0 : -ENOMEM;

	if (r >= 0) {
		l.ops->q = q;
		l.ops->recorded = (uint8_t)torch_who_recorded(q);
		l.ops->no_shapes = torch_made_text(&l.ops->texts, "[]");
		r = l.ops->no_shapes ? torch_load(&l) : -ENOMEM;
	}
	if (r >= 0 && !l.operator_count)
		l.ops->count = 0;
	if (r >= 0 && l.ops->count)
		r = l.ops->recorded ? torch_own_recorded(l.ops) : torch_load_args(&l);
	if (r >= 0 && l.ops->count)
		r = torch_link(&l);
	free(l.allocations);
	if (r < 0)
		torch_ops_release(l.ops);
	else
		*ret = l.ops;
	return r;
}

int torch_ops_of(struct query *q, struct torch_ops **ret)
{
	int r = 0;

	if (!q->torch)
		r = make_ops(q, &q->torch);
	*ret = q->torch;
	return r;
}

void torch_figures(const struct torch_ops *t, uint32_t place, struct torch_figures *ret)
{
	const struct torch_event *e = &t->events[place];
	const struct torch_memory *m = t->memory && place < t->host_count ? &t->memory[place] : NULL;
	int in_tree = !(e->flags & TORCH_ASYNC);

	*ret = (struct torch_figures){ .device = e->device_total, .self_device = e->device_self };
	if (torch_on_device(e))
		return;
	ret->cpu = torch_difference(e->end, e->start);
	ret->self_cpu = in_tree ? torch_difference(ret->cpu, e->children_time) : 0;
	if (!m)
		return;
	ret->cpu_memory = m->host;
	ret->device_memory = m->device;
	ret->self_cpu_memory = in_tree ? torch_difference(m->host, m->children_host) : 0;
	ret->self_device_memory = in_tree ? torch_difference(m->device, m->children_device) : 0;
}

const char *torch_kind_name(unsigned kind)
{
	/* clang-format off */
	static const char *const kinds[] = {
		[TORCH_OPERATOR] = "op", [TORCH_ANNOTATION] = "annotation", [TORCH_CALL] = "call", [TORCH_OVERHEAD] = "overhead",
		[TORCH_MEMORY] = "memory", [TORCH_KERNEL] = "kernel", [TORCH_COPY] = "memcpy", [TORCH_SET] = "memset",
		[TORCH_SYNC] = "sync", [TORCH_GPU_ANNOTATION] = "gpu_annotation" };
	/* clang-format on */

	return kinds[kind];
}

const char *torch_text(const struct torch_ops *t, int32_t id)
{
	size_t len;

	return id < 0 ? t->texts.keys[-id - 1].bytes : query_text(t->q, id, &len);
}

static int ops_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int ops_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	info->estimatedCost = 1e6;
	info->estimatedRows = 100000;
	/* Parents and children find each other by number. */
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != COLUMN_ID || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    !info->aConstraint[i].usable)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 1;
		info->estimatedRows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		break;
	}
	return SQLITE_OK;
}

static int ops_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = calloc(1, sizeof(*c));

	*ret = c ? &c->base : NULL;
	return c ? SQLITE_OK : SQLITE_NOMEM;
}

static int ops_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static void skip_hidden(struct cursor *c)
{
	while (c->at < c->limit && !torch_is_shown(&c->ops->events[c->at]))
		c->at++;
}

static int ops_next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->at++;
	skip_hidden(c);
	return SQLITE_OK;
}

static int ops_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	sqlite3_int64 id = plan && argc ? sqlite3_value_int64(argv[0]) : 0;
	int r = torch_ops_of(((struct function_vtab *)base->pVtab)->q, &c->ops);

	if (r >= 0)
		r = torch_load_frames(c->ops);
	if (r < 0)
		return function_code(r);
	c->at = 0;
	c->limit = c->ops->count;
	if (plan) {
		c->at = id > 0 && id <= c->limit ? (uint32_t)id - 1 : c->limit;
		c->limit = c->at < c->limit ? c->at + 1 : c->limit;
	}
	skip_hidden(c);
	return SQLITE_OK;
}

static int ops_eof(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	return c->at >= c->limit;
}

static int64_t get_operator_level(const struct torch_ops *t, const struct torch_event *e)
{
	int64_t level = 0;

	for (; e->parent; e = &t->events[e->parent - 1])
		level++;
	return level;
}

void torch_result_text(sqlite3_context *context, const struct torch_ops *t, int32_t id)
{
	const char *text = id ? torch_text(t, id) : NULL;

	if (text)
		sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

static void result_thread(sqlite3_context *context, const struct torch_ops *t, const struct torch_event *e, int column)
{
	const int64_t *thread = index_find(&t->q->index.threads, e->thread);
	const int64_t *process = thread ? index_find(&t->q->index.processes, thread[THREAD_PROCESS]) : NULL;

	if (column == COLUMN_THREAD && e->thread)
		sqlite3_result_int64(context, e->thread);
	else if (column == COLUMN_TID && thread)
		sqlite3_result_int64(context, thread[THREAD_TID]);
	else if (column == COLUMN_PID && process)
		sqlite3_result_int64(context, process[PROCESS_PID]);
}

static void result_memory(sqlite3_context *context, const struct cursor *c, int column)
{
	struct torch_figures f;

	if (!c->ops->memory)
		return; /* null */
	torch_figures(c->ops, c->at, &f);
	sqlite3_result_int64(context, column == COLUMN_CPU_MEMORY      ? f.cpu_memory :
				      column == COLUMN_SELF_CPU_MEMORY ? f.self_cpu_memory :
				      column == COLUMN_DEVICE_MEMORY   ? f.device_memory :
									 f.self_device_memory);
}

static void result_detail(sqlite3_context *context, const struct cursor *c, const struct torch_event *e, int column)
{
	const struct torch_detail *detail = &c->ops->details[c->at];

	switch (column) {
	case COLUMN_EXTERNAL:
		if (e->external && e->kind != TORCH_MEMORY)
			sqlite3_result_int64(context, e->external);
		break;
	case COLUMN_SEQUENCE:
		if (detail->sequence >= 0)
			sqlite3_result_int64(context, detail->sequence);
		break;
	case COLUMN_FORWARD_THREAD:
		if (detail->forward_thread)
			sqlite3_result_int64(context, detail->forward_thread);
		break;
	case COLUMN_ASYNC: sqlite3_result_int64(context, e->flags & TORCH_ASYNC ? 1 : 0); break;
	case COLUMN_STACK: result_text(context, c->ops->q, detail->stack); break;
	case COLUMN_ARGS:
		if (e->args && !c->ops->recorded)
			sqlite3_result_int64(context, e->args);
		break;
	case COLUMN_FORWARD:
		if (c->ops->forward[c->at])
			sqlite3_result_int64(context, c->ops->forward[c->at]);
		break;
	case COLUMN_MODULE: torch_result_text(context, c->ops, torch_module_of(c->ops, c->at)); break;
	default: result_memory(context, c, column);
	}
}

static int ops_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	const struct torch_event *e = &c->ops->events[c->at];
	struct torch_figures f;

	torch_figures(c->ops, c->at, &f);
	switch (column) {
	case COLUMN_ID: sqlite3_result_int64(context, (sqlite3_int64)c->at + 1); break;
	case COLUMN_PARENT:
		if (e->parent)
			sqlite3_result_int64(context, e->parent);
		break;
	case COLUMN_LEVEL: sqlite3_result_int64(context, get_operator_level(c->ops, e)); break;
	case COLUMN_NAME: torch_result_text(context, c->ops, e->name); break;
	case COLUMN_KIND: sqlite3_result_text(context, torch_kind_name(e->kind), -1, SQLITE_STATIC); break;
	case COLUMN_SHAPES: torch_result_text(context, c->ops, e->shapes); break;
	case COLUMN_PID:
	case COLUMN_TID:
	case COLUMN_THREAD: result_thread(context, c->ops, e, column); break;
	case COLUMN_START: sqlite3_result_int64(context, e->start); break;
	case COLUMN_END: sqlite3_result_int64(context, e->end); break;
	case COLUMN_DURATION: sqlite3_result_int64(context, torch_difference(e->end, e->start)); break;
	case COLUMN_CPU: sqlite3_result_int64(context, f.cpu); break;
	case COLUMN_SELF_CPU: sqlite3_result_int64(context, f.self_cpu); break;
	case COLUMN_DEVICE: sqlite3_result_int64(context, f.device); break;
	case COLUMN_SELF_DEVICE: sqlite3_result_int64(context, f.self_device); break;
	default: result_detail(context, c, e, column);
	}
	return SQLITE_OK;
}

static int ops_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct cursor *)base)->at + 1;
	return SQLITE_OK;
}

const sqlite3_module torch_ops_module = FUNCTION_MODULE(ops, ops_best_index);
