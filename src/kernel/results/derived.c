#include "kernel/results/derived.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "kernel/metrics/formula.h"
#include "kernel/occupancy/occupancy.h"

/* Registers are given out to threads in multiples of the first, and never fewer than the second. */
#define REGISTER_UNIT 8u
#define REGISTERS_LEAST 16
#define SCHEDULERS 4u /* of an SM, on every chip since 7.0 */
#define SMS_OF_TPC 2
#define SHARED_STEP 512u
#define SHARED_UNASKED (48u << 10)

static const struct {
	const char *name, *unit, *formula;
} formulas[] = {
	{ "derived__smsp__inst_executed_op_branch_pct", "%", "smsp__inst_executed_op_branch.sum / smsp__inst_executed.sum" },
	{ "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second", "byte/s",
	  "l1tex__lsu_writeback_active_mem_lgds.sum.per_second * 128" },
	{ "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.peak_sustained", "byte/cycle",
	  "l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained * 128" },
	{ "derived__lts__lts2xbar_bytes.sum.per_second", "byte/s", "lts__lts2xbar_cycles_active.sum.per_second * 32" },
	{ "derived__lts__lts2xbar_bytes.sum.peak_sustained", "byte/cycle", "lts__lts2xbar_cycles_active.sum.peak_sustained * 32" },
	{ "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2", "thread",
	  "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained * 2" },
	{ "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread",
	  "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained * 2" },
	{ "derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4", "thread",
	  "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained * 4" },
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
	size_t known; /* of its values: those that are sorted */
	int failed;
	double blocks;  /* of the grid */
	double threads; /* of a block */
	double sm_count;
};

static bool has_launch_metric(const struct launch *l, const char *name)
{
	struct kernel_result only = { .values = l->k->values, .value_count = l->known };

	return result_find(&only, name) != NULL;
}

static double read_launch_number(const struct launch *l, const char *name)
{
	struct kernel_result only = { .values = l->k->values, .value_count = l->known };

	return result_number(&only, name);
}

/* What is there stays. */
static void add_launch_number(struct launch *l, const char *name, const char *unit, double value)
{
	struct metric_value v = { .name = name, .unit = unit, .kind = VALUE_REAL, .real = value };

	if (!isfinite(value) || has_launch_metric(l, name) || l->failed)
		return;
	if (value == rint(value) && fabs(value) < 9e15) {
		v.kind = VALUE_INTEGER;
		v.integer = (int64_t)value;
	}
	l->failed = result_add(l->k, v);
}

static void add_launch_text(struct launch *l, const char *name, const char *text)
{
	if (!has_launch_metric(l, name) && !l->failed)
		l->failed = result_add(l->k, (struct metric_value){ .name = name, .unit = "", .kind = VALUE_TEXT, .text = text });
}

static double multiply_sizes(const uint32_t size[3])
{
	return size[0] && size[1] && size[2] ? (double)size[0] * size[1] * size[2] : NAN;
}

static double find_launch_number(void *context, const char *name)
{
	return read_launch_number(context, name);
}

static void put_formula(struct launch *l, const char *name, const char *unit, const char *formula, bool rounded)
{
	struct formula f;
	char why[128];
	double value;

	if (formula_parse(&f, formula, strlen(formula), why, sizeof(why)) < 0)
		return;
	value = formula_value(&f, find_launch_number, l);
	add_launch_number(l, name, unit, rounded ? rint(value) : value);
	formula_release(&f);
}

static void derive_launch(struct launch *l)
{
	double cluster = read_launch_number(l, "launch__cluster_dim_x") * read_launch_number(l, "launch__cluster_dim_y") *
			 read_launch_number(l, "launch__cluster_dim_z");
	double all_sms = read_launch_number(l, "device__attribute_multiprocessor_count");

	add_launch_number(l, "launch__grid_size", "", l->blocks);
	add_launch_number(l, "launch__block_size", "", l->threads);
	add_launch_number(l, "launch__thread_count", "thread", l->blocks * l->threads);
	add_launch_number(l, "launch__cluster_size", "", cluster);
	add_launch_number(l, "launch__sm_count", "SM", l->sm_count);
	add_launch_number(l, "launch__tpc_count", "", ceil(l->sm_count / SMS_OF_TPC));
	if (l->sm_count == all_sms)
		add_launch_text(l, "launch__tpc_enabled", "all");
	add_launch_number(l, "launch__uses_green_context", "", isfinite(all_sms) && isfinite(l->sm_count) ? l->sm_count < all_sms : NAN);
	add_launch_number(l, "launch__uses_mps", "", read_launch_number(l, "device__attribute_mps_enabled"));
	if (cluster == 0) {
		add_launch_number(l, "launch__occupancy_cluster_pct", "%", 0);
		add_launch_number(l, "launch__occupancy_cluster_gpu_pct", "%", 0);
		add_launch_number(l, "launch__occupancy_per_cluster_size", "", 0);
	}
	if (l->k->device >= 0)
		add_launch_number(l, "launch__device_id", "", (double)l->k->device);
	if (l->k->context >= 0)
		add_launch_number(l, "launch__context_id", "", (double)l->k->context);
	if (l->k->stream >= 0)
		add_launch_number(l, "launch__stream_id", "", (double)l->k->stream);
}

