#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

#define MANY 10000u

static void test_add(void **state)
{
	uint64_t *items = NULL, *added;
	size_t count = 0, cap = 0, moves = 0, before;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		before = cap;
		added = ARRAY_ADD(items, count, cap);
		assert_ptr_equal(added, &items[i]);
		*added = i * i;
		moves += cap != before;
		assert_true(count <= cap);
	}
	assert_int_equal(count, MANY);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(items[i], i * i);
	assert_true(moves < 12);
	free(items);
}

static void test_room(void **state)
{
	char *text = NULL;
	uint32_t count = 0, cap = 0;

	(void)state;
	assert_true(ARRAY_ROOM(text, count, cap, 1000));
	assert_true(cap >= 1000);
	count = cap - 1;
	text[count] = 'x';
	assert_true(ARRAY_ROOM(text, count, cap, 1));
	assert_int_equal(cap, count + 1);
	assert_true(ARRAY_ROOM(text, count, cap, 2));
	assert_true(cap >= count + 2);
	assert_int_equal(text[count], 'x');
	free(text);
}

static void test_reach(void **state)
{
	int *items = NULL;
	uint32_t cap = 0;

	(void)state;
	assert_true(ARRAY_REACH(items, cap, 0u));
	for (uint32_t i = 0; i < cap; i++)
		assert_int_equal(items[i]++, 0);
	assert_true(ARRAY_REACH(items, cap, MANY));
	assert_true(cap > MANY);
	for (uint32_t i = 0, first = 1; i < cap; i++) {
		first = first && items[i];
		assert_int_equal(items[i], first);
	}
	free(items);
}

/* What cannot be had leaves the array as it was. */
static void test_refused(void **state)
{
	struct {
		char bytes[4096];
	} *items = NULL;
	size_t count = 0, cap = 0;
	uint32_t small = 0;

	(void)state;
	assert_non_null(ARRAY_ADD(items, count, cap));
	items[0].bytes[5] = 'x';
	assert_false(ARRAY_ROOM(items, count, cap, SIZE_MAX / 4096));
	assert_false(ARRAY_ROOM(items, count, cap, SIZE_MAX / 2));
	assert_int_equal(count, 1);
	assert_int_equal(items[0].bytes[5], 'x');
	free(items);
	items = NULL;
	assert_false(ARRAY_REACH(items, small, UINT32_MAX));
	assert_int_equal(small, 0);
	assert_null(items);
}

static void test_list(void **state)
{
	uint32_t *items = NULL, *added;
	uint32_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		added = LIST_ADD(items, count);
		assert_ptr_equal(added, &items[i]);
		*added = i;
		/* Taking away and adding again stays within the room. */
		if (i % 7 == 3) {
			count -= 3;
			for (uint32_t k = i - 2; k <= i; k++)
				*LIST_ADD(items, count) = k;
		}
	}
	assert_int_equal(count, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(items[i], i);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),     cmocka_unit_test(test_room), cmocka_unit_test(test_reach),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
