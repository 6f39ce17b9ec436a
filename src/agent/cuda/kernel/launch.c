/* Launches that are made again: at once, with the program's own parameters, or later, with copies of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

#define MOST_ARGUMENTS 1024u
#define MOST_BYTES 65536u

int kernel_launch_start(const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	const struct cuda_launch_kernel *k = l->parameters;
	const struct cuda_launch_kernel_ex *ex = l->parameters;
	const struct cuda_launch_graph *graph = l->parameters;

	switch (l->call) {
	case KERNEL_CALL_KERNEL:
		return d->cuLaunchKernel(k->function, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], k->shared,
					 k->stream, k->parameters, k->extra);
	case KERNEL_CALL_KERNEL_EX:
		return d->cuLaunchKernelEx ? d->cuLaunchKernelEx(ex->config, ex->function, ex->parameters, ex->extra) : 1;
	case KERNEL_CALL_COOPERATIVE:
		return d->cuLaunchCooperativeKernel ?
			       d->cuLaunchCooperativeKernel(k->function, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
							    k->block[2], k->shared, k->stream, k->parameters) :
			       1;
	case KERNEL_CALL_GRAPH: return d->cuGraphLaunch ? d->cuGraphLaunch(graph->exec, graph->stream) : 1;
	default: return 1;
	}
}

int kernel_launch_again(const struct kernel_launch *l, char *why)
{
	int result = kernel_launch_start(l);

	if (result == 0)
		result = kernel_agent.driver.cuCtxSynchronize();
	if (result != 0)
		snprintf(why, KERNEL_WHY_SIZE, "the kernel could not be replayed (CUDA error %d)", result);
	return result == 0 ? 0 : -1;
}

/* A launch may name a kernel of a library instead of a function of a module. */
void *kernel_launch_function(const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *function = l->function;
	int value;

	if (function && d->cuFuncGetAttribute(&value, 0, function) != 0 && d->cuKernelGetFunction)
		d->cuKernelGetFunction(&function, l->function);
	return function;
}

/* Sizes of the arguments; how many there are, or -1 where the driver does not tell. */
static int argument_sizes(const struct kernel_launch *l, size_t *sizes, size_t *ret_bytes)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *function = kernel_launch_function(l);
	size_t offset, size;
	unsigned count = 0;
	int result = 0;

	*ret_bytes = 0;
	if (!d->cuFuncGetParamInfo)
		return -1;
	while (count < MOST_ARGUMENTS && (result = d->cuFuncGetParamInfo(function, count, &offset, &size)) == 0) {
		sizes[count++] = size;
		*ret_bytes += (size + 15) & ~(size_t)15;
		if (*ret_bytes > MOST_BYTES)
			return -1;
	}
	/* A number that no argument has is an invalid value; any other answer says nothing of how many there are. */
	return result == CUDA_INVALID_VALUE ? (int)count : -1;
}

/* Pointers first, then what they point at. */
static int copy_arguments(struct kernel_copy *copy, void **from)
{
	size_t sizes[MOST_ARGUMENTS], bytes, at;
	int count = argument_sizes(&copy->launch, sizes, &bytes);

	if (count < 0 || (count > 0 && !from))
		return -1;
	at = ((size_t)count + 1) * sizeof(void *);
	at = (at + 15) & ~(size_t)15;
	copy->arguments = malloc(at + bytes);
	if (!copy->arguments)
		return -1;
	for (int i = 0; i < count; i++) {
		copy->arguments[i] = (uint8_t *)copy->arguments + at;
		memcpy(copy->arguments[i], from[i], sizes[i]);
		at += (sizes[i] + 15) & ~(size_t)15;
	}
	return 0;
}

static int copy_config(struct kernel_copy *copy, const struct cuda_launch_kernel_ex *ex)
{
	uint32_t count = ex->config->attributes ? ex->config->attribute_count : 0;

	if (count > KERNEL_LAUNCH_ATTRIBUTES)
		return -1;
	copy->ex = *ex;
	copy->config = *ex->config;
	if (count)
		memcpy(copy->attributes, ex->config->attributes, count * sizeof(*copy->attributes));
	copy->config.attributes = copy->attributes;
	copy->config.attribute_count = count;
	copy->ex.config = &copy->config;
	copy->ex.parameters = copy->arguments;
	copy->launch.parameters = &copy->ex;
	return 0;
}

int kernel_launch_copy(struct kernel_copy *ret, const struct kernel_launch *l)
{
	const struct cuda_launch_kernel_ex *ex = l->parameters;
	const struct cuda_launch_kernel *k = l->parameters;
	int is_ex = l->call == KERNEL_CALL_KERNEL_EX;

	ret->launch = *l;
	ret->arguments = NULL;
	if (l->call == KERNEL_CALL_GRAPH) {
		memcpy(&ret->graph, l->parameters, sizeof(ret->graph));
		ret->launch.parameters = &ret->graph;
		return 0;
	}
	/* Arguments in a buffer of the program's have no sizes that could be asked for. */
	if ((is_ex && ex->extra) || (l->call == KERNEL_CALL_KERNEL && k->extra) ||
	    copy_arguments(ret, is_ex ? ex->parameters : k->parameters) < 0)
		return -1;
	if (is_ex && copy_config(ret, ex) == 0)
		return 0;
	if (is_ex) {
		kernel_launch_forget(ret);
		return -1;
	}
	memcpy(&ret->kernel, k, l->call == KERNEL_CALL_COOPERATIVE ? offsetof(struct cuda_launch_kernel, extra) : sizeof(*k));
	ret->kernel.parameters = ret->arguments;
	ret->launch.parameters = &ret->kernel;
	return 0;
}

void kernel_launch_forget(struct kernel_copy *copy)
{
	free(copy->arguments);
	copy->arguments = NULL;
}