/* What follows from the driver's attributes. */
static void derive_device(struct launch *l)
{
	static const struct {
		const char *name, *formula;
	} facts[] = {
		{ "device__attribute_fb_bus_width", "device__attribute_global_memory_bus_width" },
		{ "device__attribute_limits_max_cta_per_sm", "device__attribute_max_blocks_per_multiprocessor" },
		{ "device__attribute_limits_num_tpcs", "device__attribute_multiprocessor_count / 2" },
		{ "device__attribute_max_gpu_frequency_khz", "device__attribute_clock_rate" },
		{ "device__attribute_max_mem_frequency_khz", "device__attribute_memory_clock_rate" },
		{ "device__attribute_max_warps_per_multiprocessor", "device__attribute_max_threads_per_multiprocessor / 32" },
		{ "device__attribute_max_warps_per_scheduler", "device__attribute_max_threads_per_multiprocessor / 128" },
		{ "device__attribute_max_registers_per_thread", "0 * device__attribute_warp_size + 255" },
		{ "device__attribute_num_schedulers_per_multiprocessor", "0 * device__attribute_warp_size + 4" },
		{ "device__attribute_num_tex_per_multiprocessor", "0 * device__attribute_warp_size + 1" },
		{ "device__attribute_max_ipc_per_scheduler", "0 * device__attribute_warp_size + 1" },
		{ "device__attribute_max_ipc_per_multiprocessor", "0 * device__attribute_warp_size + 4" },
		{ "device__attribute_sass_level", "device__attribute_compute_capability_major" },
	};

	for (size_t i = 0; i < COUNT_OF(facts); i++)
		put_formula(l, facts[i].name, "", facts[i].formula, true);
	if (!isfinite(read_launch_number(l, "device__attribute_warp_size")))
		return;
	add_launch_number(l, "device__attribute_device_index", "", (double)l->k->device);
	if (l->k->facts && l->k->facts->memory)
		add_launch_number(l, "device__attribute_total_memory", "", (double)l->k->facts->memory);
	if (l->k->facts && *l->k->facts->name) {
		add_launch_text(l, "device__attribute_display_name", l->k->facts->name);
		add_launch_text(l, "numa__dev_display_name_all", l->k->facts->name);
	}
}

/* The driver tells what the compiler asked for. ncu tells that, too, but for the least that is given out: 8, 10 and 12 are 16, 31 is 31. */
static void raise_registers(struct kernel_results *results, struct kernel_result *k)
{
	struct metric_value *v = (struct metric_value *)result_find(k, "launch__registers_per_thread");

	if (!results->is_imported && v && v->kind == VALUE_INTEGER && v->integer > 0 && v->integer < REGISTERS_LEAST)
		v->integer = REGISTERS_LEAST;
}

static const struct occupancy_chip *find_result_chip(const struct kernel_result *k)
{
	size_t count;
	const struct occupancy_chip *chips = occupancy_chips(&count);

	for (size_t i = 0; i < count; i++)
		if (chips[i].major == k->major && chips[i].minor == k->minor)
			return &chips[i];
	return NULL;
}

static uint32_t to_launch_count(double value, uint32_t otherwise)
{
	return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
}

static void put_limits(struct launch *l, const struct occupancy *o, bool is_configured)
{
	static const struct {
		enum occupancy_limit limit;
		const char *name;
	} limits[] = {
		{ OCCUPANCY_BLOCKS, "launch__occupancy_limit_blocks" },       { OCCUPANCY_WARPS, "launch__occupancy_limit_warps" },
		{ OCCUPANCY_REGISTERS, "launch__occupancy_limit_registers" }, { OCCUPANCY_SHARED, "launch__occupancy_limit_shared_mem" },
		{ OCCUPANCY_BARRIERS, "launch__occupancy_limit_barriers" },
	};

	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		/* The driver chooses how much shared memory the SM has: without that size the limit is not known. */
		if (limits[i].limit == OCCUPANCY_SHARED && !is_configured)
			continue;
		if (limits[i].limit == OCCUPANCY_BARRIERS && o->limits[OCCUPANCY_BARRIERS] == OCCUPANCY_NO_LIMIT)
			continue;
		add_launch_number(l, limits[i].name, "block", occupancy_limit_shown(o, limits[i].limit));
	}
}

