/* The source page as a table, with ncu's columns. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/source/opcode.h"
#include "kernel/pages/source_internal.h"
#include "kernel/pages/text.h"

static void csv_number(FILE *out, double value)
{
	char text[64];

	snprintf(text, sizeof(text), value == rint(value) ? "%.0f" : "%.2f", value);
	csv_cell(out, text, false);
}

static bool has_lines(enum source_view view)
{
	return view != SOURCE_SASS;
}

static bool has_instructions(enum source_view view)
{
	return view == SOURCE_SASS || view == SOURCE_CUDA_SASS;
}

static void title_cells(const struct source_page *p, const char *title)
{
	static const char *const more[] = { "baseline", "change" };
	char text[128];

	csv_cell(p->out, title, false);
	for (size_t i = 0; p->options->before && i < 2; i++) {
		snprintf(text, sizeof(text), "%s [%s]", title, more[i]);
		csv_cell(p->out, text, false);
	}
}

static void number_or_nothing(FILE *out, double value)
{
	if (isfinite(value))
		csv_number(out, value);
	else
		csv_cell(out, "", false);
}

/* Beside it, where there is a baseline, what it was there, and by how many percent it changed. */
static void number_cells(const struct source_page *p, double value, double before)
{
	number_or_nothing(p->out, value);
	if (!p->options->before)
		return;
	number_or_nothing(p->out, before);
	number_or_nothing(p->out, baseline_change(before, value));
}

static void heading(const struct source_page *p)
{
	enum source_view view = p->options->view;

	if (has_lines(view)) {
		csv_cell(p->out, "Line No", true);
		csv_cell(p->out, "Source", false);
	}
	if (has_instructions(view)) {
		csv_cell(p->out, "Address", view == SOURCE_SASS);
		csv_cell(p->out, "Source", false);
	}
	for (size_t c = 0; c < SOURCE_COLUMNS; c++) {
		if (c == SOURCE_BEFORE_MEMORY && has_instructions(view)) {
			csv_cell(p->out, "Address Space", false);
			csv_cell(p->out, "Access Operation", false);
			csv_cell(p->out, "Access Size", false);
		}
		if (p->shown[c])
			title_cells(p, source_column_title(c));
	}
	for (size_t k = 0; k < 2 * SOURCE_STALLS; k++) {
		char title[64];

		snprintf(title, sizeof(title), "%s%s", source_stall_title(k % SOURCE_STALLS), k >= SOURCE_STALLS ? " (Not Issued)" : "");
		if (p->shown_stalls[k / SOURCE_STALLS][k % SOURCE_STALLS])
			title_cells(p, title);
	}
	if (p->is_inlined && view != SOURCE_PTX)
		csv_cell(p->out, "Inlined", false);
	fputc('\n', p->out);
}

static void access_cells(FILE *out, const struct source_item *item)
{
	struct source_access access;
	char bits[16] = "-";
	bool is_access = source_access(item->sass, &access);

	if (is_access)
		snprintf(bits, sizeof(bits), "%u", access.bits);
	csv_cell(out, is_access ? access.space : "-", false);
	csv_cell(out, is_access ? access.operation : "-", false);
	csv_cell(out, bits, false);
}

/* The item NULL: a line of which nothing is known. */
static void values(const struct source_page *p, const struct kernel_source *s, const struct source_item *item, bool with_access)
{
	for (size_t c = 0; c < SOURCE_COLUMNS; c++) {
		if (c == SOURCE_BEFORE_MEMORY && with_access)
			access_cells(p->out, item);
		if (p->shown[c])
			number_cells(p, item ? source_column_value(p, s, item, c) : NAN,
				     item && item->before ? source_column_value(p, s->before, item->before, c) : NAN);
	}
	for (size_t k = 0; k < 2 * SOURCE_STALLS; k++) {
		bool without_issue = k >= SOURCE_STALLS;

		if (p->shown_stalls[without_issue][k % SOURCE_STALLS])
			number_cells(p, item ? source_stall_value(s, item, k % SOURCE_STALLS, without_issue) : NAN,
				     item && item->before ? source_stall_value(s->before, item->before, k % SOURCE_STALLS, without_issue) :
							    NAN);
	}
}

