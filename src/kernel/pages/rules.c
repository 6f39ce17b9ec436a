/* What rules say of the kernels of a report. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "kernel/pages/page.h"
#include "kernel/rules/rule.h"
#include "kernel/pages/rule_lines.h"

/* A kernel, and its instructions. */
struct looking {
	const struct kernel_result *k;
	struct kernel_source lines;
	struct buf asked;                  /* metrics that the rule at work looked at, with a comma behind each */
	const char *metrics[RULE_RESULTS]; /* of each result */
};

static bool is_asked(const struct buf *asked, const char *metric)
{
	size_t size = strlen(metric);

	for (const char *at = asked->len ? buf_cstr((struct buf *)asked) : ""; *at; at = strchr(at, ',') + 1)
		if (strncmp(at, metric, size) == 0 && at[size] == ',')
			return true;
	return false;
}

static double note_asked_number(void *context, const char *metric)
{
	struct looking *l = context;
	double value = result_number(l->k, metric);

	if (isfinite(value) && !is_asked(&l->asked, metric))
		buf_printf(&l->asked, "%s,", metric);
	return value;
}

static size_t lines_of(void *context, const char *more, const char *less, struct rule_line *ret, size_t room)
{
	return source_worst_lines(&((const struct looking *)context)->lines, more, less, ret, room);
}

/* By line where there are lines, else by instruction. */
static int load_rule_lines(struct looking *l, const struct source_book *book)
{
	struct kernel_source instructions;
	int r;

	TRY(kernel_source_of(&instructions, book, l->k->id));
	if (!source_book_has_lines(book)) {
		l->lines = instructions;
		return 0;
	}
	r = kernel_source_lines(&l->lines, &instructions, SOURCE_WRITTEN);
	kernel_source_release(&instructions);
	return r;
}

static const char *section_of(const struct sections *texts, const char *id)
{
	for (size_t i = 0; i < texts->rule_count; i++)
		if (strcmp(texts->rules[i].id, id) == 0)
			return texts->rules[i].section;
	return "";
}

/* One rule, and what its results came from. */
static int apply_written(struct kernel_results *results, struct looking *l, const struct written_rule *rule, struct rule_run *run)
{
	size_t first = run->count;
	const char *metrics;

	buf_clear(&l->asked);
	written_rule_apply(rule, run);
	if (run->count == first || !l->asked.len)
		return 0;
	metrics = results_keep(results, buf_cstr(&l->asked));
	for (size_t i = first; i < run->count; i++)
		l->metrics[i] = metrics;
	return metrics ? 0 : -ENOMEM;
}

static int add_result(struct kernel_results *results, struct kernel_result *k, const struct rule_result *said, const char *section,
		      const char *metrics)
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
	return result_add_rule(k, (struct kernel_rule){ section, said->rule, tags[said->tag], kept, gains[said->gain],
							said->gain == RULE_NO_GAIN ? NAN : said->percent, metrics });
}

int apply_rules(struct kernel_results *results, const struct sections *texts)
{
	struct rule_run *run = malloc(sizeof(*run));
	struct source_book book = { 0 };
	struct error ignored;
	int r = run ? 0 : -ENOMEM;

	/* Rules that tell lines say nothing of a report without. */
	if (results->report && source_book_load(&book, results->report, NULL, 0, &ignored) < 0)
		book = (struct source_book){ 0 };

	for (size_t i = 0; i < results->count && r >= 0; i++) {
		struct kernel_result *k = &results->items[i];
		struct looking looking = { 0 };

		/* Another tool's rules stay alone. */
		if (k->rule_count || !k->value_count)
			continue;
		looking.k = k;
		r = load_rule_lines(&looking, &book);
		if (r < 0)
			break;
		rules_begin(run, note_asked_number, looking.lines.count ? lines_of : NULL, &looking);
		for (size_t j = 0; j < texts->rule_count && r >= 0; j++)
			r = apply_written(results, &looking, &texts->rules[j], run);
		for (size_t j = 0; j < run->count && r >= 0; j++)
			r = add_result(results, k, &run->results[j], section_of(texts, run->results[j].rule), looking.metrics[j]);
		kernel_source_release(&looking.lines);
		buf_release(&looking.asked);
		k->verdict = results_keep(results, run->verdict);
		if (!k->verdict) {
			k->verdict = "";
			r = -ENOMEM;
		}
	}
	source_book_release(&book);
	free(run);
	return r;
}