/* Clusters are placed as a whole: of what would fit block by block, and of all warps of the GPU. */
static void put_clusters(struct launch *l, const struct occupancy_chip *chip, double blocks, double warps_per_block)
{
	double size = read_launch_number(l, "launch__cluster_dim_x") * read_launch_number(l, "launch__cluster_dim_y") *
		      read_launch_number(l, "launch__cluster_dim_z");
	double active = read_launch_number(l, "launch__cluster_max_active") * size;

	if (!(size > 0))
		return;
	add_launch_number(l, "launch__occupancy_cluster_pct", "%", 100 * active / (l->sm_count * blocks));
	add_launch_number(l, "launch__occupancy_cluster_gpu_pct", "%", 100 * active * warps_per_block / (l->sm_count * chip->warps));
}

static void put_occupancy(struct launch *l, const struct occupancy_chip *chip, uint32_t blocks, uint32_t warps_per_block)
{
	double warps = (double)blocks * warps_per_block;

	add_launch_number(l, "sm__maximum_warps_avg_per_active_cycle", "warp", warps);
	add_launch_number(l, "sm__maximum_warps_per_active_cycle_pct", "%", 100 * warps / chip->warps);
	add_launch_number(l, "smsp__maximum_warps_avg_per_active_cycle", "warp", warps / SCHEDULERS);
	if (blocks)
		add_launch_number(l, "launch__waves_per_multiprocessor", "", l->blocks / (l->sm_count * blocks));
	put_clusters(l, chip, blocks, warps_per_block);
}

/* The program may have said how much of the first-level memory it wants; else the driver decides. */
static uint32_t get_configured_size(const struct launch *l, const struct occupancy_chip *chip, const struct occupancy_kernel *kernel,
				    uint32_t blocks)
{
	double percent = read_launch_number(l, "launch__shared_mem_carveout");

	if (percent >= 0 && percent <= 100)
		return occupancy_shared_step(chip, kernel, (uint32_t)(chip->shared * percent / 100));
	return occupancy_shared_config(chip, kernel, blocks);
}

struct curve {
	const char *warps, *percent; /* names */
	const char *unit;            /* of the second */
	uint32_t step, last;
	uint32_t *what; /* of the kernel */
};

/* As ncu, one number for a whole curve: the sum of its points. */
static void put_curve(struct launch *l, const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, const struct curve *curve)
{
	double warps = 0, percent = 0;
	struct occupancy o;

	for (uint32_t at = 0; at <= curve->last; at += curve->step) {
		*curve->what = at;
		if (!kernel->threads)
			*curve->what = 1;
		occupancy_compute(chip, kernel, &o);
		warps += o.warps;
		percent += floor(o.percent);
	}
	add_launch_number(l, curve->warps, "", warps);
	add_launch_number(l, curve->percent, curve->unit, percent);
}

/* By all shared memory of a block, what is reserved being part of it. More is configured where a block needs it. A kernel without any has a
 * curve up to what a block gets unasked. */
static void put_shared_curve(struct launch *l, const struct occupancy_chip *chip, const struct occupancy_kernel *of)
{
	uint32_t last = of->shared ? chip->shared - chip->reserved : SHARED_UNASKED;
	struct occupancy_kernel kernel = *of;
	double warps = 0, percent = 0;
	struct occupancy o;

	if (!chip->reserved)
		return;
	for (uint32_t at = 0; at <= last; at += SHARED_STEP) {
		kernel.shared = at > chip->reserved ? at - chip->reserved : 0;
		kernel.shared_config = occupancy_shared_step(chip, &kernel, of->shared_config);
		occupancy_compute(chip, &kernel, &o);
		warps += o.warps;
		percent += floor(o.percent);
	}
	add_launch_number(l, "launch__occupancy_per_shared_mem_size", "", warps);
	add_launch_number(l, "derived__pct_occupancy_per_shared_mem_size", "%/byte", percent);
}

