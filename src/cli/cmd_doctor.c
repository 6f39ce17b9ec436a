/* sonde doctor: what this machine allows, why not, and how to allow it. */
#include "cli/command.h"
#include "cli/doctor/doctor.h"

struct doctor_fields {
	bool json;
	const char *folder;
};

/* clang-format off */
static const struct option_spec doctor_specs[] = {
	{ .name = "json", .type = OPTION_BOOL, .offset = offsetof(struct doctor_fields, json),
	  .initial = "false", .tag = "output", .help = "Print JSON instead of a table." },
	{ .name = "folder", .type = OPTION_TEXT, .offset = offsetof(struct doctor_fields, folder),
	  .initial = ".", .arg = "folder", .tag = "output",
	  .help = "Check the disk of this folder, where reports would be written." },
};
/* clang-format on */

static const struct option_table doctor_options = OPTION_TABLE(doctor_specs);

extern const struct command doctor_command;

static int run_doctor(struct cli *cli, int argc, char **argv)
{
	struct doctor_fields fields = { false, "." };
	struct options_parsed parsed;
	struct doctor_host host;
	int status, missing = 0;

	if (!command_parse(cli, &doctor_command, argc, argv, &fields, &parsed, &status))
		return status;
	host = (struct doctor_host){ cli->root, fields.folder, &doctor_real_calls };
	if (parsed.word_count)
		missing = command_fail(cli, &doctor_command, "'%s': unexpected argument; only options are accepted.", parsed.words[0]);
	else if (fields.json)
		doctor_print_json(cli->out, &host, &missing);
	else
		doctor_print_table(cli->out, &host, &missing);
	options_release(&parsed);
	return missing ? 1 : 0;
}

static const char *const doctor_examples[] = {
	"sonde doctor", "print what works, what does not, and how to fix it", "sonde doctor --json", "the same for programs", NULL,
};

const struct command doctor_command = {
	.name = "doctor",
	.summary = "Check what can be recorded on this machine",
	.synopsis = "[options]",
	.description = "Tries everything that recording needs on this machine, in this container and as this user. For each item it "
		       "prints ok, partly or no, the reason, and what would allow it: a command for the machine, an option for "
		       "docker, a setting for Kubernetes. It changes nothing. The exit status is 1 if nothing can be recorded at "
		       "all.",
	.examples = doctor_examples,
	.options = &doctor_options,
	.words = COMMAND_NO_WORDS,
	.run = run_doctor,
};
