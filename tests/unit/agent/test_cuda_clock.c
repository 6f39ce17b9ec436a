/* CUPTI's times on the session's clock: stamps of ours, or a fit with a drift known in advance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "agent/cuda/records/clock.h"
#include "fake_cuda.h"

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void stamps_are_ours(void **state)
{
	struct cuda_clock_fit fit;
	const struct record_define *define;
	const struct cuda_wire_clock *clock;

	(void)state;
	fake_cuda_reset(130001);
	cuda_clock_start();
	assert_non_null(fake_cuda.stamp);
	fake_cuda.now = 5000;
	assert_int_equal(fake_cuda.stamp(), 5001);
	cuda_clock_get(&fit);
	assert_int_equal(cuda_clock_ticks(&fit, 123456789), 123456789);
	define = fake_cuda_definition(DEFINE_CUDA_CLOCK, 0);
	clock = (const void *)(define + 1);
	assert_int_equal(define->id, CUDA_CLOCK_SESSION);
	assert_int_equal(clock->cupti, 130001);
	assert_int_equal(clock->error, 0);
	assert_string_equal(fake_cuda_text(define, sizeof(*define) + sizeof(*clock)), "/somewhere/libcupti.so.13");
	/* Nothing is compared, nothing more to say. */
	cuda_clock_compare();
	cuda_clock_report();
	assert_null(fake_cuda_definition(DEFINE_CUDA_CLOCK, 1));
}

/* Somebody else uses CUPTI from now on: its times are what they would be without us. */
static void clock_is_given_back(void **state)
{
	struct timespec now;
	uint64_t stamp;

	(void)state;
	fake_cuda_reset(130001);
	cuda_clock_start();
	cuda_activities_release();
	clock_gettime(CLOCK_REALTIME, &now);
	stamp = fake_cuda.stamp();
	assert_in_range(stamp, (uint64_t)now.tv_sec * 1000000000u, (uint64_t)now.tv_sec * 1000000000u + 60000000000u);
}

/* 2.1 ticks a nanosecond; after the tenth second the other clock is slewed by 500 ppm. */
static uint64_t theirs_at(uint64_t ticks)
{
	const uint64_t tenth = 10ull * 2100000000u;
	uint64_t ns = ticks * 10 / 21;

	if (ticks > tenth)
		ns += (ticks - tenth) / 4200;
	return 1700000000000000000u + ns;
}

static void fit_follows_a_drift(void **state)
{
	const uint64_t second = 2100000000u;
	struct cuda_clock_fit fit = { 0 };
	uint64_t worst = 0, off;

	(void)state;
	/* Twice a second, as many as make it thin out several times. */
	for (uint64_t i = 0; i < 400; i++)
		cuda_clock_add(&fit, (struct cuda_clock_pair){ theirs_at(i * second / 2), i * second / 2 });
	assert_in_range(fit.count, CUDA_CLOCK_PAIRS / 2, CUDA_CLOCK_PAIRS);
	assert_int_equal(fit.pairs[0].ticks, 0);
	assert_int_equal(fit.pairs[fit.count - 1].ticks, 399 * second / 2);
	/* The last quarter of a minute. */
	for (uint64_t t = 185 * second; t < 199 * second; t += second / 3) {
		off = distance(cuda_clock_ticks(&fit, theirs_at(t)), t);
		worst = off > worst ? off : worst;
	}
	assert_true(worst < 21); /* 10 ns */
	/* After the last pair: on the line through the last two. */
	assert_true(distance(cuda_clock_ticks(&fit, theirs_at(205 * second)), 205 * second) < 21);
	/* Long ago, where the rate changed: no worse than the whole drift of these seconds. */
	for (uint64_t t = 0; t < 20 * second; t += second / 7)
		assert_true(distance(cuda_clock_ticks(&fit, theirs_at(t)), t) < 10 * second / 2000);
}

static void odd_pairs(void **state)
{
	struct cuda_clock_fit fit = { 0 };

	(void)state;
	cuda_clock_add(&fit, (struct cuda_clock_pair){ 1000, 50000 });
	assert_int_equal(cuda_clock_ticks(&fit, 1010), 50010);
	assert_int_equal(cuda_clock_ticks(&fit, 990), 49990);
	cuda_clock_add(&fit, (struct cuda_clock_pair){ 1000, 60000 }); /* stood still */
	cuda_clock_add(&fit, (struct cuda_clock_pair){ 900, 61000 });  /* set back */
	assert_int_equal(fit.count, 1);
	cuda_clock_add(&fit, (struct cuda_clock_pair){ 2000, 52000 });
	assert_int_equal(fit.count, 2);
	assert_int_equal(cuda_clock_ticks(&fit, 1500), 51000);
	assert_int_equal(cuda_clock_ticks(&fit, 500), 49000);
	assert_int_equal(cuda_clock_ticks(&fit, 3000), 54000);
	assert_int_equal(cuda_clock_ticks(&fit, 0), 0); /* not known */
}

/* No function is taken: pairs, a fit, and how far off it may be. */
static void fitted(void **state)
{
	struct cuda_clock_fit fit;
	const struct record_define *define;
	const struct cuda_wire_clock *clock;

	(void)state;
	fake_cuda_reset(CUPTI_11_8);
	fake_cuda.refuse_clock = 1;
	fake_cuda.cupti_time = 1000000;
	cuda_clock_start();
	define = fake_cuda_definition(DEFINE_CUDA_CLOCK, 0);
	assert_int_equal(define->id, CUDA_CLOCK_FITTED);
	for (uint64_t i = 1; i <= 10; i++) {
		fake_cuda.now = i * 2100000;
		fake_cuda.cupti_time = 1000000 + i * 1000000 + (i == 9 ? 700 : 0);
		cuda_clock_compare();
	}
	cuda_clock_get(&fit);
	assert_in_range(cuda_clock_ticks(&fit, 1000000 + 5500000), 5500000 * 21 / 10 - 30, 5500000 * 21 / 10 + 30);
	cuda_clock_report();
	define = fake_cuda_definition(DEFINE_CUDA_CLOCK, 1);
	assert_non_null(define);
	clock = (const void *)(define + 1);
	/* The ninth was 700 ns off, and pulled the tenth's line the other way. */
	assert_in_range(clock->error, 700, 3000);
	cuda_clock_report();
	assert_null(fake_cuda_definition(DEFINE_CUDA_CLOCK, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_are_ours),
		cmocka_unit_test(clock_is_given_back),
		cmocka_unit_test(fit_follows_a_drift),
		cmocka_unit_test(odd_pairs),
		cmocka_unit_test(fitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
