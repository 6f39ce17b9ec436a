/* nvprof, and `nsys nvprof`: its options become those of `profile`, its printing that of `stats`. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/system/output_path.h"
#include "cli/command.h"
#include "cli/links/nsys_link.h"
#include "cli/links/nvprof_table.h"
#include "cli/reports/open_report.h"
#include "cli/arguments/output_name.h"
#include "cli/profile/after_recording.h"
#include "cli/arguments/string_list.h"

extern const struct command nvprof_command;

static int add_profile_word(struct string_list *list, const char *text)
{
	return string_list_add(list, text, strlen(text));
}

static int add_trace(struct string_list *words, const struct nvprof_fields *fields)
{
	return string_list_addf(words, "--trace=cuda,nvtx%s%s%s", fields->cpu_threads == NVPROF_ON ? ",osrt" : "",
				fields->mpi != NVPROF_MPI_OFF ? ",mpi" : "", fields->openacc == NVPROF_ON ? ",openacc" : "");
}

/* The words of the `profile` command that does the same. `nsys nvprof` leaves an SQLite file beside the report. */
static int make_profile_words(struct string_list *words, const struct nvprof_fields *fields, bool export, char *const *program)
{
	TRY(add_trace(words, fields));
	if (fields->cpu_profiling != NVPROF_ON)
		TRY(add_profile_word(words, "--sample=none") < 0 ? -ENOMEM : add_profile_word(words, "--cpuctxsw=none"));
	if (fields->from_start == NVPROF_OFF)
		TRY(add_profile_word(words, "--capture-range=cudaProfilerApi") < 0 ? -ENOMEM :
										     add_profile_word(words, "--capture-range-end=repeat"));
	if (fields->timeout_ns)
		TRY(string_list_addf(words, "--duration=%.9f", (double)fields->timeout_ns / 1e9));
	if (fields->allocations == NVPROF_ON)
		TRY(add_profile_word(words, "--cuda-memory-usage=true"));
	if (export)
		TRY(add_profile_word(words, "--export=sqlite"));
	if (fields->output)
		TRY(string_list_addf(words, "--output=%s", fields->output));
	if (fields->overwrite)
		TRY(add_profile_word(words, "--force-overwrite=true"));
	TRY(add_profile_word(words, "--"));
	for (; *program; program++)
		TRY(add_profile_word(words, *program));
	return 0;
}

static const char *time_unit(const char *unit)
{
	static const char *const pairs[][2] = { { "s", "seconds" }, { "ms", "msec" }, { "us", "usec" }, { "ns", "nsec" } };

	for (size_t i = 0; i < COUNT_OF(pairs); i++)
		if (strcmp(unit, pairs[i][0]) == 0)
			return pairs[i][1];
	return NULL;
}

/* Summaries are the default, unless a trace is asked for. */
static int add_reports(struct string_list *words, const struct nvprof_fields *fields)
{
	const char *mangled = fields->demangling == NVPROF_OFF ? ":mangled" : "";
	bool gpu = fields->gpu_summary || fields->gpu_summary_each || fields->summary;
	bool api = fields->api_summary || fields->summary;
	int r = 0;

	if (!gpu && !api && !fields->gpu_trace && !fields->api_trace)
		gpu = api = true;
	if (gpu)
		r = string_list_addf(words, "--report=cuda_gpu_sum%s", mangled);
	if (r >= 0 && api)
		r = add_profile_word(words, "--report=cuda_api_sum");
	if (r >= 0 && fields->gpu_trace)
		r = string_list_addf(words, "--report=cuda_gpu_trace%s", mangled);
	if (r >= 0 && fields->api_trace)
		r = add_profile_word(words, "--report=cuda_api_trace");
	return r;
}

static int make_stats_words(struct string_list *words, const struct nvprof_fields *fields, const char *report)
{
	TRY(add_reports(words, fields));
	if (fields->csv)
		TRY(add_profile_word(words, "--format=csv"));
	if (time_unit(fields->unit))
		TRY(string_list_addf(words, "--timeunit=%s", time_unit(fields->unit)));
	return add_profile_word(words, report);
}

/* nvprof prints to standard error, `nsys nvprof` to standard output. NULL: a file is named. */
static FILE *log_stream(const struct cli *cli, const char *log_file)
{
	if (!log_file)
		return cli->role == CLI_NVPROF ? cli->err : cli->out;
	if (strcmp(log_file, "%1") == 0)
		return cli->out;
	return strcmp(log_file, "%2") == 0 ? cli->err : NULL;
}

/* The file's name, if tables can go there: a report that is there stays. */
static int log_path(struct cli *cli, const char *log_file, char *ret, size_t size)
{
	struct error err = { "" };
	struct output_path place;
	char *folder, *slash;
	int writable;

	if (output_name_expand(log_file, getpid(), ret, size, &err) < 0)
		return command_fail(cli, &nvprof_command, "--log-file: %s", err.text);
	if (is_report_file(ret))
		return command_fail(cli, &nvprof_command, "--log-file: '%s' is a report; name another file.", ret);
	if (output_path_find(&place, ret, &err) < 0)
		return command_fail(cli, &nvprof_command, "--log-file: %s.", err.text);
	output_path_release(&place);
	folder = strdup(ret);
	slash = folder ? strrchr(folder, '/') : NULL;
	if (slash)
		slash[slash == folder] = '\0';
	writable = access(access(ret, F_OK) == 0 ? ret : slash ? folder : ".", W_OK);
	free(folder);
	return writable < 0 ? command_fail(cli, &nvprof_command, "--log-file: '%s' cannot be written: %s.", ret, strerror(errno)) : 0;
}

