/* Calls of a range that are made again for each pass (--replay-mode range): launches as they are, beside each other; memory operations by
 * themselves. Events are not touched, as programs read times from them: everything is waited for instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/records/calls.h"
#include "agent/cuda/kernel/kernel.h"
#include "base/macros.h"

#define MOST_CALLS 65536u
#define MOST_CONTENT ((size_t)1 << 30)

enum kind { REFUSED, LAUNCH, SET, COPY, WAIT, NOTHING };

struct remembered {
	enum kind kind;
	struct kernel_copy *launch;
	struct kernel_step step;
	void *content; /* of host memory that was copied from */
};

static struct {
	struct remembered *items;
	size_t count, room;
	size_t content; /* bytes */
} calls;

static enum kind find_range_call_kind(const char *name, uint32_t *element)
{
	static const struct {
		const char *name;
		enum kind kind;
		uint32_t element;
	} known[] = { { "cuMemsetD8", SET, 1 },
		      { "cuMemsetD8Async", SET, 1 },
		      { "cuMemsetD16", SET, 2 },
		      { "cuMemsetD16Async", SET, 2 },
		      { "cuMemsetD32", SET, 4 },
		      { "cuMemsetD32Async", SET, 4 },
		      { "cuMemcpy", COPY, 0 },
		      { "cuMemcpyAsync", COPY, 0 },
		      { "cuMemcpyHtoD", COPY, 0 },
		      { "cuMemcpyHtoDAsync", COPY, 0 },
		      { "cuMemcpyDtoD", COPY, 0 },
		      { "cuMemcpyDtoDAsync", COPY, 0 },
		      { "cuMemcpyDtoH", COPY, 0 },
		      { "cuMemcpyDtoHAsync", COPY, 0 },
		      { "cuCtxSynchronize", WAIT, 0 },
		      { "cuStreamSynchronize", WAIT, 0 },
		      { "cuEventSynchronize", WAIT, 0 },
		      { "cuStreamWaitEvent", WAIT, 0 },
		      { "cuEventRecord", WAIT, 0 },
		      { "cuEventRecordWithFlags", WAIT, 0 },
		      { "cuStreamQuery", NOTHING, 0 },
		      { "cuEventQuery", NOTHING, 0 },
		      { "cuEventElapsedTime", NOTHING, 0 },
		      { "cuEventDestroy", NOTHING, 0 },
		      { "cuMemGetInfo", NOTHING, 0 } };
	uint32_t size = cuda_call_name_size(name);

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (strlen(known[i].name) == size && memcmp(known[i].name, name, size) == 0) {
			*element = known[i].element;
			return known[i].kind;
		}
	return REFUSED;
}

static struct remembered *add_range_call(enum kind kind)
{
	size_t room = calls.room ? calls.room * 2 : 64;
	struct remembered *larger;

	if (calls.count == calls.room) {
		larger = calls.count < MOST_CALLS ? realloc(calls.items, room * sizeof(*larger)) : NULL;
		if (!larger)
			return NULL;
		calls.items = larger;
		calls.room = room;
	}
	calls.items[calls.count] = (struct remembered){ .kind = kind };
	return &calls.items[calls.count++];
}

static int too_many(char *why)
{
	snprintf(why, KERNEL_WHY_SIZE, "it has too many calls (use --replay-mode app-range)");
	return -1;
}

static int add_launch(enum kernel_call call, const struct cupti_call_data *data, char *why)
{
	struct remembered *r = add_range_call(LAUNCH);
	struct kernel_launch l;

	if (!r)
		return too_many(why);
	r->launch = calloc(1, sizeof(*r->launch));
	if (r->launch && kernel_describe_call(&l, call, data) == 0 && kernel_launch_copy(r->launch, &l) == 0)
		return 0;
	free(r->launch);
	r->launch = NULL;
	snprintf(why, KERNEL_WHY_SIZE, "arguments of a launch cannot be copied (use --replay-mode app-range)");
	return -1;
}

