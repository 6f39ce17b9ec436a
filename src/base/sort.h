/* qsort() and bsearch() want an array even where it has nothing in it: these do not. */
#ifndef SONDE_BASE_SORT_H
#define SONDE_BASE_SORT_H

#include <stdint.h>
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

static inline int compare_uint32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static inline int compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* One of sorted items; NULL: there is none. */
static inline void *find_item(const void *key, const void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	return count ? bsearch(key, items, count, size, compare) : NULL;
}

#endif
