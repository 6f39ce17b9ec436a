/* What a table-valued function is asked: a table, key columns, a filter. */
#ifndef SONDE_QUERY_FUNCTIONS_REQUEST_H
#define SONDE_QUERY_FUNCTIONS_REQUEST_H

#include "query/engine/scan.h"

#define REQUEST_MAX_KEYS 6

struct request {
	const struct mapped_table *table;
	unsigned key_count;
	uint8_t keys[REQUEST_MAX_KEYS];
	uint8_t folded; /* a bit for each key whose numbers are folded */
	struct condition conditions[SCAN_MAX_CONDITIONS];
	unsigned condition_count;
};

/* keys: comma list of columns, may be empty; "name#" folds the numbers in a name (fold.h). filter: "column op number and ..." with
 * op one of = != < <= > >=; NULL or empty for all rows. -EINVAL and a sentence. */
int request_parse(struct request *ret, struct query *q, const char *table, const char *keys, const char *filter, struct error *err);
int request_column(const struct mapped_table *table, const char *name, size_t len, struct error *err);
/* Another filter in place of the one parsed before. */
int request_parse_filter(struct request *request, const char *filter, struct error *err);

/* Groups of all sources of a table, numbered through: pieces of work. */
uint64_t request_group_count(const struct request *request, struct query *q);
void request_group(const struct request *request, struct query *q, uint64_t nth, unsigned *ret_source, size_t *ret_group);

/* Whether rows of the scan's current group have to be checked one by one. */
int request_needs_row_check(const struct scan *s);

#endif
