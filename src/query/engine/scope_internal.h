/* Shared by the files that make and use scopes. */
#ifndef SONDE_QUERY_ENGINE_SCOPE_INTERNAL_H
#define SONDE_QUERY_ENGINE_SCOPE_INTERNAL_H

#include "query/internal.h"
#include "query/engine/scope.h"

/* A range that was chosen. */
struct scope_range {
	int64_t start;
	int64_t end;
	int64_t process;
	int64_t thread;  /* 0: it counts for all threads of its process */
	int64_t name;    /* string id */
	uint32_t family; /* steps: what it is one of */
	uint64_t number;
};

struct scope_ranges {
	struct scope_range *ranges;
	size_t count;
	size_t cap;
};

/* The ranges that a text chooses, in order of start. -EINVAL, -ENOENT with a sentence. */
int scope_find_ranges(struct query *q, const char *filter, struct scope_ranges *ret, struct error *err);
/* The same for steps, and a line about them. */
int scope_find_steps(struct query *q, const char *numbers, struct scope_ranges *ret, char *note, size_t note_size, struct error *err);

/* For whom a span of time counts. */
enum span_owner {
	OWNER_OF_THREAD,  /* thread uid: what that thread does */
	OWNER_OF_ALL_IN,  /* process uid: what any of its threads does */
	OWNER_OF_PROCESS, /* process uid: what no thread of it does; every chosen range of the process */
	OWNER_OF_NOBODY   /* 0: what no process does; every chosen range */
};

/* Sorted by owner, start. */
struct scope_span {
	int64_t start;
	int64_t end;
	int64_t reach; /* the latest end up to here */
	int64_t uid;
	enum span_owner owner;
};

struct scope {
	int64_t from; /* the span of time */
	int64_t to;
	int by_ranges;
	struct scope_span *spans;
	size_t count;
	uint8_t *calls; /* by row of cuda_calls: it lies in a chosen range; NULL until asked for */
	char note[512];
};

#endif
