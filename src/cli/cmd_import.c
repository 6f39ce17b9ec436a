/* sonde import: a report of a trace that another tool recorded. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/path.h"
#include "cli/reports/import_apart.h"

struct import_fields {
	const char *output;
	bool force_overwrite;
};

static const struct option_spec import_specs[] = { REPORT_OUTPUT_OPTIONS(struct import_fields, "the name of the trace, ending in .sonde") };

static const struct option_table import_options = OPTION_TABLE(import_specs);

extern const struct command import_command;

static bool cut_ending(char *text, const char *ending)
{
	size_t len = strlen(text), ending_len = strlen(ending);

	if (len <= ending_len || strcmp(text + len - ending_len, ending) != 0)
		return false;
	text[len - ending_len] = '\0';
	return true;
}

static int name_report(const char *file, const char *output, char *ret, size_t size, struct error *err)
{
	static const char *const endings[] = { ".json", ".sqlite", ".csv", ".pickle", ".pkl" };
	size_t room = size - sizeof(".sonde");
	const char *last = output ? path_name(output) : NULL;

	if (last && (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 || strcmp(output, "-") == 0))
		return error_set(err, EINVAL, "'%s' does not name a file: -o names the report to write", output);
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
	return import_tell(cli, &import_command, file, &result);
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
		status = command_fail(cli, &import_command, "One trace must be named: sonde import TRACE.");
	else
		status = import_file(cli, parsed.words[0], &fields);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const import_examples[] = {
	"sonde import trace.json.gz -o step.sonde", "make a report of a torch.profiler trace",
	"sonde import run.sqlite", "run.sonde of what 'nsys export -t sqlite' wrote",
	"sonde import -o kernels.sonde ncu.csv", "of what 'ncu --csv --page raw' printed",
	"sonde import snapshot.pickle", "of what torch.cuda.memory._dump_snapshot() wrote",
	"sonde stats -r cuda_gpu_kern_sum step.sonde", "ask it as any other report",
	NULL,
};
/* clang-format on */

const struct command import_command = {
	.name = "import",
	.summary = "Make a report of a trace that another tool recorded",
	.synopsis = "[options] TRACE",
	.description = "Reads a trace of torch.profiler (Kineto), or another in the JSON format of Chrome's trace viewer, "
		       "plain or packed by gzip; the SQLite file that nsys export writes; the CSV that ncu --page raw prints; the "
		       "memory snapshot that torch.cuda.memory._dump_snapshot() writes. What it is, "
		       "its content tells. A trace that is damaged or cut off gives a report of what could be read; "
		       "the exit status is then 1 and a line says where reading ended.",
	.examples = import_examples,
	.options = &import_options,
	.words = COMMAND_FILES,
	.run = run_import,
};
