#include "stats/cell.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"

static const struct {
	const char *suffix;
	unsigned decimals; /* that nanoseconds need in this unit */
	const char *names[4];
} units[] = {
	[TIME_NSEC] = { "ns", 0, { "nsec", "nanoseconds", "ns", NULL } },
	[TIME_USEC] = { "us", 3, { "usec", "microseconds", "us", NULL } },
	[TIME_MSEC] = { "ms", 6, { "msec", "milliseconds", "ms", NULL } },
	[TIME_SEC] = { "s", 9, { "sec", "seconds", "s", NULL } },
};

static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && tolower((unsigned char)a[n]) == b[n])
		n++;
	return n;
}

int time_unit_parse(const char *text, enum time_unit *ret, struct error *err)
{
	size_t best = 0, n;

	for (unsigned u = 0; u < COUNT_OF(units); u++)
		for (unsigned i = 0; units[u].names[i]; i++) {
			n = common_prefix(text, units[u].names[i]);
			/* What is typed must be the beginning of a name, or a name with more behind it. */
			if (n > best && (!text[n] || !units[u].names[i][n])) {
				best = n;
				*ret = (enum time_unit)u;
			}
		}
	if (best == 0)
		return error_set(err, EINVAL, "'%s' is not a unit of time: use nsec, usec, msec or seconds", text);
	return 0;
}

int column_title(struct buf *buf, const struct table_column *column, enum time_unit unit)
{
	if (column->display == DISPLAY_TIME || column->display == DISPLAY_AVERAGE)
		return buf_printf(buf, "%s (%s)", column->title, units[unit].suffix);
	if (column->display == DISPLAY_PERCENT)
		return buf_printf(buf, "%s (%%)", column->title);
	if (column->display == DISPLAY_SIZE || column->display == DISPLAY_RATE)
		return buf_printf(buf, "%s (%s)", column->title, column->display == DISPLAY_SIZE ? "MB" : "MB/s");
	return buf_puts(buf, column->title);
}

int display_is_number(enum display display)
{
	return display != DISPLAY_TEXT && display != DISPLAY_PLAIN;
}

/* digits: "-1234567.8" -> "-1,234,567.8". */
static int append_separated(struct buf *buf, const char *digits)
{
	size_t whole;

	if (*digits == '-')
		TRY(buf_append(buf, digits++, 1));
	whole = strspn(digits, "0123456789");
	for (size_t i = 0; i < whole; i++) {
		if (i > 0 && (whole - i) % 3 == 0)
			TRY(buf_puts(buf, ","));
		TRY(buf_append(buf, digits + i, 1));
	}
	return buf_puts(buf, digits + whole);
}

static int append_digits(struct buf *buf, const char *digits, int separators)
{
	return separators ? append_separated(buf, digits) : buf_puts(buf, digits);
}

/* Digits of a number, at least `width` of them, in front of `end`; returns where they begin. */
static char *digits_before(char *end, uint64_t number, unsigned width)
{
	char *at = end;

	for (; number || width; number /= 10) {
		*--at = (char)('0' + number % 10);
		width -= width > 0;
	}
	return at;
}

/* Traces have dozens of numbers in a row: no detour over a format. */
static int append_whole(struct buf *buf, int64_t number, int separators)
{
	uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char text[24], *end = text + sizeof(text) - 1, *at = digits_before(end, magnitude, 1);

	*end = '\0';
	if (number < 0)
		*--at = '-';
	return separators ? append_separated(buf, at) : buf_append(buf, at, (size_t)(end - at));
}

static double as_real(const struct cell *cell)
{
	return cell->kind == CELL_REAL ? cell->real : (double)cell->number;
}

/* Nanoseconds in a larger unit, exactly: no detour over a double. */
static void whole_time(char *text, size_t size, int64_t ns, enum time_unit unit)
{
	static const uint64_t scale[] = { 1, 1000, 1000000, 1000000000 };
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	snprintf(text, size, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "", magnitude / scale[unit], (int)units[unit].decimals,
		 magnitude % scale[unit]);
}

#define QUICK_DECIMALS 3
#define QUICK_MOST 1e11 /* beyond, a product's error is too large to tell on which side of a half it is */

/* As "%.*f" prints it. Returns 0 for what has to be looked at more closely: other numbers of decimals, and values so
 * near to the middle of two results that multiplying could move them across. */
static int quick_real(char *text, size_t size, double value, int decimals)
{
	static const unsigned scales[] = { 1, 10, 100, 1000 };
	double scaled, rest;
	uint64_t number;
	char *end = text + size - 1, *at;

	if (signbit(value) || value >= QUICK_MOST || decimals < 1 || decimals > QUICK_DECIMALS)
		return 0;
	scaled = value * scales[decimals];
	number = (uint64_t)scaled;
	rest = scaled - (double)number;
	if (fabs(rest - 0.5) < 0.125)
		return 0;
	number += rest > 0.5;
	*end = '\0';
	at = digits_before(end, number % scales[decimals], (unsigned)decimals);
	*--at = '.';
	at = digits_before(at, number / scales[decimals], 1);
	memmove(text, at, (size_t)(end - at) + 1);
	return 1;
}

static int append_real(struct buf *buf, double value, int decimals, int separators)
{
	char text[400];

	if (!isfinite(value))
		return 0;
	if (quick_real(text, 32, value, decimals))
		return append_digits(buf, text, separators);
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	return append_digits(buf, text, separators);
}

static int append_time(struct buf *buf, const struct cell *cell, enum display display, enum time_unit unit, int separators)
{
	static const double scale[] = { 1, 1e3, 1e6, 1e9 };
	int decimals = unit == TIME_NSEC ? display == DISPLAY_AVERAGE : (int)units[unit].decimals;
	char text[64];

	if (display == DISPLAY_AVERAGE || cell->kind == CELL_REAL)
		return append_real(buf, as_real(cell) / scale[unit], decimals, separators);
	if (unit == TIME_NSEC)
		return append_whole(buf, cell->number, separators);
	whole_time(text, sizeof(text), cell->number, unit);
	return append_digits(buf, text, separators);
}

static int append_plain(struct buf *buf, const struct cell *cell, int separators)
{
	char text[64];

	if (cell->kind == CELL_REAL) {
		snprintf(text, sizeof(text), "%.15g", cell->real);
		if (strtod(text, NULL) != cell->real)
			snprintf(text, sizeof(text), "%.17g", cell->real);
		return buf_puts(buf, text);
	}
	return append_whole(buf, cell->number, separators);
}

int cell_format(struct buf *buf, const struct cell *cell, enum display display, enum time_unit unit, int separators)
{
	if (cell->kind == CELL_NULL)
		return 0;
	if (cell->kind == CELL_TEXT)
		return buf_append(buf, cell->text, cell->len);
	switch (display) {
	case DISPLAY_PERCENT:
	case DISPLAY_DECIMAL: return append_real(buf, as_real(cell), 1, separators);
	case DISPLAY_SIZE:
	case DISPLAY_RATE: return append_real(buf, as_real(cell) / 1e6, 3, separators);
	case DISPLAY_TIME:
	case DISPLAY_AVERAGE: return append_time(buf, cell, display, unit, separators);
	case DISPLAY_NUMBER: return append_plain(buf, cell, separators);
	default: return append_plain(buf, cell, 0);
	}
}
