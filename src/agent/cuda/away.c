/* Between windows CUPTI is away: as long as it is there at all, even unused, every launch takes longer, and what it has set up for
 * recording stays until it is finalised (docs/measurements.md). It comes back when a window opens, and before the program makes
 * something, so that contexts, streams, modules and graphs are known whether a window is open or not.
 *
 * It goes at the end of a call, on the thread that made it, as its makers ask for. */
#include <stddef.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/life.h"
#include "vendor/cupti_callbacks.h"

#define MS 1000000ll
#define PATIENCE (500 * MS)
/* Things are made one after the other: CUPTI stays until there has been nothing new for so long. */
#define QUIET_MS 100u

static void making(void)
{
	if (cuda_life.pid != (uint32_t)raw_getpid() || atomic_load(&cuda_life.holds))
		return;
	atomic_store(&cuda_life.made_at, cuda_milliseconds());
	if (atomic_load(&cuda_agent.state) != CUDA_AWAY || !cuda_take_turn(PATIENCE))
		return;
	if (atomic_load(&cuda_agent.state) == CUDA_AWAY)
		cuda_take();
	cuda_give_turn();
	cuda_watch_wake();
}

void cuda_away_prepare(void)
{
	static const struct agent_driver_listener listener = { cuda_capture_start, cuda_capture_stop, making };

	atomic_store(&cuda_life.made_at, cuda_milliseconds());
	cuda_agent.core->on_window(cuda_follow);
	cuda_life.heard = cuda_agent.core->on_driver_calls(&listener);
}

static void enable_calls(int on)
{
	cuda_agent.cupti.cuptiEnableDomain((uint32_t)on, cuda_agent.subscriber, CUPTI_DOMAIN_RUNTIME);
	cuda_agent.cupti.cuptiEnableDomain((uint32_t)on, cuda_agent.subscriber, CUPTI_DOMAIN_DRIVER);
}

void cuda_away_begin(void)
{
	atomic_store(&cuda_life.leaving, 1);
	enable_calls(1);
}

void cuda_away_look(uint64_t now, uint64_t *next)
{
	uint64_t due = atomic_load(&cuda_life.made_at) + QUIET_MS;

	if (!cuda_life.heard || !cuda_agent.cupti.cuptiFinalize || cuda_activities_unified() ||
	    atomic_load(&cuda_life.leaving))
		return;
	if (now < due) {
		*next = due;
		return;
	}
	if (!cuda_take_turn(PATIENCE))
		return;
	if (atomic_load(&cuda_agent.state) == CUDA_CLOSED && !cuda_wants_open())
		cuda_away_begin();
	cuda_give_turn();
}

void cuda_away_cancel(void)
{
	if (atomic_exchange(&cuda_life.leaving, 0))
		enable_calls(0);
}

static int still_quiet(void)
{
	return cuda_milliseconds() - atomic_load(&cuda_life.made_at) >= QUIET_MS && !cuda_wants_open() &&
	       !cuda_activities_unified();
}

int cuda_away_callback(int domain, const void *data)
{
	const struct cupti_call_data *call = data;

	if (!atomic_load_explicit(&cuda_life.leaving, memory_order_relaxed) ||
	    (domain != CUPTI_DOMAIN_RUNTIME && domain != CUPTI_DOMAIN_DRIVER))
		return 0;
	if (call->site != CUPTI_SITE_EXIT || !cuda_take_turn(0))
		return 1;
	if (atomic_load(&cuda_life.leaving) && atomic_load(&cuda_agent.state) == CUDA_CLOSED) {
		if (still_quiet()) {
			atomic_store(&cuda_life.leaving, 0);
			cuda_let_go(CUDA_AWAY);
		} else {
			cuda_away_cancel();
			cuda_watch_wake();
		}
	}
	cuda_give_turn();
	return 1;
}
