/* Ranges of many launches (--replay-mode app-range): between cuProfilerStart and Stop, or NVTX ranges. One begins with the first call of
 * its thread that works on the GPU, and ends when the thread has left it. Nothing is made again: a run of the program is a pass. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/cuda/decode.h"
#include "agent/cuda/kernel/kernel.h"

/* All but the two that are atomic: only while alone. */
static struct {
	_Atomic(void *) thread;       /* that is in it: where its errno is; NULL: none is open */
	_Atomic uint32_t launches;
	uint64_t key;
	uint64_t last;                /* that was begun or passed over */
	struct kernel_counters *counters;
	struct record_kernel record;
	uint64_t begun;
	int failed;
	int devices_told;
	char why[KERNEL_WHY_SIZE];
} range;

static int is_work(enum kernel_call call)
{
	return call == KERNEL_CALL_KERNEL || call == KERNEL_CALL_KERNEL_EX || call == KERNEL_CALL_COOPERATIVE || call == KERNEL_CALL_GRAPH ||
	       call == KERNEL_CALL_OTHER;
}

static int start_counters(const struct kernel_launch *l, const struct kernel_request *request)
{
	if (kernel_counters_hopeless(l->context)) {
		snprintf(range.why, sizeof(range.why), "counters of this context cannot be read, as was said before");
		return -1;
	}
	range.counters = kernel_replay_prepare(l, &range.record, request, range.why);
	if (!range.counters)
		return -1;
	range.record.passes = (uint32_t)range.counters->passes;
	if (kernel_application_enter(range.counters, &range.record, request, range.why) < 0)
		return -1;
	/* This GPU may have nothing of what is counted in this run. */
	return range.counters->configured ? kernel_counters_push(range.counters, KERNEL_RANGE_NAME, range.why) : 0;
}

static void begin(const struct cupti_call_data *data, uint64_t key)
{
	struct kernel_launch l = { .call = KERNEL_CALL_GRAPH,
				   .grid = { 1, 1, 1 },
				   .block = { 1, 1, 1 },
				   .name = KERNEL_RANGE_NAME,
				   .context = data->context,
				   .context_id = data->context_id,
				   .correlation = data->correlation };

	range.last = key;
	if (!kernel_choose_range(&l))
		return;
	if (!range.devices_told)
		range.devices_told = cuda_devices_look();
	range.key = key;
	range.why[0] = '\0';
	range.begun = cuda_agent.core->now();
	atomic_store(&range.launches, 0);
	kernel_replay_describe(&l, &range.record);
	kernel_tell(&range.record, KERNEL_BEGUN, KERNEL_RANGE_NAME);
	range.failed = start_counters(&l, &kernel_agent.request) < 0;
	kernel_tell(&range.record, KERNEL_PASS, NULL);
	atomic_store(&range.thread, (void *)&errno);
}

static int stop_counters(void)
{
	if (kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(range.why, sizeof(range.why), "a launch in the range failed");
		return -1;
	}
	if (range.counters->configured && kernel_counters_pop(range.counters, range.why) < 0)
		return -1;
	return kernel_application_leave(range.counters, &range.record, &kernel_agent.request, range.why);
}

static void tell(int failed)
{
	range.record.facts[KERNEL_FACT_LAUNCHES] = atomic_load(&range.launches);
	range.record.spent = cuda_agent.core->now() - range.begun;
	kernel_tell(&range.record, failed ? KERNEL_FAILED : KERNEL_READ, failed ? range.why : NULL);
	range.counters = NULL;
	atomic_store(&range.thread, NULL);
}

static void end(void)
{
	char ignored[KERNEL_WHY_SIZE];
	void *was;
	int failed = range.failed;

	if (range.counters && kernel_agent.driver.cuCtxPushCurrent(range.counters->context) == 0) {
		failed = failed || stop_counters() < 0;
		if (failed) {
			kernel_counters_stop(range.counters, ignored);
			kernel_counters_renew(range.counters);
		}
		kernel_agent.driver.cuCtxPopCurrent(&was);
	}
	tell(failed);
}

/* Whether this thread can tell that it is over: NVTX ranges are a thread's own. Our own calls come here, too. */
static int is_mine(void)
{
	const struct kernel_request *r = &kernel_agent.request;
	void *thread = atomic_load(&range.thread);

	return thread && (thread == (void *)&errno || (!r->include.count && !r->exclude.count)) && !kernel_is_alone();
}

void kernel_range_end(void)
{
	if (!atomic_load(&range.thread))
		return;
	kernel_begin_alone();
	if (atomic_load(&range.thread))
		end();
	kernel_end_alone();
	kernel_look_for_end();
}

void kernel_range_look(void)
{
	int kept = errno;

	if (is_mine() && kernel_window_range() != range.key)
		kernel_range_end();
	errno = kept;
}

void kernel_range_context_ends(const void *context)
{
	if (!atomic_load(&range.thread) || !range.counters || range.counters->context != context)
		return;
	snprintf(range.why, sizeof(range.why), "its context ended before the range did");
	tell(1);
}

void kernel_range_call(enum kernel_call call, const struct cupti_call_data *data)
{
	uint64_t key;

	kernel_range_look();
	if (!is_work(call) || !data->context)
		return;
	key = atomic_load(&range.thread) || kernel_choose_done() ? 0 : kernel_window_range();
	if (key && key != range.last) {
		kernel_begin_alone();
		if (!atomic_load(&range.thread))
			begin(data, key);
		kernel_end_alone();
	}
	if (atomic_load(&range.thread) && call != KERNEL_CALL_OTHER)
		atomic_fetch_add(&range.launches, 1);
}
