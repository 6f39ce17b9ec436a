#include "kernel/rules/rule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct rule all_rules[] = {
	{ "SOLBottleneck", "Bottleneck", "SpeedOfLight", "Is it arithmetic, memory, waiting, or too small a grid?", rule_speed_of_light },
	{ "HighPipeUtilization", "Busiest Pipeline", "ComputeWorkloadAnalysis", "Which pipeline works most, and how much.", rule_high_pipe },
	{ "FPInstructions", "Fused Multiply-Adds", "InstructionStats", "Additions and multiplications that could be one instruction.", rule_fused },
	{ "SOLFPRoofline", "Roofline", "SpeedOfLight_RooflineChart", "How near floating point comes to its peak.", rule_roofline },
	{ "TensorUnused", "Tensor Cores", "ComputeWorkloadAnalysis", "Multiply-adds that tensor cores might do.", rule_tensor_unused },
	{ "SlowPipeLimiter", "Slow Pipeline", "ComputeWorkloadAnalysis", "One slow pipeline keeps the others from issuing.", rule_slow_pipe },
	{ "IssueSlotUtilization", "Issue Slots", "SchedulerStats", "How often schedulers have nothing to issue.", rule_issue_slots },
	{ "CPIStall", "Warp Stalls", "WarpStateStats", "What warps wait for most.", rule_stalls },
	{ "TheoreticalOccupancy", "Theoretical Occupancy", "Occupancy", "What keeps more warps off a multiprocessor.", rule_theoretical_occupancy },
	{ "AchievedOccupancy", "Achieved Occupancy", "Occupancy", "Fewer warps than there could be.", rule_achieved_occupancy },
	{ "ThreadDivergence", "Thread Divergence", "WarpStateStats", "Threads of a warp that do not take part.", rule_divergence },
	{ "WorkloadImbalance", "Imbalance", "WorkloadDistribution", "Parts of the chip that work longer than others.", rule_imbalance },
	{ "LaunchConfiguration", "Launch", "LaunchStats", "Block size, grid size and the tail of the last wave.", rule_launch },
	{ "MemoryCacheAccessPattern", "Access Pattern", "MemoryWorkloadAnalysis_Tables", "Bytes of sectors that nobody uses.", rule_access_pattern },
	{ "SharedMemoryConflicts", "Bank Conflicts", "MemoryWorkloadAnalysis_Tables", "Rounds of shared memory that conflicts add.", rule_shared_conflicts },
	{ "MemoryApertureUsage", "Memory Elsewhere", "MemoryWorkloadAnalysis_Chart", "Traffic to memory of the host or of peers.", rule_aperture },
	{ "MemoryL2Compression", "L2 Compression", "MemoryWorkloadAnalysis_Chart", "Compression of L2 that does not compress.", rule_compression },
	{ "UncoalescedGlobalAccess", "Uncoalesced Global Accesses", "SourceCounters", "Lines whose threads do not access global memory side by side.", rule_uncoalesced_global },
	{ "UncoalescedSharedAccess", "Uncoalesced Shared Accesses", "SourceCounters", "Lines with bank conflicts in shared memory.", rule_uncoalesced_shared },
	{ "PCSamplingData", "Sampled Lines", "SourceCounters", "Lines at which warps were found most often, and what they waited for.", rule_sampled_lines },
};

const struct rule *rules(size_t *ret_count)
{
	*ret_count = sizeof(all_rules) / sizeof(all_rules[0]);
	return all_rules;
}

double rule_value(const struct rule_run *run, const char *metric)
{
	return run->value(run->context, metric);
}

struct rule_result *rule_result(struct rule_run *run, enum rule_tag tag, const char *title)
{
	struct rule_result *result = &run->results[run->count];

	if (run->count == RULE_RESULTS)
		return NULL;
	run->count++;
	*result = (struct rule_result){ .rule = run->rule, .tag = tag };
	snprintf(result->title, sizeof(result->title), "%s", title);
	return result;
}

void rule_say(struct rule_result *result, const char *format, ...)
{
	size_t used;
	va_list args;

	if (!result)
		return;
	used = strlen(result->text);
	va_start(args, format);
	vsnprintf(result->text + used, sizeof(result->text) - used, format, args);
	va_end(args);
}

void rule_gain(struct rule_result *result, enum rule_gain gain, double share)
{
	if (!result || isnan(share))
		return;
	result->gain = gain;
	result->percent = 100 * (share < 0 ? 0 : share > 1 ? 1 : share);
}

void rules_apply(struct rule_run *run, double (*value)(void *context, const char *metric), void *context,
		 bool (*has)(void *context, const char *section))
{
	rules_apply_lines(run, value, context, has, NULL);
}

void rules_apply_lines(struct rule_run *run, double (*value)(void *context, const char *metric), void *context,
		       bool (*has)(void *context, const char *section),
		       size_t (*lines)(void *context, const char *more, const char *less, struct rule_line *ret, size_t room))
{
	*run = (struct rule_run){ .value = value, .context = context, .lines = lines, .compute = NAN, .memory = NAN, .most = NAN, .issue = NAN };
	for (size_t i = 0; i < sizeof(all_rules) / sizeof(all_rules[0]); i++) {
		if (has && !has(context, all_rules[i].section))
			continue;
		run->rule = all_rules[i].id;
		all_rules[i].apply(run);
	}
}
