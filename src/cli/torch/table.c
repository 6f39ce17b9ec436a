#include "cli/torch/table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/macros.h"

#define WIDTH 12
#define MOST_COLUMNS 24

struct column {
	const char *title;
	int width;
	bool is_left; /* texts begin at its left edge */
};

struct totals {
	int64_t self_cpu;
	int64_t self_device;
};

/* What a table has, and what is in the line that is being made. */
struct table {
	const struct torch_rows *rows;
	const struct torch_layout *layout;
	struct column columns[MOST_COLUMNS];
	int column_count;
	int name_width, shapes_width, source_width;
	bool has_device, has_device_memory, has_shapes, has_stack;
	int source; /* the column of stacks */
	double flops_scale;
	char flops_title[16];
	struct totals totals;
	struct buf line;
	int at; /* column that comes next */
};

/* As Python counts: characters, not bytes. */
static int count_characters(const char *text, size_t len)
{
	int count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* Bytes of the first `count` characters. */
static size_t bytes_of(const char *text, int count)
{
	size_t at = 0;

	while (text[at] && count >= 0) {
		count -= ((unsigned char)text[at] & 0xc0) != 0x80;
		if (count >= 0)
			at++;
	}
	return at;
}

static void add_column(struct table *t, const char *title, int width)
{
	if (t->column_count < MOST_COLUMNS)
		t->columns[t->column_count++] = (struct column){ title, width, false };
}

static int limit_width(int64_t width, int64_t limit)
{
	return (int)(limit > 0 && width > limit ? limit : width);
}

/* The widest of all rows decides, also where it is not among those shown. */
static void measure_rows(struct table *t)
{
	int64_t name = 0, shapes = 0, source = 0, width;

	for (size_t i = 0; i < t->rows->count; i++) {
		const struct torch_row *row = &t->rows->rows[i];

		width = count_characters(row->name, strlen(row->name));
		name = width > name ? width : name;
		width = count_characters(row->shapes, strlen(row->shapes));
		shapes = width > shapes ? width : shapes;
		t->has_shapes |= row->shapes[0] && strcmp(row->shapes, "[]") != 0;
		t->has_stack |= row->stack[0] != '\0';
		for (const char *at = row->stack; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != '\0')) {
			width = count_characters(at, strcspn(at, "\n"));
			source = width > source ? width : source;
		}
		t->has_device |= row->self_device > 0;
		t->has_device_memory |= row->self_device_memory > 0;
		t->totals.self_cpu += row->self_cpu;
		t->totals.self_device += row->on_device && !row->is_annotation ? row->self_device : 0;
	}
	t->name_width = limit_width(name + 4, t->layout->name_width);
	t->shapes_width = limit_width(shapes + 4, t->layout->shapes_width);
	t->source_width = limit_width(source + 4, t->layout->source_width);
}

/* The smallest of all decides the unit. */
static void choose_flops_scale(struct table *t)
{
	static const char *const units[] = { "FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs" };
	int64_t least = 0;
	double power;

	for (size_t i = 0; i < t->rows->count; i++)
		if (t->rows->rows[i].flops > 0 && (!least || t->rows->rows[i].flops < least))
			least = t->rows->rows[i].flops;
	if (!least || !t->layout->flops)
		return;
	power = fmin(log10((double)least) / 3, COUNT_OF(units) - 1);
	t->flops_scale = pow(10, -3 * floor(power));
	snprintf(t->flops_title, sizeof(t->flops_title), "Total %s", units[(int)power]);
}

static void choose_columns(struct table *t)
{
	static const char *const cpu[] = { "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg" };
	static const char *const device[] = { "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg" };
	static const char *const memory[] = { "CPU Mem", "Self CPU Mem", "CUDA Mem", "Self CUDA Mem" };

	add_column(t, "Name", t->name_width);
	for (unsigned i = 0; i < COUNT_OF(cpu); i++)
		add_column(t, cpu[i], WIDTH);
	for (unsigned i = 0; t->has_device && i < COUNT_OF(device); i++)
		add_column(t, device[i], WIDTH);
	for (unsigned i = 0; t->rows->has_memory && i < (t->has_device_memory ? 4U : 2U); i++)
		add_column(t, memory[i], WIDTH);
	add_column(t, "# of Calls", WIDTH);
	if (t->has_shapes)
		add_column(t, "Input Shapes", t->shapes_width);
	t->source = t->column_count;
	if (t->has_stack)
		add_column(t, "Source Location", t->source_width);
	t->columns[t->source].is_left = t->has_stack;
	if (t->flops_scale > 0)
		add_column(t, t->flops_title, WIDTH);
}

