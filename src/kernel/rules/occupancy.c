/* Warps that could be there, and are not. */
#include <math.h>

#include "kernel/rules/rule.h"

static double capped(const struct rule_run *run, double share)
{
	return isnan(run->issue) ? share : fmin(share, run->issue);
}

static enum rule_gain kind(const struct rule_run *run)
{
	return isnan(run->issue) ? RULE_LOCAL : RULE_GLOBAL;
}

void rule_theoretical_occupancy(struct rule_run *run)
{
	static const char *const limits[][2] = { { "launch__occupancy_limit_blocks", "blocks" },
						 { "launch__occupancy_limit_registers", "registers" },
						 { "launch__occupancy_limit_shared_mem", "shared memory" },
						 { "launch__occupancy_limit_warps", "warps" } };
	double percent = rule_value(run, "sm__maximum_warps_per_active_cycle_pct"), least = NAN;
	const char *separator = "";
	struct rule_result *result;

	if (!(percent < 80))
		return;
	for (size_t i = 0; i < 4; i++)
		least = fmin(least, rule_value(run, limits[i][0]));
	result = rule_result(run, RULE_OPTIMIZE, "Theoretical Occupancy");
	rule_say(result, "A multiprocessor holds only %.1f %% of the warps it could. What limits them: ", percent);
	for (size_t i = 0; i < 4; i++) {
		if (rule_value(run, limits[i][0]) != least)
			continue;
		rule_say(result, "%s%s", separator, limits[i][1]);
		separator = ", ";
	}
	rule_say(result, ".");
	rule_gain(result, kind(run), capped(run, 1 - percent / 100));
}

void rule_achieved_occupancy(struct rule_run *run)
{
	double theoretical = rule_value(run, "sm__maximum_warps_per_active_cycle_pct");
	double achieved = rule_value(run, "sm__warps_active.avg.pct_of_peak_sustained_active");
	struct rule_result *result;

	if (!(theoretical - achieved > 10))
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Achieved Occupancy");
	rule_say(result, "There are fewer warps (%.1f %%) than would fit (%.1f %%): blocks are short or uneven, or the "
		 "last wave leaves multiprocessors empty.", achieved,
		 theoretical);
	rule_gain(result, kind(run), capped(run, (theoretical - achieved) / theoretical));
}
