/* column and table: texts left, numbers right, headings centred. Widths come from the
 * headings and the first rows; what is longer later is cut (texts) or sticks out (numbers). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "stats/format_internal.h"

static size_t display_length(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80; /* not a continuation byte of UTF-8 */
	return n;
}

/* Bytes of the first `characters` characters. */
static size_t byte_length(const char *text, size_t len, size_t characters)
{
	size_t i = 0;

	while (i < len) {
		if (((unsigned char)text[i] & 0xc0) != 0x80 && characters-- == 0)
			break;
		i++;
	}
	return i;
}

static void append_blanks(struct buf *line, size_t count, char blank)
{
	while (count-- > 0)
		buf_append(line, &blank, 1);
}

/* What would move the cursor or break the row in a terminal is not passed on. */
static void append_visible(struct buf *line, const char *text, size_t len)
{
	unsigned char c;

	for (size_t i = 0; i < len; i++) {
		c = (unsigned char)text[i];
		if (c == '\t' || c == '\n' || c == '\r')
			buf_puts(line, " ");
		else if (c < 0x20 || c == 0x7f)
			buf_puts(line, "?");
		else
			buf_append(line, &text[i], 1);
	}
}

static int is_column_shown(const struct formatter *f, size_t column)
{
	return column >= f->spec.width_count || f->spec.widths[column] != 0;
}

enum alignment { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_CENTRE };

static void append_padded(struct formatter *f, const char *text, size_t len, size_t width, enum alignment alignment)
{
	size_t shown = display_length(text, len), left = 0, right;
	int cut = shown > width && alignment != ALIGN_RIGHT && width > 0;

	if (cut) {
		len = byte_length(text, len, width - 1);
		shown = width;
	}
	right = width > shown ? width - shown : 0;
	if (alignment == ALIGN_RIGHT)
		left = right;
	if (alignment == ALIGN_CENTRE)
		left = right / 2 + (right & width & 1);
	append_blanks(&f->line, left, ' ');
	append_visible(&f->line, text, len);
	if (cut)
		buf_puts(&f->line, "\xe2\x80\xa6"); /* an ellipsis */
	append_blanks(&f->line, right - left, ' ');
}

static void begin_cell(struct formatter *f, int first)
{
	if (f->spec.kind == FORMAT_TABLE)
		buf_puts(&f->line, first ? "| " : " | ");
	else
		buf_puts(&f->line, first ? " " : "  ");
}

static int end_row(struct formatter *f)
{
	buf_puts(&f->line, f->spec.kind == FORMAT_TABLE ? " |\n" : "\n");
	return format_flush_line(f);
}

static int write_cells(struct formatter *f, const struct buf *cells, const uint8_t *numbers)
{
	int first = 1;

	for (size_t i = 0; i < f->column_count; i++) {
		if (!is_column_shown(f, i))
			continue;
		begin_cell(f, first);
		first = 0;
		/* Aligned to the right means not cut: that is for numbers. */
		append_padded(f, cells[i].data, cells[i].len, f->widths[i], f->right[i] && numbers[i] ? ALIGN_RIGHT : ALIGN_LEFT);
	}
	return end_row(f);
}

static int write_rule(struct formatter *f)
{
	int table = f->spec.kind == FORMAT_TABLE, first = 1;

	for (size_t i = 0; i < f->column_count; i++) {
		if (!is_column_shown(f, i))
			continue;
		buf_puts(&f->line, table ? first ? "+-" : "-+-" : first ? " " : "  ");
		first = 0;
		append_blanks(&f->line, f->widths[i], '-');
	}
	buf_puts(&f->line, table ? "-+\n" : "\n");
	return format_flush_line(f);
}

