/* The flight recorder: the file keeps the last part of the recording, and reports of it are written when something happens
 * (record/session/trigger.h), each by a copy of this process. docs/flight.md. All of this in the main thread. */
#ifndef SONDE_RECORD_CONTROL_FLIGHT_H
#define SONDE_RECORD_CONTROL_FLIGHT_H

#include "record/control/recorder.h"
#include "record/session/trigger.h"

struct steer_client;

struct flight {
	struct source source; /* triggers that the drain thread saw */
	struct source copy;   /* from the copy that writes a report; fd -1: none */
	pid_t copy_pid;
	int pipe_end;        /* the drain thread's */
	int64_t number;      /* of the last report */
	int64_t written;     /* reports begun */
	int64_t complete;    /* and completed */
	int64_t ignored;     /* triggers that came too soon, or too late */
	int64_t due;         /* when the report that is asked for is begun; 0: none is */
	int64_t moment;      /* of its trigger, ns since the session began */
	int64_t asked_ns;    /* a report is to have less than is kept: stop --keep */
	int64_t quiet_until; /* a series of slow ranges is one trigger */
	int crash_reported;
	int over;         /* the drain thread has read everything and ended */
	char reason[256]; /* of the report being written */
	char path[RECORD_PATH_SIZE];
};

/* After the report has been opened and before anything is recorded; 0 or a negative errno. */
int flight_begin(struct recorder *r, struct error *err);
/* When the drain thread's state is there, and the program is about to run. */
int flight_start(struct recorder *r, struct error *err);
/* To the command line: which session this is. */
void flight_announce(struct recorder *r);
void flight_triggers(struct recorder *r);
/* A report is asked for, by `client` where that waits for an answer. */
void flight_trigger(struct recorder *r, enum trigger_kind kind, const char *reason, struct steer_client *client);
void flight_copy_readable(struct recorder *r);
/* After every event. */
void flight_step(struct recorder *r, int64_t now);
/* All has been read: whether a report is to be completed now. The file is left as one of the last part, or removed. */
int flight_finish(struct recorder *r, struct control_message *ret);
void flight_end(struct recorder *r);

/* Events that are in the file, as others count them: a push and its pop are two. */
uint64_t flight_events(const struct session *s);

#endif
