#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idmap.h"

static void maps_hold_what_was_put(void **state)
{
	struct idmap map = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(idmap_put(&map, i * 4096, i), 0);
	for (uint64_t i = 0; i < 10000; i += 2)
		assert_int_equal(idmap_take(&map, i * 4096), i);
	assert_int_equal(map.count, 5000);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(idmap_get(&map, i * 4096), i % 2 ? i : IDMAP_NONE);
	idmap_put(&map, 4096, 77);
	assert_int_equal(idmap_get(&map, 4096), 77);
	assert_int_equal(map.count, 5000);
	idmap_release(&map);
	assert_int_equal(idmap_get(&map, 1), IDMAP_NONE);
}

/* From 1, in the order in which they are first asked for. */
static void keys_are_numbered(void **state)
{
	struct idmap map = { 0 };
	bool is_new;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(idmap_number(&map, (uint64_t)i << 32, &is_new), i + 1);
		assert_true(is_new);
		assert_int_equal(idmap_number(&map, (uint64_t)(i / 2) << 32, &is_new), i / 2 + 1);
		assert_false(is_new);
	}
	idmap_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_hold_what_was_put),
		cmocka_unit_test(keys_are_numbered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
