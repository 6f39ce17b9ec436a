#include "view/answers/csv_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/csv_guard.h"

static int add_table_cell(struct csv_table *t, char *cell)
{
	if (!ARRAY_ROOM(t->cells, t->count, t->capacity, 1))
		return -ENOMEM;
	t->cells[t->count++] = cell;
	return 0;
}

/* Ends the cell at *at with a NUL; returns what stood behind it. */
static char take_cell(char **at)
{
	char *to = *at, *from = *at, end;

	if (*from == '"') {
		for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
			from += *from == '"';
			*to++ = *from;
		}
		from += *from == '"';
	} else {
		from = to += strcspn(from, ",\r\n");
	}
	from += *from == '\r';
	end = *from;
	*to = '\0';
	*at = from + (end != '\0');
	return end;
}

bool csv_is_number(const char *cell)
{
	size_t digits = strspn(cell + (*cell == '-'), "0123456789"), rest;
	const char *at = cell + (*cell == '-') + digits;

	if (!digits || (digits > 1 && at[-(ptrdiff_t)digits] == '0'))
		return false;
	if (*at == '.') {
		rest = strspn(at + 1, "0123456789");
		at += 1 + rest;
		return rest && !*at;
	}
	return !*at;
}

static bool column_is_number(const struct csv_table *t, size_t column)
{
	bool any = false;

	for (size_t i = 0; i < t->rows; i++) {
		const char *cell = csv_cell(t, i, column);

		if (*cell && !csv_is_number(cell))
			return false;
		any |= *cell != '\0';
	}
	return any;
}

int csv_table_read(struct csv_table *t, char *text)
{
	size_t in_row = 0;
	char *at = text;
	int r = 0;

	*t = (struct csv_table){ 0 };
	while (*at && r == 0) {
		char *cell = at, end;

		if (in_row == 0 && (*at == '\n' || *at == '\r')) {
			at++;
			continue;
		}
		end = take_cell(&at);
		cell += csv_has_guard(cell, strlen(cell));
		/* A cell too many belongs nowhere, one that lacks is empty. */
		if (!t->columns || in_row < t->columns)
			r = add_table_cell(t, cell);
		in_row++;
		if (end == ',')
			continue;
		t->columns = t->columns ? t->columns : in_row;
		for (; r == 0 && in_row < t->columns; in_row++)
			r = add_table_cell(t, at + strlen(at)); /* the NUL at the end */
		in_row = 0;
	}
	t->rows = t->columns ? t->count / t->columns : 0;
	t->rows -= t->rows > 0;
	t->numbers = calloc(t->columns + 1, sizeof(*t->numbers));
	for (size_t i = 0; r == 0 && t->numbers && i < t->columns; i++)
		t->numbers[i] = column_is_number(t, i);
	return t->numbers ? r : -ENOMEM;
}

void csv_table_release(struct csv_table *t)
{
	free(t->cells);
	free(t->numbers);
}
