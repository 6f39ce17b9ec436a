/* What the memory system moves in vain. */
#include <math.h>
#include <stdio.h>

#include "kernel/rules/rule.h"

struct level {
	const char *name;
	double share; /* of accesses that come so far */
	double busy;
};

/* The level at which unused bytes cost most. */
static struct level worst_level(const struct rule_run *run, const char *memory, const char *op)
{
	double l1_hit, l2_hit = rule_value(run, op[0] == 'l' ? "lts__t_sector_op_read_hit_rate.pct" : "lts__t_sector_op_write_hit_rate.pct");
	struct level levels[3], worst = { "L1", 0, 0 };
	char name[128];

	snprintf(name, sizeof(name), "l1tex__t_sector_pipe_lsu_mem_%s_op_%s_hit_rate.pct", memory, op);
	l1_hit = rule_value(run, name);
	levels[0] = (struct level){ "L1", 1, rule_value(run, "l1tex__throughput.avg.pct_of_peak_sustained_elapsed") };
	levels[1] = (struct level){ "L2", 1 - l1_hit / 100, rule_value(run, "lts__throughput.avg.pct_of_peak_sustained_elapsed") };
	levels[2] = (struct level){ "DRAM", levels[1].share * (1 - l2_hit / 100), rule_value(run, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") };
	for (unsigned i = 0; i < 3; i++)
		if (levels[i].share * levels[i].busy > worst.share * worst.busy)
			worst = levels[i];
	return worst;
}

static void check_pattern(struct rule_run *run, const char *memory, const char *op)
{
	struct rule_result *result;
	struct level level;
	double used, most;
	char name[128];

	snprintf(name, sizeof(name), "smsp__sass_average_data_bytes_per_sector_mem_%s_op_%s.ratio", memory, op);
	used = rule_value(run, name);
	snprintf(name, sizeof(name), "smsp__sass_average_data_bytes_per_sector_mem_%s_op_%s.max_rate", memory, op);
	most = rule_value(run, name);
	/* Nothing was accessed where nothing was used. */
	if (!(used > 0) || !(used < most))
		return;
	level = worst_level(run, memory, op);
	result = rule_result(run, RULE_OPTIMIZE, "Access Pattern");
	rule_say(result, "Of each sector that is %s in %s memory, threads use %.1f of %.0f bytes; it costs most in %s. "
		 "Threads of a warp should access memory side by side.",
		 op[0] == 'l' ? "loaded" : "stored", memory, used, most, level.name);
	rule_gain(result, RULE_GLOBAL, (1 - used / most) * level.share * level.busy / 100);
}

void rule_access_pattern(struct rule_run *run)
{
	check_pattern(run, "global", "ld");
	check_pattern(run, "global", "st");
	check_pattern(run, "local", "ld");
	check_pattern(run, "local", "st");
}

static void check_conflicts(struct rule_run *run, const char *op, const char *what)
{
	double conflicts, rounds, share;
	struct rule_result *result;
	char name[128];

	snprintf(name, sizeof(name), "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum", op);
	conflicts = rule_value(run, name);
	snprintf(name, sizeof(name), "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum", op);
	rounds = rule_value(run, name);
	share = conflicts / rounds;
	if (!(share >= 0.1))
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Shared Memory Bank Conflicts");
	rule_say(result, "%.1f %% of the rounds that shared memory takes for %s come from bank conflicts: %.0f of "
		 "%.0f. Pad rows of arrays, or exchange their indexes.",
		 100 * share, what, conflicts, rounds);
	rule_gain(result, RULE_GLOBAL, share * rule_value(run, "l1tex__throughput.avg.pct_of_peak_sustained_elapsed") / 100);
}

void rule_shared_conflicts(struct rule_run *run)
{
	check_conflicts(run, "ld", "loads");
	check_conflicts(run, "st", "stores");
}

/* Bytes a second, of all that DRAM can do: PCIe by its transfers and lanes, NVLink as it says itself. Not a number where that is not known. */
static double share_of_dram(const struct rule_run *run, bool is_host)
{
	double dram = rule_value(run, "dram__bytes.sum.peak_sustained") * rule_value(run, "dram__cycles_elapsed.avg.per_second");
	double lanes = rule_value(run, "device__attribute_gpu_pci_ext_gpu_link_width");
	double pcie = rule_value(run, "device__attribute_gpu_pci_ext_gpu_link_rate") * 1e6 * lanes / 8;

	return (is_host ? pcie : rule_value(run, "nvlink__bandwidth")) / dram;
}

void rule_aperture(struct rule_run *run)
{
	static const char *const apertures[][2] = { { "sysmem", "the host" }, { "peer", "other GPUs" } };
	double busy = rule_value(run, "lts__t_sectors_srcunit_tex.avg.pct_of_peak_sustained_elapsed");
	double misses = rule_value(run, "lts__t_sectors_srcunit_tex_lookup_miss.sum"), share;
	struct rule_result *result;
	char name[128];

	for (unsigned i = 0; busy > 50 && i < 2; i++) {
		snprintf(name, sizeof(name), "lts__t_sectors_srcunit_tex_aperture_%s_lookup_miss.sum", apertures[i][0]);
		share = rule_value(run, name) / misses;
		if (!(share > 0.4))
			continue;
		result = rule_result(run, RULE_OPTIMIZE, "Memory Elsewhere");
		rule_say(result, "%.0f %% of what L2 does not have comes from memory of %s, which is far slower: copy "
			 "it to the device first.", 100 * share, apertures[i][1]);
		rule_gain(result, RULE_GLOBAL, share * (1 - share_of_dram(run, i == 0)));
	}
}
