/* The occupancy calculator against values that NVIDIA's own calculator gives, and what must hold of any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/occupancy/occupancy.h"

#define NONE OCCUPANCY_NO_LIMIT
#define ANY (UINT32_MAX - 1)

struct expected {
	const char *capability;
	uint32_t active, warps, registers, shared, blocks;
};

struct reference {
	uint32_t threads, registers, shared;
	struct expected expected[7];
};

/* Active blocks and the limits by warps, registers, shared memory and blocks; with the SM's whole shared memory. */
/* clang-format off */
static const struct reference references[] = {
	{ 256, 32, 0, { { "7.0", 8, 8, 8, NONE, 32 }, { "8.0", 8, 8, 8, 164, 32 }, { "8.6", 6, 6, 8, 100, 16 },
			{ "8.9", 6, 6, 8, 100, 24 }, { "9.0", 8, 8, 8, 228, 32 }, { "10.0", 8, 8, 8, 228, 32 },
			{ "12.0", 6, 6, 8, 100, 24 } } },
	{ 256, 64, 0, { { "7.0", 4, 8, 4, ANY, ANY }, { "8.0", 4, 8, 4, ANY, ANY }, { "8.6", 4, 6, 4, ANY, ANY },
			{ "8.9", 4, 6, 4, ANY, ANY }, { "9.0", 4, 8, 4, ANY, ANY }, { "10.0", 4, 8, 4, ANY, ANY },
			{ "12.0", 4, 6, 4, ANY, ANY } } },
	{ 256, 168, 0, { { "7.0", 1, 8, 1, ANY, ANY }, { "8.0", 1, ANY, ANY, ANY, ANY }, { "8.6", 1, ANY, ANY, ANY, ANY },
			 { "8.9", 1, ANY, ANY, ANY, ANY }, { "9.0", 1, ANY, ANY, ANY, ANY }, { "10.0", 1, ANY, ANY, ANY, ANY },
			 { "12.0", 1, ANY, ANY, ANY, ANY } } },
	{ 128, 32, 24576, { { "7.0", 4, 16, 16, 4, ANY }, { "8.0", 6, 16, 16, 6, ANY }, { "8.6", 4, 12, 16, 4, ANY },
			    { "8.9", 4, 12, 16, 4, ANY }, { "9.0", 9, 16, 16, 9, ANY }, { "10.0", 9, 16, 16, 9, ANY },
			    { "12.0", 4, 12, 16, 4, ANY } } },
	{ 1024, 64, 0, { { "7.0", 1, 2, 1, ANY, ANY }, { "8.0", 1, 2, 1, ANY, ANY }, { "8.6", 1, 1, 1, ANY, ANY },
			 { "8.9", 1, 1, 1, ANY, ANY }, { "9.0", 1, 2, 1, ANY, ANY }, { "10.0", 1, 2, 1, ANY, ANY },
			 { "12.0", 1, 1, 1, ANY, ANY } } },
	{ 1024, 65, 0, { { "7.0", 0, ANY, ANY, ANY, ANY }, { "8.0", 0, ANY, ANY, ANY, ANY }, { "8.6", 0, ANY, ANY, ANY, ANY },
			 { "8.9", 0, ANY, ANY, ANY, ANY }, { "9.0", 0, ANY, ANY, ANY, ANY }, { "10.0", 0, ANY, ANY, ANY, ANY },
			 { "12.0", 0, ANY, ANY, ANY, ANY } } },
	{ 96, 40, 0, { { "7.0", 16, 21, 16, ANY, ANY }, { "8.0", 16, 21, 16, ANY, ANY }, { "8.6", 16, 16, 16, ANY, ANY },
		       { "8.9", 16, 16, 16, ANY, ANY }, { "9.0", 16, 21, 16, ANY, ANY }, { "10.0", 16, 21, 16, ANY, ANY },
		       { "12.0", 16, 16, 16, ANY, ANY } } },
	{ 32, 16, 0, { { "7.0", 32, 64, 128, ANY, ANY }, { "8.0", 32, 64, 128, ANY, ANY }, { "8.6", 16, 48, 128, ANY, ANY },
		       { "8.9", 24, 48, 128, ANY, ANY }, { "9.0", 32, 64, 128, ANY, ANY }, { "10.0", 32, 64, 128, ANY, ANY },
		       { "12.0", 24, 48, 128, ANY, ANY } } },
};
/* clang-format on */

static void compute(const char *capability, uint32_t threads, uint32_t registers, uint32_t shared, struct occupancy *ret)
{
	struct occupancy_kernel kernel = { .threads = threads, .registers = registers, .shared = shared, .barriers = 1 };
	const struct occupancy_chip *chip = occupancy_find_chip(capability, NULL);

	assert_non_null(chip);
	occupancy_compute(chip, &kernel, ret);
}

static void same(uint32_t got, uint32_t wanted)
{
	if (wanted != ANY)
		assert_int_equal(got, wanted);
}

