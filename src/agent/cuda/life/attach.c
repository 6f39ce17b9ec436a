/* A program that is attached to: CUPTI is there while it is recorded. At the end it is left where its makers ask for that, at the end
 * of a call of the program's, while no other thread is in one (cupti_pause.c). Where that moment does not come in time it stays, with nothing
 * enabled, until the program is attached to again. */
#include <time.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/buffers.h"
#include "agent/cuda/records/decode.h"
#include "agent/cuda/life/life.h"
#include "agent/cuda/records/names.h"
#include "agent/cuda/records/resources.h"

#define MS 1000000ll
#define PATIENCE (2000 * MS)
/* For the end of a call of the program's, with no other thread in one. */
#define CALL_MS 1000u
/* For the last buffers. */
#define BUFFERS_MS 1000u
/* For CUPTI to be gone, once it goes. */
#define GOING_MS 60000u

static void (*begin)(void);

/* It may be there still from the last time: then it is prepared for another recorder. */
static int take_cupti_again(void)
{
	int result = 0;

	if (!cuda_take_turn(PATIENCE))
		return -1;
	if (atomic_load(&cuda_agent.state) == CUDA_CLOSED) {
		cuda_away_cancel();
		cuda_activities_rest();
		cuda_activities_prepare();
		cuda_capture_prepare();
	} else {
		result = cuda_take();
	}
	cuda_give_turn();
	return result;
}

static void begin_again(void)
{
	cuda_names_forget();
	cuda_devices_forget();
	cuda_agent.core->cuda_is(RING_CUDA_HERE);
	atomic_fetch_and(&cuda_life.holds, ~(uint32_t)(CUDA_HOLD_DETACHED | CUDA_HOLD_SILENCE));
	if (take_cupti_again() < 0)
		return;
	if (cuda_watch_start() != 0) {
		cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, "CUDA is not recorded: no thread could be started.");
		return;
	}
	cuda_follow();
}

static void attach_cuda_agent(void)
{
	cuda_life.attached = 1;
	if (!cuda_life.pid)
		begin();
	else if (cuda_life.pid == (uint32_t)raw_getpid() && cuda_watch_stop())
		begin_again();
}

/* At one's turn. */
static void keep_cupti(void)
{
	cuda_activities_rest();
	cuda_agent.core->diagnose(
		DIAGNOSTIC_INFO,
		"CUPTI stays in the program, with nothing enabled, and adds up to a microsecond to each launch: CUDA calls were "
		"always under way. Attach again to retry.");
}

static void stay_without_turn(void)
{
	cuda_agent.core->diagnose(
		DIAGNOSTIC_WARNING,
		"CUPTI stays in the program: a call into it had not returned when the agents left. It is switched off when the call "
		"returns. Attach again to retry.");
}

/* CUPTI's own thread may still be handing over what was fetched. */
static void wait_for_buffers(void)
{
	uint64_t until = cuda_milliseconds() + BUFFERS_MS;
	const struct timespec pause = { .tv_nsec = MS };

	while ((cuda_buffers_out() || cuda_buffers_inside()) && cuda_milliseconds() < until)
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

static void wait_for_call(void)
{
	uint64_t until = cuda_milliseconds() + CALL_MS;
	const struct timespec pause = { .tv_nsec = MS };

	while (atomic_load(&cuda_life.leaving) != CUDA_STAYS && cuda_milliseconds() < until)
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

/* This thread ends soon, and has been in CUPTI: it must not while CUPTI goes. Whoever makes it go has the turn until it is gone. */
static void wait_until_gone(void)
{
	uint64_t until;

	wait_for_call();
	for (until = cuda_milliseconds() + GOING_MS; !cuda_take_turn(PATIENCE);)
		if (cuda_milliseconds() >= until)
			return;
	cuda_away_cancel();
	if (atomic_load(&cuda_agent.state) == CUDA_CLOSED)
		keep_cupti();
	cuda_give_turn();
}

static void detach_cuda_agent(void)
{
	if (cuda_life.pid != (uint32_t)raw_getpid() || atomic_fetch_or(&cuda_life.holds, CUDA_HOLD_DETACHED) & CUDA_HOLD_DETACHED)
		return;
	cuda_follow();
	cuda_watch_stop();
	if (!cuda_is_ours())
		return;
	if (!cuda_take_turn(PATIENCE)) {
		stay_without_turn();
		return;
	}
	cuda_activities_flush(1);
	wait_for_buffers();
	cuda_agent.core->cuda_is(RING_CUDA_HERE); /* that was all */
	cuda_activities_stop_unified();
	if (atomic_load(&cuda_agent.state) == CUDA_CLOSED) {
		atomic_store(&cuda_life.made_at, 0);
		cuda_away_begin();
	}
	cuda_give_turn();
	wait_until_gone();
}

/* What callbacks tell of when it happens has happened before. */
static void note_agent_ready(void)
{
	if (cuda_is_ours() && cuda_devices_look())
		cuda_activities_driver_ready();
}

void cuda_attach_prepare(void (*how_to_begin)(void))
{
	static const struct agent_attach_listener listener = { attach_cuda_agent, detach_cuda_agent, note_agent_ready };

	begin = how_to_begin;
	cuda_agent.core->on_attach(&listener);
}
