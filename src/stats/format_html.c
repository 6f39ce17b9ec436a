/* hdoc: a page that stands alone; htable: the table only. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "stats/format_internal.h"

static void append_escaped(struct buf *line, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case '&': buf_puts(line, "&amp;"); break;
		case '<': buf_puts(line, "&lt;"); break;
		case '>': buf_puts(line, "&gt;"); break;
		case '"': buf_puts(line, "&quot;"); break;
		default: buf_append(line, &text[i], 1);
		}
}

static void append_tagged(struct buf *line, const char *tag, const char *attribute, const char *text, size_t len)
{
	buf_printf(line, "<%s%s>", tag, attribute);
	append_escaped(line, text, len);
	buf_printf(line, "</%s>", tag);
}

static void begin_page(struct formatter *f)
{
	static const char style[] = "body{font-family:sans-serif}table{border-collapse:collapse}"
				    "th,td{border:1px solid #ccc;padding:2px 8px;text-align:left}td.n{text-align:right}";
	const char *title = f->spec.title[0] ? f->spec.title : f->title ? f->title : "";

	buf_puts(&f->line, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n");
	append_tagged(&f->line, "title", "", title, strlen(title));
	if (f->spec.css[0]) {
		buf_puts(&f->line, "\n<link rel=\"stylesheet\" href=\"");
		append_escaped(&f->line, f->spec.css, strlen(f->spec.css));
		buf_puts(&f->line, "\">");
	} else {
		buf_printf(&f->line, "\n<style>%s</style>", style);
	}
	buf_puts(&f->line, "\n</head>\n<body>\n");
	append_tagged(&f->line, "h1", "", title, strlen(title));
	buf_puts(&f->line, "\n");
}

static int begin_html_table(struct formatter *f)
{
	CLEANUP(buf_release) struct buf title = BUF_INIT;

	if (f->spec.kind == FORMAT_HDOC)
		begin_page(f);
	buf_puts(&f->line, "<table>\n<tr>");
	for (size_t i = 0; i < f->column_count; i++) {
		buf_clear(&title);
		if (column_title(&title, &f->columns[i], f->unit) < 0)
			return -ENOMEM;
		append_tagged(&f->line, "th", "", title.data, title.len);
	}
	buf_puts(&f->line, "</tr>\n");
	return format_flush_line(f);
}

static int write_html_row(struct formatter *f, const struct cell *cells)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int number;

	buf_puts(&f->line, "<tr>");
	for (size_t i = 0; i < f->column_count; i++) {
		buf_clear(&text);
		number = cells[i].kind == CELL_NUMBER || cells[i].kind == CELL_REAL;
		TRY(cell_format(&text, &cells[i], f->columns[i].display, f->unit, 1));
		append_tagged(&f->line, "td", number ? " class=\"n\"" : "", text.data, text.len);
	}
	buf_puts(&f->line, "</tr>\n");
	return format_flush_line(f);
}

static int end_html_table(struct formatter *f)
{
	buf_puts(&f->line, "</table>\n");
	if (f->spec.kind == FORMAT_HDOC)
		buf_puts(&f->line, "</body>\n</html>\n");
	return format_flush_line(f);
}

const struct format_ops format_html_ops = { begin_html_table, write_html_row, end_html_table };
