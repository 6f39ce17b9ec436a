/* Least, greatest and mean of each value over the launches of a kernel, or of a GPU. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/page_text.h"

#define NUMBER_WIDTH 12u

struct entry {
	const char *section;
	char *label;
	char unit[UNIT_MAX];
	size_t place;        /* as it came */
	double min, max, sum;
	size_t count;
	double before; /* sum over those that the baseline has */
	size_t before_count;
};

/* Kernels that are summed up together: they stand behind each other in `order`. */
struct summary {
	const struct kernel_results *results;
	const struct page_options *options;
	enum page_summary by;
	struct entry *entries;
	size_t count;
};

static struct entry *entry_of(struct summary *s, const char *section, const char *label, const char *unit)
{
	struct entry *all;

	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->entries[i].label, label) == 0 && strcmp(s->entries[i].section, section) == 0)
			return &s->entries[i];
	all = reallocarray(s->entries, s->count + 1, sizeof(*all));
	if (!all)
		return NULL;
	s->entries = all;
	all[s->count] = (struct entry){ .section = section, .label = strdup(label), .place = s->count, .min = INFINITY, .max = -INFINITY };
	if (!all[s->count].label)
		return NULL;
	snprintf(all[s->count].unit, UNIT_MAX, "%s", unit);
	return &all[s->count++];
}

static int take_row(struct summary *s, const struct kernel_result *k, const char *section, const struct page_row *row)
{
	double number = value_number(&row->value), before, change;
	const char *label = s->options->names == NAMES_METRIC ? row->key : row->label;
	struct entry *e;

	if (!isfinite(number))
		return 0;
	e = entry_of(s, section, label, row->unit);
	if (!e)
		return -ENOMEM;
	e->min = fmin(e->min, number);
	e->max = fmax(e->max, number);
	e->sum += number;
	e->count++;
	before = page_before(s->options, k, row, &change);
	if (isfinite(before)) {
		e->before += before;
		e->before_count++;
	}
	return 0;
}

static int take_kernel(struct summary *s, const struct kernel_result *k)
{
	struct page_sections all;
	int r = page_sections_make(&all, s->options, s->results, k);

	for (size_t i = 0; r >= 0 && i < all.count; i++)
		for (size_t j = 0; j < all.items[i].count; j++)
			for (size_t n = 0; n < all.items[i].groups[j].count && r >= 0; n++)
				r = take_row(s, k, all.items[i].title, &all.items[i].groups[j].rows[n]);
	if (r >= 0)
		page_sections_release(&all);
	return r;
}

static void forget(struct summary *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->entries[i].label);
	free(s->entries);
	s->entries = NULL;
	s->count = 0;
}

static int by_section(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->section, y->section);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int compare(enum page_summary by, const struct kernel_result *x, const struct kernel_result *y)
{
	int order = (x->device > y->device) - (x->device < y->device);

	if (by == SUMMARY_PER_GPU)
		return order;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	if (memcmp(x->grid, y->grid, sizeof(x->grid)) != 0)
		return memcmp(x->grid, y->grid, sizeof(x->grid));
	return memcmp(x->block, y->block, sizeof(x->block)) ? memcmp(x->block, y->block, sizeof(x->block)) : order;
}

