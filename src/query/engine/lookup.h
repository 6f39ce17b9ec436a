/* Rows found again and again: an index over a key column, made when a join asks for it, and the decoded groups
 * that were read last. */
#ifndef SONDE_QUERY_ENGINE_LOOKUP_H
#define SONDE_QUERY_ENGINE_LOOKUP_H

#include "query/engine/scan.h"

/* A row with that value; groups of all sources of the table are numbered through. */
struct lookup_entry {
	int64_t value;
	uint32_t nth;
	uint32_t row;
};

struct column_lookup {
	struct column_lookup *next;
	const struct mapped_table *table;
	unsigned column;
	struct lookup_entry *entries; /* sorted by value, then place */
	size_t count;
};

/* The index of that column, made once per report. -ENOMEM. */
int lookup_of(struct query *q, const struct mapped_table *table, unsigned column, const struct column_lookup **ret);
/* The entries of a value: [*ret_first, *ret_end). */
void lookup_find(const struct column_lookup *l, int64_t value, size_t *ret_first, size_t *ret_end);
void lookups_free(struct column_lookup *first);

/* The group's place. 0 when there is no such group. */
int mapped_group(struct query *q, const struct mapped_table *table, uint64_t nth, unsigned *ret_source, size_t *ret_group);

/* Rows of a time are in groups near each other: as many as a recording has tracks, often. */
#define GROUP_CACHE_SIZE 32u

struct group_cache {
	struct scan *scans[GROUP_CACHE_SIZE];
};

/* The scan that has, or is to have, this group. NULL: no memory. */
struct scan *group_cache_scan(struct group_cache *cache, struct query *q, const struct mapped_table *table, uint64_t nth);
void group_cache_free(struct group_cache *cache);

#endif
