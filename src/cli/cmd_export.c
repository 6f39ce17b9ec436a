/* sonde export: a report as files that other tools read. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/reports/confine_reader.h"
#include "cli/reports/export_answers.h"
#include "cli/reports/open_report.h"
#include "cli/kernel/section_folders.h"
#include "export/export.h"
#include "query/query.h"
#include "stats/stats.h"

struct export_fields {
	int type; /* enum export_type, then those of EXPORT_OTHER_NAMES */
	int stacks;
	bool ids;
	const char *output;
	bool force_overwrite;
	bool lazy;
	bool redact;
	bool quiet;
	struct option_texts tables;
	const char *times;
	bool ts_normalize;
	int64_t ts_shift;
	int64_t max_size;
	struct option_texts folders;
	struct option_texts deep_folders;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct export_fields, field)
/* Times of a recording and of the calendar fit beside it. */
#define MOST_SHIFT (INT64_MAX / 4)

/* clang-format off */
static const struct option_spec export_specs[] = {
	{ .name = "type", .letter = 't', FIELD(CHOICE, type), .initial = "sqlite", .arg = "type",
	  .values = EXPORT_TYPE_NAMES "|" EXPORT_OTHER_NAMES, .tag = "output",
	  .help = EXPORT_TYPE_HELP "For the other types of nsys a message names the replacement." },
	{ .name = "stacks", FIELD(CHOICE, stacks), .initial = "any", .values = EXPORT_STACKS_NAMES, .arg = "what",
	  .tag = "selection",
	  .help = "Choose the stacks of folded and speedscope: CPU samples (cpu), or GPU time by the NVTX ranges and operators that "
		  "launched it (gpu). folded also has time off the CPU (offcpu) and time in calls of the OS runtime (osrt). "
		  "any takes CPU samples if there are some, otherwise GPU time; speedscope has both." },
	{ .name = "ids", FIELD(BOOL, ids), .initial = "false", .tag = "selection",
	  .help = "For folded: add the numbers of processes and threads to their names. Without them stacks of two runs can be "
		  "compared." },
	{ .name = "output", .letter = 'o', FIELD(TEXT, output), .arg = "name", .tag = "output",
	  .shown = "the report's name with " EXPORT_ENDINGS " or .redacted.sonde",
	  .help = "Write to this file; - is standard output. A name that ends in .gz is compressed. Neither is possible for sqlite, "
		  "csv and sonde." },
	{ .name = "force-overwrite", .letter = 'f', FIELD(BOOL, force_overwrite), .initial = "false", .tag = "output",
	  .help = "Replace an existing export." },
	{ .name = "redact", FIELD(BOOL, redact), .initial = "false", .bare = "true", .tag = "output",
	  .help = "For sonde: write a report that can be shared, without the environment, folders, names of machines and users, "
		  "addresses, ids of devices, source files and the program's output. Figures and names of functions and "
		  "ranges stay." },
	{ .name = "lazy", .letter = 'l', FIELD(BOOL, lazy), .initial = "true", .tag = "output",
	  .help = "Leave out tables without rows." },
	{ .name = "quiet", .letter = 'q', FIELD(BOOL, quiet), .initial = "false", .tag = "output",
	  .help = "Print errors only." },
	{ .name = "tables", FIELD(TEXTS, tables), .arg = "pattern,...", .tag = "selection", .shown = "all",
	  .help = "Export only tables whose whole name matches one of these POSIX basic regular expressions. Case is ignored." },
	{ .name = "times", FIELD(TEXT, times), .arg = "[:]start/end[:]", .tag = "selection", .shown = "all",
	  .help = "Export only events that begin and end in this range, such as 1s/1s500ms. A colon at an edge keeps the events that "
		  "cross it." },
	{ .name = "max-size", FIELD(INTEGER, max_size), .initial = "32", .min = 0, .max = 2000, .arg = "MB", .tag = "selection",
	  .help = "For html: show a report (or the part that --times selects) that is larger than this by level of detail, without "
		  "single events. 0 is no limit." },
	{ .name = "section-folder", FIELD(TEXTS, folders), .arg = "folder", .tag = "selection",
	  .help = "For html: add the sections, rules and words of this folder to the page. They override Sonde's of the same name." },
	{ .name = "section-folder-recursive", FIELD(TEXTS, deep_folders), .arg = "folder", .tag = "selection",
	  .help = "The same, including all subfolders." },
	{ .name = "ts-normalize", FIELD(BOOL, ts_normalize), .initial = "false", .tag = "selection",
	  .help = "Write times as nanoseconds since 1970 (UTC), not since the start of the recording." },
	{ .name = "append", .type = OPTION_BOOL, .state = OPTION_PLANNED, .bare = "true", .off = "false", .tag = "output",
	  .help = "Append to an existing export." },
	{ .name = "include-json", .type = OPTION_BOOL, .state = OPTION_OBSOLETE, .bare = "true", .tag = "selection",
	  .help = "Write columns of JSON; they are always written." },
	{ .name = "include-blobs", .type = OPTION_BOOL, .state = OPTION_OBSOLETE, .bare = "true", .tag = "selection",
	  .help = "Write columns of binary data; they are always written." },
	{ .name = "ts-shift", FIELD(INTEGER, ts_shift), .initial = "0", .min = -MOST_SHIFT, .max = MOST_SHIFT,
	  .arg = "ns", .tag = "selection", .help = "Add this many nanoseconds to every time." },
};
/* clang-format on */

