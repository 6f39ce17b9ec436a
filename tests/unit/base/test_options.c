#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>

#include <cmocka.h>

#include "base/options/options.h"

struct fields {
	const char *output;
	bool force;
	bool show;
	int64_t count;
	int64_t delay;
	int64_t duration;
	int wait;
	uint64_t trace;
	struct option_texts env;
	const char *kill;
};

#define FIELD(type_, field_) .type = OPTION_##type_, .offset = offsetof(struct fields, field_)

/* clang-format off */
static const struct option_spec specs[] = {
	{ .name = "output", .letter = 'o', FIELD(TEXT, output), .aliases = "out|report-name" },
	{ .name = "force-overwrite", .letter = 'f', FIELD(BOOL, force), .initial = "false" },
	{ .name = "show-output", .letter = 'w', FIELD(BOOL, show), .initial = "true" },
	{ .name = "count", .letter = 'n', FIELD(INTEGER, count), .min = 1, .max = 32, .initial = "4" },
	{ .name = "delay", .letter = 'y', FIELD(SECONDS, delay), .initial = "0" },
	{ .name = "duration", .letter = 'd', FIELD(SECONDS, duration), .min = 1 },
	{ .name = "wait", FIELD(CHOICE, wait), .values = "primary|all", .initial = "all" },
	{ .name = "trace", .letter = 't', FIELD(CHOICES, trace), .values = "cuda|nvtx|osrt|none|help",
	  .initial = "cuda,nvtx" },
	{ .name = "env-var", .letter = 'e', FIELD(TEXTS, env) },
	{ .name = "kill", FIELD(TEXT, kill), .values = "none|sigterm|N", .initial = "sigterm" },
	{ .name = "range-end", .type = OPTION_CHOICE, .state = OPTION_PLANNED,
	  .values = "none|repeat[:N]|repeat-shutdown:N", .off = "none" },
	{ .name = "backtrace", .type = OPTION_TEXT, .state = OPTION_PLANNED, .flags = OPTION_COMMAS,
	  .values = "all[:N]|kernel[:N]|none|true|false", .bare = "true", .off = "none|false" },
	{ .name = "gpu-metrics-devices", .type = OPTION_TEXT, .state = OPTION_PLANNED,
	  .aliases = "gpu-metrics-device" },
};
/* clang-format on */

static const struct option_table table = OPTION_TABLE(specs);

/* One parse: the words given end with NULL. */
struct parse {
	struct fields fields;
	struct options_parsed parsed;
	struct error err;
	int result;
};

static void parse_words(struct parse *p, enum options_order order, const char *const *words)
{
	int argc = 0;

	memset(p, 0, sizeof(*p));
	while (words[argc])
		argc++;
	p->result = options_parse(&table, order, argc, (char **)(uintptr_t)words, &p->fields, &p->parsed, &p->err);
}

#define PARSE(p, ...) parse_words(p, OPTIONS_THEN_WORDS, (const char *const[]){ __VA_ARGS__, NULL })
#define PARSE_MIXED(p, ...) parse_words(p, OPTIONS_ANYWHERE, (const char *const[]){ __VA_ARGS__, NULL })

/* The line must be refused, and the sentence must contain `part`. */
static void assert_refused(struct parse *p, const char *part)
{
	assert_int_equal(p->result, -EINVAL);
	assert_null(p->parsed.owned);
	if (!strstr(p->err.text, part))
		fail_msg("'%s' is not in '%s'", part, p->err.text);
	assert_null(strchr(p->err.text, '\n'));
}

static void test_defaults(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "app");
	assert_int_equal(p.result, 0);
	assert_null(p.fields.output);
	assert_false(p.fields.force);
	assert_true(p.fields.show);
	assert_int_equal(p.fields.count, 4);
	assert_int_equal(p.fields.wait, 1);
	assert_int_equal(p.fields.trace, 3);
	assert_string_equal(p.fields.kill, "sigterm");
	assert_int_equal(p.parsed.use_count, 0);
	options_release(&p.parsed);
}

