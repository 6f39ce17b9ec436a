/* One group of a summary: tables for people, rows of CSV, JSON. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/json_text.h"
#include "base/macros.h"
#include "kernel/pages/json.h"
#include "kernel/summary/summary.h"

#define NUMBER_WIDTH 12u
#define MOST_NAMED 5u /* values that are told to vary */

/* Columns of numbers behind name and unit. */
enum { COLUMN_MIN, COLUMN_MAX, COLUMN_MEAN, COLUMN_TOTAL, COLUMN_DEVIATION, COLUMN_PERCENT, COLUMN_BEFORE, COLUMN_CHANGE, COLUMNS };

static const char *const text_headings[COLUMNS] = { "Minimum",        "Maximum",   "Average",  "Total",
						    "Std. Deviation", "Variation", "Baseline", "Change" };
/* clang-format off */
static const char *const csv_headings[COLUMNS] = { "Minimum", "Maximum", "Average", "Total", "Standard Deviation", "Variation [%]",
						   "Baseline Average", "Change [%]" };
/* clang-format on */

static bool has_summary_column(const struct summary *s, unsigned column)
{
	if (column == COLUMN_TOTAL)
		return s->by == SUMMARY_PER_OPERATOR;
	if (column == COLUMN_DEVIATION || column == COLUMN_PERCENT)
		return shows_variation(s);
	return column <= COLUMN_MEAN || s->options->baseline != NULL;
}

static double find_entry_number(const struct entry *e, unsigned column)
{
	double change, before = entry_before(e, &change);
	/* clang-format off */
	const double all[COLUMNS] = { e->spread.min, e->spread.max, entry_mean(e), e->adds_up ? e->spread.sum : NAN,
				      spread_deviation(&e->spread), spread_percent(&e->spread), before, change };
	/* clang-format on */

	return all[column];
}

static bool is_percent(unsigned column)
{
	return column == COLUMN_PERCENT || column == COLUMN_CHANGE;
}

/* Empty where there is none; values are divided by `scale`. */
static void cell_text(const struct entry *e, unsigned column, double scale, char ret[NUMBER_MAX])
{
	double number = find_entry_number(e, column);

	ret[0] = '\0';
	if (isfinite(number) && column == COLUMN_CHANGE)
		snprintf(ret, NUMBER_MAX, "%+.2f", number);
	else if (isfinite(number))
		number_text(is_percent(column) ? number : number / scale, true, ret);
}

static int add_entry(struct text_table *t, const struct summary *s, const struct entry *e)
{
	char unit[UNIT_MAX], text[NUMBER_MAX], cell[NUMBER_MAX + 8];
	double scale = 1;
	int r;

	snprintf(unit, sizeof(unit), "%s", e->unit);
	if (!s->options->base_units)
		scale = unit_divisor(e->unit, entry_mean(e), unit);
	r = text_table_add(t, e->label);
	if (r >= 0)
		r = text_table_add(t, unit);
	for (unsigned i = 0; i < COLUMNS && r >= 0; i++) {
		if (!has_summary_column(s, i))
			continue;
		cell_text(e, i, scale, text);
		snprintf(cell, sizeof(cell), "%s%s%s", i == COLUMN_PERCENT && entry_varies(s, e) ? "! " : "", text,
			 *text && is_percent(i) ? "%" : "");
		r = text_table_add(t, cell);
	}
	return r;
}

/* The columns of least, greatest and mean are equally wide. */
static void print_summary_table(FILE *out, const struct summary *s, const struct text_table *t)
{
	const char *heading[COLUMNS + 2] = { "Metric Name", "Metric Unit" };
	unsigned widths[COLUMNS + 2] = { 0, 0, NUMBER_WIDTH, NUMBER_WIDTH, NUMBER_WIDTH };
	size_t count = 2;

	for (unsigned i = 0; i < COLUMNS; i++)
		if (has_summary_column(s, i))
			heading[count++] = text_headings[i];
	for (size_t i = 0; i < t->count; i++)
		if (i % t->columns > 1 && i % t->columns < 5 && strlen(t->cells[i]) > widths[2])
			widths[2] = (unsigned)strlen(t->cells[i]);
	widths[3] = widths[4] = widths[2];
	text_table_print(out, t, heading, widths);
	fputc('\n', out);
}

static void print_heading(FILE *out, const struct summary *s)
{
	const struct kernel_result *k = s->first->k;

	if (s->by == SUMMARY_PER_KERNEL)
		fprintf(out, "  %s (%u, %u, %u)x(%u, %u, %u), ", page_kernel_name(s->options, k), k->grid[0], k->grid[1], k->grid[2],
			k->block[0], k->block[1], k->block[2]);
	else
		fprintf(out, "  %s%s", s->first->key, *s->first->key ? ", " : "");
	if (k->device >= 0 && s->by <= SUMMARY_PER_KERNEL)
		fprintf(out, "Device %" PRId64 ", ", k->device);
	if (k->major && s->by <= SUMMARY_PER_KERNEL)
		fprintf(out, "CC %u.%u, ", k->major, k->minor);
	fprintf(out, "Invocations %zu\n", s->launches);
}

