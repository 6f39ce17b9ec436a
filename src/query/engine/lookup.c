#include "query/engine/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

int mapped_group(struct query *q, const struct mapped_table *table, uint64_t nth, unsigned *ret_source, size_t *ret_group)
{
	size_t groups;

	for (unsigned i = 0; i < table->source_count; i++) {
		groups = report_group_count(q->report, table->sources[i].table);
		if (nth < groups) {
			*ret_source = i;
			*ret_group = (size_t)nth;
			return 1;
		}
		nth -= groups;
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct lookup_entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int is_sorted(const struct column_lookup *l)
{
	for (size_t i = 1; i < l->count; i++)
		if (compare_entries(&l->entries[i - 1], &l->entries[i]) > 0)
			return 0;
	return 1;
}

static int add_lookup_group(struct column_lookup *l, struct scan *s, uint32_t nth, size_t *cap)
{
	const struct vector *v;

	TRY(scan_vector(s, l->column, &v));
	if (!ARRAY_ROOM(l->entries, l->count, *cap, s->rows))
		return -ENOMEM;
	for (uint32_t row = s->first; row < s->limit; row++)
		if (!vector_is_null(v, row) && scan_row_visible(s, row))
			l->entries[l->count++] = (struct lookup_entry){ vector_value(v, row), nth, row };
	return 0;
}

static int fill_lookup(struct column_lookup *l, struct query *q)
{
	struct scan s;
	unsigned source;
	size_t group, cap = 0;
	int r = 0;

	scan_init(&s, q, l->table);
	for (uint32_t nth = 0; r != -ENOMEM && mapped_group(q, l->table, nth, &source, &group); nth++) {
		r = scan_enter(&s, source, group);
		if (r > 0)
			r = add_lookup_group(l, &s, nth, &cap);
		if (r == -EBADMSG)
			atomic_fetch_add(&q->damaged, 1);
	}
	scan_release(&s);
	if (r != -ENOMEM && l->count && !is_sorted(l))
		qsort(l->entries, l->count, sizeof(*l->entries), compare_entries);
	return r == -ENOMEM ? r : 0;
}

int lookup_of(struct query *q, const struct mapped_table *table, unsigned column, const struct column_lookup **ret)
{
	struct column_lookup *l;

	for (l = q->lookups; l; l = l->next)
		if (l->table == table && l->column == column) {
			*ret = l;
			return 0;
		}
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->table = table;
	l->column = column;
	if (fill_lookup(l, q) < 0) {
		lookups_free(l);
		return -ENOMEM;
	}
	l->next = q->lookups;
	*ret = q->lookups = l;
	return 0;
}

static size_t first_not_below(const struct column_lookup *l, int64_t value, size_t low)
{
	size_t high = l->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->entries[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void lookup_find(const struct column_lookup *l, int64_t value, size_t *ret_first, size_t *ret_end)
{
	*ret_first = first_not_below(l, value, 0);
	*ret_end = value == INT64_MAX ? l->count : first_not_below(l, value + 1, *ret_first);
}

void lookups_free(struct column_lookup *first)
{
	struct column_lookup *next;

	for (; first; first = next) {
		next = first->next;
		free(first->entries);
		free(first);
	}
}

struct scan *group_cache_scan(struct group_cache *cache, struct query *q, const struct mapped_table *table, uint64_t nth)
{
	struct scan **slot = &cache->scans[nth % GROUP_CACHE_SIZE];

	if (!*slot) {
		*slot = malloc(sizeof(**slot));
		if (*slot)
			scan_init(*slot, q, table);
	}
	return *slot;
}

void group_cache_free(struct group_cache *cache)
{
	for (unsigned i = 0; cache && i < GROUP_CACHE_SIZE; i++)
		if (cache->scans[i]) {
			scan_release(cache->scans[i]);
			free(cache->scans[i]);
		}
	free(cache);
}
