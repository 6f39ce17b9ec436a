/* Launches and processes by what people write for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fmt/filter/frame_filter.h"
#include "fmt/filter/launch_filter.h"

static void names(void **state)
{
	static const struct {
		const char *text;
		const char *name;
		int matches;
	} cases[] = {
		{ "gemm", "gemm", 1 },
		{ "gemm", "gemm2", 0 },
		{ "regex:gemm", "sgemm_nn", 1 },
		{ "regex:^gemm$", "sgemm", 0 },
		{ "regex:^(?!foo)", "foobar", 0 },
		{ "regex:^(?!foo)", "barfoo", 1 },
		{ "regex:^(?!(foo|bar)).*$", "bar", 0 },
		{ "regex:a\\d(?:b|c)", "xa4c", 1 },
		{ "regex:a\\d(?:b|c)", "xadc", 0 },
		{ "regex:a\\\\d", "a\\d", 1 },
	};
	struct name_pattern p;
	char why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(name_pattern_parse(&p, cases[i].text, why, sizeof(why)), 0);
		if (name_pattern_matches(&p, cases[i].name) != cases[i].matches)
			fail_msg("%s on %s", cases[i].text, cases[i].name);
		name_pattern_release(&p);
	}
	assert_int_equal(name_pattern_parse(&p, "regex:", why, sizeof(why)), -1);
	assert_int_equal(name_pattern_parse(&p, "regex:a(", why, sizeof(why)), -1);
	assert_non_null(strstr(why, "is not a regular expression"));
	/* These would take the C library all memory. */
	assert_int_equal(name_pattern_parse(&p, "regex:a++++++++++++++++++++++++++++++++++++++++", why, sizeof(why)), -1);
	assert_int_equal(name_pattern_parse(&p, "regex:((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+", why, sizeof(why)), -1);
	assert_int_equal(name_pattern_parse(&p, "regex:((a{1,200}){1,200}){1,200}", why, sizeof(why)), -1);
	assert_non_null(strstr(why, "repeats too much"));
	assert_int_equal(name_pattern_parse(&p, "regex:^a+?b*?(c{2,3})+$", why, sizeof(why)), 0);
	assert_true(name_pattern_matches(&p, "aabccc") && !name_pattern_matches(&p, "aabc"));
	name_pattern_release(&p);
}

static void kernel_ids(void **state)
{
	struct kernel_id id;
	char why[200];

	(void)state;
	assert_int_equal(kernel_id_parse(&id, "1:7:regex:^foo:2", why, sizeof(why)), 0);
	assert_true(id_pattern_matches(&id.context, 1, NULL) && !id_pattern_matches(&id.context, 2, "1"));
	assert_true(id_pattern_matches(&id.stream, 7, NULL));
	assert_true(name_pattern_matches(&id.name, "foobar") && !name_pattern_matches(&id.name, "xfoo"));
	assert_true(id_pattern_matches(&id.invocation, 2, NULL) && !id_pattern_matches(&id.invocation, 1, NULL));
	kernel_id_release(&id);
	assert_int_equal(kernel_id_parse(&id, "::ns::f<a::b>(int):regex:[1-3]", why, sizeof(why)), 0);
	assert_true(id.context.is_any && id.stream.is_any);
	assert_true(name_pattern_matches(&id.name, "ns::f<a::b>(int)"));
	assert_true(id_pattern_matches(&id.invocation, 3, NULL) && !id_pattern_matches(&id.invocation, 13, NULL));
	kernel_id_release(&id);
	assert_int_equal(kernel_id_parse(&id, ":1|side.*::", why, sizeof(why)), 0);
	assert_true(id_pattern_matches(&id.stream, 1, NULL) && id_pattern_matches(&id.stream, 9, "side stream"));
	assert_false(id_pattern_matches(&id.stream, 11, "the side stream"));
	assert_true(!id.has_name && id.invocation.is_any);
	kernel_id_release(&id);
	assert_int_equal(kernel_id_parse(&id, "1:2", why, sizeof(why)), -1);
	assert_int_equal(kernel_id_parse(&id, "::foo", why, sizeof(why)), -1);
	assert_int_equal(kernel_id_parse(&id, "::foo:0", why, sizeof(why)), -1);
	assert_int_equal(kernel_id_parse(&id, "(:::", why, sizeof(why)), -1);
}

static void numbers(void **state)
{
	struct range_numbers r;
	char why[200];

	(void)state;
	assert_int_equal(range_numbers_parse(&r, "yes:[2-4]:2|3", why, sizeof(why)), 0);
	assert_true(r.restarts && id_pattern_matches(&r.profiler, 4, NULL) && !id_pattern_matches(&r.profiler, 24, NULL));
	assert_true(id_pattern_matches(&r.nvtx, 3, NULL) && !id_pattern_matches(&r.nvtx, 4, NULL));
	range_numbers_release(&r);
	assert_int_equal(range_numbers_parse(&r, "::", why, sizeof(why)), 0);
	assert_true(!r.restarts && r.profiler.is_any && r.nvtx.is_any);
	assert_int_equal(range_numbers_parse(&r, ":2", why, sizeof(why)), -1);
	assert_int_equal(range_numbers_parse(&r, ":2:3:4", why, sizeof(why)), -1);
	assert_int_equal(range_numbers_parse(&r, "perhaps::", why, sizeof(why)), -1);
	assert_int_equal(range_numbers_parse(&r, ":(:", why, sizeof(why)), -1);
}

