/* qsort() and bsearch() want an array even where it has nothing in it: these do not. */
#ifndef SONDE_BASE_SORT_H
#define SONDE_BASE_SORT_H

#include <stdlib.h>

static inline void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count > 1)
		qsort(items, count, size, compare);
}

static inline void sort_items_with(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *),
				   void *context)
{
	if (count > 1)
		qsort_r(items, count, size, compare, context);
}

/* One of sorted items; NULL: there is none. */
static inline void *find_item(const void *key, const void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	return count ? bsearch(key, items, count, size, compare) : NULL;
}

#endif
