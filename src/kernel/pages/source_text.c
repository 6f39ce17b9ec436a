/* The source page for people: few columns, the most telling. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/pages/source_internal.h"
#include "kernel/pages/text.h"

#define MOST_WIDTH 72
#define COLUMNS 10
#define MORE_COLUMNS 4 /* with a baseline: of samples, and of executions */

static int before_cells(struct text_table *t, const struct kernel_source *s, const struct source_item *item, const char *metric)
{
	double now = item ? source_value(s, item, metric) : NAN;
	double before = item && item->before ? source_value(s->before, item->before, metric) : NAN, change = baseline_change(before, now);
	char cell[64] = "";

	if (isfinite(before) && (before != 0 || now != 0))
		snprintf(cell, sizeof(cell), "%.0f", before);
	TRY(text_table_add(t, cell));
	cell[0] = '\0';
	if (isfinite(change) && change != 0)
		snprintf(cell, sizeof(cell), "%+.1f%%", change);
	return text_table_add(t, cell);
}

/* The item NULL: a line of which nothing is known. */
static int number_cells(struct text_table *t, const struct kernel_source *s, const struct source_item *item)
{
	/* clang-format off */
	static const char *const counts[] = { "smsp__pcsamp_sample_count", NULL, "inst_executed", "thread_inst_executed_true",
					      "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
					      "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal" };
	/* clang-format on */
	double share = 0, value, executed = item ? source_value(s, item, "inst_executed") : 0;
	const char *stall = item ? source_main_stall(s, item, &share) : NULL;
	char cell[64];
	int r = 0;

	for (size_t i = 0; i < COUNT_OF(counts) && r >= 0; i++) {
		value = item && counts[i] ? source_value(s, item, counts[i]) : 0;
		cell[0] = '\0';
		if (!counts[i] && stall)
			snprintf(cell, sizeof(cell), "%.0f%% %s", 100 * share, stall);
		else if (counts[i] && i == 3 && executed > 0 && isfinite(value))
			snprintf(cell, sizeof(cell), "%.1f", value / executed);
		else if (counts[i] && i != 3 && value > 0)
			snprintf(cell, sizeof(cell), "%.0f", value);
		r = text_table_add(t, cell);
		if (r >= 0 && t->columns > COLUMNS && (i == 0 || i == 2))
			r = before_cells(t, s, item, counts[i]);
	}
	return r;
}

static int text_row(struct text_table *t, const struct kernel_source *s, const struct source_item *item, const char *place,
		    const char *text)
{
	char cell[128];

	TRY(text_table_add(t, place));
	snprintf(cell, sizeof(cell), "%.*s", MOST_WIDTH, text);
	for (char *c = cell; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	TRY(text_table_add(t, cell));
	return number_cells(t, s, item);
}

static int text_instruction(struct text_table *t, const struct source_page *p, const struct source_item *item, bool is_below)
{
	char place[24];

	snprintf(place, sizeof(place), "%s%04x", is_below ? "  " : "", item->pc);
	return text_row(t, &p->instructions, item, place, *item->sass ? item->sass : "?");
}

/* Below a line that was inlined: what each of the ways to it did. */
static int text_calls(struct text_table *t, const struct source_page *p, const struct source_item *item)
{
	char *calls = source_calls_text(item->inlined), text[MOST_WIDTH + 8];
	int r = calls ? 0 : -ENOMEM;

	if (r >= 0) {
		snprintf(text, sizeof(text), "  < %s", calls);
		r = text_row(t, &p->calls, item, "", text);
	}
	free(calls);
	return r;
}

static int text_line(struct text_table *t, const struct source_page *p, const struct source_item *item)
{
	bool outermost = p->options->outermost;
	char *text = source_line_text(p, item), place[16];
	int r = text ? 0 : -ENOMEM;

	snprintf(place, sizeof(place), "%u", item->line);
	if (r >= 0)
		r = text_row(t, &p->lines, item, place, text);
	free(text);
	for (size_t i = 0; !outermost && i < p->calls.count && r >= 0; i++)
		if (*p->calls.items[i].inlined && source_is_of(&p->calls.items[i], item, false))
			r = text_calls(t, p, &p->calls.items[i]);
	for (size_t i = 0; p->options->view == SOURCE_CUDA_SASS && i < p->instructions.count && r >= 0; i++)
		if (source_is_of(&p->instructions.items[i], item, outermost))
			r = text_instruction(t, p, &p->instructions.items[i], true);
	return r;
}

static void begin_table(struct text_table *t, bool compares)
{
	*t = (struct text_table){ .columns = COLUMNS + (compares ? MORE_COLUMNS : 0), .left = 1u << 1 | 1u << (compares ? 5 : 3) };
}

static void print_source_table(FILE *out, struct text_table *t, bool lines)
{
	const char *first = lines ? "Line" : "Address";
	const char *plain[COLUMNS] = { first,     "Source",  "Samples", "Mostly",     "Executed",
				       "Threads", "Sectors", "Ideal",   "Wavefronts", "Ideal" };
	const char *compared[COLUMNS + MORE_COLUMNS] = { first,    "Source", "Samples", "Before",  "Change", "Mostly",     "Executed",
							 "Before", "Change", "Threads", "Sectors", "Ideal",  "Wavefronts", "Ideal" };
	static const unsigned plain_widths[COLUMNS] = { 7, 20, 7, 12, 8, 7, 7, 5, 10, 5 };
	static const unsigned compared_widths[COLUMNS + MORE_COLUMNS] = { 7, 20, 7, 7, 7, 12, 8, 8, 7, 7, 7, 5, 10, 5 };
	bool compares = t->columns > COLUMNS;

	text_table_print(out, t, compares ? compared : plain, compares ? compared_widths : plain_widths);
	text_table_release(t);
	begin_table(t, compares);
}

struct ptx_rows {
	const struct source_page *page;
	struct text_table *table;
};

static int add_ptx_text_row(void *context, const char *name, uint32_t line, const char *text, size_t len, const struct source_item *item)
{
	const struct ptx_rows *rows = context;
	char place[16], *copy = strndup(text, len);
	int r = copy ? 0 : -ENOMEM;

	snprintf(place, sizeof(place), "%u", line);
	if (r >= 0)
		r = text_row(rows->table, &rows->page->ptx, item, place, copy);
	free(copy);
	return r;
}

int source_write_text(const struct source_page *p)
{
	const struct kernel_source *lines = &p->lines;
	enum source_view view = p->options->view;
	struct text_table t;
	int r = 0;

	begin_table(&t, p->options->before != NULL);
	fprintf(p->out, "  %s\n", p->name);
	if (view == SOURCE_PTX)
		r = source_each_ptx(&p->ptx, add_ptx_text_row, &(struct ptx_rows){ p, &t });
	for (size_t i = 0; view == SOURCE_SASS && i < p->instructions.count && r >= 0; i++)
		r = text_instruction(&t, p, &p->instructions.items[i], false);
	for (size_t i = 0; (view == SOURCE_CUDA || view == SOURCE_CUDA_SASS) && i < lines->count && r >= 0; i++) {
		if (!i || strcmp(lines->items[i - 1].file, lines->items[i].file) != 0) {
			if (i)
				print_source_table(p->out, &t, true);
			fprintf(p->out, "    %s\n", lines->items[i].file);
		}
		r = text_line(&t, p, &lines->items[i]);
	}
	if (r >= 0)
		print_source_table(p->out, &t, view != SOURCE_SASS);
	text_table_release(&t);
	return r;
}
