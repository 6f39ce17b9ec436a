/* Pages for people: tables in ncu's shape. */
#include "kernel/pages/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "kernel/pages/launch_origins.h"

#define RULE_WIDTH 110 /* of its text, behind the tag */

int text_table_add(struct text_table *t, const char *cell)
{
	if (!ARRAY_ROOM(t->cells, t->count, t->capacity, 1))
		return -ENOMEM;
	t->cells[t->count] = strdup(cell);
	return t->cells[t->count] ? (t->count++, 0) : -ENOMEM;
}

void text_table_release(struct text_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct text_table){ 0 };
}

/* Columns on the screen: what does not begin a character does not count. */
static unsigned width_of(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cells(FILE *out, const struct text_table *t, const char *const *cells, const unsigned *widths)
{
	fprintf(out, "   ");
	for (unsigned i = 0; i < t->columns; i++) {
		unsigned pad = widths[i] - width_of(cells[i]);
		bool left = t->left >> i & 1;

		fprintf(out, " %*s%s%*s", left ? 0 : (int)pad, "", cells[i], left && i + 1 < t->columns ? (int)pad : 0, "");
	}
	fputc('\n', out);
}

static void print_line(FILE *out, const struct text_table *t, const unsigned *widths)
{
	fprintf(out, "   ");
	for (unsigned i = 0; i < t->columns; i++) {
		fputc(' ', out);
		for (unsigned j = 0; j < widths[i]; j++)
			fputc('-', out);
	}
	fputc('\n', out);
}

void text_table_print(FILE *out, const struct text_table *t, const char *const *heading, const unsigned *min_widths)
{
	unsigned widths[TABLE_COLUMNS], width;

	for (unsigned i = 0; i < t->columns; i++) {
		widths[i] = width_of(heading[i]);
		if (min_widths && widths[i] < min_widths[i])
			widths[i] = min_widths[i];
	}
	for (size_t i = 0; i < t->count; i++) {
		width = width_of(t->cells[i]);
		if (widths[i % t->columns] < width)
			widths[i % t->columns] = width;
	}
	print_line(out, t, widths);
	print_cells(out, t, heading, widths);
	print_line(out, t, widths);
	for (size_t i = 0; i + t->columns <= t->count; i += t->columns)
		print_cells(out, t, (const char *const *)&t->cells[i], widths);
	print_line(out, t, widths);
}

void page_process_line(FILE *out, const struct kernel_result *k, const struct kernel_result *before)
{
	if (before && before->process == k->process && strcmp(before->host, k->host) == 0)
		return;
	if (k->process)
		fprintf(out, "[%" PRId64 "] %s@%s\n", k->process->pid, k->process->name, k->host);
	else
		fprintf(out, "[] @%s\n", k->host);
}

static void print_launch(FILE *out, const struct page_options *options, const struct kernel_result *k)
{
	fprintf(out, "  %s (%u, %u, %u)x(%u, %u, %u)", page_kernel_name(options, k), k->grid[0], k->grid[1], k->grid[2], k->block[0],
		k->block[1], k->block[2]);
	if (k->context >= 0)
		fprintf(out, ", Context %" PRId64, k->context);
	if (k->stream >= 0)
		fprintf(out, ", Stream %" PRId64, k->stream);
	if (k->device >= 0)
		fprintf(out, ", Device %" PRId64, k->device);
	if (k->major)
		fprintf(out, ", CC %u.%u", k->major, k->minor);
	fputc('\n', out);
	page_print_place(out, k);
}

/* In the unit of the value beside it. */
static int add_warm(struct text_table *t, const struct page_options *options, const struct kernel_result *k, const struct page_row *row)
{
	double warm = page_warm(k, row), number = value_number(&row->value), divisor = 1;
	char unit[UNIT_MAX], text[NUMBER_MAX] = "";

	if (!options->base_units && isfinite(number))
		divisor = unit_divisor(row->unit, number, unit);
	if (isfinite(warm))
		number_text(warm / divisor, divisor != 1 || options->all_real || warm != rint(warm), text);
	return text_table_add(t, text);
}

/* In the unit of the value beside it. */
static int add_before(struct text_table *t, const struct page_options *options, const struct kernel_result *k, const struct page_row *row)
{
	double change, before = page_before(options, k, row, &change), number = value_number(&row->value), divisor = 1;
	char unit[UNIT_MAX], text[NUMBER_MAX] = "";

	if (!options->base_units && isfinite(number))
		divisor = unit_divisor(row->unit, number, unit);
	if (isfinite(before))
		number_text(before / divisor, divisor != 1 || options->all_real, text);
	TRY(text_table_add(t, text));
	text[0] = '\0';
	if (isfinite(change))
		snprintf(text, sizeof(text), "%+.2f%%", change);
	return text_table_add(t, text);
}

/* A kernel whose counters could not be read. */
static void print_trouble(FILE *out, const struct kernel_result *k)
{
	const struct metric_value *v = result_find(k, "profiler__error");

	if (v && v->kind == VALUE_TEXT)
		fprintf(out, "    Error: %s.\n", v->text);
	v = result_find(k, "profiler__source_error");
	if (v && v->kind == VALUE_TEXT)
		fprintf(out, "    Warning: %s.\n", v->text);
}

/* Where the same kernel was launched several times, and this time was not like the others. */
static void print_typical(FILE *out, const struct page_options *options, const struct typical *t)
{
	if (t->same < 3 || !(fabs(t->percent) > options->variation) || t->percent == 0)
		return;
	fprintf(out,
		"    Not typical: %s is %.3g%% %s the median of the %zu launches of this kernel; launch %" PRId64 " is nearest to it.\n",
		t->metric, fabs(t->percent), t->percent > 0 ? "above" : "below", t->same, t->nearest->number);
}

static int add_page_text_row(struct text_table *t, const struct page_options *options, const struct kernel_results *results,
			     const struct kernel_result *k, const struct page_row *row)
{
	char unit[UNIT_MAX], *value = page_value(options, results, k, row, unit), *label = NULL;
	int r = -ENOMEM;

	if (options->names == NAMES_BOTH && strcmp(row->label, row->key) != 0 && asprintf(&label, "%s (%s)", row->label, row->key) < 0)
		label = NULL;
	if (value)
		r = text_table_add(t, label ? label : options->names == NAMES_METRIC ? row->key : row->label);
	if (r >= 0)
		r = text_table_add(t, unit);
	if (r >= 0)
		r = text_table_add(t, value);
	if (r >= 0 && options->warm)
		r = add_warm(t, options, k, row);
	if (r >= 0 && options->baseline)
		r = add_before(t, options, k, row);
	free(label);
	free(value);
	return r;
}

/* A value with its unit where that is not the column's. */
static int add_page_cell(struct text_table *t, const struct page_options *options, const struct kernel_results *results,
			 const struct kernel_result *k, const struct page_row *row)
{
	char unit[UNIT_MAX], *value = page_value(options, results, k, row, unit), *cell = NULL;
	int r = -ENOMEM;

	if (value && asprintf(&cell, "%s%s%s", value, strcmp(unit, row->unit) ? " " : "", strcmp(unit, row->unit) ? unit : "") >= 0)
		r = text_table_add(t, cell);
	free(cell);
	free(value);
	return r;
}

static int fill_table(struct text_table *t, const struct page_options *options, const struct kernel_results *results,
		      const struct kernel_result *k, const struct page_group *g)
{
	size_t at = 0;
	int r = 0;

	while (at < g->count && r >= 0) {
		const char *row = g->rows[at].row;

		r = text_table_add(t, row);
		for (size_t column = 0; column + 1 < t->columns && r >= 0; column++) {
			if (at < g->count && g->rows[at].row == row && g->rows[at].column == column)
				r = add_page_cell(t, options, results, k, &g->rows[at++]);
			else
				r = text_table_add(t, "");
		}
	}
	return r;
}

/* Rows and columns as the section has them. */
static int print_group_table(FILE *out, const struct page_options *options, const struct kernel_results *results,
			     const struct kernel_result *k, const struct page_group *g)
{
	struct text_table t = { .columns = (unsigned)g->block->column_count + 1, .left = 1 };
	const char *heading[TABLE_COLUMNS] = { g->title };
	char titles[TABLE_COLUMNS][64];
	int r;

	for (size_t i = 0; i < g->block->column_count; i++) {
		const struct section_column *c = &g->block->columns[i];

		snprintf(titles[i], sizeof(titles[i]), "%s%s%s%s", c->title, *c->unit ? " [" : "", c->unit, *c->unit ? "]" : "");
		heading[i + 1] = titles[i];
	}
	r = fill_table(&t, options, results, k, g);
	if (r >= 0)
		text_table_print(out, &t, heading, NULL);
	fputc('\n', out);
	text_table_release(&t);
	return r;
}

static int print_group(FILE *out, const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
		       const struct page_group *g)
{
	const char *heading[6] = { "Metric Name", "Metric Unit", "Metric Value" };
	struct text_table t = { .columns = 3, .left = 1 };
	int r = 0;

	if (options->warm)
		heading[t.columns++] = "Warm Caches";
	if (options->baseline) {
		heading[t.columns++] = "Baseline";
		heading[t.columns++] = "Change";
	}
	if (g->block && g->block->kind == BLOCK_TABLE && g->block->column_count < TABLE_COLUMNS && t.columns == 3)
		return print_group_table(out, options, results, k, g);
	for (size_t i = 0; i < g->count && r >= 0; i++)
		r = add_page_text_row(&t, options, results, k, &g->rows[i]);
	if (*g->title)
		fprintf(out, "    %s\n", g->title);
	if (r >= 0)
		text_table_print(out, &t, heading, NULL);
	fputc('\n', out);
	text_table_release(&t);
	return r;
}

/* Words of `text` behind the tag, which stands in the first line. */
static void print_wrapped(FILE *out, const char *tag, const char *text)
{
	size_t len;

	while (*text) {
		len = strlen(text);
		if (len > RULE_WIDTH) {
			for (len = RULE_WIDTH; len > 0 && text[len] != ' '; len--)
				;
			len = len ? len : RULE_WIDTH;
		}
		fprintf(out, "    %-5s %-*.*s\n", tag, RULE_WIDTH, (int)len, text);
		text += len;
		text += strspn(text, " ");
		tag = "";
	}
}

static int print_rules(FILE *out, const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
		       const char *section)
{
	bool any = false;
	int r = 0;
	char gain[80];

	for (size_t i = 0; i < k->rule_count && *section && r >= 0; i++) {
		const struct kernel_rule *rule = &k->rules[i];

		if (strcmp(rule->section, section) != 0)
			continue;
		if (any)
			fprintf(out, "    ----- %.*s\n", RULE_WIDTH,
				"--------------------------------------------------------------------------------------------------------------");
		any = true;
		if (isfinite(rule->gain) && *rule->gain_type) {
			snprintf(gain, sizeof(gain), "Est. %sSpeedup: %.4g%%", strcmp(rule->gain_type, "local") == 0 ? "Local " : "",
				 rule->gain);
			print_wrapped(out, rule->type, gain);
			print_wrapped(out, "", rule->text);
		} else {
			print_wrapped(out, rule->type, rule->text);
		}
		if (options->rule_details)
			r = page_print_rule_details(out, options, results, k, rule);
	}
	if (any)
		fputc('\n', out);
	return r;
}

static int print_kernel(FILE *out, const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k)
{
	struct page_sections all;
	int r = page_sections_make(&all, options, results, k);

	if (r < 0)
		return r;
	print_launch(out, options, k);
	print_trouble(out, k);
	if (options->typical && options->variation > 0)
		print_typical(out, options, &options->typical[k - results->items]);
	for (size_t i = 0; i < all.count && r >= 0; i++) {
		fprintf(out, "    Section: %s\n", all.items[i].title);
		for (size_t j = 0; j < all.items[i].count && r >= 0; j++)
			r = print_group(out, options, results, k, &all.items[i].groups[j]);
		if (r >= 0)
			r = page_print_series(out, options, k, all.items[i].id);
		if (r >= 0)
			r = print_rules(out, options, results, k, all.items[i].id);
	}
	if (!all.count)
		fputc('\n', out);
	page_sections_release(&all);
	return r;
}

int page_print_details(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	int r = 0;

	for (size_t i = 0; i < results->count && r >= 0; i++) {
		page_process_line(out, &results->items[i], i ? &results->items[i - 1] : NULL);
		r = print_kernel(out, options, results, &results->items[i]);
	}
	return r;
}

static int print_values(FILE *out, const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k)
{
	struct page_group g = { .title = "", .rows = calloc(k->value_count + k->row_count + 1, sizeof(*g.rows)) };
	int r;

	if (!g.rows)
		return -ENOMEM;
	for (size_t i = 0; i < k->value_count; i++) {
		if ((options->only_named && !page_is_named(options, k->values[i].name)) || (options->warm && is_warm(k->values[i].name)))
			continue;
		g.rows[g.count] = (struct page_row){ .label = k->values[i].name, .key = k->values[i].name, .value = k->values[i] };
		page_unit(results, &k->values[i], "", g.rows[g.count++].unit);
	}
	for (size_t i = 0; i < k->row_count; i++) {
		g.rows[g.count] = (struct page_row){ .label = k->rows[i].value.name,
						     .key = k->rows[i].value.name,
						     .value = k->rows[i].value };
		snprintf(g.rows[g.count++].unit, UNIT_MAX, "%s", k->rows[i].value.unit);
	}
	print_launch(out, options, k);
	r = print_group(out, options, results, k, &g);
	free(g.rows);
	return r;
}

int page_print_raw(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	int r = 0;

	for (size_t i = 0; i < results->count && r >= 0; i++) {
		page_process_line(out, &results->items[i], i ? &results->items[i - 1] : NULL);
		r = print_values(out, options, results, &results->items[i]);
	}
	return r;
}
