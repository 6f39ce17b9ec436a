/* Where the kernel is limited, from the two large percentages. */
#include <math.h>
#include <string.h>

#include "kernel/rules/rule.h"

#define PERCENT ".avg.pct_of_peak_sustained_elapsed"
#define HIGH 80
#define LOW 60
#define APART 10

/* Which level of the memory system is the busiest. */
static const char *busiest_level(const struct rule_run *run)
{
	static const struct {
		const char *metric, *level;
	} parts[] = {
		{ "l1tex__data_bank_reads" PERCENT, "L1" },          { "l1tex__data_bank_writes" PERCENT, "L1" },
		{ "l1tex__data_pipe_lsu_wavefronts" PERCENT, "L1" }, { "l1tex__data_pipe_tex_wavefronts" PERCENT, "L1" },
		{ "l1tex__f_wavefronts" PERCENT, "L1" },             { "l1tex__lsuin_requests" PERCENT, "L1" },
		{ "l1tex__lsu_writeback_active" PERCENT, "L1" },     { "l1tex__m_l1tex2xbar_req_cycles_active" PERCENT, "L1" },
		{ "l1tex__m_xbar2l1tex_read_sectors" PERCENT, "L1" }, { "lts__d_sectors" PERCENT, "L2" },
		{ "lts__t_sectors" PERCENT, "L2" },                  { "lts__t_tag_requests" PERCENT, "L2" },
		{ "lts__d_atomic_input_cycles_active" PERCENT, "L2" }, { "lts__lts2xbar_cycles_active" PERCENT, "L2" },
		{ "lts__xbar2lts_cycles_active" PERCENT, "L2" },     { "gpu__dram_throughput" PERCENT, "DRAM" },
	};
	const char *level = "memory";
	double most = -1, value;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		value = rule_value(run, parts[i].metric);
		if (value > most) {
			most = value;
			level = parts[i].level;
		}
	}
	return level;
}

static void say_low(struct rule_run *run, double sm, double memory, double waves)
{
	struct rule_result *result;

	if (waves < 1) {
		result = rule_result(run, RULE_OPTIMIZE, "Small Grid");
		rule_say(result, "The grid fills the GPU only %.2f times: most of it has nothing to do. More blocks, "
			 "or several kernels at once, would use it.",
			 waves);
		return;
	}
	result = rule_result(run, RULE_OPTIMIZE, "Latency Issue");
	rule_say(result, "Neither arithmetic (%.1f %%) nor memory (%.1f %%) reaches 60 %% of what it can do: warps "
		 "wait. Scheduler and warp state statistics say for "
		 "what.", sm, memory);
}

static void say_one_sided(struct rule_run *run, double sm, double memory)
{
	const char *title = sm > memory ? "High Compute Throughput" : "High Memory Throughput";
	struct rule_result *result = rule_result(run, RULE_OPTIMIZE, title);

	if (sm > memory)
		rule_say(result, "Arithmetic is used more (%.1f %%) than memory (%.1f %%): see which pipeline is "
			 "busiest in the compute workload analysis, and whether it "
			 "does needless work.", sm, memory);
	else
		rule_say(result, "Memory is used more (%.1f %%) than arithmetic (%.1f %%), %s the most: see the memory "
			 "workload analysis for bytes that need not be moved.",
			 memory, sm, busiest_level(run));
}

void rule_speed_of_light(struct rule_run *run)
{
	double sm = rule_value(run, "sm__throughput" PERCENT), memory = rule_value(run, "gpu__compute_memory_throughput" PERCENT);
	struct rule_result *result;

	if (isnan(sm) || isnan(memory))
		return;
	run->compute = sm / 100;
	run->memory = memory / 100;
	run->most = fmax(sm, memory) / 100;
	if (sm >= HIGH || memory >= HIGH) {
		result = rule_result(run, RULE_INFORM, "High Throughput");
		rule_say(result, "The kernel uses more than 80 %% of what %s can do. To be faster it must ask less of "
			 "it, or more of other units.",
			 memory >= sm ? busiest_level(run) : "the multiprocessors");
	} else if (sm < LOW && memory < LOW) {
		say_low(run, sm, memory, rule_value(run, "launch__waves_per_multiprocessor"));
	} else if (fabs(sm - memory) >= APART) {
		say_one_sided(run, sm, memory);
	} else {
		result = rule_result(run, RULE_INFORM, "Balanced Throughput");
		rule_say(result, "Arithmetic (%.1f %%) and memory (%.1f %%) are used alike: to be faster, both must do "
			 "less.", sm, memory);
	}
}

enum kernel_verdict rules_verdict(double (*value)(void *context, const char *metric), void *context)
{
	double sm = value(context, "sm__throughput" PERCENT), memory = value(context, "gpu__compute_memory_throughput" PERCENT);

	if (isnan(sm) || isnan(memory))
		return VERDICT_UNKNOWN;
	if (sm < LOW && memory < LOW)
		return value(context, "launch__waves_per_multiprocessor") < 1 ? VERDICT_LAUNCH : VERDICT_LATENCY;
	if (fabs(sm - memory) < APART)
		return VERDICT_BALANCED;
	return sm > memory ? VERDICT_COMPUTE : VERDICT_MEMORY;
}

const char *rules_verdict_text(enum kernel_verdict verdict)
{
	static const char *const texts[] = { "unknown", "launch-bound", "latency-bound", "compute-bound", "memory-bound", "compute- and memory-bound" };

	return texts[verdict];
}
