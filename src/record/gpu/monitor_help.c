/* What there is to choose from. GPUs are looked at in a process of its own: vendor libraries stay out of ours. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "record/gpu/counters.h"
#include "record/gpu/metric_set.h"
#include "record/gpu/monitor.h"

#define HELP_HZ 10000

static _Noreturn void list_devices(int fd, const char *set)
{
	const struct gpu_options options = { .metrics_devices = "all", .metrics_hz = HELP_HZ, .metrics_set = set };
	struct collector *c = calloc(1, sizeof(*c));
	char why[512] = "";

	if (!c)
		_exit(1);
	unsetenv("CUDA_INJECTION64_PATH");
	c->options = &options;
	c->fd = -1;
	if (collector_open(c, why, sizeof(why)) < 0)
		dprintf(fd, "    none: %s\n", why);
	else
		counters_list(c, fd);
	_exit(0);
}

static void read_help_text(int fd, struct buf *b)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			buf_append(b, piece, (size_t)n);
}

static void append_devices(struct buf *b, const char *set)
{
	int pair[2], status = 0;
	pid_t pid;

	if (pipe(pair) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		list_devices(pair[1], set);
	}
	close(pair[1]);
	read_help_text(pair[0], b);
	close(pair[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFSIGNALED(status))
		buf_printf(b, "    (a library of the driver ended it with signal %d)\n", WTERMSIG(status));
}

static char *finish_help_text(struct buf *b)
{
	char *text = strdup(buf_cstr(b));

	buf_release(b);
	return text;
}

char *gpu_monitor_devices_help(const char *set)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, "GPUs, for --gpu-metrics-devices:\n");
	append_devices(&b, set);
	buf_puts(&b, "    all: all GPUs\n    cuda-visible: those in CUDA_VISIBLE_DEVICES\n    none: no GPU\n");
	return finish_help_text(&b);
}

static void append_set(void *context, const struct metric_set *set)
{
	struct buf *b = context;

	buf_printf(b, "    %s: %s%s%s%s\n", set->name, set->about[0] ? set->about : "no description", set->chips[0] ? " (" : "", set->chips,
		   set->chips[0] ? ")" : "");
	for (size_t i = 0; i < set->count; i++)
		buf_printf(b, "        %s\n", set->entries[i].title);
}

char *gpu_monitor_sets_help(void)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, "Sets of metrics, for --gpu-metrics-set:\n");
	if (!metric_set_each(append_set, &b))
		buf_puts(&b, "    none found; SONDE_METRICS_PATH names folders with files NAME.set\n");
	buf_puts(&b, "    file:PATH: the set in this file\n");
	return finish_help_text(&b);
}
