/* Rows of comma-separated values (RFC 4180), a row at a time. */
#ifndef SONDE_INGEST_INPUT_CSV_H
#define SONDE_INGEST_INPUT_CSV_H

#include <stddef.h>

#include "base/buf.h"

#define CSV_MAX_CELLS 65536u
#define CSV_MAX_ROW (64u << 20) /* bytes */

struct csv_cell {
	const char *text; /* ends with a NUL */
	size_t len;
};

struct csv {
	const char *at, *end;
	size_t line; /* of the row at hand, from 1 */
	size_t next_line;
	struct csv_cell *cells;
	size_t count, capacity;
	struct buf text;
	const char *trouble;
};

void csv_begin(struct csv *c, const char *text, size_t len);
/* 1: a row; 0: there is none left; negative without memory, or with trouble. */
int csv_next(struct csv *c);
/* To the line behind the one at hand, whatever it is. */
void csv_skip_line(struct csv *c);
void csv_release(struct csv *c);

#endif
