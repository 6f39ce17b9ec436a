/* Values as they are printed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kernel/pages/page.h"

#define MOST_EXACT 9007199254740992.0 /* from there on a double has no decimals */

void page_unit(const struct kernel_results *results, const struct metric_value *value, const char *otherwise, char ret[UNIT_MAX])
{
	snprintf(ret, UNIT_MAX, "%s", value->unit);
	if (!*ret && !results->is_imported)
		unit_of_metric(value->name, ret);
	if (!*ret)
		snprintf(ret, UNIT_MAX, "%s", otherwise);
}

const char *page_kernel_name(const struct page_options *options, const struct kernel_result *k)
{
	const char *name = options->kernel_base == KERNEL_FUNCTION ? k->function :
			   options->kernel_base == KERNEL_MANGLED  ? k->mangled :
								     k->name;

	for (size_t i = 0; options->nvtx_names && i < k->range_count; i++)
		if (k->ranges[i].level >= 0 && *k->ranges[i].name)
			name = k->ranges[i].name;
	return *name ? name : k->name;
}

/* Units were scaled for the value itself: its instances have the same. */
static void plain_text(const struct page_options *options, const struct kernel_results *results, const struct metric_value *v, double scale,
		       struct buf *ret)
{
	char text[NUMBER_MAX] = "";

	if (v->kind == VALUE_TEXT)
		buf_puts(ret, v->text);
	else if (v->kind == VALUE_INTEGER && scale == 1 && !options->all_real)
		integer_text(v->integer, text);
	else if (v->kind != VALUE_NONE)
		number_text(value_number(v) / scale, options->all_real || scale != 1 || fabs(value_number(v)) < MOST_EXACT, text);
	else if (!results->is_imported)
		number_text(NAN, false, text);
	buf_puts(ret, text);
}

static void add_instances(const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
			  const char *name, double scale, struct buf *ret)
{
	size_t count;
	const struct metric_instance *all = result_instances(k, name, &count);

	for (size_t i = 0; i < count; i++) {
		buf_puts(ret, i ? "; " : " (");
		if (options->instances == INSTANCES_DETAILS && *all[i].label)
			buf_printf(ret, "%s: ", all[i].label);
		plain_text(options, results, &all[i].value, scale, ret);
	}
	if (count)
		buf_puts(ret, ")");
}

double page_before(const struct page_options *options, const struct kernel_result *k, const struct page_row *row, double *ret_change)
{
	double before = !options->baseline ? NAN :
			row->formula       ? baseline_formula(options->baseline, k, row->formula) :
					     baseline_number(options->baseline, k, row->key);

	*ret_change = baseline_change(before, value_number(&row->value));
	return before;
}

/* What was counted in warm passes, and what is known without counters. */
static double warm_number(void *context, const char *metric)
{
	double warm = result_warm(context, metric);

	return isfinite(warm) ? warm : result_number(context, metric);
}

static bool has_warm(const struct kernel_result *k, const struct formula *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->steps[i].code == FORMULA_METRIC && isfinite(result_warm(k, f->steps[i].metric)))
			return true;
	return false;
}

double page_warm(const struct kernel_result *k, const struct page_row *row)
{
	if (!row->formula)
		return result_warm(k, row->key);
	return has_warm(k, row->formula) ? formula_value(row->formula, warm_number, (void *)k) : NAN;
}

char *page_value(const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
		 const struct page_row *row, char ret_unit[UNIT_MAX])
{
	double scale = 1, number = value_number(&row->value);

	snprintf(ret_unit, UNIT_MAX, "%s", row->unit);
	if (!options->base_units && isfinite(number))
		scale = unit_divisor(row->unit, number, ret_unit);
	return page_value_by(options, results, k, row, scale);
}

char *page_value_by(const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
		    const struct page_row *row, double scale)
{
	struct buf text = BUF_INIT;
	char *made;

	plain_text(options, results, &row->value, scale, &text);
	if (options->instances != INSTANCES_NONE)
		add_instances(options, results, k, row->key, scale, &text);
	made = strdup(text.len ? buf_cstr(&text) : "");
	buf_release(&text);
	return made;
}
