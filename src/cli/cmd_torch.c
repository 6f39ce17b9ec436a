/* sonde torch: the table of torch.profiler's key_averages(), and what users' scripts make of it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/reports/confine_reader.h"
#include "cli/reports/open_report.h"
#include "cli/torch/pages.h"
#include "query/engine/scope.h"

struct torch_fields {
	const char *sort;
	bool by_shapes;
	int64_t stack;
	int64_t row_limit;
	bool top_level;
	const char *header;
	int unit;
	int64_t name_width;
	int64_t shapes_width;
	int64_t source_width;
	bool flops;
	bool bottlenecks;
	const char *threshold;
	const char *summary;
	const char *filter_time;
	const char *filter_nvtx;
	const char *steps;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct torch_fields, field)

/* clang-format off */
static const struct option_spec torch_specs[] = {
	{ .name = "sort", FIELD(TEXT, sort), .arg = "key", .aliases = "sort-by|sort_by", .tag = "table",
	  .shown = "cuda_time_total, or cpu_time_total without GPU work",
	  .help = "Sort by a key of torch's sort_by: cpu_time, cuda_time, cpu_time_total, cuda_time_total, self_cpu_time_total, "
		  "self_cuda_time_total, cpu_memory_usage, cuda_memory_usage, self_cpu_memory_usage, self_cuda_memory_usage, count or "
		  "flops. device is another word for cuda. none keeps the order in which the names first appear, as torch does." },
	{ .name = "group-by-input-shape", FIELD(BOOL, by_shapes), .initial = "false", .bare = "true", .tag = "table",
	  .help = "Show a row for each name and the shapes of its inputs (record_shapes=True)." },
	{ .name = "group-by-stack", FIELD(INTEGER, stack), .arg = "N", .initial = "0", .aliases = "group-by-stack-n",
	  .max = 10000, .tag = "table",
	  .help = "Show a row for each name and the innermost N functions of Python around it (with_stack=True)." },
	{ .name = "row-limit", FIELD(INTEGER, row_limit), .arg = "N", .initial = "100", .min = -1, .max = INT64_MAX, .tag = "table",
	  .help = "Show at most N rows; -1 shows all." },
	{ .name = "top-level", FIELD(BOOL, top_level), .initial = "false", .bare = "true", .aliases = "top-level-events-only",
	  .tag = "table", .help = "Leave out what was called by another operator." },
	{ .name = "header", FIELD(TEXT, header), .arg = "text", .tag = "table", .help = "Print this line above the table." },
	{ .name = "time-unit", FIELD(CHOICE, unit), .arg = "unit", .initial = "auto", .values = "auto|s|ms|us", .tag = "table",
	  .help = "Show all times in this unit." },
	{ .name = "max-name-column-width", FIELD(INTEGER, name_width), .arg = "N", .initial = "55", .max = 1000, .tag = "table",
	  .help = "Cut names to this width; 0 shows them whole." },
	{ .name = "max-shapes-column-width", FIELD(INTEGER, shapes_width), .arg = "N", .initial = "80", .max = 100000, .tag = "table",
	  .help = "Cut shapes to this width; 0 shows them whole." },
	{ .name = "max-src-column-width", FIELD(INTEGER, source_width), .arg = "N", .initial = "75", .max = 100000, .tag = "table",
	  .help = "Cut functions of Python to this width; 0 shows them whole." },
	{ .name = "flops", FIELD(BOOL, flops), .initial = "false", .bare = "true", .shown = "as recorded: with_flops", .tag = "table",
	  .help = "Show floating-point operations of the operators that torch has a formula for." },
	{ .name = "bottlenecks", FIELD(BOOL, bottlenecks), .initial = "false", .bare = "true", .tag = "pages",
	  .help = "List everything that takes longer than --threshold-ms on a GPU or a CPU: name, CUDA time, CPU time, input shape." },
	{ .name = "threshold-ms", FIELD(TEXT, threshold), .arg = "ms", .initial = "10", .tag = "pages",
	  .help = "Set the limit of --bottlenecks." },
	{ .name = "summary", FIELD(TEXT, summary), .arg = "name", .tag = "pages",
	  .help = "Print a report under this name: the first 20 by GPU time, 10 by memory and 10 by CPU time, and totals." },
	{ .name = "filter-time", FIELD(TEXT, filter_time), .arg = "[start]/[end]", .tag = "filters",
	  .help = "Count only events that touch this time, as sonde stats does." },
	{ .name = "filter-nvtx", FIELD(TEXT, filter_nvtx), .arg = "range[@domain][/index]", .tag = "filters",
	  .help = "Count only what happened inside ranges of this name." },
	{ .name = "steps", FIELD(TEXT, steps), .arg = "A-B[,C]", .tag = "filters",
	  .help = "Count only what happened in these steps of a training, such as ProfilerStep#12." },
};
/* clang-format on */

static const struct option_table torch_options_table = OPTION_TABLE(torch_specs);

extern const struct command torch_command;

/* What is printed, of what, and where. */
struct page {
	FILE *out;
	struct query *q;
	const struct torch_fields *fields;
	const char *name; /* of the report, as it was given */
};

static int parse_threshold(const char *text, double *ret, struct error *err)
{
	char *end;

	*ret = strtod(text, &end);
	if (end == text || *end || !(*ret >= 0))
		return error_set(err, EINVAL, "--threshold-ms takes a number of milliseconds, not '%s'", text);
	return 0;
}

