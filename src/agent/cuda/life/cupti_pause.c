/* Between windows CUPTI is away: as long as it is there at all, even unused, every launch takes longer, and what it has set up for
 * recording stays until it is finalised (docs/measurements.md). It comes back when a window opens, and before the program makes
 * something, so that contexts, streams, modules and graphs are known whether a window is open or not.
 *
 * It goes at the end of a call, on the thread that made it, as its makers ask for; and only while no other thread is in a call:
 * cuptiFinalize takes away what a thread in CUPTI's own code is using (docs/attach.md). For that moment all calls are watched for a
 * while. Where it does not come, CUPTI stays, with nothing enabled. */
#include <stddef.h>
#include <time.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/life/life.h"
#include "agent/cuda/lock.h"
#include "agent/cuda/life/settle.h"
#include "agent/cuda/life/thread_ends.h"
#include "vendor/cupti/callbacks.h"

#define MS 1000000ll
#define PATIENCE (500 * MS)
/* Things are made one after the other: CUPTI stays until there has been nothing new for so long. */
#define QUIET_MS 100u
/* The moment is waited for so long, and again after a rest. */
#define WATCH_MS 1000u
#define REST_MS 10000u
/* Others have been out of their last call for so long: they have left CUPTI's code behind it, too. */
#define OTHERS_OUT_NS (200 * 1000ll)
/* A thread that has just entered CUPTI's code has come to our callback after so long, if it has run. */
#define SETTLE_NS 1000000l
/* A program that makes no calls of the runtime in so long uses the driver alone: then the end of one of the driver's will do, which
 * otherwise may lie within one of the runtime's. */
#define DRIVER_ALONE_MS 50u
/* In the word that a call carries from its entry to its exit: its entry was counted. */
#define COUNTED 0x536f6e6465000000ull

static struct {
	uint64_t began_at;     /* ms */
	uint64_t rested_at;    /* ms: it was given up; 0 = it was not */
	_Atomic uint64_t mark; /* COUNTED, another for each watch */
	_Atomic int inside;    /* calls whose entry was counted, and their exit not yet */
	_Atomic uint32_t events;
	_Atomic int runtime;   /* a call of the runtime was seen */
	struct cuda_lock lock; /* of the following */
	uint32_t last_thread;
	int64_t last_at;   /* ns */
	int64_t others_at; /* of the last event of a thread other than the last one */
} watch;

static void start_making(void)
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
	static const struct agent_driver_listener listener = { cuda_capture_start, cuda_capture_stop, start_making };

	atomic_store(&cuda_life.made_at, cuda_milliseconds());
	cuda_agent.core->on_window(cuda_follow);
	cuda_life.heard = cuda_agent.core->on_driver_calls(&listener);
}

static void enable_calls(int on)
{
	cuda_agent.cupti.cuptiEnableDomain((uint32_t)on, cuda_agent.subscriber, CUPTI_DOMAIN_RUNTIME);
	cuda_agent.cupti.cuptiEnableDomain((uint32_t)on, cuda_agent.subscriber, CUPTI_DOMAIN_DRIVER);
}

static int64_t read_away_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Whoever did not see CUPTI begin in a program that was there before cannot know who else has it, nor keep threads that end from
 * CUPTI's code. */
static int is_possible(void)
{
	return cuda_agent.cupti.cuptiFinalize && (cuda_thread_ends_seen() || !cuda_life.attached);
}

int cuda_away_begin(void)
{
	if (!is_possible())
		return 0;
	if (atomic_load(&cuda_life.leaving) != CUDA_STAYS)
		return 1;
	watch.began_at = cuda_milliseconds();
	atomic_store(&watch.mark, (atomic_load(&watch.mark) | COUNTED) + 1);
	atomic_store(&watch.inside, 0);
	atomic_store(&watch.runtime, 0);
	watch.last_thread = 0;
	watch.last_at = watch.others_at = read_away_clock();
	atomic_store(&cuda_life.leaving, CUDA_LEAVES);
	enable_calls(1);
	return 1;
}

void cuda_away_cancel(void)
{
	if (atomic_exchange(&cuda_life.leaving, CUDA_STAYS) != CUDA_STAYS)
		enable_calls(0);
}

