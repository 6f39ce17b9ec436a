#include "query/stacks/weights.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/hash_index.h"
#include "base/macros.h"
#include "base/sort.h"
#include "query/index/parallel.h"
#include "query/engine/scope.h"

/* Rows under construction, found by owner, stack and call. */
struct weight_table {
	struct stack_weight *rows;
	size_t count, cap;
	struct hash_index index;
	uint32_t *latest; /* by stack, from 1: its row that was found last; NULL while tables are merged */
};

struct collecting {
	struct query *q;
	struct request request;
	int stack_column;
	int value_column;
	int value_required; /* rows without a value do not count */
	int call_column;    /* -1: none */
	uint32_t *owner_of_group;
	uint32_t stack_count;
	uint64_t group_count;
	_Atomic uint64_t next;
	struct weight_table workers[PARALLEL_MAX];
};

static int add_weight(struct weight_table *t, const struct stack_weight *more)
{
	uint64_t hash = hash_mix(((uint64_t)more->owner << 32 | more->stack) + hash_mix(more->call));
	struct hash_probe at = hash_probe(hash);
	struct stack_weight *row;

	while (hash_next(&t->index, &at)) {
		row = &t->rows[at.item];
		if (row->stack == more->stack && row->owner == more->owner && row->call == more->call) {
			row->count += more->count;
			row->weight += more->weight;
			if (t->latest)
				t->latest[more->stack] = at.item + 1;
			return 0;
		}
	}
	if (!ARRAY_ROOM(t->rows, t->count, t->cap, 1) || !hash_index_add(&t->index, hash, t->count))
		return -ENOMEM;
	t->rows[t->count++] = *more;
	if (t->latest)
		t->latest[more->stack] = (uint32_t)t->count;
	return 0;
}

/* The same, without hashing where a stack comes from the same owner and call again. */
static int add_event(struct weight_table *t, const struct stack_weight *more)
{
	struct stack_weight *row = t->latest[more->stack] ? &t->rows[t->latest[more->stack] - 1] : NULL;

	if (!row || row->owner != more->owner || row->call != more->call)
		return add_weight(t, more);
	row->count += more->count;
	row->weight += more->weight;
	return 0;
}

static uint32_t known_stack(const struct collecting *c, const struct vector *v, uint32_t row)
{
	uint64_t id = vector_is_null(v, row) ? 0 : (uint64_t)vector_value(v, row);

	return id < c->stack_count ? (uint32_t)id : 0;
}

static uint32_t call_of(const struct vector *v, uint32_t row)
{
	uint64_t id = !v || vector_is_null(v, row) ? 0 : (uint64_t)vector_value(v, row);

	return id <= UINT32_MAX ? (uint32_t)id : 0;
}

static int fold_rows(struct collecting *c, struct scan *s, struct weight_table *t, uint32_t owner)
{
	const struct vector *stack, *value, *call = NULL;
	int check = request_needs_row_check(s);
	int r = scan_vector(s, (unsigned)c->stack_column, &stack);

	if (r >= 0)
		r = scan_vector(s, (unsigned)c->value_column, &value);
	if (r >= 0 && c->call_column >= 0)
		r = scan_vector(s, (unsigned)c->call_column, &call);
	for (uint32_t row = s->first; r >= 0 && row < s->limit; row++) {
		int no_value = vector_is_null(value, row);

		if ((no_value && c->value_required) || (check && !(scan_row_visible(s, row) && scan_row_matches(s, row))))
			continue;
		r = add_event(t, &(struct stack_weight){ owner, known_stack(c, stack, row), call_of(call, row), 1,
							 no_value ? 0 : (uint64_t)vector_value(value, row) });
	}
	return r;
}

static int collect_groups(void *context, unsigned number)
{
	struct collecting *c = context;
	struct weight_table *t = &c->workers[number];
	struct scan s;
	uint64_t nth;
	unsigned source;
	size_t group;
	int r = 0;

	t->latest = calloc(c->stack_count + (size_t)1, sizeof(*t->latest));
	if (!t->latest)
		return -ENOMEM;
	scan_init(&s, c->q, c->request.table);
	memcpy(s.conditions, c->request.conditions, sizeof(s.conditions));
	s.condition_count = c->request.condition_count;
	while (r >= 0 && (nth = atomic_fetch_add(&c->next, 1)) < c->group_count) {
		request_group(&c->request, c->q, nth, &source, &group);
		r = scan_enter(&s, source, group);
		if (r > 0)
			r = fold_rows(c, &s, t, c->owner_of_group[nth]);
		if (r == -EBADMSG) {
			atomic_fetch_add(&c->q->damaged, 1);
			r = 0;
		}
	}
	scan_release(&s);
	free(t->latest);
	t->latest = NULL;
	return r;
}

