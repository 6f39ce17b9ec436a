#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"

static void test_append(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		buf_append(&b, "ab", 2);
		buf_puts(&b, "c");
		buf_printf(&b, "%d", i % 10);
	}
	assert_int_equal(buf_result(&b), 0);
	assert_int_equal(b.len, 4000);
	assert_memory_equal(buf_cstr(&b) + 3996, "abc9", 5);
	buf_release(&b);
	assert_string_equal(buf_cstr(&b), "");
	buf_release(&b);
}

/* After a piece that did not fit there is none of those behind it, until it is cleared. */
static void test_failed(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(buf_puts(&b, "begin"), 0);
	assert_true(buf_reserve(&b, SIZE_MAX / 2) < 0);
	assert_true(buf_puts(&b, "") < 0);
	assert_true(buf_puts(&b, "x") < 0);
	assert_true(buf_printf(&b, "%s", "") < 0);
	assert_true(buf_result(&b) < 0);
	assert_int_equal(b.len, 5);
	buf_clear(&b);
	assert_int_equal(buf_result(&b), 0);
	assert_int_equal(buf_puts(&b, "again"), 0);
	assert_string_equal(buf_cstr(&b), "again");
	buf_release(&b);
}

static int released;

static void count_release(int *variable)
{
	released += *variable;
}

static int leave(int way)
{
	CLEANUP(count_release) int first = 1;
	CLEANUP_FREE char *text = NULL;

	if (way == 0)
		return first;
	text = strdup("the leak checker looks for this one");
	for (;;) {
		CLEANUP(count_release) int second = 10;

		if (way == 1)
			return text != NULL;
		if (second)
			break;
	}
	return released;
}

static void test_cleanup(void **state)
{
	(void)state;
	assert_int_equal(leave(0), 1);
	assert_int_equal(released, 1);
	assert_int_equal(leave(1), 1);
	assert_int_equal(released, 12);
	assert_int_equal(leave(2), 22); /* the inner one before the value was read, the outer behind it */
	assert_int_equal(released, 23);
}

static int asked;

static int answer(int result)
{
	asked++;
	return result;
}

static int ask_three(int second)
{
	CLEANUP(count_release) int once = 1;

	TRY(answer(3));
	if (second)
		TRY(answer(second));
	else
		TRY(answer(0));
	return answer(7 * once);
}

static void test_try(void **state)
{
	(void)state;
	released = 0;
	assert_int_equal(ask_three(-5), -5);
	assert_int_equal(asked, 2);
	assert_int_equal(released, 1);
	assert_int_equal(ask_three(5), 7);
	assert_int_equal(ask_three(0), 7);
	assert_int_equal(asked, 8); /* each once */
	assert_int_equal(released, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_cleanup),
		cmocka_unit_test(test_try),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