static int instruction(const struct source_page *p, const struct source_item *item, bool is_below)
{
	char address[24], *calls = source_calls_text(item->inlined);

	if (!calls)
		return -ENOMEM;
	snprintf(address, sizeof(address), "0x%04x", item->pc);
	if (is_below) {
		csv_cell(p->out, "", true);
		csv_cell(p->out, "", false);
	}
	csv_cell(p->out, address, !is_below);
	csv_cell(p->out, *item->sass ? item->sass : "?", false);
	values(p, &p->instructions, item, true);
	if (p->is_inlined)
		csv_cell(p->out, calls, false);
	free(calls);
	fputc('\n', p->out);
	return 0;
}

/* All ways by which a line was inlined, in one cell. */
static int calls_cell(const struct source_page *p, const struct source_item *line)
{
	char *all = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&all, &size);
	bool any = false;
	int r = to ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && !p->options->outermost && i < p->calls.count; i++) {
		const struct source_item *item = &p->calls.items[i];
		char *calls;

		if (!*item->inlined || !source_is_of(item, line, false))
			continue;
		calls = source_calls_text(item->inlined);
		r = calls ? fprintf(to, "%s%s", any ? " | " : "", calls) : -ENOMEM;
		any = true;
		free(calls);
	}
	if (to && fclose(to) == 0 && r >= 0)
		csv_cell(p->out, all, false);
	free(all);
	return r < 0 ? -ENOMEM : 0;
}

static int line_row(const struct source_page *p, const struct source_item *item)
{
	bool with_instructions = p->options->view == SOURCE_CUDA_SASS;
	char *text = source_line_text(p, item), number[16];
	int r = 0;

	if (!text)
		return -ENOMEM;
	snprintf(number, sizeof(number), "%u", item->line);
	csv_cell(p->out, number, true);
	csv_cell(p->out, text, false);
	free(text);
	if (with_instructions) {
		csv_cell(p->out, "-", false);
		csv_cell(p->out, "-", false);
	}
	values(p, &p->lines, item, with_instructions);
	if (p->is_inlined)
		r = calls_cell(p, item);
	fputc('\n', p->out);
	for (size_t i = 0; with_instructions && i < p->instructions.count && r >= 0; i++)
		if (source_is_of(&p->instructions.items[i], item, p->options->outermost))
			r = instruction(p, &p->instructions.items[i], true);
	return r;
}

static void title(const struct source_page *p, const char *what, const char *name, const char *end)
{
	csv_cell(p->out, what, true);
	csv_cell(p->out, name, false);
	fputs(end, p->out);
}

static int write_ptx_csv_row(void *context, const char *name, uint32_t line, const char *text, size_t len, const struct source_item *item)
{
	const struct source_page *p = context;
	char number[16], *copy = strndup(text, len);

	if (!copy)
		return -ENOMEM;
	snprintf(number, sizeof(number), "%u", line);
	csv_cell(p->out, number, true);
	csv_cell(p->out, copy, false);
	free(copy);
	values(p, &p->ptx, item, false);
	fputc('\n', p->out);
	return 0;
}

int source_write_csv(const struct source_page *p)
{
	const struct kernel_source *lines = &p->lines;
	enum source_view view = p->options->view;
	int r = 0;

	if (view == SOURCE_SASS || view == SOURCE_PTX) {
		title(p, "Kernel Name", p->name, ",\n");
		heading(p);
	}
	if (view == SOURCE_PTX)
		return source_each_ptx(&p->ptx, write_ptx_csv_row, (void *)p);
	for (size_t i = 0; view == SOURCE_SASS && i < p->instructions.count && r >= 0; i++)
		r = instruction(p, &p->instructions.items[i], false);
	for (size_t i = 0; view != SOURCE_SASS && i < lines->count && r >= 0; i++) {
		if (!i || strcmp(lines->items[i - 1].file, lines->items[i].file) != 0) {
			title(p, "File Path", lines->items[i].file, "\n");
			title(p, "Function Name", p->name, "\n");
			heading(p);
		}
		r = line_row(p, &lines->items[i]);
	}
	return r;
}
