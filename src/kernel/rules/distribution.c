/* Work that does not lie evenly on the chip. */
#include <math.h>
#include <stdio.h>

#include "kernel/rules/rule.h"

static double cycles(const struct rule_run *run, const char *unit, const char *which)
{
	char name[64];

	snprintf(name, sizeof(name), "%s__cycles_%s", unit, which);
	return rule_value(run, name);
}

void rule_imbalance(struct rule_run *run)
{
	static const char *const units[][2] = { { "sm", "Multiprocessors" }, { "smsp", "Schedulers" }, { "l1tex", "First-level caches" },
						{ "lts", "Slices of L2" }, { "dram", "Channels of device memory" } };
	double average, most, least, share;
	struct rule_result *result;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		average = cycles(run, units[i][0], "active.avg");
		most = cycles(run, units[i][0], "active.max");
		least = cycles(run, units[i][0], "active.min");
		share = (1 - average / most) * cycles(run, units[i][0], "active.sum") / cycles(run, units[i][0], "elapsed.sum");
		if (!(share >= 0.05))
			continue;
		result = rule_result(run, RULE_OPTIMIZE, "Workload Imbalance");
		rule_say(result, "%s do not work evenly: the busiest is active %.1f %% longer than the average, the "
			 "least busy %.1f %% shorter.", units[i][1],
			 100 * (most / average - 1), 100 * (1 - least / average));
		rule_gain(result, RULE_GLOBAL, share);
	}
}
