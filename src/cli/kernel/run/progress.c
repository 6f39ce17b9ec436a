#include "cli/kernel/run/progress.h"

#include <signal.h>
#include <unistd.h>

#include "cli/kernel/options.h"
#include "cli/kernel/run/trouble.h"
#include "fmt/kernel_wire.h"

#define PROFILING "==PROF== Profiling \"%s\" - %u: 0%%"

static void end_line(struct progress *p)
{
	if (p->is_open)
		fputc('\n', kernel_reported(p->cli));
	p->is_open = false;
}

/* Where nobody watches, a kernel has its line once it was read. */
static void begin_line(struct progress *p, const struct kernel_progress *step)
{
	end_line(p);
	fprintf(kernel_reported(p->cli), PROFILING, step->text, step->number);
	p->is_open = true;
	p->open = step->number;
	p->is_half = false;
}

static void note_kernel_begin(struct progress *p, const struct kernel_progress *step)
{
	p->begun++;
	p->passes = p->is_open ? p->passes : 0;
	p->under_way[step->number % MOST_UNDER_WAY] = *step;
	if (p->quiet)
		return;
	if (!p->warned && kernel_is_collective(step->text)) {
		p->warned = true;
		kernel_warn_of_collective(kernel_reported(p->cli), step->text);
	}
	/* Kernels that are read together begin together. */
	if (p->at_once && !p->is_open)
		begin_line(p, step);
}

static void print_passed_step(struct progress *p, const struct kernel_progress *step)
{
	if (++p->passes * 2 < step->passes || !p->is_open || p->is_half)
		return;
	fputs("....50%", kernel_reported(p->cli));
	p->is_half = true;
}

static void read_or_timed(struct progress *p, const struct kernel_progress *step)
{
	bool is_read = step->state == KERNEL_READ;
	FILE *out = kernel_reported(p->cli);

	p->read += is_read;
	if (p->quiet)
		return;
	if (!p->is_open || p->open != step->number)
		begin_line(p, &p->under_way[step->number % MOST_UNDER_WAY]);
	if (is_read)
		fprintf(out, "%s....100%% - %u pass%s\n", p->is_half ? "" : "....50%", step->passes, step->passes == 1 ? "" : "es");
	else
		fprintf(out, "....timed, without counters\n");
	p->is_open = false;
	if (!is_read && !p->timed)
		fprintf(out,
			"==WARNING== Kernels are timed from here on: their launch, occupancy and duration are known without counters.\n");
	p->timed |= !is_read;
}

static void print_failed_step(struct progress *p, const struct kernel_progress *step)
{
	p->failed++;
	end_line(p);
	kernel_explain_failure(kernel_reported(p->cli), "", step->text);
}

/* What was asked to end and does not is made to. */
static void print_stuck_step(struct progress *p, const struct kernel_progress *step)
{
	bool is_over = p->timeout && step->seconds >= p->timeout, is_first = step->number + 1 != p->warned_stuck;
	FILE *out = kernel_reported(p->cli);

	if (is_over && p->ended && p->ended == step->pid) {
		kill((pid_t)step->pid, SIGKILL);
		return;
	}
	if (is_first) {
		end_line(p);
		kernel_explain_stuck(out, step->text, step->number, step->seconds);
	}
	p->warned_stuck = step->number + 1;
	if (!is_over || !step->pid)
		return;
	fprintf(out, "==ERROR== Process %u is ended: --replay-timeout %u. What was read before is kept.\n", step->pid, p->timeout);
	p->ended = step->pid;
	p->failed++;
	kill((pid_t)step->pid, SIGTERM);
}

static void copies(struct progress *p, const struct kernel_progress *step)
{
	if (p->warned_copies)
		return;
	p->warned_copies = true;
	end_line(p);
	kernel_explain_copies(kernel_reported(p->cli), step->text);
}

static void show(struct progress *p, const struct kernel_progress *step)
{
	FILE *out = kernel_reported(p->cli);

	if (step->state == KERNEL_FAILED)
		print_failed_step(p, step);
	else if (step->state == KERNEL_STUCK)
		print_stuck_step(p, step);
	else if (step->state == KERNEL_COPIES)
		copies(p, step);
	else if (step->state == KERNEL_BEGUN)
		note_kernel_begin(p, step);
	else if (step->state == KERNEL_PASS)
		print_passed_step(p, step);
	else if (step->state == KERNEL_READ || step->state == KERNEL_TIMED)
		read_or_timed(p, step);
	else if (step->state == KERNEL_CONNECTED && !p->quiet)
		fprintf(out, "==PROF== Connected to process %u (%s)\n", step->number, step->text);
	else if (step->state == KERNEL_LEFT_ALONE)
		fprintf(out, "==WARNING== CUDA graphs were left alone (%u launch%s): %s.\n", step->number, step->number == 1 ? "" : "es",
			step->text);
	else if (step->state == KERNEL_DISCONNECTED && !p->quiet)
		fprintf(out, "==PROF== Disconnected from process %u\n", step->number);
	fflush(out);
}

int kernel_on_progress(void *listener)
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
