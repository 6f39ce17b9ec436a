/* Values of a result and how they are shown. */
#ifndef SONDE_STATS_CELL_H
#define SONDE_STATS_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum cell_kind { CELL_NULL, CELL_NUMBER, CELL_REAL, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	int64_t number;
	double real;
	const char *text; /* not terminated */
	size_t len;
};

enum display {
	DISPLAY_PLAIN, /* as it comes: results of statements a user typed */
	DISPLAY_TEXT,
	DISPLAY_ID,      /* a whole number that is a name: no separators */
	DISPLAY_NUMBER,  /* a count */
	DISPLAY_PERCENT, /* one decimal */
	DISPLAY_TIME,    /* whole nanoseconds, shown in the unit asked for */
	DISPLAY_AVERAGE, /* nanoseconds with a fraction */
	DISPLAY_DECIMAL, /* one decimal */
	DISPLAY_SIZE,    /* bytes, shown as millions of them with three decimals */
	DISPLAY_RATE     /* bytes a second, in the same way */
};

enum time_unit { TIME_NSEC, TIME_USEC, TIME_MSEC, TIME_SEC };

struct table_column {
	char *title; /* without the unit */
	enum display display;
};

/* "nsec", "us", "milli" ...: the longest common beginning with a known name decides. -EINVAL. */
int time_unit_parse(const char *text, enum time_unit *ret, struct error *err);

/* "Total Time (ns)". */
int column_title(struct buf *buf, const struct table_column *column, enum time_unit unit);
/* The value as text; `separators` puts commas between thousands. */
int cell_format(struct buf *buf, const struct cell *cell, enum display display, enum time_unit unit, int separators);
/* Whether a column holds numbers whatever its values are. */
int display_is_number(enum display display);

#endif
