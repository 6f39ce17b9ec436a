/* Rows of many tracks, taken in any order and given back track by track in order of time. What does
 * not fit into the memory set aside is sorted and written to a file without a name: memory stays
 * the same for any number of rows. */
#ifndef SONDE_INGEST_ROWS_SINK_STORE_H
#define SONDE_INGEST_ROWS_SINK_STORE_H

#include <stddef.h>
#include <stdint.h>

#define STORE_BYTES (48u << 20) /* of rows in memory; two more words per row are taken for sorting */
#define STORE_FAN 192u          /* runs merged at once: each has a part of that memory */
#define STORE_COLUMNS 32u

/* Sorted rows of one track: in the file. */
struct store_run {
	uint64_t offset;
	uint64_t bytes;
};

/* What the store keeps of each track. */
struct store_track {
	int is_span;
	uint32_t number;  /* of the track, from 0 */
	uint32_t waiting; /* rows in memory */
	uint32_t first;   /* of them in `order`, once it is made */
	struct store_run *runs;
	uint32_t run_count, run_capacity;
	struct store_track *next;
};

/* A row: columns present | number of the track << 32, then the values of those columns. Of spans
 * the first two are start and end, of points the first is the time. */
struct store {
	int64_t *words;
	size_t used, capacity;
	uint32_t *order, *scratch; /* rows by track and time, as offsets in `words` */
	uint32_t rows;
	int fd;             /* -1: nothing was written yet */
	uint64_t size;      /* of the file */
	const char *beside; /* the file lies in the folder of this one, where that can be */
	struct store_track *tracks, **tail;
	uint32_t track_count;
};

int store_begin(struct store *s, const char *beside, size_t bytes);
void store_release(struct store *s);
void store_add_track(struct store *s, struct store_track *t, int is_span);

/* Room for a row, its first word filled in. NULL, and a negative errno, where there is none. */
int64_t *store_row(struct store *s, struct store_track *t, uint32_t present, int *ret_error);

/* No more rows: they can be taken. Negative errno. */
int store_end(struct store *s);

typedef void (*store_fn)(void *context, const int64_t *row);
/* All rows of a track, by start; of those that start together the longest first, as it encloses the
 * others; else in order of arrival. */
int store_each(struct store *s, struct store_track *t, store_fn take, void *context);

static inline size_t store_row_words(const int64_t *row)
{
	return 1 + (size_t)__builtin_popcount((uint32_t)row[0]);
}

/* Whether `b` belongs before `a`, which arrived first. */
static inline int store_out_of_order(const int64_t *a, const int64_t *b, int is_span)
{
	if (a[1] != b[1])
		return a[1] > b[1];
	return is_span && a[2] < b[2];
}

/* sink_merge.c */
int store_merge(struct store *s, struct store_track *t, store_fn take, void *context);
/* Appends to the file; what was appended is a run of the track. Each value is written as its difference
 * to the row before (the end of a span: to its start), in as many bytes as that takes: about a
 * quarter of what rows take in memory. */
struct store_output {
	struct store *store;
	uint8_t *bytes;
	size_t used;
	uint64_t begin;
	int64_t before[STORE_COLUMNS]; /* of the run */
	int result;
};
int store_output_begin(struct store_output *out, struct store *s);
void store_output_row(struct store_output *out, const int64_t *row, int is_span);
/* The run since the last one, added to a list. */
void store_output_run(struct store_output *out, struct store_run **runs, uint32_t *count, uint32_t *capacity);
int store_output_end(struct store_output *out);

#endif
