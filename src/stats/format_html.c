/* hdoc: a page that stands alone; htable: the table only. */
#include <string.h>

#include "stats/format_internal.h"

static int append_escaped(struct buf *line, const char *text, size_t len)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < len; i++)
		switch (text[i]) {
		case '&': r = buf_puts(line, "&amp;"); break;
		case '<': r = buf_puts(line, "&lt;"); break;
		case '>': r = buf_puts(line, "&gt;"); break;
		case '"': r = buf_puts(line, "&quot;"); break;
		default: r = buf_append(line, &text[i], 1);
		}
	return r;
}

static int append_tagged(struct buf *line, const char *tag, const char *attribute, const char *text, size_t len)
{
	int r = buf_printf(line, "<%s%s>", tag, attribute);

	if (r >= 0)
		r = append_escaped(line, text, len);
	return r < 0 ? r : buf_printf(line, "</%s>", tag);
}

static int begin_page(struct formatter *f)
{
	static const char style[] =
		"body{font-family:sans-serif}table{border-collapse:collapse}"
		"th,td{border:1px solid #ccc;padding:2px 8px;text-align:left}td.n{text-align:right}";
	const char *title = f->spec.title[0] ? f->spec.title : f->title ? f->title : "";
	int r = buf_puts(&f->line, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n");

	if (r >= 0)
		r = append_tagged(&f->line, "title", "", title, strlen(title));
	if (r >= 0 && f->spec.css[0]) {
		r = buf_puts(&f->line, "\n<link rel=\"stylesheet\" href=\"");
		if (r >= 0)
			r = append_escaped(&f->line, f->spec.css, strlen(f->spec.css));
		if (r >= 0)
			r = buf_puts(&f->line, "\">");
	} else if (r >= 0) {
		r = buf_printf(&f->line, "\n<style>%s</style>", style);
	}
	if (r >= 0)
		r = buf_puts(&f->line, "\n</head>\n<body>\n");
	if (r >= 0)
		r = append_tagged(&f->line, "h1", "", title, strlen(title));
	return r < 0 ? r : buf_puts(&f->line, "\n");
}

static int begin(struct formatter *f)
{
	struct buf title = BUF_INIT;
	int r = f->spec.kind == FORMAT_HDOC ? begin_page(f) : 0;

	if (r >= 0)
		r = buf_puts(&f->line, "<table>\n<tr>");
	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		buf_clear(&title);
		r = column_title(&title, &f->columns[i], f->unit);
		if (r >= 0)
			r = append_tagged(&f->line, "th", "", title.data, title.len);
	}
	buf_release(&title);
	if (r >= 0)
		r = buf_puts(&f->line, "</tr>\n");
	return r < 0 ? r : format_flush_line(f);
}

static int row(struct formatter *f, const struct cell *cells)
{
	struct buf text = BUF_INIT;
	int r = buf_puts(&f->line, "<tr>"), number;

	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		buf_clear(&text);
		number = cells[i].kind == CELL_NUMBER || cells[i].kind == CELL_REAL;
		r = cell_format(&text, &cells[i], f->columns[i].display, f->unit, 1);
		if (r >= 0)
			r = append_tagged(&f->line, "td", number ? " class=\"n\"" : "", text.data, text.len);
	}
	buf_release(&text);
	if (r >= 0)
		r = buf_puts(&f->line, "</tr>\n");
	return r < 0 ? r : format_flush_line(f);
}

static int end(struct formatter *f)
{
	int r = buf_puts(&f->line, "</table>\n");

	if (r >= 0 && f->spec.kind == FORMAT_HDOC)
		r = buf_puts(&f->line, "</body>\n</html>\n");
	return r < 0 ? r : format_flush_line(f);
}

const struct format_ops format_html_ops = { begin, row, end };
