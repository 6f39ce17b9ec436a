/* The least a tool can do with CUPTI, to compare with: the same activities and the same calls, and every record
 * thrown away. Loaded by CUDA_INJECTION64_PATH:
 *   BARE_CUPTI         path of the library
 *   BARE_CUPTI_CALLS   "all" or "none" of the API's calls, in place of those that the agent takes
 *   BARE_CUPTI_SAY     what it did, on stderr
 * or by the program itself, which opens and closes windows: bare_cupti_load, bare_cupti_open, bare_cupti_close. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/arch.h"
#include "vendor/cupti/cupti.h"
#include "vendor/cupti/activity.h"
#include "vendor/cupti/callbacks.h"

#define EXPORT __attribute__((visibility("default")))
#define BUFFER_SIZE ((size_t)2 << 20) /* as the agent's */
#define BUFFERS 16
#define CALLBACK_IDS 2048

enum { RUNTIME_DOMAIN = 2, DRIVER_DOMAIN = 1 };
enum {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_DEVICE = 8,
	KIND_CONTEXT = 9,
	KIND_KERNEL = 10,
	KIND_OVERHEAD = 17,
	KIND_MEMCPY2 = 22,
	KIND_CUDA_EVENT = 36,
	KIND_STREAM = 37,
	KIND_SYNCHRONIZATION = 38,
	KIND_GRAPH_TRACE = 51,
	KIND_JIT = 52
};

/* What the agent does besides, to be switched on one by one. */
enum { SETTING_RESOURCES = 1, SETTING_MANAGED = 2, SETTING_CLOCK = 4, SETTING_ZEROED = 8, SETTING_THREADS = 16, SETTING_SUBSCRIBE_2 = 32 };

static struct cupti cupti;
static void *subscriber;
static uint8_t *spare[BUFFERS];
static unsigned spare_count, settings;
static int counting;
static size_t delivered, delivered_calls, delivered_kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int kinds[] = { KIND_KERNEL,     KIND_MEMCPY,          KIND_MEMCPY2, KIND_MEMSET,     KIND_OVERHEAD,
			     KIND_CUDA_EVENT, KIND_SYNCHRONIZATION, KIND_JIT,     KIND_GRAPH_TRACE };

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = spare_count ? spare[--spare_count] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = (uint8_t *)aligned_alloc(4096, BUFFER_SIZE);
	*size = *buffer ? BUFFER_SIZE : 0;
	*max_records = 0;
}

