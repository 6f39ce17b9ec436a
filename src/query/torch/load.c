/* Reading what torch's table is made of: slices of an imported trace, calls of CUDA, work of GPUs, allocations. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "fmt/gpu_enums.h"
#include "fmt/torch_wire.h"
#include "query/engine/scope.h"
#include "query/torch/ops.h"

#define GROUP_COLUMNS 7
#define NAME_CACHE 1024

enum name_class { NAME_PLAIN, NAME_HIDDEN, NAME_STEP, NAME_MEMORY, NAME_OUT_OF_MEMORY, NAME_ASYNC };

struct name {
	int64_t id;
	int32_t first_id;
	uint8_t class;
	uint8_t category; /* enum category, when it is a category */
};

/* What a category in the trace is in torch's table. */
enum category { CATEGORY_NONE, CATEGORY_OPERATOR, CATEGORY_ANNOTATION, CATEGORY_CPU, CATEGORY_GPU_ANNOTATION };

struct shapes_text {
	int64_t id;
	int32_t shapes;
};

struct reading {
	struct torch_ops *ops;
	struct torch_loading *loading;
	struct name names[NAME_CACHE]; /* names repeat: those asked about last */
	struct shapes_text shapes[NAME_CACHE];
	uint32_t rows;
	uint64_t rows_before; /* of the table, in groups before this one */
	unsigned correlation; /* which column that is; 0: there is none */
	const int64_t *track;
	int64_t *columns[GROUP_COLUMNS];
	uint8_t *counts; /* by row: whether it does (query/engine/scope.h); NULL: all do */
};

static enum name_class classify(const char *text)
{
	static const struct {
		const char *name;
		enum name_class class;
	} names[] = { { "[memory]", NAME_MEMORY },
		      { "[OutOfMemory]", NAME_OUT_OF_MEMORY },
		      { "profiler::_record_function_enter", NAME_HIDDEN },
		      { "profiler::_record_function_enter_new", NAME_HIDDEN },
		      { "profiler::_record_function_exit", NAME_HIDDEN },
		      { "aten::is_leaf", NAME_HIDDEN },
		      { "aten::output_nr", NAME_HIDDEN },
		      { "aten::_version", NAME_HIDDEN } };
	/* Collectives and remote calls: torch ends them with their result, and the trace does not say so. */
	static const char *const async[] = { "nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "rpc_async#" };

	for (unsigned i = 0; i < COUNT_OF(names); i++)
		if (strcmp(text, names[i].name) == 0)
			return names[i].class;
	for (unsigned i = 0; i < COUNT_OF(async); i++)
		if (strncmp(text, async[i], strlen(async[i])) == 0)
			return NAME_ASYNC;
	return strncmp(text, "ProfilerStep#", 13) == 0 ? NAME_STEP : NAME_PLAIN;
}

static enum category categorize(const char *text)
{
	static const struct {
		const char *name;
		enum category category;
	} categories[] = { { "cpu_op", CATEGORY_OPERATOR },
			   { "user_annotation", CATEGORY_ANNOTATION },
			   { "gpu_user_annotation", CATEGORY_GPU_ANNOTATION },
			   { "overhead", CATEGORY_CPU },
			   { "xpu_runtime", CATEGORY_CPU },
			   { "xpu_driver", CATEGORY_CPU },
			   { "privateuse1_runtime", CATEGORY_CPU },
			   { "privateuse1_driver", CATEGORY_CPU },
			   { "mtia_runtime", CATEGORY_CPU },
			   { "glow_runtime", CATEGORY_CPU } };

	for (unsigned i = 0; i < COUNT_OF(categories); i++)
		if (strcmp(text, categories[i].name) == 0)
			return categories[i].category;
	return CATEGORY_NONE;
}

/* One number for equal texts. */
static int number_name(struct reading *g, struct name *n, const char *text)
{
	int64_t id = n->id;
	int r = first_text_id(g->ops->q, &id);

	n->first_id = (int32_t)id;
	if (n->class == NAME_STEP)
		n->first_id = torch_made_text(&g->ops->texts, "ProfilerStep*");
	else if (id > INT32_MAX)
		n->first_id = torch_made_text(&g->ops->texts, text);
	return r < 0 || (text && !n->first_id) ? -ENOMEM : 0;
}

static int find_event_name(struct reading *g, int64_t id, const struct name **ret)
{
	struct name *n = &g->names[(uint64_t)id % NAME_CACHE];
	const char *text;
	size_t len;

	*ret = n;
	if (n->id == id && id)
		return 0;
	text = query_text(g->ops->q, id, &len);
	*n = (struct name){ .id = id, .class = (uint8_t)classify(text ? text : ""), .category = (uint8_t)categorize(text ? text : "") };
	return number_name(g, n, text);
}

struct torch_event *torch_add_event(struct torch_ops *t)
{
	if (!ARRAY_ROOM(t->events, t->count, t->cap, 1))
		return NULL;
	t->events[t->count] = (struct torch_event){ 0 };
	return &t->events[t->count++];
}

static uint8_t get_event_flags(const struct reading *g, uint32_t row)
{
	return g->counts && !g->counts[row] ? TORCH_OUTSIDE : 0;
}

static struct torch_event *add_read_event(struct reading *g, enum torch_kind kind, uint32_t row, int32_t name, int64_t args)
{
	struct torch_event *e = torch_add_event(g->ops);

