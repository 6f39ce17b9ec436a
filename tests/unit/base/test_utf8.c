#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/utf8.h"

static void test_known(void **state)
{
	char text[4];

	(void)state;
	assert_int_equal(utf8_put(text, 'A'), 1);
	assert_memory_equal(text, "A", 1);
	assert_int_equal(utf8_put(text, 0xe9), 2);
	assert_memory_equal(text, "\xc3\xa9", 2);
	assert_int_equal(utf8_put(text, 0x20ac), 3);
	assert_memory_equal(text, "\xe2\x82\xac", 3);
	assert_int_equal(utf8_put(text, 0x1f600), 4);
	assert_memory_equal(text, "\xf0\x9f\x98\x80", 4);
	assert_int_equal(utf8_put(text, UTF8_REPLACEMENT), 3);
	assert_memory_equal(text, "\xef\xbf\xbd", 3);
}

/* Every code point is valid as it is written, but for surrogates; cut short none is. */
static void test_all(void **state)
{
	char text[4];
	size_t size;

	(void)state;
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		size = utf8_put(text, code);
		if (size != utf8_size(code) || utf8_length(text, size) != (code >= 0xd800 && code < 0xe000 ? 0 : size) ||
		    (size > 1 && utf8_length(text, size - 1) != 0))
			fail_msg("code point %x", code);
	}
	utf8_put(text, 0x110000);
	assert_int_equal(utf8_length(text, 4), 0);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xff", "\xc3("
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(utf8_length(bad[i], strlen(bad[i])), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
