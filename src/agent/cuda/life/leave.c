/* The ends: of the process, and of our use of CUPTI where the program wants it for itself. A forked
 * child has none of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/buffers.h"
#include "agent/cuda/life/life.h"
#include "agent/cuda/life/thread_ends.h"
#include "base/text/path.h"

#define MS 1000000ll
#define PATIENCE (2000 * MS)
/* For everything that CUPTI still has. */
#define LAST_PATIENCE (10000 * MS)
/* For a moment in which no thread is in a call. */
#define LOOKS 50u
/* For CUPTI's own thread to come out of our callback. */
#define WORKER_LOOKS 200u

/* _exit and exec: the exec may fail, so everything stays as it is. */
static void leaving(void)
{
	if (cuda_is_ours() && !(atomic_load(&cuda_life.holds) & CUDA_HOLD_EXIT))
		cuda_watch_flush(LAST_PATIENCE);
}

/* As early among the exit handlers as one that was registered in cuInit can be: CUPTI and the
 * driver still work. */
static void at_exit(void)
{
	int saved_errno = errno;

	if (cuda_life.pid != (uint32_t)raw_getpid() || atomic_load(&cuda_life.holds) & CUDA_HOLD_DETACHED ||
	    atomic_fetch_or(&cuda_life.holds, CUDA_HOLD_EXIT) & CUDA_HOLD_EXIT)
		return;
	if (cuda_is_ours())
		cuda_watch_flush(LAST_PATIENCE);
	errno = saved_errno;
}

static void close_and_fetch(void)
{
	if (atomic_load(&cuda_agent.state) == CUDA_OPEN)
		cuda_activities_close();
	cuda_activities_flush(1);
	atomic_store(&cuda_life.closed_at, 0);
}

static void unsubscribe(enum cuda_state next)
{
	atomic_store(&cuda_agent.state, next);
	cuda_agent.cupti.cuptiUnsubscribe(cuda_agent.subscriber);
	cuda_agent.subscriber = NULL;
}

static void finalize(void)
{
	if (cuda_agent.cupti.cuptiFinalize)
		cuda_agent.cupti.cuptiFinalize();
	cuda_thread_ends_release();
}

static int worker_is_idle(void)
{
	const struct timespec pause = { .tv_nsec = MS };

	for (unsigned i = 0; cuda_buffers_inside() && i < WORKER_LOOKS; i++)
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	return !cuda_buffers_inside();
}

/* CUPTI begins anew for its next user: with its own clock, its own settings. */
int cuda_let_go(enum cuda_state next)
{
	close_and_fetch();
	if (!worker_is_idle() || !cuda_thread_ends_hold())
		return 0;
	unsubscribe(next);
	finalize();
	cuda_activities_release();
	cuda_agent.core->cuda_is(RING_CUDA_HERE);
	return 1;
}

/* The program is about to use CUPTI, and waits: between its other threads' calls, as they are watched, if there is such a moment. Otherwise
 * its own settings have to do in place of ours. */
static void hand_over(void)
{
	int watched, quiet = 0;

	close_and_fetch();
	watched = cuda_away_begin();
	for (unsigned i = 0; watched && !quiet && i < LOOKS; i++)
		quiet = cuda_away_nobody_inside();
	quiet = quiet && worker_is_idle() && cuda_thread_ends_hold();
	cuda_away_cancel();
	unsubscribe(CUDA_OFF);
	if (quiet)
		finalize();
	cuda_activities_release();
	cuda_agent.core->cuda_is(RING_CUDA_HERE);
}

static void note_cupti_used(const char *function, const char *library)
{
	char text[400];
	int ours;

	/* Even where CUPTI is not ours at the moment: we may be about to take it again. */
	if (cuda_life.pid != (uint32_t)raw_getpid() || !cuda_take_turn(PATIENCE))
		return;
	atomic_fetch_or(&cuda_life.holds, CUDA_HOLD_OTHER);
	atomic_store(&cuda_life.released_at, 0);
	ours = cuda_is_ours();
	if (ours)
		hand_over();
	atomic_store(&cuda_agent.state, CUDA_OFF);
	cuda_give_turn();
	if (!ours)
		return;
	snprintf(text, sizeof(text),
		 "CUDA is not recorded while the program uses CUPTI itself (%s, called by %.200s): "
		 "only one can.",
		 function, path_name(library));
	cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, text);
}

static void note_cupti_released(void)
{
	if (!(atomic_load(&cuda_life.holds) & CUDA_HOLD_OTHER))
		return;
	atomic_store(&cuda_life.released_at, cuda_milliseconds());
	/* It sleeps until the gate moves if CUPTI was away when the program took it. */
	cuda_watch_wake();
}

void cuda_leave_prepare(void)
{
	static const struct agent_cupti_listener listener = { note_cupti_used, note_cupti_released };

	atexit(at_exit);
	cuda_agent.core->on_leaving(leaving);
	cuda_agent.core->on_cupti_use(&listener);
}
