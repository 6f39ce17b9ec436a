/* Values of a column grouped by keys, read from columns by a few threads. */
#ifndef SONDE_QUERY_GROUP_H
#define SONDE_QUERY_GROUP_H

#include "query/request.h"

struct group {
	int64_t key[REQUEST_MAX_KEYS];
	uint8_t key_null; /* a bit for each key that is null */
	int64_t *values;
	size_t count;
	size_t cap;
};

/* Groups under construction, found by their keys. */
struct group_table {
	struct group *groups;
	size_t count;
	size_t cap;
	uint32_t *slots; /* group + 1; size is a power of two */
	size_t slot_count;
};

/* The group with that key, made if it is new. -ENOMEM. */
int group_table_find(struct group_table *t, const int64_t *key, uint8_t key_null, size_t *ret);
int group_add_value(struct group *group, int64_t value);
void group_table_release(struct group_table *t);

struct grouping {
	struct query *q;
	struct request request;
	uint8_t value_column;
	enum vector_kind key_kind[REQUEST_MAX_KEYS];
	enum vector_kind value_kind; /* VECTOR_NUMBER or VECTOR_REAL */
	struct group *groups;
	size_t count;
};

/* Real values are kept in an order-preserving form: see group_real(). */
int grouping_run(struct grouping *g, struct error *err);
void grouping_release(struct grouping *g);

/* A real as a whole number that sorts the same way, and back. */
int64_t group_sortable(int64_t bits);
double group_real(int64_t sortable);

struct group_figures {
	long double sum;
	int64_t whole_sum; /* valid for numbers unless sum_overflow */
	int sum_overflow;
	double average;
	double deviation;  /* of a sample: divided by count - 1; 0 for one value */
	int64_t least;     /* as stored in the group */
	int64_t largest;
};

void group_figures(const struct grouping *g, const struct group *group, struct group_figures *ret);

#endif
