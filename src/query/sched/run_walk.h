/* A thread's states, found by walking its runs on CPUs (table RUN) and its OS runtime calls
 * (table OSRT) at the same time: docs/cpu.md, "States of a thread". */
#ifndef SONDE_QUERY_SCHED_RUN_WALK_H
#define SONDE_QUERY_SCHED_RUN_WALK_H

#include "query/index/times.h"
#include "query/index/track_reader.h"

enum thread_state {
	STATE_RUNNING,
	STATE_RUNNABLE,  /* woken, and waiting for a CPU */
	STATE_PREEMPTED, /* taken off its CPU, and waiting for one */
	STATE_BLOCKED,
	STATE_NOT_SPLIT, /* blocked, then runnable: when it was woken is not known */
	STATE_UNKNOWN,   /* events are missing */
	STATE_COUNT
};

enum block_source { BLOCK_UNKNOWN, BLOCK_OSRT, BLOCK_SYSCALL };

extern const char *const thread_state_names[STATE_COUNT];
extern const char *const block_source_names[];

struct run {
	int64_t start;
	int64_t end;
	int64_t cpu;
	int64_t ready;   /* 0 = not known */
	int64_t after;   /* enum run_after */
	int64_t syscall; /* string id; 0 = not known */
};

struct state_interval {
	int64_t start;
	int64_t end;
	int64_t reason; /* string id of what it was blocked in; 0 = not known */
	int64_t cpu;    /* STATE_RUNNING */
	enum thread_state state;
	enum block_source source;
};

/* The threads of a report that have runs, and where their OS runtime calls are. */
struct run_threads {
	struct query *q;
	struct track_groups runs;
	struct track_groups calls;
	const int64_t **tracks; /* rows of the index, by process, thread */
	size_t count;
	const int64_t **call_tracks; /* by thread, depth */
	size_t call_count;
	int64_t end; /* when switches were not recorded any more; 0 = not told */
	int wakeups; /* the kernel told when threads were woken */
};

int run_threads_load(struct run_threads *ret, struct query *q);
void run_threads_release(struct run_threads *threads);
/* Just the runs of a thread. */
void run_reader_init(const struct run_threads *threads, size_t thread, struct track_reader *ret);
int run_reader_next(struct track_reader *t, struct run *ret);

#define RUN_WALK_LEVELS 16

struct run_walk {
	const struct run_threads *threads;
	const int64_t *track;
	struct track_reader runs;
	struct track_reader levels[RUN_WALK_LEVELS]; /* OS runtime calls by depth */
	unsigned level_count;
	struct run last;
	int has_last;
	struct state_interval rest; /* of the interval shown last, what the query's scope has yet to cut */
	int has_rest;
	struct state_interval queue[3];
	unsigned queued;
	unsigned at;
};

void run_walk_init(struct run_walk *w, const struct run_threads *threads, size_t thread);
void run_walk_release(struct run_walk *w);
/* The next interval in order of time: 1, or 0 at the end; negative errno on trouble. */
int run_walk_next(struct run_walk *w, struct state_interval *ret);

/* What tables about threads show of one, in this order. */
enum { WHO_PROCESS_UID, WHO_THREAD_UID, WHO_PID, WHO_TID, WHO_GLOBAL_TID, WHO_PROCESS_NAME, WHO_THREAD_NAME, WHO_COUNT };
#define WHO_DECLARATION \
	"processUid INTEGER, threadUid INTEGER, pid INTEGER, tid INTEGER, globalTid INTEGER, " \
	"processName TEXT, threadName TEXT"
void result_who(sqlite3_context *context, struct query *q, const int64_t *track, int which);

#endif
