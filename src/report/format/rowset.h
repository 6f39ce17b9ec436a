/* Row sets: up to 65,536 rows of one track, each column stored on its own so that one
 * can be read without the others (start and end of spans go together). */
#ifndef SONDE_REPORT_FORMAT_ROWSET_H
#define SONDE_REPORT_FORMAT_ROWSET_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/buf.h"
#include "fmt/tables.h"
#include "report/format/file_format.h"
#include "report/format/varint.h"

/* What is said about a row set before its columns. */
struct set_head {
	uint8_t table;
	uint8_t flags; /* enum set_flags */
	uint32_t track;
	uint64_t first; /* index of the first row in its track */
	uint32_t rows;
	int64_t time_min;
	int64_t time_max;
	uint32_t present; /* columns with any value */
};

/* The rows to encode. Columns are dense: nulls take no place in them. */
struct row_set {
	struct set_head head;
	enum table_kind kind;
	const int64_t *columns[TABLE_MAX_COLUMNS];
	uint32_t counts[TABLE_MAX_COLUMNS];
	const uint32_t *masks; /* columns present in each row; NULL when no column is mixed */
};

struct encoder {
	ZSTD_CCtx *cctx;
	uint64_t *work;   /* transformed values */
	uint32_t *narrow; /* the same where they fit */
	uint8_t *plane;
	uint32_t capacity; /* rows these have room for */
	struct buf head;
	struct buf data;
};

int encoder_init(struct encoder *e);
void encoder_release(struct encoder *e);

/* Appends the encoded set to `out`. Without `compress` planes are stored plainly,
 * for the journal and for sets that are compressed together. */
int encode_set(struct encoder *e, const struct row_set *rows, int compress, struct buf *out);

/* A row set found in a payload. */
struct set_view {
	struct set_head head;
	struct cursor columns; /* column headers, then their data */
	size_t bytes;          /* of the whole set */
};

/* Parses the head of the set at the cursor and moves the cursor behind the set. */
int set_parse(struct cursor *c, struct set_view *ret);

/* Room a decoding call works in; a zeroed one is valid. */
struct scratch {
	ZSTD_DCtx *dctx;
	uint8_t *planes; /* eight planes of SET_MAX_ROWS */
	uint64_t *values;
	uint8_t *bitmap;
	struct scratch *next;
};

void scratch_release(struct scratch *s);

/* Decodes a column into values[rows], and nulls[rows] unless that is NULL. */
int decode_column(struct scratch *s, const struct set_view *set, unsigned column, int64_t *values, uint8_t *nulls);

#endif
