/* What other libraries of ours in this process may use (interface.h). */
#include "agent/core/interface.h"

#include "agent/core/attach.h"
#include "agent/core/state.h"

static int is_module_on(unsigned module)
{
	return agent_on(module);
}

static void *begin_interface_record(uint32_t size)
{
	return agent_begin(size);
}

static void stack(uint64_t time, uint32_t size)
{
	agent_write_stack(time, size);
}

static uint32_t recorder_rounds(void)
{
	return atomic_load_explicit(&agent_pages.doorbell.rounds, memory_order_relaxed);
}

static void cuda_is(uint32_t how)
{
	if (agent_attached())
		atomic_store(&agent_state.pool->cuda, how);
}

static _Atomic(const struct agent_nvtx_view *) nvtx_view;
static _Atomic(void *) nvtx_begun;
static _Atomic(void *) nvtx_ended;

void agent_provide_nvtx(const struct agent_nvtx_view *view)
{
	atomic_store(&nvtx_view, view);
}

uint32_t agent_nvtx_begun(void)
{
	uint32_t (*begun)(void) = (uint32_t(*)(void))atomic_load(&nvtx_begun);

	return begun ? begun() : 0;
}

void agent_nvtx_ended(void)
{
	void (*ended)(void) = (void (*)(void))atomic_load(&nvtx_ended);

	if (ended)
		ended();
}

static const struct agent_nvtx_view *nvtx(void)
{
	return atomic_load(&nvtx_view);
}

static void on_nvtx_begin(uint32_t (*begun)(void))
{
	atomic_store(&nvtx_begun, (void *)begun);
}

static void on_nvtx_end(void (*ended)(void))
{
	atomic_store(&nvtx_ended, (void *)ended);
}

static const struct agent_interface interface = {
	.version = AGENT_INTERFACE_VERSION,
	.size = sizeof(interface),
	.session = &agent_pages.session,
	.start = agent_start,
	.attached = agent_attached,
	.on = is_module_on,
	.now = agent_now,
	.begin = begin_interface_record,
	.begin_definition = agent_begin_definition,
	.end = agent_end,
	.begin_patiently = agent_begin_patiently,
	.stack = stack,
	.diagnose = agent_diagnose,
	.permanent = agent_permanent,
	.start_thread = agent_start_thread,
	.ring_doorbell = agent_ring_doorbell,
	.recorder_rounds = recorder_rounds,
	.cuda_is = cuda_is,
	.on_leaving = agent_on_leaving,
	.on_cupti_use = agent_on_cupti_use,
	.on_driver_calls = agent_on_driver_calls,
	.ask_window = agent_ask_window,
	.on_window = agent_on_window,
	.on_attach = agent_on_attach,
	.nvtx = nvtx,
	.on_nvtx_begin = on_nvtx_begin,
	.on_nvtx_end = on_nvtx_end,
	.replace_import = agent_got_replace,
};

AGENT_EXPORT const struct agent_interface *sonde_agent_interface(uint32_t version)
{
	return version == AGENT_INTERFACE_VERSION ? &interface : NULL;
}
