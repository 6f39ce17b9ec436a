/* json: an array of objects keyed by column title, one object per line. Values
 * that are missing are "" as in nsys's files. Always valid JSON. */
#include <string.h>

#include "base/json_text.h"
#include "stats/format_internal.h"

static int append_value(struct formatter *f, size_t column, const struct cell *cell)
{
	struct buf text = BUF_INIT;
	int r = cell_format(&text, cell, f->columns[column].display, f->unit, 0);

	if (r >= 0 && (cell->kind == CELL_NUMBER || cell->kind == CELL_REAL) && text.len && text.data[0] != 'i' &&
	    !memchr(text.data, 'n', text.len))
		r = buf_append(&f->line, text.data, text.len);
	else if (r >= 0)
		r = json_append_text(&f->line, text.data, text.len);
	buf_release(&text);
	return r;
}

static int begin(struct formatter *f)
{
	int r = buf_puts(&f->line, "[");

	return r < 0 ? r : format_flush_line(f);
}

static int row(struct formatter *f, const struct cell *cells)
{
	struct buf title = BUF_INIT;
	int r = buf_puts(&f->line, f->rows ? ",\n{" : "\n{");

	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		buf_clear(&title);
		r = column_title(&title, &f->columns[i], f->unit);
		if (r >= 0 && i)
			r = buf_puts(&f->line, ",");
		if (r >= 0)
			r = json_append_text(&f->line, title.data, title.len);
		if (r >= 0)
			r = buf_puts(&f->line, ":");
		if (r >= 0)
			r = append_value(f, i, &cells[i]);
	}
	buf_release(&title);
	if (r >= 0)
		r = buf_puts(&f->line, "}");
	return r < 0 ? r : format_flush_line(f);
}

static int end(struct formatter *f)
{
	int r = buf_puts(&f->line, f->rows ? "\n]\n" : "]\n");

	return r < 0 ? r : format_flush_line(f);
}

const struct format_ops format_json_ops = { begin, row, end };
