/* Rows of a mapped table in an order that a statement asks for. Tracks are sorted by time, and what a row
 * inherits from its track is one value for all of them: a merge of the tracks takes the place of a sort. */
#ifndef SONDE_QUERY_ENGINE_MAPPED_ORDER_H
#define SONDE_QUERY_ENGINE_MAPPED_ORDER_H

#include "query/engine/scan.h"

#define ORDER_MAX_COLUMNS 8

/* First by columns that are one value for a whole track, then by a time, if there is one. */
struct row_order {
	uint8_t columns[ORDER_MAX_COLUMNS];
	unsigned column_count;
	int time_column; /* -1: none */
	int descending;  /* the time */
};

/* Whether the ORDER BY of the plan can be had this way. */
int row_order_of(struct query *q, const struct mapped_table *table, const sqlite3_index_info *info, struct row_order *ret);

/* As a text behind a plan, and back. */
void row_order_write(const struct row_order *order, char *ret, size_t size);
void row_order_read(struct row_order *ret, const char *text);

struct ordered_rows;

/* Rows that the probe's conditions let through. *rows may be those of an earlier question: what was decoded for it is
 * used again. -ENOMEM. */
int ordered_rows_open(struct ordered_rows **rows, struct scan *probe, const struct row_order *order);
/* 1 and the place of the next row, 0 at the end; negative errno. */
int ordered_rows_next(struct ordered_rows *rows, struct scan **ret_scan, uint32_t *ret_row);
void ordered_rows_free(struct ordered_rows *rows);

#endif
