/* Launches summed up by kernel, NVTX range and operator; how much they differ. Sums and deviations were computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/results/metric_names.h"
#include "kernel/summary/summary.h"

#define TIME "gpu__time_duration.sum"
#define PERCENT "sm__throughput.avg.pct_of_peak_sustained_elapsed"

static struct kernel_range training[] = { { "", "step", 0 }, { "", "aten::linear, seq = 4, op_id = 9", 1 }, { "", "aten::mm", 2 } };
static struct kernel_range other[] = {
	{ "", "step", 0 }, { "", "aten::linear, seq = 5", 1 }, { "lib", "inner", 0 }, { "", "whole run", -1 }
};

static struct metric_value values[4][2] = {
	{ { TIME, "ns", VALUE_INTEGER, { .integer = 100 } }, { PERCENT, "%", VALUE_REAL, { .real = 10 } } },
	{ { TIME, "ns", VALUE_INTEGER, { .integer = 300 } }, { PERCENT, "%", VALUE_REAL, { .real = 50 } } },
	{ { TIME, "ns", VALUE_INTEGER, { .integer = 50 } }, { PERCENT, "%", VALUE_REAL, { .real = 20 } } },
	{ { TIME, "ns", VALUE_INTEGER, { .integer = 7 } }, { PERCENT, "%", VALUE_REAL, { .real = 1 } } },
};

static struct kernel_result items[4];
static const struct kernel_results results = { .items = items, .count = 4 };

static int setup(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		/* clang-format off */
		items[i] = (struct kernel_result){ .id = i + 1, .number = i, .name = i < 2 ? "f(int)" : "g", .function = i < 2 ? "f" : "g", .mangled = "",
						   .host = "h", .verdict = "", .grid = { 8, 1, 1 }, .block = { 32, 1, 1 }, .values = values[i],
						   .value_count = 2 };
	/* clang-format on */
	items[0].ranges = items[1].ranges = training;
	items[0].range_count = items[1].range_count = 3;
	items[2].ranges = other;
	items[2].range_count = 4;
	return 0;
}

static char *summary(enum page_summary by, enum page_form form, double variation)
{
	struct metric_names named;
	struct page_options options = { .base_units = true, .named = &named, .variation = variation };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(metric_names_of(&named, &results), 0);
	assert_int_equal(page_print_summary(out, &results, &options, by, form), 0);
	metric_names_release(&named);
	fclose(out);
	return text;
}

static void holds(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in\n%s", words, text);
}

static void near_to(double number, double want, double distance)
{
	if (!(fabs(number - want) <= distance))
		fail_msg("%.17g is not %.17g", number, want);
}

static void test_spread(void **state)
{
	struct spread s = { 0 };

	(void)state;
	assert_true(isnan(spread_mean(&s)));
	spread_add(&s, 2);
	assert_true(spread_deviation(&s) == 0 && spread_percent(&s) == 0);
	/* 2 4 4 4 5 5 7 9: mean 5, squares of distances 32. */
	for (const char *at = "4445579"; *at; at++)
		spread_add(&s, *at - '0');
	assert_true(spread_mean(&s) == 5 && s.min == 2 && s.max == 9 && s.count == 8);
	near_to(spread_deviation(&s), sqrt(32.0 / 7), 1e-12);
	near_to(spread_percent(&s), 20 * sqrt(32.0 / 7), 1e-12);
	s = (struct spread){ 0 };
	spread_add(&s, -1);
	spread_add(&s, 1);
	assert_true(isnan(spread_percent(&s)));
	/* Small differences of large numbers. */
	s = (struct spread){ 0 };
	for (int i = 0; i < 3; i++)
		spread_add(&s, 1e15 + i);
	near_to(spread_deviation(&s), 1, 1e-9);
}

