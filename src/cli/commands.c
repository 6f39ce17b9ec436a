#include <stdarg.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/help.h"

extern const struct command profile_command, stats_command, sql_command, export_command, import_command,
	recover_command, symbolize_command, doctor_command, help_command;

static const struct command *const all_commands[] = {
	&profile_command,
	&stats_command,
	&sql_command,
	&export_command,
	&import_command,
	&recover_command,
	&symbolize_command,
	&doctor_command,
	&help_command,
};

const struct command *const *commands(size_t *ret_count)
{
	*ret_count = sizeof(all_commands) / sizeof(all_commands[0]);
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
	fprintf(cli->err, "sonde %s: ", command->name);
	vfprintf(cli->err, format, args);
	fputc('\n', cli->err);
	va_end(args);
	return 1;
}

static int answer_help(struct cli *cli, const struct command *command,
		       const struct options_parsed *parsed)
{
	struct error err;

	if (help_print_command(cli->out, command, parsed->help_tag, &err) < 0)
		return command_fail(cli, command, "%s", err.text);
	return 0;
}

bool command_parse(struct cli *cli, const struct command *command, int argc, char **argv,
		   void *fields, struct options_parsed *ret, int *ret_status)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	enum options_order order =
		command->words == COMMAND_PROGRAM ? OPTIONS_THEN_WORDS : OPTIONS_ANYWHERE;
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
	char hint[160];

	nearest_begin(&nearest, name);
	for (i = 0; i < count; i++)
		nearest_offer(&nearest, all[i]->name, strlen(all[i]->name));
	fprintf(cli->err, "sonde: There is no command '%s'.%s 'sonde --help' lists them.\n", name,
		nearest_hint(&nearest, "sonde ", hint, sizeof(hint)));
	return 1;
}

int cli_main(struct cli *cli, int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		help_print_overview(cli->err);
		return 1;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_print_overview(cli->out);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		fprintf(cli->out, "sonde %s\n", SONDE_VERSION);
		return 0;
	}
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(cli, argv[1]);
	return command->run(cli, argc - 2, argv + 2);
}
