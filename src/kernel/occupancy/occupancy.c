#include "kernel/occupancy/occupancy.h"

#include <errno.h>
#include <stdbool.h>

/* Registers are given to warps, in units of this many; the file is split evenly between four schedulers. */
#define REGISTER_UNIT 256u
#define SCHEDULERS 4u

static uint32_t round_up(uint32_t value, uint32_t unit)
{
	return (value + unit - 1) / unit * unit;
}

const char *occupancy_limit_name(enum occupancy_limit limit)
{
	static const char *const names[] = { "blocks", "warps", "registers", "shared memory", "barriers" };

	return names[limit];
}

int occupancy_check(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, struct error *err)
{
	if (kernel->threads < 1 || kernel->threads > OCCUPANCY_MAX_THREADS)
		return error_set(err, EINVAL, "A block has 1 to %u threads, not %u", OCCUPANCY_MAX_THREADS, kernel->threads);
	if (kernel->registers > OCCUPANCY_MAX_REGISTERS)
		return error_set(err, EINVAL, "A thread has at most %u registers, not %u", OCCUPANCY_MAX_REGISTERS, kernel->registers);
	if (kernel->shared > chip->shared - chip->reserved)
		return error_set(err, EINVAL, "A block has at most %u bytes of shared memory on compute capability %u.%u, not %u",
				 chip->shared - chip->reserved, chip->major, chip->minor, kernel->shared);
	if (kernel->shared_config > chip->shared)
		return error_set(err, EINVAL, "An SM has at most %u bytes of shared memory on compute capability %u.%u, not %u",
				 chip->shared, chip->major, chip->minor, kernel->shared_config);
	if (kernel->barriers > 16)
		return error_set(err, EINVAL, "A block has at most 16 barriers, not %u", kernel->barriers);
	return 0;
}

static uint32_t shared_per_block(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel)
{
	return round_up(kernel->shared + chip->reserved, chip->shared_unit);
}

static uint32_t limit_by_registers(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, struct occupancy *ret)
{
	uint32_t per_warp = round_up(kernel->registers * OCCUPANCY_WARP_SIZE, REGISTER_UNIT);

	ret->registers_per_block = round_up(ret->warps_per_block, SCHEDULERS) * per_warp;
	if (!per_warp)
		return OCCUPANCY_NO_LIMIT;
	if (ret->registers_per_block > chip->registers)
		return 0;
	return chip->registers / SCHEDULERS / per_warp * SCHEDULERS / ret->warps_per_block;
}

static uint32_t limit_by_shared(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, struct occupancy *ret)
{
	ret->shared_per_block = shared_per_block(chip, kernel);
	ret->shared_config = kernel->shared_config ? kernel->shared_config : chip->shared;
	return ret->shared_per_block ? ret->shared_config / ret->shared_per_block : OCCUPANCY_NO_LIMIT;
}

void occupancy_compute(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, struct occupancy *ret)
{
	uint32_t *limits = ret->limits;

	*ret = (struct occupancy){ .warps_per_block = (kernel->threads + OCCUPANCY_WARP_SIZE - 1) / OCCUPANCY_WARP_SIZE };
	limits[OCCUPANCY_BLOCKS] = chip->blocks;
	limits[OCCUPANCY_WARPS] = chip->warps / ret->warps_per_block;
	limits[OCCUPANCY_REGISTERS] = limit_by_registers(chip, kernel, ret);
	limits[OCCUPANCY_SHARED] = limit_by_shared(chip, kernel, ret);
	limits[OCCUPANCY_BARRIERS] = chip->barriers && kernel->barriers ? chip->barriers / kernel->barriers : OCCUPANCY_NO_LIMIT;
	ret->blocks = OCCUPANCY_NO_LIMIT;
	for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++)
		if (limits[i] < ret->blocks)
			ret->blocks = limits[i];
	for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++)
		if (limits[i] == ret->blocks)
			ret->limiters |= 1u << i;
	ret->warps = ret->blocks * ret->warps_per_block;
	ret->percent = 100.0 * ret->warps / chip->warps;
}

uint32_t occupancy_limit_shown(const struct occupancy *occupancy, enum occupancy_limit limit)
{
	uint32_t value = occupancy->limits[limit], blocks = occupancy->limits[OCCUPANCY_BLOCKS];

	return value == OCCUPANCY_NO_LIMIT || (limit == OCCUPANCY_BARRIERS && value > blocks) ? blocks : value;
}

uint32_t occupancy_shared_step(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, uint32_t wanted)
{
	uint32_t least = shared_per_block(chip, kernel);

	if (wanted < least)
		wanted = least;
	for (unsigned i = 0; i < chip->step_count; i++)
		if (chip->steps[i] * 1024u >= wanted)
			return chip->steps[i] * 1024u;
	return chip->shared;
}

uint32_t occupancy_shared_config(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, uint32_t blocks)
{
	bool small = chip->major == 8 && chip->minor != 0;
	uint32_t reserving = small ? blocks : 4 * blocks;

	if (reserving > chip->blocks)
		reserving = chip->blocks;
	return occupancy_shared_step(chip, kernel, reserving * chip->reserved + blocks * round_up(kernel->shared, chip->shared_unit));
}

uint32_t occupancy_clusters(const struct occupancy *occupancy, uint32_t size, uint32_t sms)
{
	return size ? occupancy->blocks * sms / size : 0;
}
