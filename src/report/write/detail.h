/* Level 0 of the levels of detail: the rows of a set summed up in buckets of time (docs/formats/report.md). */
#ifndef SONDE_REPORT_WRITE_DETAIL_H
#define SONDE_REPORT_WRITE_DETAIL_H

#include <stdint.h>

#include "fmt/tables.h"

/* Smaller sets have none. */
#define DETAIL_MIN_ROWS 1024u
/* Rows to a bucket, at least, if they were evenly spread; of counters, which take more room in it. */
#define DETAIL_ROWS 128u
#define DETAIL_COUNTER_ROWS 256u
/* Busy times are rounded to this many bits of a bucket's width. */
#define DETAIL_BITS 8u

/* A bucket is 2^level ns: the least for which so many cover the rows. Readers know by it what a set has without reading
 * it. */
static inline unsigned detail_level_for(uint32_t buckets, int64_t time_min, int64_t time_max)
{
	uint64_t length = (uint64_t)time_max - (uint64_t)time_min;
	unsigned level = 0;

	while (level < 63 && length >> level >= buckets)
		level++;
	return level;
}

static inline uint32_t detail_rows(enum table_id table)
{
	return table == TABLE_COUNTER ? DETAIL_COUNTER_ROWS : DETAIL_ROWS;
}

static inline unsigned detail_level(enum table_id table, uint32_t rows, int64_t time_min, int64_t time_max)
{
	return detail_level_for(rows / detail_rows(table), time_min, time_max);
}

/* Where the name of the longest row of a bucket is. */
static inline unsigned detail_name_column(enum table_id table)
{
	return table == TABLE_GPU_KERNEL ? COLUMN_LOD_LAUNCH : COLUMN_LOD_NAME;
}

/* Flags of the longest row of a bucket. */
enum detail_flags { DETAIL_OPEN = 1, DETAIL_ERROR = 2 };

#endif
