#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/sort.h"
#include "base/text/ending.h"

static void test_a_name_that_is_its_ending_has_none(void **state)
{
	(void)state;
	assert_true(text_has_ending("run.sonde", ".sonde"));
	assert_false(text_has_ending(".sonde", ".sonde"));
	assert_false(text_has_ending("e", ".sonde"));
	assert_false(text_has_ending("", ".sonde"));
	assert_false(text_has_ending("run.sonde.part", ".sonde"));
	assert_false(text_has_ending("run.SONDE", ".sonde"));
}

static void test_the_greatest_numbers_are_last(void **state)
{
	int64_t numbers[] = { 1, INT64_MAX, -1, INT64_MIN, 0 };
	const int64_t sorted[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	uint32_t ids[] = { UINT32_MAX, 0, 1u << 31 };
	const uint32_t sorted_ids[] = { 0, 1u << 31, UINT32_MAX };

	(void)state;
	sort_items(numbers, 5, sizeof(*numbers), compare_int64);
	assert_memory_equal(numbers, sorted, sizeof(sorted));
	sort_items(ids, 3, sizeof(*ids), compare_uint32);
	assert_memory_equal(ids, sorted_ids, sizeof(sorted_ids));
	assert_ptr_equal(find_item(&sorted_ids[1], ids, 3, sizeof(*ids), compare_uint32), &ids[1]);
	assert_null(find_item(&sorted[3], NULL, 0, sizeof(*numbers), compare_int64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_that_is_its_ending_has_none),
		cmocka_unit_test(test_the_greatest_numbers_are_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
