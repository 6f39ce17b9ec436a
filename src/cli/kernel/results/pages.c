/* Results of kernels, printed as the options say. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/system/output_path.h"
#include "cli/reports/confine_reader.h"
#include "cli/kernel/filter.h"
#include "cli/kernel/options.h"
#include "cli/kernel/output.h"
#include "cli/kernel/rename.h"
#include "cli/kernel/results/shown_sections.h"
#include "cli/kernel/instructions.h"
#include "cli/reports/open_report.h"
#include "fmt/record.h"
#include "kernel/results/derived.h"
#include "kernel/results/operators.h"
#include "kernel/pages/page.h"
#include "symbol/demangle.h"

/* What one report is printed with. */
struct printing {
	struct cli *cli;
	const struct kernel_fields *fields;
	struct kernel_texts texts;
	struct kernel_results results;
	struct page_options options;
	struct kernel_shown shown;
	struct opened_report before_opened;
	struct report *before_report;
	struct baseline baseline;
	struct typical *typical;
	bool reason_known; /* why there are no kernels */
};

#define STATUS_BEYOND 4 /* a threshold */
#define MOST_THRESHOLDS 64

static int print_page(struct printing *p)
{
	const struct kernel_fields *f = p->fields;
	FILE *out = p->cli->out;

	if (f->page == PAGE_SOURCE)
		return kernel_source_print(p->cli, f, &p->results, &p->options);
	if (f->summary != SUMMARY_NONE && f->page != PAGE_SESSION)
		return page_print_summary(out, &p->results, &p->options, (enum page_summary)f->summary,
					  f->json ? FORM_JSON :
					  f->csv  ? FORM_CSV :
						    FORM_TEXT);
	if (f->json)
		return page_write_json(out, &p->results, &p->options);
	if (f->page == PAGE_SESSION) {
		page_print_session(out, &p->results, f->csv);
		return 0;
	}
	if (f->csv)
		return f->page == PAGE_RAW ? page_write_raw_csv(out, &p->results, &p->options) :
					     page_write_details_csv(out, &p->results, &p->options);
	if (f->page == PAGE_RAW)
		return page_print_raw(out, &p->results, &p->options);
	if (p->results.count && p->cli->role != CLI_NCU)
		page_print_overview(out, &p->results, &p->options);
	page_print_baseline(out, &p->results, &p->options);
	return page_print_details(out, &p->results, &p->options);
}

static int write_pages_csv(struct printing *p, const char *path)
{
	struct page_options base = p->options;
	struct error err;
	FILE *file = output_log_open(path, &err);
	int r;

	if (!file) {
		command_fail(p->cli, &kernel_command, "%s", err.text);
		return -EIO;
	}
	base.base_units = true;
	r = page_write_raw_csv(file, &p->results, &base);
	if (fclose(file) != 0 && r >= 0)
		r = -errno;
	if (r < 0)
		command_fail(p->cli, &kernel_command, "%s cannot be written: %s", path, strerror(-r));
	return r;
}

static int seen_function(void *context, const int64_t *values, uint32_t present)
{
	struct printing *p = context;
	const char *name = present >> COLUMN_CUDA_FUNCTION_NAME & 1 ?
				   report_text(p->results.report, (uint64_t)values[COLUMN_CUDA_FUNCTION_NAME], NULL) :
				   NULL;
	const char *mangled = present >> COLUMN_CUDA_FUNCTION_MANGLED & 1 ?
				      report_text(p->results.report, (uint64_t)values[COLUMN_CUDA_FUNCTION_MANGLED], NULL) :
				      NULL;
	char *plain = mangled ? demangle_cuda(mangled) : NULL;

	if (plain || name)
		fprintf(kernel_reported(p->cli), "  %s\n", plain ? plain : name);
	free(plain);
	return 0;
}

/* What is known of a program that did not come to a launch. Warnings were printed when it ran. */
static int report_reason(void *context, const int64_t *values, uint32_t present)
{
	static const char no_cuda[] = "There is no CUDA data: the program did";
	struct printing *p = context;
	const char *text = present >> COLUMN_DIAGNOSTIC_TEXT & 1 ?
				   report_text(p->results.report, (uint64_t)values[COLUMN_DIAGNOSTIC_TEXT], NULL) :
				   NULL;

	bool is_reason = text && strncmp(text, no_cuda, strlen(no_cuda)) == 0;

	if (is_reason)
		fprintf(kernel_reported(p->cli), "==WARNING== The program did%s\n", text + strlen(no_cuda));
	p->reason_known |= is_reason || values[COLUMN_DIAGNOSTIC_SEVERITY] > DIAGNOSTIC_INFO;
	return 0;
}

