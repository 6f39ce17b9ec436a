#include "record/perf/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "record/perf/order.h"
#include "record/perf/sched.h"
#include "record/session/session.h"

#define MS 1000000ll
/* A record is in its ring a moment after its time was taken: nothing older than this can come.
 * Only where the machine itself stands still for longer is something used out of order. */
#define HOLD_BACK_NS (10 * MS)
#define HOLD_BACK_FULL_NS (4 * MS)
/* Files of modules that are read for the first time may take long: others wait. */
#define LONGEST_ROUND_NS (10 * MS)

/* Who is asked for: switches are of those that are sampled, unless none are. */
static enum profile_scope wanted_scope(const struct profile_options *options)
{
	if (options->cpu.sample != SCOPE_NONE)
		return options->cpu.sample;
	if (options->cpu.switches != SCOPE_NONE)
		return options->cpu.switches;
	/* Stacks of the OS runtime's calls are found with the maps of the side-band. */
	return options->trace & TRACE_BIT(TRACE_OSRT) ? SCOPE_PROCESS_TREE : SCOPE_NONE;
}

int perf_begin(struct perf *p, struct session *s, const struct profile_options *options, uint32_t target, struct error *why)
{
	/* clang-format off */
	*p = (struct perf){
		.session = s, .options = &options->cpu, .target = target, .poller_stop = -1,
		.at_exec = options->delay_ns == 0 && !options->interactive && !options->attach_pid,
		.only_threads = options->attach_pid && !options->children, .tasks.children = options->children,
		.way = { .scope = wanted_scope(options), .backtrace = options->cpu.backtrace,
			 .samples = options->cpu.sample != SCOPE_NONE,
			 .switches = options->cpu.switches != SCOPE_NONE },
	};
	/* clang-format on */
	if (p->way.backtrace == BACKTRACE_AUTO)
		p->way.backtrace = BACKTRACE_DWARF;
	if (p->way.scope == SCOPE_NONE)
		return 0;
	if ((options->attach_pid && perf_tasks_find(p, why) < 0) || perf_open_all(p, why) < 0) {
		if (p->way.switches && !p->way.samples)
			session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
					 "Switches are not recorded: perf events are refused (%s). 'sonde doctor' prints how to allow "
					 "them.",
					 why->text);
		p->way.scope = SCOPE_NONE;
		p->way.switches = 0;
		return p->way.samples;
	}
	s->roster.sideband = 1;
	s->roster.whole_system = p->way.scope == SCOPE_SYSTEM_WIDE;
	s->roster.target_pid = target;
	p->heap = calloc(p->cpu_count, sizeof(struct perf_cpu *));
	if (options->attach_pid)
		perf_tasks_open(p);
	return 0;
}

static int64_t raw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

void perf_window(struct perf *p, int open)
{
	if (open && p->at_exec && p->way.scope == SCOPE_PROCESS_TREE) {
		p->at_exec = 0;
		return;
	}
	if (!open)
		sched_events_window(p, 0, raw_now());
	for (uint32_t i = 0; i < p->cpu_count; i++)
		for (int kind = PERF_KIND_SIDEBAND + 1; kind < PERF_KINDS; kind++)
			if (p->cpus[i].fds[kind] >= 0)
				ioctl(p->cpus[i].fds[kind], open ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	perf_tasks_window(p, open);
	if (open)
		sched_events_window(p, 1, raw_now());
}

static void take_seen(struct perf *p, const struct perf_stamp *stamp, int64_t time)
{
	struct sched_event seen = { .time = time, .pid = stamp->pid, .tid = stamp->tid, .cpu = stamp->cpu, .kind = SCHED_SEEN };

	if (p->way.switches)
		sched_take(p->session, &seen);
}

/* Samples are told apart by the event that took them. */
static int take_by_kind(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	switch (PERF_SOURCE_KIND(idmap_get(&p->kinds, stamp->id))) {
	case PERF_KIND_SAMPLE:
		perf_take_sample(p, header, stamp, time);
		take_seen(p, stamp, time);
		return 1;
	case PERF_KIND_SWITCH: take_seen(p, stamp, time); return 0;
	case PERF_KIND_SWITCH_STACK: sched_events_take_stack(p, header, stamp, time); return 1;
	case PERF_KIND_WAKEUP:
	case PERF_KIND_WAKEUP_NEW: sched_events_take_wakeup(p, header, stamp, time); return 0;
	default: p->damaged++; return 0;
	}
}

/* Returns whether it may say something that a report keeps: wakeups are everybody's, and what
 * they change is told with the run that follows. */
static int take_record(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp)
{
	int64_t time = (int64_t)stamp->time - p->session->time.start;

	sched_events_reach(p, (int64_t)stamp->time);
	if (header->type != PERF_RECORD_LOST && perf_tasks_is_copy(p, stamp))
		return 0;
	switch (header->type) {
	case PERF_RECORD_SAMPLE: return take_by_kind(p, header, stamp, time);
	case PERF_RECORD_MMAP2: perf_take_mapping(p, header, time); return 1;
	case PERF_RECORD_COMM: perf_take_comm(p, header, stamp, time); return 1;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: perf_take_task(p, header, stamp, time); return 1;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: sched_events_take_switch(p, header, stamp, time); return 1;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: perf_lost_take(p, header); return 1;
	case PERF_RECORD_THROTTLE: p->throttled++; return 1;
	}
	return 0;
}

static uint64_t take_records(struct perf *p, int all)
{
	int64_t start = raw_now(), limit = start - HOLD_BACK_NS;
	const struct perf_event_header *header;
	struct perf_stamp stamp;
	uint64_t count = 0;
	int filling;

	p->more = 0;
	filling = perf_order_begin(p);
	if (filling)
		limit += HOLD_BACK_NS - HOLD_BACK_FULL_NS;
	if (all)
		limit = INT64_MAX;
	while (!p->more && (header = perf_order_next(p, (uint64_t)limit, &stamp))) {
		count += (uint64_t)take_record(p, header, &stamp);
		perf_order_done(p, header);
		p->more = !all && raw_now() - start > LONGEST_ROUND_NS;
	}
	perf_order_end(p);
	return count;
}

uint64_t perf_round(struct perf *p, int last)
{
	uint64_t count;

	if (p->way.scope == SCOPE_NONE)
		return 0;
	count = take_records(p, last);
	if (last) {
		perf_lost_look(p);
		sched_events_end(p);
	}
	sched_events_name(p, last);
	return count;
}

void perf_hold(struct perf *p)
{
	if (p->way.scope == SCOPE_NONE)
		return;
	take_records(p, 1);
	perf_lost_look(p);
	sched_events_name(p, 1);
}

void perf_finish_copy(struct perf *p)
{
	if (p->way.scope != SCOPE_NONE)
		sched_events_end(p);
}

void perf_release(struct perf *p)
{
	perf_stop_poller(p);
	perf_tasks_release(p);
	perf_close_all(p);
	sched_events_release(p);
	free(p->heap);
	p->heap = NULL;
}
