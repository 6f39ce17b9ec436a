/* The recorder process: its main thread answers agents and the command line and watches
 * processes; the drain thread (record/drain/drain.h) does the rest. */
#ifndef SONDE_RECORD_CONTROL_RECORDER_H
#define SONDE_RECORD_CONTROL_RECORDER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/system/elf_peek.h"
#include "record/control/messages.h"
#include "record/drain/drain.h"
#include "base/idmap.h"
#include "record/session/proc.h"
#include "record/profile_options.h"
#include "ring/wire.h"

/* What an epoll event is about: first member of everything that is watched. */
/* clang-format off */
enum source_kind { SOURCE_CONTROL, SOURCE_LISTENER, SOURCE_CONNECTION, SOURCE_PROCESS,
		   SOURCE_SIGNAL, SOURCE_CAPTURE, SOURCE_STEER, SOURCE_STEER_CLIENT, SOURCE_COPY,
		   SOURCE_TRIGGER, SOURCE_FLIGHT_COPY, SOURCE_ATTACH };
/* clang-format on */

struct source {
	enum source_kind kind;
	int fd;
};

/* An agent that has connected and not yet said all it has to say. */
struct connection {
	struct source source;
	struct connection *next, **link;
	int64_t since;
};

/* A living process, by its pidfd. Attached, or only known of (uid 0). */
struct watch {
	struct source source;
	struct watch *next, **link;
	uint32_t pid;
	uint64_t uid;
	char name[32];
};

/* A program about to run: if it does not attach, somebody should know why. */
struct notice {
	struct notice *next;
	uint32_t pid;
	int injected;
	int64_t due;
	char before[256]; /* what the process ran when it told us */
	char path[WIRE_PATH_SIZE];
};

struct secret {
	char name[WIRE_NAME_HEX + 1];
	uint8_t token[WIRE_TOKEN_SIZE];
};

/* Output of the target that is not shown (-w false): -1 where it is. */
struct captured {
	int out;
	int err;
};

enum recording_over { RECORDING_GOES_ON, RECORDING_ENDED_BY_CLOCK, RECORDING_ENDED_BY_PROGRAM };

struct recorder {
	const struct profile_options *options;
	const struct secret *secret;
	struct captured captured;
	enum elf_peek_kind target_kind;
	struct source control;
	struct source listener;
	struct source signals;
	struct source capture; /* the program asks for a window; none without --capture-range */
	int epoll;
	int session_fd;
	struct ring_session *page;
	uint32_t windows;          /* opened so far */
	struct window_span *spans; /* WINDOW_SPANS of them */
	uint32_t span_count;
	uint32_t windows_reported; /* to the command line's process */
	uint64_t closed_ticks;     /* the end of the last one */
	int hotkey_armed;          /* -c hotkey: the key has a meaning now */
	uint64_t steps;            /* --schedule: one above the last that was asked about */
	uint64_t cycle;            /* of the schedule, in which the last window opened */
	int64_t settle_by;         /* how long to wait for what belongs to the last one */
	uint64_t boot_ticks;       /* when this recording began, as /proc/PID/stat counts */
	struct steering *steering; /* record/control/steering.h; NULL: no other command has a say */
	struct flight *flight;     /* record/control/flight.h; NULL: everything is kept */
	struct attach *attach;     /* record/control/attach.h; NULL: the target was started for us */
	struct drain drain;
	char path[RECORD_PATH_SIZE];
	struct connection *connections;
	unsigned connection_count;
	struct watch *watches;
	unsigned watch_count;
	unsigned unwatched_count; /* of these, without a pidfd: they are looked at */
	struct idmap by_pid;      /* pid -> struct watch */
	struct notice *notices;
	unsigned notice_count;
	struct idmap reported; /* hashes of programs already named as not traceable */
	uint32_t target_pid;
	uint64_t target_uid;      /* process uid of its last life */
	char target_refused[256]; /* why its agent got no pool */
	int target_attached;      /* the target itself attached at least once */
	int target_gone;          /* pidfd fired, or it was seen */
	int exit_known;
	int exit_status;
	int command_line_gone;
	int started;
	int window_begun; /* window_begin() was called for this recording, or this capture of a session */
	int interrupts;
	enum recording_over recording_over; /* the window is closed for good */
	int killed;                         /* kill_signal was sent */
	int64_t start_at;                   /* ns of CLOCK_MONOTONIC; 0 = not set */
	int64_t stop_at;
	int64_t give_up_at;
	int finish;
	struct buf notes;
};

/* Runs in the forked child until the report is complete; returns its exit status. */
int recorder_main(const struct profile_options *options, const struct secret *secret, const struct captured *captured,
		  enum elf_peek_kind target_kind, int control);

int64_t recorder_raw_now(void); /* CLOCK_MONOTONIC_RAW, for the report */
void recorder_note(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Events of this descriptor from now on. -1, and errno. */
int recorder_watch_source(struct recorder *r, struct source *source);
/* No more events of this descriptor, and closed. A copy of the process may have it open (record/control/capture.c): closing alone
 * would not end the events. */
void recorder_close_source(struct recorder *r, const struct source *source);
/* The command line's process has said something, or is gone. */
void recorder_on_control(struct recorder *r);
/* Begins the report that the options name. */
int recorder_open_output(struct recorder *r, pid_t pid, struct error *err);
/* Ends the session, and its processes with a signal other than 0. */
void recorder_shut_down(struct recorder *r, int signal);

/* agents.c */
int agents_listen(struct recorder *r, struct error *err);
void agents_accept(struct recorder *r);
void agents_readable(struct recorder *r, struct connection *c);
void agents_timeout(struct recorder *r);
void agents_release(struct recorder *r);
int agents_make_session_page(struct recorder *r, struct error *err);

/* watch.c */
struct watch *watch_find(const struct recorder *r, uint32_t pid);
struct watch *watch_add(struct recorder *r, uint32_t pid, uint64_t uid);
void watch_ended(struct recorder *r, struct watch *w);
/* Has one without a pidfd ended? */
int watch_sees_end(const struct watch *w);
void watch_kill_all(struct recorder *r, int signal);
/* Finds processes that carry this session's variable and did not attach. */
void watch_find_strays(struct recorder *r);
/* Say in the notes and in the report who outlived the program, or the recording. */
void watch_name_ended(struct recorder *r, int signal);
void watch_name_leftovers(struct recorder *r);
void watch_release(struct recorder *r);

/* notices.c */
void notices_add(struct recorder *r, uint32_t pid, const char *path, int injected);
void notices_attached(struct recorder *r, uint32_t pid);
void notices_ended(struct recorder *r, uint32_t pid);
/* Looks at those that are due; all of them with `all`. */
void notices_check(struct recorder *r, int all);
void notices_release(struct recorder *r);

/* facts.c */
void meta_begin(struct recorder *r);
void meta_sampling(struct recorder *r); /* when it is known what the kernel allows */
void meta_end(struct recorder *r);

#endif
