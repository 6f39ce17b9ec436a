/* Output formats: rows go in, text comes out, never more than a hundred rows are held. */
#ifndef SONDE_STATS_FORMAT_H
#define SONDE_STATS_FORMAT_H

#include <stdio.h>

#include "stats/cell.h"

#define FORMAT_MAX_WIDTHS 64

enum format_kind { FORMAT_COLUMN, FORMAT_TABLE, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON, FORMAT_HDOC, FORMAT_HTABLE };

/* "column:nohdr:20:.:0", "csv:time=usec", "hdoc:title=Ranges". */
struct format_spec {
	enum format_kind kind;
	int no_header;
	int no_limit;      /* widths are not limited to 100 */
	int no_separators; /* nofmt */
	int escape_tabs;
	int has_unit;
	enum time_unit unit;
	char title[256];
	char css[256];
	unsigned width_count;
	int widths[FORMAT_MAX_WIDTHS]; /* -1 = automatic, 0 = hidden */
};

int format_parse(struct format_spec *ret, const char *text, struct error *err);
const char *format_extension(enum format_kind kind);
/* For people to read: may come with a heading. */
int format_is_for_people(enum format_kind kind);
/* Name and one line about it; 0 behind the last. */
int format_describe(unsigned i, const char **ret_name, const char **ret_arguments, const char **ret_help);

struct formatter;

struct format_target {
	FILE *out;
	enum time_unit unit;
	const char *title; /* for formats that have one */
};

/* -ENOMEM, or the errno of a failed write (-EPIPE included), from each of them. */
int formatter_open(struct formatter **ret, const struct format_spec *spec, const struct format_target *target,
		   const struct table_column *columns, size_t column_count);
int formatter_row(struct formatter *f, const struct cell *cells);
/* Writes what is left and frees the formatter in any case. */
int formatter_close(struct formatter *f);

#endif
