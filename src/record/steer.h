/* Steering a session from other commands: one request and one answer over a socket of the recorder's, which lies in a
 * folder that is the user's alone. docs/sessions.md tells more. */
#ifndef SONDE_RECORD_STEER_H
#define SONDE_RECORD_STEER_H

#include <stdint.h>

#include "base/error.h"
#include "record/record.h"

#define STEER_MAGIC 0x31545353u
#define STEER_NAME_SIZE 128
#define STEER_MAX_SESSIONS 1000

enum steer_command {
	STEER_STATUS = 1,
	STEER_START = 2,
	STEER_STOP = 3,
	STEER_CANCEL = 4,
	STEER_SHUTDOWN = 5
};

enum steer_state {
	STEER_IDLE = 0,       /* nothing is recorded */
	STEER_CAPTURING = 1,
	STEER_SETTLING = 2,   /* stopped; the last events are on their way */
	STEER_WRITING = 3     /* the report is being completed */
};

enum steer_flags { STEER_OVERWRITE = 1 };

struct steer_request {
	uint32_t magic;
	uint32_t command;     /* enum steer_command */
	uint32_t flags;       /* enum steer_flags */
	int32_t signal;       /* STEER_SHUTDOWN: sent to the program; 0 = none */
	int64_t keep_ns;      /* STEER_STOP: of so much before the end; 0 = all */
	char output[RECORD_PATH_SIZE]; /* STEER_START: absolute, macros not yet replaced */
};

struct steer_reply {
	uint32_t magic;
	int32_t status;       /* 0 or an errno; then `text` says why */
	uint32_t state;       /* enum steer_state */
	uint32_t id;
	uint32_t target;      /* pid */
	uint32_t captures;    /* begun so far */
	int64_t began;        /* the session; REALTIME seconds */
	char name[STEER_NAME_SIZE];
	char program[256];
	char text[512];
	struct record_result result; /* STEER_STOP; `path` also for STEER_START */
};

/* The recorder's end: listens under the smallest free number. Without `name` it is made of number and program.
 * Returns the descriptor. -EEXIST when a living session has that name. */
int steer_listen(const char *name, const char *program, uint32_t *ret_id, char *ret_name, struct error *err);
/* Takes the socket's name away. */
void steer_unlisten(uint32_t id);

/* Asks one session. -ENOENT and -ECONNREFUSED: there is none (any more); -ETIMEDOUT. */
int steer_ask(uint32_t id, const struct steer_request *request, int timeout_ms, struct steer_reply *ret,
	      struct error *err);
/* Calls back for every session that answers, by number. A number other than 0 ends it and is returned. */
int steer_each(int (*callback)(const struct steer_reply *session, void *context), void *context, struct error *err);
/* The session of that name or number; the only one where `name` is NULL. */
int steer_find(const char *name, struct steer_reply *ret, struct error *err);

#endif
