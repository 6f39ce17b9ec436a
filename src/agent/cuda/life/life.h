/* When CUPTI is ours, and when it records: shared by the files that decide it. */
#ifndef SONDE_AGENT_CUDA_LIFE_LIFE_H
#define SONDE_AGENT_CUDA_LIFE_LIFE_H

#include "agent/cuda/cuda.h"

#define CUDA_HIDDEN __attribute__((visibility("hidden")))

/* Why no activity may be enabled whatever the gate says; several may hold. */
enum cuda_hold {
	CUDA_HOLD_EXIT = 1u << 0,    /* exit handlers run: CUPTI is about to be gone */
	CUDA_HOLD_OTHER = 1u << 1,   /* the program uses CUPTI itself */
	CUDA_HOLD_SILENCE = 1u << 2, /* the recorder does not read */
	CUDA_HOLD_DETACHED = 1u << 3 /* there is none: the program was attached to, and is not any more */
};

/* Changes at one's turn. */
enum cuda_leaving {
	CUDA_STAYS = 0,
	CUDA_LEAVES = 1 /* calls are watched for the moment in which CUPTI can go */
};

struct cuda_life {
	uint32_t pid;                 /* whose CUPTI this is: never a forked child's */
	_Atomic uint32_t holds;       /* enum cuda_hold */
	_Atomic uint64_t released_at; /* ms: the program let go of CUPTI; 0 = it has not */
	_Atomic uint64_t closed_at;   /* ms: the last window's end; 0 = all of it was fetched */
	int heard;                    /* what opens windows and what makes things is seen without CUPTI */
	_Atomic uint64_t made_at;     /* ms: the program made a context, a stream ... */
	uint64_t warm_from;           /* ticks: since when there is a warm-up; 0 = there is none. At one's turn */
	int attached;                 /* the program was there before us */
	_Atomic uint32_t leaving;     /* enum cuda_leaving */
};

extern struct cuda_life cuda_life CUDA_HIDDEN;

/* inject.c: loads CUPTI, if that has not happened, and subscribes; one diagnostic if that fails. */
int cuda_take(void) CUDA_HIDDEN;

/* follow.c. Opening, closing, flushing and letting go of CUPTI happen one at a time: who does it
 * has the turn. A thread that has waited for `ns` without getting it goes on without; so does one
 * that has it already, further out on its stack. */
int cuda_take_turn(int64_t ns) CUDA_HIDDEN;
void cuda_give_turn(void) CUDA_HIDDEN;
/* Brings activities to where the gate and the holds want them. */
void cuda_follow(void) CUDA_HIDDEN;
/* As cuda_activities_flush(), at one's turn. */
void cuda_flush(int all) CUDA_HIDDEN;
/* Whether CUPTI is ours at this moment. */
int cuda_is_ours(void) CUDA_HIDDEN;
int cuda_wants_open(void) CUDA_HIDDEN;
uint64_t cuda_milliseconds(void) CUDA_HIDDEN;
/* Waits until the word is not `value` any more; 0 ns: for ever. */
void cuda_wait(const _Atomic uint32_t *word, uint32_t value, int64_t ns) CUDA_HIDDEN;

/* watch.c. The thread is asked to fetch everything, and waited for: a process may be ended from a
 * signal handler, in which CUPTI must not be called. */
int cuda_watch_start(void) CUDA_HIDDEN;
/* It looks anew: something has changed that is not the gate. */
void cuda_watch_wake(void) CUDA_HIDDEN;
/* Ends the thread, while a hold wants that; returns whether it has ended. */
int cuda_watch_stop(void) CUDA_HIDDEN;
void cuda_watch_flush(int64_t ns) CUDA_HIDDEN;

/* attach.c: recordings come and go. */
void cuda_attach_prepare(void (*begin)(void)) CUDA_HIDDEN;

/* leave.c. Letting go: at one's turn, while nobody is in CUPTI; it begins anew for its next user. Returns 0 when CUPTI had to stay. */
void cuda_leave_prepare(void) CUDA_HIDDEN;
int cuda_let_go(enum cuda_state next) CUDA_HIDDEN;

/* cupti_pause.c: CUPTI is away while no window is open and nothing is made. `next`: when to look again, ms. */
void cuda_away_prepare(void) CUDA_HIDDEN;
void cuda_away_look(uint64_t now, uint64_t *next) CUDA_HIDDEN;
void cuda_away_cancel(void) CUDA_HIDDEN;
/* At one's turn: the end of a call takes CUPTI away, as soon as no other thread is in one. Returns 0 where it cannot go. */
int cuda_away_begin(void) CUDA_HIDDEN;
/* At one's turn, while calls are watched: whether none began or ended in the millisecond that this takes, none is known to be open, and no
 * thread may be on its way into one. */
int cuda_away_nobody_inside(void) CUDA_HIDDEN;
/* Returns whether the call belongs to it. */
int cuda_away_callback(int domain, const void *data) CUDA_HIDDEN;

/* agent/cuda/kernel: counters of single kernels are read in this process in place of the timeline; callbacks come from CUPTI's subscriber. */
struct cupti_call_data;
int kernel_begin(void) CUDA_HIDDEN;
/* A forked child of the process that is read: nothing of ours is of use there. */
int kernel_is_child(void) CUDA_HIDDEN;
struct cupti_resource_data;
void kernel_module_loaded(const struct cupti_resource_data *data) CUDA_HIDDEN;
void kernel_callback(uint32_t id, const struct cupti_call_data *data) CUDA_HIDDEN;
void kernel_context_ends(const void *context) CUDA_HIDDEN;
void kernel_runtime_callback(uint32_t id, const struct cupti_call_data *data) CUDA_HIDDEN;

/* capture.c: the calls that open and close a window, as CUPTI or the driver's own functions tell of them. Returns whether the call was
 * one of them. */
void cuda_capture_start(void) CUDA_HIDDEN;
void cuda_capture_stop(void) CUDA_HIDDEN;
void cuda_capture_prepare(void) CUDA_HIDDEN;
int cuda_capture_callback(int domain, uint32_t id, const void *data) CUDA_HIDDEN;

#endif