/* CUDA was used, and nothing was launched where we looked. */
static const char *likely_reason(const struct kernel_fields *f)
{
	if (f->replay_mode >= REPLAY_RANGE)
		return "The program had no range to be read: cudaProfilerStart() and cudaProfilerStop() make one, or NVTX ranges that --nvtx-include names.";
	if (f->processes || f->process_filter.count)
		return "No process that --target-processes and --target-processes-filter leave launched a kernel.";
	return "The program used CUDA, and ended before it launched a kernel.";
}

static void report_none(struct printing *p)
{
	report_each_row(p->results.report, TABLE_DIAGNOSTIC, COLUMN_DIAGNOSTIC_TEXT + 1, report_reason, p);
	if (!p->reason_known && !p->fields->import && !report_row_count(p->results.report, TABLE_CUDA_FUNCTION))
		fprintf(kernel_reported(p->cli), "==WARNING== %s\n", likely_reason(p->fields));
	fprintf(kernel_reported(p->cli), "==WARNING== No kernels were profiled.\n");
	if (p->fields->import && !report_row_count(p->results.report, TABLE_KERNEL_RESULT))
		fprintf(kernel_reported(p->cli),
			"==WARNING== The report has no results of kernels: 'sonde kernel -o NAME PROGRAM' records them; 'sonde stats' shows what else "
			"there is.\n");
	if (!report_row_count(p->results.report, TABLE_CUDA_FUNCTION))
		return;
	fprintf(kernel_reported(p->cli), "==WARNING== Kernels that were launched:\n");
	report_each_row(p->results.report, TABLE_CUDA_FUNCTION, COLUMN_CUDA_FUNCTION_MANGLED + 1, seen_function, p);
}

/* False after an error was printed. */
static bool load_baseline(struct printing *p)
{
	struct kernel_results results;
	struct error err;
	int status;

	if (!p->fields->baseline)
		return true;
	if (!open_report(p->cli, &kernel_command, p->fields->baseline, &p->before_opened, &status))
		return false;
	if (open_whole(&p->before_report, p->before_opened.path, &err) < 0 || kernel_results_load(&results, p->before_report, &err) < 0) {
		command_fail(p->cli, &kernel_command, "%s", err.text);
		return false;
	}
	if (derive_values(&results) < 0 || baseline_begin(&p->baseline, &results) < 0) {
		kernel_results_release(&results);
		command_fail(p->cli, &kernel_command, "Not enough memory");
		return false;
	}
	p->options.baseline = &p->baseline;
	for (size_t i = 0; i < p->results.count; i++)
		if (!baseline_matches(&p->baseline, &p->results.items[i]))
			fprintf(p->cli->err, "==BASELINE== %s (%lld) is not in the baseline\n", p->results.items[i].function,
				(long long)p->results.items[i].number);
	return true;
}

/* How many; -1 after an error was printed. */
static int read_thresholds(struct cli *cli, const struct kernel_fields *fields, struct threshold *ret)
{
	const char *text = NULL;
	size_t at = 0;
	char piece[512];
	struct error err;
	int count = 0;

	while (next_piece(&fields->thresholds, &at, &text, piece, sizeof(piece))) {
		if (count == MOST_THRESHOLDS) {
			command_fail(cli, &kernel_command, "There are more than %d thresholds", MOST_THRESHOLDS);
			return -1;
		}
		if (threshold_parse(&ret[count++], piece, &err) < 0) {
			command_fail(cli, &kernel_command, "%s", err.text);
			return -1;
		}
	}
	return count;
}

bool kernel_check_baseline(struct cli *cli, const struct kernel_fields *fields)
{
	struct threshold thresholds[MOST_THRESHOLDS];
	int count = read_thresholds(cli, fields, thresholds);

	if (count > 0 && !fields->baseline)
		command_fail(cli, &kernel_command, "--threshold needs a --baseline");
	return count == 0 || (count > 0 && fields->baseline);
}