static void put_curves(struct launch *l, const struct occupancy_chip *chip, const struct occupancy_kernel *of)
{
	struct occupancy_kernel kernel = *of;
	struct curve registers = {
		"launch__occupancy_per_register_count", "derived__pct_occupancy_per_register_count", "%/register", 1, 256, &kernel.registers
	};
	struct curve threads = {
		"launch__occupancy_per_block_size", "derived__pct_occupancy_per_block_size", "%", 16, 1024, &kernel.threads
	};
	struct curve barriers = {
		"launch__occupancy_per_barrier_count", "derived__pct_occupancy_per_barrier_count", "", 1, chip->barriers, &kernel.barriers
	};

	put_curve(l, chip, &kernel, &registers);
	kernel = *of;
	put_curve(l, chip, &kernel, &threads);
	kernel = *of;
	if (chip->barriers)
		put_curve(l, chip, &kernel, &barriers);
	put_shared_curve(l, chip, of);
}

static void derive_occupancy(struct launch *l)
{
	const struct occupancy_chip *chip = find_result_chip(l->k);
	double shared = read_launch_number(l, "launch__shared_mem_per_block_static") +
			read_launch_number(l, "launch__shared_mem_per_block_dynamic");
	double registers = read_launch_number(l, "launch__registers_per_thread"),
	       config = read_launch_number(l, "launch__shared_mem_config_size");
	double reported = read_launch_number(l, "launch__occupancy_limit_driver");
	struct occupancy_kernel kernel;
	struct occupancy o;
	struct error ignored;

	if (!chip || !isfinite(shared) || !isfinite(registers) || !isfinite(l->threads))
		return;
	kernel = (struct occupancy_kernel){ .threads = to_launch_count(l->threads, 0),
					    .registers = to_launch_count(registers, 0),
					    .shared = to_launch_count(shared, 0),
					    .shared_config = to_launch_count(config, 0),
					    .barriers = to_launch_count(read_launch_number(l, "launch__barrier_count"), 1) };
	kernel.barriers = kernel.barriers ? kernel.barriers : 1;
	if (occupancy_check(chip, &kernel, &ignored) < 0)
		return;
	occupancy_compute(chip, &kernel, &o);
	if (!(config > 0) && o.blocks) {
		kernel.shared_config = get_configured_size(l, chip, &kernel, to_launch_count(reported, o.blocks));
		add_launch_number(l, "launch__shared_mem_config_size", "byte", kernel.shared_config);
		occupancy_compute(chip, &kernel, &o);
	}
	add_launch_number(l, "launch__registers_per_thread_allocated", "register/thread", ceil(registers / REGISTER_UNIT) * REGISTER_UNIT);
	add_launch_number(l, "launch__shared_mem_per_block_driver", "byte/block", chip->reserved);
	add_launch_number(l, "launch__shared_mem_per_block", "byte/block", kernel.shared + chip->reserved);
	add_launch_number(l, "launch__shared_mem_per_block_allocated", "byte/block", o.shared_per_block);
	put_limits(l, &o, kernel.shared_config > 0);
	put_occupancy(l, chip, to_launch_count(reported, o.blocks), o.warps_per_block);
	put_curves(l, chip, &kernel);
}

static void derive_formulas(struct launch *l)
{
	for (size_t i = 0; i < COUNT_OF(formulas); i++)
		put_formula(l, formulas[i].name, formulas[i].unit, formulas[i].formula, false);
}

static double sm_count_of(const struct kernel_result *k)
{
	double count = result_number(k, "launch__sm_count");

	if (!isfinite(count))
		count = result_number(k, "device__attribute_multiprocessor_count");
	return isfinite(count) ? count : k->facts && k->facts->sm_count > 0 ? (double)k->facts->sm_count : NAN;
}

/* A range, or a graph, has no blocks of its own. */
static double product_of(const struct kernel_result *k, const uint32_t *sizes)
{
	return isfinite(result_number(k, "range__launches")) ? NAN : multiply_sizes(sizes);
}

int derive_values(struct kernel_results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		struct kernel_result *k = &results->items[i];
		struct launch l = { .k = k,
				    .known = k->value_count,
				    .blocks = product_of(k, k->grid),
				    .threads = product_of(k, k->block),
				    .sm_count = sm_count_of(k) };

		if (!k->value_count)
			continue; /* rows that another tool printed: nothing is to be computed */
		raise_registers(results, k);
		derive_launch(&l);
		derive_device(&l);
		derive_occupancy(&l);
		derive_formulas(&l);
		if (l.failed)
			return -ENOMEM;
		result_sort(k);
	}
	return 0;
}