	if (!e)
		return NULL;
	e->kind = (uint8_t)kind;
	e->start = g->columns[0][row];
	e->end = g->columns[1][row] >= e->start ? g->columns[1][row] : e->start;
	e->name = name;
	e->args = torch_narrow_id(args);
	e->flags = get_event_flags(g, row);
	if (!torch_on_device(e) && g->track) {
		e->thread = torch_narrow_id(g->track[TRACK_THREAD]);
		e->depth = (uint16_t)(g->track[TRACK_DEPTH] < UINT16_MAX ? g->track[TRACK_DEPTH] : UINT16_MAX);
	}
	/* Until its operator is known: recorded.c. */
	if (g->ops->recorded && torch_on_device(e)) {
		e->thread = g->track ? torch_narrow_id(g->track[TRACK_PROCESS]) : 0;
		e->external = g->correlation ? g->columns[g->correlation][row] : 0;
	}
	return e;
}

/* A range of emit_nvtx. */
static int take_nvtx(struct reading *g, uint32_t row)
{
	struct torch_nvtx_text parsed;
	struct torch_event *e;
	char text[1024];
	size_t len;
	const char *name = query_text(g->ops->q, g->columns[2][row], &len);
	int32_t first;

	if (!name || !torch_parse_nvtx(name, &parsed))
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)parsed.name_len, name);
	if (classify(text) == NAME_HIDDEN)
		return 0;
	first = torch_made_text(&g->ops->texts, text);
	e = first ? add_read_event(g, TORCH_OPERATOR, row, first, g->columns[2][row]) : NULL;
	if (!e)
		return -ENOMEM;
	g->loading->operator_count++;
	if (!parsed.sizes)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)parsed.sizes_len, parsed.sizes);
	e->shapes = torch_shapes_text(&g->ops->texts, text);
	return e->shapes ? 0 : -ENOMEM;
}

static int take_slice(struct reading *g, uint32_t row)
{
	static const enum torch_kind kinds[] = { [CATEGORY_OPERATOR] = TORCH_OPERATOR,
						 [CATEGORY_ANNOTATION] = TORCH_ANNOTATION,
						 [CATEGORY_CPU] = TORCH_OVERHEAD,
						 [CATEGORY_GPU_ANNOTATION] = TORCH_GPU_ANNOTATION };
	const struct name *name;
	struct torch_event *e;
	enum category category;
	int r = find_event_name(g, g->columns[3][row], &name);

	if (r >= 0 && g->ops->recorded == TORCH_FROM_NVTX && g->track && g->track[TRACK_KIND] == TRACK_NVTX_PUSHPOP)
		return take_nvtx(g, row);
	if (r < 0 || name->category == CATEGORY_NONE)
		return r;
	category = name->category;
	r = find_event_name(g, g->columns[2][row], &name);
	if (r < 0 || name->class == NAME_HIDDEN || name->class == NAME_MEMORY || name->class == NAME_OUT_OF_MEMORY)
		return r;
	e = add_read_event(g, kinds[category], row, name->first_id, g->columns[4][row]);
	if (!e)
		return -ENOMEM;
	g->loading->operator_count += category == CATEGORY_OPERATOR || category == CATEGORY_ANNOTATION;
	if (category == CATEGORY_ANNOTATION && name->class == NAME_ASYNC)
		e->flags |= TORCH_ASYNC;
	if (category == CATEGORY_ANNOTATION && name->class == NAME_STEP && !g->ops->stopper)
		g->ops->stopper = e->thread;
	/* Kineto makes them a nanosecond longer at both ends, so that they enclose their kernels. */
	if (category == CATEGORY_GPU_ANNOTATION && torch_difference(e->end, e->start) >= 2) {
		e->start++;
		e->end--;
	}
	return 0;
}

static int read_shapes(struct reading *g, int64_t text_id, int32_t *ret)
{
	struct shapes_text *cached = &g->shapes[(uint64_t)text_id % NAME_CACHE];
	size_t len;

	if (cached->id != text_id) {
		const char *text = query_text(g->ops->q, text_id, &len);

		*cached = (struct shapes_text){ .id = text_id, .shapes = torch_shapes_text(&g->ops->texts, text ? text : "[]") };
	}
	*ret = cached->shapes;
	return *ret ? 0 : -ENOMEM;
}

