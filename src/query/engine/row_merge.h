/* Rows of a mapped table in order of start, or of another number that mostly grows along a track. Groups are merged: as many
 * are decoded at a time as have rows of the same time, and only what stands out of order within one is sorted. */
#ifndef SONDE_QUERY_ENGINE_ROW_MERGE_H
#define SONDE_QUERY_ENGINE_ROW_MERGE_H

#include "query/engine/scan.h"

struct merged_row {
	struct scan *scan; /* entered; its columns can be asked for */
	uint32_t row;
};

struct row_merge_request {
	const struct mapped_table *table;                 /* the first column of its sources' tables is the start */
	int key_column;                                   /* the number rows are ordered by, those without it left out; -1: the start */
	struct condition conditions[SCAN_MAX_CONDITIONS]; /* about whole tracks: rows are not looked at */
	unsigned condition_count;
	/* As qsort_r() wants it, over struct merged_row: the order of rows with the same number. */
	int (*compare)(const void *a, const void *b, void *context);
	void *context;
};

struct row_merge;

/* -ENOMEM. */
int row_merge_open(struct row_merge **ret, struct query *q, const struct row_merge_request *request);
/* 1 and the next row, valid until the next call; 0 at the end; negative errno. */
int row_merge_next(struct row_merge *m, struct merged_row *ret);
void row_merge_free(struct row_merge *m);

/* Places in the file: the last resort of a comparison. */
int merged_row_compare_places(const struct merged_row *a, const struct merged_row *b);

#endif