static const struct option_table export_options = OPTION_TABLE(export_specs);

extern const struct command export_command;

struct progress_line {
	FILE *err;
	bool shown; /* a terminal looks */
	bool written;
	time_t last;
};

/* The signals that end a command wait until what was begun is removed. */
static void hold_signals(sigset_t *ret_before)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, ret_before);
}

static bool signal_waits(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGHUP) == 1);
}

static int show_progress(void *arg, const char *table, size_t done, size_t count)
{
	struct progress_line *display = arg;
	time_t now = time(NULL);

	if (signal_waits())
		return 1;
	if (display->shown && now != display->last) {
		fprintf(display->err, "\r\033[K[%zu/%zu] %s", done + 1, count, table);
		fflush(display->err);
		display->last = now;
		display->written = true;
	}
	return 0;
}

/* What users have of their own, for the page. */
struct own_texts {
	struct export_text *files;
	size_t count;
};

static int take_texts(const struct export_fields *fields, struct own_texts *ret, struct error *err)
{
	struct string_list folders = STRING_LIST_INIT;
	int r = section_folders_add(&folders, &fields->folders, &fields->deep_folders);

	*ret = (struct own_texts){ 0 };
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	else if (folders.count && fields->type != EXPORT_HTML)
		r = error_set(err, EINVAL, "--section-folder is only supported with -t html");
	else if (folders.count)
		r = section_folders_check(&folders, err);
	if (r >= 0 && folders.count)
		r = section_folders_read(&folders, &ret->files, &ret->count, err);
	string_list_release(&folders);
	return r;
}

