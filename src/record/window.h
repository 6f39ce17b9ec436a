/* The capture window: when modules record. Several may follow each other in one recording. */
#ifndef SONDE_RECORD_WINDOW_H
#define SONDE_RECORD_WINDOW_H

#include <stdint.h>

#include "ring/ring_layout.h"

struct recorder;

/* A program asks for the window to open or close: from the drain thread to the other. */
struct capture_message {
	uint32_t request;   /* enum capture_request */
	uint32_t source;    /* enum capture_source */
	uint64_t process;   /* uid */
};

/* Agents that wait for the gate are woken. */
void gate_set(struct ring_session *page, uint32_t gate);

/* Readies the way for requests; 0 or a negative errno. */
int window_prepare(struct recorder *r);
void window_release(struct recorder *r);
/* The time has come at which recording begins, unless the program itself is to say when. */
void window_begin(struct recorder *r);
void window_close(struct recorder *r);
/* Requests have come. */
void window_requests(struct recorder *r);
/* At the end: one line where the program was to open a window and did not. */
void window_explain(struct recorder *r);
/* Whether all that agents still have of the last window is there, or has been waited for long
 * enough. */
int window_is_settled(const struct recorder *r, int64_t now);

#endif