static void test_operators(void **state)
{
	static const char *const known[][2] = {
		{ "aten::mm", "aten::mm" },
		{ "aten::mm, seq = 5", "aten::mm" },
		{ "aten::add_.Tensor, op_id = 3, sizes = [[2, 3], []]", "aten::add_.Tensor" },
		{ "AddmmBackward0, seq = 17", "AddmmBackward0" },
		{ "autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0" },
		{ "autograd::engine::evaluate_function: AddmmBackward0, seq = 17", "AddmmBackward0" },
		{ "torch::jit::op", "torch::jit::op" },
	};
	static const char *const none[] = { "",    "step", "forward pass", "a sentence with std::vector in it",
					    "::x", "x::",  "a::::b",       ", seq = 4" };
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(operator_of(known[i][0], name, sizeof(name)));
		assert_string_equal(name, known[i][1]);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (operator_of(none[i], name, sizeof(name)))
			fail_msg("'%s' was taken for an operator", none[i]);
	assert_true(operator_of("aten::mm", name, 5));
	assert_string_equal(name, "aten");
}

static void test_per_operator(void **state)
{
	char *text = summary(SUMMARY_PER_OPERATOR, FORM_CSV, 10);

	(void)state;
	holds(text,
	      "\"Operator\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\",\"Total\"\n");
	/* Shares by time: (100 x 10 + 300 x 50) / 400. */
	holds(text,
	      "\"aten::mm\",\"2\",\"Command line profiler metrics\",\"" TIME "\",\"ns\",\"100.00\",\"300.00\",\"200.00\",\"400.00\"\n");
	holds(text, "\"" PERCENT "\",\"%\",\"10.00\",\"50.00\",\"40.00\",\"\"\n");
	holds(text, "\"aten::linear\",\"1\"");
	holds(text, "\"(no operator)\",\"1\"");
	/* The longest first. */
	assert_true(strstr(text, "aten::mm") < strstr(text, "aten::linear") &&
		    strstr(text, "aten::linear") < strstr(text, "(no operator)"));
	free(text);
	text = summary(SUMMARY_PER_OPERATOR, FORM_JSON, 10);
	holds(text, "{\"launches\": 2, \"operator\": \"aten::mm\",");
	holds(text, "\"mean\": 200, \"total\": 400}");
	free(text);
}

static void test_per_range(void **state)
{
	char *text = summary(SUMMARY_PER_NVTX, FORM_TEXT, 10);

	(void)state;
	holds(text, "  step, Invocations 3\n");
	holds(text, "  step/aten::linear, seq = 4, op_id = 9/aten::mm, Invocations 2\n");
	holds(text, "  lib@inner, Invocations 1\n");
	holds(text, "  whole run, Invocations 1\n");
	holds(text, "  (no range), Invocations 1\n");
	free(text);
	text = summary(SUMMARY_PER_NVTX, FORM_JSON, 10);
	holds(text, "{\"launches\": 3, \"range\": \"step\",");
	holds(text, "\"min\": 50, \"max\": 300, \"mean\": 150}");
	free(text);
}

static void test_per_kernel(void **state)
{
	char *text = summary(SUMMARY_PER_KERNEL, FORM_TEXT, 10);

	(void)state;
	/* 100 and 300: deviation 141.42, 70.71 % of 200. */
	holds(text, "141.42  ! 70.71%");
	holds(text, "    Varies from launch to launch: " TIME " (70.7%), " PERCENT " (94.3%): more than 10%\n");
	free(text);
	text = summary(SUMMARY_PER_KERNEL, FORM_TEXT, 0);
	assert_null(strstr(text, "Std. Deviation"));
	free(text);
}

static void test_typical(void **state)
{
	struct typical *t = find_typical(&results);

	(void)state;
	assert_non_null(t);
	assert_true(t[0].same == 2 && t[0].median == 200 && t[0].percent == -50 && t[1].percent == 50);
	assert_true(t[2].same == 2 && t[2].nearest == &items[2]);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),    cmocka_unit_test(test_operators),  cmocka_unit_test(test_per_operator),
		cmocka_unit_test(test_per_range), cmocka_unit_test(test_per_kernel), cmocka_unit_test(test_typical),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
