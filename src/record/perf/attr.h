/* What is asked of the kernel, per kind of event. */
#ifndef SONDE_RECORD_PERF_ATTR_H
#define SONDE_RECORD_PERF_ATTR_H

#include <linux/perf_event.h>

#include "record/profile_options.h"

enum perf_kind {
	PERF_KIND_SIDEBAND, /* which code is where, which process is which */
	PERF_KIND_SAMPLE,
	PERF_KIND_SWITCH,       /* a thread got or left a CPU */
	PERF_KIND_SWITCH_STACK, /* ... and what the kernel was doing for it */
	PERF_KIND_WAKEUP,
	PERF_KIND_WAKEUP_NEW,
	PERF_KINDS
};

/* Every event carries these, so that all records tell time, thread and CPU at the same place. */
#define PERF_COMMON_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* The richest form of what the options ask for. */
void perf_attr_sideband(struct perf_event_attr *attr, size_t ring_size);
void perf_attr_sample(struct perf_event_attr *attr, const struct cpu_options *cpu, enum profile_backtrace backtrace, int hardware,
		      int64_t max_rate);
/* `alone`: no samples are taken besides; a few then say who keeps its CPU without being switched. */
void perf_attr_switch(struct perf_event_attr *attr, int alone);
/* `callers`: with those of the program, too, found by frame pointers. */
void perf_attr_switch_stack(struct perf_event_attr *attr, int callers);
void perf_attr_tracepoint(struct perf_event_attr *attr, uint64_t id, size_t ring_size);

#endif
