/* Which call started which work on a GPU: by correlation id, within a process. Only calls that did start some are kept, in
 * the order of their correlations, and of them only what is asked for. Loaded when first asked for, once per open report;
 * a report is untrusted, so whatever points nowhere is simply not found. */
#ifndef SONDE_QUERY_INDEX_CUDA_CALLS_H
#define SONDE_QUERY_INDEX_CUDA_CALLS_H

#include "query/internal.h"

#define CUDA_NO_CALL UINT32_MAX

/* What is known of calls; bits of what cuda_calls_of() is asked for. */
enum call_part { CALL_PART_STARTS = 1, CALL_PART_ENDS = 2, CALL_PART_NAMES = 4 };
enum { CALL_COLUMN_START, CALL_COLUMN_END, CALL_COLUMN_NAME, CALL_COLUMNS };

/* Correlations of one process that GPU work has. They are handed out one after the other, so that a bit for each number
 * serves; where they are scattered, a sorted list does. */
struct cuda_process {
	int64_t uid;
	uint32_t least;
	uint32_t largest;
	uint32_t first;   /* its first call */
	uint64_t *bits;   /* by correlation - least */
	uint32_t *ranks;  /* by word of bits: those set before it */
	uint32_t *sorted; /* where bits is NULL */
	size_t work;      /* rows of GPU work; for the list: how many are different */
};

/* Numbers that are near each other take half: blocks have a number that theirs are told from. */
#define CALL_BLOCK_SHIFT 10
struct call_column {
	int32_t *narrow;
	_Atomic int64_t *bases; /* by block; 0 = not known yet */
	int64_t *wide;          /* instead of both, where some are too far apart */
};

/* By call: a number from 0, in the order of processes and correlations. */
struct cuda_calls {
	uint32_t count;
	_Atomic uint32_t *rows; /* in CUDA_API; CUDA_NO_CALL: the call of that work was not recorded */
	struct call_column columns[CALL_COLUMNS];
	unsigned parts;                 /* that are loaded */
	size_t group_count;             /* of CUDA_API */
	uint32_t *group_first;          /* row; group_count + 1 of them */
	const int64_t **group_tracks;   /* rows of the index; NULL where there is none */
	struct cuda_process *processes; /* by uid */
	size_t process_count;
};

int cuda_calls_of(struct query *q, unsigned parts, struct cuda_calls **ret);
void cuda_calls_release(struct cuda_calls *calls);

/* NULL where the process has no work. */
const struct cuda_process *cuda_calls_process(const struct cuda_calls *calls, int64_t uid);
/* The call that has the correlation, CUDA_NO_CALL when there is none. */
uint32_t cuda_call_find(const struct cuda_calls *calls, const struct cuda_process *process, int64_t correlation);
/* The track of a call; `hint` remembers where the last one was. NULL where it is not known. */
const int64_t *cuda_call_track(const struct cuda_calls *calls, uint32_t call, size_t *hint);

/* For what is kept by call elsewhere: the calls of the rows of a group of CUDA_API, CUDA_NO_CALL for those that are
 * none's. -EBADMSG, -ENOMEM. */
int cuda_group_calls(struct query *q, const struct cuda_calls *calls, size_t group, uint32_t *ret);

static inline int64_t cuda_call_value(const struct call_column *column, uint32_t call)
{
	if (column->wide)
		return column->wide[call];
	return (int64_t)((uint64_t)column->bases[call >> CALL_BLOCK_SHIFT] + (uint64_t)column->narrow[call]);
}

static inline int64_t cuda_call_start(const struct cuda_calls *calls, uint32_t call)
{
	return cuda_call_value(&calls->columns[CALL_COLUMN_START], call);
}

static inline int64_t cuda_call_end(const struct cuda_calls *calls, uint32_t call)
{
	return cuda_call_value(&calls->columns[CALL_COLUMN_END], call);
}

/* A string id; 0 = none. */
static inline int64_t cuda_call_name(const struct cuda_calls *calls, uint32_t call)
{
	return cuda_call_value(&calls->columns[CALL_COLUMN_NAME], call);
}

#endif
