/* What a format implements. */
#ifndef SONDE_STATS_FORMAT_INTERNAL_H
#define SONDE_STATS_FORMAT_INTERNAL_H

#include "stats/format.h"

struct format_ops {
	int (*begin)(struct formatter *f);
	int (*row)(struct formatter *f, const struct cell *cells);
	int (*end)(struct formatter *f);
};

#define FORMAT_SAMPLE_ROWS 100
#define FORMAT_MAX_COLUMN 100

struct formatter {
	const struct format_ops *ops;
	struct format_spec spec;
	FILE *out;
	enum time_unit unit;
	const char *title;
	const struct table_column *columns;
	size_t column_count;
	struct buf line; /* being put together */
	uint64_t rows;
	/* Column formats: the first rows wait until the widths are known. */
	struct buf *sample; /* rows x columns */
	uint8_t *sample_number;
	size_t sample_rows;
	size_t *widths;
	uint8_t *right; /* aligned to the right */
	int widths_known;
};

extern const struct format_ops format_column_ops;
extern const struct format_ops format_csv_ops;
extern const struct format_ops format_json_ops;
extern const struct format_ops format_html_ops;

/* Writes and empties f->line. */
int format_flush_line(struct formatter *f);

#endif
