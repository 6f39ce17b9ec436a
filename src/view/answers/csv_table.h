/* A table from CSV, as our own formatter writes it. */
#ifndef SONDE_VIEW_ANSWERS_CSV_TABLE_H
#define SONDE_VIEW_ANSWERS_CSV_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct csv_table {
	char **cells; /* row by row, the titles first; they point into the text */
	size_t count, capacity;
	size_t columns;
	size_t rows;   /* without the titles */
	bool *numbers; /* by column: all cells that have something are numbers */
};

/* Takes the text apart in place. -ENOMEM. */
int csv_table_read(struct csv_table *t, char *text);
void csv_table_release(struct csv_table *t);

static inline const char *csv_cell(const struct csv_table *t, size_t row, size_t column)
{
	return t->cells[(row + 1) * t->columns + column];
}

bool csv_is_number(const char *cell);
static inline bool csv_column_is_number(const struct csv_table *t, size_t column)
{
	return t->numbers[column];
}

#endif
