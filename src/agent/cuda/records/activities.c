#include <errno.h>
#include <string.h>

#include "agent/cuda/records/buffers.h"
#include "agent/cuda/records/calls.h"
#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/driver.h"
#include "agent/cuda/records/resources.h"
#include "base/macros.h"

#define NO_UNIFIED_DEVICE 0u

static struct {
	_Atomic int driver_ready;
	_Atomic int managed; /* the program has memory that moves by itself */
	_Atomic int unified; /* 0 not yet, 1 on, -1 CUPTI cannot */
} activities;

static uint32_t get_activity_flags(void)
{
	return cuda_agent.core->session->cuda_flags;
}

static void report_refused_activity(const char *what, int result)
{
	const char *why = NULL;
	char text[256] = "CUDA: CUPTI cannot record: ";

	strncat(text, what, 64);
	if (cuda_agent.cupti.cuptiGetResultString(result, &why) == CUPTI_OK && why) {
		strncat(text, " (", 4);
		strncat(text, why, 100);
		strncat(text, ")", 2);
	}
	cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, text);
}

static void enable_kinds(int on)
{
	const struct cuda_kind *k;
	int result;

	for (unsigned i = 0; (k = cuda_kind_at(i)); i++) {
		if (!k->in_window || (get_activity_flags() & k->option) != k->option)
			continue;
		result = on ? cuda_agent.cupti.cuptiActivityEnable(k->kind) : cuda_agent.cupti.cuptiActivityDisable(k->kind);
		if (on && result != CUPTI_OK && k->asked)
			report_refused_activity(k->asked, result);
	}
	/* With it the nodes of a graph are not recorded one by one. */
	if (!(get_activity_flags() & RING_CUDA_GRAPH_NODES)) {
		if (on)
			cuda_agent.cupti.cuptiActivityEnable(CUPTI_KIND_GRAPH_TRACE);
		else
			cuda_agent.cupti.cuptiActivityDisable(CUPTI_KIND_GRAPH_TRACE);
	}
}

static uint32_t unified_kinds(struct cupti_unified_config *configs)
{
	static const struct {
		uint8_t kind;
		uint32_t option;
	} wanted[] = {
		{ CUPTI_UNIFIED_HTOD, 0 },
		{ CUPTI_UNIFIED_DTOH, 0 },
		{ CUPTI_UNIFIED_DTOD, 0 },
		{ CUPTI_UNIFIED_CPU_FAULT, RING_CUDA_CPU_FAULTS },
		{ CUPTI_UNIFIED_GPU_FAULT, RING_CUDA_GPU_FAULTS },
		{ CUPTI_UNIFIED_THRASHING, RING_CUDA_GPU_FAULTS },
		{ CUPTI_UNIFIED_THROTTLING, RING_CUDA_GPU_FAULTS },
		{ CUPTI_UNIFIED_REMOTE_MAP, RING_CUDA_GPU_FAULTS },
	};
	uint32_t count = 0;

	for (size_t i = 0; i < COUNT_OF(wanted); i++)
		if ((get_activity_flags() & wanted[i].option) == wanted[i].option)
			configs[count++] = (struct cupti_unified_config){ CUPTI_UNIFIED_ALL_DEVICES, wanted[i].kind, NO_UNIFIED_DEVICE, 1 };
	return count;
}

/* Once the driver is initialised, not before; and for those who use it, or ask for page faults: CUPTI takes two seconds to stop watching. */
static int configure_unified(void)
{
	struct cupti_unified_config configs[8];
	uint32_t count = unified_kinds(configs);
	int asked = (get_activity_flags() & (RING_CUDA_CPU_FAULTS | RING_CUDA_GPU_FAULTS)) != 0, expected = 0, result = -1;

	if (!asked && !atomic_load(&activities.managed))
		return 0;
	if (!atomic_load(&activities.driver_ready) || !cuda_agent.cupti.cuptiActivityConfigureUnifiedMemoryCounter)
		return 0;
	if (!atomic_compare_exchange_strong(&activities.unified, &expected, -1))
		return expected == 1;
	result = cuda_agent.cupti.cuptiActivityConfigureUnifiedMemoryCounter(configs, count);
	if (result != CUPTI_OK && asked)
		report_refused_activity("page faults", result);
	if (result != CUPTI_OK)
		return 0;
	atomic_store(&activities.unified, 1);
	return 1;
}

static void enable_unified(void)
{
	if (configure_unified())
		cuda_agent.cupti.cuptiActivityEnable(CUPTI_KIND_UNIFIED_MEMORY_COUNTER);
}

