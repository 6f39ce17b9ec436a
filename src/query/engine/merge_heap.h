/* What is merged next, on top of the others: lanes of rows by rank, then key, then place in memory. */
#ifndef SONDE_QUERY_ENGINE_MERGE_HEAP_H
#define SONDE_QUERY_ENGINE_MERGE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* The first member of a lane. */
struct merge_place {
	unsigned rank;
	int64_t key;
};

struct merge_heap {
	struct merge_place **items; /* room for all lanes, of one array */
	size_t count;
};

static inline int merge_is_before(const struct merge_place *a, const struct merge_place *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->key != b->key)
		return a->key < b->key;
	return a < b;
}

static inline void merge_heap_sink(struct merge_heap *h, size_t at)
{
	struct merge_place **items = h->items, *moved = items[at];
	size_t child;

	while ((child = 2 * at + 1) < h->count) {
		if (child + 1 < h->count && merge_is_before(items[child + 1], items[child]))
			child++;
		if (!merge_is_before(items[child], moved))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = moved;
}

/* Puts in order what was appended to the items. */
static inline void merge_heap_build(struct merge_heap *h)
{
	for (size_t i = h->count / 2; i-- > 0;)
		merge_heap_sink(h, i);
}

/* Takes the one on top out; the new one has still to sink. */
static inline void merge_heap_drop_top(struct merge_heap *h)
{
	h->items[0] = h->items[--h->count];
}

#endif
