/* PC sampling: while the kernel runs, the hardware notes every so many cycles where a warp of each scheduler is, and what it waits
 * for. Enabled for one run of the kernel. In CUPTI's mode that takes kernels one by one, launches that are made from within a callback
 * are not sampled, so it is the continuous one: nothing else runs meanwhile. Samples come when sampling ends, and only of kernels whose
 * first launch CUPTI has seen while it was enabled: that is the program's own, and what it samples then is taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/instructions/passes.h"

#define ROOM 32768u /* instructions; those beyond have no samples */
#define MOST_REASONS 256u
#define SCRATCH (16ull << 20)
#define DEFAULT_BUFFER (32ull << 20)
#define LONGEST 26 /* 2^31 cycles */

static struct {
	size_t count;
	uint32_t *indexes;
	char (*names)[PC_REASON_NAME];
	struct pc_data data;
	struct pc_record *records;
	struct pc_reason *reasons;
} state;

/* Of an attempt that found them, and nothing else, is nothing left. */
static void drop_room(void)
{
	free(state.indexes);
	free(state.names);
	free(state.records);
	free(state.reasons);
}

static int allocate_pc_buffers(size_t reasons)
{
	drop_room();
	state.indexes = calloc(reasons, sizeof(*state.indexes));
	state.names = calloc(reasons, sizeof(*state.names));
	state.records = calloc(ROOM, sizeof(*state.records));
	state.reasons = calloc(ROOM * reasons, sizeof(*state.reasons));
	return state.indexes && state.names && state.records && state.reasons ? 0 : -1;
}

/* What warps may wait for on this chip; asked once. */
static int ask_reasons(void *context, char *why)
{
	struct pc_reason_count count = PM_PARAMETERS(pc_reason_count, count);
	struct pc_reason_names names = PM_PARAMETERS(pc_reason_names, names);
	char *texts[MOST_REASONS];
	size_t number = 0;

	if (state.count)
		return 0;
	count.context = context;
	count.count = &number;
	if (kernel_source_failed(kernel_cupti.cuptiPCSamplingGetNumStallReasons(&count), "reasons for waiting", why) < 0)
		return -1;
	if (!number || number > MOST_REASONS || allocate_pc_buffers(number) < 0) {
		snprintf(why, KERNEL_WHY_SIZE, "PC sampling: %zu reasons for waiting", number);
		return -1;
	}
	for (size_t i = 0; i < number; i++)
		texts[i] = state.names[i];
	names.context = context;
	names.count = number;
	names.indexes = state.indexes;
	names.names = texts;
	if (kernel_source_failed(kernel_cupti.cuptiPCSamplingGetStallReasons(&names), "reasons for waiting", why) < 0)
		return -1;
	state.count = number;
	return 0;
}

static void clear_data(void)
{
	state.data = (struct pc_data){ .size = sizeof(state.data), .room = ROOM, .records = state.records };
	for (size_t i = 0; i < ROOM; i++)
		state.records[i] = (struct pc_record){ .size = sizeof(state.records[i]), .reasons = state.reasons + i * state.count };
}

static int configure_pc_sampling(const struct kernel_pass *pass, uint64_t buffer, char *why)
{
	struct pc_configuration p = PM_PARAMETERS(pc_configuration, attributes);
	struct pc_attribute a[9] = {
		{ .type = PC_MODE, .number = PC_CONTINUOUS }, { .type = PC_REASONS, .reasons = { state.count, state.indexes } },
		{ .type = PC_FORMAT, .number = PC_PARSED },   { .type = PC_DATA, .data = &state.data },
		{ .type = PC_CONTROL, .number = 0 },          { .type = PC_SLEEP, .number = 1 },
		{ .type = PC_SCRATCH_SIZE, .bytes = SCRATCH }
	};
	int interval = pass->request->sampling_interval;
	size_t count = 7;

	if (buffer)
		a[count++] = (struct pc_attribute){ .type = PC_BUFFER_SIZE, .bytes = buffer };
	if (interval >= 0)
		a[count++] = (struct pc_attribute){ .type = PC_PERIOD, .number = 5 + (uint32_t)(interval < LONGEST ? interval : LONGEST) };
	p.context = pass->launch->context;
	p.count = count;
	p.attributes = a;
	clear_data();
	return kernel_source_failed(kernel_cupti.cuptiPCSamplingSetConfigurationAttribute(&p), "setting up PC sampling", why);
}

static void report_interval(const struct kernel_pass *pass)
{
	struct pc_configuration p = PM_PARAMETERS(pc_configuration, attributes);
	struct pc_attribute a = { .type = PC_PERIOD };

	p.context = pass->launch->context;
	p.count = 1;
	p.attributes = &a;
	if (kernel_cupti.cuptiPCSamplingGetConfigurationAttribute(&p) != CUPTI_OK || a.number < 5 || a.number > 31)
		return;
	kernel_source_value(pass, "smsp__pcsamp_interval", a.number - 5);
	kernel_source_value(pass, "smsp__pcsamp_interval_cycles", (double)(UINT64_C(1) << a.number));
}

static const char *reason_name(uint32_t index)
{
	for (size_t i = 0; i < state.count; i++)
		if (state.indexes[i] == index)
			return state.names[i];
	return NULL;
}

