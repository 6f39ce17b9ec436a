#include "cli/kernel_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/kernel_options.h"
#include "cli/kernel_output.h"
#include "cli/kernel_source.h"
#include "cli/profile_setup.h"
#include "fmt/kernel_wire.h"
#include "record/kernel_choice.h"

#define PROFILING "==PROF== Profiling \"%s\" - %u: 0%%"
#define TEMPORARY "/sonde-kernel-XXXXXX"

extern const struct command profile_command;

/* Of several processes. */
#define MOST_UNDER_WAY 16

struct progress {
	struct cli *cli;
	bool quiet;
	int fd;
	bool at_once;                 /* people watch: a line begins when its kernel does, not when that was read */
	uint32_t begun;
	struct kernel_progress under_way[MOST_UNDER_WAY]; /* by number */
	uint32_t read;
	uint32_t failed;
};

static void show(struct progress *p, const struct kernel_progress *step)
{
	FILE *err = kernel_told(p->cli);

	if (step->state == KERNEL_FAILED) {
		p->failed++;
		fprintf(err, "%s==ERROR== %s.\n", p->at_once ? "\n" : "", step->text);
	} else if (p->quiet) {
		return;
	} else if (step->state == KERNEL_CONNECTED) {
		fprintf(err, "==PROF== Connected to process %u (%s)\n", step->number, step->text);
	} else if (step->state == KERNEL_DISCONNECTED) {
		fprintf(err, "==PROF== Disconnected from process %u\n", step->number);
	} else if (step->state == KERNEL_BEGUN) {
		p->begun++;
		p->under_way[step->number % MOST_UNDER_WAY] = *step;
		if (p->at_once)
			fprintf(err, PROFILING, step->text, step->number);
	} else {
		p->read++;
		if (!p->at_once)
			fprintf(err, PROFILING, p->under_way[step->number % MOST_UNDER_WAY].text, step->number);
		fprintf(err, "....50%%....100%% - %u pass%s\n", step->passes, step->passes == 1 ? "" : "es");
	}
	fflush(err);
}

static int on_progress(void *listener)
{
	struct progress *p = listener;
	struct kernel_progress step;
	ssize_t got;

	while ((got = read(p->fd, &step, sizeof(step))) == (ssize_t)sizeof(step)) {
		step.text[sizeof(step.text) - 1] = '\0';
		show(p, &step);
	}
	return got == 0 ? -1 : 0;
}

static void write_config(FILE *file, const struct kernel_run_part *part)
{
	fprintf(file, "passes %zu\nconfig ", part->passes);
	for (size_t i = 0; i < part->config_size; i++)
		fprintf(file, "%02x", part->config[i]);
	fputc('\n', file);
}

static void write_parts(FILE *file, const struct kernel_run *run)
{
	uint32_t next = 0;

	for (const struct kernel_run_part *part = run->parts; part < run->parts + run->part_count; part++) {
		fprintf(file, "part %u\n", part->metric_count);
		for (uint32_t i = 0; i < part->metric_count; i++)
			fprintf(file, "metric %s\n", run->metrics[next++]);
		for (uint32_t i = 0; i < part->schedule_count; i++)
			fprintf(file, "schedule %s\n", part->schedule[i]);
		if (part->config)
			write_config(file, part);
	}
}

/* Agents read it: one line for each thing that is asked for. */
static void write_request(FILE *file, const struct kernel_run *run, const char *code)
{
	if (run->chip)
		fprintf(file, "chip %s\n", run->chip);
	write_parts(file, run);
	fputs(run->filters, file);
	fprintf(file, "flush %d\nkill %d\n", run->flush_caches, run->kill);
	if (run->warm)
		fputs("warm 1\n", file);
	if (run->one.folder)
		fprintf(file, "application %u %zu %d %s\n", run->one.part, run->one.pass, run->one.is_last, run->one.folder);
	if (run->source)
		kernel_source_write(file, run->source, code);
}

/* A private file; the name is the caller's to free, the file to remove. */
static char *make_request(const struct kernel_run *run, const char *code)
{
	const char *folder = getenv("TMPDIR");
	char *path = NULL;
	FILE *file;
	int fd;

	if (asprintf(&path, "%s" TEMPORARY, folder && *folder == '/' ? folder : "/tmp") < 0)
		return NULL;
	fd = mkostemp(path, O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file) {
		write_request(file, run, code);
		if (fclose(file) == 0)
			return path;
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
	size_t first = sizeof(fixed) / sizeof(fixed[0]);
	char **words = calloc(first + run->argc + 4, sizeof(*words));

	if (!words)
		return NULL;
	for (size_t i = 0; i < first; i++)
		words[i] = (char *)fixed[i];
	words[first++] = (char *)run->output;
	if (preload)
		words[first++] = preload;
	if (run->one.folder && !run->one.is_last)
		words[first++] = (char *)"--show-output=false";
	for (size_t i = 0; i < run->argc; i++)
		words[first + i] = run->argv[i];
	*count = first + run->argc;
	return words;
}

static int record_kernels(struct cli *cli, const struct kernel_choice *choice, struct progress *progress, int argc, char **argv,
			  struct record_result *result)
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
		setup.options.kernels = choice;
		setup.options.progress_fd = progress->fd;
		setup.options.kernel_progress = on_progress;
		setup.options.progress_listener = progress;
		record_run(&setup.options, result, &err);
		on_progress(progress);
		fputs(result->notes, kernel_told(cli));
		status = result->started ? result->exit_status : 1;
		if (status > 128)
			fprintf(kernel_told(cli), "==ERROR== The program was ended by signal %d.\n", status - 128);
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
					.nvtx = run->nvtx,
					.nvtx_process = run->nvtx_process };
	struct progress progress = { .cli = cli, .quiet = run->quiet, .at_once = !run->quiet && isatty(fileno(kernel_told(cli))) };
	struct kernel_gpu_links *links = run->links ? kernel_links_read(&choice.gpu_count) : NULL;
	char code[PATH_MAX] = "", *request, *preload = preload_word(run->preload), **words;
	struct error ignored;
	int ends[2] = { -1, -1 }, status = 1;
	size_t count = 0;

	choice.gpus = links;
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
		status = record_kernels(cli, &choice, &progress, (int)count, words, result);
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
	free(links);
	free(words);
	return status;
}
