/* What the drain thread knows: the report being written, the clock, the processes
 * and threads seen so far. One thread uses all of this. */
#ifndef SONDE_RECORD_SESSION_SESSION_H
#define SONDE_RECORD_SESSION_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/secrets.h"
#include "fmt/record.h"
#include "fmt/tables.h"
#include "base/idmap.h"
#include "record/session/roster.h"
#include "record/session/timebase.h"
#include "record/session/window.h"
#include "report/writer.h"
#include "ring/ring_reader.h"

enum diagnostic_source { SOURCE_AGENT = 1, SOURCE_RECORDER = 2 };

/* Ranges begun by a thread in a domain and ended by anyone: each open one has a track of its
 * own, so that every track is sorted by start and by end. Outlives the
 * thread while ranges are open. */
struct placed_track {
	struct report_track *track;
	int64_t last_end;
};

struct track_set {
	unsigned refs; /* the thread, and every open range */
	uint64_t process;
	uint64_t thread;
	uint64_t domain; /* uid */
	struct placed_track *tracks;
	uint64_t *free_tracks; /* one bit per track */
	uint32_t count;
	uint32_t cap;
	uint32_t free_words;
};

/* An event's attributes, as far as the columns of SLICE and INSTANT have them. */
struct event_attributes {
	int64_t start;
	uint64_t name;  /* 0 = none */
	uint32_t flags; /* enum slice_flags */
	NVTX_FIELDS(NVTX_FIELD_MEMBER)
	uint32_t color;
	uint32_t payload_kind;
	uint64_t payload;
	uint64_t blob; /* the first binary payload; 0 = none */
	uint64_t schema;
	uint64_t args; /* ARG.set of the others; 0 = none */
};

struct open_push {
	uint32_t level;
	uint8_t hang_reported; /* it lasts so long that a report was written */
	int64_t named;         /* when its name got its id */
	uint8_t plain;         /* start and name are all there is */
	struct event_attributes event;
};

/* One thread in one domain. */
struct domain_state {
	uint32_t id;
	uint64_t uid;
	struct open_push *open;
	uint32_t depth;
	uint32_t open_cap;
	uint32_t track_count;
	struct report_track **tracks; /* by level */
	struct report_track *marks;
	int64_t last_mark;
	struct track_set *start_end_tracks;
};

/* Binary payloads of one event that are in the report already, in the order of the call. */
struct stored_payload {
	uint64_t blob;
	uint64_t schema;
	uint32_t number; /* in the call */
};

struct payload_list {
	struct stored_payload *items;
	uint32_t count;
	uint32_t cap;
	uint32_t lost; /* some is missing, whole or in part */
};

/* Pieces of binary payloads, waiting for the event they belong to. */
struct pending_payloads {
	uint64_t time; /* of the event, in ticks */
	struct payload_list done;
	uint8_t *data; /* the one whose last piece has not come */
	size_t size;
	size_t cap;
	uint8_t open;  /* there is such a one */
	uint8_t cut;   /* some of its bytes are missing */
	uint8_t taken; /* the event has come: what follows is another's */
};

struct loss_counts {
	uint64_t dropped;
	uint64_t stacks_cut;
	uint64_t details;
	uint64_t refused;
	uint64_t unmatched;
	uint64_t damaged;
	uint64_t push_missing;
	uint64_t unmatched_end;
};

/* A name with a number in a thread's ring (RECORD_NVTX_NAME). */
struct numbered_name {
	uint64_t name; /* string id; 0 = the event has none */
	uint32_t color;
	uint32_t category;
	uint16_t domain;
	uint8_t flags; /* enum slice_flags */
	uint8_t payload_kind;
	uint8_t known;
	uint8_t plain; /* nothing but the name */
	int64_t since; /* a name that passes: when it got this id */
	char *text;    /* and what it says; NULL: it stays */
	uint32_t text_size;
};

