/* Runs of threads on CPUs (table RUN), put together from the kernel's switch, wakeup and exit
 * events. Events come in order of time. */
#ifndef SONDE_RECORD_PERF_SCHED_H
#define SONDE_RECORD_PERF_SCHED_H

#include <stddef.h>
#include <stdint.h>

struct session;

enum sched_kind {
	SCHED_IN = 1,      /* got a CPU */
	SCHED_OUT = 2,     /* left it */
	SCHED_WOKEN = 3,   /* can run again */
	SCHED_GONE = 4,    /* ended */
	SCHED_LEAVING = 5, /* is about to leave: syscall and stack of the SCHED_OUT that follows */
	SCHED_EXEC = 6,    /* runs on as another program, under another uid */
	SCHED_BORN = 7,    /* a new thread, which has not run yet */
	SCHED_SEEN = 8     /* has the CPU: a sample was taken of it */
};

#define SCHED_NO_CPU UINT32_MAX

struct sched_event {
	int64_t time; /* ns since the session started */
	uint32_t pid, tid;
	uint32_t cpu;      /* SCHED_NO_CPU: not told */
	uint8_t kind;      /* enum sched_kind */
	uint8_t preempted; /* SCHED_OUT */
	uint64_t syscall;  /* string id; 0 = not known */
	uint64_t stack;    /* STACK.id; 0 = not known */
};

void sched_take(struct session *s, const struct sched_event *e);

/* Switches are recorded from `time` on: who leaves a CPU without having been seen to get it
 * had it at that moment. */
void sched_window_open(struct session *s, int64_t time);
/* ... and not any more. Who has a CPU keeps it, as far as anybody can tell. */
void sched_window_close(struct session *s, int64_t time);
/* Events of this CPU are missing since the last one taken. */
void sched_lost(struct session *s, uint32_t cpu);

/* The names of system calls are not known yet: `syscall` of an event may be a number with
 * SCHED_UNNAMED, and runs are kept until sched_give() has them named. A report whose recorder dies
 * before has them without. */
#define SCHED_UNNAMED (1ull << 63)
void sched_hold(struct session *s);
size_t sched_held(const struct session *s);
void sched_give(struct session *s, uint64_t (*name)(void *context, uint64_t unnamed), void *context);

/* Rows for the runs that are open or kept, for a report whose recorder dies (see report_writer_tick). */
void sched_provisional(struct session *s);
void sched_release(struct session *s);

#endif
