/* Steering a session from other commands: one request and one answer over a socket of the recorder's, which lies in a
 * folder that is the user's alone. docs/sessions.md tells more. */
#ifndef SONDE_RECORD_REQUESTS_REQUESTS_H
#define SONDE_RECORD_REQUESTS_REQUESTS_H

#include <stdint.h>

#include "base/error.h"
#include "record/profile_options.h"
#include "record/record.h"

#define STEER_MAGIC 0x31545353u
#define STEER_NAME_SIZE 128
#define STEER_MAX_SESSIONS 1000
#define STEER_LONGEST_NS (INT64_MAX / 4) /* centuries; times may be added to it */

enum steer_command {
	STEER_STATUS = 1,
	STEER_START = 2,
	STEER_STOP = 3,
	STEER_CANCEL = 4,
	STEER_SHUTDOWN = 5,
	STEER_TAKE = 6 /* 'launch' takes over a session that waits for a program */
};

enum steer_state {
	STEER_IDLE = 0, /* nothing is recorded */
	STEER_CAPTURING = 1,
	STEER_SETTLING = 2, /* stopped; the last events are on their way */
	STEER_WRITING = 3,  /* the report is being completed */
	/* As told, not as kept: */
	STEER_DELAYED = 4, /* a capture whose time has not come */
	STEER_ARMED = 5,   /* one that waits for the program to open its window */
	STEER_WAITING = 6  /* begun by 'start'; no program was launched yet */
};

enum steer_flags {
	STEER_OVERWRITE = 1,
	STEER_UNNAMED = 2 /* the report has no name of its own: one given with the program goes first */
};

/* Which members of steer_capture were said; the others are as 'launch' said. */
enum steer_given {
	STEER_GIVEN_RANGE = 1 << 0, /* range, schedule, names */
	STEER_GIVEN_END = 1 << 1,   /* end, repeats */
	STEER_GIVEN_VALUES = 1 << 2 /* values[0], and so on */
};

/* Options that 'start' hands on as they are. */
enum steer_value {
#define CPU_START(type, field, ...) STEER_##field,
#define CUDA_START(type, field, ...) STEER_##field,
#define RUN_START(type, field, ...) STEER_##field,
#include "record/profile_options.def"
	STEER_VALUE_COUNT
};
#define STEER_GIVEN(value) ((uint32_t)STEER_GIVEN_VALUES << (value))
#define STEER_GIVEN_ALL (STEER_GIVEN(STEER_VALUE_COUNT) - 1)

/* What 'start' says about one capture. */
struct steer_capture {
	uint32_t given; /* enum steer_given */
	uint32_t range; /* enum capture_range */
	uint32_t end;   /* enum capture_end */
	uint32_t repeats;
	int64_t values[STEER_VALUE_COUNT];
	struct record_after after;
	struct schedule schedule; /* with CAPTURE_RANGE_SCHEDULE */
	uint32_t any_domain;
	char range_name[RING_NVTX_RANGE + 1];
	char domain_name[RING_NVTX_DOMAIN + 1];
};

struct steer_request {
	uint32_t magic;
	uint32_t command;              /* enum steer_command */
	uint32_t flags;                /* enum steer_flags */
	int32_t signal;                /* STEER_SHUTDOWN: sent to the program; 0 = none */
	int64_t keep_ns;               /* STEER_STOP: of so much before the end; 0 = all */
	char output[RECORD_PATH_SIZE]; /* STEER_START: absolute, macros not yet replaced */
	struct steer_capture capture;  /* STEER_START */
};

struct steer_reply {
	uint32_t magic;
	int32_t status; /* 0 or an errno; then `text` says why */
	uint32_t state; /* enum steer_state */
	uint32_t id;
	uint32_t target;   /* pid */
	uint32_t captures; /* begun so far */
	uint32_t launches; /* programs */
	int64_t began;     /* the session; REALTIME seconds */
	char name[STEER_NAME_SIZE];
	char program[256];
	char text[512];
	struct record_result result; /* STEER_STOP; `path`: of the capture under way */
	struct steer_request start;  /* STEER_TAKE: what 'start' was told */
};

/* Whether a packet of this size makes sense; whoever may write to a socket may write anything. */
int steer_request_check(const struct steer_request *request, size_t size);
/* What a capture records: the options of 'launch' with what 'start' said. */
void steer_capture_apply(const struct steer_capture *capture, struct profile_options *options);

/* The recorder's end: listens under the smallest free number. Without `name` it is made of number and program.
 * Returns the descriptor. -EEXIST when a living session has that name. */
int steer_listen(const char *name, const char *program, uint32_t *ret_id, char *ret_name, struct error *err);
/* Takes the socket's name away. */
void steer_unlisten(uint32_t id);
/* Whether its name is still there: folders of a login go with it. */
int steer_is_there(uint32_t id);
/* Whether who connected may give commands: the same user, or root. */
int steer_is_allowed(int fd);

/* A session without a program: a process of its own keeps what 'start' was told until 'launch' takes it, or until another
 * command ends it. *ret tells its name and number. */
int steer_wait_for_launch(const char *name, const struct steer_request *start, struct steer_reply *ret, struct error *err);

/* Asks one session. -ENOENT and -ECONNREFUSED: there is none (any more); -ETIMEDOUT. */
int steer_ask(uint32_t id, const struct steer_request *request, int timeout_ms, struct steer_reply *ret, struct error *err);
/* Calls back for every session that answers, by number. A number other than 0 ends it and is returned. */
int steer_each(int (*callback)(const struct steer_reply *session, void *context), void *context, struct error *err);
/* The session of that name or number; the only one where `name` is NULL. */
int steer_find(const char *name, struct steer_reply *ret, struct error *err);

#endif
