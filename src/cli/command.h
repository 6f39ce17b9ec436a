/* A command of the command line: what it is called, which options it has, what runs.
 * Everything a user reads about it is generated from this description. */
#ifndef SONDE_CLI_COMMAND_H
#define SONDE_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/options/options.h"

/* By which name the program was called: docs/nsys.md, docs/ncu.md. */
enum cli_role { CLI_SONDE, CLI_NSYS, CLI_NSYS_UI, CLI_NVPROF, CLI_NCU, CLI_NCU_UI };

/* What a command is run with; tests give it their own streams. */
struct cli {
	FILE *out;
	FILE *err;
	const char *root;          /* put before /proc, /sys, /dev ...: "" but for tests */
	char *const *command_line; /* all of it, as typed */
	enum cli_role role;
	FILE *reported;   /* gets lines on how far a run is; NULL: `err` does */
	bool may_confine; /* nothing comes after the command in this process: it may give up what it does not need */
};

/* What the words that are not options are, for completion. */
enum command_words {
	COMMAND_NO_WORDS,
	COMMAND_PROGRAM, /* a program and its arguments: options end at the first word */
	COMMAND_FILES,   /* report files: options may follow them */
	COMMAND_COMMANDS /* names of commands */
};

struct command {
	const char *name;
	const char *summary;  /* one line, no full stop */
	const char *synopsis; /* what follows the name */
	const char *description;
	const char *const *examples; /* "command line", "what it does", ..., NULL */
	const struct option_table *options;
	enum command_words words;
	bool planned; /* known from nsys, but not built: it says so and fails */
	/* argv is what follows the command's name. Returns the exit status. */
	int (*run)(struct cli *cli, int argc, char **argv);
};

/* Options of commands that make a report out of a file. `fields` has `output` and `force_overwrite`. */
/* clang-format off */
#define REPORT_OUTPUT_OPTIONS(fields, shown_)                                                                          \
	{ .name = "output", .letter = 'o', .type = OPTION_TEXT, .arg = "name", .tag = "output",                         \
	  .offset = offsetof(fields, output), .shown = shown_, .help = "Write this report." },                        \
	{ .name = "force-overwrite", .letter = 'f', .type = OPTION_BOOL, .initial = "false", .tag = "output",           \
	  .offset = offsetof(fields, force_overwrite), .help = "Replace an existing report." },
/* clang-format on */

/* Every command, in the order of `sonde --help`. Each is defined at the end of
 * its cmd_<name>.c; a new one is added to commands.c. */
const struct command *const *commands(size_t *ret_count);
const struct command *command_find(const char *name);

/* Parses a command's options into `fields`. Returns true if the command is to go on;
 * otherwise --help was answered or an error printed, and *ret_status is the
 * exit status. On true the caller releases *ret. */
bool command_parse(struct cli *cli, const struct command *command, int argc, char **argv, void *fields, struct options_parsed *ret,
		   int *ret_status);

/* The role of a program called `path`: by its last part, with or without "-VERSION". */
enum cli_role cli_role_of(const char *path);
/* "sonde", "nsys" ..., for messages. */
const char *cli_name(const struct cli *cli);
/* Reports get nsys's names, and lines that scripts look for are printed. */
bool cli_is_link(const struct cli *cli);

/* Prints "sonde NAME: text" on the error stream; returns 1, the exit status of
 * usage and data errors. */
int command_fail(struct cli *cli, const struct command *command, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The whole command line: argv[0] is the program. Returns the exit status. */
int cli_main(struct cli *cli, int argc, char **argv);

#endif
