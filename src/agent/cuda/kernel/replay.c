/* What there is to say of a launch, and what becomes of it: read with others, in several passes, or in one pass around the program's
 * own launch, which needs no copy of memory. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/names.h"
#include "agent/cuda/kernel/kernel.h"

static struct {
	struct kernel_counters *counters;
	struct record_kernel record;
	uint64_t begun;
	size_t range;                 /* of the launch, after the emptying of caches */
	uint32_t number;
	char why[KERNEL_WHY_SIZE];
} now;

static void ask_function(struct record_kernel *r, const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *function = kernel_launch_function(l);
	int value;

	for (int i = 0; i < (int)KERNEL_ATTRIBUTES; i++)
		r->attributes[i] = d->cuFuncGetAttribute(&value, i, function) == 0 ? (uint32_t)value : KERNEL_NOT_KNOWN;
	r->blocks_per_sm = KERNEL_NOT_KNOWN;
	if (d->cuOccupancyMaxActiveBlocksPerMultiprocessor &&
	    d->cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, (int)(l->block[0] * l->block[1] * l->block[2]),
							   l->shared) == 0)
		r->blocks_per_sm = (uint32_t)value;
	kernel_facts_ask(r, l, function);
}

static void describe(const struct kernel_launch *l)
{
	struct record_kernel *r = &now.record;
	uint32_t stream = CUDA_NO_ID, device = CUDA_NO_ID;

	memset(r, 0, sizeof(*r));
	r->time = cuda_agent.core->now();
	r->number = now.number++;
	r->function = cuda_function_number(l->name);
	if (cuda_agent.cupti.cuptiGetStreamIdEx)
		cuda_agent.cupti.cuptiGetStreamIdEx(l->context, l->stream, 0, &stream);
	if (cuda_agent.cupti.cuptiGetDeviceId)
		cuda_agent.cupti.cuptiGetDeviceId(l->context, &device);
	r->place = (struct cuda_place){ device, l->context_id, stream, l->correlation };
	memcpy(r->grid, l->grid, sizeof(r->grid));
	memcpy(r->block, l->block, sizeof(r->block));
	memcpy(r->cluster, l->cluster, sizeof(r->cluster));
	r->dynamic_shared = l->shared;
	ask_function(r, l);
	kernel_tell_place(r);
}

static void tell_begun(const struct kernel_launch *launch)
{
	kernel_tell(&now.record, KERNEL_BEGUN, launch->name);
	kernel_facts_tell_device(&now.record);
}

/* Whatever goes wrong, the program's launch goes on. */
static int give_up(const struct kernel_launch *launch)
{
	tell_begun(launch);
	now.record.spent = cuda_agent.core->now() - now.begun;
	kernel_tell(&now.record, KERNEL_FAILED, now.why);
	return 0;
}

static int start(const struct kernel_request *request)
{
	struct kernel_counters *c = now.counters;

	if (request->application.folder)
		return kernel_application_enter(c, &now.record, request, now.why);
	if (kernel_counters_configure(c, c->parts, c->most_ranges, now.why) < 0)
		return -1;
	if (kernel_counters_start(c, now.why) < 0)
		return -1;
	now.range = request->flush_caches ? 1 : 0;
	return request->flush_caches ? kernel_caches_flush(&c->caches, now.why) : 0;
}

/* The program's own launch is the only pass. */
static int one_pass(const struct kernel_launch *launch, const struct kernel_request *request)
{
	char ignored[KERNEL_WHY_SIZE];

	if (start(request) < 0) {
		kernel_counters_stop(now.counters, ignored);
		kernel_counters_renew(now.counters);
		return give_up(launch);
	}
	tell_begun(launch);
	return 1;
}

static int prepare(const struct kernel_launch *launch, const struct kernel_request *request)
{
	if (kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(now.why, sizeof(now.why), "the context has had an error before");
		return -1;
	}
	now.counters = kernel_counters_of(launch->context, request, now.why);
	if (!now.counters)
		return -1;
	now.record.passes = (uint32_t)now.counters->passes;
	return (now.counters->part_count || kernel_source_wanted(request)) && request->flush_caches ?
		       kernel_caches_prepare(&now.counters->caches, now.counters->device, now.why) : 0;
}

int kernel_replay_enter(const struct kernel_launch *launch, const struct kernel_request *request)
{
	now.begun = cuda_agent.core->now();
	now.why[0] = '\0';
	describe(launch);
	if (kernel_batch_is_of(launch->context))
		return kernel_batch_add(now.counters, launch, &now.record, request, now.why) < 0 ? give_up(launch) : 0;
	kernel_batch_close();
	if (prepare(launch, request) < 0)
		return give_up(launch);
	if (!now.counters->part_count && !kernel_source_wanted(request)) {
		tell_begun(launch);
		kernel_tell(&now.record, KERNEL_READ, NULL);
		return 0;
	}
	if ((now.counters->passes == 1 && !request->warm && !kernel_source_wanted(request)) || request->application.folder)
		return one_pass(launch, request);
	return kernel_batch_add(now.counters, launch, &now.record, request, now.why) < 0 ? give_up(launch) : 0;
}

static int last_pass(void)
{
	const struct kernel_request *request = &kernel_agent.request;
	struct kernel_part *part = now.counters->parts;

	if (request->application.folder)
		return kernel_application_leave(now.counters, &now.record, request, now.why);
	if (kernel_counters_stop(now.counters, now.why) < 0 || kernel_counters_decode(now.counters, part, now.range + 1, now.why) < 0 ||
	    kernel_counters_evaluate(part, now.range, now.why) < 0)
		return -1;
	kernel_tell_values(part, part->values, 0, now.record.number, now.record.time);
	return 0;
}

void kernel_replay_leave(int result)
{
	char ignored[KERNEL_WHY_SIZE];

	if (result != 0 || kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(now.why, sizeof(now.why), "the program's launch failed (CUDA error %d)", result);
		kernel_counters_stop(now.counters, ignored);
	} else if (last_pass() == 0) {
		now.record.spent = cuda_agent.core->now() - now.begun;
		kernel_tell(&now.record, KERNEL_READ, NULL);
		return;
	}
	kernel_counters_renew(now.counters);
	now.record.spent = cuda_agent.core->now() - now.begun;
	kernel_tell(&now.record, KERNEL_FAILED, now.why);
}
