/* Which rows count. A scope is set once, before anything is asked; from then on every table and every table-valued
 * function shows only what lies in it: events that touch a span of time, or that happened within chosen ranges
 * (docs/stats.md, "Filters"). Ranges chosen are NVTX ranges and, in imported traces, slices of a thread. */
#ifndef SONDE_QUERY_ENGINE_SCOPE_H
#define SONDE_QUERY_ENGINE_SCOPE_H

#include "query/query.h"

struct scope_request {
	const char *time;  /* "[start]/[end]"; NULL: any */
	const char *nvtx;  /* "range[@domain][/index]" */
	const char *steps; /* "3-5,8" */
};

/* -EINVAL and a sentence where a text cannot be read; -ENOENT where no range is chosen by it. */
int query_set_scope(struct query *q, const struct scope_request *request, struct error *err);
/* What was taken for steps, for people to read; NULL when there is nothing to say. */
const char *query_scope_note(const struct query *q);

/* A range with a number in its name and a word for steps before that, of the family that covers most of the time. */
struct query_step {
	int64_t start;
	int64_t end;
	int64_t process; /* uids of its place */
	int64_t thread;
	int64_t name; /* string id */
	uint64_t number;
};

/* In order of start; *ret is to be freed. Those that have not ended are left out. */
int query_steps(struct query *q, struct query_step **ret, size_t *ret_count);

/* Below: for the files of this folder. */

struct scope;
struct scan;

void scope_free(struct scope *scope);

/* False when no row of the group can count. */
int scope_may_enter(const struct scan *s);
/* Fills counts[rows] for the scan's group. Negative errno on trouble. */
int scope_mark_rows(struct scan *s, uint8_t *counts);

/* The same for what reads a table of the report by itself: all 1 without a scope. */
int scope_mark_group(struct query *q, enum table_id table, size_t group, uint8_t *counts);

/* Whether something that happened on a track (row of the index) counts. Without a scope everything does. */
int scope_has(const struct query *q, const int64_t *track, int64_t start, int64_t end);

/* States of threads are cut at the edges: the first part of [*start, *end) that counts. 0 when there is none. */
int scope_cut(const struct query *q, const int64_t *track, int64_t *start, int64_t *end);
/* How much of it counts. */
int64_t scope_length(const struct query *q, const int64_t *track, int64_t start, int64_t end);

#endif
