/* sonde stats: named reports over a recording. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/reports/confine_reader.h"
#include "cli/links/nsys_sqlite.h"
#include "cli/reports/open_report.h"
#include "cli/reports/stats_confined.h"
#include "stats/stats.h"

struct stats_fields {
	struct option_texts reports;
	struct option_texts formats;
	struct option_texts outputs;
	struct option_texts folders;
	const char *input;
	const char *time_unit;
	const char *filter_time;
	const char *filter_nvtx;
	const char *steps;
	const char *help_reports;
	const char *help_formats;
	bool quiet;
	bool overwrite;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct stats_fields, field)

/* clang-format off */
static const struct option_spec stats_specs[] = {
	{ .name = "report", .letter = 'r', FIELD(TEXTS, reports), .arg = "name[:option][,name]",
	  .tag = "reports",
	  .help = "Show these named reports, with options (cpu_sample_sum:thread). The default is the default set, without those that "
		  "have no data." },
	{ .name = "report-dir", FIELD(TEXTS, folders), .arg = "folder[,folder]", .tag = "reports",
	  .help = "Look in this folder for NAME.sql first, then in SONDE_STATS_REPORT_PATH, then in Sonde's own." },
	{ .name = "input", FIELD(TEXT, input), .arg = "file", .tag = "reports",
	  .help = "Name the report, instead of giving it as an argument." },
	{ .name = "help-reports", FIELD(TEXT, help_reports), .arg = "name|ALL",
	  .values = "ALL|TEXT", .bare = "ALL", .tag = "reports",
	  .help = "Describe a named report, or list all." },
	{ .name = "filter-time", FIELD(TEXT, filter_time), .arg = "[start]/[end]", .tag = "reports",
	  .help = "Show only events that touch this time, in ns or with ns, us, ms or s: 1.5s/2s. Events are not cut." },
	{ .name = "filter-nvtx", FIELD(TEXT, filter_nvtx), .arg = "range[@domain][/index]", .tag = "reports",
	  .help = "Show only what a thread did inside ranges of this name, and the GPU work of its calls there. * and ? match "
		  "anything; /0,2-4 selects some of the ranges; \\ before @, / or * means the character." },
	{ .name = "steps", FIELD(TEXT, steps), .arg = "A-B[,C]", .tag = "reports",
	  .help = "Show only what happened in these steps of a training: numbered ranges such as 'step 12' or ProfilerStep#12." },
	{ .name = "sqlite", .type = OPTION_TEXT, .state = OPTION_OBSOLETE, .arg = "file", .tag = "reports",
	  .help = "Reports are read directly; there is no file to export." },
	{ .name = "force-export", .type = OPTION_BOOL, .state = OPTION_OBSOLETE, .bare = "true", .tag = "reports",
	  .off = "false", .help = "Reports are read directly; there is no file to export." },
	{ .name = "format", .letter = 'f', FIELD(TEXTS, formats), .arg = "format[:arg][,format]", .tag = "output",
	  .shown = "column, csv in files and pipes",
	  .help = "column, table, csv, tsv, json, hdoc or htable; report i is written in format i, the last "
		  "one repeats." },
	{ .name = "output", .letter = 'o', FIELD(TEXTS, outputs), .arg = "base|-|@command|.", .tag = "output",
	  .shown = "-", .help = "Write tables to: - the console, @command a program's input, . or a base name files BASE_REPORT.EXT." },
	{ .name = "timeunit", FIELD(TEXT, time_unit), .arg = "unit", .tag = "output", .shown = "nanoseconds",
	  .help = "Show times in nsec, usec, msec or seconds; a unique beginning is enough." },
	{ .name = "quiet", .letter = 'q', FIELD(BOOL, quiet), .initial = "false", .bare = "true", .tag = "output",
	  .help = "Print tables only: no progress, notes or lines about skipped reports." },
	{ .name = "force-overwrite", FIELD(BOOL, overwrite), .initial = "false", .bare = "true", .tag = "output",
	  .help = "Replace files that exist." },
	{ .name = "help-formats", FIELD(TEXT, help_formats), .arg = "name|ALL",
	  .values = "ALL|TEXT", .bare = "ALL", .tag = "output",
	  .help = "Describe a format, or list all." },
};
/* clang-format on */

