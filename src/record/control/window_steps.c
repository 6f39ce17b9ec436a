/* --schedule: windows by the number of the step. Steps are begins of one NVTX range in one thread; that thread counts them itself, and asks
 * here when one comes at which the schedule changes. */
#include "fmt/cuda_wire.h"
#include "record/control/recorder.h"
#include "record/session/window.h"

static int is_open(const struct recorder *r)
{
	return (atomic_load(&r->page->gate) & r->page->modules) != 0;
}

static void make_warm(struct recorder *r)
{
	/* Not a window: nobody records. */
	if (is_open(r))
		window_close_to(r, RING_GATE_WARM);
	else
		gate_set(r->page, RING_GATE_WARM);
}

static void activate(struct recorder *r, uint64_t cycle)
{
	int is_next = is_open(r) && cycle != r->cycle;

	r->cycle = cycle;
	/* A cycle right behind another: what lasts from one to the other is not cut. */
	if (is_next)
		window_next(r);
	else
		window_open(r);
}

static void end_schedule(struct recorder *r)
{
	window_disarm(r);
	if (r->options->capture_end == CAPTURE_END_STOP_SHUTDOWN || (r->steering && !r->flight))
		r->recording_over = RECORDING_ENDED_BY_PROGRAM;
}

static void follow_schedule(struct recorder *r, uint64_t step)
{
	const struct schedule *schedule = &r->options->schedule;
	struct ring_session *page = r->page;
	uint64_t cycle, next = schedule_next(schedule, step);

	switch (schedule_phase(schedule, step, &cycle)) {
	case SCHEDULE_OFF:
		if (atomic_load(&page->gate))
			window_close(r);
		break;
	case SCHEDULE_WARM: make_warm(r); break;
	case SCHEDULE_ACTIVE: activate(r, cycle); break;
	}
	atomic_store(&page->step_next, next);
	if (next == UINT64_MAX)
		end_schedule(r);
}

uint64_t window_steps_seen(const struct recorder *r)
{
	uint64_t reported = atomic_load(&r->drain.session.steps_seen);

	return reported > r->steps ? reported : r->steps;
}

/* Who comes first is the one whose steps count. */
static uint64_t adopt(struct recorder *r, uint64_t owner)
{
	uint64_t first = window_steps_seen(r);

	atomic_fetch_and(&r->page->nvtx_wait, ~(uint32_t)RING_NVTX_TELL);
	atomic_store(&r->page->step_first, first);
	atomic_store(&r->page->step_owner, owner);
	return first;
}

void window_step(struct recorder *r, const struct capture_message *message)
{
	struct ring_session *page = r->page;
	uint64_t owner = atomic_load(&page->step_owner), step = message->step;

	if (message->request != CAPTURE_STEP || !(atomic_load(&page->nvtx_wait) & RING_NVTX_STEPS))
		return;
	if (!owner)
		step = adopt(r, message->owner);
	else if (owner != message->owner || step < r->steps)
		return;
	r->steps = step + 1;
	follow_schedule(r, step);
	atomic_store(&page->steps_answered, r->steps);
	gate_set(page, atomic_load(&page->gate));
}

void window_steps_begin(struct recorder *r)
{
	r->steps = r->cycle = 0;
	atomic_store(&r->drain.session.steps_seen, 0);
	atomic_store(&r->page->step_owner, 0);
	atomic_store(&r->page->step_first, 0);
	atomic_store(&r->page->step_next, 0);
	atomic_store(&r->page->steps_answered, 0);
}

void window_thread_ended(struct ring_session *page, uint64_t owner)
{
	if (page)
		atomic_compare_exchange_strong(&page->step_owner, &owner, 0);
}
