/* From a statement to a formatter, row by row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/row_pipe.h"
#include "stats/stats.h"

/* A connection belongs to one thread, so that values can be read without asking the statement for each anew. */
static void read_cell(sqlite3_stmt *statement, int column, struct cell *ret)
{
	sqlite3_value *value = sqlite3_column_value(statement, column);

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		ret->kind = CELL_NUMBER;
		ret->number = sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		ret->kind = CELL_REAL;
		ret->real = sqlite3_value_double(value);
		break;
	case SQLITE_NULL: ret->kind = CELL_NULL; break;
	default:
		ret->kind = CELL_TEXT;
		/* The same bytes as its text, without a copy to put a NUL behind them. */
		ret->text = sqlite3_value_blob(value);
		ret->len = (size_t)sqlite3_value_bytes(value);
	}
}

/* The columns to show, one behind the other, and where in the statement each is. */
struct layout {
	struct table_column *columns;
	int *places;
	size_t count;
};

static int lay_out(struct layout *l, sqlite3_stmt *statement, const struct table_column *columns, size_t count)
{
	*l = (struct layout){ calloc(count + 1, sizeof(*l->columns)), calloc(count + 1, sizeof(*l->places)), 0 };
	if (!l->columns || !l->places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (columns && !columns[i].title)
			continue;
		l->places[l->count] = (int)i;
		l->columns[l->count++] = columns ? columns[i] :
						   (struct table_column){ (char *)(uintptr_t)sqlite3_column_name(statement, (int)i),
									  DISPLAY_PLAIN };
	}
	return 0;
}

static int write_error(int r, struct error *err)
{
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, "Not enough memory");
	return error_set_errno(err, -r, "Cannot write the table");
}

static int write_all_rows(sqlite3_stmt *statement, int step, struct formatter *f, struct cell *cells, const struct layout *layout,
			  uint64_t *rows, struct error *err)
{
	struct row_pipe *pipe;
	int r = row_pipe_open(&pipe, f, layout->count), closed;

	if (r < 0)
		return write_error(r, err);
	for (; r >= 0 && step == SQLITE_ROW; step = r < 0 ? SQLITE_DONE : sqlite3_step(statement)) {
		for (size_t i = 0; i < layout->count; i++)
			read_cell(statement, layout->places[i], &cells[i]);
		r = row_pipe_add(pipe, cells);
		(*rows)++;
	}
	closed = row_pipe_close(pipe);
	if (r < 0 || closed < 0)
		return write_error(r < 0 ? r : closed, err);
	if (step != SQLITE_DONE)
		return error_set(err, EINVAL, "%s", sqlite3_errmsg(sqlite3_db_handle(statement)));
	return 0;
}

int stats_write_rows(sqlite3_stmt *statement, int stepped, const struct format_spec *spec, const struct format_target *target,
		     const struct table_column *columns, size_t column_count, uint64_t *ret_rows, struct error *err)
{
	size_t count = (size_t)sqlite3_column_count(statement);
	struct layout layout = { 0 };
	struct cell *cells = calloc(count + 1, sizeof(*cells));
	struct formatter *f = NULL;
	uint64_t rows = 0;
	int r = -ENOMEM, closed;

	if (columns && column_count != count)
		r = -EINVAL;
	else if (cells && (r = lay_out(&layout, statement, columns, count)) >= 0)
		r = formatter_open(&f, spec, target, layout.columns, layout.count);
	if (r == -EINVAL && !f)
		error_set(err, EINVAL, "The statement gives %zu columns, %zu are declared", count, column_count);
	else if (r < 0)
		write_error(r, err);
	if (f) {
		r = write_all_rows(statement, stepped, f, cells, &layout, &rows, err);
		closed = formatter_close(f);
		if (r >= 0 && closed < 0)
			r = write_error(closed, err);
	}
	free(cells);
	free(layout.columns);
	free(layout.places);
	if (ret_rows)
		*ret_rows = rows;
	return r;
}
