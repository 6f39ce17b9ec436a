/* The language of rules, each part with values planted and what must be said reasoned by hand; and files that are refused, with the line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/choice/choice.h"
#include "own_files.h"

#define HEAD "title = T\nsection = S\n"

struct planted {
	const char *metric;
	double value;
};

/* What is not planted is not there. */
static double from_list(void *context, const char *metric)
{
	for (const struct planted *list = context; list->metric; list++)
		if (strcmp(list->metric, metric) == 0)
			return list->value;
	return NAN;
}

static struct rule_run run;

/* What the rule says of the values, behind what is in `run` already. */
static void go_on(const char *text, struct planted *values, rule_lines_of *lines)
{
	static struct written_rule kept;
	struct error err = { "" };

	/* Names of what is handed on are the rule's: it outlasts the run. */
	written_rule_release(&kept);
	if (written_rule_parse(&kept, "folder/Mine.rule", text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
	run.value = from_list;
	run.lines = lines;
	run.context = values;
	written_rule_apply(&kept, &run);
}

static void apply(const char *text, struct planted *values)
{
	rules_begin(&run, from_list, NULL, values);
	go_on(text, values, NULL);
}

static void says(size_t i, const char *title, const char *text)
{
	assert_true(i < run.count);
	assert_string_equal(run.results[i].rule, "Mine");
	assert_string_equal(run.results[i].title, title);
	assert_string_equal(run.results[i].text, text);
}

static void gains(size_t i, enum rule_gain gain, double percent)
{
	assert_int_equal(run.results[i].gain, gain);
	assert_float_equal(run.results[i].percent, percent, 1e-9);
}

static const char mine[] = "# Mine.\ntitle = Mine\nsection = LaunchStats\nabout = What I look for.\n"
			   "[warn Few Threads]\nwhen = a.sum * b.sum < 100\nwhen = b.sum >= 2\n"
			   "text = {a.sum * b.sum|0} threads of {c.sum|2}\ntext = are few.\ngain = global 1 - a.sum / 50\n"
			   "[inform Busy]\nwhen = rule__compute > 0.5\ntext = Busy.\n";

static void cases(void **state)
{
	struct planted values[] = { { "a.sum", 10 }, { "b.sum", 2 }, { "c.sum", 0.126 }, { NULL, 0 } };

	apply(mine, values);
	assert_int_equal(run.count, 1);
	says(0, "Few Threads", "20 threads of 0.13 are few.");
	gains(0, RULE_GLOBAL, 80);
	assert_int_equal(run.results[0].tag, RULE_WARN);
	/* What rules before it found. */
	rules_begin(&run, from_list, NULL, values);
	rule_hand_on(&run, "rule__compute", 0.6);
	go_on(mine, values, NULL);
	assert_int_equal(run.count, 2);
	/* A value that is not there holds in no condition. */
	values[1].metric = "d.sum";
	apply(mine, values);
	assert_int_equal(run.count, 0);
}

static void names_and_order(void **state)
{
	static const char text[] = HEAD "say = first\nlet all = a.sum + b.sum\nwhen = all > 10\nset rule__all = all / 100\n"
					"[optimize Half]\nlet half = all / 2\nwhen = half > 50 and b.sum < a.sum\ntext = {half|0}\n"
					"[inform Rest]\nlet half = 1\ntext = {all|0} {half|0} {rule__all|2}\n";
	struct planted values[] = { { "a.sum", 80 }, { "b.sum", 40 }, { NULL, 0 } };

	apply(text, values);
	assert_int_equal(run.count, 1);
	says(0, "Half", "60");
	assert_int_equal(run.handed_on_count, 1);
	assert_string_equal(run.handed_on[0].name, "rule__all");
	assert_float_equal(run.handed_on[0].value, 1.2, 1e-9);
	values[1].value = 10;
	apply(text, values);
	assert_int_equal(run.count, 1);
	says(0, "Rest", "90 1 0.90");
	/* Nothing is handed on behind a condition that does not hold. */
	values[0].value = 0;
	apply(text, values);
	assert_int_equal(run.count, 0);
	assert_int_equal(run.handed_on_count, 0);
}

/* The first that is known. */
static void gains_in_order(void **state)
{
	static const char text[] = HEAD
		"[optimize A]\nwhen = a.sum > 0\ntext = A\ngain = global min(rule__issue, a.sum)\ngain = local a.sum\n";
	struct planted values[] = { { "a.sum", 0.5 }, { NULL, 0 } };

	apply(text, values);
	gains(0, RULE_LOCAL, 50);
	rule_hand_on(&run, "rule__issue", 0.2);
	go_on(text, values, NULL);
	gains(1, RULE_GLOBAL, 20);
	/* More than all is all. */
	values[0].value = 3;
	apply(text, values);
	gains(0, RULE_LOCAL, 100);
}

static const char of_pipes[] = HEAD
	"[list pipe]\nrow = ALU | alu | integers\nrow = FMA | fma | products\nrow = XU | xu | sines\n"
	"value = sm__$2_busy.avg\n"
	"[optimize Busiest]\nwhen = pipe.most > 10\n"
	"text = {largest pipe: $1 for $3}, {least pipe: $1}; {pipe.sum|0} of {pipe.count|0}: {each pipe when pipe >= 20: $1 {pipe|0}}.\n"
	"text = {when pipe.count < 3: Not all.}\n"
	"[warn each pipe: $1 Waits]\nlet waits = sm__$2_waits.avg\nwhen = waits > pipe\ntext = {waits|0} for $3.\ngain = local waits / 100\n";

static void lists(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "sm__alu_busy.avg", 30 }, { "sm__fma_busy.avg", 40 }, { "sm__xu_busy.avg", 5 },
				    { "sm__xu_waits.avg", 60 }, { "sm__fma_waits.avg", 39 }, { "sm__alu_waits.avg", 31 }, { NULL, 0 } };
	/* clang-format on */

	apply(of_pipes, values);
	assert_int_equal(run.count, 3);
	/* Nothing behind the full stop: all three are known. */
	says(0, "Busiest", "FMA for products, XU; 75 of 3: ALU 30, FMA 40.");
	says(1, "ALU Waits", "31 for integers.");
	says(2, "XU Waits", "60 for sines.");
	gains(2, RULE_LOCAL, 60);
	/* Of two that are alike it is the first. */
	values[2].metric = "none";
	values[0].value = 40;
	apply(of_pipes, values);
	assert_int_equal(run.count, 1);
	says(0, "Busiest", "ALU for integers, ALU; 80 of 2: ALU 40, FMA 40. Not all.");
	values[0].metric = values[1].metric = "none";
	apply(of_pipes, values);
	assert_int_equal(run.count, 0);
}

