/* Texts that torch's table is made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "query/torch_ops.h"

static void assert_shapes(const char *json, const char *want)
{
	struct torch_texts texts = { 0 };
	int32_t id = torch_shapes_text(&texts, json);

	assert_int_equal(id, -1);
	assert_string_equal(texts.texts[0], want);
	torch_texts_release(&texts);
}

static void test_shapes_as_torch_prints_them(void **state)
{
	assert_shapes("[]", "[]");
	assert_shapes("[[32,3,32,32],[64,3,3,3],[64],[],[],[],[]]", "[[32, 3, 32, 32], [64, 3, 3, 3], [64], [], [], [], []]");
	assert_shapes("[[ 2 , 3 ],\n []]", "[[2, 3], []]");
	/* Lists of tensors, and of scalars. */
	assert_shapes("[[[2],[3,4]],[5]]", "[[], [5]]");
	assert_shapes("[[5],[[],[]],[6]]", "[[5], [], [6]]");
	assert_shapes("[[[[1]]],[7]]", "[[], [7]]");
}

static void test_shapes_that_are_none(void **state)
{
	char deep[300];

	assert_shapes("", "");
	assert_shapes("hello", "hello");
	assert_shapes("]]]][", "]]]][");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	struct torch_texts texts = { 0 };
	assert_true(torch_shapes_text(&texts, deep) < 0);
	torch_texts_release(&texts);
}

static void test_equal_texts_have_one_number(void **state)
{
	struct torch_texts texts = { 0 };
	int32_t ids[1000];
	char text[16];

	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		ids[i] = torch_made_text(&texts, text);
		assert_int_equal(ids[i], -i - 1);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(torch_made_text(&texts, text), ids[i]);
		assert_string_equal(texts.texts[-ids[i] - 1], text);
	}
	assert_int_equal(texts.count, 1000);
	torch_texts_release(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes_as_torch_prints_them),
		cmocka_unit_test(test_shapes_that_are_none),
		cmocka_unit_test(test_equal_texts_have_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