bool kernel_check_reports(struct cli *cli, const struct kernel_fields *fields)
{
	const char *const names[] = { fields->baseline, fields->operators };
	bool ok = true;

	for (size_t i = 0; i < COUNT_OF(names) && ok; i++) {
		struct opened_report opened;
		struct report *report;
		struct error err;
		int status;

		if (!names[i])
			continue;
		if (!open_report(cli, &kernel_command, names[i], &opened, &status))
			return false;
		ok = open_whole(&report, opened.path, &err) >= 0;
		if (ok)
			report_close(report);
		else
			command_fail(cli, &kernel_command, "%s", err.text);
		close_report(&opened, 0);
	}
	return ok;
}

/* The exit status. A threshold that is never looked at must not pass for one that holds. */
static int check_thresholds(struct printing *p)
{
	struct threshold thresholds[MOST_THRESHOLDS];
	int count = read_thresholds(p->cli, p->fields, thresholds), compared;

	for (int i = 0; i < count; i++) {
		compared = 0;
		for (size_t j = 0; j < p->results.count; j++)
			compared += isfinite(baseline_number(&p->baseline, &p->results.items[j], thresholds[i].metric)) &&
				    isfinite(result_number(&p->results.items[j], thresholds[i].metric));
		if (!compared)
			return command_fail(p->cli, &kernel_command, "No kernel has %s in both reports", thresholds[i].metric);
	}
	if (count <= 0)
		return count < 0;
	return baseline_check(p->cli->err, &p->results, &p->baseline, thresholds, (size_t)count) ? STATUS_BEYOND : 0;
}

/* False after an error was printed. */
static bool rename_kernels(struct printing *p)
{
	struct kernel_renames renames = KERNEL_RENAMES_INIT;
	bool ok = kernel_renames_export(p->cli, p->fields, &p->results) && kernel_renames_load(p->cli, p->fields, &renames);

	if (ok && kernel_renames_apply(&renames, &p->results) < 0) {
		command_fail(p->cli, &kernel_command, "Not enough memory");
		ok = false;
	}
	kernel_renames_release(&renames);
	return ok;
}

/* False after an error was printed. */
static bool load_operators(struct printing *p)
{
	struct opened_report opened;
	struct error err;
	int status, found;

	if (!p->fields->operators)
		return true;
	if (!open_report(p->cli, &kernel_command, p->fields->operators, &opened, &status))
		return false;
	found = operators_apply(&p->results, opened.path, &err);
	close_report(&opened, 0);
	if (found < 0)
		command_fail(p->cli, &kernel_command, "%s", err.text);
	else if (!found)
		command_fail(p->cli, &kernel_command, "--operators: %s has none of these kernels", p->fields->operators);
	return found > 0;
}

/* Summaries by ranges need some; false after an error was printed. */
static bool look_at_ranges(struct printing *p)
{
	static const char *const names[] = { "", "", "", "per-nvtx", "per-operator" };
	int by = p->fields->summary;

	if (by != SUMMARY_PER_NVTX && by != SUMMARY_PER_OPERATOR)
		return true;
	for (size_t i = 0; i < p->results.count; i++)
		if (p->results.items[i].range_count || (by == SUMMARY_PER_OPERATOR && p->results.items[i].operator))
			return true;
	command_fail(
		p->cli, &kernel_command, "--print-summary %s: no kernel of the report was launched in an NVTX range%s", names[by],
		by == SUMMARY_PER_OPERATOR ?
			": record with --nvtx and torch.autograd.profiler.emit_nvtx(), or name a trace of torch.profiler by --operators" :
		p->options.nvtx ? " of the program's" :
				  ": record with --nvtx");
	return false;
}

/* False after an error was printed. */
static bool select_shown_pages(struct printing *p)
{
	if (!kernel_shown_choose(&p->shown, p->cli, p->fields, &p->texts, &p->results))
		return false;
	p->options.selected = p->shown.sections;
	p->options.selected_count = p->shown.section_count;
	p->options.named = &p->shown.named;
	p->options.only_named = p->shown.only_metrics;
	return true;
}

