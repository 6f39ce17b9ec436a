/* Rules on values of real kernels (vecadd and two matrix products on an H200, as ncu counted them), and on values that are made up so that one
 * thing is wrong. What must be said follows from the values by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/rules/rule.h"
#include "kernel/sections/section.h"

#define COLUMNS 3000

static char names_line[1 << 18], lines[3][1 << 18];
static char *names[COLUMNS], *cells[3][COLUMNS];

static size_t split(char *at, char **ret)
{
	size_t count = 0;
	char *end;

	while (*at == '"' && count < COLUMNS) {
		end = strchr(at + 1, '"');
		if (!end)
			break;
		ret[count++] = at + 1;
		at = end[1] == ',' ? end + 2 : end + 1;
		*end = '\0';
	}
	return count;
}

/* The first of each of the three kernels: vecadd, matmul_naive, matmul_tiled. */
static void read_table(void)
{
	FILE *file = fopen(NCU_TABLE, "r");

	assert_non_null(file);
	while (fgets(names_line, sizeof(names_line), file) && strncmp(names_line, "\"ID\"", 4) != 0)
		;
	assert_non_null(fgets(lines[0], sizeof(lines[0]), file)); /* units */
	for (unsigned i = 0; i < 3; i++) {
		assert_non_null(fgets(lines[i], sizeof(lines[i]), file));
		assert_true(split(lines[i], cells[i]) > 2000);
	}
	fclose(file);
	assert_true(split(names_line, names) > 2000);
}

static double measured(void *context, const char *metric)
{
	char **row = context, plain[64];
	size_t used = 0;

	for (size_t i = 0; i < COLUMNS && names[i]; i++) {
		if (strcmp(names[i], metric) != 0)
			continue;
		for (const char *c = row[i]; *c && used + 1 < sizeof(plain); c++)
			if (*c != ',')
				plain[used++] = *c;
		plain[used] = '\0';
		return used ? strtod(plain, NULL) : NAN;
	}
	return NAN;
}

static const struct rule_result *find(const struct rule_run *run, const char *title)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->results[i].title, title) == 0)
			return &run->results[i];
	return NULL;
}

static void gains(const struct rule_run *run, const char *title, enum rule_gain kind, double percent)
{
	const struct rule_result *result = find(run, title);

	if (!result)
		fail_msg("nothing is said of %s", title);
	assert_int_equal(result->gain, kind);
	if (fabs(result->percent - percent) > 0.05)
		fail_msg("%s: %.3f instead of %.3f", title, result->percent, percent);
}

static size_t count_rule(const struct rule_run *run, const char *rule)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		count += strcmp(run->results[i].rule, rule) == 0;
	return count;
}

static struct rule_run run;

static struct sections written;

