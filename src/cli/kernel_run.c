#include "cli/kernel_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/kernel_trouble.h"
#include "cli/profile_setup.h"
#include "fmt/kernel_wire.h"
#include "record/kernel_choice.h"

#define TEMPORARY "/sonde-kernel-XXXXXX"

extern const struct command kernel_command;
extern const struct command profile_command;

struct progress {
	struct cli *cli;
	int fd;
	uint32_t begun;
	uint32_t read;
	uint32_t failed;
	uint32_t passes;         /* of the kernel that is read now */
	uint32_t timeout;        /* seconds that a pass may take; 0: for ever */
	bool is_open;            /* the line of a kernel is not ended */
	bool warned;             /* of collectives */
	bool timed;              /* it was said that kernels are timed only */
	uint32_t ended;          /* process that was asked to end; 0: none was */
};

#define STUCK_AFTER 20 /* seconds */

static void end_line(struct progress *p)
{
	if (p->is_open)
		fputc('\n', p->cli->err);
	p->is_open = false;
}

static void begun(struct progress *p, const struct kernel_progress *step)
{
	p->begun++;
	p->passes = 0;
	if (!p->warned && kernel_is_collective(step->text)) {
		p->warned = true;
		kernel_warn_of_collective(p->cli->err, step->text);
	}
	end_line(p);
	fprintf(p->cli->err, "==PROF== Profiling \"%s\" - %u: 0%%", step->text, step->number);
	p->is_open = true;
}

static void failed(struct progress *p, const struct kernel_progress *step)
{
	p->failed++;
	end_line(p);
	kernel_explain_failure(p->cli->err, "", step->text);
}

/* What was asked to end and does not is made to. */
static void stuck(struct progress *p, const struct kernel_progress *step)
{
	bool is_over = p->timeout && step->seconds >= p->timeout;

	if (is_over && p->ended == step->pid) {
		kill((pid_t)step->pid, SIGKILL);
		return;
	}
	if (!p->is_open && !is_over)
		return;
	kernel_explain_stuck(p->cli->err, step->text, step->number, step->seconds);
	p->is_open = false;
	if (!is_over || !step->pid)
		return;
	fprintf(p->cli->err, "==ERROR== Process %u is ended: --replay-timeout %u. What was read before is kept.\n", step->pid, p->timeout);
	p->ended = step->pid;
	p->failed++;
	kill((pid_t)step->pid, SIGTERM);
}

static void timed(struct progress *p)
{
	fprintf(p->cli->err, "....timed, without counters\n");
	p->is_open = false;
	if (!p->timed)
		fprintf(p->cli->err, "==WARNING== Kernels are timed from here on: their launch, occupancy and duration are known without counters.\n");
	p->timed = true;
}

static void show(struct progress *p, const struct kernel_progress *step)
{
	FILE *err = p->cli->err;

	if (step->state == KERNEL_BEGUN) {
		begun(p, step);
	} else if (step->state == KERNEL_READ) {
		p->read++;
		fprintf(err, "%s....100%% - %u pass%s\n", p->passes * 2 < step->passes || step->passes < 2 ? "....50%" : "", step->passes,
			step->passes == 1 ? "" : "es");
		p->is_open = false;
	} else if (step->state == KERNEL_PASS) {
		if (++p->passes * 2 == step->passes + step->passes % 2 && step->passes > 1)
			fputs("....50%", err);
	} else if (step->state == KERNEL_TIMED) {
		timed(p);
	} else if (step->state == KERNEL_STUCK) {
		stuck(p, step);
	} else {
		failed(p, step);
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

static void write_parts(FILE *file, const struct kernel_run *run)
{
	uint32_t next = 0;

	for (const struct kernel_run_part *part = run->parts; part < run->parts + run->part_count; part++) {
		fprintf(file, "part %u\n", part->metric_count);
		for (uint32_t i = 0; i < part->metric_count; i++)
			fprintf(file, "metric %s\n", run->metrics[next++]);
		for (uint32_t i = 0; i < part->schedule_count; i++)
			fprintf(file, "schedule %s\n", part->schedule[i]);
	}
}

/* Agents read it: one line for each thing that is asked for. */
static void write_request(FILE *file, const struct kernel_run *run)
{
	write_parts(file, run);
	if (run->pattern)
		fprintf(file, "%s %s\n", run->pattern_is_regex ? "regex" : "name", run->pattern);
	fprintf(file, "base %s\n", run->name_base ? run->name_base : "function");
	fprintf(file, "skip-before %llu\nskip %llu\n", (unsigned long long)run->skip_before, (unsigned long long)run->skip);
	if (run->count)
		fprintf(file, "count %llu\n", (unsigned long long)run->count);
	fprintf(file, "flush %d\nkill %d\n", run->flush_caches, run->kill);
}

/* A private file; the name is the caller's to free, the file to remove. */
static char *make_request(const struct kernel_run *run)
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
		write_request(file, run);
		if (fclose(file) == 0)
			return path;
	}
	free(path);
	return NULL;
}

/* Options of 'sonde profile' that record nothing but this. */
static char **profile_words(const struct kernel_run *run, const char *output, size_t *count)
{
	static const char *const fixed[] = { "--trace=none", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true", "--output" };
	size_t first = sizeof(fixed) / sizeof(fixed[0]);
	char **words = calloc(first + run->argc + 2, sizeof(*words));

	if (!words)
		return NULL;
	for (size_t i = 0; i < first; i++)
		words[i] = (char *)fixed[i];
	words[first] = (char *)output;
	for (size_t i = 0; i < run->argc; i++)
		words[first + 1 + i] = run->argv[i];
	*count = first + 1 + run->argc;
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
		fputs(result->notes, cli->err);
		status = result->started ? result->exit_status : 1;
		if (status > 128)
			fprintf(cli->err, "==ERROR== The program was ended by signal %d.\n", status - 128);
	}
	if (err.text[0])
		status = command_fail(cli, &kernel_command, "%s", err.text);
	profile_setup_release(&setup);
	options_release(&parsed);
	return status;
}

int kernel_run(struct cli *cli, const struct kernel_run *run, struct record_result *result)
{
	struct kernel_choice choice = { .metrics = run->metrics, .units = run->units, .count = run->metric_count };
	struct progress progress = { .cli = cli, .timeout = run->replay_timeout };
	char *request = make_request(run), **words;
	int ends[2] = { -1, -1 }, status = 1;
	size_t count = 0;

	words = profile_words(run, run->output, &count);
	if (!request || !words || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		command_fail(cli, &kernel_command, "Not started: %s", strerror(errno));
	} else {
		choice.request = request;
		choice.progress = ends[1];
		progress.fd = ends[0];
		choice.stuck_after = run->replay_timeout && run->replay_timeout < STUCK_AFTER ? run->replay_timeout : STUCK_AFTER;
		status = record_kernels(cli, &choice, &progress, (int)count, words, result);
		/* Counters were asked for, and none could be read. */
		if (!status && progress.failed && !progress.read)
			status = 1;
	}
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	if (request)
		unlink(request);
	free(request);
	free(words);
	return status;
}
