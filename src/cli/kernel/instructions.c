#include "cli/kernel/instructions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "kernel/pages/source.h"

static bool has_metric_prefix(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

#define LEAST_SERIES_INTERVAL 1000 /* the hardware samples no faster */

bool kernel_source_begin(struct cli *cli, const struct kernel_fields *fields, struct kernel_source_run *ret)
{
	const char *text = fields->sampling_interval;
	char *end;
	long interval = strtol(text, &end, 10);

	*ret = (struct kernel_source_run){ .sampling_interval = -1,
					   .sampling_buffer = (uint64_t)fields->sampling_buffer,
					   .sampling_passes = (int)fields->sampling_passes,
					   .series = STRING_LIST_INIT,
					   .no_warp_states = fields->no_warp_states,
					   .series_interval = (uint64_t)fields->series_interval,
					   .series_buffer = (uint64_t)fields->series_buffer,
					   .series_passes = (uint64_t)fields->series_passes };
	if (fields->series_interval && fields->series_interval < LEAST_SERIES_INTERVAL) {
		command_fail(cli, &kernel_command, "--pm-sampling-interval %lld: 0, or %d ns and more", (long long)fields->series_interval,
			     LEAST_SERIES_INTERVAL);
		return false;
	}
	if (strcmp(text, "auto") == 0)
		return true;
	if (*end || end == text || interval < 0 || interval > 31) {
		command_fail(cli, &kernel_command, "--warp-sampling-interval '%s': auto, or 0 to 31", text);
		return false;
	}
	ret->sampling_interval = (int)interval;
	return true;
}

void kernel_source_end(struct kernel_source_run *source)
{
	string_list_release(&source->series);
}

enum kind { NOT_SOURCE, SAMPLED, COUNTED, OVER_TIME };

/* By their names. */
static enum kind find_metric_kind(const char *metric)
{
	static const char *const counted[] = {
		"inst_executed", "thread_inst_executed", "thread_inst_executed_true", "memory_", "smsp__branch_targets_threads_divergent",
		"sass__"
	};

	if (has_metric_prefix(metric, "pmsampling:"))
		return OVER_TIME;
	if (has_metric_prefix(metric, "smsp__pcsamp_") || has_metric_prefix(metric, "group:smsp__pcsamp_"))
		return SAMPLED;
	for (size_t i = 0; i < COUNT_OF(counted); i++) {
		size_t len = strlen(counted[i]);

		if (has_metric_prefix(metric, counted[i]) && (counted[i][len - 1] == '_' || !metric[len]))
			return COUNTED;
	}
	return NOT_SOURCE;
}

/* pmsampling:NAME, without the first word. */
static int add_series(struct kernel_source_run *source, const char *metric)
{
	if (source->no_warp_states && strstr(metric, "warps_issue_stalled"))
		return 0;
	return string_list_addf(&source->series, "%s", metric) < 0 ? -ENOMEM : 0;
}

bool kernel_source_is(const char *metric)
{
	return find_metric_kind(metric) != NOT_SOURCE;
}

int kernel_source_take(struct kernel_source_run *source, const char *metric)
{
	enum kind kind = find_metric_kind(metric);

	if (kind == OVER_TIME)
		return add_series(source, metric + strlen("pmsampling:"));
	source->sampling |= kind == SAMPLED;
	source->sass |= kind == COUNTED;
	return 0;
}

int kernel_source_take_selected(struct kernel_source_run *source, const struct choice *choice)
{
	int r = 0;

	for (size_t i = 0; i < choice->count && r >= 0; i++) {
		const struct selected_metric *m = &choice->metrics[i];

		if (m->origin == METRIC_SAMPLED)
			r = add_series(source, m->name);
		else if (m->origin == METRIC_OWN)
			r = kernel_source_take(source, m->name);
	}
	return r < 0 ? -ENOMEM : 0;
}

bool kernel_source_needs_code(const struct kernel_source_run *source)
{
	return source->sampling || source->sass;
}

void kernel_source_ask(struct kernel_request *ret, const struct kernel_source_run *s, const char *code)
{
	ret->sampling = s->sampling;
	ret->sampling_interval = s->sampling_interval;
	ret->sampling_buffer = s->sampling_buffer;
	ret->sampling_passes = s->sampling_passes;
	ret->sass = s->sass;
	ret->series = (struct kernel_request_list){ (const char *const *)s->series.items, s->series.count };
	ret->series_interval = s->series_interval;
	ret->series_buffer = s->series_buffer;
	ret->series_passes = s->series_passes;
	ret->code = code;
}

static int read_files(const struct kernel_fields *fields, struct source_book *book)
{
	struct string_list folders = STRING_LIST_INIT, files = STRING_LIST_INIT;
	int r = kernel_split(&fields->source_folders, &folders);

	if (r >= 0)
		r = kernel_split(&fields->source_files, &files);
	if (r >= 0)
		r = source_book_read_files(book, &(struct source_search){ .files = (const char *const *)files.items,
									  .file_count = files.count,
									  .folders = (const char *const *)folders.items,
									  .folder_count = folders.count });
	string_list_release(&folders);
	string_list_release(&files);
	return r;
}

/* A book with all texts that the page needs; false after an error was printed. */
static bool load_page_book(struct cli *cli, const struct kernel_fields *fields, struct report *report, struct source_book *ret)
{
	struct error err = { "" };
	char note[512];
	int r = source_book_load(ret, report, note, sizeof(note), &err);

	if (r < 0) {
		command_fail(cli, &kernel_command, "%s", err.text);
		return false;
	}
	/* Of what was just recorded it was told then. */
	if (note[0] && fields->import)
		fprintf(kernel_reported(cli), "==WARNING== %s.\n", note);
	r = read_files(fields, ret);
	if (r >= 0 && fields->print_source == SOURCE_PTX)
		r = source_book_read_ptx(ret);
	if (r >= 0)
		return true;
	source_book_release(ret);
	command_fail(cli, &kernel_command, "Not enough memory");
	return false;
}

static void report_what_is_missing(struct cli *cli, const struct kernel_fields *fields, const struct source_book *book,
				   enum source_view view)
{
	if (!book->count_count)
		fprintf(kernel_reported(cli),
			"==WARNING== The report has no counts of instructions: --set source, or --section SourceCounters, records them.\n");
	else if (view == SOURCE_PTX && !source_book_has_ptx(book))
		fprintf(kernel_reported(cli),
			"==WARNING== The program has no PTX with its code: the compiler keeps it there with -lineinfo (nvcc, ptxas, "
			"CU_JIT_GENERATE_LINE_INFO).\n");
	else if (view != SOURCE_SASS && fields->import && !source_book_has_lines(book))
		fprintf(kernel_reported(cli),
			"==WARNING== The program was compiled without -lineinfo: instructions have no source lines.\n");
}

int kernel_source_print(struct cli *cli, const struct kernel_fields *fields, const struct kernel_results *results,
			const struct page_options *options)
{
	struct source_options source = { .view = (enum source_view)fields->print_source,
					 .format = fields->json ? SOURCE_JSON :
						   fields->csv  ? SOURCE_CSV :
								  SOURCE_TEXT,
					 .only_ncu = cli->role == CLI_NCU,
					 .outermost = fields->print_inlined };
	struct source_book book, before = { 0 };
	int r;

	if (!load_page_book(cli, fields, results->report, &book))
		return -EINVAL;
	if (options->baseline && !load_page_book(cli, fields, options->baseline->results.report, &before)) {
		source_book_release(&book);
		return -EINVAL;
	}
	report_what_is_missing(cli, fields, &book, source.view);
	if (options->baseline)
		source.before = &before;
	r = page_print_source(cli->out, results, options, &book, &source);
	source_book_release(&before);
	source_book_release(&book);
	return r;
}

/* What fails here is no reason to give up a recording: it can be made up for when the report is shown. */
void kernel_source_complete(struct cli *cli, const struct kernel_fields *fields, const char *path)
{
	bool files = kernel_says_yes(fields->import_source), facts = kernel_says_yes(fields->import_sass);
	struct source_book book;
	struct report *report;
	struct error err = { "" };
	char note[512];

	if (report_open(&report, path, &err) < 0)
		return;
	if (report_row_count(report, TABLE_KERNEL_SOURCE) && source_book_load(&book, report, note, sizeof(note), &err) == 0) {
		if (note[0])
			fprintf(kernel_reported(cli), "==WARNING== %s.\n", note);
		if (book.fact_count && !source_book_has_lines(&book))
			fprintf(kernel_reported(cli),
				"==WARNING== The program was compiled without -lineinfo: instructions have no source lines.\n");
		if ((files && read_files(fields, &book) < 0) ||
		    ((files || facts) && book.fact_count && source_book_store(&book, report, path, facts, files, &err) < 0))
			fprintf(kernel_reported(cli), "==WARNING== Instructions are not kept in the report: %s.\n",
				err.text[0] ? err.text : "not enough memory");
		source_book_release(&book);
	}
	report_close(report);
}
