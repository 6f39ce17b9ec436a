/* The kernel's perf events: samples, switches, and which process and code is where.
 *
 * Opened by the recorder's main thread before the target runs; read by the drain thread, in order of
 * time over all CPUs. A third thread only sleeps until a ring is half full. */
#ifndef SONDE_RECORD_PERF_PERF_H
#define SONDE_RECORD_PERF_PERF_H

#include <pthread.h>
#include <stdint.h>

#include "base/error.h"
#include "base/idmap.h"
#include "record/perf/attr.h"
#include "record/perf/event.h"
#include "record/perf/ring.h"
#include "record/perf/sched_events.h"
#include "record/profile_options.h"
#include "record/session/process_tree.h"

struct session;
struct ring_doorbell;

/* A ring, and the events of a CPU that write into it. */
struct perf_cpu {
	int cpu;
	int fds[PERF_KINDS]; /* -1: none */
	int owner;           /* the one of them whose ring it is; the others write there, too */
	size_t mapped;       /* bytes, page included */
	struct perf_ring ring;
	uint64_t next_time; /* of the record at the front, while a round lasts */
	uint64_t lost;      /* records that found the ring full, as far as they are known */
	uint64_t ahead;     /* ... of these, those that a record of the ring has still to tell */
};

/* What came in the end, after what the kernel refused was tried again with less. */
struct perf_way {
	enum profile_scope scope;         /* SCOPE_NONE: nothing is open */
	enum profile_backtrace backtrace; /* never AUTO */
	int samples;
	int switches;
	int hardware;
	int user_only;     /* the kernel's part is not shown */
	int64_t frequency; /* 0: by period */
	int64_t period;
};

/* Events on threads that were there before (tasks.c), beside those of the first, which are in perf_cpu. */
struct perf_task_event {
	int fd;
	uint32_t ring; /* index of the CPU */
	uint8_t kind;
};

struct perf_tasks {
	struct tree found; /* until all have their events */
	int children;      /* processes below the target count */
	uint32_t first;    /* tid; 0: the target has not run yet */
	struct perf_task_event *events;
	size_t count;
	size_t cap;
	struct idmap opened;  /* tid -> 1 */
	int doubled;          /* a thread may have two events of a kind */
	struct idmap sources; /* (tid, CPU, kind) -> the event whose records are taken */
	uint32_t refused;     /* threads */
	int refusal;          /* negative errno of the last */
};

/* Values of perf.kinds: what kind of event it is, and of which thread. */
#define PERF_SOURCE(kind, tid) ((uint64_t)(tid) << 8 | (uint64_t)(kind))
#define PERF_SOURCE_KIND(source) ((source)&0xff)

struct perf {
	struct session *session;
	const struct cpu_options *options;
	struct cpu_options affordable; /* with stacks no larger than rings have room for */
	uint32_t target;
	struct perf_way way;
	int at_exec;      /* the first window opens with the target's program */
	int only_threads; /* processes below the target are not followed */
	struct perf_tasks tasks;
	struct perf_event_attr attrs[PERF_KINDS];
	struct perf_cpu *cpus;
	uint32_t cpu_count;
	struct sched_events sched;
	int counts_lost;        /* the kernel tells how many records an event lost: since 6.0 */
	struct idmap kinds;     /* event id -> PERF_SOURCE() */
	struct perf_cpu **heap; /* the CPUs with something to read, oldest first */
	uint32_t heap_count;
	pthread_t poller;
	int poller_runs;
	int poller_stop; /* descriptor: the poller ends when it can be read */
	struct ring_doorbell *doorbell;
	int more;         /* the last round left something: it took long enough */
	uint64_t samples; /* taken */
	uint64_t lost;
	uint64_t damaged;
	uint64_t throttled;
	uint64_t strangers;      /* samples of nobody: a thread that is no more */
	uint64_t backtrace_turn; /* for samples_per_backtrace */
};

/* Opens what the options ask for, on the target (which has not executed its program yet, unless they say that it
 * runs already) or on all processes. Returns 1 when samples are asked for and perf cannot take them: `why` says what
 * the kernel answered. Diagnostics for all that is less than asked go to the report. */
int perf_begin(struct perf *p, struct session *s, const struct profile_options *options, uint32_t target, struct error *why);
/* A capture window opens or closes. The first one, without a delay, opens by itself when the
 * target executes its program. */
void perf_window(struct perf *p, int open);
/* The thread that wakes the drain thread when a ring fills up. */
void perf_start_poller(struct perf *p, struct ring_doorbell *doorbell);

/* Drain thread: uses everything old enough that nothing older can come, for some milliseconds
 * (see `more`); all with `last`. Returns the number of records used, without wakeups. */
uint64_t perf_round(struct perf *p, int last);
/* Uses everything there is; more will come. */
void perf_hold(struct perf *p);
/* In a copy of the process made behind perf_hold(): the rings are the original's, and all that was in them is known. */
void perf_finish_copy(struct perf *p);
/* Facts and diagnostics of the end. */
void perf_end(struct perf *p);
void perf_release(struct perf *p);

/* open.c */
int perf_open_all(struct perf *p, struct error *why);
/* A descriptor or a negative errno. */
int perf_open_event(struct perf_event_attr *attr, int pid, int cpu);
/* Whether the kernel would open it, on the first CPU: 0 or negative errno. */
int perf_try_event(const struct perf *p, struct perf_event_attr *attr);
void perf_close_all(struct perf *p);
/* tasks.c: a target that runs already. Finds its threads; 0 or a negative errno. */
int perf_tasks_find(struct perf *p, struct error *why);
/* Opens events on all of them, and says who they are. */
void perf_tasks_open(struct perf *p);
void perf_tasks_window(const struct perf *p, int open);
/* Whether another event tells the same of this thread. */
int perf_tasks_is_copy(struct perf *p, const struct perf_stamp *stamp);
void perf_tasks_release(struct perf *p);
/* poll.c */
void perf_stop_poller(struct perf *p);
/* samples.c */
struct stack_walk;
void perf_take_chain(const struct perf_sample *sample, struct stack_walk *walk);
void perf_take_sample(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time);
/* sideband.c */
void perf_take_mapping(struct perf *p, const struct perf_event_header *header, int64_t time);
void perf_take_comm(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time);
void perf_take_task(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time);
/* lost.c: records that found a ring full. Events are to count theirs, if the kernel does. */
void perf_lost_settle(struct perf *p);
/* A record that tells of some, of the ring that is being read. */
void perf_lost_take(struct perf *p, const struct perf_event_header *header);
/* Those that no record told of. */
void perf_lost_look(struct perf *p);

#endif
