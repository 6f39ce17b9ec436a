#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/keymap.h"

#define MANY 3000u

static void test_numbers(void **state)
{
	struct keymap m = { 0 };
	char key[16];

	(void)state;
	assert_int_equal(keymap_find(&m, "", 0), KEYMAP_NONE);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(keymap_number(&m, key, (size_t)snprintf(key, sizeof(key), "%u", i)), i);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(keymap_number(&m, key, (size_t)snprintf(key, sizeof(key), "%u", i)), i);
		assert_string_equal(m.keys[i].bytes, key);
	}
	assert_int_equal(m.count, MANY);
	assert_int_equal(keymap_find(&m, "3000", 4), KEYMAP_NONE);
	keymap_release(&m);
	assert_int_equal(keymap_find(&m, "1", 1), KEYMAP_NONE);
}

/* Keys are bytes: what is behind a NUL counts, and the length. */
static void test_bytes(void **state)
{
	struct keymap m = { 0 };

	(void)state;
	assert_int_equal(keymap_number(&m, "a\0b", 3), 0);
	assert_int_equal(keymap_number(&m, "a\0c", 3), 1);
	assert_int_equal(keymap_number(&m, "a", 1), 2);
	assert_int_equal(keymap_number(&m, "", 0), 3);
	assert_int_equal(keymap_find(&m, "a\0b", 3), 0);
	assert_int_equal(keymap_find(&m, "a\0", 2), KEYMAP_NONE);
	assert_int_equal(keymap_number(&m, "", 0), 3);
	keymap_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
