/* Reading a report. The file is mapped; groups of columns are decoded when asked
 * for. Also opens a .part while it grows (what is in it and its journal at that
 * moment) and checks everything it reads: a report is untrusted input. A reader is used
 * by one thread at a time, except report_column(), which may be called from several. */
#ifndef SONDE_REPORT_READER_H
#define SONDE_REPORT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "fmt/tables.h"

struct report;

/* -ENOENT, -EBADMSG (not a report, corrupt), -EPROTO (made by a newer version),
 * each with a sentence. */
int report_open(struct report **ret, const char *path, struct error *err);
void report_close(struct report *r);

/* True for a .part or a report whose recorder did not finish. */
int report_is_partial(const struct report *r);
/* A .part is read as far as it goes; a finished report that ends early has lost something: an error that says what to do. */
int report_check_whole(const struct report *r, const char *path, struct error *err);
/* True once something unreadable was met: answers may lack rows or names. */
int report_is_damaged(const struct report *r);
/* What had to be skipped (damaged groups, unknown tables), one sentence each. */
size_t report_note_count(const struct report *r);
const char *report_note(const struct report *r, size_t i);

/* A group: up to some ten thousand consecutive rows of one track. */
struct report_group {
	uint32_t track;
	uint32_t rows;
	uint64_t first_row; /* within the table, over all its groups in file order */
	int64_t time_min;   /* SPAN and POINT tables */
	int64_t time_max;
	uint32_t present; /* columns with any non-null value */
	uint32_t segment;
};

size_t report_group_count(const struct report *r, enum table_id table);
const struct report_group *report_group(const struct report *r, enum table_id table, size_t i);
/* Groups whose rows are left out of the file (report_outline()), so that only level 0 of the levels of detail tells of them. They
 * have the numbers from report_group_count() on, and no columns. */
size_t report_absent_count(const struct report *r, enum table_id table);
uint64_t report_row_count(const struct report *r, enum table_id table);

/* Decodes one column of one group into values[rows]. `nulls` may be NULL; otherwise it receives
 * one byte per row (1 = null). Null values read as 0. A column unknown to the file is all
 * null. -EBADMSG for a damaged group. */
int report_column(const struct report *r, enum table_id table, size_t group, unsigned column, int64_t *values, uint8_t *nulls);

/* The rows of a table in file order, their first `columns` columns. Bit c of `present` is clear where column c is
 * null. Goes on while the result is 0, and returns the last. */
typedef int (*report_row_fn)(void *context, const int64_t *values, uint32_t present);
int report_each_row(const struct report *r, enum table_id table, unsigned columns, report_row_fn take, void *context);

/* The text of a string id, NUL-terminated, valid until close; NULL for 0 and unknown ids. */
const char *report_text(struct report *r, uint64_t id, size_t *ret_len);
/* All string ids are below this; not all need be defined. */
uint64_t report_string_limit(const struct report *r);
const void *report_blob_data(struct report *r, uint64_t id, size_t *ret_len);

/* The file as it is mapped; valid until close. */
const void *report_bytes(const struct report *r, size_t *ret_size);

/* Name of the first META row with that key; NULL when there is none. */
const char *report_meta(struct report *r, const char *key);

#endif
