/* Thread switches: from events of the scheduler to RUN rows. */
#ifndef SONDE_RECORD_PERF_SCHED_H
#define SONDE_RECORD_PERF_SCHED_H

#include <stdint.h>

struct session;

enum sched_kind {
	SCHED_IN = 1,    /* the thread got a CPU */
	SCHED_OUT = 2,   /* and left it */
	SCHED_WOKEN = 3, /* it could run from now on */
	SCHED_GONE = 4   /* it ended */
};

struct sched_event {
	int64_t time;        /* ns since the session started */
	uint32_t pid;        /* in the recorder's namespace */
	uint32_t tid;
	uint32_t cpu;
	uint8_t kind;        /* enum sched_kind */
	uint8_t preempted;   /* SCHED_OUT: it could have gone on */
	uint64_t syscall;    /* string id; 0 = not known */
	uint64_t stack;      /* stack.id; 0 = not known */
};

/* Takes the events of all CPUs, in order of time. */
void sched_take(struct session *s, const struct sched_event *event);

#endif
