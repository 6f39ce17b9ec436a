#include "kernel/derived.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/formula.h"
#include "kernel/occupancy.h"

/* Registers are given out to threads in multiples of this. */
#define REGISTER_UNIT 8u
#define SCHEDULERS 4u /* of an SM, on every chip since 7.0 */

static const struct {
	const char *name, *unit, *formula;
} formulas[] = {
	{ "derived__smsp__inst_executed_op_branch_pct", "%", "smsp__inst_executed_op_branch.sum / smsp__inst_executed.sum" },
	{ "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second", "byte/s", "l1tex__lsu_writeback_active_mem_lgds.sum.per_second * 128" },
	{ "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.peak_sustained", "byte/cycle",
	  "l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained * 128" },
	{ "derived__lts__lts2xbar_bytes.sum.per_second", "byte/s", "lts__lts2xbar_cycles_active.sum.per_second * 32" },
	{ "derived__lts__lts2xbar_bytes.sum.peak_sustained", "byte/cycle", "lts__lts2xbar_cycles_active.sum.peak_sustained * 32" },
	{ "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2", "thread", "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained * 2" },
	{ "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained * 2" },
	{ "derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4", "thread", "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained * 4" },
	{ "derived__smsp__sass_thread_inst_executed_op_dfma_pred_on_x2", "thread",
	  "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed * 2" },
	{ "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread",
	  "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed * 2" },
	{ "derived__smsp__sass_thread_inst_executed_op_hadd_pred_on_x2", "thread",
	  "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum.per_cycle_elapsed * 2" },
	{ "derived__smsp__sass_thread_inst_executed_op_hfma_pred_on_x4", "thread",
	  "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed * 4" },
	{ "derived__smsp__sass_thread_inst_executed_op_hmul_pred_on_x2", "thread",
	  "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum.per_cycle_elapsed * 2" },
	{ "derived__local_spilling_requests", "", "sass__inst_executed_register_spilling" },
	{ "derived__local_spilling_requests_pct", "%",
	  "sass__inst_executed_register_spilling * 0 + nan_as_zero(100 * sass__inst_executed_register_spilling / "
	  "(sass__inst_executed_local_loads + sass__inst_executed_local_stores))" },
	{ "derived__memory_l1_wavefronts_shared_excessive", "", "memory_l1_wavefronts_shared - memory_l1_wavefronts_shared_ideal" },
	{ "derived__memory_l2_theoretical_sectors_global_excessive", "sector",
	  "memory_l2_theoretical_sectors_global - memory_l2_theoretical_sectors_global_ideal" },
};

/* A kernel, and what is known of its launch. */
struct launch {
	struct kernel_result *k;
	size_t known;       /* of its values: those that are sorted */
	int failed;
	double blocks;      /* of the grid */
	double threads;     /* of a block */
	double sm_count;
};

static bool is_known(const struct launch *l, const char *name)
{
	struct kernel_result only = { .values = l->k->values, .value_count = l->known };

	return result_find(&only, name) != NULL;
}

static double number(const struct launch *l, const char *name)
{
	struct kernel_result only = { .values = l->k->values, .value_count = l->known };

	return result_number(&only, name);
}

/* What is there stays. */
static void put(struct launch *l, const char *name, const char *unit, double value)
{
	struct metric_value v = { .name = name, .unit = unit, .kind = VALUE_REAL, .real = value };

	if (!isfinite(value) || is_known(l, name) || l->failed)
		return;
	if (value == rint(value) && fabs(value) < 9e15) {
		v.kind = VALUE_INTEGER;
		v.integer = (int64_t)value;
	}
	l->failed = result_add(l->k, v);
}

static double product(const uint32_t size[3])
{
	return size[0] && size[1] && size[2] ? (double)size[0] * size[1] * size[2] : NAN;
}

static void derive_launch(struct launch *l)
{
	double cluster = number(l, "launch__cluster_dim_x") * number(l, "launch__cluster_dim_y") * number(l, "launch__cluster_dim_z");

	put(l, "launch__grid_size", "", l->blocks);
	put(l, "launch__block_size", "", l->threads);
	put(l, "launch__thread_count", "thread", l->blocks * l->threads);
	put(l, "launch__cluster_size", "", cluster);
	put(l, "launch__sm_count", "SM", l->sm_count);
	if (l->k->device >= 0)
		put(l, "launch__device_id", "", (double)l->k->device);
	if (l->k->context >= 0)
		put(l, "launch__context_id", "", (double)l->k->context);
	if (l->k->stream >= 0)
		put(l, "launch__stream_id", "", (double)l->k->stream);
}

