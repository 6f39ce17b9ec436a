/* What rules say of the kernels of a report. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/page.h"
#include "kernel/rules/rule.h"

static double number_of(void *context, const char *metric)
{
	return result_number(context, metric);
}

static const char *section_of(const char *id)
{
	size_t count;
	const struct rule *all = rules(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].id, id) == 0)
			return all[i].section;
	return "";
}

static int add_result(struct kernel_results *results, struct kernel_result *k, const struct rule_result *said)
{
	static const char *const tags[] = { [RULE_OPTIMIZE] = "OPT", [RULE_INFORM] = "INF", [RULE_WARN] = "WRN" };
	static const char *const gains[] = { [RULE_NO_GAIN] = "", [RULE_LOCAL] = "local", [RULE_GLOBAL] = "global" };
	char *text = NULL;
	const char *kept;

	if (asprintf(&text, "%s%s%s", said->title, *said->title && *said->text ? ": " : "", said->text) < 0)
		return -ENOMEM;
	kept = results_keep(results, text);
	free(text);
	if (!kept)
		return -ENOMEM;
	return result_add_rule(k, (struct kernel_rule){ section_of(said->rule), said->rule, tags[said->tag], kept, gains[said->gain],
							said->gain == RULE_NO_GAIN ? NAN : said->percent });
}

int apply_rules(struct kernel_results *results)
{
	struct rule_run *run = malloc(sizeof(*run));
	enum kernel_verdict verdict;
	int r = run ? 0 : -ENOMEM;

	for (size_t i = 0; i < results->count && r >= 0; i++) {
		struct kernel_result *k = &results->items[i];

		/* Another tool's rules stay alone. */
		if (k->rule_count || !k->value_count)
			continue;
		rules_apply(run, number_of, k, NULL);
		for (size_t j = 0; j < run->count && r >= 0; j++)
			r = add_result(results, k, &run->results[j]);
		verdict = rules_verdict(number_of, k);
		k->verdict = verdict == VERDICT_UNKNOWN ? "" : rules_verdict_text(verdict);
	}
	free(run);
	return r;
}
