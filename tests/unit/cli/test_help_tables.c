/* Every option of every command: named once, explained, and present in help, man
 * page and completion. */
#include "run_cli.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/help/help.h"

typedef void visit_fn(const struct command *command, const struct option_spec *spec);

static void each_option(visit_fn *visit)
{
	const struct option_table *table;
	size_t count, c, o;
	const struct command *const *all = commands(&count);

	for (c = 0; c < count; c++) {
		table = all[c]->options;
		for (o = 0; o < table->count; o++)
			visit(all[c], &table->specs[o]);
	}
}

static void check_names(const struct command *command, const struct option_spec *spec)
{
	const struct option_table *table = command->options;
	const char *aliases = spec->aliases, *piece;
	size_t o, len;

	assert_true(spec->name && *spec->name);
	assert_null(strpbrk(spec->name, " =|'\""));
	assert_string_not_equal(spec->name, "help");
	/* The first option found by each of its names is itself. */
	assert_ptr_equal(options_find(table, spec->name, strlen(spec->name)), spec);
	while ((len = option_next_value(&aliases, &piece)))
		assert_ptr_equal(options_find(table, piece, len), spec);
	for (o = 0; spec->letter && o < table->count; o++)
		if (&table->specs[o] != spec && table->specs[o].letter == spec->letter)
			fail_msg("-%c is both --%s and --%s", spec->letter, spec->name, table->specs[o].name);
}

static void test_names_are_unique(void **state)
{
	each_option(check_names);
}

static void check_texts(const struct command *command, const struct option_spec *spec)
{
	const char *shown = option_shown_default(spec), *values = option_values(spec);

	if (!spec->help || strlen(spec->help) < 5 || !spec->tag || !*spec->tag)
		fail_msg("sonde %s --%s is not explained", command->name, spec->name);
	assert_null(strchr(spec->tag, '='));
	if (spec->bare && values && option_match(values, spec->bare, strlen(spec->bare)) < 0)
		fail_msg("--%s: the bare value is not a value", spec->name);
	if (spec->type == OPTION_CHOICE && shown && option_match(values, shown, strlen(shown)) < 0)
		fail_msg("--%s: the default is not a value", spec->name);
	if (spec->type == OPTION_CHOICE || spec->type == OPTION_CHOICES)
		assert_non_null(spec->values);
}

static void test_options_are_explained(void **state)
{
	each_option(check_texts);
}

static void test_commands_are_explained(void **state)
{
	size_t count, c;
	const struct command *const *all = commands(&count);

	for (c = 0; c < count; c++) {
		assert_ptr_equal(command_find(all[c]->name), all[c]);
		assert_true(strlen(all[c]->summary) > 10);
		assert_true(strlen(all[c]->summary) < 66); /* fits a line of `sonde --help` */
		assert_null(strchr(all[c]->summary, '\''));
		assert_true(strlen(all[c]->description) > 20);
		assert_non_null(all[c]->run);
	}
}

/* The parser accepts the defaults of every table. */
static void test_defaults_are_valid(void **state)
{
	size_t count, c;
	const struct command *const *all = commands(&count);
	struct options_parsed parsed;
	struct error err = { "" };
	char *fields = calloc(1, 65536);

	for (c = 0; c < count; c++) {
		if (options_parse(all[c]->options, OPTIONS_ANYWHERE, 0, NULL, fields, &parsed, &err) < 0)
			fail_msg("sonde %s: %s", all[c]->name, err.text);
		options_release(&parsed);
	}
	free(fields);
}

static char *generated(const struct command *command, const char *what)
{
	const struct cli cli = { .role = CLI_SONDE };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (strcmp(what, "help") == 0)
		help_print_command(out, &cli, command, NULL, NULL);
	else if (strcmp(what, "man") == 0)
		help_print_man(out, command);
	else
		help_print_completion(out, what, NULL);
	fclose(out);
	return text;
}

/* "gpu-metrics" as roff has it: "gpu\-metrics". */
static void roff_name(const char *name, char *ret)
{
	for (; *name; name++) {
		if (*name == '-')
			*ret++ = '\\';
		*ret++ = *name;
	}
	*ret = '\0';
}

static void assert_mentions(const struct command *command, const struct option_spec *spec, const char *what, const char *wanted)
{
	char *text = generated(command, what);

	if (!strstr(text, wanted))
		fail_msg("%s of sonde %s lacks --%s (%s)", what, command->name, spec->name, wanted);
	free(text);
}

static void check_generated(const struct command *command, const struct option_spec *spec)
{
	char wanted[256], name[200];

	if (spec->flags & OPTION_HIDDEN)
		return;
	snprintf(wanted, sizeof(wanted), "--%s%s", spec->name, spec->bare || spec->type == OPTION_BOOL ? "[=" : " ");
	assert_mentions(command, spec, "help", wanted);
	roff_name(spec->name, name);
	snprintf(wanted, sizeof(wanted), "\\fB\\-\\-%s\\fR", name);
	assert_mentions(command, spec, "man", wanted);
	snprintf(wanted, sizeof(wanted), " --%s", spec->name);
	assert_mentions(command, spec, "bash", wanted);
	snprintf(wanted, sizeof(wanted), "'*--%s=", spec->name);
	assert_mentions(command, spec, "zsh", wanted);
	snprintf(wanted, sizeof(wanted), "__fish_seen_subcommand_from %s' -l %s ", command->name, spec->name);
	assert_mentions(command, spec, "fish", wanted);
}

static void test_generated_texts_mention_all(void **state)
{
	each_option(check_generated);
}

static void test_program_page_names_all_commands(void **state)
{
	size_t count, c;
	const struct command *const *all = commands(&count);
	char wanted[100], *text = generated(NULL, "man");

	assert_contains(text, ".TH SONDE 1");
	for (c = 0; c < count; c++) {
		snprintf(wanted, sizeof(wanted), "\\fBsonde\\-%s\\fR(1)", all[c]->name);
		assert_contains(text, wanted);
	}
	free(text);
}

static void test_lines_stay_within_the_screen(void **state)
{
	char *text = NULL;
	size_t size, len;
	FILE *out = open_memstream(&text, &size);
	const char *line;

	help_print_wrapped(out,
			   "some words that are wrapped where they would reach beyond the edge of a "
			   "screen of eighty columns, and not before\nnew line",
			   8);
	fclose(out);
	for (line = text; *line; line += len + 1) {
		len = strcspn(line, "\n");
		assert_true(len <= 80);
		assert_memory_equal(line, "        ", 8);
		assert_true(line[8] != ' ');
	}
	assert_int_equal(count_lines(text), 3);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_options_are_explained),
		cmocka_unit_test(test_commands_are_explained),
		cmocka_unit_test(test_defaults_are_valid),
		cmocka_unit_test(test_generated_texts_mention_all),
		cmocka_unit_test(test_program_page_names_all_commands),
		cmocka_unit_test(test_lines_stay_within_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
