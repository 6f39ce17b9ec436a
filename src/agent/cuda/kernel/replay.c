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
	int timed;                    /* no counters can be read */
	uint32_t number;
	char why[KERNEL_WHY_SIZE];
} now;

static void ask_function(struct record_kernel *r, const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *function = kernel_launch_function(l);
	int value;

	for (int i = 0; i < (int)KERNEL_ATTRIBUTES; i++)
		r->attributes[i] = function && d->cuFuncGetAttribute(&value, i, function) == 0 ? (uint32_t)value : KERNEL_NOT_KNOWN;
	r->blocks_per_sm = KERNEL_NOT_KNOWN;
	if (function && d->cuOccupancyMaxActiveBlocksPerMultiprocessor &&
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
	if (l->launches)
		r->facts[KERNEL_FACT_LAUNCHES] = l->launches;
	kernel_tell_place(r);
}

/* Whatever goes wrong, the program's launch goes on. */
static int give_up(const struct kernel_launch *launch)
{
	kernel_tell(&now.record, KERNEL_BEGUN, launch->name);
	now.record.spent = cuda_agent.core->now() - now.begun;
	kernel_tell(&now.record, KERNEL_FAILED, now.why);
	return 0;
}

int kernel_replay_refuse(const struct kernel_launch *launch, const char *why)
{
	now.begun = cuda_agent.core->now();
	snprintf(now.why, sizeof(now.why), "%s", why);
	describe(launch);
	return give_up(launch);
}

static int start(const struct kernel_request *request, int is_graph)
{
	struct kernel_counters *c = now.counters;

	if (request->application.folder)
		return kernel_application_enter(c, &now.record, request, now.why);
	kernel_counters_make_ranges(c, is_graph);
	if (kernel_counters_configure(c, c->parts, c->most_ranges, now.why) < 0)
		return -1;
	if (kernel_counters_start(c, now.why) < 0)
		return -1;
	now.range = request->flush_caches && !is_graph ? kernel_caches_ranges(&c->caches) : 0;
	if (request->flush_caches && kernel_caches_flush(&c->caches, now.why) < 0)
		return -1;
	return is_graph ? kernel_counters_push(c, KERNEL_GRAPH_NAME, now.why) : 0;
}

/* The program's own launch is the only pass. */
static int one_pass(const struct kernel_launch *launch, const struct kernel_request *request)
{
	char ignored[KERNEL_WHY_SIZE];

	if (start(request, launch->call == KERNEL_CALL_GRAPH) < 0) {
		kernel_counters_stop(now.counters, ignored);
		kernel_counters_let_go(now.counters);
		return give_up(launch);
	}
	kernel_tell(&now.record, KERNEL_BEGUN, launch->name);
	kernel_tell(&now.record, KERNEL_PASS, NULL);
	return 1;
}

static int prepare(const struct kernel_launch *launch, const struct kernel_request *request)
{
	int result;

	kernel_tell(&now.record, KERNEL_WAITS, launch->name);
	result = kernel_agent.driver.cuCtxSynchronize();
	kernel_tell(&now.record, KERNEL_WENT_ON, NULL);
	if (result != 0) {
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

void kernel_replay_describe(const struct kernel_launch *launch, struct record_kernel *ret)
{
	describe(launch);
	*ret = now.record;
}

struct kernel_counters *kernel_replay_prepare(const struct kernel_launch *launch, const struct record_kernel *record,
					      const struct kernel_request *request, char *why)
{
	now.begun = cuda_agent.core->now();
	now.record = *record;
	now.counters = NULL;
	now.why[0] = '\0';
	if (prepare(launch, request) == 0)
		return now.counters;
	memcpy(why, now.why, sizeof(now.why));
	return NULL;
}

/* How long it takes can be told all the same. */
static int without_counters(const struct kernel_launch *launch)
{
	kernel_batch_close();
	kernel_tell(&now.record, KERNEL_BEGUN, launch->name);
	kernel_agent.driver.cuCtxSynchronize();
	kernel_timed_begin(launch->correlation);
	return 1;
}

int kernel_replay_enter(const struct kernel_launch *launch, const struct kernel_request *request)
{
	now.begun = cuda_agent.core->now();
	now.why[0] = '\0';
	describe(launch);
	now.timed = kernel_counters_hopeless(launch->context);
	if (now.timed)
		return without_counters(launch);
	if (kernel_batch_is_of(launch->context))
		return kernel_batch_add(now.counters, launch, &now.record, request, now.why) < 0 ? give_up(launch) : 0;
	kernel_batch_close();
	if (prepare(launch, request) < 0) {
		now.timed = kernel_counters_hopeless(launch->context);
		return now.timed ? without_counters(launch) : give_up(launch);
	}
	if (!now.counters->part_count && !kernel_source_wanted(request)) {
		kernel_tell(&now.record, KERNEL_BEGUN, launch->name);
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
	if ((now.counters->by_hand && kernel_counters_pop(now.counters, now.why) < 0) ||
	    kernel_counters_stop(now.counters, now.why) < 0 || kernel_counters_decode(now.counters, part, now.range + 1, now.why) < 0 ||
	    kernel_counters_evaluate(part, now.range, now.why) < 0)
		return -1;
	kernel_tell_values(part, part->values, 0, now.record.number, now.record.time);
	return 0;
}

static void leave_timed(void)
{
	kernel_agent.driver.cuCtxSynchronize();
	now.record.duration = kernel_timed_end();
	now.record.spent = cuda_agent.core->now() - now.begun;
	/* It is said once why. */
	kernel_tell(&now.record, now.why[0] ? KERNEL_FAILED : KERNEL_TIMED, now.why[0] ? now.why : NULL);
}

void kernel_replay_leave(int result)
{
	char ignored[KERNEL_WHY_SIZE];

	if (now.timed) {
		leave_timed();
		return;
	}
	if (result != 0 || kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(now.why, sizeof(now.why), "the program's launch failed (CUDA error %d)", result);
		kernel_counters_stop(now.counters, ignored);
	} else if (last_pass() == 0) {
		now.record.spent = cuda_agent.core->now() - now.begun;
		kernel_tell(&now.record, KERNEL_READ, NULL);
		return;
	}
	kernel_counters_let_go(now.counters);
	now.record.spent = cuda_agent.core->now() - now.begun;
	kernel_tell(&now.record, KERNEL_FAILED, now.why);
}
