/* -c cudaProfilerApi: the program says when. cudaProfilerStart returns when the window is open, so
 * that what follows is recorded. */
#include <stddef.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/life/life.h"
#include "vendor/cupti/callbacks.h"

/* Above any number of a call so far. */
#define CALLS 4096u

/* cudaProfilerStart calls cuProfilerStart: either may come alone. */
static struct {
	uint32_t start;
	uint32_t stop;
} calls[CUPTI_DOMAIN_RUNTIME + 1];

/* "cudaProfilerStart_v4000" is cudaProfilerStart. */
static int is_call(const char *name, const char *want)
{
	size_t length = strlen(want);

	return strncmp(name, want, length) == 0 && (name[length] == '\0' || strncmp(name + length, "_v", 2) == 0);
}

static void find_calls(int domain, const char *start, const char *stop)
{
	const char *name;

	for (uint32_t id = 1; id < CALLS; id++) {
		name = NULL;
		if (cuda_agent.cupti.cuptiGetCallbackName(domain, id, &name) != CUPTI_OK || !name)
			continue;
		if (is_call(name, start))
			calls[domain].start = id;
		else if (is_call(name, stop))
			calls[domain].stop = id;
	}
}

static void enable_profiler_calls(int domain)
{
	struct cupti *c = &cuda_agent.cupti;

	if (calls[domain].start)
		c->cuptiEnableCallback(1, cuda_agent.subscriber, domain, calls[domain].start);
	if (calls[domain].stop)
		c->cuptiEnableCallback(1, cuda_agent.subscriber, domain, calls[domain].stop);
}

void cuda_capture_prepare(void)
{
	if (!(cuda_agent.core->session->cuda_flags & RING_CUDA_PROFILER_API) || cuda_life.heard)
		return;
	find_calls(CUPTI_DOMAIN_RUNTIME, "cudaProfilerStart", "cudaProfilerStop");
	find_calls(CUPTI_DOMAIN_DRIVER, "cuProfilerStart", "cuProfilerStop");
	enable_profiler_calls(CUPTI_DOMAIN_RUNTIME);
	enable_profiler_calls(CUPTI_DOMAIN_DRIVER);
}

static int is_armed(void)
{
	const struct ring_session *session = cuda_agent.core->session;

	return session->cuda_flags & RING_CUDA_ARMED && cuda_life.pid == (uint32_t)raw_getpid();
}

void cuda_capture_start(void)
{
	if (!is_armed())
		return;
	if (atomic_load(&cuda_agent.core->session->gate) == 0)
		cuda_agent.core->ask_window(CAPTURE_START, CAPTURE_CUDA_PROFILER);
	cuda_follow();
}

void cuda_capture_stop(void)
{
	const struct ring_session *session = cuda_agent.core->session;

	if (!is_armed() || session->cuda_flags & RING_CUDA_KEEP_OPEN || atomic_load(&session->gate) == 0)
		return;
	cuda_agent.core->ask_window(CAPTURE_STOP, CAPTURE_CUDA_PROFILER);
	cuda_follow();
	if (session->cuda_flags & RING_CUDA_FLUSH_ON_STOP)
		cuda_flush(0);
}

int cuda_capture_callback(int domain, uint32_t id, const void *data)
{
	const struct cupti_call_data *call = data;

	if ((domain != CUPTI_DOMAIN_RUNTIME && domain != CUPTI_DOMAIN_DRIVER) || !id ||
	    (id != calls[domain].start && id != calls[domain].stop))
		return 0;
	if (id == calls[domain].start && call->site == CUPTI_SITE_EXIT)
		cuda_capture_start();
	else if (id == calls[domain].stop && call->site == CUPTI_SITE_ENTER)
		cuda_capture_stop();
	return 1;
}
