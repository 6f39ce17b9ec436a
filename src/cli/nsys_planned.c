/* Commands of nsys that are not built yet. Their options are checked and one line says what does not
 * happen; the status is 0 and a program that was named runs, so that scripts go on. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/find_program.h"
#include "cli/nsys_link.h"
#include "cli/profile_setup.h"

#define PLANNED(type_) .type = OPTION_##type_, .state = OPTION_PLANNED

/* Commands without fields of their own: options are only checked. */
static bool parse_only(struct cli *cli, const struct command *command, int argc, char **argv,
		      struct options_parsed *ret, int *ret_status)
{
	char no_fields;

	return command_parse(cli, command, argc, argv, &no_fields, ret, ret_status);
}

static int no_words(struct cli *cli, const struct command *command, const struct options_parsed *parsed)
{
	if (!parsed->word_count)
		return 0;
	return command_fail(cli, command, "'%s' is not understood; there are only options.", parsed->words[0]);
}

/* launch: the target's half of `profile`. */

extern const struct command launch_command;

static int set_environment(const struct profile_fields *fields, struct error *err)
{
	struct string_list env = STRING_LIST_INIT;
	size_t i;
	int r = 0;

	if (!fields->inherit_environment)
		clearenv();
	for (i = 0; i < fields->env.count && r == 0; i++)
		r = profile_split_env(fields->env.items[i], &env, err);
	/* The program is executed next: the list is its environment and stays. */
	for (i = 0; i < env.count && r == 0; i++)
		r = putenv(env.items[i]) ? error_set(err, ENOMEM, "Out of memory.") : 0;
	return r;
}

static int launch(struct cli *cli, const struct profile_fields *fields, char **words)
{
	char program[PATH_MAX];
	struct error err = { "" };

	if (!words[0])
		return command_fail(cli, &launch_command, "No program was given: %s launch [options] program [arguments].",
				    cli_name(cli));
	if (find_program(words[0], program, sizeof(program), &err) < 0 || set_environment(fields, &err) < 0)
		return command_fail(cli, &launch_command, "%s", err.text);
	command_fail(cli, &launch_command, "Sessions are not built yet; %s runs and is not recorded ('%s profile' records)",
		     words[0], cli_name(cli));
	fflush(cli->err);
	execv(program, words);
	return command_fail(cli, &launch_command, "The program '%s' cannot be run: %s.", program, strerror(errno));
}

static int run_launch(struct cli *cli, int argc, char **argv)
{
	struct profile_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &launch_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = launch(cli, &fields, parsed.words);
	options_release(&parsed);
	return status;
}

const struct command launch_command = {
	.name = "launch",
	.summary = "Start a program that a later command records",
	.synopsis = "[options] program [arguments]",
	.description = "Sessions are not built yet: the program runs and is not recorded.",
	.options = &profile_option_table,
	.words = COMMAND_PROGRAM,
	.planned = true,
	.run = run_launch,
};

/* start, stop, cancel, shutdown, sessions: the session's half. */

extern const struct command start_command, stop_command, cancel_command, shutdown_command, sessions_command;

static int say_no_sessions(struct cli *cli, const struct command *command)
{
	command_fail(cli, command, "Sessions are not built yet; nothing is done ('%s profile' records)", cli_name(cli));
	return 0;
}

static int run_start(struct cli *cli, int argc, char **argv)
{
	struct profile_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &start_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = no_words(cli, &start_command, &parsed);
	if (!status)
		status = say_no_sessions(cli, &start_command);
	options_release(&parsed);
	return status;
}

static int run_for_session(struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct options_parsed parsed;
	int status;

	if (!parse_only(cli, command, argc, argv, &parsed, &status))
		return status;
	status = no_words(cli, command, &parsed);
	if (!status)
		status = say_no_sessions(cli, command);
	options_release(&parsed);
	return status;
}

static int run_stop(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &stop_command, argc, argv);
}

static int run_cancel(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &cancel_command, argc, argv);
}

static int run_shutdown(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &shutdown_command, argc, argv);
}

struct sessions_fields {
	bool header;
	int format;
};

static int list_sessions(struct cli *cli, const struct sessions_fields *fields, const struct options_parsed *parsed)
{
	if (parsed->word_count != 1 || strcmp(parsed->words[0], "list") != 0)
		return command_fail(cli, &sessions_command, "The one thing to do is 'list': %s sessions list.",
				    cli_name(cli));
	if (fields->format)
		fputs("[]\n", cli->out);
	else if (fields->header)
		fputs("     ID        TIME                STATE LAUNCH NAME\n", cli->out);
	fflush(cli->out);
	return say_no_sessions(cli, &sessions_command);
}

