/* The passes of one kernel. The program's own launch is the last: before it the kernel is launched by us, once for each pass, and
 * what it wrote is put back each time. Whatever goes wrong, memory is put back and the program's launch goes on. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/names.h"
#include "agent/cuda/kernel/kernel.h"

static struct {
	struct kernel_counters *counters;
	struct kernel_part *part;     /* whose passes are made */
	struct record_kernel record;
	uint64_t begun;
	int running;                  /* counters are started */
	int kept;                     /* memory is */
	int timed;                    /* no counters can be read */
	uint32_t number;
	char why[KERNEL_WHY_SIZE];
} now;

static int launch_again(const struct kernel_launch *l, char *why)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	const struct cuda_launch_kernel *k = l->parameters;
	const struct cuda_launch_kernel_ex *ex = l->parameters;
	int result = 1;

	switch (l->call) {
	case KERNEL_CALL_KERNEL:
		result = d->cuLaunchKernel(k->function, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2],
					   k->shared, k->stream, k->parameters, k->extra);
		break;
	case KERNEL_CALL_KERNEL_EX:
		result = d->cuLaunchKernelEx ? d->cuLaunchKernelEx(ex->config, ex->function, ex->parameters, ex->extra) : 1;
		break;
	case KERNEL_CALL_COOPERATIVE:
		result = d->cuLaunchCooperativeKernel ?
				 d->cuLaunchCooperativeKernel(k->function, k->grid[0], k->grid[1], k->grid[2], k->block[0],
							      k->block[1], k->block[2], k->shared, k->stream, k->parameters) :
				 1;
		break;
	default:
		break;
	}
	if (result == 0)
		result = d->cuCtxSynchronize();
	if (result != 0)
		snprintf(why, KERNEL_WHY_SIZE, "the kernel could not be launched again (CUDA error %d)", result);
	return result == 0 ? 0 : -1;
}

static int begin_pass(const struct kernel_request *request)
{
	if (request->flush_caches && kernel_caches_flush(&now.counters->caches, now.why) < 0)
		return -1;
	if (kernel_counters_start(now.counters, now.why) < 0)
		return -1;
	kernel_tell(&now.record, KERNEL_PASS, NULL);
	now.running = 1;
	return 0;
}

static int end_pass(void)
{
	now.running = 0;
	return kernel_counters_stop(now.counters, now.why);
}

/* All passes of a part but, of the last part, the last. */
static int passes_of(struct kernel_part *part, const struct kernel_launch *launch, const struct kernel_request *request, int is_last)
{
	now.part = part;
	if (kernel_counters_configure(now.counters, part, now.why) < 0)
		return -1;
	for (size_t pass = 0; pass + (is_last ? 1 : 0) < part->passes; pass++)
		if (begin_pass(request) < 0 || launch_again(launch, now.why) < 0 || end_pass() < 0 ||
		    kernel_memory_restore(now.why) < 0)
			return -1;
	return is_last ? 0 : kernel_counters_decode(now.counters, part, now.why);
}

static int earlier_passes(const struct kernel_launch *launch, const struct kernel_request *request)
{
	struct kernel_counters *c = now.counters;

	for (size_t i = 0; i < c->part_count; i++)
		if (passes_of(&c->parts[i], launch, request, i + 1 == c->part_count) < 0)
			return -1;
	return 0;
}

static void last_pass(void)
{
	struct kernel_counters *c = now.counters;

	if (end_pass() < 0 || kernel_counters_decode(c, now.part, now.why) < 0)
		return;
	for (size_t i = 0; i < c->part_count; i++) {
		if (kernel_counters_evaluate(&c->parts[i], now.why) < 0)
			return;
		kernel_tell_values(&c->parts[i], now.record.number, now.record.time);
	}
}

static void ask_function(struct record_kernel *r, const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *function = l->function;
	int value;

	/* A launch may name a kernel of a library instead of a function of a module. */
	if (d->cuFuncGetAttribute(&value, 0, function) != 0 && d->cuKernelGetFunction)
		d->cuKernelGetFunction(&function, l->function);
	for (int i = 0; i < (int)KERNEL_ATTRIBUTES; i++)
		r->attributes[i] = d->cuFuncGetAttribute(&value, i, function) == 0 ? (uint32_t)value : KERNEL_NOT_KNOWN;
	r->blocks_per_sm = r->clusters_active = r->cluster_potential = KERNEL_NOT_KNOWN;
	if (d->cuOccupancyMaxActiveBlocksPerMultiprocessor &&
	    d->cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, (int)(l->block[0] * l->block[1] * l->block[2]),
							   l->shared) == 0)
		r->blocks_per_sm = (uint32_t)value;
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
}

static void give_up(void)
{
	char ignored[KERNEL_WHY_SIZE];

	if (now.running)
		kernel_counters_stop(now.counters, ignored);
	now.running = 0;
	kernel_agent.driver.cuCtxSynchronize();
	if (now.counters && now.counters->profiler)
		kernel_counters_renew(now.counters);
	if (now.kept) {
		kernel_memory_restore(ignored);
		kernel_memory_forget();
	}
	now.kept = 0;
	now.record.spent = cuda_agent.core->now() - now.begun;
	kernel_tell(&now.record, KERNEL_FAILED, now.why);
}

static int prepare(const struct kernel_launch *launch, const struct kernel_request *request)
{
	now.counters = kernel_counters_of(launch->context, request, now.why);
	if (!now.counters || !now.counters->part_count)
		return now.counters ? 0 : -1;
	now.record.passes = (uint32_t)now.counters->passes;
	if (request->flush_caches && kernel_caches_prepare(&now.counters->caches, now.counters->device, now.why) < 0)
		return -1;
	if (now.counters->passes > 1) {
		if (kernel_memory_save(launch->context, now.why) < 0)
			return -1;
		now.kept = 1;
	}
	return earlier_passes(launch, request);
}

int kernel_replay_enter(const struct kernel_launch *launch, const struct kernel_request *request)
{
	now.begun = cuda_agent.core->now();
	now.why[0] = '\0';
	describe(launch);
	kernel_tell(&now.record, KERNEL_BEGUN, launch->name);
	if (kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(now.why, sizeof(now.why), "the context has had an error before");
		give_up();
		return 0;
	}
	now.timed = kernel_counters_hopeless(launch->context);
	if (!now.timed && prepare(launch, request) < 0) {
		now.timed = kernel_counters_hopeless(launch->context);
		if (!now.timed) {
			give_up();
			return 0;
		}
	}
	if (now.timed) {
		kernel_timed_begin(launch->correlation);
		return 1;
	}
	if (now.counters->part_count && begin_pass(request) < 0) {
		give_up();
		return 0;
	}
	return 1;
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
	if (now.timed) {
		leave_timed();
		return;
	}
	if (result != 0 || kernel_agent.driver.cuCtxSynchronize() != 0)
		snprintf(now.why, sizeof(now.why), "the program's launch failed (CUDA error %d)", result);
	else if (now.counters->part_count)
		last_pass();
	if (now.kept)
		kernel_memory_forget();
	now.kept = 0;
	if (now.why[0]) {
		give_up();
		return;
	}
	now.record.spent = cuda_agent.core->now() - now.begun;
	kernel_tell(&now.record, KERNEL_READ, NULL);
}
