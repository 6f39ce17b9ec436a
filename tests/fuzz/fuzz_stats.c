/* Any report under named reports (share/sql), which the first bytes choose with their options, formats and filters. */
#include "fuzz_file.h"
#include "stats/stats.h"

/* tools/fuzz runs in the top folder; a replay is told. */
#ifndef REPORTS_FOLDER
#define REPORTS_FOLDER "share/sql"
#endif

static const char *const formats[] = { "column", "table", "csv", "tsv", "json", "hdoc", "htable", "column:nohdr:20:.:0", "csv:time=usec" };
/* clang-format off */
static const struct scope_request scopes[] = {
	{ 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { .time = "100/5000" }, { .time = "1us/" }, { .nvtx = "*" }, { .nvtx = "step*@*/0,2-4" }, { .steps = "0-5" },
};
/* clang-format on */

static const struct report_files *all_reports(void)
{
	static const char *const folder = REPORTS_FOLDER;
	static struct report_files files;
	struct error err;

	if (!files.count && (report_files_load(&files, &folder, 1, &err) < 0 || !files.count))
		abort();
	return &files;
}

/* NAME, or NAME:OPTION. */
static void name_report(unsigned choice, unsigned option, char *ret, size_t size)
{
	const struct report_files *all = all_reports();
	const struct report_file *file = &all->files[choice % all->count];

	if (option % 2 && file->option_count) {
		const struct report_option *o = &file->options[option / 2 % file->option_count];

		snprintf(ret, size, "%s:%s%s%s", file->name, o->name, o->initial ? "=" : "", o->initial ? option % 3 ? "1" : "-1" : "");
	} else {
		snprintf(ret, size, "%s", file->name);
	}
}

static void run(const struct fuzz_file *file, FILE *nowhere)
{
	static const char *const folder = REPORTS_FOLDER;
	const char *format = formats[file->choices[1] % (sizeof(formats) / sizeof(formats[0]))], *names[3];
	char texts[3][128];
	/* clang-format off */
	struct stats_options options = {
		.reports = names, .report_count = 3, .formats = &format, .format_count = 1, .folders = &folder, .folder_count = 1,
		.scope = scopes[file->choices[0] % (sizeof(scopes) / sizeof(scopes[0]))],
	};
	/* clang-format on */
	struct error err;

	for (unsigned i = 0; i < 3; i++) {
		name_report(file->choices[2 + 2 * i], file->choices[3 + 2 * i % 5], texts[i], sizeof(texts[i]));
		names[i] = texts[i];
	}
	stats_run(&options, file->path, nowhere, nowhere, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct fuzz_file file;

	nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
	if (!nowhere || !fuzz_file_open(&file, data, size))
		return 0;
	run(&file, nowhere);
	fuzz_file_close(&file);
	return 0;
}
