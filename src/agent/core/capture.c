/* Windows that the program itself opens and closes: by calls of CUDA's, by NVTX ranges. The thread that asks goes on when
 * the recorder has moved the gate, so that what follows is recorded. */
#include <errno.h>
#include <time.h>

#include "agent/core/interface.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "fmt/cuda_wire.h"

/* The recorder answers within milliseconds; where it does not, the program goes on. */
#define ANSWER_MS 2000
#define STEP_NS 5000000l

static int64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint64_t recorder_state(void)
{
	return (uint64_t)atomic_load_explicit(&agent_pages.doorbell.rounds, memory_order_relaxed) + 1;
}

/* A recorder that is stopped or gone is waited for once. */
static int is_silent(void)
{
	if (atomic_load(&agent_state.unanswered) != recorder_state())
		return 0;
	agent_ring_doorbell();
	return 1;
}

struct before {
	uint32_t gate;
	uint32_t windows;
};

static int has_answered(uint32_t request, const struct before *before)
{
	const struct ring_session *session = &agent_pages.session;

	if (request == CAPTURE_STOP)
		return atomic_load(&session->gate) != before->gate;
	return atomic_load(&session->gate) != 0 || atomic_load(&session->windows) != before->windows;
}

static int wait_for_answer(uint32_t request, const struct before *before)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	int64_t until = milliseconds() + ANSWER_MS;

	/* Not FUTEX_PRIVATE: the gate is shared with the recorder. */
	while (!has_answered(request, before)) {
		if (milliseconds() >= until)
			return 0;
		raw_syscall(SYS_futex, (long)&agent_pages.session.gate, FUTEX_WAIT,
			    request == CAPTURE_STOP ? before->gate : 0, (long)&step, 0, 0);
	}
	return 1;
}

int agent_ask_window(uint32_t request, uint32_t source)
{
	struct record_capture *record = is_silent() ? NULL : agent_begin_definition(sizeof(*record));
	struct before before;
	void (*follow)(void);
	int answered, saved_errno = errno;

	if (!record)
		return 0;
	/* In this order: a request that is older than the end of a window is not served. */
	record->time = agent_now();
	before.windows = atomic_load(&agent_pages.session.windows);
	before.gate = atomic_load(&agent_pages.session.gate);
	agent_end(record, record_head(RECORD_CAPTURE, request, sizeof(*record), source, 0), sizeof(*record));
	agent_ring_doorbell();
	answered = wait_for_answer(request, &before);
	atomic_store(&agent_state.unanswered, answered ? 0 : recorder_state());
	follow = atomic_load(&agent_state.follow_window);
	if (answered && follow)
		follow();
	errno = saved_errno;
	return answered;
}

int agent_owns_window(void)
{
	return agent_tls.slot && atomic_load(&agent_pages.session.window_owner) ==
					 ring_owner(agent_state.process, agent_tls.slot->tid);
}

void agent_on_window(void (*follow)(void))
{
	atomic_store(&agent_state.follow_window, follow);
}