static void test_spellings_of_a_value(void **state)
{
	static const char *const lines[][3] = {
		{ "--output=x y", NULL, NULL },   { "--output", "x y", NULL }, { "-o", "x y", NULL },
		{ "-ox y", NULL, NULL },          { "-o=x y", NULL, NULL },    { "--out=x y", NULL, NULL },
		{ "--report-name", "x y", NULL },
	};
	struct parse p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		parse_words(&p, OPTIONS_THEN_WORDS, lines[i]);
		assert_int_equal(p.result, 0);
		assert_string_equal(p.fields.output, "x y");
		assert_string_equal(options_find_use(&p.parsed, "output")->value, "x y");
		options_release(&p.parsed);
	}
}

static void test_letters_together(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "-fo", "x y", "app");
	assert_int_equal(p.result, 0);
	assert_true(p.fields.force);
	assert_string_equal(p.fields.output, "x y");
	assert_int_equal(p.parsed.word_count, 1);
	options_release(&p.parsed);
	/* What may be a value is one, and each letter is a use. */
	PARSE(&p, "-ffalse", "-wwffwwffwwffn3");
	assert_int_equal(p.result, 0);
	assert_int_equal(p.fields.count, 3);
	assert_int_equal(p.parsed.use_count, 14);
	options_release(&p.parsed);
	PARSE(&p, "-fq");
	assert_refused(&p, "--force-overwrite");
}

static void test_value_may_be_empty_or_look_like_an_option(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "--output=", "-f");
	assert_string_equal(p.fields.output, "");
	assert_true(p.fields.force);
	options_release(&p.parsed);
	PARSE(&p, "-o", "-", "app");
	assert_string_equal(p.fields.output, "-");
	options_release(&p.parsed);
}

static void test_booleans(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "-f", "app");
	assert_true(p.fields.force);
	assert_int_equal(p.parsed.word_count, 1);
	options_release(&p.parsed);
	/* A following word is taken only if it is true or false. */
	PARSE(&p, "--show-output", "false", "-f", "true", "app");
	assert_false(p.fields.show);
	assert_true(p.fields.force);
	assert_int_equal(p.parsed.word_count, 1);
	assert_string_equal(p.parsed.words[0], "app");
	options_release(&p.parsed);
	PARSE(&p, "-w", "False");
	assert_true(p.fields.show);
	assert_string_equal(p.parsed.words[0], "False");
	options_release(&p.parsed);
	PARSE(&p, "--show-output=false", "-w=true", "-ffalse");
	assert_true(p.fields.show);
	assert_false(p.fields.force);
	options_release(&p.parsed);
	PARSE(&p, "--force-overwrite=yes", "app");
	assert_refused(&p, "--force-overwrite does not take 'yes'");
	PARSE(&p, "--force-overwrite=tru", "app");
	assert_refused(&p, "Did you mean true?");
}

static void test_bare_choice(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "--backtrace", "app");
	assert_string_equal(options_find_use(&p.parsed, "backtrace")->value, "true");
	assert_string_equal(p.parsed.words[0], "app");
	options_release(&p.parsed);
	PARSE(&p, "--backtrace", "kernel:500", "app");
	assert_string_equal(options_find_use(&p.parsed, "backtrace")->value, "kernel:500");
	options_release(&p.parsed);
	PARSE(&p, "--backtrace=kernel:500,all", "app");
	assert_int_equal(p.result, 0);
	options_release(&p.parsed);
}

