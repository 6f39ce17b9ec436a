/* The recorder's side of a session: answers commands (record/requests/requests.h), begins and ends captures. All of it in the
 * main thread. */
#ifndef SONDE_RECORD_CONTROL_STEERING_H
#define SONDE_RECORD_CONTROL_STEERING_H

#include "record/profile_options.h"
#include "record/control/recorder.h"
#include "record/requests/requests.h"

struct steer_client {
	struct source source;
	struct steer_client *next, **link;
	int64_t since;
};

struct steering {
	struct source listener;
	struct source copy; /* from the copy of this process that completes a report; fd -1: none */
	pid_t copy_pid;
	enum steer_state state;
	struct steer_client *clients;
	unsigned client_count;
	struct steer_client *waiting; /* asked for the stop; NULL: went away */
	struct steer_reply reply;     /* the one being made */
	const struct profile_options *launched;
	struct profile_options options; /* the same, with what this capture says differently */
	struct record_after after;
	int stay_reported;
	int shut_down; /* when the report is complete */
	char output[RECORD_PATH_SIZE];
	char name[STEER_NAME_SIZE];
	uint32_t id;
	uint32_t captures;
	uint32_t windows_before; /* of captures that are over */
	int64_t began;
	int64_t keep_ns; /* of the report being completed: its last part; 0 = all */
};

/* Listens; 0 or a negative errno. */
int steering_begin(struct recorder *r, struct error *err);
/* The capture that begins with the program. */
int steering_first(struct recorder *r, struct error *err);
void steering_accept(struct recorder *r);
void steering_readable(struct recorder *r, struct steer_client *client);
/* The report of a capture is complete. */
void steering_copy_done(struct recorder *r);
/* To who waits for a report, or asked for one in vain: of the flight recorder. */
void steering_give_result(struct recorder *r, const struct control_message *message);
void steering_refuse(struct recorder *r, struct steer_client *client, const char *why);
/* After every event. */
void steering_step(struct recorder *r, int64_t now);
/* The program has ended and its capture has not: who launched it need not wait. */
void steering_stay(struct recorder *r);
/* Whether there is a report to be completed by the recorder itself, as it ends. */
int steering_owns_report(const struct recorder *r);
/* The recorder ends: its last report goes to who asked for it, and nobody finds the session any more. */
void steering_end(struct recorder *r, const struct control_message *result);

/* capture.c: 0 or a negative errno */
int capture_begin(struct recorder *r, const struct steer_request *request, struct error *err);
int capture_drop(struct recorder *r, struct error *err);
/* Hands the report to a copy of this process, which completes it and tells over steering.copy. */
int capture_end(struct recorder *r, struct error *err);

#endif
