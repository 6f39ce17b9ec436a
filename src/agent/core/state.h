/* The core's own state: one per process, reached only from src/agent/core. */
#ifndef SONDE_AGENT_CORE_STATE_H
#define SONDE_AGENT_CORE_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/core/agent.h"
#include "agent/core/old_glibc.h"
#include "ring/wire.h"

enum agent_phase {
	AGENT_PHASE_FRESH = 0, /* nothing tried yet */
	AGENT_PHASE_BUSY = 1,  /* a thread is attaching */
	AGENT_PHASE_DONE = 2,  /* attached, or given up */
	AGENT_PHASE_LEFT = 3   /* for good, in forked children too: agent_leave() */
};

struct agent_range {
	void *start;
	size_t size;
};

struct agent_state {
	_Atomic uint32_t phase;
	uint32_t configured;    /* SONDE_SESSION was there and well formed */
	uint32_t pid;           /* whose pool this is */
	uint32_t generation;    /* of pools this process has had */
	uint32_t late;          /* by sonde_attach_enter(): recordings come and go */
	uint32_t fork_handlers; /* registered */
	uint32_t key_made;
	uint32_t has_key;  /* it is, and may be used */
	pthread_key_t key; /* its destructor tells that a thread ends */
	char name[WIRE_NAME_HEX];
	uint8_t token[WIRE_TOKEN_SIZE];
	uint64_t process; /* uid given by the recorder */
	struct ring_pool *pool;
	size_t pool_size;
	uint64_t since;                              /* ticks: the pool was mapped */
	struct agent_range pools[2];                 /* where the last ones were: used in turn */
	struct agent_thread_memory *_Atomic *memory; /* by slot index; kept for the next thread in it */
	uint32_t memory_count;
	_Atomic uint64_t next_string;
	_Atomic uint64_t next_domain;
	_Atomic uintptr_t arena;     /* current block of agent_permanent */
	_Atomic uint64_t unanswered; /* the recorder's rounds + 1 when it did not answer; 0 = it did */
	_Atomic(void (*)(void)) follow_window;
};

extern struct agent_state agent_state __attribute__((visibility("hidden")));

static inline struct ring_slot *agent_slot(struct ring_pool *pool, uint32_t index)
{
	return (struct ring_slot *)((uint8_t *)pool + RING_PAGE_SIZE) + index;
}

static inline struct ring_chunk *agent_chunk(struct ring_pool *pool, uint32_t index)
{
	return (struct ring_chunk *)((uint8_t *)pool + pool->chunk_offset) + index;
}

/* agent_permanent(), beginning on a cache line. */
void *agent_permanent_lines(size_t size) __attribute__((visibility("hidden")));

/* ring.c */
void agent_thread_ends(void *unused) __attribute__((visibility("hidden")));

/* objects.c */
void agent_objects_before_fork(void) __attribute__((visibility("hidden")));
void agent_objects_after_fork(void) __attribute__((visibility("hidden")));
void agent_objects_in_child(void) __attribute__((visibility("hidden")));
/* dl_iterate_phdr(), unless the process is just forking or was forked: returns whether it was done. */
struct dl_phdr_info;
int agent_walk_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) __attribute__((visibility("hidden")));
/* All are told of again. */
void agent_objects_forget(void) __attribute__((visibility("hidden")));

/* guard.c: whether the event that set the guard will never be finished. */
int agent_guard_is_stale(uintptr_t guard) __attribute__((visibility("hidden")));

/* life.c: what follows attaching, whatever way the agent came. */
/* The program uses a Python extension from now on: the parts that asked for it are told. */
void agent_program_extended(void) __attribute__((visibility("hidden")));
void agent_begin_parts(void) __attribute__((visibility("hidden")));

/* connect.c: everything that talks to the recorder. */
int agent_configure(void) __attribute__((visibility("hidden")));
/* The session as WIRE_ENV has it. */
int agent_configure_as(const char *session) __attribute__((visibility("hidden")));
/* Whether the recorder of the session is there. */
int agent_recorder_lives(void) __attribute__((visibility("hidden")));
/* The pool is full. A child that was forked while its parent was attached to has no thread that looks after the recorder: one that is
 * gone is noticed here, now and then. */
void agent_doubt_recorder(void) __attribute__((visibility("hidden")));
/* What other threads still write goes nowhere; the recorder's memory is given back. */
void agent_leave_pool(void) __attribute__((visibility("hidden")));
int agent_attach(enum wire_origin origin) __attribute__((visibility("hidden")));
/* Sends a notice that needs no answer; silent when nobody listens. */
void agent_notify(struct wire_request *request) __attribute__((visibility("hidden")));
void agent_fill_request(struct wire_request *request, enum wire_kind kind) __attribute__((visibility("hidden")));

/* Bytes of address space that the pool may take; 0: as many as it likes. */
uint64_t agent_address_room(void) __attribute__((visibility("hidden")));

#endif
