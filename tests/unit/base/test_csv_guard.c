/* Which texts a spreadsheet would take for formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/csv_guard.h"

static bool needs(const char *text)
{
	return csv_needs_guard(text, strlen(text));
}

static void formulas(void **state)
{
	/* clang-format off */
	static const char *const texts[] = { "=1+1", "=cmd|' /C calc'!A0", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "-x", "--cmd|' /C calc'!A0", "--f(1)", "----d:'file:///x'#$a.A1", "@SUM(1)",
					     "\t=1", "\r=1", "\n@f()", "'=1", "''=1", "-E5", "@triton.jit", "+A1", "=!P0 x", "@P1 HYPERLINK(\"x\")",
					     "@P1 A1+cmd|'/C calc'!A0", "@P1 'a'!A1", "-5|x" };
	/* clang-format on */

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!needs(texts[i]))
			fail_msg("'%s' would be a formula", texts[i]);
}

static void others(void **state)
{
	/* clang-format off */
	static const char *const texts[] = { "", "a", "operator+", "a=b", "-5", "+5", "-1.5e-3", "+1,234.5", "-.5", "-3.2 %", "+12 us", "-inf", "-nan", "-", "+", "--", "--name", "--trace=cuda", "--:step", "----:f(int)", "--domain:step 3",
					     "'a", "'", "''", "(1, 1, 1)", " =1", "\tx = 1;", "@P0 BRA `(.L_x_1)", "@!P0 ISETP.NE.AND P0, PT, R2, !PT, PT",
					     "@!UP0 UMOV UR4, 0x1", "@P3 FADD R0, |R1|, -RZ", "@PT BRA 0x10", "@%p1 bra L", "@!%p12 bra L" };
	/* clang-format on */

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (needs(texts[i]))
			fail_msg("'%s' is not a formula", texts[i]);
}

/* What is written can be told from what merely looks like it. */
static void and_back(void **state)
{
	assert_true(csv_has_guard("'=1", 3));
	assert_true(csv_has_guard("''=1", 4));
	assert_false(csv_has_guard("'-5", 3));
	assert_false(csv_has_guard("'a'", 3));
	assert_false(csv_has_guard("=1", 2));
	assert_false(csv_has_guard("", 0));
	assert_false(csv_has_guard("'", 1));
}

static void parts_of_a_text(void **state)
{
	assert_false(csv_needs_guard("-5+x", 2));
	assert_false(csv_needs_guard("=1", 1));
	assert_false(csv_needs_guard("\0=1", 3));
	assert_false(csv_needs_guard("@P0 f(x)", 4));
	assert_true(csv_needs_guard("@P1", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(others),
		cmocka_unit_test(and_back),
		cmocka_unit_test(parts_of_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
