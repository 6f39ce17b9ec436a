/* The records of all rings in order of time: a merge, in place. */
#ifndef SONDE_RECORD_PERF_ORDER_H
#define SONDE_RECORD_PERF_ORDER_H

#include "record/perf/perf.h"

/* Looks at every ring once. Returns whether one of them is filling up. */
int perf_order_begin(struct perf *p);
/* The oldest record up to `limit`, NULL when there is none; it is used up by perf_order_done(). */
const struct perf_event_header *perf_order_next(struct perf *p, uint64_t limit, struct perf_stamp *ret);
void perf_order_done(struct perf *p, const struct perf_event_header *header);
/* What was used goes back to the kernel. */
void perf_order_end(struct perf *p);

#endif
