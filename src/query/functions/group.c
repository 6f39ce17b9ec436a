#include "query/functions/group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "query/index/same_text.h"
#include "query/functions/fold.h"
#include "query/index/parallel.h"

#define CACHE_SIZE 1024u

/* Where the last rows of a batch went: names repeat. */
struct group_cache {
	uint64_t batch;
	struct {
		int64_t key;
		uint64_t batch;
		size_t group;
	} entries[CACHE_SIZE];
};

struct worker {
	struct group_table table;
	struct group_cache cache;
	enum vector_kind key_kind[REQUEST_MAX_KEYS];
	enum vector_kind value_kind;
};

struct run {
	struct grouping *g;
	struct worker *workers;
	uint64_t group_count;
	_Atomic uint64_t next;
};

static uint64_t hash_key(const int64_t *key, uint8_t key_null)
{
	uint64_t h = key_null;

	for (unsigned i = 0; i < REQUEST_MAX_KEYS; i++)
		h = hash_mix(h * 31 + (uint64_t)key[i]);
	return h;
}

static int add_key_group(struct group_table *t, const int64_t *key, uint8_t key_null)
{
	if (!ARRAY_ROOM(t->groups, t->count, t->cap, 1) || !hash_index_add(&t->index, hash_key(key, key_null), t->count))
		return -ENOMEM;
	t->groups[t->count] = (struct group){ .key_null = key_null, .is_narrow = t->narrow != 0 };
	memcpy(t->groups[t->count].key, key, sizeof(t->groups[0].key));
	t->count++;
	return 0;
}

int group_table_find(struct group_table *t, const int64_t *key, uint8_t key_null, size_t *ret)
{
	struct hash_probe at = hash_probe(hash_key(key, key_null));

	while (hash_next(&t->index, &at))
		if (t->groups[at.item].key_null == key_null && memcmp(t->groups[at.item].key, key, sizeof(t->groups[0].key)) == 0) {
			*ret = at.item;
			return 0;
		}
	*ret = t->count;
	return add_key_group(t, key, key_null);
}

void group_table_release(struct group_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		group_forget_values(&t->groups[i]);
	free(t->groups);
	hash_index_release(&t->index);
	*t = (struct group_table){ 0 };
}

static int room_for_values(struct group *group, size_t more)
{
	bool room = group->is_narrow ? ARRAY_ROOM(group->narrow, group->count, group->cap, more) :
				       ARRAY_ROOM(group->values, group->count, group->cap, more);

	return room ? 0 : -ENOMEM;
}

/* From here on the group keeps numbers in full. */
static int widen(struct group *group)
{
	int64_t *values = malloc((group->cap + 1) * sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < group->count; i++)
		values[i] = group->narrow[i];
	free(group->narrow);
	group->narrow = NULL;
	group->values = values;
	group->is_narrow = 0;
	return 0;
}

int group_add_value(struct group *group, int64_t value)
{
	int r = room_for_values(group, 1);

	if (r >= 0 && group->is_narrow) {
		if ((uint64_t)value <= UINT32_MAX) {
			group->narrow[group->count++] = (uint32_t)value;
			return 0;
		}
		r = widen(group);
	}
	if (r >= 0)
		group->values[group->count++] = value;
	return r;
}

int group_take_values(struct group *to, struct group *from)
{
	int r = 0;

	if (to->count == 0) {
		group_forget_values(to);
		to->values = from->values;
		to->narrow = from->narrow;
		to->is_narrow = from->is_narrow;
		to->count = from->count;
		to->cap = from->cap;
		from->values = NULL;
		from->narrow = NULL;
		from->count = from->cap = 0;
		return 0;
	}
	if (to->is_narrow != from->is_narrow)
		r = widen(to->is_narrow ? to : from);
	if (r >= 0)
		r = room_for_values(to, from->count);
	if (r < 0)
		return r;
	if (to->is_narrow)
		memcpy(to->narrow + to->count, from->narrow, from->count * sizeof(*from->narrow));
	else
		memcpy(to->values + to->count, from->values, from->count * sizeof(*from->values));
	to->count += from->count;
	group_forget_values(from);
	return 0;
}

void group_forget_values(struct group *group)
{
	free(group->values);
	free(group->narrow);
	group->values = NULL;
	group->narrow = NULL;
	group->cap = 0;
}

