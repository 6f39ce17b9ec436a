/* Texts that torch's table is made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "query/torch/ops.h"
#include "support.h"

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

static void assert_nvtx(const char *text, const char *name, int64_t sequence, const char *sizes)
{
	struct torch_nvtx_text parsed;

	assert_true(torch_parse_nvtx(text, &parsed));
	assert_int_equal(parsed.name_len, strlen(name));
	assert_memory_equal(text, name, strlen(name));
	assert_int_equal(parsed.sequence, sequence);
	assert_int_equal(parsed.sizes != NULL, sizes != NULL);
	if (sizes) {
		assert_int_equal(parsed.sizes_len, strlen(sizes));
		assert_memory_equal(parsed.sizes, sizes, strlen(sizes));
	}
}

static void test_ranges_of_emit_nvtx(void **state)
{
	struct torch_nvtx_text parsed;

	assert_nvtx("aten::mm, seq = 5, op_id = 7, sizes = [[2, 3], [3, 4]]", "aten::mm", 5, "[[2, 3], [3, 4]]");
	assert_nvtx("aten::mm, op_id = 7, sizes = [[2], [], [[1], [2]]], input_op_ids = [(5,0)]", "aten::mm", -1, "[[2], [], [[1], [2]]]");
	assert_nvtx("MmBackward0, seq = 12", "MmBackward0", 12, NULL);
	assert_nvtx("aten::relu", "aten::relu", -1, NULL);
	assert_nvtx("aten::mm, sizes = [[2, 3", "aten::mm", -1, "[[2, 3");
	assert_nvtx("aten::mm, sizes = ", "aten::mm", -1, "");
	assert_false(torch_parse_nvtx("step 3", &parsed));
	assert_false(torch_parse_nvtx(", seq = 3", &parsed));
	assert_false(torch_parse_nvtx("", &parsed));
}

/* A thread with a call of CUDA in the inner operator, one behind it in the outer one, and one outside; another thread with a call at the same
 * time, in none. Kernels in the order 3, 2, 1, 4. */
#define CALLS_AND_KERNELS \
	"process 0 uid=1 pid=10 name=\"a\"\n" \
	"thread 0 uid=1 process=1 tid=11 name=\"main\"\nthread 0 uid=2 process=1 tid=12 name=\"other\"\n" \
	"track 0 id=10 kind=9 process=1 thread=1 depth=0\ntrack 0 id=12 kind=9 process=1 thread=2 depth=0\n" \
	"track 0 id=20 kind=10 process=1 domain=1 depth=0\n" \
	"cuda_stream 0 uid=1 process=1 id=7 context=1 device=0\n" \
	"cuda_function 0 id=1 name=\"k\" short_name=\"k\" mangled=\"k\"\n" \
	"cuda_launch 0 id=1 function=1 grid_x=1 grid_y=1 grid_z=1 block_x=32 block_y=1 block_z=1\n" \
	"cuda_api 10 start=20 end=25 name=\"launch\" correlation=1\ncuda_api 10 start=60 end=65 name=\"launch\" correlation=2\n" \
	"cuda_api 10 start=200 end=205 name=\"launch\" correlation=3\ncuda_api 12 start=21 end=26 name=\"launch\" correlation=4\n" \
	"gpu_kernel 20 start=1000 end=1001 launch=1 correlation=3\ngpu_kernel 20 start=1010 end=1020 launch=1 correlation=2\n" \
	"gpu_kernel 20 start=1100 end=1200 launch=1 correlation=1\ngpu_kernel 20 start=2000 end=3000 launch=1 correlation=4\n"

static const char *const owners =
	"select name, cpuTime, selfCpuTime, deviceTime, selfDeviceTime, inputShapes from torch_ops where kind in ('op', 'annotation') order by start";
static const char
	*const calls = "select o.start, p.name from torch_ops o left join torch_ops p on p.id = o.parent where o.kind = 'call' order by 1";

static void test_recorded_operators_own_calls(void **state)
{
	struct query *q = open_text(CALLS_AND_KERNELS
				    "track 0 id=1 kind=20 process=1 thread=1 depth=0\ntrack 0 id=2 kind=20 process=1 thread=1 depth=1\n"
				    "torch_op 1 start=10 end=100 name=\"outer\" sequence=4 number=1\n"
				    "torch_op 1 start=110 end=120 name=\"aten::is_leaf\" number=1\n"
				    "torch_op 1 start=130 end=140 name=\"epoch\" scope=7 number=1\n"
				    "torch_op 2 start=15 end=50 name=\"inner\" number=1 shapes=\"[[2,3], []]\"\n");

	assert_string_equal(ask(q, owners), "outer|90|50|110|10|;inner|35|30|100|100|[[2, 3], []];epoch|10|10|0|0|");
	assert_string_equal(ask(q, calls), "20|inner;21|;60|outer;200|");
	assert_string_equal(ask(q, "select name, sequence from torch_ops where sequence is not null"), "outer|4");
	assert_string_equal(ask(q, "select deviceTime from torch_ops where kind = 'kernel' and parent is null order by 1"), "1;1000");
	close_text(q);
}

static void test_ranges_of_emit_nvtx_own_calls(void **state)
{
	struct query *q = open_text(
		CALLS_AND_KERNELS
		"track 0 id=1 kind=1 process=1 thread=1 domain=0 depth=0\ntrack 0 id=2 kind=1 process=1 thread=1 domain=0 depth=1\n"
		"slice 1 start=10 end=100 name=\"aten::linear, seq = 4, op_id = 1, sizes = [[2, 3], []]\"\n"
		"slice 1 start=150 end=160 name=\"my own range\"\n"
		"slice 2 start=15 end=50 name=\"aten::mm, op_id = 2\"\n");

	assert_string_equal(ask(q, owners), "aten::linear|90|50|110|10|[[2, 3], []];aten::mm|35|30|100|100|");
	assert_string_equal(ask(q, calls), "20|aten::mm;21|;60|aten::linear;200|");
	assert_string_equal(ask(q, "select name, sequence from torch_ops where sequence is not null"), "aten::linear|4");
	close_text(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_of_emit_nvtx),
		cmocka_unit_test(test_recorded_operators_own_calls),
		cmocka_unit_test(test_ranges_of_emit_nvtx_own_calls),
		cmocka_unit_test(test_shapes_as_torch_prints_them),
		cmocka_unit_test(test_shapes_that_are_none),
		cmocka_unit_test(test_equal_texts_have_one_number),
		cmocka_unit_test(test_flops),
		cmocka_unit_test(test_flops_that_cannot_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
