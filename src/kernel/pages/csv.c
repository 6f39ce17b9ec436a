/* Pages as CSV: all cells are quoted. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/csv_guard.h"
#include "base/macros.h"
#include "kernel/results/metric_names.h"
#include "kernel/pages/launch_origins.h"
#include "kernel/pages/text.h"

#define RULE_COLUMNS 5u
#define RANGE_COLUMN 4u /* NVTX ranges stand before this one */

void csv_cell(FILE *out, const char *text, bool is_first)
{
	if (!is_first)
		fputc(',', out);
	csv_put_quoted(out, text, strlen(text));
}

void csv_integer(FILE *out, int64_t value, bool is_known)
{
	char text[24] = "";

	if (is_known)
		snprintf(text, sizeof(text), "%" PRId64, value);
	csv_cell(out, text, false);
}

void csv_triple(FILE *out, const uint32_t size[3])
{
	fprintf(out, ",\"(%u, %u, %u)\"", size[0], size[1], size[2]);
}

void csv_launch_heading(FILE *out, const struct page_options *options)
{
	/* clang-format off */
	static const char *const names[] = { "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
					     "Grid Size", "Device", "CC" };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (options->nvtx && i == RANGE_COLUMN)
			csv_ranges_heading(out);
		csv_cell(out, names[i], i == 0);
	}
}

void csv_launch(FILE *out, const struct page_options *options, const struct kernel_result *k)
{
	char text[32] = "";

	snprintf(text, sizeof(text), "%" PRId64, k->number);
	csv_cell(out, text, true);
	csv_integer(out, k->process ? k->process->pid : 0, k->process != NULL);
	csv_cell(out, k->process ? k->process->name : "", false);
	csv_cell(out, k->host, false);
	if (options->nvtx)
		csv_ranges(out, k);
	csv_cell(out, page_kernel_name(options, k), false);
	csv_integer(out, k->context, k->context >= 0);
	csv_integer(out, k->stream, k->stream >= 0);
	csv_triple(out, k->block);
	csv_triple(out, k->grid);
	csv_integer(out, k->device, k->device >= 0);
	text[0] = '\0';
	if (k->major)
		snprintf(text, sizeof(text), "%u.%u", k->major, k->minor);
	csv_cell(out, text, false);
}

static void write_before(FILE *out, const struct page_options *options, const struct kernel_result *k, const struct page_row *row)
{
	double change, before = page_before(options, k, row, &change);
	char text[NUMBER_MAX] = "";

	if (isfinite(before))
		number_text(before, false, text);
	csv_cell(out, text, false);
	text[0] = '\0';
	if (isfinite(change))
		number_text(change, true, text);
	csv_cell(out, text, false);
}

static void write_warm(FILE *out, const struct kernel_result *k, const struct page_row *row)
{
	double warm = page_warm(k, row);
	char text[NUMBER_MAX] = "";

	if (isfinite(warm))
		number_text(warm, warm != rint(warm), text);
	csv_cell(out, text, false);
}

static int write_csv_page_row(FILE *out, const struct page_options *options, const struct kernel_results *results,
			      const struct kernel_result *k, const char *section, const struct page_row *row)
{
	char unit[UNIT_MAX], *value = page_value(options, results, k, row, unit);

	if (!value)
		return -ENOMEM;
	csv_launch(out, options, k);
	csv_cell(out, section, false);
	csv_cell(out, options->names == NAMES_METRIC ? row->key : row->label, false);
	csv_cell(out, unit, false);
	csv_cell(out, value, false);
	for (unsigned i = 0; i < RULE_COLUMNS && (options->baseline || options->warm); i++)
		csv_cell(out, "", false);
	if (options->warm)
		write_warm(out, k, row);
	if (options->baseline)
		write_before(out, options, k, row);
	else if (!options->warm)
		fputc(',', out);
	fputc('\n', out);
	free(value);
	return 0;
}

static void write_rule(FILE *out, const struct page_options *options, const struct kernel_result *k, const struct kernel_rule *rule)
{
	char gain[32] = "";

	if (isfinite(rule->gain))
		snprintf(gain, sizeof(gain), "%.4g", rule->gain);
	csv_launch(out, options, k);
	csv_cell(out, rule->section, false);
	for (unsigned i = 0; i < 3; i++)
		csv_cell(out, "", false);
	csv_cell(out, rule->name, false);
	csv_cell(out, rule->type, false);
	csv_cell(out, rule->text, false);
	csv_cell(out, rule->gain_type, false);
	csv_cell(out, gain, false);
	if (options->warm)
		csv_cell(out, "", false);
	if (options->baseline)
		fputs(",\"\",\"\"", out);
	fputc('\n', out);
}

static int write_section(FILE *out, const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
			 const struct page_section *s)
{
	int r = 0;

	for (size_t i = 0; i < s->count; i++)
		for (size_t j = 0; j < s->groups[i].count && r >= 0; j++)
			r = write_csv_page_row(out, options, results, k, s->title, &s->groups[i].rows[j]);
	for (size_t i = 0; i < k->rule_count && *s->id; i++)
		if (strcmp(k->rules[i].section, s->id) == 0)
			write_rule(out, options, k, &k->rules[i]);
	return r;
}

