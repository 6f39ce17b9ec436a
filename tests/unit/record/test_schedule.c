/* The schedule of steps: the function of torch.profiler's documentation, step by step; its next change is where it changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "record/step_schedule.h"

/* A letter for each step: '-' nothing, 'w' warm-up, 'a' active. */
static void draw(const struct schedule *s, char *text, unsigned steps)
{
	static const char letters[] = { [SCHEDULE_OFF] = '-', [SCHEDULE_WARM] = 'w', [SCHEDULE_ACTIVE] = 'a' };
	uint64_t cycle;

	for (unsigned i = 0; i < steps; i++)
		text[i] = letters[schedule_phase(s, i, &cycle)];
	text[steps] = '\0';
}

static void by_hand(void **state)
{
	static const struct {
		struct schedule s;
		const char *phases;
	} cases[] = {
		{ { .active = 1 }, "aaaaaaaa" },
		{ { .skip_first = 3, .wait = 1, .warmup = 1, .active = 3, .repeat = 2 }, "----waaa-waaa-----" },
		{ { .wait = 2, .active = 1, .repeat = 1 }, "--a-----" },
		{ { .warmup = 2, .active = 2, .repeat = 2 }, "wwaawwaa----" },
		{ { .wait = 3, .warmup = 1, .active = 1, .repeat = 2, .skip_first_wait = 1 }, "wa---wa----" },
		{ { .skip_first = 2, .wait = 3, .warmup = 1, .active = 1, .skip_first_wait = 1 }, "--wa---wa---wa" },
	};
	char text[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		draw(&cases[i].s, text, (unsigned)strlen(cases[i].phases));
		assert_string_equal(text, cases[i].phases);
		assert_int_equal(schedule_first_active(&cases[i].s), strchr(text, 'a') - text);
	}
}

/* The example of its documentation: skip_first=10 and wait=20 begin after 30 steps, or after 10. */
static void first_wait_can_be_left_out(void **state)
{
	struct schedule s = { .skip_first = 10, .wait = 20, .warmup = 1, .active = 1 };
	uint64_t cycle;

	(void)state;
	assert_int_equal(schedule_phase(&s, 29, &cycle), SCHEDULE_OFF);
	assert_int_equal(schedule_phase(&s, 30, &cycle), SCHEDULE_WARM);
	s.skip_first_wait = 1;
	assert_int_equal(schedule_phase(&s, 9, &cycle), SCHEDULE_OFF);
	assert_int_equal(schedule_phase(&s, 10, &cycle), SCHEDULE_WARM);
	assert_int_equal(schedule_phase(&s, 31, &cycle), SCHEDULE_OFF);
	assert_int_equal(schedule_phase(&s, 32, &cycle), SCHEDULE_WARM);
}

static int differ(const struct schedule *s, uint64_t a, uint64_t b)
{
	uint64_t cycle_a, cycle_b;
	enum schedule_phase phase_a = schedule_phase(s, a, &cycle_a), phase_b = schedule_phase(s, b, &cycle_b);

	return phase_a != phase_b || (phase_a != SCHEDULE_OFF && cycle_a != cycle_b);
}

/* Nothing changes before the next change. */
static void no_change_is_missed(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 4 * 4 * 3 * 3 * 3 * 2; bits++) {
		/* clang-format off */
		struct schedule s = { .skip_first = bits % 4, .wait = bits / 4 % 4, .warmup = bits / 16 % 3, .active = 1 + bits / 48 % 3,
				      .repeat = bits / 144 % 3, .skip_first_wait = bits / 432 };
		/* clang-format on */

		for (uint64_t step = 0; step < 40; step++) {
			uint64_t next = schedule_next(&s, step), end = next < 60 ? next : 60;

			assert_true(next > step);
			for (uint64_t i = step + 1; i < end; i++)
				assert_false(differ(&s, i - 1, i));
			assert_true(next != UINT64_MAX || s.repeat);
		}
	}
}

/* Numbers that a damaged ring may hold. */
static void absurd_steps(void **state)
{
	struct schedule s = { SCHEDULE_MAX, SCHEDULE_MAX, SCHEDULE_MAX, SCHEDULE_MAX, SCHEDULE_MAX, 1 };
	uint64_t cycle;

	(void)state;
	for (uint64_t step = UINT64_MAX; step > 1; step /= 3) {
		schedule_next(&s, step);
		assert_in_range(schedule_phase(&s, step, &cycle), SCHEDULE_OFF, SCHEDULE_ACTIVE);
	}
	assert_int_equal(schedule_next(&s, 0), SCHEDULE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(first_wait_can_be_left_out),
		cmocka_unit_test(no_change_is_missed),
		cmocka_unit_test(absurd_steps),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
