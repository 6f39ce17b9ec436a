/* libFuzzer: arbitrary bytes as a section, a set, a rule and a file of words.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_section.c */
#include <math.h>
#include <stdint.h>

#include "kernel/metrics/glossary.h"
#include "kernel/sections/section.h"
#include "replay.h"

static double nothing(void *context, const char *metric)
{
	return metric[0] == 's' ? 1 : NAN;
}

static size_t two_lines(void *context, const char *more, const char *less, struct rule_line *ret, size_t room)
{
	size_t count = room < 2 ? room : 2;

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct rule_line){ "x.cu:1", 9, less ? 4 : 0, more[0] == 's' ? "wait" : NULL, 0.5 };
	return count;
}

static void evaluate(const struct section *s)
{
	for (size_t i = 0; i < s->block_count; i++)
		for (size_t k = 0; k < s->blocks[i].row_count; k++)
			for (size_t m = 0; m < s->blocks[i].rows[k].cell_count; m++)
				formula_value(&s->blocks[i].rows[k].cells[m], nothing, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct glossary glossary = { NULL, 0 };
	struct section_set set;
	struct written_rule rule;
	static struct rule_run run;
	struct section section;
	struct error err;

	if (section_parse(&section, "f/x.section", (const char *)data, size, &err) == 0) {
		evaluate(&section);
		section_release(&section);
	}
	if (section_set_parse(&set, "f/x.set", (const char *)data, size, &err) == 0)
		section_set_release(&set);
	if (written_rule_parse(&rule, "f/x.rule", (const char *)data, size, &err) == 0) {
		rules_begin(&run, nothing, two_lines, NULL);
		written_rule_apply(&rule, &run);
		written_rule_release(&rule);
	}
	glossary_parse(&glossary, "f/x.txt", (const char *)data, size, &err);
	glossary_sort(&glossary);
	glossary_find(&glossary, TERM_METRIC, "sm__x", 5);
	glossary_release(&glossary);
	return 0;
}
