/* Spans of time against a bit for each moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/events/spans.h"

#define ROWS 3
#define MOMENTS 200

static void mark(uint8_t *moments, int64_t start, int64_t end)
{
	memset(moments + start, 1, (size_t)(end - start));
}

static uint64_t count(const uint8_t *moments, int64_t start, int64_t end)
{
	uint64_t marked = 0;

	for (int64_t i = start; i < end; i++)
		marked += moments[i];
	return marked;
}

static void test_random_spans(void **state)
{
	srandom(7);
	for (int round = 0; round < 300; round++) {
		uint8_t moments[ROWS][MOMENTS] = { 0 };
		struct spans spans = { 0 }, more = { 0 };

		for (int i = random() % 40; i > 0; i--) {
			uint32_t row = (uint32_t)random() % ROWS;
			int64_t start = random() % MOMENTS, end = start + random() % (MOMENTS - start);

			mark(moments[row], start, end);
			assert_int_equal(spans_add(i % 2 ? &spans : &more, row, start, end), 0);
		}
		assert_int_equal(spans_append(&spans, &more), 0);
		spans_unite(&spans);
		for (uint32_t row = 0; row < ROWS; row++) {
			int64_t start = random() % MOMENTS, end = start + random() % (MOMENTS - start);

			assert_int_equal(spans_time(&spans, row), count(moments[row], 0, MOMENTS));
			assert_int_equal(spans_cover(&spans, row, start, end), count(moments[row], start, end));
		}
		spans_release(&spans);
		spans_release(&more);
	}
}

static void test_none(void **state)
{
	struct spans spans = { 0 };

	spans_unite(&spans);
	assert_int_equal(spans_time(&spans, 0), 0);
	assert_int_equal(spans_cover(&spans, 0, INT64_MIN, INT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_spans), cmocka_unit_test(test_none) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