static int print_results(struct printing *p, bool print, const char *csv_path)
{
	const struct kernel_fields *f = p->fields;
	int r = 0;

	p->options = (struct page_options){ .base_units = f->units == 1 || (f->csv && p->cli->role != CLI_NCU),
					    .all_real = f->all_real,
					    .rule_details = f->rule_details,
					    .details = (enum page_details)f->details,
					    .names = (enum page_names)f->metric_name,
					    .kernel_base = (enum page_kernel_base)f->kernel_base,
					    .instances = (enum page_instances)f->instances,
					    .sections = &p->texts.sections,
					    /* ncu's tables have no such columns. */
					    .variation = p->cli->role == CLI_NCU ? 0 : (double)f->variation };
	kernel_shown_read(&p->shown, p->results.report);
	if (!rename_kernels(p))
		return 1;
	if (f->import && kernel_filter_results(f, &p->results) < 0) {
		command_fail(p->cli, &kernel_command, "Not enough memory");
		return 1;
	}
	if (!p->results.count)
		report_none(p);
	p->options.nvtx = p->shown.is_recorded && kernel_filter_keeps_nvtx(&p->shown.recorded);
	for (size_t i = 0; i < p->results.count; i++)
		p->options.nvtx |= p->results.items[i].range_count > 0;
	p->options.nvtx_names = f->nvtx_rename == 1;
	if (derive_values(&p->results) < 0 || (kernel_says_yes(f->apply_rules) && apply_rules(&p->results, &p->texts.sections) < 0))
		r = -ENOMEM;
	if (r >= 0 && !select_shown_pages(p))
		return 1;
	kernel_keep_rules(f, &p->results);
	p->options.warm = results_have_warm(&p->results);
	if (r >= 0 && !load_operators(p))
		return 1;
	if (r >= 0 && !look_at_ranges(p))
		return 1;
	if (r >= 0 && !load_baseline(p))
		return 1;
	if (r >= 0 && p->options.variation > 0) {
		p->typical = find_typical(&p->results);
		p->options.typical = p->typical;
		r = p->typical ? 0 : -ENOMEM;
	}
	if (r >= 0 && print)
		r = print_page(p);
	if (r >= 0 && fflush(p->cli->out) != 0)
		r = -errno;
	if (r < 0)
		command_fail(p->cli, &kernel_command, "%s", strerror(-r));
	else if (csv_path)
		r = write_pages_csv(p, csv_path);
	return r < 0 ? 1 : check_thresholds(p);
}

static void release_page_printing(struct printing *p)
{
	free(p->typical);
	kernel_shown_release(&p->shown);
	baseline_release(&p->baseline);
	if (p->before_report)
		report_close(p->before_report);
	close_report(&p->before_opened, 0);
	kernel_results_release(&p->results);
	kernel_release_texts(&p->texts);
}

int kernel_print_pages(struct cli *cli, const struct kernel_fields *fields, const char *path, bool print, const char *csv_path)
{
	struct printing p = { .cli = cli, .fields = fields, .before_opened.file = -1 };
	struct report *report;
	struct error err;
	int status = 1;

	if (open_whole(&report, path, &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	if (!kernel_load_texts(cli, fields, &p.texts)) {
		report_close(report);
		return 1;
	}
	if (kernel_results_load(&p.results, report, &err) < 0)
		command_fail(cli, &kernel_command, "%s", err.text);
	else
		status = print_results(&p, print, csv_path);
	release_page_printing(&p);
	report_close(report);
	return status;
}

/* Tables and lists of names are written where options say. */
static void confine_show(const struct cli *cli, const struct kernel_fields *f, const char *csv_path)
{
	struct confinement c = { 0 };

	confine_reader_of_code(&c);
	if (csv_path)
		confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, csv_path);
	if (kernel_says_yes(f->rename_export))
		confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, f->rename_path ? f->rename_path : "./.");
	confine_command(cli, &c);
}

int kernel_show(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed)
{
	struct opened_report opened;
	struct kernel_filter filter;
	char csv_path[PATH_MAX];
	struct error err;
	bool filters;
	int status;

	if (!*fields->import)
		return command_fail(cli, &kernel_command, "-i does not name a report");
	if (parsed->word_count)
		return command_fail(cli, &kernel_command, "'%s': unexpected argument; -i reads a report and runs no program",
				    parsed->words[0]);
	filters = kernel_filter_make(cli, fields, &filter);
	kernel_filter_release(&filter);
	if (!filters || !kernel_check_baseline(cli, fields) || !kernel_check_rules(cli, fields))
		return 1;
	if (fields->output && !fields->csv)
		return kernel_copy(cli, fields);
	if (fields->output && kernel_output_path(fields->output, ".csv", fields->overwrite, csv_path, sizeof(csv_path), &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	if (!open_report(cli, &kernel_command, fields->import, &opened, &status))
		return status;
	confine_show(cli, fields, fields->output ? csv_path : NULL);
	status = kernel_print_pages(cli, fields, opened.path, !fields->output, fields->output ? csv_path : NULL);
	return close_report(&opened, status);
}
