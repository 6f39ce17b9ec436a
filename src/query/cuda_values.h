/* Values of GPU work that are found by way of its stream, its launch or its call. In mapped tables: CONVERT_CUDA, with
 * the value in `other`, what it is found by in `column`, and for ranges the graph's node in `constant` (CUDA_NO_NODE: the work
 * is of none). */
#ifndef SONDE_QUERY_CUDA_VALUES_H
#define SONDE_QUERY_CUDA_VALUES_H

#include "query/scan.h"

#define CUDA_NO_NODE (-1)

enum cuda_value {
	/* Of the stream: the row's track. */
	CUDA_DEVICE,
	CUDA_DEVICE_NAME,
	CUDA_CONTEXT,
	CUDA_GREEN_CONTEXT,
	CUDA_STREAM,
	/* Of the launch: column `launch`. */
	CUDA_NAME,
	CUDA_SHORT_NAME,
	CUDA_MANGLED,
	CUDA_GRID,          /* x << 32 | y << 16 | z */
	CUDA_BLOCK,
	CUDA_REGISTERS,
	CUDA_STATIC_SHARED,
	CUDA_DYNAMIC_SHARED,
	/* Of the call: column `correlation`. */
	CUDA_API_START,
	CUDA_API_END,
	CUDA_API_DURATION,
	CUDA_API_NAME,      /* the same for all versions of a function */
	CUDA_API_TID,       /* globalTid */
	CUDA_QUEUE_START,   /* null unless the work began after the call had ended */
	CUDA_QUEUE_DURATION,
	CUDA_TOTAL_DURATION,
	/* Of the innermost range around the call, else around the capture of the graph's node. */
	CUDA_NVTX_NAME,
	CUDA_NVTX_DOMAIN,
	CUDA_NVTX_RANGE,    /* rangeId of nvtx_projection; of the call alone */
	CUDA_CAPTURE_RANGE, /* the same of the capture */
	/* Of a row of CUDA_API itself. */
	CUDA_OWN_NVTX_NAME,
	CUDA_OWN_NVTX_DOMAIN,
	CUDA_OWN_NAME,      /* column `name` */
	CUDA_OWN_THREAD_NAME
};

/* Makes the vector of the cell for the scan's group. */
int cuda_vector(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v);

/* The tables that are made of them: known to table functions and by name, but not listed. */
extern const struct mapped_table *const cuda_tables[];
extern const unsigned cuda_table_count;

#endif
