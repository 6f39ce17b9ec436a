/* A target that runs already: whether it can be recorded, and the agents' way into it and out again.
 *
 * A process of its own takes them there (sonde-attach): the recorder has to answer agents meanwhile, and may be killed;
 * the agents are fetched out then all the same. */
#ifndef SONDE_RECORD_CONTROL_ATTACH_H
#define SONDE_RECORD_CONTROL_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "record/control/recorder.h"

/* Between the recorder and the process that visits targets. */
enum attach_kind {
	ATTACH_VISIT = 1,     /* to it: the agents go into process `pid` */
	ATTACH_VISITED = 2,   /* from it: they are, or `text` says why not */
	ATTACH_LEAVE_ALL = 3, /* to it: they leave all processes, and it ends */
	ATTACH_LEFT = 4       /* from it: process `pid` is left, or `text` says why not */
};

struct attach_message {
	uint32_t kind;
	uint32_t pid;
	int32_t result; /* 0 or a negative errno */
	char text[1024];
};

struct attach {
	struct source helper; /* fd -1: no agents are wanted, or it is gone */
	pid_t helper_pid;
	int lock;             /* held while the process is recorded; nobody else can */
	uint32_t waiting;     /* visits that were asked for and not answered */
	struct idmap visited; /* pid -> 1 */
	uint32_t rounds;
	int entering;     /* not all processes were visited yet ... */
	int64_t enter_by; /* ... which is not waited for any longer then */
	int died;         /* one did, while it was visited */
};

/* In the process that asks: 0 when it can be recorded. *ret_without says, where agents are wanted by default and cannot go in, why; else
 * it is empty. */
int attach_examine(const struct profile_options *options, char *ret_without, size_t size, struct error *err);
/* Whether the options want agents in the process. */
int attach_wants_agents(const struct profile_options *options);
/* Holds the process for this recorder alone. Returns a descriptor. */
int attach_lock(uint32_t pid, struct error *err);

/* In the recorder: nobody else records this process from now on. */
int attach_prepare(struct recorder *r, struct error *err);
/* Before it has threads, and when the session page is complete. */
int attach_start_helper(struct recorder *r, struct error *err);
/* Agents are sent into the target, and into the processes below it. */
void attach_begin(struct recorder *r);
/* What became of the target, where it is there no more. */
void attach_explain(struct recorder *r);
void attach_readable(struct recorder *r);
int attach_is_entering(const struct recorder *r);
/* The recording is over: agents leave, which is waited for. The gate is closed. */
void attach_end(struct recorder *r);
void attach_release(struct recorder *r);

/* attach_helper.c: the process that visits, until its other end of the socket is closed; does not return. */
struct attach_request;
void attach_helper_main(int socket, const struct attach_request *request, const char *library) __attribute__((noreturn));

#endif