/* A mean says little of what differs from launch to launch. */
static void print_varying(FILE *out, const struct summary *s)
{
	size_t found = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];

		if (!entry_varies(s, e) || found++ >= MOST_NAMED)
			continue;
		fprintf(out, "%s%s (%.3g%%)", found == 1 ? "    Varies from launch to launch: " : ", ", e->label,
			spread_percent(&e->spread));
	}
	if (found > MOST_NAMED)
		fprintf(out, " and %zu more", found - MOST_NAMED);
	if (found)
		fprintf(out, ": more than %g%%\n\n", s->options->variation);
}

int summary_print_text(FILE *out, const struct summary *s)
{
	struct text_table t = { .columns = 2, .left = 1 };
	int r = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		t.columns += has_summary_column(s, i);
	print_heading(out, s);
	for (size_t i = 0; i < s->count && r >= 0; i++) {
		if (i == 0 || strcmp(s->entries[i].section, s->entries[i - 1].section) != 0)
			fprintf(out, "    Section: %s\n", s->entries[i].section);
		r = add_entry(&t, s, &s->entries[i]);
		if (r >= 0 && (i + 1 == s->count || strcmp(s->entries[i].section, s->entries[i + 1].section) != 0)) {
			print_summary_table(out, s, &t);
			unsigned columns = t.columns;

			text_table_release(&t);
			t = (struct text_table){ .columns = columns, .left = 1 };
		}
	}
	text_table_release(&t);
	if (!s->count)
		fputc('\n', out);
	print_varying(out, s);
	return r;
}

static const char *key_heading(enum page_summary by)
{
	return by == SUMMARY_PER_NVTX ? "NVTX Range" : "Operator";
}

void summary_write_csv_heading(FILE *out, const struct summary *s)
{
	/* clang-format off */
	static const char *const names[] = { "Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "Device", "CC",
					     "Invocations", "Section Name", "Metric Name", "Metric Unit" };
	/* clang-format on */

	if (s->by > SUMMARY_PER_KERNEL)
		csv_cell(out, key_heading(s->by), true);
	for (size_t i = s->by > SUMMARY_PER_KERNEL ? 8 : 0; i < COUNT_OF(names); i++)
		if (s->by == SUMMARY_PER_KERNEL || i < 3 || i > 5)
			csv_cell(out, names[i], i == 0);
	for (unsigned i = 0; i < COLUMNS; i++)
		if (has_summary_column(s, i))
			csv_cell(out, csv_headings[i], false);
	fputc('\n', out);
}

static void write_place(FILE *out, const struct summary *s)
{
	const struct kernel_result *k = s->first->k;
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%" PRId64, k->process ? k->process->pid : 0);
	csv_cell(out, k->process ? text : "", true);
	csv_cell(out, k->process ? k->process->name : "", false);
	csv_cell(out, k->host, false);
	if (s->by == SUMMARY_PER_KERNEL) {
		csv_cell(out, page_kernel_name(s->options, k), false);
		csv_triple(out, k->block);
		csv_triple(out, k->grid);
	}
	csv_integer(out, k->device, k->device >= 0);
	snprintf(text, sizeof(text), "%u.%u", k->major, k->minor);
	csv_cell(out, k->major ? text : "", false);
}

void summary_write_csv(FILE *out, const struct summary *s)
{
	char text[NUMBER_MAX];

	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];

		if (s->by > SUMMARY_PER_KERNEL)
			csv_cell(out, s->first->key, true);
		else
			write_place(out, s);
		csv_integer(out, (int64_t)s->launches, true);
		csv_cell(out, e->section, false);
		csv_cell(out, e->label, false);
		csv_cell(out, e->unit, false);
		for (unsigned j = 0; j < COLUMNS; j++) {
			if (!has_summary_column(s, j))
				continue;
			cell_text(e, j, 1, text);
			csv_cell(out, text, false);
		}
		fputc('\n', out);
	}
}

static void write_json_group(FILE *out, const struct summary *s)
{
	const struct kernel_result *k = s->first->k;

	fprintf(out, "  {\"launches\": %zu", s->launches);
	if (*s->first->key)
		json_member(out, s->by == SUMMARY_PER_NVTX ? "range" : "operator", s->first->key);
	if (s->by <= SUMMARY_PER_KERNEL && k->device >= 0)
		fprintf(out, ", \"device\": %" PRId64, k->device);
	if (s->by != SUMMARY_PER_KERNEL)
		return;
	json_member(out, "name", k->name);
	json_member(out, "function", k->function);
	fprintf(out, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
		k->block[2]);
}

void summary_write_json(FILE *out, const struct summary *s)
{
	static const char *const names[COLUMNS] = { "min",      "max",           "mean", "total", "deviation", "variation_percent",
						    "baseline", "change_percent" };

	write_json_group(out, s);
	fputs(",\n   \"values\": [", out);
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];

		fputs(i ? ",\n    {\"section\": " : "\n    {\"section\": ", out);
		json_put_string(out, e->section);
		json_member(out, "label", e->label);
		json_member(out, "metric", e->metric);
		if (*e->unit)
			json_member(out, "unit", e->unit);
		for (unsigned j = 0; j < COLUMNS; j++) {
			if (!has_summary_column(s, j) || (j == COLUMN_TOTAL && !e->adds_up))
				continue;
			fprintf(out, ", \"%s\": ", names[j]);
			json_number(out, find_entry_number(e, j));
		}
		if (shows_variation(s))
			fprintf(out, ", \"varies\": %s", entry_varies(s, e) ? "true" : "false");
		fputc('}', out);
	}
	fputs("]}", out);
}
