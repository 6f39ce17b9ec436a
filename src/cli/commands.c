#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/nearest.h"
#include "cli/command.h"
#include "cli/help/help.h"
#include "cli/links/ncu_link.h"
#include "cli/links/nsys_link.h"

extern const struct command profile_command, stats_command, sql_command, export_command, import_command, recover_command, symbolize_command,
	view_command, doctor_command, help_command, nvprof_command, launch_command, start_command, stop_command, cancel_command,
	shutdown_command, sessions_command, status_command, attach_command, occupancy_command, kernel_command, torch_command;
/* Not built yet: nsys_planned.c. */
extern const struct command analyze_command, recipe_command;

/* clang-format off */
static const struct command *const all_commands[] = {
	&profile_command,
	&attach_command,
	&view_command,
	&stats_command,
	&sql_command,
	&torch_command,
	&export_command,
	&import_command,
	&recover_command,
	&symbolize_command,
	&kernel_command,
	&occupancy_command,
	&doctor_command,
	&nvprof_command,
	&help_command,
	&launch_command,
	&start_command,
	&stop_command,
	&cancel_command,
	&shutdown_command,
	&sessions_command,
	&status_command,
	&analyze_command,
	&recipe_command,
};
/* clang-format on */

const struct command *const *commands(size_t *ret_count)
{
	*ret_count = COUNT_OF(all_commands);
	return all_commands;
}

const struct command *command_find(const char *name)
{
	size_t count, i;
	const struct command *const *all = commands(&count);

	for (i = 0; i < count; i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

int command_fail(struct cli *cli, const struct command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (cli->role == CLI_SONDE || cli->role == CLI_NSYS)
		fprintf(cli->err, "%s %s: ", cli_name(cli), command->name);
	else if (cli->role == CLI_NCU)
		fputs("==ERROR== ", cli->err);
	else
		fprintf(cli->err, "%s: ", cli_name(cli));
	vfprintf(cli->err, format, args);
	fputc('\n', cli->err);
	va_end(args);
	return 1;
}

static int answer_help(struct cli *cli, const struct command *command, const struct options_parsed *parsed)
{
	struct error err;

	if (help_print_command(cli->out, cli, command, parsed->help_tag, &err) < 0)
		return command_fail(cli, command, "%s", err.text);
	return 0;
}

bool command_parse(struct cli *cli, const struct command *command, int argc, char **argv, void *fields, struct options_parsed *ret,
		   int *ret_status)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	enum options_order order = command->words == COMMAND_PROGRAM ? OPTIONS_THEN_WORDS : OPTIONS_ANYWHERE;
	struct error err;

	if (options_parse(command->options, order, argc, argv, fields, &parsed, &err) < 0) {
		*ret_status = command_fail(cli, command, "%s", err.text);
		return false;
	}
	if (parsed.help) {
		*ret_status = answer_help(cli, command, &parsed);
		options_release(&parsed);
		return false;
	}
	*ret = parsed;
	return true;
}

static int unknown_command(struct cli *cli, const char *name)
{
	size_t count, i;
	const struct command *const *all = commands(&count);
	struct nearest nearest;
	char hint[160], prefix[16];

	nearest_begin(&nearest, name);
	for (i = 0; i < count; i++)
		nearest_offer(&nearest, all[i]->name, strlen(all[i]->name));
	snprintf(prefix, sizeof(prefix), "%s ", cli_name(cli));
	fprintf(cli->err, "%s: Unknown command '%s'.%s '%s --help' lists the commands.\n", cli_name(cli), name,
		nearest_hint(&nearest, prefix, hint, sizeof(hint)), cli_name(cli));
	return 1;
}

static void print_version(struct cli *cli)
{
	if (cli->role == CLI_SONDE)
		fprintf(cli->out, "sonde %s\n", SONDE_VERSION);
	else
		nsys_print_version(cli);
}

static int run_command_line(struct cli *cli, int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		help_print_overview(cli->err, cli);
		return 1;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help_command.run(cli, argc - 2, argv + 2);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		print_version(cli);
		return 0;
	}
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(cli, argv[1]);
	return command->run(cli, argc - 2, argv + 2);
}

int cli_main(struct cli *cli, int argc, char **argv)
{
	if (cli->role == CLI_NVPROF)
		return nvprof_command.run(cli, argc - 1, argv + 1);
	if (cli->role == CLI_NCU)
		return ncu_main(cli, argc, argv);
	if (cli->role == CLI_NSYS_UI || cli->role == CLI_NCU_UI)
		return view_command.run(cli, argc - 1, argv + 1);
	return run_command_line(cli, argc, argv);
}