static int by_kernel(const void *a, const void *b, void *context)
{
	const struct kernel_result *x = *(const struct kernel_result *const *)a, *y = *(const struct kernel_result *const *)b;
	int order = compare(*(const enum page_summary *)context, x, y);

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void print_heading(FILE *out, const struct summary *s, const struct kernel_result *k, size_t count)
{
	if (s->by == SUMMARY_PER_KERNEL)
		fprintf(out, "  %s (%u, %u, %u)x(%u, %u, %u), ", page_kernel_name(s->options, k), k->grid[0], k->grid[1], k->grid[2], k->block[0],
			k->block[1], k->block[2]);
	else
		fprintf(out, "  ");
	if (k->device >= 0)
		fprintf(out, "Device %" PRId64 ", ", k->device);
	if (k->major)
		fprintf(out, "CC %u.%u, ", k->major, k->minor);
	fprintf(out, "Invocations %zu\n", count);
}

/* The mean in the baseline, and by how much this one differs; empty where there is none. */
static void before_texts(const struct entry *e, double scale, const char *percent, char ret_before[NUMBER_MAX], char ret_change[NUMBER_MAX])
{
	double before = e->before_count ? e->before / (double)e->before_count : NAN, change = baseline_change(before, e->sum / (double)e->count);

	ret_before[0] = ret_change[0] = '\0';
	if (isfinite(before))
		number_text(before / scale, true, ret_before);
	if (isfinite(change))
		snprintf(ret_change, NUMBER_MAX, "%+.2f%s", change, percent);
}

static int add_entry(struct text_table *t, const struct page_options *options, const struct entry *e)
{
	double mean = e->sum / (double)e->count, numbers[] = { e->min, e->max, mean }, scale = 1;
	char unit[UNIT_MAX], text[NUMBER_MAX], change[NUMBER_MAX];
	int r;

	snprintf(unit, sizeof(unit), "%s", e->unit);
	if (!options->base_units)
		scale = unit_divisor(e->unit, mean, unit);
	r = text_table_add(t, e->label);
	if (r >= 0)
		r = text_table_add(t, unit);
	for (unsigned i = 0; i < 3 && r >= 0; i++) {
		number_text(numbers[i] / scale, true, text);
		r = text_table_add(t, text);
	}
	if (r >= 0 && options->baseline) {
		before_texts(e, scale, "%", text, change);
		r = text_table_add(t, text);
		r = r < 0 ? r : text_table_add(t, change);
	}
	return r;
}

/* The three columns of numbers are equally wide. */
static void print_table(FILE *out, const struct text_table *t)
{
	static const char *const heading[] = { "Metric Name", "Metric Unit", "Minimum", "Maximum", "Average", "Baseline", "Change" };
	unsigned widths[] = { 0, 0, NUMBER_WIDTH, NUMBER_WIDTH, NUMBER_WIDTH, 0, 0 };

	for (size_t i = 0; i < t->count; i++)
		if (i % t->columns > 1 && i % t->columns < 5 && strlen(t->cells[i]) > widths[2])
			widths[2] = (unsigned)strlen(t->cells[i]);
	widths[3] = widths[4] = widths[2];
	text_table_print(out, t, heading, widths);
	fputc('\n', out);
}

static int print_entries(FILE *out, const struct summary *s)
{
	struct text_table t = { .columns = s->options->baseline ? 7 : 5, .left = 1 };
	int r = 0;

	for (size_t i = 0; i < s->count && r >= 0; i++) {
		if (i == 0 || strcmp(s->entries[i].section, s->entries[i - 1].section) != 0)
			fprintf(out, "    Section: %s\n", s->entries[i].section);
		r = add_entry(&t, s->options, &s->entries[i]);
		if (r >= 0 && (i + 1 == s->count || strcmp(s->entries[i].section, s->entries[i + 1].section) != 0)) {
			print_table(out, &t);
			text_table_release(&t);
			t = (struct text_table){ .columns = s->options->baseline ? 7 : 5, .left = 1 };
		}
	}
	text_table_release(&t);
	return r;
}

static void write_entries(FILE *out, const struct summary *s, const struct kernel_result *k, size_t count)
{
	char text[NUMBER_MAX], change[NUMBER_MAX];

	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];
		double numbers[] = { e->min, e->max, e->sum / (double)e->count };

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
		csv_integer(out, (int64_t)count, true);
		csv_cell(out, e->section, false);
		csv_cell(out, e->label, false);
		csv_cell(out, e->unit, false);
		for (unsigned j = 0; j < 3; j++) {
			number_text(numbers[j], true, text);
			csv_cell(out, text, false);
		}
		if (s->options->baseline) {
			before_texts(e, 1, "", text, change);
			csv_cell(out, text, false);
			csv_cell(out, change, false);
		}
		fputc('\n', out);
	}
}

static void write_heading(FILE *out, enum page_summary by, bool baseline)
{
	static const char *const names[] = { "Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "Device", "CC",
					     "Invocations", "Section Name", "Metric Name", "Metric Unit", "Minimum", "Maximum", "Average" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (by == SUMMARY_PER_KERNEL || i < 3 || i > 5)
			csv_cell(out, names[i], i == 0);
	if (baseline)
		fputs(",\"Baseline Average\",\"Change [%]\"", out);
	fputc('\n', out);
}

static int print_groups(FILE *out, struct summary *s, const struct kernel_result **order, size_t total, bool csv)
{
	const struct kernel_result *before = NULL;
	size_t end;
	int r = 0;

	for (size_t i = 0; i < total && r >= 0; i = end) {
		for (end = i; end < total && compare(s->by, order[i], order[end]) == 0 && r >= 0; end++)
			r = take_kernel(s, order[end]);
		if (s->count)
			qsort(s->entries, s->count, sizeof(*s->entries), by_section);
		if (r >= 0 && csv) {
			write_entries(out, s, order[i], end - i);
		} else if (r >= 0) {
			page_process_line(out, order[i], before);
			print_heading(out, s, order[i], end - i);
			r = print_entries(out, s);
		}
		before = order[i];
		forget(s);
	}
	return r;
}

int page_print_summary(FILE *out, const struct kernel_results *results, const struct page_options *options, enum page_summary by, bool csv)
{
	const struct kernel_result **order = calloc(results->count + 1, sizeof(*order));
	struct summary s = { .results = results, .options = options, .by = by };
	int r;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < results->count; i++)
		order[i] = &results->items[i];
	qsort_r(order, results->count, sizeof(*order), by_kernel, &by);
	if (csv)
		write_heading(out, by, options->baseline != NULL);
	r = print_groups(out, &s, order, results->count, csv);
	forget(&s);
	free(order);
	return r;
}
