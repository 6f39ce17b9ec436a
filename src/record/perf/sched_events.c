#include "record/perf/sched_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/perf/perf.h"
#include "record/perf/sched.h"
#include "record/session/session.h"
#include "record/stacks/stacks.h"
#include "symbol/kallsyms.h"

#define RAW_OFFSET 48 /* behind identifier, ip, thread, time, cpu */
/* Everybody's wakeups, some hundred thousand a second where much is going on. */
#define WAKEUP_RING (1u << 20)
#define WAKEUP_RING_SMALL (256u << 10)
#define FEW_CPUS 32
/* Reading the kernel's names costs as much as recording a second of a busy program: one that hardly
 * ever switches pays at the end. */
#define HELD_ENOUGH 256

static uint64_t intern(void *context, const char *text)
{
	return session_text(context, text);
}

/* The kernel shows zeros to those it hides its addresses from. */
static int kernel_has_names(void)
{
	unsigned long long address = 0;
	FILE *f = fopen(KALLSYMS_PATH, "re");
	char line[512];

	for (int i = 0; i < 100 && f && !address && fgets(line, sizeof(line), f); i++)
		if (sscanf(line, "%llx", &address) != 1)
			break;
	if (f)
		fclose(f);
	return address != 0;
}

static void settle_syscalls(struct perf *p)
{
	struct perf_event_attr *attr = &p->attrs[PERF_KIND_SWITCH_STACK];

	perf_attr_switch_stack(attr, p->way.backtrace == BACKTRACE_FP);
	/* Where kernel.perf_event_max_stack is less, what it allows. */
	if (perf_try_event(p, attr) == -EOVERFLOW)
		attr->sample_max_stack = 0;
	p->sched.syscalls = kernel_has_names() && perf_try_event(p, attr) == 0;
	if (!p->sched.syscalls)
		attr->size = 0;
}

static int settle_wakeup(struct perf *p, enum perf_kind kind, const char *name, struct trace_point *point)
{
	TRY(trace_point_find(name, point));
	perf_attr_tracepoint(&p->attrs[kind], point->id, p->sched.wakeup_ring);
	return perf_try_event(p, &p->attrs[kind]);
}

static void settle_wakeups(struct perf *p)
{
	struct sched_events *s = &p->sched;

	s->wakeups = trace_numbers_are_ours() && settle_wakeup(p, PERF_KIND_WAKEUP, "sched_wakeup", &s->woken) == 0 &&
		     settle_wakeup(p, PERF_KIND_WAKEUP_NEW, "sched_wakeup_new", &s->woken_new) == 0;
	if (!s->wakeups)
		p->attrs[PERF_KIND_WAKEUP].size = p->attrs[PERF_KIND_WAKEUP_NEW].size = 0;
}

void sched_events_settle(struct perf *p)
{
	p->sched.at_exec = p->at_exec && p->way.scope == SCOPE_PROCESS_TREE;
	p->sched.wakeup_ring = p->cpu_count > FEW_CPUS ? WAKEUP_RING_SMALL : WAKEUP_RING;
	p->sched.names.intern = intern;
	p->sched.names.context = p->session;
	settle_syscalls(p);
	settle_wakeups(p);
	p->sched.names.later = p->sched.syscalls;
	if (p->sched.syscalls)
		sched_hold(p->session);
}

void sched_events_report_missing(struct perf *p)
{
	const struct sched_events *s = &p->sched;
	const char *text = NULL;

	if (!s->wakeups && !s->syscalls)
		text = "When threads are woken and which system calls they block in is not recorded: CAP_PERFMON, or "
		       "kernel.perf_event_paranoid -1 and a readable tracefs, allow it.";
	else if (!s->wakeups)
		text = "When threads are woken is not recorded: it needs tracefs, CAP_PERFMON or "
		       "kernel.perf_event_paranoid -1, and the machine's own pid namespace.";
	else if (!s->syscalls)
		text = "Which system calls threads block in is not recorded: it needs CAP_PERFMON or "
		       "kernel.perf_event_paranoid 1, and kernel symbols (kernel.kptr_restrict).";
	if (text && p->way.switches)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0, "%s", text);
}

void sched_events_window(struct perf *p, int open, int64_t raw)
{
	if (open)
		atomic_store(&p->sched.opened, raw);
	else if (atomic_load(&p->sched.closed) <= atomic_load(&p->sched.opened))
		atomic_store(&p->sched.closed, raw);
}