/* One that Sonde recorded. Its number in the table stands for the arguments of an imported one. */
static int take_operator(struct reading *g, uint32_t row)
{
	int64_t scope = g->columns[3][row], flags = g->columns[4][row];
	const struct name *name;
	struct torch_event *e;

	TRY(find_event_name(g, g->columns[2][row], &name));
	if (name->class == NAME_HIDDEN)
		return 0;
	e = add_read_event(g, scope == TORCH_SCOPE_USER ? TORCH_ANNOTATION : TORCH_OPERATOR, row, name->first_id,
			   (int64_t)(g->rows_before + row + 1));
	if (!e)
		return -ENOMEM;
	g->loading->operator_count++;
	e->flags |= flags & SLICE_ASYNC ? TORCH_ASYNC : 0;
	return g->columns[5][row] ? read_shapes(g, g->columns[5][row], &e->shapes) : 0;
}

static int take_call(struct reading *g, uint32_t row)
{
	const struct name *name;

	TRY(find_event_name(g, g->columns[2][row], &name));
	return add_read_event(g, TORCH_CALL, row, name->first_id, g->columns[3][row]) ? 0 : -ENOMEM;
}

static int take_kernel(struct reading *g, uint32_t row)
{
	const int64_t *launch = cuda_launch(g->ops->q->index.cuda, g->columns[2][row]);
	const struct name *name;

	TRY(find_event_name(g, launch ? launch[LAUNCH_NAME] : 0, &name));
	return add_read_event(g, TORCH_KERNEL, row, name->first_id, g->columns[3][row]) ? 0 : -ENOMEM;
}

static int add_made(struct reading *g, enum torch_kind kind, uint32_t row, const char *text, int64_t args)
{
	int32_t name = torch_made_text(&g->ops->texts, text);

	return name && add_read_event(g, kind, row, name, args) ? 0 : -ENOMEM;
}

static int take_copy(struct reading *g, uint32_t row)
{
	int64_t kind = g->columns[2][row];
	char text[80];

	/* Kineto does not tell of migrations. */
	snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)", gpu_copy_kind(kind <= GPU_COPY_PTOP ? kind : 0)->kineto,
		 gpu_memory_kind(g->columns[3][row])->kineto, gpu_memory_kind(g->columns[4][row])->kineto);
	return add_made(g, TORCH_COPY, row, text, g->columns[5][row]);
}

static int take_set(struct reading *g, uint32_t row)
{
	char text[80];

	snprintf(text, sizeof(text), "Memset (%s)", gpu_memory_kind(g->columns[2][row])->kineto);
	return add_made(g, TORCH_SET, row, text, g->columns[3][row]);
}

static int take_sync(struct reading *g, uint32_t row)
{
	return add_made(g, TORCH_SYNC, row, gpu_sync_kind(g->columns[2][row])->kineto, g->columns[3][row]);
}

static int add_allocation(struct torch_loading *l, const struct torch_allocation *a)
{
	if (!ARRAY_ROOM(l->allocations, l->allocation_count, l->allocation_cap, 1))
		return -ENOMEM;
	l->allocations[l->allocation_count++] = *a;
	return 0;
}

static int take_instant(struct reading *g, uint32_t row)
{
	struct torch_allocation a = { .time = g->columns[0][row],
				      .args = torch_narrow_id(g->columns[3][row]),
				      .device_type = -1,
				      .thread = g->track ? torch_narrow_id(g->track[TRACK_THREAD]) : 0 };
	const struct name *name;

	TRY(find_event_name(g, g->columns[2][row], &name));
	a.flags = get_event_flags(g, row);
	if (name->class == NAME_MEMORY)
		return add_allocation(g->loading, &a);
	if (name->class == NAME_OUT_OF_MEMORY)
		return add_read_event(g, TORCH_MEMORY, row, name->first_id, 0) ? 0 : -ENOMEM;
	return 0;
}

typedef int (*take_fn)(struct reading *g, uint32_t row);

struct table_plan {
	enum table_id table;
	take_fn take;
	uint8_t columns[GROUP_COLUMNS];
	uint8_t column_count;
	uint8_t correlation; /* which of them that is; 0: there is none */
};

static int mark_rows(struct reading *g, enum table_id table, size_t group, uint32_t rows)
{
	if (!g->ops->q->scope)
		return 0;
	g->counts = calloc((size_t)rows + 1, 1);
	return g->counts ? scope_mark_group(g->ops->q, table, group, g->counts) : -ENOMEM;
}

