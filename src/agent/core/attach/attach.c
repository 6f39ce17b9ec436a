/* Entry points for `sonde attach`, called in a thread of its own in a program that has run without us. */
#include "agent/core/attach.h"

#include <errno.h>
#include <string.h>

#include "agent/core/sampling.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"

int sonde_attach_enter(const struct attach_request *request);
int sonde_attach_leave(const struct attach_request *request);

static int is_ended_text(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

static int check_attach_request(const struct attach_request *request)
{
	if (!request || request->magic != ATTACH_MAGIC || request->version != ATTACH_VERSION)
		return -EPROTO;
	if (!is_ended_text(request->session, sizeof(request->session)) ||
	    !is_ended_text(request->agent_path, sizeof(request->agent_path)) ||
	    !is_ended_text(request->cuda_path, sizeof(request->cuda_path)))
		return -EINVAL;
	return 0;
}

/* One at a time; the agent may also be taking a forked child in. */
static int take_phase(void)
{
	uint32_t done = AGENT_PHASE_DONE;

	if (atomic_compare_exchange_strong(&agent_state.phase, &done, AGENT_PHASE_BUSY))
		return 0;
	return done == AGENT_PHASE_LEFT ? -EPERM : -EBUSY;
}

static void give_phase(void)
{
	atomic_store(&agent_state.phase, AGENT_PHASE_DONE);
}

/* This thread is the recorder's errand, not one of the program's. */
static void name_own_slot(void)
{
	agent_take_slot();
	if (agent_tls.slot)
		memcpy(agent_tls.slot->comm, "sonde-attach", sizeof("sonde-attach"));
}

static void close_own_slot(void)
{
	struct ring_slot *slot = agent_tls.slot;

	if (!slot || !agent_thread_is_current())
		return;
	slot->end_time = agent_now();
	agent_forget_thread();
	atomic_store_explicit(&slot->state, RING_SLOT_CLOSED, memory_order_release);
	agent_ring_doorbell();
}

static void put_to_sleep(void)
{
	agent_state.configured = 0;
	atomic_store(&agent_pages.attached, AGENT_OFF);
	agent_leave_pool();
}

static int connect_to(const struct attach_request *request)
{
	uint32_t late = agent_state.late;
	int result = agent_configure_as(request->session);

	if (result < 0)
		return result;
	agent_state.late = 1;
	atomic_store(&agent_pages.files_known, 0);
	agent_objects_forget();
	result = agent_attach(WIRE_ORIGIN_LATE);
	if (result < 0) {
		put_to_sleep();
		agent_state.late = late;
	}
	return result;
}

/* Everything but waiting: a thread in a wrapper comes back through it whenever that is. */
static void leave_now(int by_watcher)
{
	agent_cuda_leave();
	if (!by_watcher)
		agent_watch_stop();
	agent_environment_leave();
	agent_got_restore();
	agent_sample_leave();
	close_own_slot();
	put_to_sleep();
}

static int enter_session(const struct attach_request *request)
{
	int result;

	/* Preloaded and recorded, or attached to; by a recorder that may have been killed. */
	if (agent_attached() && agent_recorder_lives())
		return -EBUSY;
	if (agent_attached())
		leave_now(0);
	result = connect_to(request);
	if (result < 0)
		return result;
	name_own_slot();
	agent_begin_parts();
	agent_got_patch(request->modules);
	agent_environment_enter(request);
	agent_cuda_enter(request);
	agent_watch_start(request->modules);
	close_own_slot();
	return 0;
}

AGENT_EXPORT int sonde_attach_enter(const struct attach_request *request)
{
	int saved_errno = errno;
	int result = check_attach_request(request);

	if (result == 0)
		result = take_phase();
	if (result == 0) {
		result = enter_session(request);
		give_phase();
	}
	errno = saved_errno;
	return result;
}

static int detach(int by_watcher)
{
	int result = take_phase();

	if (result < 0)
		return result;
	result = agent_state.late && agent_attached() ? 0 : -ESRCH;
	if (result == 0)
		leave_now(by_watcher);
	give_phase();
	return result;
}

void agent_detach_from_dead(void)
{
	detach(1);
}

/* A recorder that comes late must not end another's recording. */
static int is_current(const struct attach_request *request)
{
	return check_attach_request(request) == 0 && strlen(request->session) > 2 + WIRE_NAME_HEX &&
	       memcmp(request->session + 2, agent_state.name, WIRE_NAME_HEX) == 0;
}

AGENT_EXPORT int sonde_attach_leave(const struct attach_request *request)
{
	int saved_errno = errno;
	int result = is_current(request) ? detach(0) : -ESRCH;

	errno = saved_errno;
	return result;
}
