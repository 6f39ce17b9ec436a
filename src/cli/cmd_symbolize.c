/* sonde symbolize: names for functions of a report, where they could not be found while recording. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/ending.h"
#include "cli/command.h"
#include "record/stacks/symbolize.h"

#define TOLD_LIMIT 20

struct symbolize_fields {
	const char *output;
	const char *debug_symbols;
	bool force;
	bool force_overwrite;
};

/* clang-format off */
static const struct option_spec symbolize_specs[] = {
	{ .name = "output", .letter = 'o', .type = OPTION_TEXT, .arg = "name", .tag = "output",
	  .offset = offsetof(struct symbolize_fields, output), .shown = "the report itself",
	  .help = "Write this report. An older one stays until the new one is complete." },
	{ .name = "force-overwrite", .letter = 'f', .type = OPTION_BOOL, .initial = "false", .bare = "true",
	  .offset = offsetof(struct symbolize_fields, force_overwrite), .tag = "output",
	  .help = "Replace an existing report of the name given with --output." },
	{ .name = "debug-symbols", .type = OPTION_TEXT, .arg = "folders", .tag = "symbols",
	  .offset = offsetof(struct symbolize_fields, debug_symbols),
	  .help = "Search these folders first, separated by colons, for programs, libraries or debug files: by build-id "
		  "(.build-id/xx/yyy.debug), by path and by name." },
	{ .name = "force", .type = OPTION_BOOL, .initial = "false", .bare = "true", .tag = "symbols",
	  .offset = offsetof(struct symbolize_fields, force),
	  .help = "Look for names of all frames, not only of those without one." },
};
/* clang-format on */

static const struct option_table symbolize_options = OPTION_TABLE(symbolize_specs);

extern const struct command symbolize_command;

struct reporter {
	struct cli *cli;
	unsigned reported;
	unsigned files; /* with frames that have no name */
};

static void print_symbolize_note(void *context, const char *text)
{
	struct reporter *t = context;

	if (t->reported++ < TOLD_LIMIT)
		fprintf(t->cli->err, "sonde symbolize: %s\n", text);
}

static void print_left_frames(void *context, const char *path, const char *build_id, size_t frames)
{
	struct reporter *t = context;

	if (t->files++ >= TOLD_LIMIT)
		return;
	fprintf(t->cli->err, "without a name: %zu in %s%s%s\n", frames, path, build_id[0] ? ", build-id " : "", build_id);
}

/* The report to write, with the suffix reports have. */
static const char *output_name(const char *given, char *room, size_t size)
{
	if (!given)
		return NULL;
	snprintf(room, size, "%s%s", given, text_has_ending(given, ".sonde") || text_has_ending(given, ".nsys-rep") ? "" : ".sonde");
	return room;
}

static int symbolize(struct cli *cli, const char *report, const struct symbolize_fields *fields)
{
	struct reporter reporter = { cli, 0, 0 };
	char room[PATH_MAX];
	const char *output = output_name(fields->output, room, sizeof(room));
	char *in_place = realpath(report, NULL), *same = output ? realpath(output, NULL) : NULL;
	bool itself = !output || (in_place && same && strcmp(in_place, same) == 0);
	struct symbolize_request request = { .all = fields->force,
					     .folders = fields->debug_symbols,
					     .trouble = print_symbolize_note,
					     .left = print_left_frames,
					     .context = &reporter };
	struct symbolize_result result;
	struct error err = { "" };
	int r;

	request.report = in_place ? in_place : report;
	request.output = itself ? request.report : output;
	request.overwrite = itself || fields->force_overwrite;
	r = symbolize_report(&request, &result, &err);
	if (r < 0)
		command_fail(cli, &symbolize_command, "%s.", err.text);
	else if (!result.frames)
		fprintf(cli->err, "This report has no stacks.\n");
	else
		fprintf(cli->err, "%" PRIu64 " of %" PRIu64 " frames %s.\n", result.named, result.looked_at,
			fields->force ? "have a name now" : "without a name got one");
	if (reporter.files > TOLD_LIMIT)
		fprintf(cli->err, "(%u more files have frames without a name.)\n", reporter.files - TOLD_LIMIT);
	if (r == 0 && (result.named || !itself))
		fprintf(cli->err, "Generated:\n    %s\n", request.output);
	free(in_place);
	free(same);
	return r < 0 ? 1 : 0;
}

static int run_symbolize(struct cli *cli, int argc, char **argv)
{
	struct symbolize_fields fields = { NULL, NULL, false, false };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &symbolize_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (fields.output && !*fields.output)
		status = command_fail(cli, &symbolize_command, "--output does not name a report.");
	else if (parsed.word_count != 1)
		status = command_fail(cli, &symbolize_command, "No report given: sonde symbolize REPORT.");
	else
		status = symbolize(cli, parsed.words[0], &fields);
	options_release(&parsed);
	return status;
}

static const char *const symbolize_examples[] = {
	"sonde symbolize report1.sonde",
	"name functions that had no name when the recording ended",
	"sonde symbolize --debug-symbols=/srv/debug -o named.sonde report1.sonde",
	"use debug files from another folder",
	NULL,
};

const struct command symbolize_command = {
	.name = "symbolize",
	.summary = "Find names of functions, later or elsewhere",
	.synopsis = "[options] REPORT",
	.description = "Looks for names of the functions in a report's stacks, on any machine with files of the same build-ids: the "
		       "programs and libraries, or their debug files. The report is replaced only when the new one is complete.",
	.examples = symbolize_examples,
	.options = &symbolize_options,
	.words = COMMAND_FILES,
	.run = run_symbolize,
};