static size_t two_lines(void *context, const char *more, const char *less, struct rule_line *ret, size_t room)
{
	assert_string_equal(more, "sectors");
	assert_string_equal(less, "ideal");
	assert_true(room >= 2);
	ret[0] = (struct rule_line){ "a.cu:7", 80, 10, "barrier", 0.25 };
	ret[1] = (struct rule_line){ "b.cu:9", 40, 10, NULL, 0 };
	return 2;
}

static void source_lines(void **state)
{
	static const char text[] = HEAD
		"[lines line]\nmore = sectors\nless = ideal\n[warn Lines]\nwhen = a.sum > 0\ntext = {line.count|0} lines.\n"
		"text = {when line.most > 60: {each line: $1 ({line.more|0}, {line.less|0}){when line.stall > 0:  for $2 {line.stall|2}}}.}\n";
	struct planted values[] = { { "a.sum", 1 }, { NULL, 0 } };

	rules_begin(&run, from_list, two_lines, values);
	go_on(text, values, two_lines);
	says(0, "Lines", "2 lines. a.cu:7 (80, 10) for barrier 0.25, b.cu:9 (40, 10).");
	/* A report without. */
	apply(text, values);
	says(0, "Lines", "0 lines.");
}

static void verdicts(void **state)
{
	static const char text[] = HEAD "say = first\n[inform Any]\nwhen = a.sum > 0\ntext = Any.\n[verdict a-bound]\nwhen = a.sum > 10\n"
					"[verdict b-bound]\nwhen = a.sum > 5\n";
	struct planted values[] = { { "a.sum", 20 }, { NULL, 0 } };

	apply(text, values);
	assert_string_equal(run.verdict, "a-bound");
	assert_int_equal(run.count, 1);
	/* The first rule that has one has it. */
	values[0].value = 7;
	go_on(text, values, NULL);
	assert_string_equal(run.verdict, "a-bound");
	apply(text, values);
	assert_string_equal(run.verdict, "b-bound");
	values[0].value = 1;
	apply(text, values);
	assert_string_equal(run.verdict, "");
}

/* As much as there is room for. */
static void too_much_to_say(void **state)
{
	static char text[8192] = HEAD "[warn W]\nwhen = a.sum > 0\n";
	struct planted values[] = { { "a.sum", 1 }, { NULL, 0 } };

	for (unsigned i = 0; i < 60; i++)
		strcat(text, "text = Words and words and words and words {a.sum|6}\n");
	apply(text, values);
	assert_int_equal(strlen(run.results[0].text), sizeof(run.results[0].text) - 1);
	rules_begin(&run, from_list, NULL, values);
	for (unsigned i = 0; i < RULE_RESULTS + 3; i++)
		go_on(HEAD "[warn W]\nwhen = a.sum > 0\ntext = W\n", values, NULL);
	assert_int_equal(run.count, RULE_RESULTS);
}