static int64_t owner_of_track(struct query *q, uint32_t track, enum stack_owner owner)
{
	const int64_t *row = index_find(&q->index.tracks, track);

	if (!row || owner == OWNER_ALL)
		return 0;
	return owner == OWNER_THREAD ? row[TRACK_THREAD] : row[TRACK_PROCESS];
}

/* Numbers for the owners, and which of them each piece belongs to: a group is of one track. */
static int number_owners(struct collecting *c, struct stack_weights *w, enum stack_owner owner)
{
	enum table_id table = c->request.table->sources[0].table;
	int64_t *uids = calloc((size_t)c->group_count + 1, sizeof(*uids)), *found;
	uint32_t count = 0;

	c->owner_of_group = calloc((size_t)c->group_count + 1, sizeof(*c->owner_of_group));
	w->owners = calloc((size_t)c->group_count + 1, sizeof(*w->owners));
	if (!uids || !c->owner_of_group || !w->owners) {
		free(uids);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < c->group_count; i++)
		uids[i] = w->owners[i] = owner_of_track(c->q, report_group(c->q->report, table, i)->track, owner);
	sort_items(w->owners, (size_t)c->group_count, sizeof(*w->owners), compare_int64);
	for (uint64_t i = 0; i < c->group_count; i++)
		if (i == 0 || w->owners[i] != w->owners[count - 1])
			w->owners[count++] = w->owners[i];
	w->owner_count = count;
	for (uint64_t i = 0; i < c->group_count; i++) {
		found = find_item(&uids[i], w->owners, count, sizeof(*w->owners), compare_int64);
		c->owner_of_group[i] = (uint32_t)(found - w->owners);
	}
	free(uids);
	return 0;
}

/* Where a thread left the CPU to wait, until it could run again. */
struct absence {
	uint32_t stack;
	uint32_t call;
	int64_t since;
	int counts;
};

static int end_absence(struct collecting *c, struct absence *a, uint32_t owner, const int64_t *track, int64_t until)
{
	int64_t length = a->counts && until > a->since ? scope_length(c->q, track, a->since, until) : 0;

	if (length == 0)
		return 0;
	return add_weight(&c->workers[0], &(struct stack_weight){ owner, a->stack, a->call, 1, (uint64_t)length });
}

/* The rows of one group; `a` goes on from the group before of the same track. */
static int fold_absences(struct collecting *c, struct scan *s, struct absence *a, uint32_t owner)
{
	static const uint8_t columns[] = { COLUMN_RUN_START, COLUMN_RUN_END, COLUMN_RUN_READY, COLUMN_RUN_AFTER };
	const struct vector *v[4], *stack, *call;
	int r = scan_vector(s, COLUMN_RUN_STACK, &stack);
	int64_t until;

	if (r >= 0)
		r = scan_vector(s, COLUMN_RUN_SYSCALL, &call);
	for (unsigned i = 0; r >= 0 && i < 4; i++)
		r = scan_vector(s, columns[i], &v[i]);
	for (uint32_t row = 0; r >= 0 && row < s->rows; row++) {
		until = vector_is_null(v[2], row) ? vector_value(v[0], row) : vector_value(v[2], row);
		r = end_absence(c, a, owner, s->track, until);
		a->stack = known_stack(c, stack, row);
		a->call = call_of(call, row);
		a->since = vector_value(v[1], row);
		a->counts = !vector_is_null(v[3], row) && vector_value(v[3], row) == RUN_BLOCKED && scan_row_matches(s, row);
	}
	return r;
}

static int compare_groups(const void *a, const void *b, void *report)
{
	const struct report_group *x = report_group(report, TABLE_RUN, *(const size_t *)a);
	const struct report_group *y = report_group(report, TABLE_RUN, *(const size_t *)b);

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_min != y->time_min)
		return x->time_min < y->time_min ? -1 : 1;
	return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

/* Runs of a track in order; what lies between two of them is what is looked for, so that conditions
 * may leave out rows but not groups. */
static int collect_absences(struct collecting *c)
{
	size_t *order = calloc((size_t)c->group_count + 1, sizeof(*order));
	struct absence a = { 0 };
	uint32_t track = 0;
	struct scan s;
	int r = order ? 0 : -ENOMEM;

	scan_init(&s, c->q, c->request.table);
	memcpy(s.conditions, c->request.conditions, sizeof(s.conditions));
	for (size_t i = 0; r >= 0 && i < c->group_count; i++)
		order[i] = i;
	if (r >= 0)
		sort_items_with(order, (size_t)c->group_count, sizeof(*order), compare_groups, c->q->report);
	for (size_t i = 0; r >= 0 && i < c->group_count; i++) {
		if (i == 0 || report_group(c->q->report, TABLE_RUN, order[i])->track != track)
			a.counts = 0;
		track = report_group(c->q->report, TABLE_RUN, order[i])->track;
		s.condition_count = 0;
		r = scan_enter(&s, 0, order[i]);
		s.condition_count = c->request.condition_count;
		if (r > 0)
			r = fold_absences(c, &s, &a, c->owner_of_group[order[i]]);
		if (r == -EBADMSG) {
			atomic_fetch_add(&c->q->damaged, 1);
			a.counts = 0;
			r = 0;
		}
	}
	scan_release(&s);
	free(order);
	return r;
}