/* The driver tells what the compiler asked for; ncu, and the hardware, count what is given out. */
static void round_registers(struct kernel_results *results, struct kernel_result *k)
{
	struct metric_value *v = (struct metric_value *)result_find(k, "launch__registers_per_thread");

	if (!results->is_imported && v && v->kind == VALUE_INTEGER && v->integer > 0)
		v->integer = (v->integer + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
}

static const struct occupancy_chip *chip_of(const struct kernel_result *k)
{
	size_t count;
	const struct occupancy_chip *chips = occupancy_chips(&count);

	for (size_t i = 0; i < count; i++)
		if (chips[i].major == k->major && chips[i].minor == k->minor)
			return &chips[i];
	return NULL;
}

static uint32_t whole(double value, uint32_t otherwise)
{
	return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
}

static void put_limits(struct launch *l, const struct occupancy *o, bool is_configured)
{
	static const struct {
		enum occupancy_limit limit;
		const char *name;
	} limits[] = {
		{ OCCUPANCY_BLOCKS, "launch__occupancy_limit_blocks" },
		{ OCCUPANCY_WARPS, "launch__occupancy_limit_warps" },
		{ OCCUPANCY_REGISTERS, "launch__occupancy_limit_registers" },
		{ OCCUPANCY_SHARED, "launch__occupancy_limit_shared_mem" },
		{ OCCUPANCY_BARRIERS, "launch__occupancy_limit_barriers" },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		/* The driver chooses how much shared memory the SM has: without that size the limit is not known. */
		if (limits[i].limit == OCCUPANCY_SHARED && !is_configured)
			continue;
		if (limits[i].limit == OCCUPANCY_BARRIERS && o->limits[OCCUPANCY_BARRIERS] == OCCUPANCY_NO_LIMIT)
			continue;
		put(l, limits[i].name, "block", occupancy_limit_shown(o, limits[i].limit));
	}
}

static void put_occupancy(struct launch *l, const struct occupancy_chip *chip, uint32_t blocks, uint32_t warps_per_block)
{
	double warps = (double)blocks * warps_per_block;

	put(l, "sm__maximum_warps_avg_per_active_cycle", "warp", warps);
	put(l, "sm__maximum_warps_per_active_cycle_pct", "%", 100 * warps / chip->warps);
	put(l, "smsp__maximum_warps_avg_per_active_cycle", "warp", warps / SCHEDULERS);
	if (blocks)
		put(l, "launch__waves_per_multiprocessor", "", l->blocks / (l->sm_count * blocks));
}

static void derive_occupancy(struct launch *l)
{
	const struct occupancy_chip *chip = chip_of(l->k);
	double shared = number(l, "launch__shared_mem_per_block_static") + number(l, "launch__shared_mem_per_block_dynamic");
	double registers = number(l, "launch__registers_per_thread"), config = number(l, "launch__shared_mem_config_size");
	double told = number(l, "launch__occupancy_limit_driver");
	struct occupancy_kernel kernel;
	struct occupancy o;
	struct error ignored;

	if (!chip || !isfinite(shared) || !isfinite(registers) || !isfinite(l->threads))
		return;
	kernel = (struct occupancy_kernel){ .threads = whole(l->threads, 0), .registers = whole(registers, 0), .shared = whole(shared, 0),
					    .shared_config = whole(config, 0), .barriers = whole(number(l, "launch__barrier_count"), 1) };
	kernel.barriers = kernel.barriers ? kernel.barriers : 1;
	if (occupancy_check(chip, &kernel, &ignored) < 0)
		return;
	occupancy_compute(chip, &kernel, &o);
	put(l, "launch__registers_per_thread_allocated", "register/thread", registers);
	put(l, "launch__shared_mem_per_block_driver", "byte/block", chip->reserved);
	put(l, "launch__shared_mem_per_block", "byte/block", kernel.shared + chip->reserved);
	put(l, "launch__shared_mem_per_block_allocated", "byte/block", o.shared_per_block);
	put_limits(l, &o, config > 0);
	put_occupancy(l, chip, whole(told, o.blocks), o.warps_per_block);
}

static double by_name(void *context, const char *name)
{
	return number(context, name);
}

static void derive_formulas(struct launch *l)
{
	struct formula f;
	char why[128];

	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
		if (formula_parse(&f, formulas[i].formula, strlen(formulas[i].formula), why, sizeof(why)) < 0)
			continue;
		put(l, formulas[i].name, formulas[i].unit, formula_value(&f, by_name, l));
		formula_release(&f);
	}
}

static double sm_count_of(const struct kernel_result *k)
{
	double count = result_number(k, "launch__sm_count");

	if (!isfinite(count))
		count = result_number(k, "device__attribute_multiprocessor_count");
	return isfinite(count) ? count : k->facts && k->facts->sm_count > 0 ? (double)k->facts->sm_count : NAN;
}

int derive_values(struct kernel_results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		struct kernel_result *k = &results->items[i];
		struct launch l = { .k = k, .known = k->value_count, .blocks = product(k->grid), .threads = product(k->block),
				    .sm_count = sm_count_of(k) };

		if (!k->value_count)
			continue; /* rows that another tool printed: nothing is to be computed */
		round_registers(results, k);
		derive_launch(&l);
		derive_occupancy(&l);
		derive_formulas(&l);
		if (l.failed)
			return -ENOMEM;
		result_sort(k);
	}
	return 0;
}
