/* Where switches come from: the perf events that tell of them, the windows they are recorded in, and
 * what is said about them in the end. */
#ifndef SONDE_RECORD_PERF_SCHED_SOURCE_H
#define SONDE_RECORD_PERF_SCHED_SOURCE_H

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdint.h>

#include "record/perf/sched.h"
#include "record/perf/sched_syscalls.h"
#include "record/perf/sched_trace.h"

struct perf;
struct perf_stamp;

struct sched_events {
	int syscalls;       /* the kernel tells what threads block in */
	int wakeups;        /* ... and when they can run again */
	size_t wakeup_ring; /* bytes, on each CPU */
	uint64_t wakeups_lost;
	int at_exec; /* the first window opens with the target's program */
	struct trace_point woken;
	struct trace_point woken_new;
	struct sched_syscalls names;
	/* Windows are opened and closed by another thread: MONOTONIC_RAW, 0 = not yet. */
	_Atomic int64_t opened;
	_Atomic int64_t closed;
	int64_t opened_reported;
	int64_t closed_reported;
};

/* Finds out which events the kernel gives, and describes them in p->attrs. */
void sched_events_settle(struct perf *p);
/* A diagnostic about what is missing. */
void sched_events_report_missing(struct perf *p);

/* From the thread that opens and closes windows: when that was. */
void sched_events_window(struct perf *p, int open, int64_t raw);

/* Drain thread. A record of that time (MONOTONIC_RAW) is about to be taken. */
void sched_events_reach(struct perf *p, int64_t raw);
void sched_events_take_switch(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time);
void sched_events_take_stack(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time);
void sched_events_take_wakeup(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time);
/* A thread was born, has ended, or has become another program (enum sched_kind). */
void sched_events_take_life(struct perf *p, const struct sched_event *event);

/* After a round: reads the kernel's names once many runs wait for them, or with `last`. */
void sched_events_name(struct perf *p, int last);

/* All records were taken: ends the runs that are open, and says how they were recorded. */
void sched_events_end(struct perf *p);
void sched_events_release(struct perf *p);

#endif
