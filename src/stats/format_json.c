/* json: an array of objects keyed by column title, one object per line. Values
 * that are missing are "" as in nsys's files. Always valid JSON. */
#include <string.h>

#include "stats/format_internal.h"

/* Bytes of the well-formed UTF-8 sequence at text; 0 if there is none. */
static size_t utf8_sequence(const unsigned char *text, size_t len)
{
	size_t need = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 :
		      text[0] >= 0xe0 && text[0] < 0xf0 ? 3 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;

	if (need == 0 || need > len)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond the last code point. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return need;
}

static int append_character(struct buf *line, const unsigned char *text, size_t need)
{
	switch (text[0]) {
	case '"': return buf_puts(line, "\\\"");
	case '\\': return buf_puts(line, "\\\\");
	case '\n': return buf_puts(line, "\\n");
	case '\r': return buf_puts(line, "\\r");
	case '\t': return buf_puts(line, "\\t");
	default: break;
	}
	if (text[0] < 0x20 || text[0] == 0x7f)
		return buf_printf(line, "\\u%04x", text[0]);
	return buf_append(line, text, need);
}

static int append_string(struct buf *line, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t need;
	int r = buf_puts(line, "\"");

	while (r >= 0 && len > 0) {
		need = utf8_sequence(at, len);
		r = need ? append_character(line, at, need) : buf_puts(line, "\xef\xbf\xbd");
		need = need ? need : 1;
		at += need;
		len -= need;
	}
	return r < 0 ? r : buf_puts(line, "\"");
}

static int append_value(struct formatter *f, size_t column, const struct cell *cell)
{
	struct buf text = BUF_INIT;
	int r = cell_format(&text, cell, f->columns[column].display, f->unit, 0);

	if (r >= 0 && (cell->kind == CELL_NUMBER || cell->kind == CELL_REAL) && text.len && text.data[0] != 'i' &&
	    !memchr(text.data, 'n', text.len))
		r = buf_append(&f->line, text.data, text.len);
	else if (r >= 0)
		r = append_string(&f->line, text.data, text.len);
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
			r = append_string(&f->line, title.data, title.len);
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
