/* Calls of the driver that launch kernels or change memory, by their names: numbers differ between versions. */
#include <string.h>

#include "agent/cuda/records/calls.h"
#include "agent/cuda/kernel/kernel.h"
#include "base/macros.h"

#define MOST_CALLS 2048u

/* What these are about may be loaded by them, and what loading takes is allocated; where it lies among the parameters. */
static const struct about {
	const char *name;
	size_t at;
} about[] = { { "cuFuncGetAttribute", 16 },
	      { "cuFuncSetAttribute", 0 },
	      { "cuFuncSetCacheConfig", 0 },
	      { "cuFuncSetSharedMemConfig", 0 },
	      { "cuFuncGetModule", 8 },
	      { "cuKernelGetFunction", 8 },
	      { "cuKernelGetAttribute", 16 },
	      { "cuKernelSetAttribute", 8 },
	      { "cuKernelSetCacheConfig", 0 },
	      { "cuLibraryGetKernel", 8 },
	      { "cuLibraryGetModule", 8 },
	      { "cuLibraryGetGlobal", 16 },
	      { "cuLibraryGetManaged", 16 },
	      { "cuLibraryGetUnifiedFunction", 8 },
	      { "cuModuleGetFunction", 8 },
	      { "cuModuleGetGlobal", 16 },
	      { "cuOccupancyMaxActiveBlocksPerMultiprocessor", 8 },
	      { "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 8 },
	      { "cuOccupancyMaxPotentialBlockSize", 16 },
	      { "cuOccupancyMaxPotentialBlockSizeWithFlags", 16 },
	      { "cuOccupancyMaxPotentialClusterSize", 8 },
	      { "cuOccupancyMaxActiveClusters", 8 },
	      { "cuOccupancyAvailableDynamicSMemPerBlock", 8 } };
static uint8_t calls[MOST_CALLS];
static const struct about *abouts[MOST_CALLS];
static uint32_t runtime_start, runtime_stop; /* calls of the runtime; 0: not there */

static int is_call_name(const char *name, uint32_t size, const char *other)
{
	return strlen(other) == size && memcmp(other, name, size) == 0;
}

static const struct about *about_of(const char *name)
{
	uint32_t size = cuda_call_name_size(name);

	for (size_t i = 0; i < COUNT_OF(about); i++)
		if (is_call_name(name, size, about[i].name))
			return &about[i];
	return NULL;
}

static enum kernel_call find_call_kind(const char *name)
{
	static const struct {
		const char *name;
		enum kernel_call kind;
	} known[] = { { "cuLaunchKernel", KERNEL_CALL_KERNEL },
		      { "cuLaunchKernelEx", KERNEL_CALL_KERNEL_EX },
		      { "cuLaunchCooperativeKernel", KERNEL_CALL_COOPERATIVE },
		      { "cuGraphLaunch", KERNEL_CALL_GRAPH },
		      { "cuProfilerStart", KERNEL_CALL_START },
		      { "cuProfilerStop", KERNEL_CALL_STOP },
		      { "cudaProfilerStart", KERNEL_CALL_START },
		      { "cudaProfilerStop", KERNEL_CALL_STOP } };
	/* clang-format off */
	static const char *const others[] = { "cuMemcpy", "cuMemset", "cuLaunch", "cuMemAlloc", "cuMemFree", "cuMemUnmap", "cuMemMap",
					     "cuCtxDestroy", "cuDevicePrimaryCtxRe" };
	/* These neither see nor change what kernels do, and are made between launches. */
	static const char *const blind[] = { "cuDeviceGet", "cuDriverGet", "cuInit", "cuGet", "cuCtxGet", "cuCtxPush", "cuCtxPop", "cuCtxSet",
					     "cuFuncGet", "cuFuncSet", "cuFuncIsLoaded", "cuKernelGet", "cuKernelSet", "cuLibraryGet",
					     "cuModuleGet", "cuOccupancy", "cuPointerGet", "cuStreamGet", "cuStreamIsCapturing",
					     "cuThreadExchange", "cuTensorMap", "cuDevicePrimaryCtxGetState", "cuEventCreate" };
	/* clang-format on */
	/* Of executable graphs and captured streams, which are the first parameter of each. */
	static const struct {
		const char *begin;
		enum kernel_call kind;
	} graphs[] = { { "cuGraphInstantiate", KERNEL_CALL_INSTANTIATE }, { "cuGraphExecUpdate", KERNEL_CALL_GRAPH_UPDATE },
		       { "cuGraphExecDestroy", KERNEL_CALL_GRAPH_END },   { "cuGraphExecGet", KERNEL_CALL_NONE },
		       { "cuGraphExec", KERNEL_CALL_GRAPH_CHANGE },       { "cuGraphNodeSetEnabled", KERNEL_CALL_GRAPH_CHANGE },
		       { "cuStreamBeginCapture", KERNEL_CALL_CAPTURE },   { "cuStreamEndCapture", KERNEL_CALL_CAPTURE_END } };
	uint32_t size = cuda_call_name_size(name);

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (is_call_name(name, size, known[i].name))
			return known[i].kind;
	for (size_t i = 0; i < COUNT_OF(graphs); i++)
		if (strncmp(name, graphs[i].begin, strlen(graphs[i].begin)) == 0)
			return graphs[i].kind;
	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return KERNEL_CALL_OTHER;
	if (about_of(name))
		return KERNEL_CALL_ABOUT;
	for (size_t i = 0; i < COUNT_OF(blind); i++)
		if (strncmp(name, blind[i], strlen(blind[i])) == 0)
			return KERNEL_CALL_NONE;
	return KERNEL_CALL_SEES;
}

/* The runtime's call leads to the driver's; that is not always told of. */
static void find_runtime_calls(void)
{
	const char *name;

	for (uint32_t id = 1; id < MOST_CALLS; id++) {
		name = NULL;
		if (cuda_agent.cupti.cuptiGetCallbackName(CUPTI_DOMAIN_RUNTIME, id, &name) != CUPTI_OK || !name)
			continue;
		if (find_call_kind(name) == KERNEL_CALL_START)
			runtime_start = id;
		else if (find_call_kind(name) == KERNEL_CALL_STOP)
			runtime_stop = id;
	}
}

void kernel_calls_prepare(void)
{
	const char *name;

	find_runtime_calls();
	for (uint32_t id = 1; id < MOST_CALLS; id++) {
		name = NULL;
		calls[id] = KERNEL_CALL_NONE;
		if (cuda_agent.cupti.cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, id, &name) == CUPTI_OK && name)
			calls[id] = (uint8_t)find_call_kind(name);
		abouts[id] = calls[id] == KERNEL_CALL_ABOUT ? about_of(name) : NULL;
	}
}

