/* Cells that a spreadsheet would take for formulas.
 *
 * Names in a report are those of whoever made it, and people open tables of them: a text that begins with =, +, - or @ (or with such
 * a sign behind tabs and line ends) is written with an apostrophe in front, which our readers take away. Numbers, with a unit too, a
 * sign alone, names behind several dashes and predicated instructions (@P0 BRA) are written as they are. */
#ifndef SONDE_BASE_TEXT_CSV_GUARD_H
#define SONDE_BASE_TEXT_CSV_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CSV_GUARD "'"

/* Whether the apostrophe goes in front. So it does in front of a text that looks as if it had it. */
bool csv_needs_guard(const char *text, size_t len);
/* In quotes, with the apostrophe where it is needed. */
void csv_put_quoted(FILE *f, const char *text, size_t len);
/* Whether it is there, to be taken away. */
bool csv_has_guard(const char *text, size_t len);

#endif