static int read_event_group(struct reading *g, const struct table_plan *p, size_t group)
{
	const struct report_group *info = report_group(g->ops->q->report, p->table, group);
	int64_t *values = malloc((size_t)info->rows * p->column_count * sizeof(*values) + 1);
	int r = values ? 0 : -ENOMEM;

	g->track = index_find(&g->ops->q->index.tracks, info->track);
	for (unsigned i = 0; r >= 0 && i < p->column_count; i++) {
		g->columns[i] = values + (size_t)i * info->rows;
		r = report_column(g->ops->q->report, p->table, group, p->columns[i], g->columns[i], NULL);
	}
	if (r >= 0)
		r = mark_rows(g, p->table, group, info->rows);
	for (uint32_t row = 0; r >= 0 && row < info->rows; row++)
		r = p->take(g, row);
	free(values);
	free(g->counts);
	g->counts = NULL;
	if (r != -EBADMSG)
		return r;
	atomic_fetch_add(&g->ops->q->damaged, 1);
	return 0;
}

static int read_event_table(struct reading *g, const struct table_plan *p)
{
	const int64_t *track;
	int r = 0;

	g->rows_before = 0;
	g->correlation = p->correlation;
	for (size_t i = 0; r >= 0 && i < report_group_count(g->ops->q->report, p->table); i++) {
		track = index_find(&g->ops->q->index.tracks, report_group(g->ops->q->report, p->table, i)->track);
		if (p->table == TABLE_INSTANT && (!track || track[TRACK_KIND] != TRACK_GENERIC))
			continue;
		r = read_event_group(g, p, i);
		g->rows_before += report_group(g->ops->q->report, p->table, i)->rows;
	}
	return r;
}

int torch_load(struct torch_loading *l)
{
	/* clang-format off */
	static const struct table_plan plans[] = {
		{ TABLE_TORCH_OP, take_operator, { COLUMN_TORCH_OP_START, COLUMN_TORCH_OP_END, COLUMN_TORCH_OP_NAME,
						   COLUMN_TORCH_OP_SCOPE, COLUMN_TORCH_OP_FLAGS, COLUMN_TORCH_OP_SHAPES }, 6, 0 },
		{ TABLE_SLICE, take_slice, { COLUMN_SLICE_START, COLUMN_SLICE_END, COLUMN_SLICE_NAME, COLUMN_SLICE_CLASS,
					     COLUMN_SLICE_ARGS }, 5, 0 },
		{ TABLE_INSTANT, take_instant, { COLUMN_INSTANT_TIME, COLUMN_INSTANT_TIME, COLUMN_INSTANT_NAME,
						 COLUMN_INSTANT_ARGS }, 4, 0 },
		{ TABLE_CUDA_API, take_call, { COLUMN_CUDA_API_START, COLUMN_CUDA_API_END, COLUMN_CUDA_API_NAME,
					       COLUMN_CUDA_API_ARGS }, 4, 0 },
		{ TABLE_GPU_KERNEL, take_kernel, { COLUMN_GPU_KERNEL_START, COLUMN_GPU_KERNEL_END, COLUMN_GPU_KERNEL_LAUNCH,
						   COLUMN_GPU_KERNEL_ARGS, COLUMN_GPU_KERNEL_CORRELATION }, 5, 4 },
		{ TABLE_GPU_COPY, take_copy, { COLUMN_GPU_COPY_START, COLUMN_GPU_COPY_END, COLUMN_GPU_COPY_KIND,
					       COLUMN_GPU_COPY_SOURCE, COLUMN_GPU_COPY_TARGET, COLUMN_GPU_COPY_ARGS,
						   COLUMN_GPU_COPY_CORRELATION }, 7, 6 },
		{ TABLE_GPU_SET, take_set, { COLUMN_GPU_SET_START, COLUMN_GPU_SET_END, COLUMN_GPU_SET_MEMORY,
					     COLUMN_GPU_SET_ARGS, COLUMN_GPU_SET_CORRELATION }, 5, 4 },
		{ TABLE_GPU_SYNC, take_sync, { COLUMN_GPU_SYNC_START, COLUMN_GPU_SYNC_END, COLUMN_GPU_SYNC_KIND,
					       COLUMN_GPU_SYNC_ARGS, COLUMN_GPU_SYNC_CORRELATION }, 5, 4 },
	};
	/* clang-format on */
	struct reading *g = calloc(1, sizeof(*g));
	int r = g ? 0 : -ENOMEM;

	if (g)
		*g = (struct reading){ .ops = l->ops, .loading = l };
	for (unsigned i = 0; r >= 0 && i < COUNT_OF(plans); i++) {
		r = read_event_table(g, &plans[i]);
		if (plans[i].table == TABLE_SLICE && !l->operator_count)
			break;
	}
	free(g);
	return r;
}
