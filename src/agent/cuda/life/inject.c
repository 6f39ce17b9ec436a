/* Entry point of the CUDA driver's injection: which CUPTI, and what is in the way of it. */
#include <stdio.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/driver.h"
#include "agent/cuda/life/life.h"
#include "agent/cuda/records/resources.h"
#include "agent/cuda/life/thread_ends.h"

#define EXPORT __attribute__((visibility("default")))
#define WHY_SIZE 300
#define TOOL_NAME_SIZE 64

struct cuda_agent cuda_agent;

int InitializeInjection(void);

/* The parameters of cuptiSubscribe_v2. */
struct subscribe_parameters {
	size_t size;
	const char *name;
	char *other;
	size_t other_size;
};

static int reads_counters(void)
{
	return (cuda_agent.core->session->cuda_flags & RING_CUDA_COUNTERS) != 0;
}

static void counters_callback(int domain, uint32_t id, const void *data)
{
	if (kernel_is_child())
		return;
	if (domain == CUPTI_DOMAIN_DRIVER)
		kernel_callback(id, data);
	else if (domain == CUPTI_DOMAIN_RUNTIME)
		kernel_runtime_callback(id, data);
	else if (domain == CUPTI_DOMAIN_RESOURCE) {
		if (id == CUPTI_CONTEXT_DESTROY)
			kernel_context_ends(((const struct cupti_resource_data *)data)->context);
		else if (id == CUPTI_MODULE_LOADED)
			kernel_module_loaded(data);
		cuda_resource_callback(id, data);
	}
}

static void callback(void *user, int domain, uint32_t id, const void *data)
{
	(void)user;
	if (reads_counters()) {
		counters_callback(domain, id, data);
		return;
	}
	if (atomic_load_explicit(&cuda_agent.state, memory_order_relaxed) == CUDA_OFF)
		return;
	if (!cuda_away_callback(domain, data) && !cuda_capture_callback(domain, id, data))
		cuda_callback(domain, id, data);
}

static int subscribe(char *other)
{
	struct cupti *c = &cuda_agent.cupti;
	struct subscribe_parameters parameters = { sizeof(parameters), "Sonde", other, TOOL_NAME_SIZE };

	other[0] = '\0';
	if (c->cuptiSubscribe_v2)
		return c->cuptiSubscribe_v2(&cuda_agent.subscriber, callback, NULL, &parameters);
	return c->cuptiSubscribe(&cuda_agent.subscriber, callback, NULL);
}

/* One sentence for the report, in the words of CUPTI where it has some. */
static void explain_subscription(int result, const char *other, char *why)
{
	struct cupti *c = &cuda_agent.cupti;
	const char *text = NULL;

	switch (result) {
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		snprintf(why, WHY_SIZE, "CUPTI is in use already, by %.64s, and only one can", *other ? other : "another tool");
		return;
	case CUPTI_INSUFFICIENT_PRIVILEGES:
	case CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES:
		snprintf(why, WHY_SIZE,
			 "the driver does not allow it; an administrator can, with "
			 "NVreg_RestrictProfilingToAdminUsers=0");
		return;
	}
	if (!c->cuptiGetErrorMessage || c->cuptiGetErrorMessage(result, &text) != CUPTI_OK || !text)
		c->cuptiGetResultString(result, &text);
	snprintf(why, WHY_SIZE, "%.100s: %.150s (error %d)", c->path, text ? text : "it cannot be used", result);
}

/* A library that is there and does not work with this driver is no reason to give up: there may be
 * another. */
static int is_final(int result)
{
	return result == CUPTI_MULTIPLE_SUBSCRIBERS || result == CUPTI_INSUFFICIENT_PRIVILEGES ||
	       result == CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES;
}

/* Returns 1 when it is taken, 0 when the next one is worth a try. */
static int try_place(const char *path, char *why)
{
	char reason[WHY_SIZE] = "", other[TOOL_NAME_SIZE];
	int result;

	/* Names that the loader does not find are no news. */
	if (cupti_load(&cuda_agent.cupti, path, reason, sizeof(reason)) < 0) {
		if (!*why && path[0] == '/')
			memcpy(why, reason, WHY_SIZE);
		return 0;
	}
	cuda_thread_ends_prepare((const void *)cuda_agent.cupti.cuptiSubscribe);
	result = subscribe(other);
	if (result == CUPTI_OK)
		return 1;
	explain_subscription(result, other, reason);
	if (!*why || is_final(result))
		memcpy(why, reason, WHY_SIZE);
	cupti_unload(&cuda_agent.cupti);
	return is_final(result) ? -1 : 0;
}

