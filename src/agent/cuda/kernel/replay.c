/* What there is to say of a launch, and what becomes of it: read with others, in several passes, or in one pass around the program's
 * own launch, which needs no copy of memory. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/records/names.h"
#include "agent/cuda/kernel/kernel.h"

static void ask_function(struct record_kernel *r, const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *function = kernel_launch_function(l);
	int value;

	for (int i = 0; i < (int)KERNEL_ATTRIBUTES; i++)
		r->attributes[i] = function && d->cuFuncGetAttribute(&value, i, function) == 0 ? (uint32_t)value : KERNEL_NOT_KNOWN;
	r->blocks_per_sm = KERNEL_NOT_KNOWN;
	if (function && d->cuOccupancyMaxActiveBlocksPerMultiprocessor &&
	    d->cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, (int)(l->block[0] * l->block[1] * l->block[2]), l->shared) ==
		    0)
		r->blocks_per_sm = (uint32_t)value;
	kernel_facts_ask(r, l, function);
}

static void describe_replay(struct kernel_replay *replay, const struct kernel_launch *l)
{
	struct record_kernel *r = &replay->record;
	uint32_t stream = CUDA_NO_ID, device = CUDA_NO_ID;

	memset(r, 0, sizeof(*r));
	r->time = cuda_agent.core->now();
	r->number = replay->number++;
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
	kernel_report_place(r);
}

/* Whatever goes wrong, the program's launch goes on. */
static int give_up_replay(struct kernel_replay *replay, const struct kernel_launch *launch)
{
	kernel_report(&replay->record, KERNEL_BEGUN, launch->name);
	replay->record.spent = cuda_agent.core->now() - replay->begun;
	kernel_report(&replay->record, KERNEL_FAILED, replay->why);
	return 0;
}

int kernel_replay_refuse(struct kernel_replay *replay, const struct kernel_launch *launch, const char *why)
{
	replay->begun = cuda_agent.core->now();
	snprintf(replay->why, sizeof(replay->why), "%s", why);
	describe_replay(replay, launch);
	return give_up_replay(replay, launch);
}

static int start_replay(struct kernel_replay *replay, const struct kernel_request *request, int is_graph)
{
	struct kernel_counters *c = replay->counters;

	if (request->application_folder)
		return kernel_application_enter(c, &replay->record, request, replay->why);
	kernel_counters_make_ranges(c, is_graph);
	if (kernel_counters_configure(c, c->parts, c->most_ranges, replay->why) < 0)
		return -1;
	if (kernel_counters_start(c, replay->why) < 0)
		return -1;
	replay->range = request->flush_caches && !is_graph ? kernel_caches_ranges(&c->caches) : 0;
	if (request->flush_caches && kernel_caches_flush(&c->caches, replay->why) < 0)
		return -1;
	return is_graph ? kernel_counters_push(c, KERNEL_GRAPH_NAME, replay->why) : 0;
}

/* The program's own launch is the only pass. */
static int one_pass(struct kernel_replay *replay, const struct kernel_launch *launch, const struct kernel_request *request)
{
	char ignored[KERNEL_WHY_SIZE];

	if (start_replay(replay, request, launch->call == KERNEL_CALL_GRAPH) < 0) {
		kernel_counters_stop(replay->counters, ignored);
		kernel_counters_let_go(replay->counters);
		return give_up_replay(replay, launch);
	}
	kernel_report(&replay->record, KERNEL_BEGUN, launch->name);
	kernel_report(&replay->record, KERNEL_PASS, NULL);
	return 1;
}

static int prepare_replay(struct kernel_replay *replay, const struct kernel_launch *launch, const struct kernel_request *request)
{
	int result;

	kernel_report(&replay->record, KERNEL_WAITS, launch->name);
	result = kernel_agent.driver.cuCtxSynchronize();
	kernel_report(&replay->record, KERNEL_WENT_ON, NULL);
	if (result != 0) {
		snprintf(replay->why, sizeof(replay->why), "the context has had an error before");
		return -1;
	}
	replay->counters = kernel_counters_of(launch->context, request, replay->why);
	if (!replay->counters)
		return -1;
	replay->record.passes = (uint32_t)replay->counters->passes;
	return (replay->counters->part_count || kernel_source_wanted(request)) && request->flush_caches ?
		       kernel_caches_prepare(&replay->counters->caches, replay->counters->device, replay->why) :
		       0;
}

