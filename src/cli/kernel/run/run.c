#include "cli/kernel/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "cli/kernel/options.h"
#include "cli/kernel/output.h"
#include "cli/kernel/instructions.h"
#include "cli/kernel/run/progress.h"
#include "cli/profile/setup.h"
#include "record/kernel_choice.h"

#define STUCK_AFTER 20 /* seconds that a pass may take before that is told */
#define TEMPORARY "/sonde-kernel-XXXXXX"

extern const struct command profile_command;

/* A private file; the name is the caller's to free, the file to remove. */
static char *make_request(const struct kernel_run *run, const char *code)
{
	const char *folder = getenv("TMPDIR");
	struct kernel_request request = run->request;
	char *path = NULL;
	FILE *file;
	int fd, r;

	if (run->source)
		kernel_source_ask(&request, run->source, code);
	if (asprintf(&path, "%s" TEMPORARY, folder && *folder == '/' ? folder : "/tmp") < 0)
		return NULL;
	fd = mkostemp(path, O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file) {
		r = kernel_request_write(file, &request);
		if (fclose(file) == 0 && r == 0)
			return path;
		errno = r < 0 ? -r : errno;
		unlink(path);
	}
	free(path);
	return NULL;
}

/* The variable of the program, with what it has already; NULL: nothing is asked for. */
static char *preload_word(const char *library)
{
	const char *own = getenv("LD_PRELOAD");
	char *word;

	if (!library || asprintf(&word, "--env-var=LD_PRELOAD=%s%s%s", library, own && *own ? ":" : "", own ? own : "") < 0)
		return NULL;
	return word;
}

/* Options of 'sonde profile' that record nothing but this. */
static char **profile_words(const struct kernel_run *run, char *preload, size_t *count)
{
	static const char *const fixed[] = { "--trace=none", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true", "--output" };
	size_t first = COUNT_OF(fixed);
	char **words = calloc(first + run->argc + 4, sizeof(*words));

	if (!words)
		return NULL;
	for (size_t i = 0; i < first; i++)
		words[i] = (char *)fixed[i];
	words[first++] = (char *)run->output;
	if (preload)
		words[first++] = preload;
	if (run->request.application_folder && !run->request.application_is_last)
		words[first++] = (char *)"--show-output=false";
	for (size_t i = 0; i < run->argc; i++)
		words[first + i] = run->argv[i];
	*count = first + run->argc;
	return words;
}

/* A program that was ended because all was read, as --kill asks for, has not failed. */
static int report_end(struct cli *cli, const struct kernel_run *run, const struct progress *progress, int status)
{
	if (run->request.kill && progress->read && status == 128 + SIGTERM) {
		if (!run->quiet)
			fprintf(kernel_reported(cli), "==PROF== The program was ended after the last requested launch (--kill).\n");
		return 0;
	}
	if (status > 128)
		fprintf(kernel_reported(cli), "==ERROR== The program was ended by signal %d.\n", status - 128);
	return status;
}

static int record_kernels(struct cli *cli, const struct kernel_run *run, const struct kernel_choice *choice, struct progress *progress,
			  int argc, char **argv, struct record_result *result)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	struct profile_setup setup = { .style = OUTPUT_SONDE };
	struct profile_fields fields = { 0 };
	struct error err = { "" };
	int status = 1;

	if (!command_parse(cli, &profile_command, argc, argv, &fields, &parsed, &status))
		return status;
	setup.options.command_line = cli->command_line;
	if (profile_setup_fill(&setup, &fields, &parsed, parsed.words, &err) == 0) {
		setup.options.store_environment = run->store;
		setup.options.kernels = choice;
		setup.options.progress_fd = progress->fd;
		setup.options.kernel_progress = kernel_on_progress;
		setup.options.progress_listener = progress;
		record_run(&setup.options, result, &err);
		kernel_on_progress(progress);
		fputs(result->notes, kernel_reported(cli));
		status = report_end(cli, run, progress, result->started ? result->exit_status : 1);
	}
	if (err.text[0])
		status = command_fail(cli, &kernel_command, "%s", err.text);
	profile_setup_release(&setup);
	options_release(&parsed);
	return status;
}

int kernel_run(struct cli *cli, const struct kernel_run *run, struct record_result *result)
{
	struct kernel_choice choice = { .metrics = run->metrics,
					.units = run->units,
					.count = run->metric_count,
					.asked = run->asked,
					.clocks = run->clocks,
					.nvtx = run->nvtx,
					.nvtx_process = run->nvtx_process,
					.gpus = run->gpus,
					.gpu_count = run->gpu_count };
	struct progress progress = { .cli = cli,
				     .quiet = run->quiet,
				     .at_once = !run->quiet && isatty(fileno(kernel_reported(cli))),
				     .timeout = run->replay_timeout };
	char code[PATH_MAX] = "", *request, *preload = preload_word(run->preload), **words;
	struct error ignored;
	int ends[2] = { -1, -1 }, status = 1;
	size_t count = 0;

	/* Without a folder the report has no code; all else is there. */
	if (run->source && kernel_source_needs_code(run->source) && kernel_output_folder(code, sizeof(code), &ignored) < 0)
		code[0] = '\0';
	choice.code = code[0] ? code : NULL;
	request = make_request(run, choice.code);
	words = profile_words(run, preload, &count);
	if (!request || !words || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		command_fail(cli, &kernel_command, "Not started: %s", strerror(errno));
	} else {
		choice.request = request;
		choice.progress = ends[1];
		progress.fd = ends[0];
		choice.stuck_after = run->replay_timeout && run->replay_timeout < STUCK_AFTER ? run->replay_timeout : STUCK_AFTER;
		status = record_kernels(cli, run, &choice, &progress, (int)count, words, result);
		/* Counters were asked for, and none could be read. */
		if (!status && progress.failed && !progress.read)
			status = 1;
	}
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	if (request)
		unlink(request);
	if (code[0])
		kernel_output_remove(code);
	free(request);
	free(preload);
	free(words);
	return status;
}
