/* What L2 does: compression. */
#include <math.h>

#include "kernel/rules/rule.h"

#define SECTOR 32 /* bytes */

static double either(const struct rule_run *run, const char *one, const char *other)
{
	double value = rule_value(run, one);

	return isnan(value) ? rule_value(run, other) : value;
}

void rule_compression(struct rule_run *run)
{
	double input = either(run, "lrc__ilc_input_sectors.sum", "lts__gcomp_input_sectors.sum");
	double success = either(run, "lrc__average_ilc_input_sector_success_rate.pct", "lts__average_gcomp_input_sector_success_rate.pct");
	double written = rule_value(run, "l1tex__m_l1tex2xbar_write_bytes.sum"), all = rule_value(run, "lts__t_sectors.sum");
	double read = rule_value(run, "dram__bytes_read.sum.pct_of_peak_sustained_elapsed");
	struct rule_result *result;
	double gain;

	if (!(input > 0))
		return;
	/* Where the unit sees all that is written, none of it being compressed means that no memory is compressible. */
	if (isnan(rule_value(run, "lts__gcomp_input_sectors.sum")) && success == 0)
		return;
	if (success < 20) {
		gain = (1 - success / 100) * (1 - input / all) * read / 100;
		/* Nothing is lost where DRAM has nothing to do. */
		result = rule_result(run, gain >= 0.01 ? RULE_OPTIMIZE : RULE_INFORM, "Low Compression Rate");
		rule_say(result, "Of %.0f bytes that were handed to the compression of L2, %.1f %% could be compressed: only memory with many zeros, "
			 "or with values that are much alike, should be allocated as compressible.", input * SECTOR, success);
		rule_gain(result, RULE_GLOBAL, gain);
	}
	if (4 * written < input * SECTOR) {
		result = rule_result(run, RULE_OPTIMIZE, "Compression Access Pattern");
		rule_say(result, "The compression of L2 was handed %.1f times as many bytes as the kernel wrote: writes that fill a few bytes of each "
			 "32 make it work on the rest again. Write whole sectors, side by side.", input * SECTOR / written);
	}
}
