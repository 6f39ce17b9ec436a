/* Which call started which work on a GPU: by correlation id, within a process. Loaded when first asked for, once per
 * open report; a report is untrusted, so whatever points nowhere is simply not found. */
#ifndef SONDE_QUERY_CUDA_CORRELATE_H
#define SONDE_QUERY_CUDA_CORRELATE_H

#include "query/internal.h"

#define CUDA_NO_CALL UINT32_MAX

/* Correlations of one process. They are handed out one after the other, so that an array by number
 * serves; where they are scattered, a sorted list does. */
struct cuda_process {
	int64_t uid;
	uint32_t least;
	uint32_t largest;
	size_t calls;
	uint32_t *dense;     /* by correlation - least: row + 1; 0 = none */
	struct cuda_pair {
		uint32_t correlation;
		uint32_t row;
	} *sorted;           /* where dense is NULL */
	size_t sorted_count;
};

/* The rows of CUDA_API, by their number in the table. */
struct cuda_calls {
	uint32_t count;
	int64_t *starts;
	int64_t *ends;
	uint32_t *names;     /* string ids; 0 = none */
	uint32_t *correlations; /* 0 = none */
	size_t group_count;
	uint32_t *group_first;  /* row; group_count + 1 of them */
	const int64_t **group_tracks; /* rows of the index; NULL where there is none */
	struct cuda_process *processes; /* by uid */
	size_t process_count;
};

int cuda_calls_of(struct query *q, struct cuda_calls **ret);
void cuda_calls_release(struct cuda_calls *calls);

/* NULL where the process made no calls. */
const struct cuda_process *cuda_calls_process(const struct cuda_calls *calls, int64_t uid);
/* The row of the call, CUDA_NO_CALL when there is none. */
uint32_t cuda_call_find(const struct cuda_process *process, int64_t correlation);
/* The track of a call; `hint` remembers where the last one was. NULL where it is not known. */
const int64_t *cuda_call_track(const struct cuda_calls *calls, uint32_t row, size_t *hint);

#endif