void sched_events_reach(struct perf *p, int64_t raw)
{
	struct sched_events *s = &p->sched;
	int64_t opened = atomic_load_explicit(&s->opened, memory_order_relaxed);
	int64_t closed = atomic_load_explicit(&s->closed, memory_order_relaxed);

	if (opened != s->opened_reported && raw >= opened) {
		s->opened_reported = opened;
		sched_window_open(p->session, opened - p->session->time.start);
	}
	if (closed != s->closed_reported && closed > opened && raw > closed) {
		s->closed_reported = closed;
		sched_window_close(p->session, closed - p->session->time.start);
	}
}

void sched_events_take_switch(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	struct sched_event event = {
		.time = time,
		.pid = stamp->pid,
		.tid = stamp->tid,
		.cpu = stamp->cpu,
		.kind = header->misc & PERF_RECORD_MISC_SWITCH_OUT ? SCHED_OUT : SCHED_IN,
		.preempted = (header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
	};

	/* The idle task is nobody. */
	if (stamp->pid && stamp->pid != UINT32_MAX)
		sched_take(p->session, &event);
}

static uint64_t intern_sched_stack(struct perf *p, const struct stack_walk *walk, uint32_t pid, int64_t time)
{
	struct roster_life *life = roster_life(p->session, pid, time);

	return life ? stacks_intern(p->session, space_of(p->session, life->uid, life->pid), walk) : 0;
}

void sched_events_take_stack(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	struct sched_event event = { .time = time, .pid = stamp->pid, .tid = stamp->tid, .cpu = stamp->cpu, .kind = SCHED_LEAVING };
	struct perf_sample sample;
	struct stack_walk walk;

	if (perf_event_sample(header, &p->attrs[PERF_KIND_SWITCH_STACK], &sample) < 0) {
		p->damaged++;
		return;
	}
	if (!stamp->pid || stamp->pid == UINT32_MAX)
		return;
	walk.count = walk.kernel = 0;
	walk.cut = 0;
	perf_take_chain(&sample, &walk);
	event.syscall = sched_syscalls_find(&p->sched.names, walk.pcs, walk.kernel);
	/* A stack without the program's own callers says little. */
	if (walk.count > walk.kernel)
		event.stack = intern_sched_stack(p, &walk, stamp->pid, time);
	sched_take(p->session, &event);
}

void sched_events_take_wakeup(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	struct sched_event event = { .time = time, .cpu = stamp->cpu, .kind = SCHED_WOKEN };
	/* Both have the same fields. */
	int result = header->size < RAW_OFFSET ? -1 :
						 trace_point_woken(&p->sched.woken, (const uint8_t *)header + RAW_OFFSET,
								   header->size - RAW_OFFSET, &event.tid);

	if (result < 0)
		p->damaged++;
	else
		sched_take(p->session, &event);
}

void sched_events_take_life(struct perf *p, const struct sched_event *event)
{
	if (!p->way.switches)
		return;
	if (event->kind == SCHED_EXEC && p->sched.at_exec && event->pid == p->target) {
		p->sched.at_exec = 0;
		sched_window_open(p->session, event->time);
	}
	sched_take(p->session, event);
}

static uint64_t name_later(void *context, uint64_t unnamed)
{
	return sched_syscalls_name(context, unnamed);
}

void sched_events_name(struct perf *p, int last)
{
	struct sched_syscalls *names = &p->sched.names;

	if (!names->later)
		return;
	if (!last && !names->loading) {
		if (sched_held(p->session) < HELD_ENOUGH)
			return;
		sched_syscalls_start(names);
	}
	if (!last && !sched_syscalls_ready(names))
		return;
	sched_syscalls_wait(names);
	names->later = 0;
	sched_give(p->session, name_later, names);
}

void sched_events_end(struct perf *p)
{
	struct session *s = p->session;
	int64_t end;

	if (!p->way.switches)
		return;
	end = atomic_load(&p->sched.closed) - s->time.start;
	if (end <= 0)
		end = s->now;
	sched_window_close(s, end);
	session_fact(s, "sched.wakeups", p->sched.wakeups);
	session_fact(s, "sched.wakeups_lost", (int64_t)p->sched.wakeups_lost);
	session_fact(s, "sched.syscalls", p->sched.syscalls);
	session_fact(s, "sched.end", end);
}

void sched_events_release(struct perf *p)
{
	sched_syscalls_release(&p->sched.names);
}
