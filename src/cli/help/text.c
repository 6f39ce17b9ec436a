/* --help: of the program and of each command. */
#include <errno.h>
#include <string.h>

#include "base/text/nearest.h"
#include "cli/help/help.h"

#define LINE_WIDTH 80
#define OPTION_INDENT 8

void help_print_wrapped(FILE *out, const char *text, unsigned indent)
{
	size_t len, column = 0;

	while (*text) {
		len = strcspn(text, " \n");
		if (column && column + 1 + len > LINE_WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%*s%.*s", column ? 1 : (int)indent, "", (int)len, text);
		text += len;
		if (*text == '\n') {
			fputc('\n', out);
			column = 0;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}

const char *help_arg_name(const struct option_spec *spec)
{
	static const char *const names[] = {
		[OPTION_TEXT] = "arg",        [OPTION_TEXTS] = "arg",  [OPTION_BOOL] = "true|false", [OPTION_INTEGER] = "N",
		[OPTION_SECONDS] = "seconds", [OPTION_CHOICE] = "arg", [OPTION_CHOICES] = "arg,...",
	};

	return spec->arg ? spec->arg : names[spec->type];
}

const char *help_state_sentence(const struct option_spec *spec)
{
	switch (spec->state) {
	case OPTION_PLANNED: return "Not supported yet: accepted with a warning.";
	case OPTION_ELSEWHERE: return "For other platforms: accepted with a warning.";
	case OPTION_OBSOLETE: return "Obsolete: accepted, does nothing.";
	case OPTION_BUILT: break;
	}
	return "";
}

void help_print_option_head(FILE *out, const struct option_spec *spec)
{
	const char *shown = option_shown_default(spec);

	if (spec->letter)
		fprintf(out, "-%c, ", spec->letter);
	fprintf(out, "--%s", spec->name);
	if (spec->bare || spec->type == OPTION_BOOL)
		fprintf(out, "[=%s]", help_arg_name(spec));
	else
		fprintf(out, " %s", help_arg_name(spec));
	if (shown)
		fprintf(out, " (=%s)", shown);
}

static void print_values(FILE *out, const struct option_spec *spec)
{
	char line[1024] = "Values: ";
	size_t used = strlen(line), len;
	const char *values = spec->values, *piece;

	if (!values)
		return;
	while ((len = option_next_value(&values, &piece)) && used + len + 3 < sizeof(line))
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%.*s%s", (int)len, piece, *values ? ", " : ".");
	help_print_wrapped(out, line, OPTION_INDENT);
}

static void print_option(FILE *out, const struct option_spec *spec)
{
	fputs("  ", out);
	help_print_option_head(out, spec);
	fputc('\n', out);
	help_print_wrapped(out, spec->help, OPTION_INDENT);
	print_values(out, spec);
	if (*help_state_sentence(spec))
		help_print_wrapped(out, help_state_sentence(spec), OPTION_INDENT);
	if (spec->aliases)
		fprintf(out, "%*sAlso spelled --%s.\n", OPTION_INDENT, "", spec->aliases);
}

bool help_tag_is_new(const struct option_table *table, size_t spec)
{
	for (size_t i = 0; i < spec; i++)
		if (!(table->specs[i].flags & OPTION_HIDDEN) && strcmp(table->specs[i].tag, table->specs[spec].tag) == 0)
			return false;
	return !(table->specs[spec].flags & OPTION_HIDDEN);
}

size_t help_each_of_tag(FILE *out, const struct option_table *table, const char *tag,
			void (*print)(FILE *out, const struct option_spec *spec))
{
	size_t printed = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->specs[i].flags & OPTION_HIDDEN || strcmp(table->specs[i].tag, tag) != 0)
			continue;
		print(out, &table->specs[i]);
		printed++;
	}
	return printed;
}

static size_t print_options(FILE *out, const struct option_table *table, const char *tag)
{
	size_t printed = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (!help_tag_is_new(table, i) || (tag && strcmp(tag, table->specs[i].tag) != 0))
			continue;
		fprintf(out, "\nOptions: %s\n", table->specs[i].tag);
		printed += help_each_of_tag(out, table, table->specs[i].tag, print_option);
	}
	return printed;
}

static int check_tag(const struct option_table *table, const char *tag, struct error *err)
{
	struct nearest nearest;
	char hint[160];
	size_t i;

	nearest_begin(&nearest, tag);
	for (i = 0; i < table->count; i++) {
		if (strcmp(table->specs[i].tag, tag) == 0)
			return 0;
		nearest_offer(&nearest, table->specs[i].tag, strlen(table->specs[i].tag));
	}
	return error_set(err, EINVAL, "--help has no tag '%s'.%s", tag, nearest_hint(&nearest, "--help=", hint, sizeof(hint)));
}

static void print_examples(FILE *out, const char *const *examples)
{
	if (!examples)
		return;
	fputs("\nExamples:\n", out);
	for (; examples[0]; examples += 2)
		fprintf(out, "  %s\n        %s\n", examples[0], examples[1]);
}

/* "sonde stats", "nsys stats"; the names that are one command have no second word. */
static void print_usage(FILE *out, const struct cli *cli, const struct command *command)
{
	bool alone = cli->role != CLI_SONDE && cli->role != CLI_NSYS;

	fprintf(out, "usage: %s%s%s %s\n\n", cli_name(cli), alone ? "" : " ", alone ? "" : command->name, command->synopsis);
}

int help_print_command(FILE *out, const struct cli *cli, const struct command *command, const char *tag, struct error *err)
{
	if (tag && check_tag(command->options, tag, err) < 0)
		return -EINVAL;
	print_usage(out, cli, command);
	if (!tag)
		help_print_wrapped(out, command->description, 0);
	print_options(out, command->options, tag);
	fputs("\n  -h, --help[=tag]\n", out);
	help_print_wrapped(out, "Show this text, or the options of one group.", OPTION_INDENT);
	if (!tag)
		print_examples(out, command->examples);
	return 0;
}

static void print_commands(FILE *out, bool planned)
{
	const struct command *const *all;
	size_t count, i;

	all = commands(&count);
	for (i = 0; i < count; i++)
		if (all[i]->planned == planned)
			fprintf(out, "  %-10s %s\n", all[i]->name, all[i]->summary);
}

void help_print_overview(FILE *out, const struct cli *cli)
{
	const char *name = cli_name(cli);

	fprintf(out,
		"usage: %s [--help] [--version] <command> [options] [arguments]\n\n"
		"Records what a program does and shows it.\n\nCommands:\n",
		name);
	print_commands(out, false);
	fputs("\nNot supported yet; accepted with a warning:\n", out);
	print_commands(out, true);
	fprintf(out, "\n'%s <command> --help' describes a command and its options.\n", name);
	if (cli->role == CLI_SONDE)
		fputs("Called by a link named nsys, nsys-ui, nvprof, ncu or ncu-ui, sonde takes the command lines of these tools.\n", out);
}
