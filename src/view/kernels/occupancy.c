/* Occupancy as the calculator has it for a launch: its limits, and the curves around it. */
#include <math.h>
#include <stdio.h>

#include "kernel/occupancy/occupancy.h"
#include "view/kernels/kernels.h"

#define MOST_STRETCHES 1024

static uint32_t to_occupancy_count(double value, uint32_t otherwise)
{
	return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
}

static const struct occupancy_chip *find_kernel_chip(const struct kernel_result *k)
{
	struct error ignored;
	char text[32];

	snprintf(text, sizeof(text), "%u.%u", k->major, k->minor);
	return k->major ? occupancy_find_chip(text, &ignored) : NULL;
}

/* False where something of the launch is not known. */
static bool describe_occupancy(const struct kernel_result *k, struct occupancy_kernel *ret)
{
	double shared = result_number(k, "launch__shared_mem_per_block_static") + result_number(k, "launch__shared_mem_per_block_dynamic");
	double registers = result_number(k, "launch__registers_per_thread"), threads = result_number(k, "launch__block_size");
	uint32_t barriers = to_occupancy_count(result_number(k, "launch__barrier_count"), 1);

	*ret = (struct occupancy_kernel){ .threads = to_occupancy_count(threads, 0),
					  .registers = to_occupancy_count(registers, 0),
					  .shared = to_occupancy_count(shared, 0),
					  .shared_config = to_occupancy_count(result_number(k, "launch__shared_mem_config_size"), 0),
					  .barriers = barriers ? barriers : 1 };
	return isfinite(shared) && isfinite(registers) && isfinite(threads);
}

static void put_stretches(struct json_out *j, const struct occupancy_stretch *all, size_t count)
{
	out_key(j, "stretches");
	out_open(j, '[');
	for (size_t i = 0; i < count; i++) {
		out_open(j, '[');
		out_integer(j, all[i].from);
		out_integer(j, all[i].to);
		out_integer(j, all[i].warps);
		out_real(j, all[i].percent);
		out_close(j, ']');
	}
	out_close(j, ']');
}

static void put_curve(struct json_out *j, const struct occupancy_chip *chip, const struct occupancy_kernel *kernel,
		      enum occupancy_curve curve)
{
	struct occupancy_stretch all[MOST_STRETCHES];
	/* The curve over shared memory is of what could be configured; of the others, as it is. */
	struct occupancy_kernel free_size = *kernel;
	size_t count;

	if (curve == OCCUPANCY_BY_SHARED)
		free_size.shared_config = 0;
	count = occupancy_curve(chip, &free_size, curve, all, MOST_STRETCHES);
	out_open(j, '{');
	out_put_text(j, "by", occupancy_curve_name(curve));
	out_put_integer(j, "at",
			curve == OCCUPANCY_BY_THREADS   ? kernel->threads :
			curve == OCCUPANCY_BY_REGISTERS ? kernel->registers :
							  kernel->shared);
	put_stretches(j, all, count < MOST_STRETCHES ? count : MOST_STRETCHES);
	out_close(j, '}');
}

static void put_limits(struct json_out *j, const struct occupancy *o)
{
	out_key(j, "limits");
	out_open(j, '[');
	for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++) {
		out_open(j, '{');
		out_put_text(j, "name", occupancy_limit_name((enum occupancy_limit)i));
		out_key(j, "blocks");
		if (o->limits[i] == OCCUPANCY_NO_LIMIT)
			out_null(j);
		else
			out_integer(j, o->limits[i]);
		out_put_bool(j, "limits", o->limiters >> i & 1);
		out_close(j, '}');
	}
	out_close(j, ']');
}

/* Where the baseline stands on the curves. */
static void put_baseline_occupancy(struct kernel_view *kv)
{
	static const char *const metrics[OCCUPANCY_CURVES] = { [OCCUPANCY_BY_THREADS] = "launch__block_size",
							       [OCCUPANCY_BY_REGISTERS] = "launch__registers_per_thread",
							       [OCCUPANCY_BY_SHARED] = "launch__shared_mem_per_block_static" };
	double at;

	out_key(kv->j, "before");
	if (!kv->options.baseline || !baseline_matches(&kv->baseline, kv->k)) {
		out_null(kv->j);
		return;
	}
	out_open(kv->j, '{');
	put_json_number(kv->j, "warps", baseline_number(&kv->baseline, kv->k, "sm__maximum_warps_avg_per_active_cycle"));
	out_key(kv->j, "at");
	out_open(kv->j, '[');
	for (unsigned i = 0; i < OCCUPANCY_CURVES; i++) {
		at = baseline_number(&kv->baseline, kv->k, metrics[i]);
		if (i == OCCUPANCY_BY_SHARED)
			at += baseline_number(&kv->baseline, kv->k, "launch__shared_mem_per_block_dynamic");
		out_real(kv->j, at);
	}
	out_close(kv->j, ']');
	out_close(kv->j, '}');
}

void put_occupancy(struct kernel_view *kv)
{
	const struct occupancy_chip *chip = find_kernel_chip(kv->k);
	struct json_out *j = kv->j;
	struct occupancy_kernel kernel;
	struct occupancy o;
	struct error ignored;

	out_key(j, "occupancy");
	if (!chip || !describe_occupancy(kv->k, &kernel) || occupancy_check(chip, &kernel, &ignored) < 0) {
		out_null(j);
		return;
	}
	occupancy_compute(chip, &kernel, &o);
	out_open(j, '{');
	out_put_integer(j, "warps", o.warps);
	out_put_integer(j, "most_warps", chip->warps);
	out_put_integer(j, "blocks", o.blocks);
	out_put_real(j, "percent", o.percent);
	put_limits(j, &o);
	put_baseline_occupancy(kv);
	out_key(j, "curves");
	out_open(j, '[');
	for (unsigned i = 0; i < OCCUPANCY_CURVES; i++)
		put_curve(j, chip, &kernel, (enum occupancy_curve)i);
	out_close(j, ']');
	out_close(j, '}');
}
