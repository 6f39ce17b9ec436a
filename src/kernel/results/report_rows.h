/* What files that read tables of a report share. */
#ifndef SONDE_KERNEL_RESULTS_REPORT_ROWS_H
#define SONDE_KERNEL_RESULTS_REPORT_ROWS_H

#include <stdint.h>

#include "report/reader.h"

#define HAS(present, column) ((present) >> (column)&1)

/* "" where the cell is empty. */
static inline const char *row_text(struct report *report, const int64_t *values, uint32_t present, unsigned column)
{
	const char *text = HAS(present, column) ? report_text(report, (uint64_t)values[column], NULL) : NULL;

	return text ? text : "";
}

#endif
