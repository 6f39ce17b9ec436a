/* Formulas of ours, against values worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "query/torch/flops.h"

static void assert_flops(const char *name, const char *shapes, const char *inputs, int64_t want)
{
	assert_int_equal(torch_own_flops(torch_own_formula_of(name), shapes, inputs), want);
}

static void test_matrix_products(void **state)
{
	/* 2 x 5 rows of 3 numbers, 4 features: 10 rows x 4 results x 3 products, 2 operations each: 240. The bias is not counted. */
	assert_flops("aten::linear", "[[2, 5, 3], [4, 3], [4]]", NULL, 240);
	/* A weight of one dimension makes one number of a row: 10 x 3 x 2. */
	assert_flops("aten::linear", "[[10, 3], [3], []]", NULL, 60);
	/* 3 x 5 results of 4 products: 15 x 4 x 2 = 120. */
	assert_flops("aten::matmul", "[[3, 4], [4, 5]]", NULL, 120);
	/* The batch of 6 x 1 meets that of 7: 42 products of matrices, 42 x 120 = 5040. */
	assert_flops("aten::matmul", "[[6, 1, 3, 4], [7, 4, 5]]", NULL, 5040);
	/* Row by matrix: 5 results of 4 products; matrix by column: 3 results of 4; row by column: 1 of 4. */
	assert_flops("aten::matmul", "[[4], [4, 5]]", NULL, 40);
	assert_flops("aten::matmul", "[[3, 4], [4]]", NULL, 24);
	assert_flops("aten::matmul", "[[4], [4]]", NULL, 8);
	assert_flops("aten::mv", "[[3, 4], [4]]", NULL, 24);
	assert_flops("aten::addmv", "[[3], [3, 4], [4]]", NULL, 24);
	assert_flops("aten::dot", "[[4], [4]]", NULL, 8);
	/* 7 products of 3 x 4 by 4 x 5, added up: 7 x 120. */
	assert_flops("aten::addbmm", "[[3, 5], [7, 3, 4], [7, 4, 5]]", NULL, 840);
	/* FP8: 16 x 32 results of 64 products: 512 x 64 x 2 = 65536. Scales are not counted. */
	assert_flops("aten::_scaled_mm", "[[16, 64], [64, 32], [], [], [], [], []]", NULL, 65536);
	assert_flops("aten::_int_mm", "[[16, 64], [64, 32]]", NULL, 65536);
}

static void test_grouped_products(void **state)
{
	/* 10 rows of 4 numbers, each meets the 4 x 5 matrix of its group, one of 3: 10 x 5 results of 4 products: 400. */
	assert_flops("aten::_grouped_mm", "[[10, 4], [3, 4, 5], [3]]", NULL, 400);
	/* 3 groups of 2 x 4 by 4 x 5: 3 x 10 results of 4 products: 240. */
	assert_flops("aten::_grouped_mm", "[[3, 2, 4], [3, 4, 5]]", NULL, 240);
	/* 3 matrices of 2 x 4; the 9 columns of the right are split among them: 2 x 9 results of 4 products: 144. */
	assert_flops("aten::_grouped_mm", "[[3, 2, 4], [4, 9], [3]]", NULL, 144);
	/* The 12 products of 2 x 5 results are split into groups: 10 x 12 x 2 = 240. */
	assert_flops("aten::_scaled_grouped_mm", "[[2, 12], [12, 5], [], [], [3]]", NULL, 240);
}

