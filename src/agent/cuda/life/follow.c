/* Activities follow the gate. */
#include <linux/futex.h>
#include <stddef.h>
#include <time.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/decode.h"
#include "agent/cuda/life/life.h"

#define MS 1000000ll
#define FOLLOW_PATIENCE (500 * MS)

struct cuda_life cuda_life;

/* Thread that has the turn, 0 = nobody. */
static _Atomic uint32_t turn;

uint64_t cuda_milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void cuda_wait(const _Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec timeout = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	/* Not FUTEX_PRIVATE: the gate is shared with the recorder. */
	raw_syscall(SYS_futex, (long)word, FUTEX_WAIT, (long)value, ns ? (long)&timeout : 0, 0, 0);
}

int cuda_take_turn(int64_t ns)
{
	uint32_t self = (uint32_t)raw_gettid(), holder;
	uint64_t until = cuda_milliseconds() + (uint64_t)(ns / MS);

	for (;;) {
		holder = 0;
		if (atomic_compare_exchange_strong(&turn, &holder, self))
			return 1;
		if (holder == self || cuda_milliseconds() >= until)
			return 0;
		cuda_wait(&turn, holder, 5 * MS);
	}
}

void cuda_give_turn(void)
{
	atomic_store(&turn, 0);
	raw_futex_wake(&turn);
}

int cuda_is_ours(void)
{
	uint32_t state = atomic_load(&cuda_agent.state);

	return cuda_life.pid == (uint32_t)raw_getpid() && (state == CUDA_CLOSED || state == CUDA_OPEN);
}

/* Or could be. */
static int is_within_reach(void)
{
	return cuda_life.pid == (uint32_t)raw_getpid() && atomic_load(&cuda_agent.state) != CUDA_OFF;
}

/* In a warm-up activities are enabled as in a window. */
static int is_warm_up(void)
{
	return cuda_agent.core->session->modules & RING_GATE_CUDA && cuda_agent.core->on(RING_GATE_WARM);
}

int cuda_wants_open(void)
{
	return !atomic_load(&cuda_life.holds) && (cuda_agent.core->on(RING_GATE_CUDA) || is_warm_up());
}

static void end_window(void)
{
	atomic_store(&cuda_agent.closed_ticks, cuda_agent.core->now());
	atomic_store(&cuda_agent.opened_ticks, UINT64_MAX);
}

static void begin_window(void)
{
	uint64_t now = cuda_agent.core->now();

	if (cuda_life.warm_from)
		cuda_warm_set(cuda_life.warm_from, now);
	cuda_life.warm_from = 0;
	atomic_store(&cuda_agent.opened_ticks, now);
}

/* What is late of the window before has to be told from what comes now: its calls are fetched first. Not by force, work that is under way
 * would be lost. */
static void begin_warm_up(void)
{
	if (atomic_load(&cuda_agent.closed_ticks))
		cuda_activities_flush(0);
	cuda_life.warm_from = cuda_agent.core->now();
	cuda_warm_set(cuda_life.warm_from, UINT64_MAX);
}

static void begin_cuda_recording(void)
{
	if (is_warm_up())
		begin_warm_up();
	else
		begin_window();
}

/* From a warm-up to its window, or from a window to the next warm-up: nothing is switched. */
static void turn_over(void)
{
	if (is_warm_up() == (cuda_life.warm_from != 0))
		return;
	if (!cuda_life.warm_from)
		end_window();
	begin_cuda_recording();
}

static void change(int open)
{
	if (open) {
		cuda_away_cancel();
		cuda_agent.core->cuda_is(RING_CUDA_HERE | RING_CUDA_UNFINISHED);
		atomic_store(&cuda_life.closed_at, 0);
		begin_cuda_recording();
		cuda_activities_open();
	} else {
		cuda_activities_close();
		end_window();
		cuda_life.warm_from = 0;
		atomic_store(&cuda_life.closed_at, cuda_milliseconds());
	}
	atomic_store(&cuda_agent.state, open ? CUDA_OPEN : CUDA_CLOSED);
}

void cuda_follow(void)
{
	int open;

	if (!is_within_reach() || !cuda_take_turn(FOLLOW_PATIENCE))
		return;
	/* The gate may move on while activities are changed. */
	while (is_within_reach() && (open = cuda_wants_open()) != (atomic_load(&cuda_agent.state) == CUDA_OPEN)) {
		if (atomic_load(&cuda_agent.state) == CUDA_AWAY && cuda_take() < 0)
			break;
		change(open);
	}
	if (is_within_reach() && atomic_load(&cuda_agent.state) == CUDA_OPEN && cuda_wants_open())
		turn_over();
	cuda_give_turn();
}

void cuda_flush(int all)
{
	if (!cuda_is_ours() || !cuda_take_turn(FOLLOW_PATIENCE))
		return;
	if (cuda_is_ours())
		cuda_activities_flush(all);
	cuda_give_turn();
}
