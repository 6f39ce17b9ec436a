/* csv (RFC 4180, lines end with a newline alone) and tsv. */
#include <string.h>

#include "base/cleanup.h"
#include "base/text/csv_guard.h"
#include "stats/format_internal.h"

#define BLOCK 32768 /* bytes are written together */

/* From one quote to the next, and the one that ends the text. */
static void append_quoted(struct buf *line, const char *text, size_t len)
{
	const char *quote;
	size_t part;

	while ((quote = memchr(text, '"', len))) {
		part = (size_t)(quote - text) + 1;
		buf_append(line, text, part);
		buf_append(line, "\"", 1);
		text += part;
		len -= part;
	}
	buf_append(line, text, len);
	buf_append(line, "\"", 1);
}

static int needs_quotes(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
			return 1;
	return 0;
}

/* One row must stay one line, and a tab must stay a separator. */
static void append_tab_safe(struct formatter *f, const char *text, size_t len)
{
	static const char *const escaped[] = { "\\t", "\\n", "\\r", "\\\\" };
	static const char special[] = "\t\n\r\\";
	const char *found;

	for (size_t i = 0; i < len; i++) {
		found = text[i] ? strchr(special, text[i]) : NULL;
		if (!found || (*found == '\\' && !f->spec.escape_tabs))
			buf_append(&f->line, &text[i], 1);
		else
			buf_puts(&f->line, f->spec.escape_tabs ? escaped[found - special] : " ");
	}
}

static void append_separator(struct formatter *f, size_t column)
{
	if (column)
		buf_append(&f->line, f->spec.kind == FORMAT_TSV ? "\t" : ",", 1);
}

static void append_text(struct formatter *f, const char *text, size_t len)
{
	bool quoted = f->spec.kind != FORMAT_TSV && needs_quotes(text, len);

	if (quoted)
		buf_append(&f->line, "\"", 1);
	if (csv_needs_guard(text, len))
		buf_puts(&f->line, CSV_GUARD);
	if (f->spec.kind == FORMAT_TSV)
		append_tab_safe(f, text, len);
	else if (quoted)
		append_quoted(&f->line, text, len);
	else
		buf_append(&f->line, text, len);
}

static int begin_csv_table(struct formatter *f)
{
	CLEANUP(buf_release) struct buf title = BUF_INIT;

	if (f->spec.no_header)
		return 0;
	for (size_t i = 0; i < f->column_count; i++) {
		buf_clear(&title);
		TRY(column_title(&title, &f->columns[i], f->unit));
		append_separator(f, i);
		append_text(f, title.data, title.len);
	}
	return buf_append(&f->line, "\n", 1);
}

/* Numbers have nothing in them that would have to be quoted. */
static int write_csv_row(struct formatter *f, const struct cell *cells)
{
	for (size_t i = 0; i < f->column_count; i++) {
		append_separator(f, i);
		if (cells[i].kind == CELL_TEXT)
			append_text(f, cells[i].text, cells[i].len);
		else
			cell_format(&f->line, &cells[i], f->columns[i].display, f->unit, 0);
	}
	buf_append(&f->line, "\n", 1);
	return buf_result(&f->line) < 0 || f->line.len >= BLOCK ? format_flush_line(f) : 0;
}

static int end_csv_table(struct formatter *f)
{
	return format_flush_line(f);
}

const struct format_ops format_csv_ops = { begin_csv_table, write_csv_row, end_csv_table };