static void test_convolutions(void **state)
{
	const char *plain = "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"1\"]";
	const char *wide = "[\"\", \"\", \"\", \"[2]\", \"[1]\", \"[1]\", \"4\"]";
	const char *same = "[\"\", \"\", \"\", \"[1]\", \"same\", \"[1]\", \"1\"]";
	const char *valid = "[\"\", \"\", \"\", \"[1]\", \"valid\", \"[1]\", \"1\"]";

	/* 10 numbers under 3: 8 places; 2 samples x 8 places x 5 channels out x 4 in x 3 x 2 = 1920. */
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3], [5], [], [], [], []]", plain, 1920);
	/* One sample without a batch: half of it. */
	assert_flops("aten::conv1d", "[[4, 10], [5, 4, 3], [5], [], [], [], []]", plain, 960);
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3], [5], [], [], [], []]", valid, 1920);
	/* Padded to 10 places: 1920 x 10 / 8. */
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3], [5], [], [], [], []]", same, 2400);
	/* 4 groups: the weight has 8 / 4 = 2 channels in. Padded to 12, every second of 10: 5 places; 5 x 8 x 2 x 3 x 2 = 480. */
	assert_flops("aten::conv1d", "[[1, 8, 10], [8, 2, 3], [], [], [], [], []]", wide, 480);
	/* 4 x 4 x 4 under 2 x 2 x 2: 27 places; 27 x 5 out x 3 in x 8 x 2 = 6480. */
	assert_flops("aten::conv3d", "[[1, 3, 4, 4, 4], [5, 3, 2, 2, 2], [], [], [], [], []]", plain, 6480);
	/* Backwards: each of 2 x 4 x 10 inputs is spread over 5 channels x 3 places: 80 x 15 x 2 = 2400. */
	assert_flops("aten::conv_transpose1d", "[[2, 4, 10], [4, 5, 3], [], [], [], [], [], []]", plain, 2400);
	/* 3 x 6 x 6 inputs over 4 channels x 2 x 2: 108 x 16 x 2 = 3456. */
	assert_flops("aten::conv_transpose2d", "[[1, 3, 6, 6], [3, 4, 2, 2]]", plain, 3456);
	assert_flops("aten::convolution", "[[2, 4, 10], [5, 4, 3], [5]]",
		     "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"False\", \"[0]\", \"1\"]", 1920);
	assert_flops("aten::convolution", "[[2, 4, 10], [4, 5, 3], [5]]",
		     "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"True\", \"[0]\", \"1\"]", 2400);
	/* Padding is told before the stride: 12 x 12 under 3 x 3, every second: 5 x 5 places x 5 x 4 x 9 x 2 = 9000. */
	assert_flops("aten::cudnn_convolution", "[[1, 4, 10, 10], [5, 4, 3, 3]]", "[\"\", \"\", \"[1, 1]\", \"[2, 2]\", \"[1, 1]\", \"1\"]",
		     9000);
}

static void test_backward_convolutions(void **state)
{
	const char *both = "[\"\",\"\",\"\",\"[5]\",\"[1]\",\"[0]\",\"[1]\",\"False\",\"[0]\",\"1\",\"[True, True, True]\"]";
	const char *weight = "[\"\",\"\",\"\",\"[5]\",\"[1]\",\"[0]\",\"[1]\",\"False\",\"[0]\",\"1\",\"[False, True, True]\"]";

	/* As forward, 2 x 8 places x 5 x 4 x 3 x 2 = 1920, for each of two gradients; the bias is not counted. */
	assert_flops("aten::convolution_backward", "[[2, 5, 8], [2, 4, 10], [5, 4, 3], []]", both, 3840);
	assert_flops("aten::convolution_backward", "[[2, 5, 8], [2, 4, 10], [5, 4, 3], []]", weight, 1920);
}