int page_write_details_csv(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	/* clang-format off */
	static const char *const names[] = { "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type",
					     "Rule Description", "Estimated Speedup Type", "Estimated Speedup" };
	/* clang-format on */
	struct page_sections all;
	int r = 0;

	csv_launch_heading(out, options);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		csv_cell(out, names[i], false);
	if (options->warm)
		csv_cell(out, "Warm Caches", false);
	if (options->baseline)
		fputs(",\"Baseline Value\",\"Change [%]\"", out);
	fputc('\n', out);
	for (size_t i = 0; i < results->count && r >= 0; i++) {
		r = page_sections_make(&all, options, results, &results->items[i]);
		if (r < 0)
			break;
		for (size_t j = 0; j < all.count && r >= 0; j++)
			r = write_section(out, options, results, &results->items[i], &all.items[j]);
		page_sections_release(&all);
	}
	return r;
}

/* With a baseline, numbers have two more columns behind them. */
static bool is_compared(const struct page_options *options, const struct metric_value *v)
{
	return options->baseline && (v->kind == VALUE_INTEGER || v->kind == VALUE_REAL);
}

static void write_raw_heading(FILE *out, const struct page_options *options, const struct metric_names *metrics)
{
	csv_launch_heading(out, options);
	for (size_t i = 0; i < metrics->count; i++) {
		csv_cell(out, metrics->items[i]->name, false);
		if (is_compared(options, metrics->items[i]))
			fprintf(out, ",\"%s [baseline]\",\"%s [change]\"", metrics->items[i]->name, metrics->items[i]->name);
	}
	fputc('\n', out);
}

/* Of all values of a column, which share a heading. */
struct raw_unit {
	char text[UNIT_MAX];
	double divisor;
};

static void write_units(FILE *out, const struct page_options *options, const struct metric_names *metrics, const struct raw_unit *units)
{
	fputs("\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"", out);
	if (options->nvtx)
		fputs(",\"\",\"\"", out);
	for (size_t i = 0; i < metrics->count; i++) {
		csv_cell(out, units[i].text, false);
		if (is_compared(options, metrics->items[i])) {
			csv_cell(out, units[i].text, false);
			csv_cell(out, "%", false);
		}
	}
	fputc('\n', out);
}

static int write_values(FILE *out, const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
			const struct metric_names *metrics, const struct raw_unit *units)
{
	const struct metric_value *v;
	char *text;

	csv_launch(out, options, k);
	for (size_t i = 0; i < metrics->count; i++) {
		v = result_find(k, metrics->items[i]->name);
		if (!v) {
			csv_cell(out, "", false);
			if (is_compared(options, metrics->items[i]))
				fputs(",\"\",\"\"", out);
			continue;
		}
		struct page_row row = { .label = v->name, .key = v->name, .value = *v };

		text = page_value_by(options, results, k, &row, units[i].divisor);
		if (!text)
			return -ENOMEM;
		csv_cell(out, text, false);
		free(text);
		if (is_compared(options, metrics->items[i]))
			write_before(out, options, k, &row);
	}
	fputc('\n', out);
	return 0;
}

/* As large as leaves the largest value below 1000. A baseline is shown in base units. */
static void choose_unit(const struct page_options *options, const struct kernel_results *results, const struct metric_value *metric,
			struct raw_unit *ret)
{
	char unit[UNIT_MAX];
	double most = 0;

	page_unit(results, metric, "", unit);
	*ret = (struct raw_unit){ .divisor = 1 };
	snprintf(ret->text, sizeof(ret->text), "%s", unit);
	if (options->base_units || options->baseline)
		return;
	for (size_t i = 0; i < results->count; i++) {
		const struct metric_value *v = result_find(&results->items[i], metric->name);
		double number = v ? fabs(value_number(v)) : NAN;

		most = isfinite(number) && number > most ? number : most;
	}
	if (most > 0)
		ret->divisor = unit_divisor(unit, most, ret->text);
}

int page_write_raw_csv(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	struct metric_names all = { NULL, 0 };
	const struct metric_names *metrics = options->only_named ? options->named : &all;
	int r = options->only_named ? 0 : metric_names_of(&all, results);
	struct raw_unit *units = r < 0 ? NULL : calloc(metrics->count + 1, sizeof(*units));

	r = r < 0 || units ? r : -ENOMEM;
	for (size_t i = 0; i < metrics->count && r >= 0; i++)
		choose_unit(options, results, metrics->items[i], &units[i]);
	if (r >= 0) {
		write_raw_heading(out, options, metrics);
		write_units(out, options, metrics, units);
	}
	for (size_t i = 0; i < results->count && r >= 0; i++)
		r = write_values(out, options, results, &results->items[i], metrics, units);
	free(units);
	metric_names_release(&all);
	return r;
}
