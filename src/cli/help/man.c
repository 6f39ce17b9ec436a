/* Man pages in roff, from the same descriptions as --help. */
#include <ctype.h>
#include <string.h>

#include "cli/help/help.h"

/* Dashes must stay ASCII minus signs so that options can be searched and copied; a
 * leading dot or quote would be a request. */
static void print_roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		if (*text == '\n' && (text[1] == '.' || text[1] == '\''))
			fputs("\\&", out);
	}
}

static void print_upper(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), out);
}

static void print_title(FILE *out, const char *name, const char *summary)
{
	fputs(".TH SONDE", out);
	if (name) {
		fputs("\\-", out);
		print_upper(out, name);
	}
	fputs(" 1 \"\" \"Sonde " SONDE_VERSION "\" \"Sonde\"\n.SH NAME\nsonde", out);
	if (name)
		fprintf(out, "\\-%s", name);
	fputs(" \\- ", out);
	print_roff(out, summary);
	fputc('\n', out);
}

static void print_head(FILE *out, const struct option_spec *spec)
{
	const char *shown = option_shown_default(spec);
	bool optional = spec->bare || spec->type == OPTION_BOOL;

	fputs(".TP\n", out);
	if (spec->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", spec->letter);
	fputs("\\fB\\-\\-", out);
	print_roff(out, spec->name);
	fprintf(out, "\\fR%s\\fI", optional ? "[=" : " ");
	print_roff(out, help_arg_name(spec));
	fprintf(out, "\\fR%s", optional ? "]" : "");
	if (shown) {
		fputs(" (=", out);
		print_roff(out, shown);
		fputc(')', out);
	}
	fputc('\n', out);
}

static void print_value_list(FILE *out, const char *values)
{
	const char *piece;
	size_t len;

	fputs("Values:", out);
	while ((len = option_next_value(&values, &piece))) {
		char word[64];

		snprintf(word, sizeof(word), " %.*s", (int)len, piece);
		print_roff(out, word);
		fputc(*values ? ',' : '.', out);
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const struct option_spec *spec)
{
	const char *state = help_state_sentence(spec);

	print_head(out, spec);
	print_roff(out, spec->help);
	fputc('\n', out);
	if (spec->values)
		print_value_list(out, spec->values);
	if (*state)
		fprintf(out, "%s\n", state);
	if (spec->aliases) {
		fputs("Also spelled \\-\\-", out);
		print_roff(out, spec->aliases);
		fputs(".\n", out);
	}
}

static void print_options(FILE *out, const struct option_table *table)
{
	fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; i < table->count; i++) {
		if (!help_tag_is_new(table, i))
			continue;
		fprintf(out, ".SS %s\n", table->specs[i].tag);
		help_each_of_tag(out, table, table->specs[i].tag, print_option);
	}
	fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR[=\\fItag\\fR]\n"
	      "Show a summary of the options, or of one group of them.\n",
	      out);
}

static void print_examples(FILE *out, const char *const *examples)
{
	if (!examples)
		return;
	fputs(".SH EXAMPLES\n", out);
	for (; examples[0]; examples += 2) {
		fputs(".TP\n\\fB", out);
		print_roff(out, examples[0]);
		fputs("\\fR\n", out);
		print_roff(out, examples[1]);
		fputc('\n', out);
	}
}

static void print_exit_status(FILE *out)
{
	fputs(".SH EXIT STATUS\n0 on success, 1 if the command line or the data are not valid. \\fBsonde profile\\fR returns the "
	      "status of the program it ran, or 128+N if signal N killed it, even if it could not write the report or an "
	      "export.\n",
	      out);
}

static void print_command_page(FILE *out, const struct command *command)
{
	print_title(out, command->name, command->summary);
	fprintf(out, ".SH SYNOPSIS\n\\fBsonde %s\\fR ", command->name);
	print_roff(out, command->synopsis);
	fputs("\n.SH DESCRIPTION\n", out);
	print_roff(out, command->description);
	fputc('\n', out);
	print_options(out, command->options);
	print_examples(out, command->examples);
	print_exit_status(out);
	fputs(".SH SEE ALSO\n\\fBsonde\\fR(1)\n", out);
}

static void print_program_page(FILE *out)
{
	size_t count, i;
	const struct command *const *all = commands(&count);

	print_title(out, NULL, "records what a program does and shows it");
	fputs(".SH SYNOPSIS\n\\fBsonde\\fR [\\-\\-help] [\\-\\-version] \\fIcommand\\fR [options] "
	      "[arguments]\n.SH DESCRIPTION\nSonde records what a program does (ranges, calls, "
	      "processes, threads), unmodified, into one report file, and shows it.\n.SH COMMANDS\n",
	      out);
	for (i = 0; i < count; i++) {
		fprintf(out, ".TP\n\\fBsonde\\-%s\\fR(1)\n", all[i]->name);
		print_roff(out, all[i]->summary);
		fputs(".\n", out);
	}
	fputs(".SH LINKS\nCalled through a link with the name \\fBnsys\\fR, \\fBnsys\\-ui\\fR or \\fBnvprof\\fR, sonde takes the "
	      "command lines of these tools, names files as they do and prints the lines that scripts parse. \\fBmake "
	      "install LINKS=1\\fR makes the links.\n",
	      out);
	print_exit_status(out);
}

void help_print_man(FILE *out, const struct command *command)
{
	if (command)
		print_command_page(out, command);
	else
		print_program_page(out);
}