static int run_sessions(struct cli *cli, int argc, char **argv)
{
	struct sessions_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &sessions_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = list_sessions(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

#define SESSION_OPTION \
	{ .name = "session", PLANNED(TEXT), .arg = "name", .tag = "session", .help = "Name or id of the session." }

static const struct option_spec stop_specs[] = {
	SESSION_OPTION,
	{ .name = "keep", PLANNED(SECONDS), .shown = "0", .tag = "session",
	  .help = "Keep only what was recorded in so many seconds before the end; 0 keeps all." },
};
static const struct option_spec cancel_specs[] = { SESSION_OPTION };
static const struct option_spec shutdown_specs[] = {
	SESSION_OPTION,
	{ .name = "kill", PLANNED(TEXT), .values = "none|sigterm|sigkill|N", .shown = "sigterm", .tag = "session",
	  .help = "The signal sent to the program." },
};
static const struct option_spec sessions_specs[] = {
	{ .name = "show-header", .letter = 'p', .type = OPTION_BOOL,
	  .offset = offsetof(struct sessions_fields, header), .initial = "true", .tag = "output",
	  .help = "Print a line above the list." },
	{ .name = "output-format", .letter = 'f', .type = OPTION_CHOICE, .values = "plain|json",
	  .offset = offsetof(struct sessions_fields, format), .initial = "plain", .tag = "output",
	  .help = "A list for people or for programs." },
};
static const struct option_table stop_options = OPTION_TABLE(stop_specs);
static const struct option_table cancel_options = OPTION_TABLE(cancel_specs);
static const struct option_table shutdown_options = OPTION_TABLE(shutdown_specs);
static const struct option_table sessions_options = OPTION_TABLE(sessions_specs);

const struct command start_command = {
	.name = "start",
	.summary = "Begin to record a launched program",
	.synopsis = "[options]",
	.description = "Sessions are not built yet: nothing is recorded.",
	.options = &profile_option_table,
	.words = COMMAND_NO_WORDS,
	.planned = true,
	.run = run_start,
};

const struct command stop_command = {
	.name = "stop",
	.summary = "End recording a launched program, write the report",
	.synopsis = "[options]",
	.description = "Sessions are not built yet: there is nothing to stop.",
	.options = &stop_options,
	.words = COMMAND_NO_WORDS,
	.planned = true,
	.run = run_stop,
};

const struct command cancel_command = {
	.name = "cancel",
	.summary = "End recording a launched program, write no report",
	.synopsis = "[options]",
	.description = "Sessions are not built yet: there is nothing to cancel.",
	.options = &cancel_options,
	.words = COMMAND_NO_WORDS,
	.planned = true,
	.run = run_cancel,
};

const struct command shutdown_command = {
	.name = "shutdown",
	.summary = "End a session and its program",
	.synopsis = "[options]",
	.description = "Sessions are not built yet: there is nothing to shut down.",
	.options = &shutdown_options,
	.words = COMMAND_NO_WORDS,
	.planned = true,
	.run = run_shutdown,
};

const struct command sessions_command = {
	.name = "sessions",
	.summary = "List the sessions",
	.synopsis = "list [options]",
	.description = "Sessions are not built yet: the list is empty.",
	.options = &sessions_options,
	.words = COMMAND_NO_WORDS,
	.planned = true,
	.run = run_sessions,
};

/* analyze and recipe. */

extern const struct command analyze_command, recipe_command;

static int run_analyze(struct cli *cli, int argc, char **argv)
{
	struct options_parsed parsed;
	int status;

	if (!parse_only(cli, &analyze_command, argc, argv, &parsed, &status))
		return status;
	command_fail(cli, &analyze_command, "The rules are not built yet; '%s stats %s' shows the tables", cli_name(cli),
		     parsed.word_count ? parsed.words[0] : "REPORT");
	options_release(&parsed);
	return 0;
}

static int run_recipe(struct cli *cli, int argc, char **argv)
{
	struct options_parsed parsed;
	int status;

	if (!parse_only(cli, &recipe_command, argc, argv, &parsed, &status))
		return status;
	command_fail(cli, &recipe_command, "Recipes are not built yet; '%s stats' shows the tables of one report",
		     cli_name(cli));
	options_release(&parsed);
	return 0;
}

static const struct option_spec analyze_specs[] = {
	{ .name = "rule", .letter = 'r', PLANNED(TEXTS), .arg = "name[:argument][,name]", .tag = "rules",
	  .shown = "all", .help = "Rules to apply." },
	{ .name = "help-rules", PLANNED(TEXT), .values = "ALL|TEXT", .bare = "ALL", .arg = "name|ALL", .tag = "rules",
	  .help = "Say what a rule looks for." },
	{ .name = "report-dir", PLANNED(TEXTS), .arg = "folder", .tag = "rules", .help = "Look here for rules first." },
	{ .name = "input", PLANNED(TEXT), .arg = "file", .tag = "rules", .help = "The recording." },
	{ .name = "sqlite", PLANNED(TEXT), .arg = "file", .tag = "rules", .help = "The recording's export." },
	{ .name = "force-export", PLANNED(BOOL), .tag = "rules", .help = "Export the recording again." },
	{ .name = "filter-time", PLANNED(TEXT), .arg = "[start]/[end]", .tag = "rules",
	  .help = "Only what happened between two times." },
	{ .name = "filter-nvtx", PLANNED(TEXT), .arg = "range[@domain][/index]", .tag = "rules",
	  .help = "Only what happened inside an NVTX range." },
	{ .name = "format", .letter = 'f', PLANNED(TEXTS), .arg = "format", .tag = "output", .help = "How tables look." },
	{ .name = "output", .letter = 'o', PLANNED(TEXTS), .arg = "base|-|@command|.", .tag = "output",
	  .help = "Where tables go." },
	{ .name = "timeunit", PLANNED(TEXT), .arg = "unit", .tag = "output", .help = "Unit of times." },
	{ .name = "quiet", .letter = 'q', PLANNED(BOOL), .tag = "output", .help = "Tables only." },
	{ .name = "force-overwrite", PLANNED(BOOL), .tag = "output", .help = "Replace files that exist." },
};
static const struct option_spec recipe_specs[] = {
	{ .name = "quiet", .letter = 'q', PLANNED(BOOL), .tag = "output", .help = "Say nothing but what went wrong." },
};
static const struct option_table analyze_options = OPTION_TABLE(analyze_specs);
static const struct option_table recipe_options = OPTION_TABLE(recipe_specs);

const struct command analyze_command = {
	.name = "analyze",
	.summary = "Say what is slow in a recording and why",
	.synopsis = "[options] FILE.sonde",
	.description = "The rules are not built yet: nothing is looked for.",
	.options = &analyze_options,
	.words = COMMAND_FILES,
	.planned = true,
	.run = run_analyze,
};

const struct command recipe_command = {
	.name = "recipe",
	.summary = "Look at several recordings together",
	.synopsis = "[options] name [arguments]",
	.description = "Recipes are not built yet: nothing is computed.",
	.options = &recipe_options,
	.words = COMMAND_PROGRAM,
	.planned = true,
	.run = run_recipe,
};

/* view, which is what nsys-ui does. */

extern const struct command view_command;

static int show_way(struct cli *cli, const struct options_parsed *parsed)
{
	int i;

	if (!parsed->word_count)
		return command_fail(cli, &view_command, "The viewer is not built yet; 'sonde stats REPORT' shows tables.");
	fprintf(cli->err, "%s: The viewer is not built yet; for the tables:", cli_name(cli));
	for (i = 0; i < parsed->word_count; i++)
		fprintf(cli->err, "%s sonde stats %s", i ? ";" : "", parsed->words[i]);
	fputc('\n', cli->err);
	return 0;
}

static int run_view(struct cli *cli, int argc, char **argv)
{
	struct options_parsed parsed;
	int status;

	if (argc == 1 && (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-v") == 0)) {
		nsys_print_version(cli);
		return 0;
	}
	if (!parse_only(cli, &view_command, argc, argv, &parsed, &status))
		return status;
	status = show_way(cli, &parsed);
	options_release(&parsed);
	return status;
}

static const struct option_spec view_specs[] = {
	{ .name = "screenshot", PLANNED(BOOL), .tag = "output", .help = "Write a picture of the timeline." },
};
static const struct option_table view_options = OPTION_TABLE(view_specs);

const struct command view_command = {
	.name = "view",
	.summary = "Show recordings on a timeline",
	.synopsis = "[options] FILE.sonde [FILE.sonde ...]",
	.description = "The viewer is not built yet: the command that shows a recording's tables is named.",
	.options = &view_options,
	.words = COMMAND_FILES,
	.planned = true,
	.run = run_view,
};
