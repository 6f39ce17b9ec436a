/* Arguments of torch's events: rows of `arg`, found by the set that an event names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "query/torch/ops.h"

#define CACHE 1024
#define OF_ALLOCATION (UINT32_C(1) << 31)

enum arg_role { ARG_NONE, ARG_EXTERNAL, ARG_SHAPES, ARG_BYTES, ARG_DEVICE_TYPE, ARG_SEQUENCE, ARG_FORWARD_THREAD, ARG_STACK, ARG_INPUTS };
enum { PART_SET, PART_KEY, PART_INTEGER, PART_TEXT, PART_COUNT };

struct arguments {
	struct torch_loading *l;
	uint32_t *of_set; /* place + 1 of an event, or of an allocation with its bit; 0: nobody's */
	uint32_t set_limit;
	struct {
		int64_t id;
		enum arg_role role;
	} roles[CACHE];
	struct {
		int64_t id;
		int32_t shapes;
	} shapes[CACHE]; /* those made last */
};

static enum arg_role role_of(struct arguments *a, int64_t key)
{
	static const struct {
		const char *name;
		enum arg_role role;
	} roles[] = { { "External id", ARG_EXTERNAL },
		      { "external id", ARG_EXTERNAL },
		      { "Input Dims", ARG_SHAPES },
		      { "Input dims", ARG_SHAPES },
		      { "Bytes", ARG_BYTES },
		      { "Device Type", ARG_DEVICE_TYPE },
		      { "Sequence number", ARG_SEQUENCE },
		      { "Fwd thread id", ARG_FORWARD_THREAD },
		      { "Call stack", ARG_STACK },
		      { "Concrete Inputs", ARG_INPUTS } };
	size_t at = (uint64_t)key % CACHE, len;
	const char *text;

	if (a->roles[at].id == key)
		return a->roles[at].role;
	text = query_text(a->l->ops->q, key, &len);
	a->roles[at].id = key;
	a->roles[at].role = ARG_NONE;
	for (unsigned i = 0; text && i < COUNT_OF(roles); i++)
		if (strcmp(text, roles[i].name) == 0)
			a->roles[at].role = roles[i].role;
	return a->roles[at].role;
}

static int shapes_of(struct arguments *a, int64_t text_id, int32_t *ret)
{
	size_t at = (uint64_t)text_id % CACHE, len;
	const char *text;

	if (a->shapes[at].id != text_id || !text_id) {
		text = query_text(a->l->ops->q, text_id, &len);
		a->shapes[at].id = text_id;
		a->shapes[at].shapes = torch_shapes_text(&a->l->ops->texts, text ? text : "[]");
	}
	*ret = a->shapes[at].shapes;
	return *ret ? 0 : -ENOMEM;
}

static void take_detail(struct torch_ops *t, struct torch_detail *d, enum arg_role role, int64_t number, int64_t text)
{
	if (role == ARG_SEQUENCE)
		d->sequence = number;
	else if (role == ARG_FORWARD_THREAD)
		d->forward_thread = torch_narrow_id(number);
	else if (role == ARG_STACK)
		t->has_text_stacks |= (d->stack = torch_narrow_id(text)) != 0;
}

static int take_of_event(struct arguments *a, uint32_t place, enum arg_role role, int64_t number, int64_t text)
{
	struct torch_event *e = &a->l->ops->events[place];

	if (a->l->ops->details)
		take_detail(a->l->ops, &a->l->ops->details[place], role, number, text);
	else if (role == ARG_SHAPES)
		return shapes_of(a, text, &e->shapes);
	else if (role == ARG_EXTERNAL)
		e->external = number;
	else if (role == ARG_INPUTS)
		e->inputs = torch_narrow_id(text);
	return 0;
}

static void take_of_allocation(struct torch_allocation *allocation, enum arg_role role, int64_t number)
{
	if (role == ARG_BYTES)
		allocation->bytes = number;
	else if (role == ARG_DEVICE_TYPE && number >= 0 && number < INT32_MAX)
		allocation->device_type = (int32_t)number;
}

