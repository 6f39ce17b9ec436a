/* sonde import: a report of a trace that another tool recorded. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ending.h"
#include "base/macros.h"
#include "base/text/path.h"
#include "cli/reports/import_process.h"

struct import_fields {
	const char *output;
	bool force_overwrite;
};

static const struct option_spec import_specs[] = { REPORT_OUTPUT_OPTIONS(struct import_fields, "the name of the trace, ending in .sonde") };

static const struct option_table import_options = OPTION_TABLE(import_specs);

extern const struct command import_command;

static bool cut_ending(char *text, const char *ending)
{
	if (!text_has_ending(text, ending))
		return false;
	text[strlen(text) - strlen(ending)] = '\0';
	return true;
}

static int name_report(const char *file, const char *output, char *ret, size_t size, struct error *err)
{
	static const char *const endings[] = { ".json", ".sqlite", ".csv", ".pickle", ".pkl" };
	size_t room = size - sizeof(".sonde");
	const char *last = output ? path_name(output) : NULL;

	if (last && (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 || strcmp(output, "-") == 0))
		return error_set(err, EINVAL, "'%s' does not name a file; -o names the report to write", output);
	if ((size_t)snprintf(ret, room, "%s", output ? output : file) >= room)
		return error_set(err, ENAMETOOLONG, "The name of the report is too long");
	if (output) {
		cut_ending(ret, ".sonde");
	} else {
		cut_ending(ret, ".gz");
		for (size_t i = 0; i < COUNT_OF(endings) && !cut_ending(ret, endings[i]); i++)
			;
	}
	strcat(ret, ".sonde");
	return 0;
}

static int write_report(struct cli *cli, const char *file, enum foreign_kind kind, const char *path, bool overwrite)
{
	struct import_signals signals;
	struct foreign_result result;
	struct error err = { "" };
	char *absolute;
	int r;

	import_block(&signals);
	r = import_apart(cli, file, kind, path, overwrite, &signals, &result, &err);
	import_unblock(&signals);
	if (r < 0)
		return command_fail(cli, &import_command, "%s", err.text);
	absolute = realpath(path, NULL);
	fprintf(cli->err, "Generated:\n    %s\n", absolute ? absolute : path);
	free(absolute);
	return import_report(cli, &import_command, file, &result);
}

static int import_file(struct cli *cli, const char *file, const struct import_fields *fields)
{
	char path[PATH_MAX], advice[PATH_MAX];
	enum foreign_kind kind;
	struct error err = { "" };

	if (foreign_recognize(file, &kind, &err) < 0)
		return command_fail(cli, &import_command, "%s", err.text);
	if (!foreign_is_readable(kind)) {
		foreign_advice(file, kind, advice, sizeof(advice));
		return command_fail(cli, &import_command, "'%s' %s.", file, advice);
	}
	if (name_report(file, fields->output, path, sizeof(path), &err) < 0)
		return command_fail(cli, &import_command, "%s", err.text);
	return write_report(cli, file, kind, path, fields->force_overwrite);
}

static int run_import(struct cli *cli, int argc, char **argv)
{
	struct import_fields fields = { NULL, false };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &import_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (parsed.word_count != 1)
		status = command_fail(cli, &import_command, "No trace given: sonde import TRACE.");
	else
		status = import_file(cli, parsed.words[0], &fields);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const import_examples[] = {
	"sonde import trace.json.gz -o step.sonde", "make a report of a torch.profiler trace",
	"sonde import run.sqlite", "make run.sonde from an export of 'nsys export -t sqlite'",
	"sonde import -o kernels.sonde ncu.csv", "make a report from the output of 'ncu --csv --page raw'",
	"sonde import snapshot.pickle", "make a report of what torch.cuda.memory._dump_snapshot() wrote",
	"sonde stats -r cuda_gpu_kern_sum step.sonde", "print statistics of it, as of any report",
	NULL,
};
/* clang-format on */

const struct command import_command = {
	.name = "import",
	.summary = "Convert a trace of another tool to a report",
	.synopsis = "[options] TRACE",
	.description =
		"Reads traces of torch.profiler (Kineto) and others in the JSON format of Chrome's trace viewer, also "
		"compressed with gzip, the SQLite file of nsys export, the CSV of ncu --page raw, and memory snapshots "
		"of PyTorch. Sonde recognises the format by its content. If a trace is damaged or cut off, the report has what could be read, the exit status "
		"is 1, and a line says where reading ended.",
	.examples = import_examples,
	.options = &import_options,
	.words = COMMAND_FILES,
	.run = run_import,
};
