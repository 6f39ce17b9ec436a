/* Calls of the driver that launch kernels or change memory, by their names: numbers differ between versions. */
#include <string.h>

#include "agent/cuda/calls.h"
#include "agent/cuda/kernel/kernel.h"

#define MOST_CALLS 2048u

static uint8_t calls[MOST_CALLS];

static enum kernel_call kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum kernel_call kind;
	} known[] = { { "cuLaunchKernel", KERNEL_CALL_KERNEL },
		      { "cuLaunchKernelEx", KERNEL_CALL_KERNEL_EX },
		      { "cuLaunchCooperativeKernel", KERNEL_CALL_COOPERATIVE },
		      { "cuGraphLaunch", KERNEL_CALL_GRAPH } };
	static const char *const others[] = { "cuMemcpy", "cuMemset", "cuLaunch", "cuMemAlloc", "cuMemFree", "cuMemUnmap", "cuMemMap",
					     "cuCtxDestroy", "cuDevicePrimaryCtxRe" };
	uint32_t size = cuda_call_name_size(name);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == size && memcmp(known[i].name, name, size) == 0)
			return known[i].kind;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return KERNEL_CALL_OTHER;
	return KERNEL_CALL_NONE;
}

void kernel_calls_prepare(void)
{
	const char *name;

	for (uint32_t id = 1; id < MOST_CALLS; id++) {
		name = NULL;
		calls[id] = KERNEL_CALL_NONE;
		if (cuda_agent.cupti.cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, id, &name) == CUPTI_OK && name)
			calls[id] = (uint8_t)kind_of(name);
	}
}

void kernel_calls_enable(int enable)
{
	for (uint32_t id = 1; id < MOST_CALLS; id++)
		if (calls[id] != KERNEL_CALL_NONE)
			cuda_agent.cupti.cuptiEnableCallback((uint32_t)enable, cuda_agent.subscriber, CUPTI_DOMAIN_DRIVER, id);
}

enum kernel_call kernel_call(uint32_t id)
{
	return id < MOST_CALLS ? (enum kernel_call)calls[id] : KERNEL_CALL_NONE;
}
