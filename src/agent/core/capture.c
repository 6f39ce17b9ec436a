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
#define STEP_NS 1000000l

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

/* What is asked, and how things were before. */
struct question {
	uint32_t request;
	uint32_t source;
	uint32_t gate;
	uint32_t windows;
	uint64_t step;
};

static uint64_t own_number(void)
{
	return agent_tls.slot ? ring_owner(agent_state.process, agent_tls.slot->tid) : 0;
}

static int step_has_answer(const struct question *q)
{
	const struct ring_session *session = &agent_pages.session;
	uint64_t owner = atomic_load(&session->step_owner);

	/* There may be no more of them to be counted, or another thread's count. */
	return !atomic_load(&session->nvtx_wait) || (owner && owner != own_number()) ||
	       (owner && atomic_load(&session->steps_answered) > q->step + atomic_load(&session->step_first));
}

static int has_answered(const struct question *q)
{
	const struct ring_session *session = &agent_pages.session;

	if (q->request == CAPTURE_STEP)
		return step_has_answer(q);
	if (q->request == CAPTURE_STOP)
		return atomic_load(&session->gate) != q->gate;
	return atomic_load(&session->gate) != 0 || atomic_load(&session->windows) != q->windows;
}

static int wait_for_answer(const struct question *q)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	int64_t until = milliseconds() + ANSWER_MS;

	/* Not FUTEX_PRIVATE: the gate is shared with the recorder. */
	while (!has_answered(q)) {
		if (milliseconds() >= until)
			return 0;
		/* Again: the recorder may have been about to sleep. */
		agent_ring_doorbell();
		raw_syscall(SYS_futex, (long)&agent_pages.session.gate, FUTEX_WAIT, q->gate, (long)&step, 0, 0);
	}
	return 1;
}

struct step_record {
	struct record_capture head;
	uint64_t step;
};

static int put_request(struct question *q)
{
	const struct ring_session *session = &agent_pages.session;
	int is_step = q->request == CAPTURE_STEP || q->request == CAPTURE_STEP_SEEN;
	uint32_t size = is_step ? sizeof(struct step_record) : sizeof(struct record_capture);
	struct record_capture *record = agent_begin_definition(size);

	if (!record)
		return 0;
	/* In this order: a request that is older than the end of a window is not served. */
	record->time = agent_now();
	q->windows = atomic_load(&session->windows);
	q->gate = atomic_load(&session->gate);
	if (is_step)
		((struct step_record *)record)->step = q->step + atomic_load(&session->step_first);
	agent_end(record, record_head(RECORD_CAPTURE, q->request, size, q->source, 0), size);
	return 1;
}

static int ask_recorder(struct question *q)
{
	void (*follow)(void);
	int answered, saved_errno = errno;

	if (is_silent() || !put_request(q))
		return 0;
	answered = wait_for_answer(q);
	atomic_store(&agent_state.unanswered, answered ? 0 : recorder_state());
	follow = atomic_load(&agent_state.follow_window);
	if (answered && follow)
		follow();
	errno = saved_errno;
	return answered;
}

int agent_ask_window(uint32_t request, uint32_t source)
{
	struct question q = { .request = request, .source = source };

	return ask_recorder(&q);
}

void agent_step(void)
{
	const struct ring_session *session = &agent_pages.session;
	uint64_t owner = atomic_load(&session->step_owner);
	struct question q = { .request = CAPTURE_STEP, .source = CAPTURE_NVTX };

	if (owner && owner != own_number())
		return;
	if (!owner) {
		ask_recorder(&q);
		if (agent_memory())
			agent_memory()->steps = 0;
		return;
	}
	q.step = ++agent_memory()->steps;
	if (atomic_load(&session->step_first) + q.step >= atomic_load(&session->step_next)) {
		ask_recorder(&q);
	} else {
		q.request = CAPTURE_STEP_SEEN;
		put_request(&q);
	}
}

int agent_owns_window(void)
{
	return agent_tls.slot && atomic_load(&agent_pages.session.window_owner) == own_number();
}

void agent_on_window(void (*follow)(void))
{
	atomic_store(&agent_state.follow_window, follow);
}
