/* Facts about the recording: where, when, of what. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text/json_text.h"
#include "record/control/recorder.h"
#include "record/control/steering.h"
#include "record/session/window.h"

extern char **environ;

static void write_fact(struct session *s, const char *key, const char *text)
{
	session_meta(s, key, text, NULL);
}

/* The first line of a file that starts with `prefix`, without it, quotes and newline. */
static int file_line(const char *path, const char *prefix, char *ret, size_t size)
{
	char line[512], *value;
	FILE *f = fopen(path, "re");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		value = line + strlen(prefix);
		value += strspn(value, " \t:=\"");
		value[strcspn(value, "\"\n")] = '\0';
		snprintf(ret, size, "%s", value);
		found = 1;
	}
	if (f)
		fclose(f);
	return found;
}

static void append_fact_text(struct buf *list, const char *text, size_t len)
{
	buf_puts(list, list->len > 1 ? "," : "");
	json_append_text(list, text, len);
}

static void write_fact_list(struct session *s, const char *key, struct buf *list)
{
	buf_puts(list, "]");
	write_fact(s, key, buf_cstr(list));
	buf_release(list);
}

/* Returns how many words were replaced. */
static size_t write_fact_words(struct session *s, const char *key, char *const *words, bool as_they_are)
{
	struct buf list = BUF_INIT, cleaned = BUF_INIT;
	struct secret_words state = { 0 };

	buf_puts(&list, "[");
	for (size_t i = 0; words && words[i]; i++) {
		buf_clear(&cleaned);
		if (as_they_are)
			buf_puts(&cleaned, words[i]);
		else
			secret_words_clean(&state, words[i], &cleaned);
		append_fact_text(&list, buf_cstr(&cleaned), cleaned.len);
	}
	write_fact_list(s, key, &list);
	buf_release(&cleaned);
	return state.replaced;
}

/* Returns how many values were replaced; ret_left_out is how many variables are not there at all. */
static size_t put_environment(struct session *s, size_t *ret_left_out)
{
	struct buf list = BUF_INIT, cleaned = BUF_INIT;
	size_t replaced = 0;

	*ret_left_out = 0;
	buf_puts(&list, "[");
	for (size_t i = 0; environ && environ[i]; i++) {
		if (s->store == STORE_ALL)
			append_fact_text(&list, environ[i], strlen(environ[i]));
		else if (environment_clean(environ[i], &cleaned, &replaced))
			append_fact_text(&list, buf_cstr(&cleaned), cleaned.len);
		else
			++*ret_left_out;
	}
	write_fact_list(s, "environment", &list);
	buf_release(&cleaned);
	return replaced;
}

static void put_machine(struct session *s)
{
	struct utsname system;
	char text[512];

	if (uname(&system) == 0) {
		write_fact(s, "host", system.nodename);
		snprintf(text, sizeof(text), "%s %s %s", system.sysname, system.release, system.machine);
		write_fact(s, "kernel", text);
	}
	if (file_line("/proc/sys/kernel/random/boot_id", "", text, sizeof(text)))
		write_fact(s, "boot_id", text);
	if (file_line("/etc/os-release", "PRETTY_NAME", text, sizeof(text)))
		write_fact(s, "os", text);
	if (file_line("/proc/cpuinfo", "model name", text, sizeof(text)))
		write_fact(s, "cpu", text);
	session_fact(s, "cpu_count", sysconf(_SC_NPROCESSORS_ONLN));
}

static void clock_domain_row(struct session *s)
{
	int64_t v[TABLE_MAX_COLUMNS];
	char boot[64] = "", host[256] = "";

	file_line("/proc/sys/kernel/random/boot_id", "", boot, sizeof(boot));
	gethostname(host, sizeof(host) - 1);
	v[COLUMN_CLOCK_DOMAIN_ID] = TIMEBASE_SESSION_DOMAIN;
	v[COLUMN_CLOCK_DOMAIN_NAME] = (int64_t)session_text(s, s->time.use_tsc ? "tsc" : "monotonic_raw");
	v[COLUMN_CLOCK_DOMAIN_HOST] = (int64_t)session_text(s, host);
	v[COLUMN_CLOCK_DOMAIN_BOOT] = (int64_t)session_text(s, boot);
	session_row(s, TABLE_CLOCK_DOMAIN, v, BITS_TO(COLUMN_CLOCK_DOMAIN_BOOT));
}

static void put_sources(struct session *s, uint64_t trace)
{
	static const char *const names[] = {
#define TRACE_SOURCE(id, name, state, implies, description) [TRACE_##id] = name,
#include "fmt/trace_sources.def"
	};
	struct buf b = BUF_INIT;

	for (unsigned i = 0; i < TRACE_SOURCE_COUNT; i++)
		if (trace & TRACE_BIT(i))
			buf_printf(&b, "%s%s", b.len ? "," : "", names[i]);
	write_fact(s, "trace", buf_cstr(&b));
	buf_release(&b);
}