struct traced_thread {
	uint64_t uid;
	struct roster_thread *shared; /* with perf; NULL: nobody else knows it */
	uint32_t slot;
	uint32_t tid;
	uint32_t inner_tid;
	uint8_t damaged;
	int64_t start;
	int64_t last_time; /* times of one thread never go back */
	char name[RING_COMM_SIZE];
	int16_t priority;
	struct domain_state *last_domain;
	struct domain_state **domains;
	uint32_t domain_count;
	struct idmap domain_index; /* used when there are many */
	struct idmap counters;     /* (counter id, field) hash -> index in counter_tracks */
	struct report_track **counter_tracks;
	uint32_t counter_count;
	struct pending_payloads payloads;
	struct numbered_name *names;         /* RECORD_SHORT_NAMES of them, or NULL */
	struct timer_samples *timer_samples; /* record/stacks/timer_samples.c */
	struct osrt_thread *osrt;            /* record/drain/osrt.c, as below */
	struct torch_thread *torch;          /* record/torch/operators.c, as below */
	struct written_stack *stack;         /* record/stacks/call_stack.c */
	struct loss_counts seen;             /* what loss rows have told already */
	struct loss_counts counts;
};

/* Names given by a process; a forked child sees those its parent gave before. */
struct definitions {
	unsigned refs;
	struct definitions *parent;
	uint64_t string_limit; /* ids below are the parent's */
	uint64_t domain_limit;
	uint64_t process;
	struct idmap strings;  /* id -> report string id */
	struct idmap domains;  /* id -> uid */
	struct idmap counters; /* id -> index in counter_texts */
	struct counter_text *counter_texts;
	uint32_t counter_count;
};

struct counter_text {
	uint64_t domain;
	uint64_t name; /* string ids, 0 = none */
	uint64_t description;
	uint64_t schema;
};

struct open_range {
	uint64_t id;
	struct track_set *tracks;
	uint32_t track;
	uint8_t used;
	uint8_t hang_reported;
	int64_t named;
	struct event_attributes event;
};

/* An end whose start is still in a ring not read yet. */
struct early_end {
	uint64_t id;
	uint64_t thread;
	int64_t time;
	uint32_t rounds;
	struct payload_list payloads; /* its own copy */
};

struct process_info {
	uint32_t pid; /* recorder's namespace, 0 = not visible */
	uint32_t inner_pid;
	uint32_t ppid;
	uint32_t origin;         /* enum wire_origin */
	uint64_t parent_process; /* fork: uid whose definitions are inherited */
	uint64_t next_string;
	uint64_t next_domain;
	int64_t attached_raw; /* MONOTONIC_RAW */
	char name[32];
	char exe[512];
	char cmdline[1024];
};

struct code_range {
	uint64_t start;
	uint64_t end;
};

struct traced_process {
	struct traced_process *next, **link; /* in session.processes */
	struct process_info info;
	uint64_t uid;
	uint64_t parent;
	struct ring_reader reader;
	struct definitions *definitions;
	struct traced_thread **threads; /* by slot */
	uint32_t thread_cap;
	struct idmap range_index; /* range id -> index in ranges */
	struct open_range *ranges;
	uint32_t range_cap;
	uint32_t range_free;      /* first unused + 1, chained through `track` */
	struct idmap early_index; /* range id -> index in early */
	struct early_end *early;
	uint32_t early_count;
	uint32_t early_cap;
	int64_t last_time;
	int dead;
	int64_t died_raw;
	int exit_known;
	int exit_status;
	uint32_t unreachable_seen; /* of the pool's count, told already */
	uint64_t no_slot_seen;
	uint8_t lost_some; /* events that had no room in its rings */
	uint32_t tid_searches;
	struct osrt_process *osrt;
	struct torch_process *torch;
	struct code_range own_code[4]; /* of the agent and of CUPTI */
	uint32_t own_code_count;
	struct cuda_process *cuda; /* record/cuda */
	struct idmap thread_uids;  /* inner tid -> uid of those that had a ring: records may name them later */
};

#define SESSION_DEAD_DEFINITIONS 256
#define SESSION_TABLES 128
#define SESSION_MAX_TRACKS (1u << 24) /* no honest program comes near */