static void put_spaces(struct buf *b, int count)
{
	for (; count > 0; count--)
		buf_append(b, " ", 1);
}

static char visible_of(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

void torch_write_visible(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(visible_of(*text), out);
}

static void append_visible(struct buf *line, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_append(line, &(char){ visible_of(text[i]) }, 1);
}

static void put_bytes_cell(struct table *t, const char *text, size_t len)
{
	const struct column *c = &t->columns[t->at++];
	int spaces = c->width - count_characters(text, len);

	if (!c->is_left)
		put_spaces(&t->line, spaces);
	append_visible(&t->line, text, len);
	if (c->is_left)
		put_spaces(&t->line, spaces);
	buf_append(&t->line, "  ", 2);
}

static void put_text(struct table *t, const char *text)
{
	put_bytes_cell(t, text, strlen(text));
}

static void end_line(struct table *t)
{
	buf_append(&t->line, "\n", 1);
	t->at = 0;
}

void torch_format_time(char *ret, size_t size, double ns, enum torch_unit unit)
{
	double us = ns / 1000;

	if (unit == TORCH_UNIT_S || (unit == TORCH_UNIT_FITTING && us >= 1e6))
		snprintf(ret, size, "%.3fs", us / 1e6);
	else if (unit == TORCH_UNIT_MS || (unit == TORCH_UNIT_FITTING && us >= 1e3))
		snprintf(ret, size, "%.3fms", us / 1e3);
	else
		snprintf(ret, size, "%.3fus", us);
}

static void put_time(struct table *t, double ns)
{
	char text[48];

	torch_format_time(text, sizeof(text), ns, t->layout->unit);
	put_text(t, text);
}

static void put_share(struct table *t, int64_t part, int64_t whole)
{
	char text[48];

	snprintf(text, sizeof(text), "%.2f%%", (double)part / 1000 * 100 / ((double)whole / 1000));
	put_text(t, whole ? text : "NaN");
}

static void put_memory(struct table *t, int64_t bytes)
{
	static const char *const units[] = { "GB", "MB", "KB" };
	double unit = 1 << 30, size = fabs((double)bytes);
	char text[48];

	snprintf(text, sizeof(text), "%lld B", (long long)bytes);
	for (unsigned i = 0; i < COUNT_OF(units); i++, unit /= 1024)
		if (size >= unit) {
			snprintf(text, sizeof(text), "%.2f %s", (double)bytes / unit, units[i]);
			break;
		}
	put_text(t, text);
}

static void put_name_cell(struct table *t, const char *name)
{
	int64_t limit = t->layout->name_width - 3;
	size_t len = strlen(name);
	char cut[4096];

	if (t->layout->name_width <= 0 || count_characters(name, len) < limit) {
		put_text(t, name);
		return;
	}
	snprintf(cut, sizeof(cut), "%.*s...", (int)bytes_of(name, (int)(limit > 0 ? limit : 0)), name);
	put_text(t, cut);
}

/* The end of a path says more than its begin. */
static void put_source(struct table *t, const char *text, size_t len)
{
	int characters = count_characters(text, len), width = t->source_width;
	struct buf cut = BUF_INIT;
	size_t skip;

	if (characters <= width) {
		put_bytes_cell(t, text, len);
		return;
	}
	skip = bytes_of(text, characters - width + (width > 3 ? 3 : 0));
	buf_puts(&cut, width > 3 ? "..." : "");
	buf_append(&cut, text + skip, len - skip);
	put_bytes_cell(t, buf_cstr(&cut), cut.len);
	buf_release(&cut);
}

static void put_flops(struct table *t, int64_t flops)
{
	char text[48];

	snprintf(text, sizeof(text), "%8.3f", (double)flops * t->flops_scale);
	put_text(t, flops > 0 ? text : "--");
}

/* The functions that are left, a line each, and an empty line. */
static void put_stack_rest(struct table *t, const char *at)
{
	while (*at) {
		size_t len = strcspn(at, "\n");

		for (int i = 0; i < t->column_count; i++) {
			if (i == t->source)
				put_source(t, at, len);
			else
				put_text(t, "");
		}
		end_line(t);
		at += len + (at[len] != '\0');
	}
	for (int i = 0; i < t->column_count; i++)
		put_text(t, "");
	end_line(t);
}

static void put_row_figures(struct table *t, const struct torch_row *row)
{
	put_share(t, row->self_cpu, t->totals.self_cpu);
	put_time(t, (double)row->self_cpu);
	if (row->is_async)
		put_text(t, "0");
	else
		put_share(t, row->cpu, t->totals.self_cpu);
	put_time(t, (double)row->cpu);
	put_time(t, (double)row->cpu / (double)row->count);
	if (t->has_device) {
		put_time(t, (double)row->self_device);
		put_share(t, row->self_device, t->totals.self_device);
		put_time(t, (double)row->device);
		put_time(t, (double)row->device / (double)row->count);
	}
	if (t->rows->has_memory) {
		put_memory(t, row->cpu_memory);
		put_memory(t, row->self_cpu_memory);
	}
	if (t->rows->has_memory && t->has_device_memory) {
		put_memory(t, row->device_memory);
		put_memory(t, row->self_device_memory);
	}
}

static void put_row(struct table *t, const struct torch_row *row)
{
	size_t first = strcspn(row->stack, "\n");
	char text[24];

	put_name_cell(t, row->name);
	put_row_figures(t, row);
	snprintf(text, sizeof(text), "%lld", (long long)row->count);
	put_text(t, text);
	if (t->has_shapes)
		put_bytes_cell(t, row->shapes, bytes_of(row->shapes, t->shapes_width));
	if (t->has_stack)
		put_source(t, row->stack, first);
	if (t->flops_scale > 0)
		put_flops(t, row->flops);
	end_line(t);
	if (t->has_stack)
		put_stack_rest(t, row->stack + first + (row->stack[first] != '\0'));
}

static void put_rule(struct table *t, char of)
{
	for (int i = 0; i < t->column_count; i++) {
		for (int k = 0; k < t->columns[i].width; k++)
			buf_append(&t->line, &of, 1);
		if (of == '-')
			buf_append(&t->line, "  ", 2);
		else if (i + 1 < t->column_count)
			buf_append(&t->line, "==", 2);
	}
	end_line(t);
}

int torch_write_result(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno == EPIPE ? -EPIPE : -EIO;
}

static int write_lines(struct table *t, FILE *out)
{
	int r = buf_result(&t->line);

	if (r >= 0 && fwrite(t->line.data, 1, t->line.len, out) != t->line.len)
		r = torch_write_result(out);
	buf_clear(&t->line);
	return r;
}

static int write_head(struct table *t, FILE *out)
{
	if (t->layout->header) {
		put_rule(t, '=');
		buf_printf(&t->line, "%s\n", t->layout->header);
	}
	if (t->layout->top_level) {
		put_rule(t, '=');
		buf_puts(&t->line, "This report only display top-level ops statistics\n");
	}
	put_rule(t, '-');
	for (int i = 0; i < t->column_count; i++)
		put_text(t, t->columns[i].title);
	end_line(t);
	put_rule(t, '-');
	return write_lines(t, out);
}

static int write_foot(struct table *t, FILE *out)
{
	char text[48];

	put_rule(t, '-');
	torch_format_time(text, sizeof(text), (double)t->totals.self_cpu, t->layout->unit);
	buf_printf(&t->line, "Self CPU time total: %s\n", text);
	torch_format_time(text, sizeof(text), (double)t->totals.self_device, t->layout->unit);
	if (t->has_device)
		buf_printf(&t->line, "Self CUDA time total: %s\n", text);
	return write_lines(t, out);
}

int torch_table_print(FILE *out, const struct torch_rows *rows, const struct torch_layout *layout)
{
	struct table t = { .rows = rows, .layout = layout, .line = BUF_INIT };
	int64_t shown = 0;
	int r;

	measure_rows(&t);
	choose_flops_scale(&t);
	choose_columns(&t);
	r = write_head(&t, out);
	for (size_t i = 0; r >= 0 && i < rows->count && shown != layout->row_limit; i++) {
		if (layout->top_level && rows->rows[i].is_nested)
			continue;
		put_row(&t, &rows->rows[i]);
		r = write_lines(&t, out);
		shown++;
	}
	if (r >= 0)
		r = write_foot(&t, out);
	buf_release(&t.line);
	return r;
}
