/* csv (RFC 4180, lines end with a newline alone) and tsv. */
#include <string.h>

#include "stats/format_internal.h"

static int append_quoted(struct buf *line, const char *text, size_t len)
{
	int r = buf_puts(line, "\"");

	for (size_t i = 0; r >= 0 && i < len; i++) {
		if (text[i] == '"')
			r = buf_puts(line, "\"");
		if (r >= 0)
			r = buf_append(line, &text[i], 1);
	}
	return r < 0 ? r : buf_puts(line, "\"");
}

static int needs_quotes(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
			return 1;
	return 0;
}

/* One row must stay one line, and a tab must stay a separator. */
static int append_tab_safe(struct formatter *f, const char *text, size_t len)
{
	static const char *const escaped[] = { "\\t", "\\n", "\\r", "\\\\" };
	static const char special[] = "\t\n\r\\";
	const char *found;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < len; i++) {
		found = text[i] ? strchr(special, text[i]) : NULL;
		if (!found || (*found == '\\' && !f->spec.escape_tabs))
			r = buf_append(&f->line, &text[i], 1);
		else
			r = buf_puts(&f->line, f->spec.escape_tabs ? escaped[found - special] : " ");
	}
	return r;
}

static int append_field(struct formatter *f, size_t column, const char *text, size_t len)
{
	int tabs = f->spec.kind == FORMAT_TSV;
	int r = column ? buf_puts(&f->line, tabs ? "\t" : ",") : 0;

	if (r < 0)
		return r;
	if (tabs)
		return append_tab_safe(f, text, len);
	if (needs_quotes(text, len))
		return append_quoted(&f->line, text, len);
	return buf_append(&f->line, text, len);
}

static int end_line(struct formatter *f)
{
	int r = buf_puts(&f->line, "\n");

	return r < 0 ? r : format_flush_line(f);
}

static int begin(struct formatter *f)
{
	struct buf title = BUF_INIT;
	int r = 0;

	if (f->spec.no_header)
		return 0;
	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		buf_clear(&title);
		r = column_title(&title, &f->columns[i], f->unit);
		if (r >= 0)
			r = append_field(f, i, title.data, title.len);
	}
	buf_release(&title);
	return r < 0 ? r : end_line(f);
}

static int row(struct formatter *f, const struct cell *cells)
{
	struct buf text = BUF_INIT;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		buf_clear(&text);
		r = cell_format(&text, &cells[i], f->columns[i].display, f->unit, 0);
		if (r >= 0)
			r = append_field(f, i, text.data, text.len);
	}
	buf_release(&text);
	return r < 0 ? r : end_line(f);
}

const struct format_ops format_csv_ops = { begin, row, NULL };
