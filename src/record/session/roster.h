/* Who is who: one uid for each life of a process (from fork or exec to exec or exit) and each
 * thread, whoever sees it first: the agent that attaches, or perf's fork, exec and exit events,
 * which are read later but tell the exact times.
 *
 * Agents attach in the thread that answers them; everything else happens in the drain thread. */
#ifndef SONDE_RECORD_SESSION_ROSTER_H
#define SONDE_RECORD_SESSION_ROSTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "fmt/tables.h"
#include "base/idmap.h"

struct session;
struct report_track;

enum roster_birth {
	BORN_UNKNOWN = 0, /* it was there already, or only its agent told of it so far */
	BORN_FORK = 1,
	BORN_EXEC = 2
};

struct roster_thread {
	struct roster_thread *next, **link; /* of its process, or of those that ended */
	uint64_t uid;
	uint64_t process; /* uid */
	uint32_t tid;
	uint32_t inner_tid;
	int64_t start;
	int64_t end;
	int64_t last_sample;          /* samples of one thread are in order */
	struct report_track *samples; /* TRACK_SAMPLES, made with the first */
	char name[16];
	int16_t priority;
	/* Rings it has open: they write the row when the recorder dies. A thread whose destructors make events takes
	 * a second one, and both may be open until the first has been read. */
	uint32_t rings;
	uint8_t ended;
	uint8_t retired;       /* its row is written; the last ring to close frees it */
	uint8_t named_by_ring; /* as it was at its end */
	uint8_t used;          /* something in the report refers to it */
};

struct roster_life {
	struct roster_life *next, **link; /* all of the roster */
	uint64_t uid;
	uint64_t parent; /* uid; 0 = not known */
	uint32_t pid;
	uint32_t ppid;
	int64_t start; /* ns since the session started */
	int64_t end;
	uint64_t name; /* string ids, 0 = none */
	uint64_t exe;
	uint64_t cmdline;
	char comm[16];
	struct roster_thread *threads;
	uint32_t living;          /* threads that have not ended */
	int64_t attached_at;      /* valid when attached */
	uint8_t birth;            /* enum roster_birth */
	uint8_t origin;           /* enum wire_origin of its agent */
	_Atomic uint8_t attached; /* an agent has it: its row is written by process.c */
	uint8_t agent_over;
	uint8_t perf_sees; /* perf's events have come to its beginning */
	uint8_t perf_over;
	uint8_t used;
	int exit_known;
	int exit_status;
};

struct roster {
	pthread_mutex_t lock; /* of what attaching touches: next_process, the lives */
	uint64_t next_process;
	int sideband;        /* perf tells of forks, execs and exits */
	int whole_system;    /* only those that did something have rows */
	uint32_t target_pid; /* its last life is kept until its exit status is known */
	uint32_t waiting;    /* lives that attached and that perf has not seen yet */
	struct roster_life *lives;
	struct idmap by_pid;         /* pid -> its life at the time perf's events have come to */
	struct idmap by_uid;         /* process uid -> life */
	struct idmap threads;        /* (process uid, tid) -> thread */
	struct roster_thread *ended; /* oldest first: a ring may still tell of them */
	struct roster_thread **ended_last;
};

void roster_init(struct roster *roster);
void roster_release(struct roster *roster);

/* From the thread that answers agents: the uid for the process that attaches now. */
uint64_t roster_attach(struct session *s, uint32_t pid, int64_t now, unsigned origin, const char *comm);
/* It could not be given a pool after all. */
void roster_detach(struct session *s, uint64_t uid);

/* perf's events, in order of time. Each returns the life the event belongs to. */
struct roster_life *roster_fork(struct session *s, uint32_t pid, uint32_t ppid, int64_t time);
struct roster_life *roster_exec(struct session *s, uint32_t pid, int64_t time, const char *comm);
void roster_rename(struct session *s, uint32_t pid, uint32_t tid, const char *comm, int64_t time);
/* Its first code after an exec is the program's own. */
void roster_mapped(struct session *s, struct roster_life *life, const char *path);
void roster_exit(struct session *s, uint32_t pid, uint32_t tid, int64_t time);
/* The life of a pid as far as perf's events have been read; one that was there before is made
 * with what /proc says. NULL without memory. */
struct roster_life *roster_life(struct session *s, uint32_t pid, int64_t time);
/* Its last life, NULL when perf has seen none. */
struct roster_life *roster_last(struct session *s, uint32_t pid);
struct roster_life *roster_by_uid(struct session *s, uint64_t uid);
/* A thread of a life, made at first sight. NULL without memory. */
struct roster_thread *roster_thread(struct session *s, struct roster_life *life, uint32_t tid, int64_t time);

/* The agent's side: a ring slot was taken and given back. NULL where there is no life to share. */
struct roster_thread *roster_ring_opened(struct session *s, uint64_t process, uint32_t tid, uint32_t inner_tid, int64_t start);
void roster_ring_closed(struct session *s, struct roster_thread *t, int64_t end, const char *comm);
/* All its rings were read. */
void roster_agent_over(struct session *s, uint64_t process, int64_t end);

/* Once a round: writes the rows of threads that ended some time ago. */
void roster_age(struct session *s);
/* Rows as if everything ended now, for a report whose recorder dies. */
void roster_provisional(struct session *s);
/* The end of the recording: the rows of all that are left. */
void roster_finish(struct session *s);

#endif