static void count_records(uint8_t *buffer, size_t valid)
{
	struct cupti_record *record = NULL;

	while (valid && !cupti.cuptiActivityGetNextRecord(buffer, valid, &record)) {
		delivered_calls += record->kind == KIND_RUNTIME || record->kind == KIND_DRIVER;
		delivered_kernels += record->kind == KIND_KERNEL;
	}
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	delivered += valid;
	if (counting)
		count_records(buffer, valid);
	memset(buffer, 0, valid); /* so that any window can say that they are zeroed */
	if (spare_count < BUFFERS) {
		spare[spare_count++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void called(void *user, int domain, uint32_t id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

/* The agent's own choice of calls, where its list is there. */
enum { CHOSEN = 1, LEFT_OUT = 0, CLASS_RUNTIME = RUNTIME_DOMAIN, CLASS_DRIVER = DRIVER_DOMAIN };
static const struct {
	int domain;
	int choice;
	const char *name; /* an asterisk at the end stands for any rest; the first that fits decides */
} patterns[] = {
#if __has_include("agent/cuda/records/calls.def")
#define CUDA_CALL(class, kind, name) { CLASS_##class, CHOSEN, name },
#define CUDA_CALL_STACKLESS(class, name) { CLASS_##class, CHOSEN, name },
#define CUDA_CALL_NOT(class, name) { CLASS_##class, LEFT_OUT, name },
#define CUDA_CALL_NEVER(class, name) { CLASS_##class, LEFT_OUT, name },
#include "agent/cuda/records/calls.def"
#else
	{ CLASS_RUNTIME, CHOSEN, "cudaLaunch*" },
	{ CLASS_RUNTIME, CHOSEN, "cudaMem*" },
	{ CLASS_RUNTIME, CHOSEN, "cudaStream*" },
	{ CLASS_RUNTIME, CHOSEN, "cudaEvent*" },
	{ CLASS_RUNTIME, CHOSEN, "cudaDeviceSynchronize" },
	{ CLASS_RUNTIME, CHOSEN, "cudaGraphLaunch" },
	{ CLASS_DRIVER, CHOSEN, "cuLaunch*" },
	{ CLASS_DRIVER, CHOSEN, "cuMem*" },
#endif
};

static size_t without_version(const char *name, size_t length)
{
	size_t digits = length;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits < length && digits > 2 && !strncmp(name + digits - 2, "_v", 2) ? digits - 2 : length;
}

/* Without what CUPTI adds to it: cudaLaunchKernel_ptsz_v7000 -> cudaLaunchKernel. */
static size_t plain_length(const char *name)
{
	size_t length = without_version(name, strlen(name));

	if (length > 5 && (!strncmp(name + length - 5, "_ptsz", 5) || !strncmp(name + length - 5, "_ptds", 5)))
		length -= 5;
	return without_version(name, length);
}

static int chosen(int domain, const char *name)
{
	size_t length = plain_length(name);

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		size_t fixed = strcspn(patterns[i].name, "*");
		int open = patterns[i].name[fixed] == '*';

		if (patterns[i].domain == domain && (open ? length >= fixed : length == fixed) && !strncmp(name, patterns[i].name, fixed))
			return patterns[i].choice;
	}
	return 0;
}

/* As the agent: the whole kind, less what is not chosen. */
static void enable_calls(int domain, int kind, int (*choose)(uint32_t, uint8_t), int on)
{
	const char *how = getenv("BARE_CUPTI_CALLS");
	unsigned count = 0;

	if (how && !strcmp(how, "none"))
		return;
	(on ? cupti.cuptiActivityEnable : cupti.cuptiActivityDisable)(kind);
	if (!on || !choose || (how && !strcmp(how, "all")))
		return;
	for (uint32_t id = 1; id < CALLBACK_IDS; id++) {
		const char *name = NULL;

		if (cupti.cuptiGetCallbackName(domain, id, &name) || !name)
			continue;
		choose(id, (uint8_t)chosen(domain, name));
		count += chosen(domain, name) != 0;
	}
	if (counting)
		fprintf(stderr, "bare CUPTI: %u calls of domain %d\n", count, domain);
}

static void enable(int on)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		(on ? cupti.cuptiActivityEnable : cupti.cuptiActivityDisable)(kinds[i]);
	enable_calls(RUNTIME_DOMAIN, KIND_RUNTIME, cupti.cuptiActivityEnableRuntimeApi, on);
	enable_calls(DRIVER_DOMAIN, KIND_DRIVER, cupti.cuptiActivityEnableDriverApi, on);
}

static uint64_t stamp(void)
{
	return arch_cycles();
}

static void enable_managed(int domain)
{
	for (uint32_t id = 1; id < CALLBACK_IDS; id++) {
		const char *name = NULL;

		if (!cupti.cuptiGetCallbackName(domain, id, &name) && name &&
		    (!strncmp(name, "cudaMallocManaged", 17) || !strncmp(name, "cuMemAllocManaged", 17)))
			cupti.cuptiEnableCallback(1, subscriber, domain, id);
	}
}

static void enable_resources(void)
{
	/* clang-format off */
	static const uint8_t ids[] = { CUPTI_CONTEXT_CREATED,	 CUPTI_CONTEXT_DESTROY, CUPTI_STREAM_CREATED,
				       CUPTI_DRIVER_READY,	 CUPTI_MODULE_LOADED,	CUPTI_MODULE_UNLOAD,
				       CUPTI_GRAPH_CREATED,	 CUPTI_GRAPH_DESTROY,	CUPTI_GRAPH_CLONED,
				       CUPTI_GRAPH_NODE_CREATED, CUPTI_GRAPH_EXEC_CREATED,
				       CUPTI_GRAPH_EXEC_DESTROY, CUPTI_GRAPH_NODE_CLONED };
	/* clang-format on */

	for (size_t i = 0; i < sizeof(ids); i++)
		cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE, ids[i]);
}

static void apply_settings(void)
{
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);

	if (settings & SETTING_RESOURCES)
		enable_resources();
	if (settings & SETTING_MANAGED) {
		enable_managed(RUNTIME_DOMAIN);
		enable_managed(DRIVER_DOMAIN);
	}
	if (settings & SETTING_CLOCK)
		cupti.cuptiActivityRegisterTimestampCallback(stamp);
	if (settings & SETTING_ZEROED)
		cupti.cuptiActivitySetAttribute(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, &size, &zeroed);
	if (settings & SETTING_THREADS)
		cupti.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
}

