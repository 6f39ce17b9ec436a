/* Rules that name source lines: what instructions did to memory, and where warps were found. */
#include <math.h>
#include <string.h>

#include "kernel/rules/rule.h"

#define NAMED 3                  /* lines that are told of */
#define LEAST_SHARE 0.01         /* of what is accessed: less is not worth a line */
#define MUCH 0.1                 /* of the samples */

static size_t worst(const struct rule_run *run, const char *more, const char *less, struct rule_line *ret)
{
	return run->lines ? run->lines(run->context, more, less, ret, NAMED) : 0;
}

static void say_lines(struct rule_result *result, const struct rule_line *lines, size_t count, const char *what)
{
	for (size_t i = 0; i < count; i++)
		rule_say(result, "%s%s (%.0f %s instead of %.0f)", i ? ", " : " Most of it: ", lines[i].place, lines[i].more, what, lines[i].less);
	rule_say(result, "%s", count ? "." : "");
}

/* Shares of the cache's time that the access takes more than it would at best. */
static void uncoalesced(struct rule_run *run, const char *name, const char *more, const char *less, const char *what, double busy)
{
	double actual = rule_value(run, more), ideal = rule_value(run, less), share;
	struct rule_line lines[NAMED];
	struct rule_result *result;

	/* Where all accesses are ideal there is no sum of either, or both are the same. */
	ideal = isnan(ideal) ? 0 : ideal;
	share = (actual - ideal) / actual;
	if (!(actual > 0) || !(share >= LEAST_SHARE))
		return;
	result = rule_result(run, RULE_OPTIMIZE, name);
	rule_say(result, "%.0f of %.0f %s (%.0f%%) are more than it would take at best.", actual - ideal, actual, what, 100 * share);
	say_lines(result, lines, worst(run, more, less, lines), what);
	rule_gain(result, RULE_GLOBAL, busy * share);
}

static double active(const struct rule_run *run, const char *cycles_active, const char *cycles_elapsed)
{
	return rule_value(run, cycles_active) / rule_value(run, cycles_elapsed);
}

void rule_uncoalesced_global(struct rule_run *run)
{
	uncoalesced(run, "Uncoalesced Global Accesses", "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
		    "sectors", active(run, "lts__cycles_active.avg", "lts__cycles_elapsed.avg"));
}

void rule_uncoalesced_shared(struct rule_run *run)
{
	uncoalesced(run, "Uncoalesced Shared Accesses", "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal", "wavefronts",
		    active(run, "l1tex__cycles_active.avg", "l1tex__cycles_elapsed.avg"));
}

/* An instruction waits for what those before it do: a line with many samples is where the wait shows. */
void rule_sampled_lines(struct rule_run *run)
{
	double samples = rule_value(run, "smsp__pcsamp_sample_count"), interval = rule_value(run, "smsp__pcsamp_interval_cycles");
	struct rule_line lines[NAMED];
	struct rule_result *result;
	size_t count;

	/* The interval is told by a pass that ran. */
	if (!(samples > 0) && interval > 0) {
		result = rule_result(run, RULE_WARN, "No Samples");
		rule_say(result, "No warp was found in any sample: the kernel is too short for one every %.0f cycles (--warp-sampling-interval).", interval);
		return;
	}
	count = samples > 0 ? worst(run, "smsp__pcsamp_sample_count", NULL, lines) : 0;
	if (!count || !(lines[0].more >= MUCH * samples))
		return;
	result = rule_result(run, RULE_INFORM, "Where Warps Wait");
	for (size_t i = 0; i < count && lines[i].more >= MUCH * samples; i++) {
		rule_say(result, "%s%.0f%% of the samples are at %s", i ? ", " : "", 100 * lines[i].more / samples, lines[i].place);
		if (lines[i].stall)
			rule_say(result, " (%.0f%% %s)", 100 * lines[i].stall_share, lines[i].stall);
	}
	rule_say(result, ". Samples are at the instruction that waits: look before it for what it waits for.");
}
