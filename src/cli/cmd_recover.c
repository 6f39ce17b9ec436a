/* sonde recover: finish what a killed recorder left. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/ending.h"
#include "cli/command.h"
#include "report/writer.h"

struct recover_fields {
	const char *output;
	bool force_overwrite;
};

static const struct option_spec recover_specs[] = { REPORT_OUTPUT_OPTIONS(struct recover_fields, "the name without .part") };

static const struct option_table recover_options = OPTION_TABLE(recover_specs);

extern const struct command recover_command;

/* X.part, or X.part.N where a later recording of the same name moved it aside. */
static bool is_part(const char *name)
{
	const char *digits = name + strlen(name);

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (*digits && digits > name && digits[-1] == '.')
		return digits - name > 6 && strncmp(digits - 6, ".part.", 6) == 0;
	return text_has_ending(name, ".part");
}

/* The report that is written, under the name that was given or the recording's own. */
static int write_report(const char *part, const struct recover_fields *fields, char *ret_path, size_t size, struct error *err)
{
	if (!fields->output)
		return report_recover(part, fields->force_overwrite, ret_path, size, err);
	snprintf(ret_path, size, "%s%s", fields->output,
		 text_has_ending(fields->output, ".sonde") || text_has_ending(fields->output, ".nsys-rep") ? "" : ".sonde");
	return report_recover_to(part, ret_path, fields->force_overwrite, err);
}

static int recover(struct cli *cli, const char *part, const struct recover_fields *fields)
{
	char path[PATH_MAX], *absolute;
	struct error err = { "" };

	if (!is_part(part))
		return command_fail(cli, &recover_command, "'%s' is not an unfinished recording; the name of one ends in .part.", part);
	if (access(part, F_OK) < 0)
		return command_fail(cli, &recover_command, "'%s' cannot be opened: %s.", part, strerror(errno));
	if (fields->output && !*fields->output)
		return command_fail(cli, &recover_command, "--output does not name a report.");
	if (write_report(part, fields, path, sizeof(path), &err) < 0)
		return command_fail(cli, &recover_command, "%s", err.text);
	absolute = realpath(path, NULL);
	fprintf(cli->err, "Generated:\n    %s\n", absolute ? absolute : path);
	free(absolute);
	return 0;
}

static int run_recover(struct cli *cli, int argc, char **argv)
{
	struct recover_fields fields = { NULL, false };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &recover_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (parsed.word_count != 1)
		status = command_fail(cli, &recover_command, "No unfinished recording given: sonde recover NAME.sonde.part.");
	else
		status = recover(cli, parsed.words[0], &fields);
	options_release(&parsed);
	return status;
}

static const char *const recover_examples[] = {
	"sonde recover report1.sonde.part",
	"write report1.sonde",
	NULL,
};

const struct command recover_command = {
	.name = "recover",
	.summary = "Complete the report of a killed recorder",
	.synopsis = "[options] NAME.sonde.part",
	.description = "Makes a complete report from the .part file of a recorder that was killed. The report has everything up to a "
		       "tenth of a second before the end. Sonde replaces the .part file only when the report is complete.",
	.examples = recover_examples,
	.options = &recover_options,
	.words = COMMAND_FILES,
	.run = run_recover,
};
