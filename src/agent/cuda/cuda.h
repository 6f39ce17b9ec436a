/* libsonde-cuda.so: the state of the agent in a CUDA process, and who does what in this folder.
 *
 * inject.c (entry point, who is first), watch.c (thread that follows the gate and flushes), cupti_pause.c (between windows), leave.c (exit,
 * _exit, exec, fork, the program using CUPTI itself) decide when; activities.c and what it uses does the work. */
#ifndef SONDE_AGENT_CUDA_CUDA_H
#define SONDE_AGENT_CUDA_CUDA_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/core/interface.h"
#include "fmt/cuda_wire.h"
#include "vendor/cupti/cupti.h"

enum cuda_state {
	CUDA_OFF = 0,    /* nothing of CUPTI is ours */
	CUDA_CLOSED = 1, /* subscribed; no window is open */
	CUDA_OPEN = 2,   /* activities are enabled */
	CUDA_AWAY = 3    /* nothing of CUPTI is ours until a window opens, or the program makes something */
};

struct cuda_agent {
	const struct agent_interface *core;
	struct cupti cupti;
	void *subscriber;
	_Atomic uint32_t state;
	_Atomic uint64_t closed_ticks; /* when the last window closed */
	_Atomic uint64_t opened_ticks; /* and the next one opened; all ones: it has not */
};

extern struct cuda_agent cuda_agent __attribute__((visibility("hidden")));

/* activities.c. prepare: once, after subscribing: buffers, clock, names of calls, devices, resource callbacks. */
int cuda_activities_prepare(void) __attribute__((visibility("hidden")));
void cuda_activities_open(void) __attribute__((visibility("hidden")));
/* Disables them. What was recorded so far still comes. */
void cuda_activities_close(void) __attribute__((visibility("hidden")));
/* Fetches what CUPTI has finished; `all`: waits for nothing but takes unfinished buffers too. */
void cuda_activities_flush(int all) __attribute__((visibility("hidden")));
/* After unsubscribing, where the program goes on to use CUPTI itself: what cannot be taken back from CUPTI does no harm from now on. */
void cuda_activities_release(void) __attribute__((visibility("hidden")));
/* Takes back what cuda_activities_prepare() has enabled. The next one is told of devices, contexts and streams once more. */
void cuda_activities_rest(void) __attribute__((visibility("hidden")));
void cuda_activities_stop_unified(void) __attribute__((visibility("hidden")));
/* The program makes managed memory. */
void cuda_activities_managed(void) __attribute__((visibility("hidden")));
/* Whether CUPTI watches unified memory, which it takes seconds to stop doing. */
int cuda_activities_unified(void) __attribute__((visibility("hidden")));
/* The subscriber's callback, but for the calls of the profiler API, which inject.c takes for itself. */
void cuda_callback(int domain, uint32_t id, const void *data) __attribute__((visibility("hidden")));

#endif
