/* json: an array of objects keyed by column title, one object per line. Values
 * that are missing are "" as in nsys's files. Always valid JSON. */
#include <string.h>

#include "base/cleanup.h"
#include "base/text/json_text.h"
#include "stats/format_internal.h"

static int append_value(struct formatter *f, size_t column, const struct cell *cell)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	TRY(cell_format(&text, cell, f->columns[column].display, f->unit, 0));
	if ((cell->kind == CELL_NUMBER || cell->kind == CELL_REAL) && text.len && text.data[0] != 'i' && !memchr(text.data, 'n', text.len))
		return buf_append(&f->line, text.data, text.len);
	return json_append_text(&f->line, text.data, text.len);
}

static int begin_json_table(struct formatter *f)
{
	buf_puts(&f->line, "[");
	return format_flush_line(f);
}

static int write_json_row(struct formatter *f, const struct cell *cells)
{
	CLEANUP(buf_release) struct buf title = BUF_INIT;

	buf_puts(&f->line, f->rows ? ",\n{" : "\n{");
	for (size_t i = 0; i < f->column_count; i++) {
		buf_clear(&title);
		TRY(column_title(&title, &f->columns[i], f->unit));
		if (i)
			buf_puts(&f->line, ",");
		json_append_text(&f->line, title.data, title.len);
		buf_puts(&f->line, ":");
		TRY(append_value(f, i, &cells[i]));
	}
	buf_puts(&f->line, "}");
	return format_flush_line(f);
}

static int end_json_table(struct formatter *f)
{
	buf_puts(&f->line, f->rows ? "\n]\n" : "]\n");
	return format_flush_line(f);
}

const struct format_ops format_json_ops = { begin_json_table, write_json_row, end_json_table };
