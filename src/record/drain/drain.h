/* The drain thread: reads the rings, decodes, writes the report. The other thread of the
 * recorder (which answers agents and the command line) talks to it through a mailbox. */
#ifndef SONDE_RECORD_DRAIN_DRAIN_H
#define SONDE_RECORD_DRAIN_DRAIN_H

#include <pthread.h>
#include <stdint.h>

#include "base/error.h"
#include "record/gpu/monitor.h"
#include "record/perf/perf.h"
#include "record/drain/process.h"
#include "record/session/session.h"

enum mail_kind {
	MAIL_PROCESS = 1, /* a process attached */
	MAIL_ENDED = 2,   /* it is gone, or has become another program */
	MAIL_DIAGNOSTIC = 3,
	MAIL_UNTRACED = 4, /* a program runs without the agent: text says which and why */
	MAIL_EXIT = 5      /* wait status of a process */
};

struct mail {
	struct mail *next;
	enum mail_kind kind;
	struct traced_process *process;
	uint64_t uid; /* MAIL_ENDED, MAIL_EXIT, MAIL_UNTRACED */
	uint32_t pid;
	int value;   /* severity or status */
	int64_t raw; /* MONOTONIC_RAW of the event */
	char text[1024];
};

struct drain {
	struct session session;
	struct perf perf;
	struct gpu_monitor gpu;
	struct ring_batch *batch;
	struct ring_session *page; /* the session page and, behind it, the doorbell */
	struct ring_doorbell *doorbell;
	pthread_t thread;
	pthread_mutex_t lock;
	struct mail *first, **last; /* under lock */
	int finish;                 /* under lock: read the rest, then stop */
	/* Under lock. Each hold has a number: one that has ended is not taken for the next, however late the thread wakes up. */
	uint32_t holds;           /* asked for so far */
	uint32_t hold;            /* the one that is asked for: the thread is to wait, all rings read; 0: none */
	uint32_t held;            /* the one it waits for */
	pthread_cond_t changed;   /* of these */
	int full;                 /* under lock: the disk is full */
	struct error write_error; /* under lock, with full */
	int64_t last_tick;
	int active;     /* something came since the last tick */
	uint64_t bytes; /* of this round */
	int more;       /* a ring had more than one round takes */
	int64_t pause_ns;
};

/* The session's writer, clock and page are set by the caller before. */
int drain_start(struct drain *d, struct error *err);
/* Takes ownership of the mail. */
void drain_post(struct drain *d, struct mail *mail);
struct mail *drain_mail(enum mail_kind kind);
void drain_diagnose(struct drain *d, int severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Everything written by now is read, and the thread waits until it is let go. */
void drain_hold(struct drain *d);
void drain_let_go(struct drain *d);
/* While it is held: what is open belongs to the report before, where it has its end. */
void drain_forget_open(struct drain *d);
/* In a copy of the process made while the thread was held: all processes end now. The rings are not touched, they
 * are the original's. */
void drain_finish_copy(struct drain *d);
/* Reads everything that is left, ends all processes and returns when the thread has. */
void drain_finish(struct drain *d);
void drain_release(struct drain *d);

#endif