static void processes(void **state)
{
	char why[200];

	(void)state;
	assert_int_equal(process_filter_choose("MatrixMul", "MatrixMul", NULL), PROCESS_TAKEN);
	assert_int_equal(process_filter_choose("MatrixMul", "MatrixAdd", NULL), PROCESS_PASSED_OVER);
	assert_int_equal(process_filter_choose("MatrixMul,MatrixAdd", "MatrixAdd", NULL), PROCESS_TAKEN);
	assert_int_equal(process_filter_choose("regex:Matrix", "MatrixAdd", NULL), PROCESS_TAKEN);
	assert_int_equal(process_filter_choose("exclude:sh", "sh", NULL), PROCESS_PASSED_OVER);
	assert_int_equal(process_filter_choose("exclude:sh", "python", NULL), PROCESS_TAKEN);
	assert_int_equal(process_filter_choose("python3", "python3.11", "python3"), PROCESS_TAKEN);
	/* The first that matches decides. */
	assert_int_equal(process_filter_choose("exclude:a,regex:.", "a", NULL), PROCESS_PASSED_OVER);
	assert_int_equal(process_filter_choose("regex:.,exclude:a", "a", NULL), PROCESS_TAKEN);
	assert_int_equal(process_filter_choose("exclude-tree:l,p", "l", NULL), PROCESS_TREE_PASSED_OVER);
	assert_int_equal(process_filter_check("a,regex:b+,exclude:c,exclude-tree:d", why, sizeof(why)), 0);
	assert_int_equal(process_filter_check("exclude:", why, sizeof(why)), -1);
	assert_int_equal(process_filter_check("a,regex:(", why, sizeof(why)), -1);
}

static void devices(void **state)
{
	(void)state;
	assert_int_equal(devices_parse("0"), 1);
	assert_int_equal(devices_parse("0,2,5"), 0x25);
	assert_int_equal(devices_parse("63"), UINT64_C(1) << 63);
	assert_int_equal(devices_parse("64"), 0);
	assert_int_equal(devices_parse(""), 0);
	assert_int_equal(devices_parse("1,"), 0);
	assert_int_equal(devices_parse("a"), 0);
	assert_int_equal(devices_parse("-1"), 0);
}

static int is_frame(const char *expression, const char *module, const char *file, const char *function)
{
	struct frame_filter f;
	char why[200];
	int matches;

	assert_int_equal(frame_filter_parse(&f, expression, why, sizeof(why)), 0);
	matches = frame_filter_matches(&f, module, file, function);
	frame_filter_release(&f);
	return matches;
}

static void frames(void **state)
{
	static const char module[] = "/usr/lib/libtorch_cuda.so.2", file[] = "/src/train.py";
	char longest[700], why[200];
	struct frame_filter f;

	(void)state;
	assert_true(is_frame("@@main", module, NULL, "main") && !is_frame("@@main", module, NULL, "remain"));
	assert_true(is_frame("libtorch_cuda", module, NULL, "f") && is_frame("libtorch_cuda.so", module, NULL, "f") &&
		    is_frame(module, module, NULL, ""));
	assert_false(is_frame("libtorch", module, NULL, "f"));
	assert_true(is_frame("@train.py", file, file, "f") && is_frame("train@/src/train.py@f", file, file, "f") &&
		    !is_frame("train@train.py@g", file, file, "f"));
	assert_true(is_frame("@@regex:^ma", module, NULL, "main") && is_frame("regex:torch@@^ma", module, NULL, "main"));
	assert_false(is_frame("regex:torch@@^in", module, NULL, "main"));
	/* An at sign may be in a function's name. */
	assert_true(is_frame("@@malloc@plt", module, NULL, "malloc@plt"));
	/* What is not known is not what is wanted. */
	assert_false(is_frame("@a.c", module, NULL, "main") || is_frame("@@main", module, NULL, "") || is_frame("x", NULL, NULL, "main"));
	assert_false(is_frame("a", ".a", NULL, "") || is_frame("a", "b", NULL, ""));
	assert_int_equal(frame_filter_parse(&f, "", why, sizeof(why)), -1);
	assert_int_equal(frame_filter_parse(&f, "@@", why, sizeof(why)), -1);
	assert_int_equal(frame_filter_parse(&f, "regex:", why, sizeof(why)), -1);
	assert_int_equal(frame_filter_parse(&f, "a@@regex:(", why, sizeof(why)), -1);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(frame_filter_parse(&f, longest, why, sizeof(why)), -1);
	/* Names that are too long for a pattern are looked at all the same. */
	assert_true(is_frame("regex:^a", longest, longest, longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),     cmocka_unit_test(kernel_ids), cmocka_unit_test(numbers),
		cmocka_unit_test(processes), cmocka_unit_test(devices),    cmocka_unit_test(frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
