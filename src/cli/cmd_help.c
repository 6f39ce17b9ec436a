/* sonde help: what --help shows, and the generated man pages and completion. */
#include <string.h>

#include "base/text/nearest.h"
#include "cli/help/help.h"

struct help_fields {
	bool man;
	const char *completion;
};

/* clang-format off */
static const struct option_spec help_specs[] = {
	{ .name = "man", .type = OPTION_BOOL, .offset = offsetof(struct help_fields, man),
	  .initial = "false", .tag = "generate", .flags = OPTION_HIDDEN,
	  .help = "Write the man page of the command named, or of sonde itself, as roff." },
	{ .name = "completion", .type = OPTION_TEXT, .arg = "shell",
	  .offset = offsetof(struct help_fields, completion), .values = "bash|zsh|fish",
	  .tag = "generate",
	  .help = "Write the completion script of a shell: source <(sonde help --completion bash)" },
};
/* clang-format on */

static const struct option_table help_options = OPTION_TABLE(help_specs);

extern const struct command help_command;

static int unknown_topic(struct cli *cli, const char *name)
{
	size_t count, i;
	const struct command *const *all = commands(&count);
	struct nearest nearest;
	char hint[160];

	nearest_begin(&nearest, name);
	for (i = 0; i < count; i++)
		nearest_offer(&nearest, all[i]->name, strlen(all[i]->name));
	return command_fail(cli, &help_command, "Unknown command '%s'.%s", name, nearest_hint(&nearest, "sonde help ", hint, sizeof(hint)));
}

static int show(struct cli *cli, const struct help_fields *fields, const char *name)
{
	const struct command *command = name ? command_find(name) : NULL;
	struct error err;

	if (fields->completion) {
		if (help_print_completion(cli->out, fields->completion, &err) < 0)
			return command_fail(cli, &help_command, "%s", err.text);
		return 0;
	}
	if (name && !command)
		return unknown_topic(cli, name);
	if (fields->man)
		help_print_man(cli->out, command);
	else if (command)
		help_print_command(cli->out, cli, command, NULL, NULL);
	else
		help_print_overview(cli->out, cli);
	return 0;
}

static int run_help(struct cli *cli, int argc, char **argv)
{
	struct help_fields fields = { false, NULL };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &help_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = show(cli, &fields, parsed.words[0]);
	options_release(&parsed);
	return status;
}

static const char *const help_examples[] = {
	"sonde help profile",
	"show what sonde profile does, and its options",
	"source <(sonde help --completion bash)",
	"completion in this shell",
	NULL,
};

const struct command help_command = {
	.name = "help",
	.summary = "Show the help of a command",
	.synopsis = "[command]",
	.description = "Lists the commands, or shows the description and the options of one.",
	.examples = help_examples,
	.options = &help_options,
	.words = COMMAND_COMMANDS,
	.run = run_help,
};
