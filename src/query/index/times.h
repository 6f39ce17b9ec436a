/* Arithmetic on values of a report is modulo 2^64 (docs/formats/report.md). */
#ifndef SONDE_QUERY_INDEX_TIMES_H
#define SONDE_QUERY_INDEX_TIMES_H

#include <stdint.h>

/* Times of a report may be anything: no overflow that C does not define. */
static inline int64_t time_between(int64_t start, int64_t end)
{
	return (int64_t)((uint64_t)end - (uint64_t)start);
}

static inline int64_t time_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
