#include "agent/cuda/records/calls.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/cuda/records/definitions.h"
#include "base/macros.h"
#include "vendor/cupti/activity.h"
#include "vendor/cupti/callbacks.h"

/* CUPTI 13.0 has 523 calls of the runtime and 807 of the driver. */
#define MOST_CALLS 2048u
#define NEVER UINT64_MAX

struct call {
	const char *name; /* CUPTI's own; NULL = there is none of this number */
	uint8_t choice;
	uint8_t kind;
	uint8_t managed;
	_Atomic uint8_t reported;
};

static struct call calls[CUDA_CLASSES][MOST_CALLS];

struct pattern {
	const char *name;
	uint8_t size; /* without the asterisk */
	uint8_t open; /* an asterisk follows */
	uint8_t class;
	uint8_t choice;
	uint8_t kind;
};

#define PATTERN(text, class, choice, kind) \
	{ text, \
	  (uint8_t)(sizeof(text) - 1 - (text[sizeof(text) - 2] == '*')), \
	  text[sizeof(text) - 2] == '*', \
	  CUDA_CLASS_##class, \
	  CUDA_CALL_##choice, \
	  RING_CUDA_CALL_##kind },

static const struct pattern patterns[] = {
#define CUDA_CALL(class, kind, text) PATTERN(text, class, ALWAYS, kind)
#define CUDA_CALL_NOT(class, text) PATTERN(text, class, ON_REQUEST, OTHER)
#define CUDA_CALL_NEVER(class, text) PATTERN(text, class, NEVER, OTHER)
#define CUDA_CALL_STACKLESS(class, text) PATTERN(text, class, ALWAYS, KINDS)
#include "agent/cuda/records/calls.def"
#undef CUDA_CALL
#undef CUDA_CALL_NOT
#undef CUDA_CALL_NEVER
#undef CUDA_CALL_STACKLESS
};

static int is_version_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint32_t without_version(const char *name, uint32_t size)
{
	uint32_t at = size;

	while (at > 0 && is_version_digit(name[at - 1]))
		at--;
	return at < size && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_' ? at - 2 : size;
}

uint32_t cuda_call_name_size(const char *name)
{
	uint32_t size = without_version(name, (uint32_t)strlen(name));

	if (size > 5 && (memcmp(name + size - 5, "_ptsz", 5) == 0 || memcmp(name + size - 5, "_ptds", 5) == 0))
		size -= 5;
	return without_version(name, size);
}

enum cuda_call_choice cuda_call_choose(enum cuda_api_class class, const char *name, enum ring_cuda_call *kind)
{
	uint32_t size = cuda_call_name_size(name);

	*kind = RING_CUDA_CALL_OTHER;
	for (size_t i = 0; i < COUNT_OF(patterns); i++) {
		const struct pattern *p = &patterns[i];

		if (p->class != class || (p->open ? size < p->size : size != p->size) || memcmp(name, p->name, p->size) != 0)
			continue;
		*kind = p->kind;
		return p->choice;
	}
	return CUDA_CALL_ON_REQUEST;
}

static int domain_of(enum cuda_api_class class)
{
	return class == CUDA_CLASS_DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;
}

static uint8_t is_managed(enum cuda_api_class class, const char *name)
{
	const char *want = class == CUDA_CLASS_DRIVER ? "cuMemAllocManaged" : "cudaMallocManaged";
	uint32_t size = cuda_call_name_size(name);

	return size == strlen(want) && memcmp(name, want, size) == 0;
}

void cuda_calls_prepare(void)
{
	enum ring_cuda_call kind;

	for (unsigned class = 0; class < CUDA_CLASSES; class ++)
		for (uint32_t id = 1; id < MOST_CALLS; id++) {
			struct call *call = &calls[class][id];
			const char *name = NULL;

			call->name = NULL;
			atomic_store_explicit(&call->reported, 0, memory_order_relaxed);
			if (cuda_agent.cupti.cuptiGetCallbackName(domain_of(class), id, &name) != CUPTI_OK || !name)
				continue;
			call->choice = (uint8_t)cuda_call_choose(class, name, &kind);
			call->kind = (uint8_t)kind;
			call->managed = is_managed(class, name);
			call->name = name;
		}
}

static uint32_t get_call_flags(void)
{
	return cuda_agent.core->session->cuda_flags;
}

static int is_call_wanted(const struct call *call)
{
	if (!call->name)
		return 0;
	return call->choice == CUDA_CALL_ALWAYS || (call->choice == CUDA_CALL_ON_REQUEST && (get_call_flags() & RING_CUDA_ALL_APIS));
}

int cuda_call_wanted(enum cuda_api_class class, uint32_t id)
{
	struct call *call = id < MOST_CALLS ? &calls[class][id] : NULL;

	if (!call || !is_call_wanted(call))
		return 0;
	if (atomic_load_explicit(&call->reported, memory_order_acquire))
		return 1;
	if (cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_CALL, .id = (uint64_t) class << 32 | id, .text = call->name }) == 0)
		atomic_store_explicit(&call->reported, 1, memory_order_release);
	return 1;
}

