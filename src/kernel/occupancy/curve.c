/* What other block sizes, registers and shared memory would give. */
#include "kernel/occupancy/occupancy.h"

struct range {
	uint32_t from, to, step;
};

const char *occupancy_curve_name(enum occupancy_curve curve)
{
	static const char *const names[] = { "threads", "registers", "shared memory" };

	return names[curve];
}

/* Steps as fine as the result can change: a warp, eight registers of a thread, a unit of shared memory. */
static struct range find_curve_range(const struct occupancy_chip *chip, enum occupancy_curve curve)
{
	switch (curve) {
	case OCCUPANCY_BY_THREADS: return (struct range){ OCCUPANCY_WARP_SIZE, OCCUPANCY_MAX_THREADS, OCCUPANCY_WARP_SIZE };
	case OCCUPANCY_BY_REGISTERS: return (struct range){ 8, OCCUPANCY_MAX_REGISTERS, 8 };
	default: return (struct range){ 0, chip->shared - chip->reserved, chip->shared_unit };
	}
}

static uint32_t *resource(struct occupancy_kernel *kernel, enum occupancy_curve curve)
{
	switch (curve) {
	case OCCUPANCY_BY_THREADS: return &kernel->threads;
	case OCCUPANCY_BY_REGISTERS: return &kernel->registers;
	default: return &kernel->shared;
	}
}

size_t occupancy_curve(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, enum occupancy_curve curve,
		       struct occupancy_stretch *ret, size_t capacity)
{
	struct occupancy_stretch last = { 0 }, next;
	struct range range = find_curve_range(chip, curve);
	struct occupancy_kernel other = *kernel;
	struct occupancy result;
	uint32_t from = curve == OCCUPANCY_BY_SHARED ? 0 : 1, at, value;
	size_t count = 0;

	for (at = range.from; from <= range.to; at += range.step) {
		value = at < range.to ? at : range.to;
		*resource(&other, curve) = value;
		occupancy_compute(chip, &other, &result);
		next = (struct occupancy_stretch){ from, value, result.blocks, result.warps, result.percent };
		from = value + 1;
		if (count && last.blocks == next.blocks && last.warps == next.warps) {
			last.to = next.to;
		} else {
			last = next;
			count++;
		}
		if (count <= capacity)
			ret[count - 1] = last;
	}
	return count < capacity ? count : capacity;
}