static int write_export(struct cli *cli, struct query *q, const struct export_fields *fields, const char *input, const char *opened,
			const struct own_texts *texts)
{
	struct progress_line display = { .err = cli->err, .shown = !fields->quiet && isatty(fileno(cli->err)) };
	/* clang-format off */
	struct export_request request = {
		.type = (enum export_type)fields->type, .stacks = (enum export_stacks)fields->stacks, .ids = fields->ids, .input = input,
		.opened = opened, .output = fields->output, .stream = cli->out,
		.overwrite = fields->force_overwrite, .redact = fields->redact, .only_with_rows = fields->lazy, .tables = fields->tables.items,
		.table_count = fields->tables.count, .times_text = fields->times, .normalize = fields->ts_normalize,
		.shift = fields->ts_shift, .progress = show_progress, .progress_arg = &display, .most_bytes = (uint64_t)fields->max_size * 1000000,
		.answers = export_answers, .made = export_made, .texts = texts->files, .text_count = texts->count,
	};
	/* clang-format on */
	char path[PATH_MAX], *absolute;
	struct buf note = BUF_INIT;
	uint64_t left_out = 0;
	struct error err;
	int r = 0;

	request.left_out = &left_out;
	request.note = &note;
	display.last = time(NULL);
	if (fields->times)
		r = export_times_parse(fields->times, &request.times, &err);
	if (r >= 0)
		r = export_run(q, &request, path, sizeof(path), &err);
	if (display.written)
		fputs("\r\033[K", cli->err);
	if (r >= 0 && note.len && !fields->quiet)
		fprintf(cli->err, "sonde export: %s\n", buf_cstr(&note));
	buf_release(&note);
	if (r < 0)
		return command_fail(cli, &export_command, "%s", err.text);
	if (query_damaged(q))
		return command_fail(cli, &export_command, "%s is damaged: parts that cannot be read are missing in %s", input, path);
	if (left_out && request.type == EXPORT_HTML)
		fprintf(cli->err,
			"%llu events are in %s by level of detail only; --times exports a part exactly, --max-size 0 all of "
			"it\n",
			(unsigned long long)left_out, path);
	else if (left_out)
		fprintf(cli->err, "sonde export: %llu events are not in %s: there are too many at one time\n", (unsigned long long)left_out,
			path);
	absolute = realpath(path, NULL);
	if (!fields->quiet && absolute)
		fprintf(cli->err, "Generated:\n    %s\n", absolute);
	free(absolute);
	return 0;
}

/* The output is written beside its place and moved there; nothing else is, and no other report is read. */
static void confine_export(const struct cli *cli, const struct export_fields *fields, const char *input, const char *opened)
{
	struct confinement c = { 0 };
	struct stats_folders folders;
	struct error err;

	confine_allow_usual(&c);
	confine_allow(&c, CONFINE_READ, opened);
	if (!fields->output || strcmp(fields->output, "-") != 0)
		confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, fields->output ? fields->output : input);
	/* What a page without its events has as answers, comes from named reports. */
	if (stats_folders_find(&folders, NULL, 0, &err) >= 0) {
		for (size_t i = 0; i < folders.count; i++)
			confine_allow(&c, CONFINE_READ, folders.names[i]);
		stats_folders_release(&folders);
	}
	confine_command(cli, &c);
}

static int export_report(struct cli *cli, const struct export_fields *fields, const char *input)
{
	struct opened_report opened;
	struct own_texts texts;
	struct query *q;
	struct error err;
	sigset_t before;
	bool to_pipe;
	int status;

	if (take_texts(fields, &texts, &err) < 0)
		return command_fail(cli, &export_command, "%s", err.text);
	if (!open_report(cli, &export_command, input, &opened, &status)) {
		section_files_release(texts.files, texts.count);
		return status;
	}
	if (opened.file < 0)
		input = opened.path;
	confine_export(cli, fields, input, opened.path);
	if (query_open(&q, opened.path, &err) < 0) {
		section_files_release(texts.files, texts.count);
		return close_report(&opened, command_fail(cli, &export_command, "%s", err.text));
	}
	/* A limit on sizes and a reader that went away are errors of writing. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	/* Nothing is removed behind a pipe, and whoever reads it may be slow. */
	to_pipe = fields->output && strcmp(fields->output, "-") == 0;
	if (!to_pipe)
		hold_signals(&before);
	status = write_export(cli, q, fields, input, opened.path, &texts);
	if (!to_pipe)
		sigprocmask(SIG_SETMASK, &before, NULL);
	query_close(q);
	section_files_release(texts.files, texts.count);
	return close_report(&opened, status);
}