static const struct option_table stats_options_table = OPTION_TABLE(stats_specs);

extern const struct command stats_command;

static void print_report(FILE *out, const struct report_file *file, int all)
{
	const char *line = file->help ? file->help : "", *end;

	if (all) {
		fprintf(out, "  %-22s %s\n", file->name, file->title);
		return;
	}
	fprintf(out, "%s -- %s\n\n", file->name, file->title);
	for (; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		fprintf(out, "%.*s\n", (int)(end - line), line);
	}
	if (file->option_count)
		fprintf(out, "\nOptions (%s:option):\n", file->name);
	for (size_t i = 0; i < file->option_count; i++)
		fprintf(out, "  %s%s%s  %s\n", file->options[i].name, file->options[i].initial ? "=" : "",
			file->options[i].initial ? file->options[i].initial : "", file->options[i].help);
	fputs("\nColumns:\n", out);
	for (size_t i = 0; i < file->column_count; i++)
		fprintf(out, "  %s\n", file->columns[i].title);
}

static int help_reports(struct cli *cli, const char *name, const struct stats_folders *folders)
{
	struct report_files files;
	const struct report_file *file;
	struct error err;
	int status = 0;

	if (report_files_load(&files, (const char *const *)folders->names, folders->count, &err) < 0)
		return command_fail(cli, &stats_command, "%s", err.text);
	if (strcasecmp(name, "ALL") == 0) {
		for (size_t i = 0; i < files.count; i++)
			print_report(cli->out, &files.files[i], 1);
	} else {
		file = report_files_find(&files, name, &err);
		if (file)
			print_report(cli->out, file, 0);
		else
			status = command_fail(cli, &stats_command, "%s", err.text);
	}
	report_files_release(&files);
	return status;
}

static int help_formats(struct cli *cli, const char *wanted)
{
	const char *name, *arguments, *help;
	struct format_spec spec;
	struct error err;

	if (strcasecmp(wanted, "ALL") != 0 && format_parse(&spec, wanted, &err) < 0)
		return command_fail(cli, &stats_command, "%s", err.text);
	for (unsigned i = 0; format_describe(i, &name, &arguments, &help); i++)
		if (strcasecmp(wanted, "ALL") == 0 || spec.kind == (enum format_kind)i)
			fprintf(cli->out, "  %s%s\n      %s\n", name, arguments, help);
	fputs("  All take :time=unit for columns of times.\n", cli->out);
	return 0;
}

/* Tables go into files beside what -o names, or beside the report; nsys's export, too. */
static void confine_stats(const struct cli *cli, const struct stats_fields *fields, const struct options_parsed *parsed, const char *path)
{
	const struct option_use *sqlite = options_find_use(parsed, "sqlite");
	struct confinement c = { 0 };
	bool beside = cli->role == CLI_NSYS;

	confine_reader(&c);
	for (size_t i = 0; i < fields->outputs.count; i++) {
		char *copy = strdup(fields->outputs.items[i]), *rest = NULL;

		for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
			beside |= strcmp(word, ".") == 0;
			if (*word != '@' && strcmp(word, "-") != 0)
				confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, word);
		}
		free(copy);
	}
	if (beside)
		confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, path);
	if (beside && sqlite)
		confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, sqlite->value);
	confine_command(cli, &c);
}

/* What one run of the reports needs. */
struct running {
	struct cli *cli;
	const struct stats_fields *fields;
	const struct options_parsed *parsed;
	const char *path;
	const struct opened_report *opened;
	const struct stats_folders *folders;
};

