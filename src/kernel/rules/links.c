/* Links to other devices. */
#include <stdio.h>

#include "kernel/rules/rule.h"

static void check_link(struct rule_run *run, const char *unit, const char *verb)
{
	struct rule_result *result;
	double used, overhead, bytes;
	char name[96];

	snprintf(name, sizeof(name), "%s__bytes.sum.pct_of_peak_sustained_elapsed", unit);
	used = rule_value(run, name);
	snprintf(name, sizeof(name), "%s__bytes.sum", unit);
	bytes = rule_value(run, name);
	snprintf(name, sizeof(name), "%s__bytes_data_protocol.sum", unit);
	overhead = rule_value(run, name) / bytes;
	if (used >= 60) {
		result = rule_result(run, RULE_OPTIMIZE, "NVLink Throughput");
		rule_say(result, "NVLink %s %.0f %% of what it can: keep copies of what is read often, or move it while other work runs.", verb, used);
	}
	if (used >= 10 && overhead > 0.3) {
		result = rule_result(run, RULE_OPTIMIZE, "NVLink Overhead");
		rule_say(result, "%.0f %% of what NVLink %s is not data but what frames it: accesses are small. Threads of a warp should access memory of "
			 "the peer side by side, 128 bytes at a time.", 100 * overhead, verb);
		rule_gain(result, RULE_LOCAL, overhead);
	}
}

void rule_nvlink(struct rule_run *run)
{
	check_link(run, "nvlrx", "receives");
	check_link(run, "nvltx", "sends");
}
