#include "kernel/results/launch_origins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "kernel/results/report_rows.h"

#define MOST_FRAMES 1024

static int add_launch_range(struct report *report, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	int is_pushed = v[COLUMN_KERNEL_METRIC_KIND] == KERNEL_METRIC_PUSHED;

	if (!LIST_ROOM(k->ranges, k->range_count))
		return -ENOMEM;
	k->ranges[k->range_count++] = (struct kernel_range){ .domain = row_text(report, v, present, COLUMN_KERNEL_METRIC_NAME),
							     .name = row_text(report, v, present, COLUMN_KERNEL_METRIC_TEXT),
							     .level = is_pushed ? v[COLUMN_KERNEL_METRIC_INSTANCE] : -1 };
	if (is_pushed && HAS(present, COLUMN_KERNEL_METRIC_INTEGER))
		k->thread = v[COLUMN_KERNEL_METRIC_INTEGER];
	return 0;
}

static int add_python(struct report *report, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	if (!LIST_ROOM(k->python, k->python_count))
		return -ENOMEM;
	k->python[k->python_count++] = (struct kernel_python){ .function = row_text(report, v, present, COLUMN_KERNEL_METRIC_NAME),
							       .file = row_text(report, v, present, COLUMN_KERNEL_METRIC_TEXT),
							       .line = HAS(present, COLUMN_KERNEL_METRIC_INTEGER) ?
									       v[COLUMN_KERNEL_METRIC_INTEGER] :
									       0,
							       .number = v[COLUMN_KERNEL_METRIC_INSTANCE] };
	return 0;
}

int result_take_place(struct report *report, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	switch (v[COLUMN_KERNEL_METRIC_KIND]) {
	case KERNEL_METRIC_PUSHED:
	case KERNEL_METRIC_STARTED: return HAS(present, COLUMN_KERNEL_METRIC_INSTANCE) ? add_launch_range(report, k, v, present) : 0;
	case KERNEL_METRIC_STACK: k->stack = HAS(present, COLUMN_KERNEL_METRIC_INTEGER) ? v[COLUMN_KERNEL_METRIC_INTEGER] : 0; return 0;
	case KERNEL_METRIC_BETWEEN: k->between = HAS(present, COLUMN_KERNEL_METRIC_INTEGER) ? v[COLUMN_KERNEL_METRIC_INTEGER] : 0; return 0;
	case KERNEL_METRIC_RANGE: k->range = HAS(present, COLUMN_KERNEL_METRIC_INTEGER) ? v[COLUMN_KERNEL_METRIC_INTEGER] : 0; return 0;
	case KERNEL_METRIC_PYTHON:
		return HAS(present, COLUMN_KERNEL_METRIC_INSTANCE) && k->python_count < MOST_FRAMES ? add_python(report, k, v, present) : 0;
	default: return 0;
	}
}

/* Until levels are known, they are the numbers in which ranges were told of. Started ones come last. */
static int by_domain(const void *a, const void *b)
{
	const struct kernel_range *x = a, *y = b;
	int order = (x->level < 0) - (y->level < 0);

	if (!order)
		order = strcmp(x->domain, y->domain);
	return order ? order : (x->level > y->level) - (x->level < y->level);
}

