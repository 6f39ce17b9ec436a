/* Values over time, for people: least, mean, most, and a line of bars. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/pages/text.h"

#define BARS 40

/* The mean of the samples of each part, as a share of the most. */
static void draw(const struct metric_instance *all, size_t count, double most, char *ret, size_t size)
{
	static const char *const heights[] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
	size_t bars = count < BARS ? count : BARS, used = 0;

	for (size_t b = 0; b < bars; b++) {
		size_t from = b * count / bars, to = (b + 1) * count / bars;
		double sum = 0, share;

		for (size_t i = from; i < to; i++)
			sum += value_number(&all[i].value);
		share = most > 0 ? sum / (double)(to - from) / most : 0;
		used += (size_t)snprintf(ret + used, size - used, "%s", share > 0 ? heights[share >= 1 ? 7 : (int)(8 * share)] : " ");
	}
}

static int add_number(struct text_table *t, double value)
{
	char text[64];

	snprintf(text, sizeof(text), fabs(value) >= 1e6 ? "%.0f" : "%.2f", value);
	return text_table_add(t, text);
}

static int add_series_row(struct text_table *t, const char *label, const char *unit, const struct metric_instance *all, size_t count)
{
	double least = INFINITY, most = -INFINITY, sum = 0;
	char bars[4 * BARS + 1] = "";
	int r = text_table_add(t, label);

	for (size_t i = 0; i < count; i++) {
		double value = value_number(&all[i].value);

		least = fmin(least, value);
		most = fmax(most, value);
		sum += value;
	}
	draw(all, count, most, bars, sizeof(bars));
	if (r >= 0)
		r = text_table_add(t, unit);
	if (r >= 0)
		r = add_number(t, least);
	if (r >= 0)
		r = add_number(t, sum / (double)count);
	if (r >= 0)
		r = add_number(t, most);
	return r >= 0 ? text_table_add(t, bars) : r;
}

static int print_block(FILE *out, const struct kernel_result *k, const struct section_block *b)
{
	const char *heading[] = { b->title, "Unit", "Min", "Avg", "Max", "Over Time" };
	struct text_table t = { .columns = 6, .left = 1 | 1 << 5 };
	size_t rows = 0, count;
	int r = 0;

	/* A chip has samples only of metrics that are its own. */
	for (size_t i = 0; i < b->row_count && r >= 0; i++) {
		const char *metric = b->rows[i].cell_count ? formula_metric(&b->rows[i].cells[0]) : NULL;
		const struct metric_instance *all = metric ? result_instances(k, metric, &count) : NULL;

		if (!all)
			continue;
		r = add_series_row(&t, b->rows[i].label, b->rows[i].unit, all, count);
		rows++;
	}
	if (r >= 0 && rows) {
		text_table_print(out, &t, heading, NULL);
		fputc('\n', out);
	}
	text_table_release(&t);
	return r;
}

int page_print_series(FILE *out, const struct page_options *options, const struct kernel_result *k, const char *section)
{
	const struct section *s = options->sections && k->instance_count ? sections_find(options->sections, section) : NULL;
	int r = 0;

	for (size_t i = 0; s && i < s->block_count && r >= 0; i++)
		if (s->blocks[i].kind == BLOCK_TIMELINE)
			r = print_block(out, k, &s->blocks[i]);
	return r;
}