void kernel_replay_describe(struct kernel_replay *replay, const struct kernel_launch *launch, struct record_kernel *ret)
{
	describe_replay(replay, launch);
	*ret = replay->record;
}

struct kernel_counters *kernel_replay_prepare(struct kernel_replay *replay, const struct kernel_launch *launch,
					      const struct record_kernel *record, const struct kernel_request *request, char *why)
{
	replay->begun = cuda_agent.core->now();
	replay->record = *record;
	replay->counters = NULL;
	replay->why[0] = '\0';
	if (prepare_replay(replay, launch, request) == 0)
		return replay->counters;
	memcpy(why, replay->why, sizeof(replay->why));
	return NULL;
}

/* How long it takes can be told all the same. */
static int without_counters(struct kernel_replay *replay, const struct kernel_launch *launch)
{
	kernel_batch_close();
	kernel_report(&replay->record, KERNEL_BEGUN, launch->name);
	kernel_agent.driver.cuCtxSynchronize();
	kernel_timed_begin(launch->correlation);
	return 1;
}

int kernel_replay_enter(struct kernel_replay *replay, const struct kernel_launch *launch, const struct kernel_request *request)
{
	replay->begun = cuda_agent.core->now();
	replay->why[0] = '\0';
	describe_replay(replay, launch);
	replay->timed = kernel_counters_hopeless(launch->context);
	if (replay->timed)
		return without_counters(replay, launch);
	if (kernel_batch_is_of(launch->context))
		return kernel_batch_add(replay->counters, launch, &replay->record, request, replay->why) < 0 ?
			       give_up_replay(replay, launch) :
			       0;
	kernel_batch_close();
	if (prepare_replay(replay, launch, request) < 0) {
		replay->timed = kernel_counters_hopeless(launch->context);
		return replay->timed ? without_counters(replay, launch) : give_up_replay(replay, launch);
	}
	if (!replay->counters->part_count && !kernel_source_wanted(request)) {
		kernel_report(&replay->record, KERNEL_BEGUN, launch->name);
		kernel_report(&replay->record, KERNEL_READ, NULL);
		return 0;
	}
	if ((replay->counters->passes == 1 && !request->warm && !kernel_source_wanted(request)) || request->application_folder)
		return one_pass(replay, launch, request);
	return kernel_batch_add(replay->counters, launch, &replay->record, request, replay->why) < 0 ? give_up_replay(replay, launch) : 0;
}

static int last_pass(struct kernel_replay *replay)
{
	const struct kernel_request *request = &kernel_agent.request;
	struct kernel_part *part = replay->counters->parts;

	if (request->application_folder)
		return kernel_application_leave(replay->counters, &replay->record, request, replay->why);
	if ((replay->counters->by_hand && kernel_counters_pop(replay->counters, replay->why) < 0) ||
	    kernel_counters_stop(replay->counters, replay->why) < 0 ||
	    kernel_counters_decode(replay->counters, part, replay->range + 1, replay->why) < 0 ||
	    kernel_counters_evaluate(part, replay->range, replay->why) < 0)
		return -1;
	kernel_report_values(part, part->values, 0, replay->record.number, replay->record.time);
	return 0;
}

static void leave_timed(struct kernel_replay *replay)
{
	kernel_agent.driver.cuCtxSynchronize();
	replay->record.duration = kernel_timed_end();
	replay->record.spent = cuda_agent.core->now() - replay->begun;
	/* It is said once why. */
	kernel_report(&replay->record, replay->why[0] ? KERNEL_FAILED : KERNEL_TIMED, replay->why[0] ? replay->why : NULL);
}

void kernel_replay_leave(struct kernel_replay *replay, int result)
{
	char ignored[KERNEL_WHY_SIZE];

	if (replay->timed) {
		leave_timed(replay);
		return;
	}
	if (result != 0 || kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(replay->why, sizeof(replay->why), "the program's launch failed (CUDA error %d)", result);
		kernel_counters_stop(replay->counters, ignored);
	} else if (last_pass(replay) == 0) {
		replay->record.spent = cuda_agent.core->now() - replay->begun;
		kernel_report(&replay->record, KERNEL_READ, NULL);
		return;
	}
	kernel_counters_let_go(replay->counters);
	replay->record.spent = cuda_agent.core->now() - replay->begun;
	kernel_report(&replay->record, KERNEL_FAILED, replay->why);
}
