/* The capture window: when modules record. Several may follow each other in one recording. */
#ifndef SONDE_RECORD_SESSION_WINDOW_H
#define SONDE_RECORD_SESSION_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "ring/ring_layout.h"

struct recorder;
struct profile_options;

/* A program asks for the window to open or close: from the drain thread to the other. */
struct capture_message {
	uint32_t request; /* enum capture_request */
	uint32_t source;  /* enum capture_source */
	uint64_t owner;   /* ring_owner() of the thread that asks */
	uint64_t ticks;   /* when */
	uint64_t step;    /* CAPTURE_STEP: its number, as the agent counts */
};

/* Names of ranges that came while another was waited for, by the drain thread. */
#define WINDOW_SEEN 8
struct window_seen {
	char names[WINDOW_SEEN][96];
	uint32_t count;
	uint32_t more; /* there were others */
};
void window_saw(struct window_seen *seen, const char *name, size_t size);

/* When a window was open, ns since the recording began. The first so many of a report are told in it. */
#define WINDOW_SPANS 1000u
struct window_span {
	int64_t start;
	int64_t end;    /* 0: it is open */
	uint64_t cycle; /* --schedule: from 0, as steps */
	uint64_t step;
};
/* At the end: facts of the report about each. */
void window_report_spans(struct recorder *r);

/* Agents that wait for the gate are woken. */
void gate_set(struct ring_session *page, uint32_t gate);

/* What agents compare ranges with. */
void window_fill_page(struct ring_session *page, const struct profile_options *o);
/* Readies the way for requests; 0 or a negative errno. */
int window_prepare(struct recorder *r);
void window_release(struct recorder *r);
/* The time has come at which recording begins, unless the program itself is to say when. */
void window_begin(struct recorder *r);
/* A window that is open stays the same one. */
void window_open(struct recorder *r);
/* A window that is open lasts --duration from now on, unless its time has begun. */
void window_start_duration(struct recorder *r);
/* One that follows another at once, without a pause for agents. */
void window_next(struct recorder *r);
void window_close(struct recorder *r);
void window_close_to(struct recorder *r, uint32_t gate);
/* There will be no other window: what would open one costs nothing any more. */
void window_disarm(struct recorder *r);
/* Closes it, and none opens before window_begin(). */
void window_end(struct recorder *r);
/* Windows of this recording, or of this capture of a session. */
uint32_t windows_so_far(const struct recorder *r);
/* Requests have come. */
void window_requests(struct recorder *r);
/* -c hotkey: the key was pressed. */
void window_toggle(struct recorder *r);
/* --schedule (window_steps.c): steps are counted from now on; one has begun. */
void window_steps_begin(struct recorder *r);
void window_step(struct recorder *r, const struct capture_message *message);
/* Steps of a schedule that were seen. */
uint64_t window_steps_seen(const struct recorder *r);
/* From the drain thread: a thread is gone. If steps were counted in it, the next one that has steps takes its place. */
void window_thread_ended(struct ring_session *page, uint64_t owner);
/* At the end: one line where the program was to open a window and did not. */
void window_explain(struct recorder *r);
/* Whether all that agents still have of the last window is there, or has been waited for long
 * enough. */
int window_is_settled(const struct recorder *r, int64_t now);

#endif
