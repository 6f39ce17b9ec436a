/* How long each kernel took, and how long it did in the baseline. */
#include <inttypes.h>
#include <math.h>

#include "kernel/pages/text.h"

#define DURATION "gpu__time_duration.sum"

static void add_compared_time(struct text_table *t, double ns)
{
	char unit[UNIT_MAX] = "ns", number[NUMBER_MAX], text[NUMBER_MAX + UNIT_MAX + 1] = "";
	double divisor = isfinite(ns) ? unit_divisor("ns", ns, unit) : 1;

	number_text(ns / divisor, true, number);
	if (isfinite(ns))
		snprintf(text, sizeof(text), "%s %s", number, unit);
	text_table_add(t, text);
}

static void add_compared_kernel(struct text_table *t, const struct page_options *options, const struct kernel_result *k)
{
	double now = result_number(k, DURATION), before = baseline_number(options->baseline, k, DURATION),
	       change = baseline_change(before, now);
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%" PRId64, k->number);
	text_table_add(t, text);
	text_table_add(t, k->function);
	snprintf(text, sizeof(text), "%zu", baseline_matches(options->baseline, k));
	text_table_add(t, text);
	add_compared_time(t, now);
	add_compared_time(t, before);
	text[0] = '\0';
	if (isfinite(change))
		snprintf(text, sizeof(text), "%+.2f%%", change);
	text_table_add(t, text);
}

void page_print_baseline(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	static const char *const heading[] = { "ID", "Function Name", "Launches Before", "Duration", "Baseline", "Change" };
	struct text_table t = { .columns = 6, .left = 1u << 1 };

	if (!options->baseline || !results->count)
		return;
	fprintf(out, "Beside the baseline\n");
	for (size_t i = 0; i < results->count; i++)
		add_compared_kernel(&t, options, &results->items[i]);
	text_table_print(out, &t, heading, NULL);
	fputc('\n', out);
	text_table_release(&t);
}
