/* Groups of rows, decoded, and summaries of them; those used last are kept, up to a limit. Safe for several threads. */
#ifndef SONDE_VIEW_RECORDING_STORE_H
#define SONDE_VIEW_RECORDING_STORE_H

#include <stddef.h>
#include <stdint.h>

struct view_report;
struct row_group;
struct store;

/* Rows of a group. */
struct decoded_rows {
	uint32_t rows;
	const int64_t *start;
	const int64_t *end;    /* never before the start; the same array for points */
	const uint32_t *names; /* NULL: none has one */
	const uint8_t *flags;  /* CHUNK_*; NULL: none */
	const double *values;  /* of counters; NaN where there is none */
};

enum { CHUNK_OPEN = 1, CHUNK_ERROR = 2 };

/* The same rows summed up by buckets of 2^level ns (level 0 of the lod table); in order of time. */
struct summary {
	uint32_t count;
	unsigned level;
	const int64_t *start;  /* of the bucket */
	const uint64_t *busy;  /* ns within it, rounded */
	const uint32_t *rows;  /* that begin there */
	const uint32_t *names; /* of the longest of them; 0: none */
	/* Rows that are as long as a bucket, or longer: at most one begins in each. */
	uint32_t long_count;
	const struct summary_long {
		int64_t start;
		int64_t end;
		uint64_t row;    /* index in the track */
		uint32_t bucket; /* it begins in: place in the arrays above */
		uint8_t flags;   /* CHUNK_* */
	} * longs;
};

/* The same of counters. */
struct plot_summary {
	uint32_t count;
	unsigned level;
	const int64_t *start;
	const uint32_t *rows;
	const double *least, *most, *mean, *last;
};

int store_open(struct store **ret, size_t limit);
void store_close(struct store *s);

/* A damaged group has no rows. -ENOMEM. Every one taken is given back. */
int store_decoded_rows(struct view_report *r, const struct row_group *p, const struct decoded_rows **ret);
/* -EBADMSG where it cannot be used. */
int store_summary(struct view_report *r, const struct row_group *p, const struct summary **ret);
int store_plot_summary(struct view_report *r, const struct row_group *p, const struct plot_summary **ret);
void store_give(struct store *s, const void *item);
/* Bytes held now. */
size_t store_size(struct store *s);

#endif
