/* Schedulers and the warps they wait for. */
#include <math.h>
#include <stdio.h>

#include "kernel/rules/rule.h"

void rule_issue_slots(struct rule_run *run)
{
	double issue = rule_value(run, "smsp__issue_active.avg.per_cycle_active"), active = rule_value(run, "smsp__warps_active.avg.per_cycle_active");
	double eligible = rule_value(run, "smsp__warps_eligible.avg.per_cycle_active");
	double possible = rule_value(run, "smsp__maximum_warps_avg_per_active_cycle");
	struct rule_result *result;

	if (!(issue < 0.6))
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Issue Slot Utilization");
	rule_say(result, "A scheduler issues an instruction only every %.1f cycles. ", 1 / fmax(issue, 1e-6));
	if (active < 1)
		rule_say(result, "It has less than one warp (%.2f) to choose from: there is not enough work.", active);
	else if (active / possible < 0.8)
		rule_say(result, "Of %.1f warps it could hold there are %.1f, and %.2f are ready to issue: more warps "
			 "would help.", possible, active, eligible);
	else
		rule_say(result, "It holds %.1f warps, of which %.2f are ready to issue: warp state statistics say "
			 "what the others wait for.", active, eligible);
	run->issue = fmin(1 - issue, isnan(run->most) ? 1 : 1 - run->most);
	rule_gain(result, RULE_LOCAL, run->issue);
}

static void say_stall(struct rule_run *run, const char *name, const char *advice, double cycles, double all)
{
	struct rule_result *result = rule_result(run, RULE_OPTIMIZE, name);
	double share = cycles / all;

	rule_say(result, "Of the %.1f cycles between two instructions of a warp, %.1f (%.0f %%) go by in this state. "
		 "%s", all, cycles, 100 * share, advice);
	if (isnan(run->issue))
		rule_gain(result, RULE_LOCAL, share);
	else
		rule_gain(result, RULE_GLOBAL, fmin(run->issue, share));
}

void rule_stalls(struct rule_run *run)
{
	static const struct {
		const char *state, *title, *advice;
	} stalls[] = {
		{ "long_scoreboard", "Long Scoreboard Stalls", "Warps wait for data of L1 or beyond: access memory "
			 "side by side, reuse data, load earlier." },
		{ "short_scoreboard", "Short Scoreboard Stalls", "Warps wait for shared memory or special functions: "
			 "avoid bank conflicts, load earlier." },
		{ "barrier", "Barrier Stalls", "Warps wait for others of their block: divide work evenly before "
			 "barriers, or use smaller blocks." },
		{ "mio_throttle", "MIO Throttle Stalls", "The queue to shared memory and special functions is full: "
			 "fewer and wider accesses." },
		{ "lg_throttle", "LG Throttle Stalls", "The queue to global and local memory is full: fewer and wider "
			 "accesses, data in shared memory." },
		{ "tex_throttle", "TEX Throttle Stalls", "The queue of the texture unit is full: fewer texture "
			 "accesses in a row." },
		{ "math_pipe_throttle", "Math Pipe Throttle Stalls", "A pipeline is busy: spread work over pipelines." },
		{ "membar", "Membar Stalls", "Warps wait at memory fences: fewer of them, and of a smaller scope." },
		{ "branch_resolving", "Branch Resolving Stalls", "Warps wait for branches: fewer jumps." },
		{ "dispatch_stall", "Dispatch Stalls", "The dispatcher holds instructions back." },
		{ "drain", "Drain Stalls", "Warps wait for their last stores: store less at the end, side by side." },
		{ "imc_miss", "IMC Miss Stalls", "Warps wait for constants: fewer, and the same for all threads of a warp." },
		{ "no_instruction", "No Instruction Stalls", "Warps wait for instructions: smaller code." },
		{ "sleeping", "Sleeping Stalls", "Warps sleep: for a shorter time, or with something to do." },
		{ "wait", "Wait Stalls", "Instructions follow each other too closely: unroll, or have more warps." },
		{ "gmma", "GMMA Stalls", "Warps wait for matrix products: have more under way." },
		{ "misc", "Misc Stalls", "Warps wait for something else." },
	};
	double issue = rule_value(run, "smsp__issue_active.avg.per_cycle_active");
	double all = rule_value(run, "smsp__average_warp_latency_per_inst_issued.ratio"), cycles;
	char metric[128];

	if (!(issue < 0.8) || !(all > 0))
		return;
	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++) {
		snprintf(metric, sizeof(metric), "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", stalls[i].state);
		cycles = rule_value(run, metric);
		if (cycles / all > 0.3)
			say_stall(run, stalls[i].title, stalls[i].advice, cycles, all);
	}
}

void rule_divergence(struct rule_run *run)
{
	double threads = rule_value(run, "smsp__thread_inst_executed_per_inst_executed.ratio");
	double active = rule_value(run, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio");
	double least = fmin(threads, active);
	struct rule_result *result;

	if (!(least < 24))
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Thread Divergence");
	rule_say(result, "Of the 32 threads of a warp, %.1f execute an instruction, %.1f with a true predicate: the "
		 "others take other ways. Order data so that threads of a "
		 "warp go the same way.", threads, active);
	rule_gain(result, isnan(run->compute) ? RULE_LOCAL : RULE_GLOBAL, (1 - least / 32) * (isnan(run->compute) ? 1 : run->compute));
}
