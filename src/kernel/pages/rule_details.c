/* Metrics that a rule looked at, as a table below what it says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/pages/text.h"

static int add_rule_metric(struct text_table *t, const struct page_options *options, const struct kernel_results *results,
			   const struct kernel_result *k, const char *name)
{
	const struct metric_value *value = result_find(k, name);
	struct page_row row = { .key = name };
	char unit[UNIT_MAX], *text;
	int r;

	if (!value)
		return 0;
	row.value = *value;
	page_unit(results, value, "", row.unit);
	text = page_value(options, results, k, &row, unit);
	r = text ? text_table_add(t, name) : -ENOMEM;
	if (r >= 0)
		r = text_table_add(t, unit);
	if (r >= 0)
		r = text_table_add(t, text);
	free(text);
	return r;
}

int page_print_rule_details(FILE *out, const struct page_options *options, const struct kernel_results *results,
			    const struct kernel_result *k, const struct kernel_rule *rule)
{
	static const char *const heading[] = { "Metric Name", "Metric Unit", "Metric Value" };
	static const unsigned widths[] = { 40, 11, 12 };
	struct text_table t = { .columns = 3, .left = 1 };
	char *names = strdup(rule->metrics ? rule->metrics : ""), *rest = names, *name;
	int r = names ? 0 : -ENOMEM;

	while (r >= 0 && (name = strsep(&rest, ",")))
		r = *name ? add_rule_metric(&t, options, results, k, name) : 0;
	if (r >= 0 && t.count)
		text_table_print(out, &t, heading, widths);
	text_table_release(&t);
	free(names);
	return r;
}
