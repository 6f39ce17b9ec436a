/* All rows of a track summed up in buckets of one width, as level 0 of detail does for each group of rows: wide views read
 * it instead of thousands of groups, and decode a third of the rows that level 0 leaves to them. Made behind the first picture. */
#ifndef SONDE_VIEW_RECORDING_COARSE_H
#define SONDE_VIEW_RECORDING_COARSE_H

#include <stdatomic.h>

#include "view/report/view_report.h"

struct coarse_bucket {
	uint32_t busy;  /* of the width, in units of 2^(level - COARSE_BITS), rounded */
	uint32_t name;  /* of the longest in its busiest part; 0: none */
	uint32_t first; /* index of the first row that begins here or behind */
};
#define COARSE_BITS 31u

struct coarse {
	unsigned level;
	int64_t base; /* number of the first bucket */
	uint32_t count;
	uint32_t long_count;
	struct coarse_bucket *buckets; /* one more than there are: the last has no row */
	struct coarse_long {           /* rows that are as long as a bucket, in order of time */
		int64_t start, end;
		uint32_t row;
		uint32_t name;
		uint8_t flags;
	} * longs;
};

static inline uint64_t coarse_busy(const struct coarse *c, uint32_t i)
{
	return c->level > COARSE_BITS ? (uint64_t)c->buckets[i].busy << (c->level - COARSE_BITS) :
					c->buckets[i].busy >> (COARSE_BITS - c->level);
}

/* For all tracks that are large and have none yet. -ECANCELED, -ENOMEM. */
int view_report_sum_tracks(struct view_report *r, const _Atomic bool *stop);
void coarse_free(struct coarse *c);

#endif
