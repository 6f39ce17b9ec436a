/* A stand-in for the agent's core: the same contract (src/agent/core/agent.h) over memory of
 * this process, without a recorder. Threads keep all their chunks, so that a test can
 * decode what was written; with `recycle` set a thread uses one chunk over and over. */
#ifndef SONDE_TESTS_FAKE_AGENT_H
#define SONDE_TESTS_FAKE_AGENT_H

#include "agent/core/agent.h"
#include "agent/core/interface.h"

struct fake_agent {
	_Atomic int start_result; /* what agent_start() answers */
	_Atomic uint64_t starts;
	_Atomic uint64_t refused, dropped, unmatched, diagnostics;
	_Atomic int64_t chunks_left; /* -1 = no limit */
	_Atomic int no_slots;
	int comes_again;
	int recycle;
	_Atomic uint64_t revived, measured;
	int deaf;   /* nobody answers when a window is asked for */
	int others; /* another thread's window opens */
	unsigned asked_start, asked_stop;
	unsigned steps;          /* counted */
	uint32_t recorded_steps; /* a bit for each of the first 32 in which the window is open */
	const struct agent_nvtx_view *view;
	_Atomic uint32_t begun; /* ranges that were told of */
	_Atomic uint32_t ended; /* and whose end was */
	char last_diagnostic[512];
};

extern struct fake_agent fake_agent;

/* Attached, window open, nothing written by this thread. */
void fake_agent_reset(void);

/* Records of the calling thread in order; NULL at the end. Start with *cursor = NULL. */
const uint64_t *fake_agent_next(const void **cursor);
/* Of all threads since the reset, one thread after the other. */
void fake_agent_each(void (*visit)(const uint64_t *record, void *data), void *data);

#endif
