/* OS runtime: wrappers of libc functions that take the time before and after.
 *
 * A wrapper is a guest between the caller and libc: it passes registers on as they came, holds
 * nothing while the real function runs (which may be cancelled, or left by longjmp), leaves
 * errno alone, and goes straight through when nothing is recorded. */
#ifndef SONDE_AGENT_OSRT_H
#define SONDE_AGENT_OSRT_H

#include <stdint.h>

#include "agent/core/agent.h"
#include "fmt/osrt_calls.h"

#define OSRT_HIDDEN __attribute__((visibility("hidden")))

/* The real functions, one for each symbol and version. */
enum osrt_real {
#define OSRT_CALL(class, name, result, arguments, file) OSRT_REAL_##name,
#define OSRT_ALIAS(name, symbol, result, arguments, file) OSRT_REAL_##symbol,
#define OSRT_VERSIONS(class, name, result, arguments, version, old) OSRT_REAL_##name, OSRT_REAL_OLD_##name,
#define OSRT_HAND(class, name) OSRT_REAL_##name,
#define OSRT_HAND_ALIAS(name, symbol) OSRT_REAL_##symbol,
#define OSRT_REAL(symbol) OSRT_REAL_##symbol,
#include "fmt/osrt_calls.def"
	OSRT_REAL_COUNT
};

typedef void (*osrt_function)(void);
extern osrt_function osrt_real[OSRT_REAL_COUNT] OSRT_HIDDEN;

/* The real function where it was not found so far: called before our constructor, or its library
 * came later. One that fails with ENOSYS where there is none. */
AGENT_COLD osrt_function osrt_find(enum osrt_real which) OSRT_HIDDEN;

static inline osrt_function osrt_pick(enum osrt_real which)
{
	osrt_function real = osrt_real[which];

	return agent_likely(real != NULL) ? real : osrt_find(which);
}

/* A call under way, in the wrapper's frame. */
struct osrt_frame {
	uintptr_t live;           /* osrt_live() while it is */
	struct osrt_frame *outer; /* the call this one was made in, by a signal handler or a callback */
	uint64_t start;
	uint32_t number;
	uint32_t file; /* id of the file being closed; 0 = none */
};

static inline uintptr_t osrt_live(const struct osrt_frame *frame)
{
	return (uintptr_t)frame ^ (uintptr_t)0x6f73727463616c6cu;
}

/* A forked child asks for a pool of its own, if it has something to record. */
AGENT_COLD int osrt_revive(void) OSRT_HIDDEN;

static inline __attribute__((always_inline)) int osrt_on(void)
{
	uint32_t attached = atomic_load_explicit(&agent_pages.attached, memory_order_relaxed);
	uint32_t gate = atomic_load_explicit(&agent_pages.session.gate, memory_order_relaxed);

	if (agent_likely(attached & gate & RING_GATE_OSRT)) {
		if (agent_unlikely(agent_tls.attached != attached))
			agent_new_window(attached, gate);
		return 1;
	}
	return agent_unlikely(attached == 0) ? osrt_revive() : 0;
}

static inline int osrt_files(unsigned role)
{
	return role != OSRT_FILE_NONE && agent_unlikely(agent_pages.session.osrt_files);
}

/* What is to be forgotten before the call: a number that is free may be given to another file at
 * once, in another thread. */
AGENT_COLD void osrt_file_before(struct osrt_frame *frame, unsigned role, const long *arguments) OSRT_HIDDEN;

/* Leaves a note of the call where the recorder sees it, if it should never return. */
static inline void osrt_note(struct ring_slot *slot, const struct osrt_frame *frame)
{
	atomic_store_explicit(&slot->call_start, frame->start, memory_order_relaxed);
	atomic_store_explicit(&slot->call, frame->number + 1, memory_order_release);
}

AGENT_COLD struct ring_slot *osrt_take_slot(void) OSRT_HIDDEN;

static inline __attribute__((always_inline)) void osrt_begin(struct osrt_frame *frame, uint32_t number)
{
	struct ring_slot *slot = agent_tls.slot;

	frame->outer = (struct osrt_frame *)agent_tls.call;
	frame->number = number;
	frame->file = 0;
	frame->live = osrt_live(frame);
	agent_tls.call = (uintptr_t)frame;
	if (agent_unlikely(!slot))
		slot = osrt_take_slot();
	frame->start = agent_now();
	if (agent_likely(slot != NULL))
		osrt_note(slot, frame);
}

/* Writes what is to be written of a call that is over. */
AGENT_COLD void osrt_finish(struct osrt_frame *frame, uint64_t end, int64_t result, unsigned role, const long *arguments) OSRT_HIDDEN;
AGENT_COLD void osrt_leave_outer(struct osrt_frame *frame) OSRT_HIDDEN;

/* The thread has no ring, or the recording it has one in is over. */
AGENT_COLD void osrt_end_elsewhere(struct osrt_frame *frame, int64_t result, unsigned role, const long *arguments) OSRT_HIDDEN;

/* `arguments`: as many as the file's role speaks of. */
static inline __attribute__((always_inline)) void osrt_end(struct osrt_frame *frame, int64_t result, unsigned role, const long *arguments)
{
	uint64_t end;

	if (agent_unlikely(!agent_thread_is_current())) {
		osrt_end_elsewhere(frame, result, role, arguments);
		return;
	}
	end = agent_now();
	if (agent_unlikely(end - frame->start >= agent_pages.session.osrt_threshold) || osrt_files(role))
		osrt_finish(frame, end, result, role, arguments);
	frame->live = 0;
	agent_tls.call = (uintptr_t)frame->outer;
	if (agent_likely(agent_tls.slot != NULL))
		atomic_store_explicit(&agent_tls.slot->call, 0, memory_order_relaxed);
	if (agent_unlikely(frame->outer != NULL))
		osrt_leave_outer(frame);
}

/* files.c: the file of a call that ended at `time` (0 = none), and the bytes it moved. */
uint64_t osrt_file_after(const struct osrt_frame *frame, uint64_t time, int64_t result, unsigned role, const long *arguments,
			 int64_t *ret_bytes) OSRT_HIDDEN;

#endif