static void test_options_end(void **state)
{
	struct parse p;

	(void)state;
	/* At the first word, for commands that run a program ... */
	PARSE(&p, "-f", "app", "-o", "x", "--unknown");
	assert_null(p.fields.output);
	assert_int_equal(p.parsed.word_count, 4);
	assert_string_equal(p.parsed.words[3], "--unknown");
	assert_null(p.parsed.words[4]);
	options_release(&p.parsed);
	/* ... at "--" for all ... */
	PARSE(&p, "-f", "--", "-app", "--", "x");
	assert_int_equal(p.parsed.word_count, 3);
	assert_string_equal(p.parsed.words[0], "-app");
	assert_string_equal(p.parsed.words[1], "--");
	options_release(&p.parsed);
	PARSE_MIXED(&p, "a", "--", "-f");
	assert_false(p.fields.force);
	assert_int_equal(p.parsed.word_count, 2);
	options_release(&p.parsed);
	/* ... and never at a word where files and options mix. */
	PARSE_MIXED(&p, "a.sonde", "-o", "x", "b.sonde", "-f");
	assert_string_equal(p.fields.output, "x");
	assert_true(p.fields.force);
	assert_int_equal(p.parsed.word_count, 2);
	assert_string_equal(p.parsed.words[1], "b.sonde");
	options_release(&p.parsed);
	/* "-" alone is a word: standard input. */
	PARSE_MIXED(&p, "-", "-f");
	assert_string_equal(p.parsed.words[0], "-");
	options_release(&p.parsed);
}

static void test_last_wins_and_lists_collect(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "-o", "a", "--output=b", "-e", "A=1", "--env-var=B=2", "-eC=3");
	assert_string_equal(p.fields.output, "b");
	assert_int_equal(p.fields.env.count, 3);
	assert_string_equal(p.fields.env.items[0], "A=1");
	assert_string_equal(p.fields.env.items[1], "B=2");
	assert_string_equal(p.fields.env.items[2], "C=3");
	options_release(&p.parsed);
}

static void test_numbers(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "-n", "32", "-y", "1.5", "-d", "0.000001");
	assert_int_equal(p.fields.count, 32);
	assert_int_equal(p.fields.delay, 1500000000);
	assert_int_equal(p.fields.duration, 1000);
	options_release(&p.parsed);
	PARSE(&p, "-n", "33");
	assert_refused(&p, "from 1 to 32");
	PARSE(&p, "-n", "0");
	assert_refused(&p, "from 1 to 32");
	PARSE(&p, "-n", "4x");
	assert_refused(&p, "whole number");
	PARSE(&p, "--count=");
	assert_refused(&p, "whole number");
	PARSE(&p, "-n", "99999999999999999999");
	assert_refused(&p, "99999999999999999999 is too large");
	PARSE(&p, "-y", "-1");
	assert_refused(&p, "from 0 on");
	PARSE(&p, "-y", "soon");
	assert_refused(&p, "seconds");
	PARSE(&p, "-y", "nan");
	assert_refused(&p, "seconds");
	PARSE(&p, "-y", "1e300");
	assert_refused(&p, "285 years");
	PARSE(&p, "-y", "-1e300");
	assert_refused(&p, "from 0 on");
	PARSE(&p, "-d", "0");
	assert_refused(&p, "above 0");
}

static void test_choices(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "--wait=primary", "-t", "osrt,nvtx,osrt", "--kill", "9");
	assert_int_equal(p.fields.wait, 0);
	assert_int_equal(p.fields.trace, 6);
	assert_string_equal(p.fields.kill, "9");
	options_release(&p.parsed);
	PARSE(&p, "--wait=primry");
	assert_refused(&p, "Did you mean primary? It takes primary or all.");
	PARSE(&p, "-t", "cuda,nvx");
	assert_refused(&p, "--trace does not take 'nvx'. Did you mean nvtx?");
	PARSE(&p, "-t", "cuda, nvtx");
	assert_refused(&p, "' nvtx'");
	PARSE(&p, "-t", "cuda,");
	assert_refused(&p, "''");
	PARSE(&p, "--kill=sigtrm");
	assert_refused(&p, "Did you mean sigterm?");
	PARSE(&p, "--kill=-9");
	assert_refused(&p, "--kill does not take '-9'");
}