static FILE *open_log(struct cli *cli, const char *log_file)
{
	FILE *file = log_stream(cli, log_file);
	char path[PATH_MAX];
	struct error err;

	if (file || log_path(cli, log_file, path, sizeof(path)))
		return file;
	file = output_log_open(path, &err);
	if (!file)
		command_fail(cli, &nvprof_command, "--log-file: %s.", err.text);
	return file;
}

static void close_log(struct cli *cli, FILE *log)
{
	fflush(log);
	if (log != cli->out && log != cli->err)
		fclose(log);
}

static int print_tables(struct cli *cli, const struct nvprof_fields *fields, const char *report)
{
	struct string_list words = STRING_LIST_INIT;
	struct cli inner = *cli;
	int status = 1;

	inner.role = CLI_SONDE;
	inner.out = open_log(cli, fields->log_file);
	if (!inner.out)
		return 1;
	if (cli->role == CLI_NVPROF)
		fprintf(inner.out, "==%d== Profiling result:\n", (int)getpid());
	if (make_stats_words(&words, fields, report) < 0)
		command_fail(cli, &nvprof_command, "Out of memory.");
	else
		status = command_find("stats")->run(&inner, (int)words.count, words.items);
	string_list_release(&words);
	close_log(cli, inner.out);
	return status;
}

static bool tables_wanted(const struct cli *cli, const struct nvprof_fields *fields)
{
	if (fields->quiet)
		return false;
	return cli->role != CLI_NVPROF || !fields->output || fields->summary || fields->gpu_summary || fields->api_summary ||
	       fields->gpu_summary_each || fields->gpu_trace || fields->api_trace;
}

static int print_after(struct cli *cli, const struct nvprof_fields *fields, const struct record_result *result)
{
	if (cli->role == CLI_NVPROF && fields->output)
		fprintf(cli->err, "==%d== Generated result file: %s\n", (int)getpid(), result->path);
	return tables_wanted(cli, fields) ? print_tables(cli, fields, result->path) : 0;
}

static int record_nvprof(struct cli *cli, const struct nvprof_fields *fields, char *const *program)
{
	struct record_result *result = calloc(1, sizeof(*result));
	struct string_list words = STRING_LIST_INIT;
	struct cli inner = *cli;
	int status = 1;

	/* Standard output belongs to the program alone. */
	if (cli->role == CLI_NVPROF)
		inner.out = cli->err;
	if (!result || make_profile_words(&words, fields, cli->role == CLI_NSYS, program) < 0) {
		command_fail(cli, &nvprof_command, "Out of memory.");
	} else {
		status = profile_run(&inner, (int)words.count, words.items, result);
		if (result->finished && print_after(cli, fields, result) && !status)
			status = 1;
	}
	string_list_release(&words);
	free(result);
	return status;
}

static void print_notes(struct cli *cli, const struct options_parsed *parsed)
{
	const struct option_use *use;
	bool counters = false;
	size_t i;

	for (i = 0; i < parsed->use_count; i++) {
		use = &parsed->uses[i];
		if (option_use_is_off(use))
			continue;
		if (use->spec->state == OPTION_PLANNED)
			command_fail(cli, &nvprof_command, "--%s is not supported yet; ignored", use->spec->name);
		counters |= use->spec->state == OPTION_ELSEWHERE;
	}
	if (counters)
		command_fail(cli, &nvprof_command, "Hardware counters of kernels are not supported by nvprof; ignored. 'ncu' reads them");
}

static int answer_nvprof_command(struct cli *cli, const struct nvprof_fields *fields, const struct options_parsed *parsed)
{
	char path[PATH_MAX];

	if (fields->version) {
		nsys_print_version(cli);
		return 0;
	}
	if (fields->query)
		return command_fail(cli, &nvprof_command,
				    "Hardware counters of kernels are not supported by nvprof; 'ncu --query-metrics' lists them");
	if (fields->input)
		return print_tables(cli, fields, fields->input);
	if (!parsed->word_count)
		return command_fail(cli, &nvprof_command, "No program given: nvprof [options] program [arguments].");
	if (tables_wanted(cli, fields) && !log_stream(cli, fields->log_file) && log_path(cli, fields->log_file, path, sizeof(path)))
		return 1;
	print_notes(cli, parsed);
	fflush(cli->err);
	return record_nvprof(cli, fields, parsed->words);
}

static int run_nvprof(struct cli *cli, int argc, char **argv)
{
	struct nvprof_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &nvprof_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer_nvprof_command(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

static const char *const nvprof_examples[] = {
	"sonde nvprof ./app",
	"record CUDA and print its summaries",
	"sonde nvprof --print-gpu-trace --csv --log-file trace.csv ./app",
	"write every kernel and copy to a file",
	NULL,
};

const struct command nvprof_command = {
	.name = "nvprof",
	.summary = "Record a CUDA program with the options of nvprof",
	.synopsis = "[options] program [arguments]",
	.description = "Takes the options of nvprof, records CUDA and NVTX as 'sonde profile' does, and prints tables as "
		       "'sonde stats' does.",
	.examples = nvprof_examples,
	.options = &nvprof_option_table,
	.words = COMMAND_PROGRAM,
	.run = run_nvprof,
};
