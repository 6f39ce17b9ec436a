#include "record/perf/attr.h"

#include <string.h>
#include <time.h>

#include "base/system/arch.h"

#define SEEN_HZ 20

static void fill_common_attr(struct perf_event_attr *attr, uint32_t type, uint64_t config)
{
	/* clang-format off */
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr), .type = type, .config = config, .disabled = 1,
		.sample_type = PERF_COMMON_SAMPLE_TYPE, .sample_id_all = 1, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW, .exclude_hv = 1,
	};
	/* clang-format on */
}

void perf_attr_sideband(struct perf_event_attr *attr, size_t ring_size)
{
	fill_common_attr(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->disabled = 0;
	attr->exclude_kernel = 1;
	attr->mmap = attr->mmap2 = attr->build_id = 1;
	attr->comm = attr->comm_exec = attr->task = 1;
	/* Of the ring, which is this event's. */
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(ring_size / 2);
}

void perf_attr_switch(struct perf_event_attr *attr, int alone)
{
	fill_common_attr(attr, PERF_TYPE_SOFTWARE, alone ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY);
	attr->exclude_kernel = 1;
	attr->context_switch = 1;
	attr->freq = (uint64_t)alone & 1;
	attr->sample_freq = alone ? SEEN_HZ : 0;
}

void perf_attr_switch_stack(struct perf_event_attr *attr, int callers)
{
	fill_common_attr(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = !callers;
	/* The system call is near the outer end: deep enough for a write to a file. */
	if (!callers)
		attr->sample_max_stack = 48;
}

void perf_attr_tracepoint(struct perf_event_attr *attr, uint64_t id, size_t ring_size)
{
	fill_common_attr(attr, PERF_TYPE_TRACEPOINT, id);
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_RAW;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(ring_size / 4);
}

static void want_stack(struct perf_event_attr *attr, const struct cpu_options *cpu, enum profile_backtrace backtrace)
{
	switch (backtrace) {
	case BACKTRACE_FP: attr->sample_type |= PERF_SAMPLE_CALLCHAIN; break;
	case BACKTRACE_AUTO:
	case BACKTRACE_DWARF:
		/* The kernel's own part comes as a chain. */
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->exclude_callchain_user = 1;
		attr->sample_regs_user = ARCH_PERF_REGISTERS;
		attr->sample_stack_user = (uint32_t)cpu->stack_size & ~7u;
		break;
	case BACKTRACE_LBR:
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
		attr->exclude_callchain_user = 1;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_FLAGS |
					   PERF_SAMPLE_BRANCH_NO_CYCLES;
		break;
	case BACKTRACE_NONE: break;
	}
}

void perf_attr_sample(struct perf_event_attr *attr, const struct cpu_options *cpu, enum profile_backtrace backtrace, int hardware,
		      int64_t max_rate)
{
	if (hardware)
		fill_common_attr(attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	else
		fill_common_attr(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr->sample_type |= PERF_SAMPLE_PERIOD;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (hardware && cpu->period) {
		attr->sample_period = (uint64_t)cpu->period;
	} else {
		attr->freq = 1;
		attr->sample_freq = (uint64_t)(cpu->frequency < max_rate ? cpu->frequency : max_rate);
	}
	want_stack(attr, cpu, backtrace);
}