static void test_numbered_values(void **state)
{
	static const char *const good[] = { "none", "repeat", "repeat:3", "repeat-shutdown:12" };
	static const char *const bad[] = { "repeat:", "repeat:x", "repeat-shutdown", "repeat3", "" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(option_match(specs[10].values, good[i], strlen(good[i])) >= 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(option_match(specs[10].values, bad[i], strlen(bad[i])), -1);
	assert_int_equal(option_match("N|TEXT", "12", 2), 0);
	assert_int_equal(option_match("N|TEXT", "x", 1), 1);
	assert_int_equal(option_match("N|TEXT", "", 0), -1);
}

static void test_planned_options_are_checked_not_stored(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "--gpu-metrics-device", "0", "--range-end", "none", "app");
	assert_int_equal(p.result, 0);
	assert_int_equal(p.parsed.use_count, 2);
	assert_string_equal(p.parsed.uses[0].spec->name, "gpu-metrics-devices");
	assert_false(option_use_is_off(&p.parsed.uses[0]));
	assert_true(option_use_is_off(&p.parsed.uses[1]));
	options_release(&p.parsed);
	PARSE(&p, "--range-end=repeet:2", "app");
	assert_refused(&p, "repeat");
}

static void test_names_cut_short(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "--outp=x", "app");
	assert_int_equal(p.result, 0);
	assert_string_equal(p.fields.output, "x");
	options_release(&p.parsed);
	PARSE(&p, "--gpu-m", "0", "app"); /* begins the name and the alias of one option */
	assert_int_equal(p.result, 0);
	assert_string_equal(p.parsed.uses[0].spec->name, "gpu-metrics-devices");
	options_release(&p.parsed);
	PARSE(&p, "--k", "9", "app");
	assert_int_equal(p.result, 0);
	options_release(&p.parsed);
	PARSE(&p, "--d=1", "app");
	assert_refused(&p, "--d may be --delay or --duration");
	PARSE(&p, "--outputs=x", "app");
	assert_refused(&p, "Unknown option --outputs");
}

static void test_unknown(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "--ouput=x", "app");
	assert_refused(&p, "Unknown option --ouput. Did you mean --output?");
	PARSE(&p, "--hlp", "app");
	assert_refused(&p, "Did you mean --help?");
	PARSE(&p, "-z", "app");
	assert_refused(&p, "Unknown option -z");
	PARSE(&p, "--", "-z");
	assert_int_equal(p.result, 0);
	options_release(&p.parsed);
	PARSE(&p, "-output=x", "app"); /* read as -o with the value "utput=x" */
	assert_string_equal(p.fields.output, "utput=x");
	options_release(&p.parsed);
	PARSE(&p, "-kill=9", "app");
	assert_refused(&p, "Did you mean --kill=9?");
	PARSE(&p, "-o");
	assert_refused(&p, "--output needs a value");
	PARSE(&p, "--=x");
	assert_refused(&p, "Unknown option --");
}

static void test_help(void **state)
{
	struct parse p;

	(void)state;
	PARSE(&p, "-f", "--help", "--unknown");
	assert_int_equal(p.result, 0);
	assert_true(p.parsed.help);
	assert_null(p.parsed.help_tag);
	options_release(&p.parsed);
	PARSE(&p, "--help=cuda");
	assert_string_equal(p.parsed.help_tag, "cuda");
	options_release(&p.parsed);
	PARSE(&p, "-h");
	assert_true(p.parsed.help);
	options_release(&p.parsed);
	PARSE(&p, "app", "--help");
	assert_false(p.parsed.help);
	options_release(&p.parsed);
}

static void test_words_of_values(void **state)
{
	(void)state;
	assert_int_equal(option_value_word("repeat[:N]", 10), 6);
	assert_int_equal(option_value_word("repeat:N", 8), 6);
	assert_int_equal(option_value_word("graph:host", 10), 10);
	assert_int_equal(option_value_word("N", 1), 0);
	assert_int_equal(option_value_word("TEXT", 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_spellings_of_a_value),
		cmocka_unit_test(test_letters_together),
		cmocka_unit_test(test_value_may_be_empty_or_look_like_an_option),
		cmocka_unit_test(test_booleans),
		cmocka_unit_test(test_bare_choice),
		cmocka_unit_test(test_options_end),
		cmocka_unit_test(test_last_wins_and_lists_collect),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_numbered_values),
		cmocka_unit_test(test_planned_options_are_checked_not_stored),
		cmocka_unit_test(test_names_cut_short),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_words_of_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
