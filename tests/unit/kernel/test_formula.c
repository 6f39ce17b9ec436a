/* Arithmetic over metrics: values known by hand, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/metrics/formula.h"

static double value_of(void *context, const char *metric)
{
	if (strcmp(metric, "sm__a.sum") == 0)
		return 6;
	if (strcmp(metric, "sm__b.avg.per_second") == 0)
		return 4;
	if (strcmp(metric, "pmsampling:x__zero.sum") == 0)
		return 0;
	return NAN;
}

static double compute(const char *text)
{
	struct formula f;
	char why[160];
	double value;

	if (formula_parse(&f, text, strlen(text), why, sizeof(why)) < 0)
		fail_msg("%s: %s", text, why);
	value = formula_value(&f, value_of, NULL);
	formula_release(&f);
	return value;
}

/* (6 + 4) / (2 * 4), of formulas that are gone by then; what is unknown stays so. */
static void ratios(void **state)
{
	static const char sum[] = "sm__a.sum + sm__b.avg.per_second", twice[] = "2 * sm__b.avg.per_second",
			  zero[] = "pmsampling:x__zero.sum";
	struct formula above, below, ratio;
	char why[160];

	assert_int_equal(formula_parse(&above, sum, strlen(sum), why, sizeof(why)), 0);
	assert_int_equal(formula_parse(&below, twice, strlen(twice), why, sizeof(why)), 0);
	assert_int_equal(formula_ratio(&ratio, &above, &below), 0);
	formula_release(&below);
	assert_true(formula_value(&ratio, value_of, NULL) == 1.25);
	formula_release(&ratio);
	assert_int_equal(formula_parse(&below, zero, strlen(zero), why, sizeof(why)), 0);
	assert_int_equal(formula_ratio(&ratio, &above, &below), 0);
	formula_release(&above);
	formula_release(&below);
	assert_true(isnan(formula_value(&ratio, value_of, NULL)));
	formula_release(&ratio);
}

static void values(void **state)
{
	assert_true(compute("sm__a.sum") == 6);
	assert_true(compute("2 * sm__a.sum + sm__b.avg.per_second") == 16);
	assert_true(compute("2 * (sm__a.sum + sm__b.avg.per_second)") == 20);
	assert_true(compute("sm__a.sum - sm__b.avg.per_second - 1") == 1);
	assert_true(compute("100 / sm__b.avg.per_second / 5") == 5);
	assert_true(compute("-sm__a.sum + 1.5e1") == 9);
	assert_true(compute("max(1, sm__a.sum, 3)") == 6);
	assert_true(compute("min(7, sm__a.sum, 3 + 1)") == 4);
	assert_true(compute("max(5)") == 5);
	assert_true(compute(" ( ( 3 ) )\t") == 3);
	assert_true(compute("6 - -2") == 8);
	assert_true(compute("abs(3 - sm__a.sum) + abs(3)") == 6);
	assert_true(compute("10 * floor(sm__a.sum / 4) + ceil(sm__a.sum / 4)") == 12);
	assert_true(compute("first(sm__missing.sum, sm__a.sum, 1)") == 6);
	assert_true(compute("given(sm__a.sum, sm__b.avg.per_second, 7)") == 7);
}

/* What is not there makes the result unknown; so does a division by nothing. */
static void unknown_values(void **state)
{
	assert_true(isnan(compute("sm__missing.sum + 1")));
	assert_true(isnan(compute("sm__a.sum / pmsampling:x__zero.sum")));
	assert_true(isnan(compute("max(1, sm__missing.sum)")));
	assert_true(compute("nan_as_zero(sm__missing.sum) + 1") == 1);
	assert_true(isnan(compute("first(sm__missing.sum, sm__missing.sum)")));
	assert_true(isnan(compute("given(sm__missing.sum, 1)")));
	assert_true(isnan(compute("given(1, sm__missing.sum, 2)")));
	assert_true(isnan(compute("floor(abs(sm__missing.sum))")));
	assert_true(compute("nan_as_zero(sm__a.sum / pmsampling:x__zero.sum)") == 0);
}

static void names(void **state)
{
	struct formula f;
	char why[160];

	assert_int_equal(formula_parse(&f, "sm__a.sum", 9, why, sizeof(why)), 0);
	assert_string_equal(formula_metric(&f), "sm__a.sum");
	formula_release(&f);
	assert_int_equal(formula_parse(&f, "2 * sm__a.sum", 13, why, sizeof(why)), 0);
	assert_null(formula_metric(&f));
	formula_release(&f);
	assert_int_equal(formula_parse(&f, "7", 1, why, sizeof(why)), 0);
	assert_null(formula_metric(&f));
	formula_release(&f);
}

/* Columns are for those who have rows. */
static void columns(void **state)
{
	struct formula f;
	char why[160];

	assert_int_equal(formula_parse_row(&f, "1 + sm__$2_x.sum", 16, why, sizeof(why)), 0);
	assert_int_equal(f.count, 3);
	assert_string_equal(f.steps[1].metric, "sm__$2_x.sum");
	formula_release(&f);
	assert_int_equal(formula_parse_row(&f, "$1", 2, why, sizeof(why)), 0);
	assert_string_equal(formula_metric(&f), "$1");
	formula_release(&f);
}

static void refused(void **state)
{
	/* clang-format off */
	static const char *const bad[] = { "", " ", "+", "1 +", "(1", "1)", "1 2", "a__b.sum c__d.sum", "max(", "max()", "max(1,)", "log(2)", "1..2", "1e999",
					   "a ^ b", "[1]", "nan_as_zero(1, 2)", "*2", "1 / / 2", "a__b.sum;",
					   "abs(1, 2)", "floor()", "first()", "given(1,)", "$1", "sm__$1.sum" };
	/* clang-format on */
	char deep[512], why[160];
	struct formula f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		if (formula_parse(&f, bad[i], strlen(bad[i]), why, sizeof(why)) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_true(why[0]);
		assert_null(f.steps);
	}
	/* Neither nesting nor length is without end. */
	memset(deep, '(', sizeof(deep));
	assert_true(formula_parse(&f, deep, sizeof(deep), why, sizeof(why)) < 0);
	memset(deep, '-', sizeof(deep));
	assert_true(formula_parse(&f, deep, sizeof(deep), why, sizeof(why)) < 0);
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? '+' : '1';
	assert_true(formula_parse(&f, deep, sizeof(deep) - 1, why, sizeof(why)) < 0);
	memset(deep, 'a', sizeof(deep));
	assert_true(formula_parse(&f, deep, sizeof(deep), why, sizeof(why)) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values), cmocka_unit_test(ratios),  cmocka_unit_test(unknown_values),
		cmocka_unit_test(names),  cmocka_unit_test(columns), cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