static void user_variable_diagnostics(struct recorder *r)
{
	const char *own = getenv("NVTX_INJECTION64_PATH");

	if (own && r->options->inherit_environment && !r->options->attach_pid)
		session_diagnose(&r->drain.session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "NVTX_INJECTION64_PATH was already set (%s) and is not changed: NVTX ranges go there.", own);
	for (size_t i = 0; i < r->options->note_count; i++)
		session_diagnose(&r->drain.session, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0, "%s", r->options->notes[i]);
}

/* The environment is that of this command, which the program inherits; a program that runs already has another. */
static void put_what_was_given(struct session *s, const struct profile_options *o)
{
	bool all = s->store == STORE_ALL;
	size_t left_out = 0, replaced = write_fact_words(s, "command", o->argv, all);

	if (o->command_line)
		replaced = write_fact_words(s, "command_line", o->command_line, all);
	if (!o->attach_pid && s->store != STORE_NONE)
		replaced += put_environment(s, &left_out);
	if (left_out || replaced)
		session_diagnose(
			s, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0,
			"Left out of the report: %zu variables of the environment, and %zu values and arguments that look like secrets "
			"(--store-environment=all keeps them).",
			left_out, replaced);
}

void meta_begin(struct recorder *r)
{
	struct session *s = &r->drain.session;
	const struct profile_options *o = r->options;
	struct clock_snapshot now;
	char cwd[4096];

	clock_take_snapshot(s->time.use_tsc, &now);
	put_machine(s);
	session_fact(s, "start_utc_ns", now.real - (now.raw - s->time.start));
	session_fact(s, "session_start_raw_ns", s->time.start);
	put_what_was_given(s, o);
	if (o->kernels && o->kernels->asked)
		write_fact_words(s, KERNEL_ASKED_KEY, o->kernels->asked, true);
	if (o->kernels && o->kernels->clocks)
		write_fact(s, KERNEL_CLOCKS_KEY, o->kernels->clocks);
	if (getcwd(cwd, sizeof(cwd)))
		write_fact(s, "cwd", cwd);
	write_fact(s, "sonde_version", SONDE_VERSION);
	if (!r->steering)
		write_fact(s, "output", r->path);
	put_sources(s, o->trace);
	write_fact(s, "clock", s->time.use_tsc ? "tsc" : "monotonic_raw");
	if (o->attach_pid)
		session_fact(s, "attach.pid", o->attach_pid);
	clock_domain_row(s);
	user_variable_diagnostics(r);
}

void meta_sampling(struct recorder *r)
{
	static const char *const scopes[] = {
		[SCOPE_PROCESS_TREE] = "process-tree", [SCOPE_SYSTEM_WIDE] = "system-wide", [SCOPE_NONE] = "none"
	};
	static const char *const ways[] = { [BACKTRACE_AUTO] = "dwarf",
					    [BACKTRACE_LBR] = "lbr",
					    [BACKTRACE_FP] = "fp",
					    [BACKTRACE_DWARF] = "dwarf",
					    [BACKTRACE_NONE] = "none" };
	const struct perf_way *way = &r->drain.perf.way;
	struct session *s = &r->drain.session;
	int timers = r->page->modules & RING_GATE_SAMPLE;

	write_fact(s, "switches.scope", scopes[way->switches ? way->scope : SCOPE_NONE]);
	write_fact(s, "sampling.scope", scopes[timers ? SCOPE_PROCESS_TREE : way->samples ? way->scope : SCOPE_NONE]);
	if (!way->samples)
		return;
	write_fact(s, "sampling.event", timers ? "timer" : way->hardware ? "cycles" : "cpu-clock");
	write_fact(s, "sampling.unit", way->hardware && !timers ? "cycles" : "ns");
	write_fact(s, "sampling.backtrace", ways[way->backtrace]);
	if (way->period)
		session_fact(s, "sampling.period", way->period);
	else
		session_fact(s, "sampling.frequency", timers ? r->options->cpu.frequency : way->frequency);
}

/* Ticks per second over the whole session. */
static int64_t tick_rate(const struct session *s)
{
	const struct clock_map *map = &s->time.coarse;
	const struct clock_snapshot *first, *last;

	if (!s->time.use_tsc || !map->count || !s->time.fine.count)
		return 1000000000;
	first = &map->snapshots[0];
	last = &s->time.fine.snapshots[s->time.fine.count - 1];
	if (last->raw - first->raw < 1000)
		return 0;
	return (int64_t)((__int128)(last->ticks - first->ticks) * 1000000000 / (last->raw - first->raw));
}

void meta_end(struct recorder *r)
{
	struct session *s = &r->drain.session;

	session_fact(s, "duration_ns", s->now);
	if (r->steering)
		write_fact(s, "output", r->path);
	session_fact(s, "windows", windows_so_far(r));
	window_report_spans(r);
	session_fact(s, "tsc_hz", tick_rate(s));
	session_fact(s, "cost_pair_ps", s->cost_pair_ps);
	session_fact(s, "cost_clock_ps", s->cost_clock_ps);
	if (r->drain.perf.way.samples)
		session_fact(s, "sampling.lost", (int64_t)r->drain.perf.lost);
	if (r->exit_known)
		session_fact(s, "exit_status", WIFSIGNALED(r->exit_status) ? 128 + WTERMSIG(r->exit_status) : WEXITSTATUS(r->exit_status));
}