/* At one's turn. Returns when to look again, 0: it is not waited for. */
static uint64_t give_up_late(uint64_t now)
{
	if (atomic_load(&cuda_life.leaving) == CUDA_STAYS)
		return 0;
	if (now < watch.began_at + WATCH_MS)
		return watch.began_at + WATCH_MS;
	cuda_away_cancel();
	watch.rested_at = now;
	return 0;
}

static uint64_t due_at(void)
{
	uint64_t quiet = atomic_load(&cuda_life.made_at) + QUIET_MS;
	uint64_t rested = watch.rested_at ? watch.rested_at + REST_MS : 0;

	return rested > quiet ? rested : quiet;
}

void cuda_away_look(uint64_t now, uint64_t *next)
{
	if (!cuda_life.heard || !is_possible() || cuda_activities_unified())
		return;
	*next = now + QUIET_MS;
	if (!cuda_take_turn(PATIENCE))
		return;
	*next = give_up_late(now);
	if (!*next && now < due_at()) {
		*next = due_at();
	} else if (!*next && atomic_load(&cuda_agent.state) == CUDA_CLOSED && !cuda_wants_open()) {
		cuda_away_begin();
		*next = now + WATCH_MS;
	}
	cuda_give_turn();
}

static int still_quiet(void)
{
	return cuda_milliseconds() - atomic_load(&cuda_life.made_at) >= QUIET_MS && !cuda_wants_open() && !cuda_activities_unified();
}

/* Returns for how long no other thread has begun or ended a call. */
static int64_t others_out(void)
{
	uint32_t self = (uint32_t)raw_gettid();
	int64_t now = read_away_clock(), since;

	if (!cuda_lock_take(&watch.lock))
		return 0;
	if (watch.last_thread != self) {
		watch.others_at = watch.last_at;
		watch.last_thread = self;
	}
	watch.last_at = now;
	since = now - watch.others_at;
	cuda_lock_release(&watch.lock);
	return since;
}

/* A call that had begun before the watch does not count: its exit is not the outermost one for certain. */
static int count_away_call(int domain, const struct cupti_call_data *call)
{
	uint64_t mark = atomic_load(&watch.mark);

	atomic_fetch_add(&watch.events, 1);
	if (domain == CUPTI_DOMAIN_RUNTIME)
		atomic_store_explicit(&watch.runtime, 1, memory_order_relaxed);
	if (call->site == CUPTI_SITE_ENTER && call->kept) {
		*call->kept = mark;
		atomic_fetch_add(&watch.inside, 1);
	} else if (call->site == CUPTI_SITE_EXIT && call->kept && *call->kept == mark) {
		*call->kept = 0;
		atomic_fetch_sub(&watch.inside, 1);
		return 1;
	}
	return 0;
}

static int is_outermost(int domain)
{
	return domain == CUPTI_DOMAIN_RUNTIME || (!atomic_load(&watch.runtime) && cuda_milliseconds() - watch.began_at >= DRIVER_ALONE_MS);
}

int cuda_away_nobody_inside(void)
{
	uint32_t events = atomic_load(&watch.events);

	return cuda_settled(SETTLE_NS) && events == atomic_load(&watch.events) && atomic_load(&watch.inside) <= 0;
}

/* At one's turn. */
static void finalise_in_pause(void)
{
	if (!still_quiet()) {
		cuda_away_cancel();
		cuda_watch_wake();
	} else if (cuda_away_nobody_inside()) {
		if (!cuda_let_go(CUDA_AWAY))
			enable_calls(0);
		atomic_store(&cuda_life.leaving, CUDA_STAYS);
	}
}

int cuda_away_callback(int domain, const void *data)
{
	int is_end;

	if (atomic_load_explicit(&cuda_life.leaving, memory_order_relaxed) == CUDA_STAYS ||
	    (domain != CUPTI_DOMAIN_RUNTIME && domain != CUPTI_DOMAIN_DRIVER))
		return 0;
	is_end = count_away_call(domain, data);
	if (others_out() < OTHERS_OUT_NS || !is_end || !is_outermost(domain) || atomic_load(&watch.inside) != 0 || !cuda_take_turn(0))
		return 1;
	if (atomic_load(&cuda_life.leaving) == CUDA_LEAVES && atomic_load(&cuda_agent.state) == CUDA_CLOSED)
		finalise_in_pause();
	cuda_give_turn();
	return 1;
}
