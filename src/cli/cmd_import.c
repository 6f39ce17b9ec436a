/* sonde import: a report of a trace that another tool recorded. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "ingest/kineto.h"
#include "ingest/source.h"
#include "report/writer.h"

struct import_fields {
	const char *output;
	bool force_overwrite;
};

static const struct option_spec import_specs[] = {
	{ .name = "output", .letter = 'o', .type = OPTION_TEXT, .arg = "name", .tag = "output",
	  .offset = offsetof(struct import_fields, output),
	  .shown = "the name of the trace, ending in .sonde",
	  .help = "The report to write." },
	{ .name = "force-overwrite", .letter = 'f', .type = OPTION_BOOL, .initial = "false",
	  .offset = offsetof(struct import_fields, force_overwrite), .tag = "output",
	  .help = "Replace a report of the same name." },
};

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

static void name_report(const char *file, const char *output, char *ret, size_t size)
{
	size_t room = size - sizeof(".sonde");

	snprintf(ret, room, "%s", output ? output : file);
	if (output) {
		cut_ending(ret, ".sonde");
	} else {
		cut_ending(ret, ".gz");
		cut_ending(ret, ".json");
	}
	strcat(ret, ".sonde");
}

/* Formats of other tools that their own exporters must open. */
static const char *what_to_do(const char *file, const struct source *s)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s", file);
	if (s->len >= 16 && memcmp(s->text, "SQLite format 3", 16) == 0)
		return "is an SQLite file; only traces in JSON can be imported";
	if (cut_ending(name, ".nsys-rep") || cut_ending(name, ".qdrep"))
		return "is in a format of its own; 'nsys export -t sqlite' writes one that other tools read";
	if (cut_ending(name, ".ncu-rep"))
		return "is in a format of its own; 'ncu --import FILE --page raw --csv' writes one that other tools read";
	return s->len ? NULL : "is empty";
}

static int finish(struct cli *cli, const char *file, const char *path, struct report_writer *writer,
		  const struct source *source, const struct kineto_result *result)
{
	char *absolute;
	struct error err;

	if (report_writer_finish(writer, &err) < 0)
		return command_fail(cli, &import_command, "%s", err.text);
	absolute = realpath(path, NULL);
	fprintf(cli->err, "Generated:\n    %s\n", absolute ? absolute : path);
	free(absolute);
	if (source->trouble)
		command_fail(cli, &import_command, "'%s': %s.", file, source->trouble);
	if (result->trouble)
		command_fail(cli, &import_command, "'%s', line %zu, byte %zu: %s. The %llu events before it are in the "
			     "report, and %llu behind it; %llu %s malformed.", file, result->line, result->offset,
			     result->trouble, (unsigned long long)result->before,
			     (unsigned long long)(result->events - result->before), (unsigned long long)result->troubles,
			     result->troubles == 1 ? "place is" : "places are");
	return source->trouble || result->trouble;
}

static int import_source(struct cli *cli, const char *file, struct source *source, const char *path,
			 bool overwrite)
{
	struct report_writer *writer;
	struct kineto_result result;
	struct error err = { "" };

	if (report_writer_open(&writer, path, overwrite, NULL, 0, &err) < 0)
		return command_fail(cli, &import_command, "%s", err.text);
	if (kineto_import(source, writer, &result, &err) < 0) {
		report_writer_abandon(writer);
		return command_fail(cli, &import_command, "%s", err.text);
	}
	return finish(cli, file, path, writer, source, &result);
}

static int import_file(struct cli *cli, const char *file, const struct import_fields *fields)
{
	char path[PATH_MAX];
	struct source source;
	struct error err = { "" };
	const char *refused;
	int status;

	if (source_open(&source, file, &err) < 0) {
		source_close(&source);
		return command_fail(cli, &import_command, "%s", err.text);
	}
	refused = what_to_do(file, &source);
	name_report(file, fields->output, path, sizeof(path));
	if (refused)
		status = command_fail(cli, &import_command, "'%s' %s.", file, refused);
	else
		status = import_source(cli, file, &source, path, fields->force_overwrite);
	source_close(&source);
	return status;
}

static int run_import(struct cli *cli, int argc, char **argv)
{
	struct import_fields fields = { NULL, false };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &import_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (parsed.word_count != 1)
		status = command_fail(cli, &import_command, "One trace must be named: sonde import TRACE.json.");
	else
		status = import_file(cli, parsed.words[0], &fields);
	options_release(&parsed);
	return status;
}

static const char *const import_examples[] = {
	"sonde import trace.json.gz -o step.sonde", "make a report of a torch.profiler trace",
	"sonde stats -r cuda_gpu_kern_sum step.sonde", "ask it as any other report",
	NULL,
};

const struct command import_command = {
	.name = "import",
	.summary = "Make a report of a trace that another tool recorded",
	.synopsis = "[options] TRACE",
	.description =
		"Reads a trace of torch.profiler (Kineto), or another in the JSON format of Chrome's trace viewer, "
		"plain or packed by gzip. A trace that is damaged or cut off gives a report of what could be read; "
		"the exit status is then 1 and a line says where reading ended.",
	.examples = import_examples,
	.options = &import_options,
	.words = COMMAND_FILES,
	.run = run_import,
};