static void test_attention(void **state)
{
	const char *plain = "[[2, 3, 10, 8], [2, 3, 20, 8], [2, 3, 20, 16], [], [], []]";

	/* 2 x 3 x 10 queries by 20 keys: 1200 weights of 8 products, then 1200 x 16 products with values: 1200 x 24 x 2 = 57600. */
	assert_flops("aten::scaled_dot_product_attention", plain, NULL, 57600);
	assert_flops("aten::_scaled_dot_product_flash_attention", plain, NULL, 57600);
	assert_flops("aten::_scaled_dot_product_efficient_attention", plain, NULL, 57600);
	assert_flops("aten::_scaled_dot_product_cudnn_attention", plain, NULL, 57600);
	/* 6 heads of queries share 2 of keys: 6 x 10 x 20 weights x (8 + 8) x 2 = 38400. */
	assert_flops("aten::scaled_dot_product_attention", "[[1, 6, 10, 8], [1, 2, 20, 8], [1, 2, 20, 8]]", NULL, 38400);
	/* Length before heads. */
	assert_flops("aten::_flash_attention_forward", "[[2, 10, 3, 8], [2, 20, 3, 8], [2, 20, 3, 16], [], []]", NULL, 57600);
	assert_flops("aten::_efficient_attention_forward", "[[2, 10, 3, 8], [2, 20, 3, 8], [2, 20, 3, 16], [], [], []]", NULL, 57600);
	/* Backward: weights again, 1200 x 8; gradients of weights and of values, 1200 x 16 each; of queries and of keys, 1200 x 8 each:
	 * 1200 x (3 x 8 + 2 x 16) x 2 = 134400. */
	assert_flops("aten::_scaled_dot_product_efficient_attention_backward",
		     "[[2, 3, 10, 16], [2, 3, 10, 8], [2, 3, 20, 8], [2, 3, 20, 16]]", NULL, 134400);
	assert_flops("aten::_flash_attention_backward", "[[2, 10, 3, 16], [2, 10, 3, 8], [2, 20, 3, 8], [2, 20, 3, 16]]", NULL, 134400);
}

static void test_what_cannot_be_said(void **state)
{
	assert_null(torch_own_formula_of("aten::relu"));
	/* torch has formulas for these. */
	assert_null(torch_own_formula_of("aten::mm"));
	assert_null(torch_own_formula_of("aten::bmm"));
	assert_null(torch_own_formula_of(NULL));
	assert_int_equal(torch_own_flops(NULL, "[[1]]", NULL), 0);
	assert_flops("aten::linear", NULL, NULL, 0);
	assert_flops("aten::linear", "[[2, 3]]", NULL, 0);
	assert_flops("aten::matmul", "[[], []]", NULL, 0);
	assert_flops("aten::matmul", "[[4294967296, 4294967296], [4294967296, 4]]", NULL, 0);
	assert_flops("aten::_grouped_mm", "[[1, 2, 3, 4], [4, 5]]", NULL, 0);
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3]]", NULL, 0);
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3]]", "[\"\", \"\"", 0);
	assert_flops("aten::conv1d", "[[10], [3]]", "[\"\",\"\",\"\",\"[1]\",\"[0]\",\"[1]\"]", 0);
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3]]", "[\"\",\"\",\"\",\"[0]\",\"[0]\",\"[1]\"]", 0);
	assert_flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3]]", "[\"\",\"\",\"\",\"[1]\",\"reflect\",\"[1]\"]", 0);
	assert_flops("aten::conv_transpose1d", "[[2, 4], [4, 5]]", NULL, 0);
	assert_flops("aten::convolution_backward", "[[2, 5, 8], [2, 4, 10], [5, 4, 3]]", NULL, 0);
	assert_flops("aten::convolution_backward", "[[2, 5, 8], [2, 4, 10], [5, 4, 3]]", "[\"\"]", 0);
	assert_flops("aten::scaled_dot_product_attention", "[[10], [20], [20]]", NULL, 0);
	assert_flops("aten::scaled_dot_product_attention", "[[2, 10, 8], [20, 8], [20, 8]]", NULL, 0);
	/* Sequences of several lengths, one behind the other. */
	assert_flops("aten::_flash_attention_forward", "[[1, 10, 3, 8], [1, 20, 3, 8], [1, 20, 3, 8], [4], [4]]", NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix_products), cmocka_unit_test(test_grouped_products),
		cmocka_unit_test(test_convolutions),    cmocka_unit_test(test_backward_convolutions),
		cmocka_unit_test(test_attention),       cmocka_unit_test(test_what_cannot_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
