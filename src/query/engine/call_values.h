/* Values of GPU work that come from the call that started it, or from the NVTX range around that. In mapped tables:
 * CONVERT_CALL, with the value in `other`, the correlation in `column`, and for ranges the graph's node in `constant`
 * (CALL_NO_NODE: the work is of none). */
#ifndef SONDE_QUERY_ENGINE_CALL_VALUES_H
#define SONDE_QUERY_ENGINE_CALL_VALUES_H

#include "query/engine/scan.h"

#define CALL_NO_NODE (-1)

enum call_value {
	CALL_START,
	CALL_END,
	CALL_DURATION,
	CALL_NAME, /* as nsys's reports print it */
	CALL_TID,  /* globalTid */
	CALL_TID_NUMBER,
	CALL_THREAD_NAME,
	CALL_QUEUE_START, /* null unless the work began after the call had ended */
	CALL_QUEUE_DURATION,
	CALL_TOTAL_DURATION, /* from the begin of the call to the end of the later of both */
	/* Of the innermost range around the call, else around the capture of the graph's node. */
	CALL_NVTX_NAME,
	CALL_NVTX_DOMAIN,
	CALL_NVTX_RANGE,   /* rangeId of nvtx_projection; of the call alone */
	CALL_CAPTURE_RANGE /* the same of the capture */
};

/* Makes the vector of the cell for the scan's group. */
int call_vector(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v);

/* Tables that have such values, and mapped_imported: known to table functions and by name, but not listed. */
extern const struct mapped_table *const call_tables[];
extern const unsigned call_table_count;

#endif