/* Each reason is there twice: of all samples, and of those in which the scheduler issued nothing. The first add up to all. */
static int is_of_all(const char *reason)
{
	static const char ending[] = "_not_issued";
	size_t size = strlen(reason), ending_size = sizeof(ending) - 1;

	return size < ending_size || strcmp(reason + size - ending_size, ending) != 0;
}

static void report_record(const struct kernel_pass *pass, const struct pc_record *r)
{
	uint64_t all = 0;

	for (size_t i = 0; i < r->reason_count && i < state.count; i++) {
		const char *reason = reason_name(r->reasons[i].index);

		if (!reason || !strstr(reason, "_stalled_"))
			continue;
		kernel_source_count(pass, r->crc, r->function, (uint32_t)r->pc, reason, r->reasons[i].samples);
		all += is_of_all(reason) ? r->reasons[i].samples : 0;
	}
	kernel_source_count(pass, r->crc, r->function, (uint32_t)r->pc, "smsp__pcsamp_sample_count", all);
}

/* Names are shared by records, and left to us; a program's few functions are not worth keeping a list of them. */
static void report_data(const struct kernel_pass *pass)
{
	for (size_t i = 0; i < state.data.count && i < ROOM; i++)
		report_record(pass, &state.records[i]);
	kernel_source_value(pass, "smsp__pcsamp_samples_data_dropped", (double)state.data.dropped);
}

static int has_pc_sampling(char *why)
{
	if (kernel_cupti.cuptiPCSamplingEnable && kernel_cupti.cuptiPCSamplingGetNumStallReasons &&
	    kernel_cupti.cuptiPCSamplingGetStallReasons && kernel_cupti.cuptiPCSamplingSetConfigurationAttribute &&
	    kernel_cupti.cuptiPCSamplingGetConfigurationAttribute && kernel_cupti.cuptiPCSamplingDisable)
		return 1;
	snprintf(why, KERNEL_WHY_SIZE, "this CUPTI has no PC sampling");
	return 0;
}

static int enable_pc_sampling(const struct kernel_pass *pass, char *why)
{
	struct pc_command p = PM_PARAMETERS(pc_command, context);

	p.context = pass->launch->context;
	return kernel_source_failed(kernel_cupti.cuptiPCSamplingEnable(&p), "PC sampling", why);
}

/* Left enabled, it would make the program slow for good: it is tried twice. */
static int disable(const struct kernel_pass *pass, char *why)
{
	struct pc_command p = PM_PARAMETERS(pc_command, context);
	int result;

	p.context = pass->launch->context;
	result = kernel_cupti.cuptiPCSamplingDisable(&p);
	if (result != CUPTI_OK)
		result = kernel_cupti.cuptiPCSamplingDisable(&p);
	return kernel_source_failed(result, "ending PC sampling", why);
}

static int begin_pc_sampling(const struct kernel_pass *pass, uint64_t buffer, char *why)
{
	char ignored[KERNEL_WHY_SIZE];

	kernel_source_empty_caches(pass);
	if (enable_pc_sampling(pass, why) < 0)
		return -1;
	if (ask_reasons(pass->launch->context, why) == 0 && configure_pc_sampling(pass, buffer, why) == 0)
		return 0;
	disable(pass, ignored);
	return -1;
}

/* The interval is only known while it is enabled. */
static int end_pc_sampling(const struct kernel_pass *pass, char *why)
{
	report_interval(pass);
	return disable(pass, why);
}

static int sample(const struct kernel_pass *pass, uint64_t buffer, char *why)
{
	char ignored[KERNEL_WHY_SIZE];

	if (begin_pc_sampling(pass, buffer, why) < 0)
		return -1;
	if (kernel_launch_again(pass->launch, why) == 0)
		return end_pc_sampling(pass, why);
	disable(pass, ignored);
	return -1;
}

int kernel_sampling_pass(const struct kernel_pass *pass, char *why)
{
	uint64_t buffer = pass->request->sampling_buffer;

	if (!has_pc_sampling(why))
		return -1;
	for (int i = 0; i < (pass->request->sampling_passes > 0 ? pass->request->sampling_passes : 1); i++) {
		if (i && kernel_memory_restore(pass->memory, why) < 0)
			return -1;
		if (sample(pass, buffer, why) < 0)
			return -1;
		if (!state.data.full)
			break;
		/* The buffer was too small for the kernel: once more with a larger one. */
		buffer = 4 * (buffer ? buffer : DEFAULT_BUFFER);
	}
	report_data(pass);
	if (!state.data.count && state.data.others) {
		snprintf(why, KERNEL_WHY_SIZE, "PC sampling: CUPTI does not know the kernel, whose first launch it has not seen");
		return -1;
	}
	if (!state.data.full)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "PC sampling: the buffer of %llu bytes was too small (--warp-sampling-buffer-size)",
		 (unsigned long long)buffer / 4);
	return -1;
}

int kernel_sampling_meet(const struct kernel_pass *pass, int keeps)
{
	char ignored[KERNEL_WHY_SIZE];

	if (!has_pc_sampling(ignored))
		return -1;
	return keeps ? begin_pc_sampling(pass, pass->request->sampling_buffer, ignored) : enable_pc_sampling(pass, ignored);
}

int kernel_sampling_met(const struct kernel_pass *pass, int keeps)
{
	char ignored[KERNEL_WHY_SIZE];
	int result = keeps ? end_pc_sampling(pass, ignored) : disable(pass, ignored);

	if (!keeps || result < 0 || !state.data.count || state.data.full)
		return 0;
	report_data(pass);
	return 1;
}