static int run_confined(void *context, const struct stats_starter *starter)
{
	const struct running *w = context;
	const struct stats_fields *fields = w->fields;
	/* clang-format off */
	struct stats_options options = {
		.reports = fields->reports.items, .report_count = fields->reports.count,
		.formats = fields->formats.items, .format_count = fields->formats.count,
		.outputs = fields->outputs.items, .output_count = fields->outputs.count,
		.time_unit = fields->time_unit, .quiet = fields->quiet, .overwrite = fields->overwrite,
		.folders = (const char *const *)w->folders->names, .folder_count = w->folders->count,
		.scope = { .time = fields->filter_time, .nvtx = fields->filter_nvtx, .steps = fields->steps }, .starter = starter,
	};
	/* clang-format on */
	const char *path = w->path;
	char shown[PATH_MAX];
	struct error err;
	int r;

	confine_stats(w->cli, fields, w->parsed, w->opened->file >= 0 ? path : w->opened->path);
	if (w->opened->file >= 0) {
		options.opened = w->opened->path; /* the name that was given stays the one to show */
	} else {
		path = w->opened->path;
		if (nsys_stats_sqlite(w->cli, w->parsed, path, shown, sizeof(shown))) {
			options.opened = path;
			path = shown;
		}
	}
	/* A reader of the table that goes away is noticed at the write, and no error. */
	signal(SIGPIPE, SIG_IGN);
	r = stats_run(&options, path, w->cli->out, w->cli->err, &err);
	return r < 0 && r != -EPIPE ? command_fail(w->cli, &stats_command, "%s", err.text) : 0;
}

static int run_reports(struct cli *cli, const struct stats_fields *fields, const struct options_parsed *parsed, const char *path,
		       const struct stats_folders *folders)
{
	struct opened_report opened;
	struct running w = { cli, fields, parsed, path, &opened, folders };
	int status;

	if (!open_report(cli, &stats_command, path, &opened, &status))
		return status;
	status = -ENOSYS;
	if (cli->may_confine && stats_starts_commands(&fields->outputs))
		status = stats_apart(&fields->outputs, run_confined, &w);
	if (status < 0)
		status = run_confined(&w, NULL);
	return close_report(&opened, status);
}

static int answer_stats_command(struct cli *cli, const struct stats_fields *fields, const struct options_parsed *parsed)
{
	const char *path = parsed->word_count ? parsed->words[0] : fields->input;
	struct stats_folders folders;
	struct error err;
	int status;

	if (fields->help_formats)
		return help_formats(cli, fields->help_formats);
	if (stats_folders_find(&folders, fields->folders.items, fields->folders.count, &err) < 0)
		return command_fail(cli, &stats_command, "%s", err.text);
	if (fields->help_reports)
		status = help_reports(cli, fields->help_reports, &folders);
	else if (!path)
		status = command_fail(cli, &stats_command, "No report given: sonde stats [options] FILE.sonde");
	else if (parsed->word_count > 1)
		status = command_fail(cli, &stats_command, "'%s': unexpected argument; only one report is accepted", parsed->words[1]);
	else
		status = run_reports(cli, fields, parsed, path, &folders);
	stats_folders_release(&folders);
	return status;
}

static int run_stats(struct cli *cli, int argc, char **argv)
{
	struct stats_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &stats_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer_stats_command(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const stats_examples[] = {
	"sonde stats run.sonde", "print what was recorded, as tables",
	"sonde stats -r nvtx_sum --timeunit msec run.sonde", "print time in NVTX ranges, in milliseconds",
	"sonde stats -r nvtx_pushpop_trace -f csv -o run run.sonde", "write every range to run_nvtx_pushpop_trace.csv",
	"sonde stats -r cuda_gpu_kern_sum --steps 10-12 run.sonde", "print the kernels of three steps of a training",
	NULL,
};
/* clang-format on */

const struct command stats_command = {
	.name = "stats",
	.summary = "Print statistics and traces of a report",
	.synopsis = "[options] FILE.sonde",
	.description = "Runs named reports over a report file and prints their tables. A named report is an SQL file; --report-dir "
		       "names a folder with your own.",
	.examples = stats_examples,
	.options = &stats_options_table,
	.words = COMMAND_FILES,
	.run = run_stats,
};
