/* Reading a mapped table group by group: columns become vectors when they are
 * asked for, so that what a query does not touch is never decoded. */
#ifndef SONDE_QUERY_ENGINE_SCAN_H
#define SONDE_QUERY_ENGINE_SCAN_H

#include <sqlite3.h>

#include "query/internal.h"

enum vector_kind {
	VECTOR_NULL, /* nothing in this group has a value */
	VECTOR_NUMBER,
	VECTOR_REAL,   /* bit patterns of doubles */
	VECTOR_STRING, /* string ids */
	VECTOR_BLOB,   /* blob ids */
	VECTOR_JSON,   /* blob ids */
	VECTOR_HEX     /* blob ids */
};

struct vector {
	enum vector_kind kind;
	int constant; /* values[0] and nulls[0] stand for every row */
	const int64_t *values;
	const uint8_t *nulls; /* NULL when there are none */
};

enum comparison { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

/* "column op number"; used to leave out sources, groups and rows. */
struct condition {
	uint8_t column;
	uint8_t comparison;
	int64_t value;
};

#define SCAN_MAX_CONDITIONS 16

struct scan {
	struct query *q;
	const struct mapped_table *table;
	uint64_t payload_steps; /* that are left */
	struct condition conditions[SCAN_MAX_CONDITIONS];
	unsigned condition_count;
	/* Where it stands. */
	int entered; /* columns below are of this source and group */
	unsigned entered_source;
	size_t entered_group;
	unsigned source;
	size_t group;
	uint32_t rows;
	uint32_t first; /* rows [first, limit) can match the conditions */
	uint32_t limit;
	const int64_t *track; /* row of the index, NULL for none */
	/* Which of the group's rows the query's scope has; filled when first asked for. */
	uint8_t *counts;
	size_t counts_cap;
	int counted;
	/* Columns of the report, decoded; by column of the source's table. */
	struct scan_column {
		int64_t *values;
		uint8_t *nulls;
		size_t cap;
		int loaded;
		int has_nulls;
	} raw[TABLE_MAX_COLUMNS];
	/* Vectors, by column of the mapped table. */
	struct scan_vector {
		struct vector vector;
		int made;
		int64_t *values;
		uint8_t *nulls;
		size_t cap;
		int64_t one;
		uint8_t one_null;
	} made[MAPPED_MAX_COLUMNS];
};

void scan_init(struct scan *s, struct query *q, const struct mapped_table *table);
void scan_release(struct scan *s);

/* Goes to the given group if conditions and track let it through (1), else 0;
 * negative errno on trouble. */
int scan_enter(struct scan *s, unsigned source, size_t group);
/* The same without reading anything: 0 when no row of the group can match. */
int scan_may_enter(struct scan *s, unsigned source, size_t group);
/* The next group that is let through, beginning with the current one + 1; 0 at the end. Start
 * with scan_rewind(). */
void scan_rewind(struct scan *s);
int scan_next_group(struct scan *s);

/* The column of the current group. Damaged columns are -EBADMSG. */
int scan_vector(struct scan *s, unsigned column, const struct vector **ret);
/* A column of the report as it is. */
int scan_raw(struct scan *s, unsigned column, struct scan_column **ret);
/* Whether the source shows that row at all. */
int scan_row_visible(struct scan *s, uint32_t row);
/* Conditions (SCAN_MAX_CONDITIONS at most) that entering the group did not settle: times were narrowed, values of the
 * whole group compared. */
struct row_check {
	const struct condition *condition;
	const struct vector *vector;
};
int scan_checks(struct scan *s, struct row_check *ret, unsigned *ret_count);
/* Whether the row meets every condition. */
int scan_row_matches(struct scan *s, uint32_t row);

static inline int vector_is_null(const struct vector *v, uint32_t row)
{
	return v->kind == VECTOR_NULL || (v->nulls && v->nulls[v->constant ? 0 : row]);
}

static inline int64_t vector_value(const struct vector *v, uint32_t row)
{
	return v->values[v->constant ? 0 : row];
}

static inline int condition_holds(const struct condition *c, int64_t value)
{
	switch ((enum comparison)c->comparison) {
	case COMPARE_EQ: return value == c->value;
	case COMPARE_NE: return value != c->value;
	case COMPARE_LT: return value < c->value;
	case COMPARE_LE: return value <= c->value;
	case COMPARE_GT: return value > c->value;
	case COMPARE_GE: return value >= c->value;
	}
	return 0;
}

static inline int row_checks_hold(const struct row_check *checks, unsigned count, uint32_t row)
{
	for (unsigned i = 0; i < count; i++)
		if (vector_is_null(checks[i].vector, row) || !condition_holds(checks[i].condition, vector_value(checks[i].vector, row)))
			return 0;
	return 1;
}

/* In scan_cuda.c: what one group has, 0 when that is null; and a vector of its rows. */
int scan_cuda_constant(const struct scan *s, const struct mapped_cell *cell, int64_t *ret);
int scan_cuda_rows(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v);
/* For conversions made elsewhere: room for a vector's values. */
int scan_grow(struct scan_vector *v, uint32_t rows);

/* Whether the value is one for the whole group. */
int cell_is_constant(const struct mapped_cell *cell);
/* Whether the cell shows the start (0) or end (1) of rows with times; -1 otherwise. */
int cell_time_edge(const struct mapped_source *source, const struct mapped_cell *cell);
/* The value of such a column in the group of the last scan_may_enter(); 0 when it is null. */
int scan_constant(const struct scan *s, unsigned column, int64_t *ret);

#endif
