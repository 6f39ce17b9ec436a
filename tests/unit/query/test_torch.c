/* Texts that torch's table is made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "query/torch/ops.h"

static void assert_shapes(const char *json, const char *want)
{
	struct keymap texts = { 0 };
	int32_t id = torch_shapes_text(&texts, json);

	assert_int_equal(id, -1);
	assert_string_equal(texts.keys[0].bytes, want);
	keymap_release(&texts);
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
	struct keymap texts = { 0 };
	assert_true(torch_shapes_text(&texts, deep) < 0);
	keymap_release(&texts);
}

static void test_equal_texts_have_one_number(void **state)
{
	struct keymap texts = { 0 };
	int32_t ids[1000];
	char text[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		ids[i] = torch_made_text(&texts, text);
		assert_int_equal(ids[i], -i - 1);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(torch_made_text(&texts, text), ids[i]);
		assert_string_equal(texts.keys[-ids[i] - 1].bytes, text);
	}
	assert_int_equal(texts.count, 1000);
	keymap_release(&texts);
}

static void assert_flops(const char *name, const char *shapes, const char *inputs, int64_t want)
{
	assert_int_equal(torch_flops(torch_formula_of(name), shapes, inputs), want);
}

static void test_flops(void **state)
{
	const char *plain = "[\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"1\"]";
	const char *odd = "[\"\",\"\",\"\",\"[2, 3]\",\"[1]\",\"[2, 1]\",\"2\"]";

	assert_flops("aten::mm", "[[3, 4], [4, 5]]", NULL, 2 * 3 * 4 * 5);
	assert_flops("aten::bmm", "[[7, 3, 4], [7, 4, 5]]", NULL, 2 * 7 * 3 * 4 * 5);
	assert_flops("aten::addmm", "[[5], [3, 4], [4, 5], [], []]", NULL, 2 * 3 * 4 * 5);
	assert_flops("aten::baddbmm", "[[5], [7, 3, 4], [7, 4, 5]]", NULL, 2 * 7 * 3 * 4 * 5);
	assert_flops("aten::mul", "[[3, 4], []]", NULL, 12);
	assert_flops("aten::add", "[[6], [6], []]", NULL, 6);
	assert_flops("aten::relu", "[[6]]", NULL, 0);
	/* 8 x 8 inputs under 3 x 3: 6 x 6 places. */
	assert_flops("aten::conv2d", "[[2, 4, 8, 8], [5, 4, 3, 3], [5], [], [], [], []]", plain, 2 * 2 * 6 * 6 * 3 * 3 * 4 * 5);
	/* Dilated by 2 the kernel covers 5 of 10 rows, every second: 3; of 10 columns 3, every third: 3. */
	assert_flops("aten::conv2d", "[[2, 4, 8, 8], [6, 2, 3, 3], [], [], [], [], []]", odd, 2 * 2 * 3 * 3 * 3 * 3 * 4 * 6 / 2);
}

static void test_flops_that_cannot_be_said(void **state)
{
	const char *shapes = "[[2, 4, 8, 8], [5, 4, 3, 3]]";

	assert_flops("aten::mm", NULL, NULL, 0);
	assert_flops("aten::mm", "[]", NULL, 0);
	assert_flops("aten::mm", "[[3, 4]]", NULL, 0);
	assert_flops("aten::mm", "[[3], [4]]", NULL, 0);
	assert_flops("aten::mm", "[[-3, 4], [4, 5]]", NULL, 0);
	assert_flops("aten::mm", "[[4294967296, 4294967296], [4294967296, 4]]", NULL, 0);
	assert_flops("aten::mul", "[[18446744073709551615]]", NULL, 0);
	assert_flops("aten::conv2d", shapes, NULL, 0);
	assert_flops("aten::conv2d", shapes, "[\"\", \"\"", 0);
	assert_flops("aten::conv2d", shapes, "[\"\",\"\",\"\",\"[0, 0]\",\"[0, 0]\",\"[1, 1]\",\"1\"]", 0);
	assert_flops("aten::conv2d", shapes, "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[9, 9]\",\"1\"]", 0);
	assert_flops("aten::conv2d", shapes, "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"0\"]", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes_as_torch_prints_them), cmocka_unit_test(test_shapes_that_are_none),
		cmocka_unit_test(test_equal_texts_have_one_number), cmocka_unit_test(test_flops),
		cmocka_unit_test(test_flops_that_cannot_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