void cuda_activities_driver_ready(void)
{
	if (!atomic_exchange(&activities.driver_ready, 1) && atomic_load(&cuda_agent.state) == CUDA_OPEN)
		enable_unified();
}

void cuda_activities_managed(void)
{
	if (atomic_exchange(&activities.managed, 1))
		return;
	cuda_calls_enable_managed(0);
	if (atomic_load(&cuda_agent.state) == CUDA_OPEN)
		enable_unified();
}

int cuda_activities_unified(void)
{
	return atomic_load(&activities.unified) == 1;
}

void cuda_activities_stop_unified(void)
{
	if (atomic_load(&activities.unified) != 1)
		return;
	cuda_agent.cupti.cuptiActivityDisable(CUPTI_KIND_UNIFIED_MEMORY_COUNTER);
	atomic_store(&activities.unified, 0);
}

void cuda_activities_rest(void)
{
	const struct cupti *cupti = &cuda_agent.cupti;

	cupti->cuptiActivityDisable(CUPTI_KIND_DEVICE);
	cupti->cuptiActivityDisable(CUPTI_KIND_CONTEXT);
	cupti->cuptiActivityDisable(CUPTI_KIND_STREAM);
	cuda_resources_enable(0);
	cuda_calls_enable_managed(0);
}

int cuda_activities_prepare(void)
{
	const struct cupti *cupti = &cuda_agent.cupti;

	cuda_driver_prepare();
	cuda_decode_prepare(cupti->version);
	cuda_buffers_prepare();
	cuda_clock_start();
	if (cupti->cuptiSetThreadIdType && cupti->cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM) != CUPTI_OK)
		cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, "CUDA: CUPTI does not report which thread made a call");
	if (cupti->cuptiActivityRegisterCallbacks(cuda_buffer_requested, cuda_buffer_completed) != CUPTI_OK)
		return -EIO;
	cuda_calls_prepare();
	if (!atomic_load(&activities.managed))
		cuda_calls_enable_managed(1);
	cuda_resources_enable(1);
	/* Those that are there already, and those that come, in a window or not. */
	cupti->cuptiActivityEnable(CUPTI_KIND_DEVICE);
	cupti->cuptiActivityEnable(CUPTI_KIND_CONTEXT);
	cupti->cuptiActivityEnable(CUPTI_KIND_STREAM);
	return 0;
}

void cuda_activities_open(void)
{
	const struct cupti *cupti = &cuda_agent.cupti;
	int saved = errno;

	if (cupti->cuptiActivityEnableCudaEventDeviceTimestamps && (get_activity_flags() & RING_CUDA_EVENT_TIMES))
		cupti->cuptiActivityEnableCudaEventDeviceTimestamps(1);
	/* Not those of queries that found the work unfinished: programs that poll make millions of them. */
	if (cupti->cuptiActivityEnableAllSyncRecords)
		cupti->cuptiActivityEnableAllSyncRecords(0);
	enable_kinds(1);
	enable_unified();
	cuda_calls_enable(1);
	cuda_calls_enable_stacks(1);
	errno = saved;
}

void cuda_activities_close(void)
{
	int saved = errno;

	cuda_calls_enable_stacks(0);
	cuda_calls_enable(0);
	/* Unified memory goes on: its records from outside of windows are left out (decode_memory.c). */
	enable_kinds(0);
	errno = saved;
}

void cuda_activities_flush(int all)
{
	int saved = errno;

	cuda_clock_compare();
	cuda_agent.cupti.cuptiActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
	cuda_clock_report();
	errno = saved;
}

void cuda_activities_release(void)
{
	cuda_clock_give_back();
	atomic_store(&activities.unified, 0);
	cuda_correlation_restart();
}

static void call_made(int domain, uint32_t id, const struct cupti_call_data *data)
{
	enum cuda_api_class class = domain == CUPTI_DOMAIN_DRIVER ? CUDA_CLASS_DRIVER : CUDA_CLASS_RUNTIME;

	if (cuda_call_is_managed(class, id))
		cuda_activities_managed();
	cuda_stack_callback(domain, id, data);
}

void cuda_callback(int domain, uint32_t id, const void *data)
{
	int saved = errno;

	if (data && cuda_agent.core->attached()) {
		if (domain == CUPTI_DOMAIN_RESOURCE)
			cuda_resource_callback(id, data);
		else if (domain == CUPTI_DOMAIN_RUNTIME || domain == CUPTI_DOMAIN_DRIVER)
			call_made(domain, id, data);
	}
	errno = saved;
}