/* Without these, kernels would be missing. */
static int is_needed(uint8_t call)
{
	return call == KERNEL_CALL_KERNEL || call == KERNEL_CALL_KERNEL_EX || call == KERNEL_CALL_COOPERATIVE ||
	       call == KERNEL_CALL_GRAPH || call == KERNEL_CALL_START || call == KERNEL_CALL_STOP;
}

int kernel_calls_enable(int enable)
{
	int result = 0;

	for (uint32_t id = 1; id < MOST_CALLS; id++)
		if (calls[id] != KERNEL_CALL_NONE &&
		    cuda_agent.cupti.cuptiEnableCallback((uint32_t)enable, cuda_agent.subscriber, CUPTI_DOMAIN_DRIVER, id) != CUPTI_OK &&
		    is_needed(calls[id]))
			result = -1;
	if (runtime_start)
		cuda_agent.cupti.cuptiEnableCallback((uint32_t)enable, cuda_agent.subscriber, CUPTI_DOMAIN_RUNTIME, runtime_start);
	if (runtime_stop)
		cuda_agent.cupti.cuptiEnableCallback((uint32_t)enable, cuda_agent.subscriber, CUPTI_DOMAIN_RUNTIME, runtime_stop);
	return result;
}

int kernel_profiler_call(int is_runtime, uint32_t id, int is_exit)
{
	enum kernel_call call = is_runtime ? KERNEL_CALL_NONE : kernel_call(id);

	if (is_runtime && id)
		call = id == runtime_start ? KERNEL_CALL_START : id == runtime_stop ? KERNEL_CALL_STOP : KERNEL_CALL_NONE;
	if (call != KERNEL_CALL_START && call != KERNEL_CALL_STOP)
		return 0;
	if (call == KERNEL_CALL_START && is_exit)
		kernel_window_start();
	else if (call == KERNEL_CALL_STOP && !is_exit)
		kernel_window_stop();
	return 1;
}

int kernel_call_may_load(uint32_t id, const void *parameters)
{
	static struct kernel_seen seen;
	void *what = NULL;

	if (id >= MOST_CALLS || !abouts[id] || !parameters)
		return 0;
	memcpy(&what, (const char *)parameters + abouts[id]->at, sizeof(what));
	if (kernel_was_seen(&seen, what))
		return 0;
	kernel_see(&seen, what);
	return 1;
}

enum kernel_call kernel_call(uint32_t id)
{
	return id < MOST_CALLS ? (enum kernel_call)calls[id] : KERNEL_CALL_NONE;
}
