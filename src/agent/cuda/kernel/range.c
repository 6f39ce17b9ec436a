/* Ranges of many launches: between cuProfilerStart and Stop, or NVTX ranges. One begins with the first call of its thread that works on
 * the GPU, and ends when the thread has left it. Either a run of the program is a pass (--replay-mode app-range), or calls are
 * remembered, and made again when the range has ended (range). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/cuda/records/decode.h"
#include "agent/cuda/kernel/kernel.h"
#include "agent/cuda/life/life.h"

/* All that is not atomic: only while alone. */
static struct {
	_Atomic(void *) thread; /* that is in it: where its errno is; NULL: none is open */
	_Atomic uint32_t launches;
	_Atomic int modules_loaded;
	uint64_t key;
	uint64_t last; /* that was begun or passed over */
	struct kernel_counters *counters;
	struct record_kernel record;
	uint64_t begun;
	int failed;
	int devices_reported;
	char why[KERNEL_WHY_SIZE];
} range;

static int is_work(enum kernel_call call)
{
	return call == KERNEL_CALL_KERNEL || call == KERNEL_CALL_KERNEL_EX || call == KERNEL_CALL_COOPERATIVE ||
	       call == KERNEL_CALL_GRAPH || call == KERNEL_CALL_OTHER;
}

static int start_counters(const struct kernel_launch *l, const struct kernel_request *request)
{
	if (kernel_counters_hopeless(l->context)) {
		snprintf(range.why, sizeof(range.why), "counters of this context cannot be read, as reported before");
		return -1;
	}
	if (kernel_is_capturing()) {
		snprintf(range.why, sizeof(range.why), "a stream was being captured when it began, and Sonde cannot wait during a capture");
		return -1;
	}
	range.counters = kernel_replay_prepare(&kernel_agent.replay, l, &range.record, request, range.why);
	if (!range.counters)
		return -1;
	range.record.passes = (uint32_t)range.counters->passes;
	if (request->ranges == KERNEL_RANGES_BY_CALLS)
		return kernel_memory_save(KERNEL_MEMORY_BEFORE, l->context, range.why);
	if (kernel_application_enter(range.counters, &range.record, request, range.why) < 0)
		return -1;
	/* This GPU may have nothing of what is counted in this run. */
	return range.counters->configured ? kernel_counters_push(range.counters, KERNEL_RANGE_NAME, range.why) : 0;
}

static void begin_range_read(const struct cupti_call_data *data, uint64_t key)
{
	struct kernel_launch l = { .call = KERNEL_CALL_GRAPH,
				   .grid = { 1, 1, 1 },
				   .block = { 1, 1, 1 },
				   .name = KERNEL_RANGE_NAME,
				   .launches = 1,
				   .context = data->context,
				   .context_id = data->context_id,
				   .correlation = data->correlation };

	range.last = key;
	if (!kernel_choose_range(&l))
		return;
	if (!range.devices_reported)
		range.devices_reported = cuda_devices_look();
	range.key = key;
	range.why[0] = '\0';
	range.begun = cuda_agent.core->now();
	atomic_store(&range.launches, 0);
	atomic_store(&range.modules_loaded, 0);
	kernel_replay_describe(&kernel_agent.replay, &l, &range.record);
	kernel_report(&range.record, KERNEL_BEGUN, KERNEL_RANGE_NAME);
	range.failed = start_counters(&l, &kernel_agent.request) < 0;
	if (kernel_agent.request.ranges == KERNEL_RANGES_BY_RUNS)
		kernel_report(&range.record, KERNEL_PASS, NULL);
	atomic_store(&range.thread, (void *)&errno);
}

static int pass_again(struct kernel_counters *c)
{
	char ignored[KERNEL_WHY_SIZE];

	kernel_report(&range.record, KERNEL_PASS, NULL);
	if (kernel_memory_restore(KERNEL_MEMORY_BEFORE, range.why) < 0 || kernel_counters_start(c, range.why) < 0)
		return -1;
	if ((kernel_agent.request.flush_caches && kernel_caches_flush(&c->caches, range.why) < 0) ||
	    kernel_counters_push(c, KERNEL_RANGE_NAME, range.why) < 0 || kernel_calls_make(range.why) < 0 ||
	    kernel_counters_pop(c, range.why) < 0) {
		kernel_counters_stop(c, ignored);
		return -1;
	}
	return kernel_counters_stop(c, range.why);
}

static int part_again(struct kernel_counters *c, struct kernel_part *part)
{
	if (kernel_counters_configure(c, part, 1, range.why) < 0)
		return -1;
	for (size_t pass = 0; pass < part->passes; pass++)
		if (pass_again(c) < 0)
			return -1;
	return kernel_counters_decode(c, part, 1, range.why) < 0 ? -1 : kernel_counters_evaluate(part, 0, range.why);
}

/* From the memory that was there before it; then memory is what the program made of it. */
static int make_again(struct kernel_counters *c)
{
	char lost[KERNEL_WHY_SIZE];
	int result = kernel_memory_save(KERNEL_MEMORY_AFTER, c->context, range.why);

	if (result < 0)
		return -1;
	for (size_t i = 0; i < c->part_count && result == 0; i++)
		result = part_again(c, &c->parts[i]);
	kernel_agent.driver.cuCtxSynchronize();
	if (kernel_memory_put_back(KERNEL_MEMORY_AFTER, lost) < 0) {
		memcpy(range.why, lost, sizeof(lost));
		c->hopeless = 1;
		result = -1;
	}
	kernel_memory_forget(KERNEL_MEMORY_AFTER);
	for (size_t i = 0; i < c->part_count && result == 0; i++)
		kernel_report_values(&c->parts[i], c->parts[i].values, 0, range.record.number, range.record.time);
	return result;
}

