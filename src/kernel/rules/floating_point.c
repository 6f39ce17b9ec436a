/* How near arithmetic comes to its roofs, and which kind of it is used. */
#include <math.h>
#include <stdio.h>

#include "kernel/rules/rule.h"

static double each_cycle(const struct rule_run *run, const char *op)
{
	char name[128];

	snprintf(name, sizeof(name), "smsp__sass_thread_inst_executed_op_%s_pred_on.sum.per_cycle_elapsed", op);
	return rule_value(run, name);
}

/* Operations a second, of the most there could be; `peak` is that most. */
static double share_of_peak(const struct rule_run *run, const char *add, const char *multiply, const char *fused, double *peak)
{
	double clock = rule_value(run, "smsp__cycles_elapsed.avg.per_second"), work;
	char name[128];

	snprintf(name, sizeof(name), "sm__sass_thread_inst_executed_op_%s_pred_on.sum.peak_sustained", fused);
	*peak = 2 * rule_value(run, name) * rule_value(run, "sm__cycles_elapsed.avg.per_second");
	work = (each_cycle(run, add) + each_cycle(run, multiply) + 2 * each_cycle(run, fused)) * clock;
	return work / *peak;
}

void rule_roofline(struct rule_run *run)
{
	double peak32, peak64, single = share_of_peak(run, "fadd", "fmul", "ffma", &peak32), twice = share_of_peak(run, "dadd", "dmul", "dfma", &peak64);
	double pipe = rule_value(run, "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active");
	struct rule_result *result;

	if (isnan(single) || isnan(twice))
		return;
	if (single < 0.6 && twice > 0.15) {
		result = rule_result(run, RULE_OPTIMIZE, "FP64/32 Utilization");
		rule_say(result, "Double precision is used to %.0f %% of its peak, which is a %.0fth of that of single "
			 "precision: where the accuracy allows, single "
			 "precision is faster.", 100 * twice, peak32 / peak64);
		rule_gain(result, isnan(run->compute) ? RULE_LOCAL : RULE_GLOBAL, twice * (1 - peak64 / peak32) * (isnan(pipe) ? 1 : pipe / 100));
		return;
	}
	result = rule_result(run, RULE_INFORM, single > 0.6 && twice > 0.6 ? "High FP Utilization" : "Roofline");
	rule_say(result, "The kernel reaches %.1f %% of the peak of single precision and %.1f %% of that of double "
		 "precision (%.0f to 1).", 100 * single,
		 100 * twice, peak32 / peak64);
}

/* Of the instructions that add or multiply, those that do only one of both; pairs of them could be one. */
static void check_fused(struct rule_run *run, const char *precision, const char *letter, const char *pipe)
{
	struct rule_result *result;
	double adds, products, all, saved, busy;
	char name[128], add[8], multiply[8], both[8];

	snprintf(add, sizeof(add), "%sadd", letter);
	snprintf(multiply, sizeof(multiply), "%smul", letter);
	snprintf(both, sizeof(both), "%sfma", letter);
	adds = each_cycle(run, add);
	products = each_cycle(run, multiply);
	all = adds + products + each_cycle(run, both);
	/* A multiply-add takes one of each. */
	saved = fmin(adds, products) / all;
	if (!(saved > 0.1) || isnan(all))
		return;
	snprintf(name, sizeof(name), "sm__pipe_%s_cycles_active.avg.pct_of_peak_sustained_active", pipe);
	busy = rule_value(run, name);
	result = rule_result(run, RULE_OPTIMIZE, "Fused Multiply-Adds");
	rule_say(result, "%.0f %% of the %s instructions only add or only multiply. Two of them that belong together are one multiply-add: up to "
		 "%.0f %% fewer instructions, where the order of operations allows for it.", 100 * (adds + products) / all, precision,
		 100 * saved);
	rule_gain(result, isnan(run->compute) ? RULE_LOCAL : RULE_GLOBAL, saved * busy / 100);
}

void rule_fused(struct rule_run *run)
{
	check_fused(run, "single-precision", "f", "fma");
	check_fused(run, "double-precision", "d", "fp64");
}

/* Many multiply-adds and no tensor core: a matrix product by hand? */
void rule_tensor_unused(struct rule_run *run)
{
	double tensor = rule_value(run, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
	double fused = each_cycle(run, "ffma") + each_cycle(run, "hfma");
	double other = each_cycle(run, "fadd") + each_cycle(run, "fmul") + each_cycle(run, "hadd") + each_cycle(run, "hmul");
	double fma = rule_value(run, "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active");
	struct rule_result *result;

	if (!(tensor < 1) || !(fma > 10) || !(fused > 4 * other))
		return;
	result = rule_result(run, RULE_INFORM, "Tensor Cores Unused");
	rule_say(result, "Nearly all floating-point work is multiply-adds, and tensor cores do nothing: if this is a "
		 "product of matrices, a library or TF32, BF16 or FP16 "
		 "would run on them, many times as fast.");
}