static void reference_values(void **state)
{
	struct occupancy got;

	for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
		const struct reference *r = &references[i];

		for (size_t k = 0; k < sizeof(r->expected) / sizeof(r->expected[0]); k++) {
			const struct expected *e = &r->expected[k];

			compute(e->capability, r->threads, r->registers, r->shared, &got);
			assert_int_equal(got.blocks, e->active);
			same(got.limits[OCCUPANCY_WARPS], e->warps);
			same(got.limits[OCCUPANCY_REGISTERS], e->registers);
			same(got.limits[OCCUPANCY_SHARED], e->shared);
			same(got.limits[OCCUPANCY_BLOCKS], e->blocks);
		}
	}
}

/* What ncu printed for kernels without shared memory: an A100 configured with 32 KB, one with 16 KB on 8.6. */
static void configured_shared_memory(void **state)
{
	struct occupancy_kernel kernel = { .threads = 256, .registers = 16, .shared_config = 32768, .barriers = 1 };
	const struct occupancy_chip *a100 = occupancy_find_chip("8.0", NULL), *ga102 = occupancy_find_chip("8.6", NULL);
	struct occupancy got;

	occupancy_compute(a100, &kernel, &got);
	assert_int_equal(got.limits[OCCUPANCY_SHARED], 32);
	kernel.shared_config = 16384;
	occupancy_compute(ga102, &kernel, &got);
	assert_int_equal(got.limits[OCCUPANCY_SHARED], 16);
	/* 25 % of 228 KB are 57 KB: the next step is 64; a block that needs more gets more. */
	kernel.shared_config = 0;
	assert_int_equal(occupancy_shared_step(occupancy_find_chip("9.0", NULL), &kernel, 228 * 256), 65536);
	kernel.shared = 120000;
	assert_int_equal(occupancy_shared_step(occupancy_find_chip("9.0", NULL), &kernel, 0), 132 * 1024);
}

static void limiters_are_named(void **state)
{
	struct occupancy got;

	/* 64 registers: 4 blocks by registers; 16 KB and 1 KB reserved: 13 by shared memory of 228 KB. */
	compute("9.0", 256, 64, 16384, &got);
	assert_int_equal(got.blocks, 4);
	assert_int_equal(got.limits[OCCUPANCY_SHARED], 13);
	assert_int_equal(got.limiters, 1u << OCCUPANCY_REGISTERS);
	assert_true(got.percent == 50.0);
	/* Both at 8 blocks. */
	compute("9.0", 256, 32, 0, &got);
	assert_int_equal(got.limiters, 1u << OCCUPANCY_REGISTERS | 1u << OCCUPANCY_WARPS);
	assert_true(got.percent == 100.0);
}

static void barriers_limit_from_hopper_on(void **state)
{
	struct occupancy_kernel kernel = { .threads = 64, .registers = 16, .barriers = 16 };
	struct occupancy got;

	occupancy_compute(occupancy_find_chip("9.0", NULL), &kernel, &got);
	assert_int_equal(got.limits[OCCUPANCY_BARRIERS], 4);
	assert_int_equal(got.blocks, 4);
	occupancy_compute(occupancy_find_chip("8.0", NULL), &kernel, &got);
	assert_int_equal(got.limits[OCCUPANCY_BARRIERS], OCCUPANCY_NO_LIMIT);
}

/* ncu on an H200: no barrier and one both show 32. */
static void limits_as_ncu_shows_them(void **state)
{
	struct occupancy_kernel kernel = { .threads = 1024, .registers = 32, .shared = 8192, .shared_config = 32768, .barriers = 1 };
	struct occupancy got;

	occupancy_compute(occupancy_find_chip("9.0", NULL), &kernel, &got);
	assert_int_equal(occupancy_limit_shown(&got, OCCUPANCY_BARRIERS), 32);
	assert_int_equal(occupancy_limit_shown(&got, OCCUPANCY_SHARED), 3);
	assert_int_equal(occupancy_limit_shown(&got, OCCUPANCY_REGISTERS), 2);
	kernel.barriers = 0;
	occupancy_compute(occupancy_find_chip("9.0", NULL), &kernel, &got);
	assert_int_equal(occupancy_limit_shown(&got, OCCUPANCY_BARRIERS), 32);
}

/* More of anything never means more blocks, and no chip holds more than it has. */
static void monotone(void **state)
{
	size_t count;
	const struct occupancy_chip *chips = occupancy_chips(&count);
	struct occupancy_kernel kernel = { .barriers = 1 }, more;
	struct occupancy a, b;

	for (size_t i = 0; i < count; i++) {
		for (kernel.threads = 1; kernel.threads <= 1024; kernel.threads += 31) {
			for (kernel.registers = 0; kernel.registers <= 255; kernel.registers += 15) {
				for (kernel.shared = 0; kernel.shared <= 90000; kernel.shared += 6000) {
					occupancy_compute(&chips[i], &kernel, &a);
					assert_true(a.warps <= chips[i].warps && a.blocks <= chips[i].blocks);
					assert_true(a.blocks * a.registers_per_block <= chips[i].registers || a.warps_per_block % 4);
					assert_true(a.blocks * a.shared_per_block <= chips[i].shared);
					more = kernel;
					more.threads += 1;
					occupancy_compute(&chips[i], &more, &b);
					assert_true(b.blocks <= a.blocks);
					more = kernel;
					more.registers += 1;
					occupancy_compute(&chips[i], &more, &b);
					assert_true(b.blocks <= a.blocks);
					more = kernel;
					more.shared += 1;
					occupancy_compute(&chips[i], &more, &b);
					assert_true(b.blocks <= a.blocks);
				}
			}
		}
	}
}