uint64_t cuda_call_stack_threshold(enum cuda_api_class class, uint32_t id)
{
	const struct call *call = id < MOST_CALLS ? &calls[class][id] : NULL;

	if (!call || !(get_call_flags() & RING_CUDA_BACKTRACES) || call->kind >= RING_CUDA_CALL_KINDS || !is_call_wanted(call))
		return NEVER;
	return cuda_agent.core->session->cuda_stack_threshold[call->kind];
}

int cuda_call_stack_possible(enum cuda_api_class class, uint32_t id)
{
	return cuda_call_stack_threshold(class, id) != NEVER;
}

int cuda_call_is_managed(enum cuda_api_class class, uint32_t id)
{
	return id < MOST_CALLS && calls[class][id].name && calls[class][id].managed;
}

void cuda_calls_enable_managed(int on)
{
	for (unsigned class = 0; class < CUDA_CLASSES; class ++)
		for (uint32_t id = 1; id < MOST_CALLS; id++)
			if (cuda_call_is_managed(class, id) && (on || !cuda_call_stack_possible(class, id)))
				cuda_agent.cupti.cuptiEnableCallback((uint32_t)on, cuda_agent.subscriber, domain_of(class), id);
}

void cuda_calls_enable_stacks(int on)
{
	if (!(get_call_flags() & RING_CUDA_BACKTRACES))
		return;
	for (unsigned class = 0; class < CUDA_CLASSES; class ++)
		for (uint32_t id = 1; id < MOST_CALLS; id++)
			if (cuda_call_stack_possible(class, id))
				cuda_agent.cupti.cuptiEnableCallback((uint32_t)on, cuda_agent.subscriber, domain_of(class), id);
}

/* The whole kind, less what is not wanted. Choosing calls without the kind is possible, too, but where the program had begun before CUPTI
 * came, nothing is recorded then (seen with 13.0). */
static void enable_calls(enum cuda_api_class class, int (*choose)(uint32_t id, uint8_t on))
{
	cuda_agent.cupti.cuptiActivityEnable(class == CUDA_CLASS_DRIVER ? CUPTI_KIND_DRIVER : CUPTI_KIND_RUNTIME);
	for (uint32_t id = 1; choose && id < MOST_CALLS; id++)
		if (calls[class][id].name)
			choose(id, (uint8_t)is_call_wanted(&calls[class][id]));
}

void cuda_calls_enable(int on)
{
	const struct cupti *cupti = &cuda_agent.cupti;

	if (on) {
		enable_calls(CUDA_CLASS_RUNTIME, cupti->cuptiActivityEnableRuntimeApi);
		enable_calls(CUDA_CLASS_DRIVER, cupti->cuptiActivityEnableDriverApi);
	} else {
		cupti->cuptiActivityDisable(CUPTI_KIND_RUNTIME);
		cupti->cuptiActivityDisable(CUPTI_KIND_DRIVER);
	}
}