struct session {
	struct report_writer *writer;
	struct timebase time;
	struct report_track *tables[SESSION_TABLES]; /* PLAIN tables */
	struct spaces *spaces;                       /* record/session/address_space.h */
	struct stacks *stacks;                       /* record/stacks/stacks.h */
	struct sched *sched;                         /* record/perf/sched.h */
	struct roster roster;
	struct gpus *gpus;                   /* record/session/gpus.h */
	struct cuda_session *cuda;           /* record/cuda */
	const struct kernel_choice *kernels; /* NULL: no counters are read */
	uint64_t *osrt_names;                /* string ids by number of the function; 0 = not used yet */
	uint32_t operators_seen;             /* 1: of PyTorch; there were some */
	uint32_t osrt_depth;                 /* longest stack of an OS runtime call */
	enum store_environment store;        /* what of command lines is kept */
	uint64_t next_file;
	struct traced_process *processes;
	struct idmap process_uids; /* uid -> pointer */
	/* Definitions of processes that ended: a late child may still ask for them. */
	struct definitions *dead_definitions[SESSION_DEAD_DEFINITIONS];
	uint32_t dead_next;
	uint64_t next_thread;
	uint32_t priorities_read;
	uint64_t next_domain;
	uint64_t next_arg_set;
	uint32_t next_track;
	uint32_t chunks_in_circulation;
	uint64_t events;                   /* records decoded that are events */
	uint64_t unwritten;                /* events decoded after the disk was full */
	uint64_t dropped;                  /* events that are lost: with those written they are all there were */
	uint64_t gpu_lost;                 /* states and switches of GPUs, which are no events */
	uint64_t unreported[LOSS_REASONS]; /* losses that wait for the end of the report: it takes few rows more */
	uint64_t timer_samples;            /* taken in targets, and the CPU time they stand for */
	uint64_t timer_samples_ns;
	uint64_t untraced; /* programs that could not be traced */
	uint32_t cost_pair_ps;
	uint32_t cost_clock_ps;
	int64_t now; /* newest snapshot: no record can be younger */
	int full;    /* the writer takes no more rows */
	struct window_seen seen;
	struct triggers *triggers;   /* record/session/trigger.h; NULL: nobody waits for anything */
	_Atomic int keep_all;        /* for the other thread: nothing is dropped from the file */
	int capture_fd;              /* where requests for a window go; 0 = nobody wants them */
	struct ring_session *page;   /* NULL: nobody counts steps */
	_Atomic uint64_t steps_seen; /* of a schedule; for the other thread */
	/* Raw times of the newest window, and the end of the one before, for the other thread; 0: none yet. */
	_Atomic int64_t window_start;
	_Atomic int64_t window_end;
	_Atomic int64_t window_before;
	uint32_t whole_rounds;       /* over all rings, each to its end */
	_Atomic uint32_t unfinished; /* processes that have more to tell of a window; for the other thread */
	_Atomic int cuda_seen;       /* a process has initialised CUDA */
	char cuda_trouble[400];      /* the first that kept one from being recorded */
};

/* Appends a row to a PLAIN table. */
int session_row(struct session *s, enum table_id table, const int64_t *values, uint32_t present);
/* Appends a row that stands for `events` events, to a track that may be NULL (there were too
 * many). What cannot be written is counted, by its reason. */
void session_event_row(struct session *s, struct traced_thread *t, struct report_track *track, const int64_t *values, uint32_t present,
		       unsigned events);
/* A new track and its row; NULL when there are too many. `process`, `thread` and `domain` are uids. */
struct report_track *session_track(struct session *s, enum table_id table, enum track_kind kind, uint64_t process, uint64_t thread,
				   uint64_t domain, uint32_t depth);
uint64_t session_text(struct session *s, const char *text);
/* A thread's priority, of as many threads as cost little; and the bits of its row with it, where it is known. */
int16_t session_read_priority(struct session *s, uint32_t pid, uint32_t tid);
uint32_t session_priority(int16_t priority, int64_t *values, uint32_t present);
/* Rows of META; the number may be NULL. */
void session_meta(struct session *s, const char *key, const char *text, const int64_t *number);
void session_fact(struct session *s, const char *key, int64_t number);
void session_diagnose(struct session *s, enum diagnostic_source source, int severity, uint64_t process, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void session_loss(struct session *s, uint64_t process, uint64_t thread, enum loss_reason reason, uint64_t count);
/* At the end: what is lost because the report takes no more rows. */
void session_report_unreported(struct session *s, uint64_t process);
/* Appends a row of a PLAIN table that stands for an event. */
void session_plain_event(struct session *s, enum table_id table, const int64_t *values, uint32_t present);
/* An event that was counted and makes no sense. */
void session_event_damaged(struct session *s, struct traced_thread *t);
/* Takes a snapshot, moves session.now, keeps a clock row now and then. `force` keeps
 * it in any case. */
void session_snapshot(struct session *s, int force);

#endif