/* Types of nsys that are not written. */
static int take_other_name(struct cli *cli, struct export_fields *fields)
{
	if (fields->type < EXPORT_TYPE_COUNT)
		return 0;
	switch (fields->type - EXPORT_TYPE_COUNT) {
	case 0: fields->type = EXPORT_JSONLINES; return 0;
	case 1:
		return command_fail(cli, &export_command,
				    "the type 'text' is not supported (nsys dropped it, too); use -t jsonlines "
				    "or csv");
	case 2:
		return command_fail(cli, &export_command,
				    "the type 'info' is not supported; sonde sql FILE 'select * from META_DATA_CAPTURE' prints how it "
				    "was recorded");
	default:
		return command_fail(cli, &export_command,
				    "Arrow, Parquet and HDF5 are not supported; use -t sqlite or csv, which pandas, Polars and DuckDB "
				    "read");
	}
}

/* An option that would change nothing was meant for another type. */
static int check_types(struct cli *cli, const struct export_fields *fields, const struct options_parsed *parsed)
{
	if (options_find_use(parsed, "append") && !option_use_is_off(options_find_use(parsed, "append")))
		return command_fail(cli, &export_command, "--append is not supported yet");
	if (options_find_use(parsed, "stacks") && fields->type != EXPORT_FOLDED && fields->type != EXPORT_SPEEDSCOPE)
		return command_fail(cli, &export_command, "--stacks is only supported with -t folded and -t speedscope");
	if (options_find_use(parsed, "ids") && fields->type != EXPORT_FOLDED)
		return command_fail(cli, &export_command, "--ids is only supported with -t folded");
	if (fields->redact && fields->type != EXPORT_REPORT)
		return command_fail(cli, &export_command,
				    "--redact is only supported with -t sonde; exports of that report have nothing private either");
	if (options_find_use(parsed, "max-size") && fields->type != EXPORT_HTML)
		return command_fail(cli, &export_command, "--max-size is only supported with -t html");
	return 0;
}

static int run_export(struct cli *cli, int argc, char **argv)
{
	struct export_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &export_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = take_other_name(cli, &fields);
	if (status == 0)
		status = check_types(cli, &fields, &parsed);
	if (status != 0)
		;
	else if (parsed.word_count != 1)
		status = command_fail(cli, &export_command, "No report given: sonde export FILE.sonde.");
	else
		status = export_report(cli, &fields, parsed.words[0]);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const export_examples[] = {
	"sonde export run.sonde", "write run.sqlite, for scripts that read nsys's export",
	"sonde export -t csv --tables='CUPTI.*,StringIds' run.sonde", "the CUDA tables as CSV files in run_csv",
	"sonde export -t perfetto run.sonde", "write run.pftrace, for ui.perfetto.dev",
	"sonde export -t chrome -o run.json.gz run.sonde", "JSON as torch.profiler writes it, packed",
	"sonde export -t folded --stacks=gpu -o - run.sonde | flamegraph.pl > gpu.svg", "GPU time by NVTX range",
	"sonde export -t html run.sonde", "write run.html, the viewer in one file that opens in any browser",
	"sonde export -t sonde --redact run.sonde", "write run.redacted.sonde, a report to share",
	"sonde export --times=:2s/3s: -o second.sqlite run.sonde", "the events of the third second",
	NULL,
};
/* clang-format on */

const struct command export_command = {
	.name = "export",
	.summary = "Write a report as SQLite, CSV, Perfetto, JSON, stacks or a page",
	.synopsis = "[options] FILE.sonde",
	.description = "Writes a report for other tools: its tables with the names and columns of nsys's export, its timeline for "
		       "viewers, or its stacks. The output file appears when it is complete.",
	.examples = export_examples,
	.options = &export_options,
	.words = COMMAND_FILES,
	.run = run_export,
};
