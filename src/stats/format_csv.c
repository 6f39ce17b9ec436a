/* csv (RFC 4180, lines end with a newline alone) and tsv. */
#include <string.h>

#include "base/csv_guard.h"
#include "stats/format_internal.h"

#define BLOCK 32768 /* bytes are written together */

/* From one quote to the next, and the one that ends the text. */
static int append_quoted(struct buf *line, const char *text, size_t len)
{
	const char *quote;
	size_t part;
	int r = 0;

	while (r >= 0 && (quote = memchr(text, '"', len))) {
		part = (size_t)(quote - text) + 1;
		r = buf_append(line, text, part);
		if (r >= 0)
			r = buf_append(line, "\"", 1);
		text += part;
		len -= part;
	}
	if (r >= 0)
		r = buf_append(line, text, len);
	return r < 0 ? r : buf_append(line, "\"", 1);
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

static int append_separator(struct formatter *f, size_t column)
{
	if (column == 0)
		return 0;
	return buf_append(&f->line, f->spec.kind == FORMAT_TSV ? "\t" : ",", 1);
}

static int append_text(struct formatter *f, const char *text, size_t len)
{
	bool quoted = f->spec.kind != FORMAT_TSV && needs_quotes(text, len);
	int r = quoted ? buf_append(&f->line, "\"", 1) : 0;

	if (r >= 0 && csv_needs_guard(text, len))
		r = buf_puts(&f->line, CSV_GUARD);
	if (r < 0)
		return r;
	if (f->spec.kind == FORMAT_TSV)
		return append_tab_safe(f, text, len);
	return quoted ? append_quoted(&f->line, text, len) : buf_append(&f->line, text, len);
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
			r = append_separator(f, i);
		if (r >= 0)
			r = append_text(f, title.data, title.len);
	}
	buf_release(&title);
	return r < 0 ? r : buf_append(&f->line, "\n", 1);
}

/* Numbers have nothing in them that would have to be quoted. */
static int row(struct formatter *f, const struct cell *cells)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		r = append_separator(f, i);
		if (r < 0)
			break;
		if (cells[i].kind == CELL_TEXT)
			r = append_text(f, cells[i].text, cells[i].len);
		else
			r = cell_format(&f->line, &cells[i], f->columns[i].display, f->unit, 0);
	}
	if (r >= 0)
		r = buf_append(&f->line, "\n", 1);
	return r < 0 || f->line.len < BLOCK ? r : format_flush_line(f);
}

static int end(struct formatter *f)
{
	return format_flush_line(f);
}

const struct format_ops format_csv_ops = { begin, row, end };