static int find_and_subscribe(char *why)
{
	struct cupti_places *places = cuda_agent.core->permanent(sizeof(*places));
	int taken = 0;

	if (!places)
		return -1;
	cupti_find(places, "");
	for (unsigned i = 0; i < places->count && !taken; i++)
		taken = try_place(places->paths[i], why);
	if (!taken && !*why)
		snprintf(why, WHY_SIZE,
			 "CUPTI was not found. Install the CUDA toolkit or 'pip install "
			 "nvidia-cuda-cupti', or set SONDE_CUPTI to libcupti.so");
	return taken == 1 ? 0 : -1;
}

static int subscribe_again(char *why)
{
	char other[TOOL_NAME_SIZE];
	int result = subscribe(other);

	if (result != CUPTI_OK)
		explain_subscription(result, other, why);
	return result == CUPTI_OK ? 0 : -1;
}

int cuda_take(void)
{
	char why[WHY_SIZE] = "", text[WHY_SIZE + 100];
	int result = cuda_agent.cupti.library ? subscribe_again(why) : find_and_subscribe(why);

	if (result == 0 && cuda_agent.core->session->modules & RING_GATE_CUDA && cuda_activities_prepare() < 0) {
		cuda_agent.cupti.cuptiUnsubscribe(cuda_agent.subscriber);
		snprintf(why, sizeof(why), "%.200s lacks functions that Sonde needs", cuda_agent.cupti.path);
		result = -1;
	}
	if (result == 0) {
		atomic_store(&cuda_agent.state, CUDA_CLOSED);
		cuda_capture_prepare();
		return 0;
	}
	atomic_store(&cuda_agent.state, CUDA_OFF);
	snprintf(text, sizeof(text), "CUDA is not recorded: %s.", why);
	cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, text);
	return -1;
}

/* Nothing of the timeline's life: no windows, no thread, CUPTI stays. */
static void begin_counters(void)
{
	char why[WHY_SIZE] = "", text[WHY_SIZE + 100];

	if (find_and_subscribe(why) < 0) {
		snprintf(text, sizeof(text), "CUDA is not counted: %s.", why);
		cuda_agent.core->diagnose(DIAGNOSTIC_ERROR, text);
		return;
	}
	cuda_driver_prepare();
	cuda_resources_enable(1);
	kernel_begin();
}

static void begin_cuda_agent(void)
{
	cuda_life.pid = (uint32_t)raw_getpid();
	cuda_agent.core->cuda_is(RING_CUDA_HERE);
	if (reads_counters()) {
		begin_counters();
		return;
	}
	cuda_away_prepare();
	if (cuda_take() < 0)
		return;
	/* Before there is another thread that would: the driver may hold locks while it is being
	 * initialised. */
	cuda_follow();
	if (cuda_watch_start() == 0) {
		cuda_leave_prepare();
		return;
	}
	atomic_store(&cuda_life.holds, CUDA_HOLD_EXIT);
	cuda_follow();
	atomic_store(&cuda_agent.state, CUDA_OFF);
	cuda_agent.cupti.cuptiUnsubscribe(cuda_agent.subscriber);
	cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, "CUDA is not recorded: no thread could be started.");
}

/* Also where the program's calls are to open a window for others than CUDA. */
static int is_cuda_wanted(const struct ring_session *session)
{
	return session->modules & RING_GATE_CUDA || session->cuda_flags & (RING_CUDA_PROFILER_API | RING_CUDA_COUNTERS);
}

static void begin_if_wanted(void)
{
	if (cuda_agent.core->start() == 0 && is_cuda_wanted(cuda_agent.core->session))
		begin_cuda_agent();
}

/* Called by the driver in cuInit, on whichever thread comes first. Whatever happens here, the
 * program goes on. */
EXPORT int InitializeInjection(void)
{
	static _Atomic uint32_t begun;
	int saved_errno = errno;

	if (atomic_exchange(&begun, 1))
		return 1;
	cuda_agent.core = sonde_agent_interface(AGENT_INTERFACE_VERSION);
	if (cuda_agent.core) {
		cuda_attach_prepare(begin_if_wanted);
		begin_if_wanted();
	}
	errno = saved_errno;
	return 1;
}
