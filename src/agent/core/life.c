/* The life of a process: start, fork, thread end, and the agent's own voice. */
#include <errno.h>
#include <string.h>

#include "agent/core/sampling.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "agent/core/wrappers.h"

struct agent_pages agent_pages;
struct agent_state agent_state;

/* The thread that forked goes on in the child with pointers into its parent's
 * pool; it starts anew. An event under way (a signal handler forked in the middle
 * of one) must find its pointers, so that child stays off. */
static void after_fork_in_child(void)
{
	uint32_t busy = AGENT_PHASE_BUSY;

	agent_objects_in_child();
	/* Another thread was just attaching; here it is not. */
	if (atomic_compare_exchange_strong(&agent_state.phase, &busy, AGENT_PHASE_DONE)) {
		agent_state.configured = 0;
		atomic_store(&agent_pages.attached, AGENT_OFF);
	}
	if (atomic_load(&agent_state.phase) != AGENT_PHASE_DONE || !agent_state.pool)
		return;
	if (agent_tls.busy) {
		atomic_store(&agent_pages.attached, AGENT_OFF);
		return;
	}
	agent_sample_forked();
	agent_forget_thread();
}

void agent_begin_parts(void)
{
	if (!agent_state.fork_handlers)
		agent_state.fork_handlers = 1 + (uint32_t) !!pthread_atfork(agent_objects_before_fork, agent_objects_after_fork,
									    after_fork_in_child);
	for (unsigned i = 0; i < agent_part_count; i++)
		if (agent_parts[i]->attached)
			agent_parts[i]->attached();
}

void agent_program_extended(void)
{
	if (!agent_attached())
		return;
	for (unsigned i = 0; i < agent_part_count; i++)
		if (agent_parts[i]->extended)
			agent_parts[i]->extended();
}

static int start_once(enum wire_origin origin)
{
	int result = agent_configure();

	if (result < 0)
		return result;
	result = agent_attach(origin);
	if (result == 0)
		agent_begin_parts();
	return result;
}

static int start_with(enum wire_origin origin)
{
	uint32_t fresh = AGENT_PHASE_FRESH;
	int saved_errno = errno;

	if (atomic_compare_exchange_strong(&agent_state.phase, &fresh, AGENT_PHASE_BUSY)) {
		if (start_once(origin) < 0)
			atomic_store(&agent_pages.attached, AGENT_OFF);
		atomic_store(&agent_state.phase, AGENT_PHASE_DONE);
	}
	errno = saved_errno;
	if (agent_attached())
		return 0;
	return agent_revive(0) ? 0 : -ENODEV;
}

int agent_start(void)
{
	return start_with(WIRE_ORIGIN_LATE);
}

int agent_revive(unsigned module)
{
	uint32_t done = AGENT_PHASE_DONE;
	int saved_errno = errno;

	/* Forked when the recording was over. */
	if (!agent_state.configured && atomic_load(&agent_pages.attached) == 0)
		atomic_store(&agent_pages.attached, AGENT_OFF);
	/* No system call before it is known that there may be one. */
	if (atomic_load(&agent_pages.attached) != 0 || !agent_state.pool || atomic_load(&agent_state.phase) != AGENT_PHASE_DONE ||
	    (uint32_t)raw_getpid() == agent_state.pid)
		return 0;
	if (!atomic_compare_exchange_strong(&agent_state.phase, &done, AGENT_PHASE_BUSY))
		return 0;
	agent_objects_in_child();
	agent_forget_thread();
	agent_tls.busy = 0;
	agent_attach(WIRE_ORIGIN_FORK);
	atomic_store(&agent_state.phase, AGENT_PHASE_DONE);
	errno = saved_errno;
	if (!agent_attached())
		return 0;
	return module == 0 || (atomic_load(&agent_pages.session.gate) & module) != 0;
}

int agent_comes_again(void)
{
	return agent_state.late != 0;
}

uint64_t agent_attached_since(void)
{
	return agent_state.since;
}

void agent_diagnose(enum diagnostic_severity severity, const char *text)
{
	size_t length = strnlen(text, 400);
	uint32_t size = (uint32_t)(sizeof(struct record_plain) + length);
	struct record_plain *record = agent_begin_definition(size);

	if (!record)
		return;
	record->time = agent_now();
	memcpy(record + 1, text, length);
	agent_end(record, record_head(RECORD_DIAGNOSTIC, severity, size, 0, 0), size);
}

int agent_leave(const char *why)
{
	uint32_t done = AGENT_PHASE_DONE;

	/* A forked child may have nothing yet but a timer. */
	if (!agent_attached() && !agent_revive(0)) {
		agent_sample_leave();
		return 0;
	}
	agent_diagnose(DIAGNOSTIC_WARNING, why);
	if (!atomic_compare_exchange_strong(&agent_state.phase, &done, AGENT_PHASE_LEFT))
		return 0;
	agent_sample_leave();
	agent_state.configured = 0;
	atomic_store(&agent_pages.attached, AGENT_OFF);
	return 1;
}

void agent_return(void)
{
	agent_state.configured = 1;
	atomic_store(&agent_pages.attached, agent_attached_word(agent_state.generation));
	atomic_store(&agent_state.phase, AGENT_PHASE_DONE);
	agent_sample_start();
}

__attribute__((constructor)) static void agent_loaded(void)
{
	agent_wrappers_resolve();
	start_with(WIRE_ORIGIN_EXEC);
}
