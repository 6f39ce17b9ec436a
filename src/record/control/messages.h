/* Messages between the command line's process and its recorder, over a socket pair. */
#ifndef SONDE_RECORD_CONTROL_MESSAGES_H
#define SONDE_RECORD_CONTROL_MESSAGES_H

#include <stdint.h>

#include "base/error.h"
#include "record/record.h"

enum control_kind {
	/* to the recorder */
	CONTROL_TARGET = 1,    /* value: pid of the target, which waits to be started */
	CONTROL_STARTED = 2,   /* it is running its program now */
	CONTROL_FAILED = 3,    /* it could not be started: remove everything */
	CONTROL_INTERRUPT = 4, /* value: the signal */
	CONTROL_EXITED = 5,    /* value: wait status */
	CONTROL_TRIGGER = 6,   /* a signal asks for a report of the flight recorder */
	CONTROL_TOGGLE = 7,    /* -c hotkey: opens the window, or closes it */
	/* from the recorder */
	CONTROL_READY = 10,
	CONTROL_REFUSED = 11, /* value: errno, error: why */
	CONTROL_WINDOW = 13,  /* value: number of the window that has opened; where the options want to know */
	CONTROL_REPORT = 14,  /* a report of a session that goes on; as CONTROL_RESULT */
	CONTROL_STAYS = 15,   /* the session goes on without its program; nobody need wait for it */
	CONTROL_FLIGHT = 16,  /* a report of the flight recorder, as CONTROL_RESULT; or it has begun */
	CONTROL_COPIED = 17,  /* from the copy that writes one: it has all it needs of the ring */
	CONTROL_RESULT = 12   /* value: 0 or a negative errno, result and error filled */
};

struct control_message {
	uint32_t kind;
	int32_t value;
	uint32_t reported; /* CONTROL_REPORT: another command tells of it */
	struct error error;
	struct record_result result;
};

#endif