/* Every value lies in one stretch, and the stretch says what calculating that value says. */
static void curves_cover_everything(void **state)
{
	static const uint32_t first[] = { 1, 1, 0 }, last[] = { 1024, 255, 227 * 1024 };
	const struct occupancy_chip *chip = occupancy_find_chip("9.0", NULL);
	struct occupancy_kernel kernel = { .threads = 200, .registers = 50, .shared = 9000, .barriers = 1 }, other;
	struct occupancy_stretch stretches[2048];
	struct occupancy got;

	for (unsigned curve = 0; curve < OCCUPANCY_CURVES; curve++) {
		size_t count = occupancy_curve(chip, &kernel, (enum occupancy_curve)curve, stretches, 2048);
		uint32_t next = first[curve];

		for (size_t i = 0; i < count; i++) {
			assert_int_equal(stretches[i].from, next);
			next = stretches[i].to + 1;
			for (uint32_t value = stretches[i].from; value <= stretches[i].to; value += curve == OCCUPANCY_BY_SHARED ? 61 : 1) {
				other = kernel;
				*(curve == OCCUPANCY_BY_THREADS   ? &other.threads :
				  curve == OCCUPANCY_BY_REGISTERS ? &other.registers :
								    &other.shared) = value;
				occupancy_compute(chip, &other, &got);
				assert_int_equal(got.blocks, stretches[i].blocks);
				assert_int_equal(got.warps, stretches[i].warps);
			}
			if (i)
				assert_true(stretches[i].blocks != stretches[i - 1].blocks || stretches[i].warps != stretches[i - 1].warps);
		}
		assert_int_equal(next, last[curve] + 1);
	}
	/* What does not fit into the caller's room is left out. */
	assert_int_equal(occupancy_curve(chip, &kernel, OCCUPANCY_BY_REGISTERS, stretches, 2), 2);
}

static void capabilities_are_found(void **state)
{
	struct error err;

	assert_string_equal(occupancy_find_chip("sm_90a", &err)->chips, "GH100");
	assert_string_equal(occupancy_find_chip("90", &err)->chips, "GH100");
	assert_string_equal(occupancy_find_chip("9", &err)->chips, "GH100");
	assert_int_equal(occupancy_find_chip("12", &err)->major, 12);
	assert_null(occupancy_find_chip("6", &err));
	assert_non_null(strstr(err.text, "6.0 is not known"));
	assert_string_equal(occupancy_find_chip("12.1", &err)->chips, "GB20B");
	assert_string_equal(occupancy_find_chip("sm_100", &err)->chips, "GB100, GB102");
	assert_null(occupancy_find_chip("9.5", &err));
	assert_non_null(strstr(err.text, "9.0 and 10.0"));
	assert_null(occupancy_find_chip("6.1", &err));
	assert_non_null(strstr(err.text, "the nearest is 7.0"));
	assert_null(occupancy_find_chip("13.0", &err));
	assert_non_null(strstr(err.text, "the nearest is 12.1"));
	assert_null(occupancy_find_chip("hopper", &err));
	assert_null(occupancy_find_chip("9.", &err));
	assert_null(occupancy_find_chip("", &err));
	assert_null(occupancy_find_chip("99999999999999999999.0", &err));
}

static void bad_kernels_are_refused(void **state)
{
	const struct occupancy_chip *chip = occupancy_find_chip("9.0", NULL);
	struct occupancy_kernel bad[] = {
		{ .threads = 0, .registers = 32 },
		{ .threads = 1025, .registers = 32 },
		{ .threads = 32, .registers = 256 },
		{ .threads = 32, .shared = 227 * 1024 + 1 },
		{ .threads = 32, .shared_config = 229 * 1024 },
		{ .threads = 32, .barriers = 17 },
	};
	struct occupancy_kernel good = { .threads = 1024, .registers = 255, .shared = 227 * 1024, .barriers = 16 };
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(occupancy_check(chip, &bad[i], &err) < 0);
	assert_int_equal(occupancy_check(chip, &good, &err), 0);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_values),
		cmocka_unit_test(configured_shared_memory),
		cmocka_unit_test(limiters_are_named),
		cmocka_unit_test(barriers_limit_from_hopper_on),
		cmocka_unit_test(limits_as_ncu_shows_them),
		cmocka_unit_test(monotone),
		cmocka_unit_test(curves_cover_everything),
		cmocka_unit_test(capabilities_are_found),
		cmocka_unit_test(bad_kernels_are_refused),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