static int add_set_call(const struct cupti_call_data *data, uint32_t element, char *why)
{
	const struct cuda_call_set *p = data->parameters;
	struct remembered *r = add_range_call(SET);

	if (!r)
		return too_many(why);
	r->step.type = CUDA_NODE_SET;
	r->step.set = (struct cuda_node_set){ .address = p->address,
					      .value = element == 4 ? p->value : p->value & ((1u << 8 * element) - 1),
					      .element = element,
					      .width = p->count,
					      .height = 1 };
	return 0;
}

/* 0: memory that the driver does not know. -1: it does not say, and the memory may be the device's. */
static int ask_type(uint64_t address, uint32_t *ret)
{
	int result = kernel_agent.driver.cuPointerGetAttribute ?
			     kernel_agent.driver.cuPointerGetAttribute(ret, CUDA_POINTER_MEMORY_TYPE, address) :
			     CUDA_INVALID_VALUE;

	if (result != 0)
		*ret = 0;
	return result == 0 || result == CUDA_INVALID_VALUE ? 0 : -1;
}

/* What the program copies from the host it may change after the call. What it copies to the host it has already. */
static int add_copy(const struct cupti_call_data *data, char *why)
{
	const struct cuda_call_copy *p = data->parameters;
	struct remembered *r;
	struct cuda_copy *c;
	uint32_t from, to;

	if (ask_type(p->from, &from) < 0 || ask_type(p->to, &to) < 0) {
		snprintf(why, KERNEL_WHY_SIZE, "the driver does not report the memory that is copied in it");
		return -1;
	}
	if (!to)
		return 0;
	r = add_range_call(COPY);
	if (!r)
		return too_many(why);
	c = &r->step.copy;
	r->step.type = CUDA_NODE_COPY;
	*c = (struct cuda_copy){ .from = { .type = CUDA_MEMORY_UNIFIED, .device = p->from },
				 .to = { .type = CUDA_MEMORY_UNIFIED, .device = p->to },
				 .width = p->size,
				 .height = 1,
				 .depth = 1 };
	if (from != 0 && from != CUDA_MEMORY_HOST)
		return 0;
	calls.content += p->size;
	r->content = calls.content <= MOST_CONTENT ? malloc(p->size) : NULL;
	if (!r->content)
		return too_many(why);
	memcpy(r->content, (const void *)(uintptr_t)p->from, p->size);
	c->from = (struct cuda_copy_end){ .type = CUDA_MEMORY_HOST, .host = r->content };
	return 0;
}

int kernel_calls_remember(enum kernel_call call, const struct cupti_call_data *data, char *why)
{
	uint32_t element = 0;
	enum kind kind = find_range_call_kind(data->name, &element);

	if (call == KERNEL_CALL_KERNEL || call == KERNEL_CALL_KERNEL_EX || call == KERNEL_CALL_COOPERATIVE)
		return add_launch(call, data, why);
	if (kind == SET)
		return add_set_call(data, element, why);
	if (kind == COPY)
		return add_copy(data, why);
	if (kind == WAIT)
		return add_range_call(WAIT) ? 0 : too_many(why);
	if (kind == NOTHING)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "%.*s is called in it, which cannot be replayed (use --replay-mode app-range)",
		 (int)cuda_call_name_size(data->name), data->name);
	return -1;
}

static int repeat_range_call(const struct remembered *r, char *why)
{
	int result = 0;

	if (r->kind == LAUNCH)
		result = kernel_launch_start(&r->launch->launch);
	else
		result = kernel_agent.driver.cuCtxSynchronize();
	if (result != 0)
		snprintf(why, KERNEL_WHY_SIZE, "a launch of the range could not be replayed (CUDA error %d)", result);
	if (result == 0 && (r->kind == SET || r->kind == COPY))
		return kernel_step_make(&r->step, why);
	return result == 0 ? 0 : -1;
}

int kernel_calls_make(char *why)
{
	const struct remembered end = { .kind = WAIT };

	for (size_t i = 0; i < calls.count; i++)
		if (repeat_range_call(&calls.items[i], why) < 0)
			return -1;
	return repeat_range_call(&end, why);
}

void kernel_calls_forget(void)
{
	for (size_t i = 0; i < calls.count; i++) {
		if (calls.items[i].launch)
			kernel_launch_forget(calls.items[i].launch);
		free(calls.items[i].launch);
		free(calls.items[i].content);
	}
	free(calls.items);
	memset(&calls, 0, sizeof(calls));
}