static int load_written(void **state)
{
	static const char *const folders[] = { SHARE "/rules" };
	struct error err = { "" };

	if (sections_load(&written, folders, 1, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int release_written(void **state)
{
	sections_release(&written);
	return 0;
}

/* Sonde's own. */
static void apply(struct rule_run *r, rule_value_of *value, void *context)
{
	rules_begin(r, value, NULL, context);
	for (size_t i = 0; i < written.rule_count; i++)
		written_rule_apply(&written.rules[i], r);
}

/* Reads two arrays and writes one: bound by device memory, warps wait for loads. */
static void vecadd(void **state)
{
	read_table();
	apply(&run, measured, cells[0]);
	assert_string_equal(run.verdict, "memory-bound");
	assert_non_null(find(&run, "High Memory Throughput"));
	assert_non_null(strstr(find(&run, "High Memory Throughput")->text, "DRAM"));
	/* Of 67.34 cycles 54.78 in long scoreboard, and nothing else above 30 %. Issuing could gain 1 - 0.6693. */
	assert_int_equal(count_rule(&run, "CPIStall"), 1);
	gains(&run, "Issue Slot Utilization", RULE_LOCAL, 33.07);
	gains(&run, "Long Scoreboard Stalls", RULE_GLOBAL, 33.07);
	/* 74.39 of 100 %. */
	gains(&run, "Achieved Occupancy", RULE_GLOBAL, 25.61);
	assert_null(find(&run, "Theoretical Occupancy"));
	assert_null(find(&run, "Thread Divergence"));
	assert_null(find(&run, "Access Pattern"));
	assert_int_equal(count_rule(&run, "LaunchConfiguration"), 0);
	assert_int_equal(count_rule(&run, "SharedMemoryConflicts"), 0);
	/* Additions only. */
	assert_null(find(&run, "Tensor Cores Unused"));
}

/* Each thread walks a row and a column in global memory: its queue is full, and half of the loads are the same for a whole warp. */
static void matmul_naive(void **state)
{
	read_table();
	apply(&run, measured, cells[1]);
	/* What keeps the multiprocessors busy (75.42 %) are loads; they issue for 43 % of the time. */
	assert_string_equal(run.verdict, "memory-bound");
	assert_non_null(strstr(find(&run, "High Memory Throughput")->text, ", L1 the most"));
	assert_int_equal(count_rule(&run, "CPIStall"), 1);
	/* 13.96 of 35.46 cycles are 39.4 %, but issuing could gain only 1 - 0.7542. */
	gains(&run, "LG Throttle Stalls", RULE_GLOBAL, 24.58);
	/* 26.4 of 32 bytes are used, but what a whole warp reads at one place takes one sector: there are no fewer to be had. */
	assert_true(measured(cells[1], "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio") < 27);
	assert_null(find(&run, "Access Pattern"));
	assert_null(find(&run, "Achieved Occupancy"));
	/* 2 x 2048^3 operations in 2.729568 ms, of 2 x 128 lanes x 132 multiprocessors at 1.979 GHz or a little less. */
	assert_non_null(find(&run, "Roofline"));
	assert_float_equal(
		strtod(find(&run, "Roofline")->text + strlen("The kernel reaches "), NULL),
		100 * 2 * pow(2048, 3) / 2.729568e-3 / (2.0 * 128 * 132 * measured(cells[1], "sm__cycles_elapsed.avg.per_second")), 0.2);
	assert_non_null(find(&run, "Tensor Cores Unused"));
}

/* Tiles in shared memory: its queue is full, and a tenth of the stores conflict. */
static void matmul_tiled(void **state)
{
	read_table();
	apply(&run, measured, cells[2]);
	assert_string_equal(run.verdict, "memory-bound");
	assert_non_null(find(&run, "High Throughput"));
	assert_non_null(strstr(find(&run, "High Throughput")->text, "L1"));
	assert_int_equal(count_rule(&run, "CPIStall"), 1);
	gains(&run, "MIO Throttle Stalls", RULE_GLOBAL, 100 - 91.38);
	/* Loads: 181,741 of 402,834,925; stores: 2,111,820 of 18,889,036, a ninth of them, but few beside the loads. */
	assert_int_equal(count_rule(&run, "SharedMemoryConflicts"), 1);
	assert_int_equal(find(&run, "Shared Memory Bank Conflicts")->tag, RULE_INFORM);
	gains(&run, "Shared Memory Bank Conflicts", RULE_GLOBAL, 2111820.0 / (402834925 + 18889036) * 91.38);
	assert_non_null(strstr(find(&run, "Shared Memory Bank Conflicts")->text, "stores"));
	assert_null(find(&run, "Access Pattern"));
}

static const struct section_row *row_of(const struct section *s, const char *block, const char *label)
{
	for (size_t i = 0; i < s->block_count; i++)
		for (size_t k = 0; strcmp(s->blocks[i].title, block) == 0 && k < s->blocks[i].row_count; k++)
			if (strcmp(s->blocks[i].rows[k].label, label) == 0 && cc_fits(&s->blocks[i].rows[k].cc, 90))
				return &s->blocks[i].rows[k];
	fail_msg("no row %s in %s", label, block);
	return NULL;
}

static double shown(const struct sections *all, const char *section, const char *block, const char *label, unsigned cell, unsigned kernel)
{
	return formula_value(&row_of(sections_find(all, section), block, label)->cells[cell], measured, cells[kernel]);
}

/* What sections make of the same values: against what the programs do, and against ncu's own sums. */
static void formulas_of_sections(void **state)
{
	static const char *const folders[] = { SHARE "/sections" };
	static const char roof[] = "Floating Point Operations Roofline", tables[] = "MemoryWorkloadAnalysis_Tables";
	struct sections all;
	struct error err = { "" };

	read_table();
	if (sections_load(&all, folders, 1, &err) < 0)
		fail_msg("%s", err.text);
	/* 2 x 2048^3 operations in 2.729568 ms. */
	assert_float_equal(shown(&all, "SpeedOfLight_RooflineChart", roof, "work Single Precision", 1, 1) /
				   (2 * pow(2048, 3) / 2.729568e-3),
			   1, 0.002);
	/* 16,777,216 additions in 58.784 us. */
	assert_float_equal(shown(&all, "SpeedOfLight_RooflineChart", roof, "work Single Precision", 1, 0) / (16777216 / 58.784e-6), 1,
			   0.03);
	/* An H200 has 4.8 TB/s. */
	assert_float_equal(shown(&all, "SpeedOfLight_RooflineChart", roof, "traffic DRAM", 0, 1) / 4.8e12, 1, 0.05);
	/* Two arrays of 2^24 numbers are read. */
	assert_float_equal(shown(&all, tables, "L1/TEX Cache", "Global Load", 7, 0), 2.0 * 4 * 16777216, 0);
	assert_float_equal(shown(&all, tables, "L1/TEX Cache", "Global Load", 5, 0), 4, 0);
	assert_float_equal(shown(&all, tables, "L2 Cache", "GPU Total", 4, 0), measured(cells[0], "lts__t_sector_hit_rate.pct"), 0.5);
	assert_float_equal(shown(&all, tables, "Shared Memory", "Shared Store", 3, 2), 2111820, 0);
	sections_release(&all);
}

struct planted {
	const char *metric;
	double value;
};

/* What is not planted is not there. */
static double from_list(void *context, const char *metric)
{
	const struct planted *list = context;

	for (; list->metric; list++)
		if (strcmp(list->metric, metric) == 0)
			return list->value;
	return NAN;
}

static void nothing_known(void **state)
{
	struct planted none[] = { { NULL, 0 } };

	apply(&run, from_list, none);
	assert_int_equal(run.count, 0);
	assert_string_equal(run.verdict, "");
}

static void small_launch(void **state)
{
	/* clang-format off */
	struct planted launch[] = { { "launch__grid_size", 33 }, { "launch__block_size", 100 }, { "launch__sm_count", 132 },
				    { "launch__waves_per_multiprocessor", 0.0625 }, { "sm__throughput.avg.pct_of_peak_sustained_elapsed", 5 },
				    { "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 8 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, launch);
	assert_string_equal(run.verdict, "launch-bound");
	/* 4 of 32 threads in the last of four warps; 99 of 132 multiprocessors idle. */
	gains(&run, "Block Size", RULE_GLOBAL, 100 * 0.25 * (1 - 4.0 / 32));
	assert_int_equal(count_rule(&run, "LaunchConfiguration"), 2);
	for (size_t i = 0; i < run.count; i++)
		if (strcmp(run.results[i].rule, "LaunchConfiguration") == 0 && strcmp(run.results[i].title, "Small Grid") == 0)
			assert_true(run.results[i].percent == 75.0 && strstr(run.results[i].text, "33 blocks leave 99 of 132"));
	assert_null(find(&run, "Tail Effect"));
}

static void tail(void **state)
{
	struct planted launch[] = { { "launch__grid_size", 300 },
				    { "launch__block_size", 128 },
				    { "launch__sm_count", 132 },
				    { "launch__waves_per_multiprocessor", 1.25 },
				    { NULL, 0 } };

	/* Two waves of 240 blocks, of which 180 are missing. */
	apply(&run, from_list, launch);
	gains(&run, "Tail Effect", RULE_GLOBAL, 100 * 180.0 / 480);
	assert_non_null(strstr(find(&run, "Tail Effect")->text, "After 1 full wave of blocks, the last 60 run with 75 % of the GPU idle"));
	launch[3].value = 2.5;
	apply(&run, from_list, launch);
	assert_non_null(strstr(find(&run, "Tail Effect")->text, "After 2 full waves of blocks, the last 60 run with 50 % of the GPU idle"));
	gains(&run, "Tail Effect", RULE_GLOBAL, 100 * 0.5 / 3);
	/* 1,024 blocks, 264 at a time: of four waves only 32 blocks are missing. Of 560 blocks, 232 are. */
	launch[0].value = 1024;
	launch[3].value = 1024.0 / 264;
	apply(&run, from_list, launch);
	assert_null(find(&run, "Tail Effect"));
	launch[0].value = 560;
	launch[3].value = 560.0 / 264;
	apply(&run, from_list, launch);
	assert_non_null(strstr(find(&run, "Tail Effect")->text, "the last 32 run with 88 % of the GPU idle"));
	/* After many waves the tail is nothing. */
	launch[3].value = 19.5;
	apply(&run, from_list, launch);
	assert_null(find(&run, "Tail Effect"));
	launch[3].value = 2;
	apply(&run, from_list, launch);
	assert_null(find(&run, "Tail Effect"));
}

static void occupancy(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "sm__maximum_warps_per_active_cycle_pct", 50 }, { "sm__warps_active.avg.pct_of_peak_sustained_active", 45 },
				    { "launch__occupancy_limit_blocks", 32 }, { "launch__occupancy_limit_registers", 4 },
				    { "launch__occupancy_limit_shared_mem", 4 }, { "launch__occupancy_limit_warps", 8 },
				    { "launch__occupancy_limit_barriers", 32 }, { "launch__waves_per_multiprocessor", 0.5 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	gains(&run, "Theoretical Occupancy", RULE_LOCAL, 50);
	assert_non_null(strstr(find(&run, "Theoretical Occupancy")->text, "What limits them: registers, shared memory."));
	assert_null(find(&run, "Achieved Occupancy"));
	/* Blocks with 16 barriers each. */
	values[6].value = 3;
	apply(&run, from_list, values);
	assert_non_null(strstr(find(&run, "Theoretical Occupancy")->text, "What limits them: barriers."));
	assert_null(strstr(find(&run, "Theoretical Occupancy")->text, "registers"));
	/* Half of the multiprocessors' places can be taken, a fifth of them are: in less than a wave, and in three. */
	values[1].value = 10;
	apply(&run, from_list, values);
	gains(&run, "Achieved Occupancy", RULE_LOCAL, 80);
	assert_non_null(strstr(find(&run, "Achieved Occupancy")->text, "(50.0 %): there are too few blocks"));
	values[7].value = 3;
	apply(&run, from_list, values);
	assert_non_null(strstr(find(&run, "Achieved Occupancy")->text, "(50.0 %): blocks are short or uneven"));
}

static void other_faults(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "smsp__thread_inst_executed_per_inst_executed.ratio", 16 },
				    { "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", 8 },
				    { "sm__cycles_active.avg", 500 }, { "sm__cycles_active.max", 1000 }, { "sm__cycles_active.min", 100 },
				    { "sm__cycles_active.sum", 500 }, { "sm__cycles_elapsed.sum", 1000 },
				    { "lts__t_sectors_srcunit_tex.avg.pct_of_peak_sustained_elapsed", 60 }, { "lts__t_sectors_srcunit_tex_lookup_miss.sum", 100 },
				    { "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 50 },
				    { "lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum", 10 }, { "derived__local_spilling_requests_pct", 30 },
				    { "profiler__pmsampler_interval_time", 2000 }, { "gpu__time_duration.sum", 1000 },
				    { "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", 5 },
				    { "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", 15 },
				    { "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed", 90 },
				    { "sm__inst_issued.avg.pct_of_peak_sustained_elapsed", 10 }, { "sm__inst_issued.max.pct_of_peak_sustained_elapsed", 40 },
				    { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	gains(&run, "Thread Divergence", RULE_LOCAL, 75);
	gains(&run, "Workload Imbalance", RULE_GLOBAL, 25);
	assert_non_null(
		strstr(find(&run, "Workload Imbalance")->text, "active 2.00 times as long as the average, the least busy 0.20 times"));
	assert_int_equal(count_rule(&run, "MemoryApertureUsage"), 1);
	assert_non_null(find(&run, "Spilled Registers"));
	assert_int_equal(find(&run, "Sampling Interval")->tag, RULE_WARN);
	gains(&run, "Low Utilization", RULE_LOCAL, 85);
	assert_non_null(strstr(find(&run, "Low Utilization")->text, "FMA"));
	assert_non_null(find(&run, "Slow Pipe Limiting Compute"));
}

/* Half of the rounds of loads are conflicts; of all rounds, a quarter. L1 does 80 % of what it can. */
static void bank_conflicts(void **state)
{
	struct planted values[] = { { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 500 },
				    { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1000 },
				    { "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 80 },
				    { "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 2000 },
				    { NULL, 0 } };

	apply(&run, from_list, values);
	assert_int_equal(count_rule(&run, "SharedMemoryConflicts"), 1);
	assert_int_equal(find(&run, "Shared Memory Bank Conflicts")->tag, RULE_OPTIMIZE);
	gains(&run, "Shared Memory Bank Conflicts", RULE_GLOBAL, 20);
	/* Of other rounds nothing is known; nor how busy L1 is. */
	values[3].metric = "none";
	apply(&run, from_list, values);
	gains(&run, "Shared Memory Bank Conflicts", RULE_GLOBAL, 40);
	values[2].metric = "none";
	apply(&run, from_list, values);
	assert_int_equal(find(&run, "Shared Memory Bank Conflicts")->tag, RULE_OPTIMIZE);
	assert_int_equal(find(&run, "Shared Memory Bank Conflicts")->gain, RULE_NO_GAIN);
}

/* Three quarters of the sectors are too many, while L2 works for half of the time. Without the ideal nothing is known. */
static void uncoalesced(void **state)
{
	struct planted values[] = { { "memory_l2_theoretical_sectors_global", 400 },
				    { "memory_l2_theoretical_sectors_global_ideal", 100 },
				    { "lts__cycles_active.avg", 500 },
				    { "lts__cycles_elapsed.avg", 1000 },
				    { NULL, 0 } };

	apply(&run, from_list, values);
	gains(&run, "Uncoalesced Global Accesses", RULE_GLOBAL, 37.5);
	assert_non_null(strstr(find(&run, "Uncoalesced Global Accesses")->text, "300 of 400 sectors (75%)"));
	values[1].metric = "none";
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
	values[0].metric = "memory_l1_wavefronts_shared";
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
}

static void double_precision(void **state)
{
#define COUNT(op) "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum.per_cycle_elapsed"
#define PEAK(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum.peak_sustained"
	/* clang-format off */
	struct planted values[] = { { COUNT("fadd"), 0 }, { COUNT("fmul"), 0 }, { COUNT("ffma"), 0 }, { COUNT("dadd"), 40 }, { COUNT("dmul"), 40 },
				    { COUNT("dfma"), 60 }, { PEAK("ffma"), 6400 }, { PEAK("dfma"), 100 }, { "smsp__cycles_elapsed.avg.per_second", 1e9 },
				    { "sm__cycles_elapsed.avg.per_second", 1e9 },
				    { "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", 50 }, { NULL, 0 } };
	/* clang-format on */

	/* 200 of 200 operations a cycle, a 64th of single precision. */
	apply(&run, from_list, values);
	gains(&run, "FP64/32 Utilization", RULE_LOCAL, 100 * (1 - 1.0 / 64) * 0.5);
	assert_non_null(strstr(find(&run, "FP64/32 Utilization")->text, "is 64 times as high"));
}

/* 60 of 100 instructions add or multiply, and 20 of them could be paired, on a pipeline that is busy for 40 % of the time. */
static void fused(void **state)
{
	/* clang-format off */
	struct planted values[] = { { COUNT("fadd"), 20 }, { COUNT("fmul"), 40 }, { COUNT("ffma"), 40 }, { COUNT("dadd"), 10 }, { COUNT("dmul"), 9 },
				    { COUNT("dfma"), 81 }, { "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", 40 },
				    { "sm__throughput.avg.pct_of_peak_sustained_elapsed", 70 },
				    { "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 30 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	gains(&run, "Fused Multiply-Adds", RULE_GLOBAL, 8);
	/* Of double precision it would be 9 in 100. */
	assert_int_equal(count_rule(&run, "FPInstructions"), 1);
	assert_non_null(strstr(find(&run, "Fused Multiply-Adds")->text, "60 % of the single-precision"));
	values[7].metric = values[8].metric = "none";
	apply(&run, from_list, values);
	gains(&run, "Fused Multiply-Adds", RULE_LOCAL, 8);
}

static void compression(void **state)
{
	struct planted values[] = { { "lrc__ilc_input_sectors.sum", 1000 },
				    { "lrc__average_ilc_input_sector_success_rate.pct", 10 },
				    { "lts__t_sectors.sum", 4000 },
				    { "dram__bytes_read.sum.pct_of_peak_sustained_elapsed", 40 },
				    { "l1tex__m_l1tex2xbar_write_bytes.sum", 6400 },
				    { NULL, 0 } };

	/* 0.9 of it in vain, three quarters of the sectors, 0.4 of the time; 32000 bytes for 6400 that were written. */
	apply(&run, from_list, values);
	gains(&run, "Low Compression Rate", RULE_GLOBAL, 27);
	assert_non_null(strstr(find(&run, "Compression Access Pattern")->text, "5.0 times"));
	values[1].value = 20;
	values[4].value = 8000;
	apply(&run, from_list, values);
	assert_int_equal(count_rule(&run, "MemoryL2Compression"), 0);
	/* An idle DRAM has nothing to gain. */
	values[1].value = 1;
	values[3].value = 0.5;
	apply(&run, from_list, values);
	assert_int_equal(find(&run, "Low Compression Rate")->tag, RULE_INFORM);
	/* Nothing is compressible; of chips that count what is, nothing was handed on. */
	values[1].value = 0;
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
	values[0].value = 0;
	values[1].value = 1;
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
}

static void reuse(void **state)
{
	struct planted values[] = { { "device__attribute_l2_cache_size", 50e6 },
				    { "dram__bytes_read.sum", 30e6 },
				    { "dram__bytes_write.sum", 10e6 },
				    { "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 80 },
				    { "lts__t_sectors_srcunit_tex_op_read.sum", 10e6 },
				    { NULL, 0 } };

	apply(&run, from_list, values);
	gains(&run, "L2 Reuse", RULE_LOCAL, 75);
	/* 320 MB asked for, 100 MB from DRAM, twice what L2 holds: half of it was there before. */
	values[1].value = 100e6;
	apply(&run, from_list, values);
	assert_int_equal(find(&run, "L2 Reuse")->tag, RULE_OPTIMIZE);
	gains(&run, "L2 Reuse", RULE_LOCAL, 100 * 0.5 * (1 - 100.0 / 320) * 0.8);
	/* Nothing is asked for twice. */
	values[4].value = 3.2e6;
	apply(&run, from_list, values);
	assert_null(find(&run, "L2 Reuse"));
	values[1].value = 30e6;
	values[3].value = 30;
	apply(&run, from_list, values);
	assert_null(find(&run, "L2 Reuse"));
}

/* PCIe with 16 lanes of 32 GT/s: 64 GB/s beside 640 GB/s of DRAM; half of the misses go there. */
static void elsewhere(void **state)
{
	struct planted values[] = { { "lts__t_sectors_srcunit_tex.avg.pct_of_peak_sustained_elapsed", 60 },
				    { "lts__t_sectors_srcunit_tex_lookup_miss.sum", 100 },
				    { "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 50 },
				    { "dram__bytes.sum.peak_sustained", 640 },
				    { "dram__cycles_elapsed.avg.per_second", 1e9 },
				    { "device__attribute_gpu_pci_ext_gpu_link_width", 16 },
				    { "device__attribute_gpu_pci_ext_gpu_link_rate", 32000 },
				    { NULL, 0 } };

	apply(&run, from_list, values);
	gains(&run, "Memory Elsewhere", RULE_GLOBAL, 45);
}

static void links(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "nvlrx__bytes.sum.pct_of_peak_sustained_elapsed", 70 }, { "nvlrx__bytes.sum", 1000 },
				    { "nvlrx__bytes_data_protocol.sum", 400 }, { "nvltx__bytes.sum.pct_of_peak_sustained_elapsed", 5 },
				    { "nvltx__bytes.sum", 1000 }, { "nvltx__bytes_data_protocol.sum", 900 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	assert_int_equal(count_rule(&run, "NvlinkUsage"), 2);
	assert_non_null(strstr(find(&run, "NVLink Throughput")->text, "receives 70 %"));
	gains(&run, "NVLink Overhead", RULE_LOCAL, 40);
}

static void short_kernel(void **state)
{
	struct planted values[] = { { "gpu__time_duration.sum", 2500 }, { NULL, 0 } };

	apply(&run, from_list, values);
	assert_non_null(strstr(find(&run, "Short Kernel")->text, "2.5 us"));
	values[0].value = 5000;
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
}

#define ELAPSED ".avg.pct_of_peak_sustained_elapsed"

/* Each way that the two large percentages can stand to each other. */
static void speed_of_light(void **state)
{
	static const struct {
		double sm, memory, waves;
		const char *title, *verdict, *says;
	} ways[] = {
		{ 85, 40, 3, "High Throughput", "compute-bound", "what the multiprocessors can do" },
		{ 85, 90, 3, "High Throughput", "compute- and memory-bound", "what L2 can do" },
		{ 20, 80, 3, "High Throughput", "memory-bound", "what L2 can do" },
		{ 79, 20, 3, "High Compute Throughput", "compute-bound", "more (79.0 %) than memory (20.0 %)" },
		{ 20, 79, 3, "High Memory Throughput", "memory-bound", "more (79.0 %) than arithmetic (20.0 %), L2 the most" },
		{ 65, 70, 3, "Balanced Throughput", "compute- and memory-bound", "Arithmetic (65.0 %) and memory (70.0 %)" },
		{ 59, 10, 1, "Latency Issue", "latency-bound", "arithmetic (59.0 %) nor memory (10.0 %)" },
		{ 59, 10, NAN, "Latency Issue", "latency-bound", "arithmetic" },
		{ 59, 10, 0.25, "Small Grid", "launch-bound", "fills 25.0 % of the GPU" },
	};
	/* clang-format off */
	struct planted values[] = { { "sm__throughput" ELAPSED, 0 }, { "gpu__compute_memory_throughput" ELAPSED, 0 },
				    { "launch__waves_per_multiprocessor", 0 }, { "l1tex__f_wavefronts" ELAPSED, 10 }, { "lts__d_sectors" ELAPSED, 50 },
				    { "gpu__dram_throughput" ELAPSED, 49 }, { NULL, 0 } };
	/* clang-format on */

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		values[0].value = ways[i].sm;
		values[1].value = ways[i].memory;
		values[2].value = ways[i].waves;
		apply(&run, from_list, values);
		assert_int_equal(count_rule(&run, "SOLBottleneck"), 1);
		assert_string_equal(run.results[0].title, ways[i].title);
		if (!strstr(run.results[0].text, ways[i].says))
			fail_msg("'%s' lacks '%s'", run.results[0].text, ways[i].says);
		assert_string_equal(run.verdict, ways[i].verdict);
	}
	/* Of no level anything is known. */
	values[2].value = 3;
	values[3].metric = values[4].metric = values[5].metric = "none";
	values[0].value = 10;
	values[1].value = 90;
	apply(&run, from_list, values);
	assert_non_null(strstr(run.results[0].text, "what memory can do"));
}

/* A multiprocessor that is busy with loads and stores does no arithmetic. */
static void busy_with_loads(void **state)
{
	struct planted values[] = { { "sm__throughput" ELAPSED, 73.3 },
				    { "gpu__compute_memory_throughput" ELAPSED, 73.4 },
				    { "sm__instruction_throughput" ELAPSED, 42.1 },
				    { "sm__memory_throughput" ELAPSED, 73.3 },
				    { "l1tex__data_pipe_lsu_wavefronts" ELAPSED, 73.4 },
				    { NULL, 0 } };

	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "memory-bound");
	assert_non_null(strstr(find(&run, "High Memory Throughput")->text, "more (73.4 %) than arithmetic (42.1 %), L1 the most"));
	/* Beyond the multiprocessors there is little. */
	values[1].value = values[4].value = 20;
	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "memory-bound");
	assert_non_null(strstr(find(&run, "High Memory Throughput")->text,
			       "more (73.3 %) than arithmetic (42.1 %), the way of loads and stores out"));
	values[2].value = 73.3;
	values[3].value = 20;
	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "compute-bound");
	/* What is below 60 % waits, as before. */
	values[0].value = values[3].value = 32.3;
	values[2].value = 16.1;
	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "latency-bound");
	assert_non_null(strstr(find(&run, "Latency Issue")->text, "arithmetic (16.1 %) nor memory (32.3 %)"));
}

/* A counter that all threads add to: one slice of L2 is busy, and all others wait. */
static void one_slice(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "sm__throughput" ELAPSED, 0.5 }, { "gpu__compute_memory_throughput" ELAPSED, 1.5 },
				    { "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", 80 },
				    { "lts__d_atomic_input_cycles_active" ELAPSED, 1 }, { "launch__waves_per_multiprocessor", 15 },
				    { "smsp__issue_active.avg.per_cycle_active", 0.01 }, { "smsp__warps_active.avg.per_cycle_active", 15 },
				    { "smsp__warps_eligible.avg.per_cycle_active", 0.01 }, { "smsp__maximum_warps_avg_per_active_cycle", 16 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "memory-bound");
	gains(&run, "Atomic Hot Spot", RULE_GLOBAL, 79);
	assert_null(find(&run, "Latency Issue"));
	/* It leaves a fifth of the time to be gained by anything else. */
	gains(&run, "Issue Slot Utilization", RULE_LOCAL, 20);
	/* All slices alike are no hot spot. */
	values[1].value = values[3].value = 50;
	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "latency-bound");
	assert_null(find(&run, "Atomic Hot Spot"));
	values[2].value = 59;
	values[1].value = values[3].value = 1;
	apply(&run, from_list, values);
	assert_string_equal(run.verdict, "latency-bound");
}

/* Constants that are set by half precision's instructions keep the tensor pipeline busy for 2 % of the time; no matrix is multiplied. */
static void tensor_pipe_without_matrices(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 2.4 },
				    { "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", 60 }, { COUNT("ffma"), 90 }, { COUNT("fadd"), 1 },
				    { COUNT("fmul"), 1 }, { COUNT("hadd"), 0 }, { COUNT("hmul"), 0 }, { COUNT("hfma"), 4 },
				    { "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active" ELAPSED, 0 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	assert_non_null(find(&run, "Tensor Cores Unused"));
	values[8].value = 2;
	apply(&run, from_list, values);
	assert_null(find(&run, "Tensor Cores Unused"));
	/* Where they are not told apart, by the pipeline; by its newer name, too. */
	values[8].metric = "none";
	apply(&run, from_list, values);
	assert_null(find(&run, "Tensor Cores Unused"));
	values[0].metric = "sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active";
	values[0].value = 0.5;
	apply(&run, from_list, values);
	assert_non_null(find(&run, "Tensor Cores Unused"));
}

static void busiest_pipe(void **state)
{
	static const struct {
		double most;
		const char *title;
	} ways[] = { { 19, "Low Utilization" }, { 20, "Balanced" }, { 60, "High Utilization" }, { 80, "Very High Utilization" } };
	struct planted values[] = { { "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 0 },
				    { "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", 1 },
				    { NULL, 0 } };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		values[0].value = ways[i].most;
		apply(&run, from_list, values);
		assert_int_equal(run.count, 1);
		assert_string_equal(run.results[0].title, ways[i].title);
		assert_non_null(strstr(run.results[0].text, "XU"));
		assert_int_equal(strstr(run.results[0].text, "what limits the kernel") != NULL, ways[i].most >= 80);
	}
}

static void issue_slots(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "smsp__issue_active.avg.per_cycle_active", 0.25 }, { "smsp__warps_active.avg.per_cycle_active", 0.5 },
				    { "smsp__warps_eligible.avg.per_cycle_active", 0.3 }, { "smsp__maximum_warps_avg_per_active_cycle", 16 },
				    { "sm__throughput" ELAPSED, 70 }, { "gpu__compute_memory_throughput" ELAPSED, 20 }, { NULL, 0 } };
	/* clang-format on */

	apply(&run, from_list, values);
	assert_string_equal(
		find(&run, "Issue Slot Utilization")->text,
		"A scheduler issues an instruction only every 4.0 cycles. It has less than one warp (0.50) to choose from: there is not enough work.");
	/* The multiprocessors leave 30 %. */
	gains(&run, "Issue Slot Utilization", RULE_LOCAL, 30);
	values[1].value = 8;
	apply(&run, from_list, values);
	assert_non_null(
		strstr(find(&run, "Issue Slot Utilization")->text, "Of 16.0 warps it could hold there are 8.0, and 0.30 are ready"));
	values[1].value = 13;
	values[4].metric = "none";
	apply(&run, from_list, values);
	assert_non_null(strstr(find(&run, "Issue Slot Utilization")->text, "It holds 13.0 warps, of which 0.30 are ready"));
	gains(&run, "Issue Slot Utilization", RULE_LOCAL, 75);
	values[0].value = 0.6;
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
}

/* 8 of 32 bytes are used: three quarters of what the level does, where it does most. */
static void levels_of_accesses(void **state)
{
	/* clang-format off */
	struct planted values[] = { { "smsp__sass_average_data_bytes_per_sector_mem_local_op_st.ratio", 8 },
				    { "smsp__sass_average_data_bytes_per_sector_mem_local_op_st.max_rate", 32 }, { "l1tex__throughput" ELAPSED, 20 },
				    { "lts__throughput" ELAPSED, 30 }, { "gpu__dram_throughput" ELAPSED, 90 },
				    { "l1tex__t_sector_pipe_lsu_mem_local_op_st_hit_rate.pct", 10 }, { "lts__t_sector_op_write_hit_rate.pct", 50 }, { NULL, 0 } };
	/* clang-format on */

	/* 20, 0.9 of 30, 0.45 of 90. */
	apply(&run, from_list, values);
	assert_string_equal(find(&run, "Access Pattern")->text,
			    "Of each sector that is stored in local memory, threads use 8.0 of 32 bytes; "
			    "it costs most in DRAM. Threads of a warp should access memory side by side.");
	gains(&run, "Access Pattern", RULE_GLOBAL, 0.75 * 0.45 * 90);
	values[6].value = 90;
	apply(&run, from_list, values);
	assert_non_null(strstr(find(&run, "Access Pattern")->text, "most in L2."));
	gains(&run, "Access Pattern", RULE_GLOBAL, 0.75 * 27);
	values[5].metric = "none";
	apply(&run, from_list, values);
	assert_non_null(strstr(find(&run, "Access Pattern")->text, "most in L1."));
	gains(&run, "Access Pattern", RULE_GLOBAL, 15);
	/* Of instructions it is known that all of it, half of it or nothing could be spared. */
	values[6] = (struct planted){ "memory_l2_theoretical_sectors_global", 100 };
	values[0].metric = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
	values[1].metric = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.max_rate";
	values[5] = (struct planted){ "memory_l2_theoretical_sectors_global_ideal", 10 };
	apply(&run, from_list, values);
	gains(&run, "Access Pattern", RULE_GLOBAL, 0.75 * 20);
	values[5].value = 50;
	apply(&run, from_list, values);
	gains(&run, "Access Pattern", RULE_GLOBAL, 0.5 * 20);
	values[5].value = 100;
	apply(&run, from_list, values);
	assert_null(find(&run, "Access Pattern"));
	values[5].metric = values[6].metric = "none";
	/* All of a sector, and nothing at all. */
	values[0].value = 32;
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
	values[0].value = 0;
	apply(&run, from_list, values);
	assert_int_equal(run.count, 0);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vecadd),       cmocka_unit_test(matmul_naive), cmocka_unit_test(matmul_tiled), cmocka_unit_test(nothing_known),
		cmocka_unit_test(formulas_of_sections),
		cmocka_unit_test(small_launch), cmocka_unit_test(tail),         cmocka_unit_test(occupancy),    cmocka_unit_test(other_faults),
		cmocka_unit_test(uncoalesced), cmocka_unit_test(bank_conflicts),
		cmocka_unit_test(double_precision), cmocka_unit_test(fused), cmocka_unit_test(compression),
		cmocka_unit_test(reuse),        cmocka_unit_test(elsewhere),    cmocka_unit_test(links),        cmocka_unit_test(short_kernel),
		cmocka_unit_test(speed_of_light), cmocka_unit_test(busy_with_loads), cmocka_unit_test(one_slice), cmocka_unit_test(tensor_pipe_without_matrices), cmocka_unit_test(busiest_pipe), cmocka_unit_test(issue_slots), cmocka_unit_test(levels_of_accesses),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, load_written, release_written);
}