static int subscribe(void)
{
	struct {
		size_t size;
		const char *name;
		char *other;
		size_t other_size;
	} parameters = { sizeof(parameters), "bare", NULL, 0 };

	if (settings & SETTING_SUBSCRIBE_2 && cupti.cuptiSubscribe_v2)
		return cupti.cuptiSubscribe_v2(&subscriber, called, NULL, &parameters);
	return cupti.cuptiSubscribe(&subscriber, called, NULL);
}

/* Returns what CUPTI says to it: that there is another subscriber, say. */
EXPORT int bare_cupti_open(unsigned wanted)
{
	int result;

	settings = wanted;
	result = subscribe();
	if (result) {
		fprintf(stderr, "bare CUPTI: cuptiSubscribe: %d\n", result);
		return result;
	}
	cupti.cuptiActivityRegisterCallbacks(requested, completed);
	apply_settings();
	cupti.cuptiActivityEnable(KIND_DEVICE);
	cupti.cuptiActivityEnable(KIND_CONTEXT);
	cupti.cuptiActivityEnable(KIND_STREAM);
	if (cupti.cuptiActivityEnableAllSyncRecords)
		cupti.cuptiActivityEnableAllSyncRecords(0);
	enable(1);
	return 0;
}

/* After it CUPTI is not there. */
EXPORT void bare_cupti_close(void)
{
	enable(0);
	cupti.cuptiActivityFlushAll(1);
	cupti.cuptiUnsubscribe(subscriber);
	subscriber = NULL;
	if (cupti.cuptiFinalize)
		cupti.cuptiFinalize();
}

/* Kernels and calls delivered since it was last asked; from now on they are counted, or not, which takes time. */
EXPORT void bare_cupti_count(int on, uint64_t result[2])
{
	pthread_mutex_lock(&lock);
	counting = on;
	result[0] = delivered_kernels;
	result[1] = delivered_calls;
	delivered_kernels = delivered_calls = 0;
	pthread_mutex_unlock(&lock);
}

EXPORT int bare_cupti_load(const char *path)
{
	cupti.library = dlopen(path, RTLD_NOW);
	if (!cupti.library) {
		fprintf(stderr, "bare CUPTI: %s\n", dlerror());
		return -1;
	}
#define CUPTI_FUNCTION(needed, name, parameters) \
	*(void **)&cupti.name = dlsym(cupti.library, #name); \
	if (needed && !cupti.name) \
		return -1;
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION
	return 0;
}

static void at_end(void)
{
	if (subscriber)
		cupti.cuptiActivityFlushAll(1);
	if (counting)
		fprintf(stderr, "bare CUPTI: %zu bytes of records, %zu calls\n", delivered, delivered_calls);
}

EXPORT int InitializeInjection(void)
{
	const char *path = getenv("BARE_CUPTI");

	counting = getenv("BARE_CUPTI_SAY") != NULL;
	if (bare_cupti_load(path ? path : "libcupti.so"))
		return 1;
	atexit(at_end);
	bare_cupti_open(0);
	return 1;
}