static void refused(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "title = A\nsection = B\n", "a rule needs" },
		{ "title = A\nsection = B\n[warn C]\ntext = x\n", "a rule needs" },
		{ "title = A\nsection = B\n[warn C]\nwhen = 1 > 0\n", "a rule needs" },
		{ HEAD "[list a]\nvalue = b\n[warn C]\nwhen = 1 > 0\ntext = x\n", "a rule needs" },
		{ HEAD "[lines a]\nless = b\n[warn C]\nwhen = 1 > 0\ntext = x\n", "a rule needs" },
		{ "title = A\n[shout C]\n", ":2: a case is" },
		{ "title = A\n[warn C\n", ":2: '[' has no ']'" },
		{ "[warn C]\nwhen = a.sum\n", ":2: a condition compares" },
		{ "[warn C]\nwhen = a.sum > \n", ":2: " },
		{ "[warn C]\nwhen = a.sum > 1 and b\n", ":2: a condition compares" },
		{ "[warn C]\ntext = {a.sum\n", ":2: '{' has no '}'" },
		{ "[warn C]\ntext = {a.sum|9}\n", ":2: behind '|'" },
		{ "[warn C]\ntext = {when a.sum > 1 x}\n", ":2: expected ': '" },
		{ "[warn C]\ntext = {each a: x}\n", ":2: there is no list 'a' above" },
		{ "[warn C]\ntext = {when 1 > 0: {when 1 > 0: {when 1 > 0: {when 1 > 0: {a}}}}}\n", ":2: braces are nested too deeply" },
		{ "[warn C]\ntext = costs $1\n", ":2: columns ($1) require a row" },
		{ "[warn C]\nlet x = a__$1.sum\n", ":2: columns ($1) require a row" },
		{ "[warn C]\ngain = huge 1\n", ":2: a gain is" },
		{ "[warn C]\nplace = here\n", ":2: a case has" },
		{ "[verdict C]\ntext = here\n", ":2: a verdict has" },
		{ "[warn each a: C]\n", ":1: there is no list 'a' above" },
		{ "colour = red\n", ":1: before the first block" },
		{ "say = nothing\n", ":1: before the first block" },
		{ "order = 1234567\n", ":1: the order is a number" },
		{ "let 2x = 1\n", ":1: a name has letters" },
		{ "let a.b = 1\n", ":1: a name has letters" },
		{ "let x = 1\nlet x = 2\n", ":2: there is a 'x' already" },
		{ "let x = 1\n[list x]\n", ":2: there is a 'x' already" },
		{ "set compute = 1\n", ":1: names of results" },
		{ "set rule__compute = 1 +\n", ":1: something is missing" },
		{ "[warn C]\n[list x]\n", ":2: lists come before cases" },
		{ "[list x]\nvalue = $1\n", ":2: rows of 'x' have 0 columns" },
		{ "[list x]\nrow = a | b\nrow = a\n", ":3: rows have as many columns as the first, 2" },
		{ "[list x]\nrow = 1|2|3|4|5|6|7|8|9|10\n", ":2: a row has at most 9" },
		{ "[list x]\nrow = a\nvalue = a__$2.sum\n", ":3: rows of 'x' have 1 columns" },
		{ "[list x]\nrow = a\nvalue = 1\nvalue = 2\n", ":4: a list has" },
		{ "[list x]\nrow = a\n[warn C]\nwhen = x.biggest > 1\n", ":4: 'x.biggest': a list has" },
		{ "[list x]\nrow = a\n[warn C]\nwhen = x.more > 1\n", ":4: 'x.more': a list has" },
		{ "[list x]\nrow = a\n[warn each x: C]\ntext = {each x: $1}\n", ":4: there is a row of 'x' here already" },
		{ "[lines x]\nrow = a\n", ":2: lines have" },
	};
	struct written_rule rule;
	struct error err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_true(written_rule_parse(&rule, "x.rule", wrong[i].text, strlen(wrong[i].text), &err) < 0);
		if (!strstr(err.text, wrong[i].why))
			fail_msg("'%s' instead of '%s'", err.text, wrong[i].why);
	}
}