static int write_heading(struct formatter *f)
{
	CLEANUP(buf_release) struct buf title = BUF_INIT;
	int first = 1;

	if (f->spec.kind == FORMAT_TABLE)
		TRY(write_rule(f));
	if (f->spec.no_header)
		return 0;
	for (size_t i = 0; i < f->column_count; i++) {
		if (!is_column_shown(f, i))
			continue;
		buf_clear(&title);
		TRY(column_title(&title, &f->columns[i], f->unit));
		begin_cell(f, first);
		first = 0;
		append_padded(f, title.data, title.len, f->widths[i], ALIGN_CENTRE);
	}
	TRY(end_row(f));
	return write_rule(f);
}

static int begin_column_table(struct formatter *f)
{
	size_t cells = FORMAT_SAMPLE_ROWS * f->column_count;

	f->sample = calloc(cells + 1, sizeof(*f->sample));
	f->sample_number = calloc(cells + 1, 1);
	f->widths = calloc(f->column_count + 1, sizeof(*f->widths));
	f->right = calloc(f->column_count + 1, 1);
	return f->sample && f->sample_number && f->widths && f->right ? 0 : -ENOMEM;
}

static size_t limit_width(const struct formatter *f, size_t width)
{
	return f->spec.no_limit || width <= FORMAT_MAX_COLUMN ? width : FORMAT_MAX_COLUMN;
}

/* Numbers: by declaration, or when the first rows have nothing else. */
static int column_is_number(const struct formatter *f, size_t column)
{
	int any = 0;

	if (f->columns[column].display != DISPLAY_PLAIN)
		return display_is_number(f->columns[column].display);
	for (size_t row = 0; row < f->sample_rows; row++) {
		if (f->sample_number[row * f->column_count + column])
			any = 1;
		else if (f->sample[row * f->column_count + column].len)
			return 0;
	}
	return any;
}

static int settle_width(struct formatter *f, size_t column)
{
	struct buf title = BUF_INIT;
	const struct buf *cell;
	size_t width;
	int r = column_title(&title, &f->columns[column], f->unit);

	width = f->spec.no_header ? 0 : display_length(title.data, title.len);
	buf_release(&title);
	for (size_t row = 0; row < f->sample_rows; row++) {
		cell = &f->sample[row * f->column_count + column];
		if (display_length(cell->data, cell->len) > width)
			width = display_length(cell->data, cell->len);
	}
	f->widths[column] = limit_width(f, width);
	if (column < f->spec.width_count && f->spec.widths[column] >= 0)
		f->widths[column] = (size_t)f->spec.widths[column];
	f->right[column] = (uint8_t)column_is_number(f, column);
	return r;
}

static int settle_column_widths(struct formatter *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->column_count; i++)
		r = settle_width(f, i);
	f->widths_known = 1;
	if (r >= 0)
		r = write_heading(f);
	for (size_t row = 0; r >= 0 && row < f->sample_rows; row++)
		r = write_cells(f, f->sample + row * f->column_count, f->sample_number + row * f->column_count);
	return r;
}

static int format_cells(struct formatter *f, const struct cell *cells, struct buf *texts, uint8_t *numbers)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->column_count; i++) {
		buf_clear(&texts[i]);
		r = cell_format(&texts[i], &cells[i], f->columns[i].display, f->unit, !f->spec.no_separators);
		numbers[i] = cells[i].kind == CELL_NUMBER || cells[i].kind == CELL_REAL;
	}
	return r;
}

static int add_column_row(struct formatter *f, const struct cell *cells)
{
	size_t at = f->widths_known ? 0 : f->sample_rows;

	TRY(format_cells(f, cells, f->sample + at * f->column_count, f->sample_number + at * f->column_count));
	if (f->widths_known)
		return write_cells(f, f->sample, f->sample_number);
	if (++f->sample_rows < FORMAT_SAMPLE_ROWS)
		return 0;
	return settle_column_widths(f);
}

static int end_column_table(struct formatter *f)
{
	TRY(f->widths_known ? 0 : settle_column_widths(f));
	if (f->spec.kind == FORMAT_TABLE)
		TRY(write_rule(f));
	return 0;
}

const struct format_ops format_column_ops = { begin_column_table, add_column_row, end_column_table };