static int take_argument(struct arguments *a, uint32_t who, enum arg_role role, int64_t number, int64_t text)
{
	const char *digits;
	size_t len;

	if (text && role != ARG_SHAPES && role != ARG_STACK && role != ARG_INPUTS) { /* numbers in quotes */
		digits = query_text(a->l->ops->q, text, &len);
		number = digits ? strtoll(digits, NULL, 10) : 0;
	}
	if (!(who & OF_ALLOCATION))
		return take_of_event(a, who - 1, role, number, text);
	take_of_allocation(&a->l->allocations[(who & ~OF_ALLOCATION) - 1], role, number);
	return 0;
}

static int read_rows(struct arguments *a, int64_t *const *parts, uint32_t rows)
{
	enum arg_role role;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < rows; i++) {
		if (parts[PART_SET][i] <= 0 || parts[PART_SET][i] >= a->set_limit || !a->of_set[parts[PART_SET][i]])
			continue;
		role = role_of(a, parts[PART_KEY][i]);
		if (role != ARG_NONE)
			r = take_argument(a, a->of_set[parts[PART_SET][i]], role, parts[PART_INTEGER][i], parts[PART_TEXT][i]);
	}
	return r;
}

static int read_args_group(struct arguments *a, size_t group)
{
	static const uint8_t columns[] = { COLUMN_ARG_SET, COLUMN_ARG_KEY, COLUMN_ARG_INTEGER, COLUMN_ARG_TEXT };
	struct query *q = a->l->ops->q;
	uint32_t rows = report_group(q->report, TABLE_ARG, group)->rows;
	int64_t *values = malloc((size_t)rows * PART_COUNT * sizeof(*values) + 1), *parts[PART_COUNT];
	int r = values ? 0 : -ENOMEM;

	for (unsigned i = 0; r >= 0 && i < PART_COUNT; i++) {
		parts[i] = values + (size_t)i * rows;
		r = report_column(q->report, TABLE_ARG, group, columns[i], parts[i], NULL);
	}
	if (r >= 0)
		r = read_rows(a, parts, rows);
	free(values);
	if (r != -EBADMSG)
		return r;
	atomic_fetch_add(&q->damaged, 1);
	return 0;
}

/* Sets are numbered from 1 without gaps in what the import writes; a report that names others is damaged. */
static int index_sets(struct arguments *a)
{
	const struct torch_ops *t = a->l->ops;
	uint64_t limit = report_row_count(t->q->report, TABLE_ARG) + 1;

	a->set_limit = (uint32_t)(limit < UINT32_MAX ? limit : UINT32_MAX);
	a->of_set = calloc(a->set_limit, sizeof(*a->of_set));
	if (!a->of_set)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->events[i].args && t->events[i].args < a->set_limit)
			a->of_set[t->events[i].args] = i + 1;
	for (uint32_t i = 0; i < a->l->allocation_count; i++)
		if (a->l->allocations[i].args && a->l->allocations[i].args < a->set_limit)
			a->of_set[a->l->allocations[i].args] = (i + 1) | OF_ALLOCATION;
	return 0;
}

int torch_load_args(struct torch_loading *l)
{
	struct arguments *a = calloc(1, sizeof(*a));
	int r = a ? 0 : -ENOMEM;

	if (a) {
		a->l = l;
		r = index_sets(a);
	}
	/* What is recorded has no arguments. */
	for (size_t i = 0; r >= 0 && !l->ops->recorded && i < report_group_count(l->ops->q->report, TABLE_ARG); i++)
		r = read_args_group(a, i);
	if (a)
		free(a->of_set);
	free(a);
	return r;
}

int torch_load_details(struct torch_ops *t)
{
	struct torch_loading l = { .ops = t };
	int r;

	if (t->details)
		return 0;
	t->details = malloc(((size_t)t->count + 1) * sizeof(*t->details));
	if (!t->details)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		t->details[i] = (struct torch_detail){ .sequence = -1 };
	r = t->recorded ? torch_recorded_details(t) : torch_load_args(&l);
	if (r < 0) {
		free(t->details);
		t->details = NULL;
	}
	return r;
}