void group_quantiles(struct group *group, const double *fractions, size_t fraction_count, struct quantile *ret)
{
	if (group->is_narrow)
		select_quantiles_narrow(group->narrow, group->count, fractions, fraction_count, ret);
	else
		select_quantiles(group->values, group->count, fractions, fraction_count, ret);
}

int64_t group_sortable(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

double group_real(int64_t sortable)
{
	int64_t bits = group_sortable(sortable); /* its own inverse */
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct batch {
	const struct vector *keys[REQUEST_MAX_KEYS];
	unsigned key_count;
	int varying; /* the one key that changes from row to row; -1 none, -2 several */
	const struct vector *value;
};

static int open_batch(struct batch *b, struct scan *s, const struct grouping *g, struct worker *w)
{
	int r = scan_vector(s, g->value_column, &b->value);

	b->key_count = g->request.key_count;
	b->varying = -1;
	for (unsigned i = 0; r >= 0 && i < b->key_count; i++) {
		r = scan_vector(s, g->request.keys[i], &b->keys[i]);
		if (r < 0)
			return r;
		if (b->keys[i]->kind != VECTOR_NULL)
			w->key_kind[i] = b->keys[i]->kind;
		if (!b->keys[i]->constant)
			b->varying = b->varying == -1 ? (int)i : -2;
	}
	if (r >= 0 && b->value->kind != VECTOR_NULL)
		w->value_kind = b->value->kind;
	return r;
}

static int group_of_row(struct worker *w, const struct batch *b, uint32_t row, size_t *ret)
{
	int64_t key[REQUEST_MAX_KEYS] = { 0 };
	uint8_t key_null = 0;

	for (unsigned i = 0; i < b->key_count; i++) {
		if (vector_is_null(b->keys[i], row))
			key_null |= (uint8_t)(1u << i);
		else
			key[i] = vector_value(b->keys[i], row);
	}
	return group_table_find(&w->table, key, key_null, ret);
}

/* The same, remembering where the last rows with this value of the varying key went. */
static int cached_group(struct worker *w, const struct batch *b, uint32_t row, size_t *ret)
{
	const struct vector *v = b->varying >= 0 ? b->keys[b->varying] : NULL;
	int64_t key;
	size_t slot;
	int r;

	if (b->varying == -2 || (v && v->nulls && v->nulls[row]))
		return group_of_row(w, b, row, ret);
	key = v ? v->values[row] : 0;
	slot = (size_t)key & (CACHE_SIZE - 1);
	if (w->cache.entries[slot].batch == w->cache.batch && w->cache.entries[slot].key == key) {
		*ret = w->cache.entries[slot].group;
		return 0;
	}
	r = group_of_row(w, b, row, ret);
	w->cache.entries[slot].batch = w->cache.batch;
	w->cache.entries[slot].key = key;
	w->cache.entries[slot].group = *ret;
	return r;
}

static int fold_batch(struct worker *w, struct scan *s, const struct grouping *g)
{
	struct batch b;
	struct group *group;
	size_t index = 0;
	int check = request_needs_row_check(s);
	int r = open_batch(&b, s, g, w);

	if (r < 0 || b.value->kind == VECTOR_NULL)
		return r;
	w->cache.batch++;
	for (uint32_t row = s->first; row < s->limit; row++) {
		if (vector_is_null(b.value, row) || (check && !(scan_row_visible(s, row) && scan_row_matches(s, row))))
			continue;
		TRY(cached_group(w, &b, row, &index));
		group = &w->table.groups[index];
		TRY(group_add_value(group, b.value->kind == VECTOR_REAL ? group_sortable(vector_value(b.value, row)) :
									  vector_value(b.value, row)));
	}
	return 0;
}

static int work(void *context, unsigned number)
{
	struct run *run = context;
	struct grouping *g = run->g;
	struct scan s;
	uint64_t nth;
	unsigned source;
	size_t group;
	int r = 0;

	scan_init(&s, g->q, g->request.table);
	memcpy(s.conditions, g->request.conditions, sizeof(s.conditions));
	s.condition_count = g->request.condition_count;
	while (r >= 0 && (nth = atomic_fetch_add(&run->next, 1)) < run->group_count) {
		request_group(&g->request, g->q, nth, &source, &group);
		r = scan_enter(&s, source, group);
		if (r > 0)
			r = fold_batch(&run->workers[number], &s, g);
		if (r == -EBADMSG) {
			atomic_fetch_add(&g->q->damaged, 1);
			r = 0;
		}
	}
	scan_release(&s);
	return r;
}

/* Moves a worker's group into the result. */
static int merge_group(struct group_table *to, struct group *from, const struct grouping *g)
{
	size_t index = 0;

	for (unsigned i = 0; i < REQUEST_MAX_KEYS; i++)
		if (g->key_kind[i] == VECTOR_STRING && !(from->key_null >> i & 1)) {
			TRY(g->request.folded >> i & 1 ? fold_id(g->q, &from->key[i]) : first_text_id(g->q, &from->key[i]));
			if (from->key[i] == 0)
				from->key_null |= (uint8_t)(1u << i);
		}
	TRY(group_table_find(to, from->key, from->key_null, &index));
	return group_take_values(&to->groups[index], from);
}

static int merge_workers(struct grouping *g, struct worker *workers, unsigned width)
{
	struct group_table result = { .narrow = g->narrow };
	int r = 0;

	for (unsigned w = 0; w < width; w++) {
		for (unsigned i = 0; i < REQUEST_MAX_KEYS; i++)
			if (workers[w].key_kind[i] != VECTOR_NULL)
				g->key_kind[i] = workers[w].key_kind[i];
		if (workers[w].value_kind != VECTOR_NULL)
			g->value_kind = workers[w].value_kind;
	}
	for (unsigned w = 0; w < width; w++)
		for (size_t i = 0; r >= 0 && i < workers[w].table.count; i++)
			r = merge_group(&result, &workers[w].table.groups[i], g);
	hash_index_release(&result.index);
	g->groups = result.groups;
	g->count = result.count;
	return r;
}

int grouping_run(struct grouping *g, struct error *err)
{
	struct run run = { .g = g, .group_count = request_group_count(&g->request, g->q) };
	unsigned width = parallel_width(run.group_count);
	int r;

	g->groups = NULL;
	g->count = 0;
	run.workers = calloc(width, sizeof(*run.workers));
	if (!run.workers)
		return error_set(err, ENOMEM, "Not enough memory");
	for (unsigned i = 0; i < width; i++)
		run.workers[i].table.narrow = g->narrow;
	r = parallel_run(work, &run, width);
	if (r >= 0)
		r = merge_workers(g, run.workers, width);
	for (unsigned i = 0; i < width; i++)
		group_table_release(&run.workers[i].table);
	free(run.workers);
	if (r < 0) {
		grouping_release(g);
		return error_set(err, -r, "Not enough memory for the values of this table");
	}
	return 0;
}

void grouping_release(struct grouping *g)
{
	for (size_t i = 0; i < g->count; i++)
		group_forget_values(&g->groups[i]);
	free(g->groups);
	g->groups = NULL;
	g->count = 0;
}

static int64_t value_at(const struct group *group, size_t i)
{
	return group->is_narrow ? (int64_t)group->narrow[i] : group->values[i];
}

static void whole_figures(const struct group *group, struct group_figures *ret)
{
	int64_t least = value_at(group, 0), largest = least, value;
	__int128 sum = 0;

	for (size_t i = 0; i < group->count; i++) {
		value = value_at(group, i);
		sum += value;
		least = value < least ? value : least;
		largest = value > largest ? value : largest;
	}
	ret->sum = (long double)sum;
	ret->sum_overflow = sum > INT64_MAX || sum < INT64_MIN;
	ret->whole_sum = ret->sum_overflow ? 0 : (int64_t)sum;
	ret->least = least;
	ret->largest = largest;
}

static void real_figures(const struct group *group, struct group_figures *ret)
{
	int64_t value;

	ret->least = ret->largest = value_at(group, 0);
	for (size_t i = 0; i < group->count; i++) {
		value = value_at(group, i);
		ret->sum += (long double)group_real(value);
		ret->least = value < ret->least ? value : ret->least;
		ret->largest = value > ret->largest ? value : ret->largest;
	}
}

void group_figures(const struct grouping *g, const struct group *group, struct group_figures *ret)
{
	double average, difference, squares = 0;

	memset(ret, 0, sizeof(*ret));
	if (g->value_kind == VECTOR_REAL)
		real_figures(group, ret);
	else
		whole_figures(group, ret);
	ret->average = average = (double)(ret->sum / (long double)group->count);
	for (size_t i = 0; i < group->count; i++) {
		difference = (g->value_kind == VECTOR_REAL ? group_real(value_at(group, i)) : (double)value_at(group, i)) - average;
		squares += difference * difference;
	}
	ret->deviation = group->count > 1 ? sqrt(squares / (double)(group->count - 1)) : 0;
}
