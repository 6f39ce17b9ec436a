/* Pipelines: the busiest one, and one that holds up the rest. */
#include <math.h>

#include "kernel/rules/rule.h"

#define ACTIVE ".avg.pct_of_peak_sustained_active"

struct pipe {
	const char *metric, *name;
};

static double busiest(const struct rule_run *run, const char **ret_name)
{
	static const struct pipe pipes[] = {
		{ "sm__pipe_alu_cycles_active" ACTIVE, "ALU" },
		{ "sm__pipe_fma_cycles_active" ACTIVE, "FMA" },
		{ "sm__pipe_fp64_cycles_active" ACTIVE, "FP64" },
		{ "sm__pipe_tensor_cycles_active" ACTIVE, "tensor" },
		{ "sm__pipe_tensor_cycles_active_v2" ACTIVE, "tensor" },
		{ "sm__pipe_tc_cycles_active" ACTIVE, "tensor (TC)" },
		{ "sm__pipe_tma_cycles_active" ACTIVE, "TMA" },
		{ "sm__inst_executed_pipe_lsu" ACTIVE, "LSU" },
		{ "sm__inst_executed_pipe_xu" ACTIVE, "XU" },
		{ "sm__inst_executed_pipe_tex" ACTIVE, "TEX" },
		{ "sm__inst_executed_pipe_adu" ACTIVE, "ADU" },
		{ "sm__inst_executed_pipe_cbu" ACTIVE, "CBU" },
		{ "sm__inst_executed_pipe_uniform" ACTIVE, "uniform" },
	};
	double most = NAN, value;

	for (size_t i = 0; i < sizeof(pipes) / sizeof(pipes[0]); i++) {
		value = rule_value(run, pipes[i].metric);
		if (!isnan(value) && !(value <= most)) {
			most = value;
			*ret_name = pipes[i].name;
		}
	}
	return most;
}

void rule_high_pipe(struct rule_run *run)
{
	const char *name = "";
	double most = busiest(run, &name);
	struct rule_result *result;

	if (isnan(most))
		return;
	if (most < 20) {
		result = rule_result(run, RULE_OPTIMIZE, "Low Utilization");
		rule_say(result, "All pipelines have little to do; the busiest, %s, works %.1f %% of the active "
			 "cycles. Warps wait, or there are too few of them.", name, most);
		rule_gain(result, RULE_LOCAL, 1 - most / 100);
		return;
	}
	result = rule_result(run, RULE_INFORM,
			     most < 60 ? "Balanced" : most < 80 ? "High Utilization" : "Very High Utilization");
	rule_say(result, "%s is the busiest pipeline, at work in %.1f %% of the active cycles.%s", name, most,
		 most >= 80 ? " It is likely what limits the kernel: do less of its kind of work, or another kind." : "");
}

void rule_slow_pipe(struct rule_run *run)
{
	double busy = rule_value(run, "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed");
	double average = rule_value(run, "sm__inst_issued.avg.pct_of_peak_sustained_elapsed");
	double most = rule_value(run, "sm__inst_issued.max.pct_of_peak_sustained_elapsed");
	struct rule_result *result;

	if (!(busy >= 80 && average < 20 && most - average > 25))
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Slow Pipe Limiting Compute");
	rule_say(result, "The multiprocessors are busy (%.1f %%) though they issue little (%.1f %% of their slots): "
		 "one slow pipeline holds up the rest. Spread its work "
		 "more evenly over the kernel.", busy, average);
	rule_gain(result, RULE_GLOBAL, (most - average) / most * run->compute);
}