static int compare_weights(const void *a, const void *b)
{
	const struct stack_weight *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

void stack_weights_sort(struct stack_weights *w)
{
	sort_items(w->rows, w->count, sizeof(*w->rows), compare_weights);
}

static int merge_weights(struct collecting *c, struct stack_weights *w, unsigned width)
{
	struct weight_table *all = &c->workers[0];

	for (unsigned i = 1; i < width; i++)
		for (size_t k = 0; k < c->workers[i].count; k++)
			TRY(add_weight(all, &c->workers[i].rows[k]));
	w->rows = all->rows;
	w->count = all->count;
	all->rows = NULL;
	stack_weights_sort(w);
	return 0;
}

static const struct {
	const char *name, *table, *stack, *value, *call;
	int value_required;
} sources[] = {
	{ "samples", "COMPOSITE_EVENTS", "stack", "weight", NULL, 0 },
	{ "osrt", "OSRT_API", "stack", "duration", "name", 1 },
	{ "offcpu", "sonde_run", "stack", "end", "syscall", 1 },
};

static int prepare_weights(struct collecting *c, const char *source, const char *filter, struct error *err)
{
	size_t i = 0;

	while (i < COUNT_OF(sources) && strcmp(sources[i].name, source ? source : "") != 0)
		i++;
	if (i == COUNT_OF(sources))
		return error_set(err, EINVAL, "Unknown stacks '%s'; use samples, osrt or offcpu", source ? source : "");
	TRY(request_parse(&c->request, c->q, sources[i].table, "", filter, err));
	c->stack_column = mapped_column_find(c->request.table, sources[i].stack);
	c->value_column = mapped_column_find(c->request.table, sources[i].value);
	c->call_column = sources[i].call ? mapped_column_find(c->request.table, sources[i].call) : -1;
	c->value_required = sources[i].value_required;
	c->group_count = request_group_count(&c->request, c->q);
	return 0;
}

static void find_weight_unit(struct stack_weights *w, struct query *q, const char *source)
{
	const char *unit = report_meta(q->report, "sampling.unit");
	const char *frequency = report_meta(q->report, "sampling.frequency");
	double hz = frequency ? strtod(frequency, NULL) : 0;

	w->unit_ns = strcmp(source, "samples") != 0 || (unit && strcmp(unit, "ns") == 0);
	w->sample_ns = hz > 0 && isfinite(hz) ? 1e9 / hz : 0;
}

int stack_weights_collect(struct stack_weights *ret, struct query *q, const char *source, enum stack_owner owner, const char *filter,
			  struct error *err)
{
	struct collecting c = { .q = q };
	struct stack_tree *tree;
	unsigned width = 1;
	int r = prepare_weights(&c, source, filter, err);

	memset(ret, 0, sizeof(*ret));
	if (r < 0)
		return r;
	r = stack_tree_of(q, &tree);
	if (r >= 0)
		r = number_owners(&c, ret, owner);
	if (r >= 0) {
		c.stack_count = tree->stack_count;
		find_weight_unit(ret, q, source);
		width = parallel_width(c.group_count);
		if (c.request.table->sources[0].table == TABLE_RUN)
			r = collect_absences(&c);
		else
			r = parallel_run(collect_groups, &c, width);
	}
	if (r >= 0)
		r = merge_weights(&c, ret, width);
	for (unsigned i = 0; i < PARALLEL_MAX; i++) {
		free(c.workers[i].rows);
		hash_index_release(&c.workers[i].index);
	}
	free(c.owner_of_group);
	if (r < 0)
		stack_weights_release(ret);
	return r < 0 ? error_set(err, -r, "Not enough memory for the stacks of this report") : 0;
}

void stack_weights_release(struct stack_weights *w)
{
	free(w->rows);
	free(w->owners);
	memset(w, 0, sizeof(*w));
}

size_t stack_weights_end(const struct stack_weights *w, size_t begin)
{
	size_t end = begin;

	while (end < w->count && w->rows[end].owner == w->rows[begin].owner)
		end++;
	return end;
}

int stack_weights_time(const struct stack_weights *w, uint64_t count, uint64_t weight, int64_t *ret)
{
	double ns = w->sample_ns * (double)count;

	*ret = w->unit_ns > 0 ? (int64_t)weight : ns < 9e18 ? (int64_t)llround(ns) : INT64_MAX;
	return w->unit_ns > 0 || w->sample_ns > 0;
}
