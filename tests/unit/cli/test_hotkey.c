/* Function keys as terminals send them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/profile/hotkey.h"

static unsigned count(unsigned key, const char *bytes)
{
	struct key_reader reader = { .size = 0 };

	return key_reader_count(&reader, key, bytes, strlen(bytes));
}

static void terminals(void **state)
{
	/* clang-format off */
	static const char *const xterm[] = { "\033OP", "\033OQ", "\033OR", "\033OS", "\033[15~", "\033[17~",
					     "\033[18~", "\033[19~", "\033[20~", "\033[21~", "\033[23~", "\033[24~" };
	/* clang-format on */
	static const char *const rxvt[] = { "\033[11~", "\033[12~", "\033[13~", "\033[14~" };
	static const char *const console[] = { "\033[[A", "\033[[B", "\033[[C", "\033[[D", "\033[[E" };

	(void)state;
	for (unsigned sent = 0; sent < 12; sent++)
		for (unsigned key = 1; key <= 12; key++)
			assert_int_equal(count(key, xterm[sent]), key == sent + 1);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(count(i + 1, rxvt[i]), 1);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(count(i + 1, console[i]), 1);
}

static void other_keys(void **state)
{
	(void)state;
	assert_int_equal(count(12, "q24~\033[24;2~\033[A\033\033[2~[24~"), 0);
	assert_int_equal(count(12, "\033[24~\033[24~ab\033[24~\033"), 3);
	assert_int_equal(count(12, "\033\033[24~"), 1);
	/* Words longer than any key's are left. */
	assert_int_equal(count(12, "\033[200000000000000000000000000000~\033[24~"), 1);
	assert_int_equal(count(1, "\033[[\033OP"), 1);
}

static void in_pieces(void **state)
{
	struct key_reader reader = { .size = 0 };
	const char *bytes = "x\033[24~\033[24~";
	unsigned found = 0;

	(void)state;
	for (size_t i = 0; bytes[i]; i++)
		found += key_reader_count(&reader, 12, bytes + i, 1);
	assert_int_equal(found, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminals),
		cmocka_unit_test(other_keys),
		cmocka_unit_test(in_pieces),
	};

	return cmocka_run_group_tests_name("hotkey", tests, NULL, NULL);
}
