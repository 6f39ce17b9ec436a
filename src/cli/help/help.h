/* Everything generated from the commands' descriptions and option tables. */
#ifndef SONDE_CLI_HELP_HELP_H
#define SONDE_CLI_HELP_HELP_H

#include "base/error.h"
#include "cli/command.h"

/* `sonde --help`, under the name the program was called by. */
void help_print_overview(FILE *out, const struct cli *cli);
/* `sonde COMMAND --help[=TAG]`; -EINVAL if no option carries the tag. */
int help_print_command(FILE *out, const struct cli *cli, const struct command *command, const char *tag, struct error *err);

/* A man page in roff: sonde-COMMAND(1), or sonde(1) for NULL. */
void help_print_man(FILE *out, const struct command *command);
/* A completion script for bash, zsh or fish. */
int help_print_completion(FILE *out, const char *shell, struct error *err);

/* Writes text broken into lines of at most 80 columns, each indented. */
void help_print_wrapped(FILE *out, const char *text, unsigned indent);

/* `-o, --output FILE (=report#)`. */
void help_print_option_head(FILE *out, const struct option_spec *spec);
/* What the value is called: its name, or the first letters of its kind. */
const char *help_arg_name(const struct option_spec *spec);
/* A sentence on the state of an option that is not built, or "". */
const char *help_state_sentence(const struct option_spec *spec);
/* Options stand under their tags, in the order in which these are met first, wherever they are in their table. */
bool help_tag_is_new(const struct option_table *table, size_t spec);
size_t help_each_of_tag(FILE *out, const struct option_table *table, const char *tag,
			void (*print)(FILE *out, const struct option_spec *spec));

#endif
