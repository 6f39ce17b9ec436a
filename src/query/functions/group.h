/* Values of a column grouped by keys, read from columns by a few threads. */
#ifndef SONDE_QUERY_FUNCTIONS_GROUP_H
#define SONDE_QUERY_FUNCTIONS_GROUP_H

#include "base/hash_index.h"
#include "query/functions/request.h"
#include "query/functions/select.h"

struct group {
	int64_t key[REQUEST_MAX_KEYS];
	uint8_t key_null;  /* a bit for each key that is null */
	uint8_t is_narrow; /* values are in `narrow`: all fit into half so far */
	int64_t *values;
	uint32_t *narrow;
	size_t count;
	size_t cap;
};

/* Groups under construction, found by their keys. */
struct group_table {
	struct group *groups;
	size_t count;
	size_t cap;
	struct hash_index index;
	int narrow; /* small values of new groups take half the memory: they are read by the functions below */
};

/* The group with that key, made if it is new. -ENOMEM. */
int group_table_find(struct group_table *t, const int64_t *key, uint8_t key_null, size_t *ret);
int group_add_value(struct group *group, int64_t value);
/* Moves all values of `from` behind those of `to`; its memory is given back. -ENOMEM. */
int group_take_values(struct group *to, struct group *from);
void group_forget_values(struct group *group);
/* As select_quantiles(). */
void group_quantiles(struct group *group, const double *fractions, size_t fraction_count, struct quantile *ret);
void group_table_release(struct group_table *t);

struct grouping {
	struct query *q;
	struct request request;
	uint8_t value_column;
	int narrow; /* as in struct group_table */
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
	double deviation; /* of a sample: divided by count - 1; 0 for one value */
	int64_t least;    /* as stored in the group */
	int64_t largest;
};

void group_figures(const struct grouping *g, const struct group *group, struct group_figures *ret);

#endif
