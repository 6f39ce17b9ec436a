/* NVTX ranges that begin and end on one thread, and which of them a CUDA call was made in. Push/pop and start/end
 * ranges of all domains are looked at together: a range contains whatever begins and ends within it on its thread.
 * Loaded when first asked for. */
#ifndef SONDE_QUERY_INDEX_NVTX_RANGES_H
#define SONDE_QUERY_INDEX_NVTX_RANGES_H

#include "query/index/cuda_calls.h"

enum range_style { RANGE_PUSH_POP = 0, RANGE_START_END = 1 };

/* Places in the array count from 1 here; 0 = none. */
struct nvtx_range {
	int64_t start;
	int64_t end;
	const int64_t *track; /* row of the index */
	uint32_t name;        /* string id, one for all with the same text; 0 = none */
	uint32_t domain;      /* the same of its domain's name; 0 = the default domain */
	uint32_t previous;    /* the last that began before it and had not ended when it began */
	uint32_t container;   /* the last that began before it and contains it */
	uint32_t parent;      /* the same among push/pop ranges: start/end ranges are no levels of a stack */
	uint32_t id;          /* from 1, in order of start over all threads */
	uint32_t level;       /* push/pop ranges around it */
	uint32_t children;    /* it is the parent of */
};

struct range_thread {
	int64_t uid;
	uint32_t first; /* place in the array, less 1 */
	uint32_t count;
};

struct nvtx_ranges {
	struct nvtx_range *ranges; /* by thread, start, outer before inner */
	uint32_t count;
	uint32_t never_ended;         /* left out */
	int crossing;                 /* some begin in another and end behind it: what is around a call depends on its end */
	struct range_thread *threads; /* by uid */
	size_t thread_count;
	uint32_t *of_call;        /* by call: the innermost range that contains it */
	struct index_table nodes; /* NODE_* */
};

/* Nodes of graphs: where they were captured. */
enum { NODE_PROCESS, NODE_NODE, NODE_ORIGINAL, NODE_THREAD, NODE_TIME, NODE_RANGE, NODE_WIDTH };

int nvtx_ranges_of(struct query *q, struct nvtx_ranges **ret);
void nvtx_ranges_release(struct nvtx_ranges *ranges);

/* The innermost range of the thread that contains a time; 0 = none. */
uint32_t nvtx_range_at(const struct nvtx_ranges *r, int64_t thread_uid, int64_t time);
/* The innermost range at the capture of a graph's node; 0 = none. */
uint32_t nvtx_range_of_node(const struct nvtx_ranges *r, int64_t process_uid, int64_t node);

static inline const struct nvtx_range *nvtx_range_get(const struct nvtx_ranges *r, uint32_t place)
{
	return &r->ranges[place - 1];
}

/* From one range around something that ends at `end` to the next one around it: `at` must contain it. Those that
 * ended before are passed over by way of their containers, which end no earlier than they do. */
static inline uint32_t nvtx_range_outer(const struct nvtx_ranges *r, uint32_t at, int64_t end)
{
	at = nvtx_range_get(r, at)->previous;
	while (at && nvtx_range_get(r, at)->end < end)
		at = nvtx_range_get(r, at)->container;
	return at;
}

static inline enum range_style nvtx_range_style(const struct nvtx_range *range)
{
	return range->track[TRACK_KIND] == TRACK_NVTX_STARTEND ? RANGE_START_END : RANGE_PUSH_POP;
}

#endif