static void refuses_more(const char *begin, const char *line, unsigned allowed, const char *why)
{
	static char text[65536];
	struct written_rule rule;
	struct error err;
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", begin);

	for (unsigned i = 0; i <= allowed; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, line, i);
	assert_true(written_rule_parse(&rule, "x.rule", text, used, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' instead of '%s'", err.text, why);
}

static void bounds(void **state)
{
	refuses_more("", "let x%u = 1\n", WRITTEN_MOST_NAMES, "there are more than 64 names");
	refuses_more("", "[list x%u]\nrow = a\n", WRITTEN_MOST_LISTS, "there are more than 8 lists");
	refuses_more("[list x]\n", "row = %u\n", WRITTEN_MOST_ROWS, "there are more than 32 rows");
	refuses_more("", "[warn %u]\nwhen = 1 > 0\ntext = x\n", WRITTEN_MOST_CASES, "there are more than 64 cases");
}

/* Of two with the same name the one in the earlier folder is taken, and those with a lower number are applied first. */
static void folders(void **state)
{
	char folder[] = "/tmp/sonde_rules_XXXXXX", path[64];
	const char *const both[] = { folder, SHARE "/rules" };
	struct sections all;
	struct error err = { "" };
	size_t of_users = 0;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/CPIStall.rule", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("title = Mine\nsection = S\n[warn W]\nwhen = 1 > 0\ntext = W\n", file);
	fclose(file);
	assert_int_equal(sections_load(&all, both, 2, &err), 0);
	remove(path);
	remove(folder);
	assert_string_equal(all.rules[0].id, "SOLBottleneck");
	for (size_t i = 0; i < all.rule_count; i++)
		if (strcmp(all.rules[i].id, "CPIStall") == 0) {
			assert_string_equal(all.rules[i].title, "Mine");
			of_users++;
		}
	assert_int_equal(of_users, 1);
	/* It says no number: behind all of Sonde's own. */
	assert_string_equal(all.rules[all.rule_count - 1].id, "CPIStall");
	sections_release(&all);
}

#define CHIPS 4

/* What the sections choose on some chips; and values at random, so that in the end each rule has asked for all it names. */
struct asked {
	struct choice choices[CHIPS];
	unsigned seed;
};

static bool is_counted(const struct asked *a, const char *metric)
{
	for (size_t i = 0; i < CHIPS; i++)
		if (choice_has(&a->choices[i], metric))
			return true;
	return false;
}

/* Attributes of the device, of passes, and what rules hand on. */
static bool is_reported_always(const char *metric)
{
	return strncmp(metric, "device__attribute_", 18) == 0 || strncmp(metric, "smsp__pcsamp_", 13) == 0 ||
	       strncmp(metric, "rule__", 6) == 0;
}

static double random_value(void *context, const char *metric)
{
	const struct asked *a = context;
	uint64_t hash = 1469598103934665603ull ^ a->seed;

	if (!is_reported_always(metric) && !is_counted(a, metric))
		fail_msg("%s: no section counts it", metric);
	for (const char *c = metric; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
	return (double)(hash >> 33 & 1023) / 10;
}

static void choose_all(struct choice *ret, const char *name)
{
	static const char *const all = "regex:.";
	struct choice_request request = { .sections = &all, .section_count = 1, .companions = true };
	struct choice_sources sources = { .sections = &sections, .glossary = &glossary, .cc = chip_capability(name) };
	struct error err = { "" };
	struct catalog chip;

	if (catalog_open(&chip, &cupti, name, HOST_PROFILER_RANGE, NULL, &err) < 0)
		fail_msg("%s", err.text);
	sources.counted = &chip;
	if (choice_make(ret, &sources, &request, &err) < 0)
		fail_msg("%s", err.text);
	catalog_close(&chip);
}

/* A rule that names a metric which no section counts would never speak. */
static void every_metric_is_counted(void **state)
{
	static const char *const chips[CHIPS] = { "gh100", "ga100", "ad102", "gb100" };
	static const char *const folders[] = { SHARE "/rules" };
	struct sections rules;
	struct error err = { "" };
	struct asked a;

	if (!cupti.library)
		skip();
	for (size_t i = 0; i < CHIPS; i++)
		choose_all(&a.choices[i], chips[i]);
	assert_int_equal(sections_load(&rules, folders, 1, &err), 0);
	for (a.seed = 0; a.seed < 200; a.seed++) {
		rules_begin(&run, random_value, NULL, &a);
		for (size_t i = 0; i < rules.rule_count; i++)
			written_rule_apply(&rules.rules[i], &run);
	}
	for (size_t i = 0; i < CHIPS; i++)
		choice_release(&a.choices[i]);
	sections_release(&rules);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases),    cmocka_unit_test(names_and_order), cmocka_unit_test(gains_in_order), cmocka_unit_test(lists),
		cmocka_unit_test(source_lines), cmocka_unit_test(verdicts),    cmocka_unit_test(too_much_to_say), cmocka_unit_test(refused),
		cmocka_unit_test(bounds),   cmocka_unit_test(folders),         cmocka_unit_test(every_metric_is_counted),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, load, unload);
}