static void sort_ranges(struct kernel_result *k)
{
	struct kernel_range *r = k->ranges;

	if (k->range_count)
		qsort(r, k->range_count, sizeof(*r), by_domain);
	for (size_t i = 0; i < k->range_count; i++)
		if (r[i].level >= 0)
			r[i].level = i && strcmp(r[i].domain, r[i - 1].domain) == 0 ? r[i - 1].level + 1 : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct kernel_python *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Rows by their ids, which are numbers from 1. */
struct stacks {
	struct report *report;
	uint64_t stack_count, frame_count, symbol_count, module_count;
	struct {
		int64_t parent, frame;
	} * stacks;
	struct {
		int64_t module, symbol;
	} * frames;
	const char **symbols;
	const char **modules;
};

static int take_launch_stack(void *context, const int64_t *v, uint32_t present)
{
	struct stacks *s = context;
	uint64_t id = (uint64_t)v[COLUMN_STACK_ID];

	if (id > s->stack_count)
		return 0;
	s->stacks[id].parent = HAS(present, COLUMN_STACK_PARENT) ? v[COLUMN_STACK_PARENT] : 0;
	s->stacks[id].frame = HAS(present, COLUMN_STACK_FRAME) ? v[COLUMN_STACK_FRAME] : 0;
	return 0;
}

static int take_launch_frame(void *context, const int64_t *v, uint32_t present)
{
	struct stacks *s = context;

	if ((uint64_t)v[COLUMN_FRAME_ID] <= s->frame_count && HAS(present, COLUMN_FRAME_MODULE))
		s->frames[v[COLUMN_FRAME_ID]].module = v[COLUMN_FRAME_MODULE];
	return 0;
}

static int take_frame_symbol(void *context, const int64_t *v, uint32_t present)
{
	struct stacks *s = context;

	if ((uint64_t)v[COLUMN_FRAME_SYMBOL_FRAME] <= s->frame_count)
		s->frames[v[COLUMN_FRAME_SYMBOL_FRAME]].symbol = HAS(present, COLUMN_FRAME_SYMBOL_SYMBOL) ? v[COLUMN_FRAME_SYMBOL_SYMBOL] :
													    0;
	return 0;
}

static int take_symbol(void *context, const int64_t *v, uint32_t present)
{
	struct stacks *s = context;

	if ((uint64_t)v[COLUMN_SYMBOL_ID] <= s->symbol_count)
		s->symbols[v[COLUMN_SYMBOL_ID]] = row_text(s->report, v, present, COLUMN_SYMBOL_NAME);
	return 0;
}

static int take_launch_module(void *context, const int64_t *v, uint32_t present)
{
	struct stacks *s = context;

	if ((uint64_t)v[COLUMN_MODULE_UID] <= s->module_count)
		s->modules[v[COLUMN_MODULE_UID]] = row_text(s->report, v, present, COLUMN_MODULE_PATH);
	return 0;
}

static int load_stacks(struct stacks *s)
{
	struct report *report = s->report;

	s->stack_count = report_row_count(report, TABLE_STACK);
	s->frame_count = report_row_count(report, TABLE_FRAME);
	s->symbol_count = report_row_count(report, TABLE_SYMBOL);
	s->module_count = report_row_count(report, TABLE_MODULE);
	s->stacks = calloc(s->stack_count + 1, sizeof(*s->stacks));
	s->frames = calloc(s->frame_count + 1, sizeof(*s->frames));
	s->symbols = calloc(s->symbol_count + 1, sizeof(*s->symbols));
	s->modules = calloc(s->module_count + 1, sizeof(*s->modules));
	if (!s->stacks || !s->frames || !s->symbols || !s->modules)
		return -ENOMEM;
	TRY(report_each_row(report, TABLE_STACK, COLUMN_STACK_FRAME + 1, take_launch_stack, s));
	TRY(report_each_row(report, TABLE_FRAME, COLUMN_FRAME_MODULE + 1, take_launch_frame, s));
	TRY(report_each_row(report, TABLE_FRAME_SYMBOL, COLUMN_FRAME_SYMBOL_SYMBOL + 1, take_frame_symbol, s));
	TRY(report_each_row(report, TABLE_SYMBOL, COLUMN_SYMBOL_NAME + 1, take_symbol, s));
	return report_each_row(report, TABLE_MODULE, COLUMN_MODULE_PATH + 1, take_launch_module, s);
}

static void release_stacks(struct stacks *s)
{
	free(s->stacks);
	free(s->frames);
	free(s->symbols);
	free(s->modules);
}

static const char *get_text_at(const char *const *texts, uint64_t count, int64_t id)
{
	return id > 0 && (uint64_t)id <= count && texts[id] ? texts[id] : "";
}

static int add_frames(const struct stacks *s, struct kernel_result *k)
{
	int64_t id = k->stack, frame;

	while (id > 0 && (uint64_t)id <= s->stack_count && k->frame_count < MOST_FRAMES) {
		if (!LIST_ROOM(k->frames, k->frame_count))
			return -ENOMEM;
		frame = s->stacks[id].frame;
		if (frame > 0 && (uint64_t)frame <= s->frame_count)
			k->frames[k->frame_count++] = (struct kernel_frame){
				get_text_at(s->symbols, s->symbol_count, s->frames[frame].symbol),
				get_text_at(s->modules, s->module_count, s->frames[frame].module)
			};
		/* Parents come first: whatever is written, this ends. */
		id = s->stacks[id].parent < id ? s->stacks[id].parent : 0;
	}
	return 0;
}

int results_finish_places(struct kernel_results *results)
{
	struct stacks s = { .report = results->report };
	int r = 0, any = 0;

	for (size_t i = 0; i < results->count; i++) {
		sort_ranges(&results->items[i]);
		if (results->items[i].python_count)
			qsort(results->items[i].python, results->items[i].python_count, sizeof(struct kernel_python), by_number);
		any |= results->items[i].stack > 0;
	}
	if (any)
		r = load_stacks(&s);
	for (size_t i = 0; i < results->count && any && r >= 0; i++)
		r = add_frames(&s, &results->items[i]);
	release_stacks(&s);
	return r;
}

void result_release_place(struct kernel_result *k)
{
	free(k->ranges);
	free(k->frames);
	free(k->python);
}
