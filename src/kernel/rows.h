/* What files that read tables of a report share. */
#ifndef SONDE_KERNEL_ROWS_H
#define SONDE_KERNEL_ROWS_H

#include <stdint.h>
#include <stdlib.h>

#include "report/reader.h"

#define HAS(present, column) ((present) >> (column) & 1)

/* "" where the cell is empty. */
static inline const char *row_text(struct report *report, const int64_t *values, uint32_t present, unsigned column)
{
	const char *text = HAS(present, column) ? report_text(report, (uint64_t)values[column], NULL) : NULL;

	return text ? text : "";
}

/* Room for one more: the capacity is the next power of two. */
static inline void *grown(void *items, size_t count, size_t size)
{
	if (count & (count - 1))
		return items;
	return reallocarray(items, count ? 2 * count : 1, size);
}

#endif