/* Rows, of which there are some. */
static int load_rows(struct torch_rows *ret, const struct page *page, bool by_shapes, struct error *err)
{
	const struct torch_fields *fields = page->fields;
	const struct torch_asked asked = { by_shapes, fields->stack, fields->sort };

	TRY(torch_rows_load(ret, page->q, &asked, err));
	if (ret->count)
		return 0;
	if (fields->filter_time || fields->filter_nvtx || fields->steps)
		return error_set(err, ENOENT, "%s has no PyTorch operators that the filter lets through", page->name);
	return error_set(err, ENOENT,
			 "%s has no PyTorch operators; record them with sonde profile --pytorch=ops, or read what torch.profiler's "
			 "export_chrome_trace(\"trace.json.gz\") writes",
			 page->name);
}

static int print_table(const struct page *page, struct torch_layout *layout, struct error *err)
{
	CLEANUP(torch_rows_release) struct torch_rows rows = { 0 };

	TRY(load_rows(&rows, page, page->fields->by_shapes, err));
	layout->flops |= rows.has_flops;
	TRY(torch_table_print(page->out, &rows, layout));
	torch_print_unowned(page->out, &rows, layout->unit);
	return torch_write_result(page->out);
}

static int print_bottlenecks(const struct page *page, struct error *err)
{
	CLEANUP(torch_rows_release) struct torch_rows rows = { 0 };
	CLEANUP(torch_rows_release) struct torch_rows shapes = { 0 };
	double threshold;

	TRY(parse_threshold(page->fields->threshold, &threshold, err));
	TRY(load_rows(&rows, page, page->fields->by_shapes, err));
	TRY(load_rows(&shapes, page, true, err));
	return torch_print_bottlenecks(page->out, &rows, &shapes, threshold);
}

static int print_torch_summary(const struct page *page, struct torch_layout *layout, struct error *err)
{
	CLEANUP(torch_rows_release) struct torch_rows rows = { 0 };

	TRY(load_rows(&rows, page, page->fields->by_shapes, err));
	layout->flops |= rows.has_flops;
	return torch_print_summary(page->out, &rows, layout, page->fields->summary);
}

static int print_page(const struct page *page, struct error *err)
{
	const struct torch_fields *fields = page->fields;
	/* clang-format off */
	struct torch_layout layout = { .row_limit = fields->row_limit, .name_width = fields->name_width, .shapes_width = fields->shapes_width,
				       .source_width = fields->source_width, .header = fields->header, .unit = (enum torch_unit)fields->unit,
				       .top_level = fields->top_level, .flops = fields->flops };
	/* clang-format on */

	if (fields->bottlenecks)
		return print_bottlenecks(page, err);
	return fields->summary ? print_torch_summary(page, &layout, err) : print_table(page, &layout, err);
}

static int ask_report(const struct page *page, struct error *err)
{
	const struct scope_request scope = { page->fields->filter_time, page->fields->filter_nvtx, page->fields->steps };
	int r;

	TRY(query_set_scope(page->q, &scope, err));
	error_set(err, EIO, "The output cannot be written");
	r = print_page(page, err);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, "Not enough memory");
	if (r >= 0 && query_damaged(page->q))
		return error_set(err, EBADMSG, "%s is damaged: what could not be read is missing above", page->name);
	return r;
}

static int read_report(struct cli *cli, const struct torch_fields *fields, const char *path, const char *name)
{
	struct page page = { cli->out, NULL, fields, name };
	struct confinement c = { 0 };
	struct error err;
	int r;

	confine_reader(&c);
	confine_command(cli, &c);
	if (query_open(&page.q, path, &err) < 0)
		return command_fail(cli, &torch_command, "%s", err.text);
	r = ask_report(&page, &err);
	query_close(page.q);
	/* A reader of the table may stop when it has enough. */
	return r < 0 && r != -EPIPE ? command_fail(cli, &torch_command, "%s", err.text) : 0;
}

static int answer_torch_command(struct cli *cli, const struct torch_fields *fields, const struct options_parsed *parsed)
{
	struct opened_report opened;
	int status;

	if (!parsed->word_count)
		return command_fail(cli, &torch_command, "Which recording? sonde torch [options] FILE.sonde");
	if (parsed->word_count > 1)
		return command_fail(cli, &torch_command, "One recording at a time: '%s' is one too many", parsed->words[1]);
	if (fields->bottlenecks && fields->summary)
		return command_fail(cli, &torch_command, "Only one of --bottlenecks and --summary is supported at a time");
	signal(SIGPIPE, SIG_IGN);
	if (!open_report(cli, &torch_command, parsed->words[0], &opened, &status))
		return status;
	status = read_report(cli, fields, opened.path, parsed->words[0]);
	return close_report(&opened, status);
}

static int run_torch(struct cli *cli, int argc, char **argv)
{
	struct torch_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &torch_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer_torch_command(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const torch_examples[] = {
	"sonde torch trace.json.gz", "torch's table, those with the most GPU time first",
	"sonde torch --sort self_cuda_memory_usage --row-limit 10 run.sonde", "what allocates most on the GPU",
	"sonde torch --group-by-stack 3 --steps 5-7 run.sonde", "operators by the Python code that calls them, of three steps",
	"sonde torch --bottlenecks --threshold-ms 5 run.sonde", "everything that takes longer than 5 ms",
	NULL,
};
/* clang-format on */

const struct command torch_command = {
	.name = "torch",
	.summary = "Show operators of PyTorch as torch.profiler prints them",
	.synopsis = "[options] FILE.sonde|TRACE.json.gz",
	.description = "Prints what key_averages().table() prints, of a recording with PyTorch's operators or of a trace of "
		       "torch.profiler.",
	.examples = torch_examples,
	.options = &torch_options_table,
	.words = COMMAND_FILES,
	.run = run_torch,
};