static int stop_counters(void)
{
	if (kernel_agent.request.ranges == KERNEL_RANGES_BY_CALLS && atomic_load(&range.modules_loaded)) {
		snprintf(range.why, sizeof(range.why), "a module was loaded in it, and memory can no longer be restored");
		return -1;
	}
	if (kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(range.why, sizeof(range.why), "a launch in the range failed");
		return -1;
	}
	if (kernel_agent.request.ranges == KERNEL_RANGES_BY_CALLS)
		return make_again(range.counters);
	if (range.counters->configured && kernel_counters_pop(range.counters, range.why) < 0)
		return -1;
	return kernel_application_leave(range.counters, &range.record, &kernel_agent.request, range.why);
}

static void report_range_read(int failed)
{
	range.record.facts[KERNEL_FACT_LAUNCHES] = atomic_load(&range.launches);
	range.record.spent = cuda_agent.core->now() - range.begun;
	kernel_report(&range.record, failed ? KERNEL_FAILED : KERNEL_READ, failed ? range.why : NULL);
	range.counters = NULL;
	atomic_store(&range.thread, NULL);
}

/* What is not made again need not be kept. */
static void drop_calls(void)
{
	if (kernel_agent.request.ranges != KERNEL_RANGES_BY_CALLS)
		return;
	kernel_calls_forget();
	kernel_memory_forget(KERNEL_MEMORY_BEFORE);
}

static void finish_range_read(int failed)
{
	char ignored[KERNEL_WHY_SIZE];

	if (failed && kernel_agent.request.ranges == KERNEL_RANGES_BY_RUNS)
		kernel_counters_stop(range.counters, ignored);
	if (failed && range.counters->part_count)
		kernel_counters_let_go(range.counters);
	if (!range.failed)
		drop_calls();
	report_range_read(failed);
}

static void end_range_read(void)
{
	void *was;

	if (range.counters && kernel_is_capturing()) {
		snprintf(range.why, sizeof(range.why),
			 "a stream was being captured at its end, and Sonde cannot wait during a "
			 "capture");
		finish_range_read(1);
	} else if (range.counters && kernel_agent.driver.cuCtxPushCurrent(range.counters->context) == 0) {
		finish_range_read(range.failed || stop_counters() < 0);
		kernel_agent.driver.cuCtxPopCurrent(&was);
	} else if (range.counters) {
		snprintf(range.why, sizeof(range.why), "its context was gone when it ended");
		kernel_calls_forget();
		report_range_read(1);
	} else {
		report_range_read(1);
	}
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
		end_range_read();
	kernel_end_alone();
	kernel_look_for_end();
}

void kernel_range_look(void)
{
	int kept = errno;

	if (!kernel_is_child() && is_mine() && kernel_window_range() != range.key)
		kernel_range_end();
	errno = kept;
}

void kernel_range_context_ends(const void *context)
{
	if (!atomic_load(&range.thread) || !range.counters || range.counters->context != context)
		return;
	snprintf(range.why, sizeof(range.why), "its context ended before the range did");
	if (!range.failed)
		drop_calls();
	report_range_read(1);
}

void kernel_range_module_loaded(void)
{
	if (atomic_load(&range.thread) && !kernel_is_alone())
		atomic_store(&range.modules_loaded, 1);
}

/* The calls of all threads: memory is everybody's. */
static void remember(enum kernel_call call, const struct cupti_call_data *data)
{
	int result = 0;

	kernel_begin_alone();
	if (atomic_load(&range.thread) && !range.failed) {
		if (is_work(call) && data->context != range.counters->context) {
			snprintf(range.why, sizeof(range.why), "it uses several contexts (use --replay-mode app-range)");
			result = -1;
		} else {
			result = kernel_calls_remember(call, data, range.why);
		}
		range.failed = result < 0;
		if (range.failed)
			drop_calls();
	}
	kernel_end_alone();
}

/* Allocations that come first are no part of what is made again. */
static int is_range_begin(enum kernel_call call, const struct cupti_call_data *data)
{
	if (!is_work(call) || !data->context)
		return 0;
	return kernel_agent.request.ranges == KERNEL_RANGES_BY_RUNS || call != KERNEL_CALL_OTHER ||
	       strncmp(data->name, "cuMemcpy", 8) == 0 || strncmp(data->name, "cuMemset", 8) == 0;
}

void kernel_range_call(enum kernel_call call, const struct cupti_call_data *data)
{
	uint64_t key;

	kernel_range_look();
	key = !is_range_begin(call, data) || atomic_load(&range.thread) || kernel_choose_done() ? 0 : kernel_window_range();
	if (key && key != range.last) {
		kernel_begin_alone();
		if (!atomic_load(&range.thread))
			begin_range_read(data, key);
		kernel_end_alone();
	}
	if (atomic_load(&range.thread) && is_work(call) && call != KERNEL_CALL_OTHER)
		atomic_fetch_add(&range.launches, 1);
	if (atomic_load(&range.thread) && kernel_agent.request.ranges == KERNEL_RANGES_BY_CALLS)
		remember(call, data);
}
