/* What is written to choose ranges, times and steps. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/functions/fold.h"
#include "query/engine/scope_text.h"

static int matches(const char *pattern, const char *text)
{
	return pattern_matches(pattern, text, strlen(text));
}

static void test_patterns(void **state)
{
	assert_true(matches("step", "step"));
	assert_false(matches("step", "steps"));
	assert_false(matches("steps", "step"));
	assert_true(matches("layer_*_ffn", "layer_12_ffn"));
	assert_true(matches("layer_?_ffn", "layer_1_ffn"));
	assert_false(matches("layer_?_ffn", "layer_12_ffn"));
	assert_true(matches("*", ""));
	assert_false(matches("?", ""));
	assert_true(matches("", ""));
	assert_true(matches("a\\*b", "a*b"));
	assert_false(matches("a\\*b", "axb"));
	assert_true(matches("a\\", "a\\"));
	assert_true(matches("\\a\\/", "a/"));
	/* A text may have any byte in it. */
	assert_true(pattern_matches("a?b", "a\0b", 3));
	assert_false(pattern_matches("a", "a\0b", 3));
}

/* Against the C library, on all that a few letters can make. */
static void test_patterns_as_fnmatch(void **state)
{
	static const char letters[] = "ab*?";
	char pattern[8], text[8];
	unsigned cases = 0;

	srand(7);
	for (unsigned i = 0; i < 200000; i++) {
		size_t pattern_len = (size_t)rand() % 7, text_len = (size_t)rand() % 7;

		for (size_t k = 0; k < pattern_len; k++)
			pattern[k] = letters[rand() % 4];
		for (size_t k = 0; k < text_len; k++)
			text[k] = letters[rand() % 2];
		pattern[pattern_len] = text[text_len] = '\0';
		if (matches(pattern, text) != (fnmatch(pattern, text, 0) == 0))
			fail_msg("'%s' and '%s'", pattern, text);
		cases += (unsigned)matches(pattern, text);
	}
	assert_true(cases > 1000);
}

static int is_list(const char *text)
{
	struct number_list list;
	struct error err;

	return number_list_parse(&list, text, "the list", &err) >= 0;
}

static void test_number_lists(void **state)
{
	/* clang-format off */
	static const char *const wrong[] = { "", "-", ",", "1,", ",1", "1,,2", "3-1", "a", "1a", "1 ", " 1", "1-2-3", "+1", "1--2",
					     "9999999999999999999" };
	/* clang-format on */
	struct number_list list;
	struct error err;

	assert_int_equal(number_list_parse(&list, "3,5-7,10-,-1", "the list", &err), 0);
	for (uint64_t i = 0; i < 12; i++)
		assert_int_equal(number_list_has(&list, i), i <= 1 || i == 3 || (i >= 5 && i <= 7) || i >= 10);
	assert_true(number_list_has(&list, UINT64_MAX));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (is_list(wrong[i]))
			fail_msg("'%s' is no list", wrong[i]);
}

static void check_span(const char *text, int64_t start, int64_t end)
{
	struct error err;
	int64_t from, to;

	assert_int_equal(time_span_parse(text, &from, &to, &err), 0);
	assert_true(from == start);
	assert_true(to == end);
}

static void test_times(void **state)
{
	/* clang-format off */
	static const char *const wrong[] = { "", "5", "a/b", "5/4", "-1/2", "1m/", "1e3/", "1.2.3/", "nan/", "99999999999s/", "1 /2",
					     "9223372036854775808/" };
	/* clang-format on */
	struct error err;
	int64_t from, to;

	check_span("/", INT64_MIN, INT64_MAX);
	check_span("5/", 5, INT64_MAX);
	check_span("/7ns", INT64_MIN, 7);
	check_span("1.5us/2.25ms", 1500, 2250000);
	check_span(".5s/1s", 500000000, 1000000000);
	/* Beyond what a double holds exactly. */
	check_span("9007199254740993/9223372036854775807", 9007199254740993, INT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (time_span_parse(wrong[i], &from, &to, &err) >= 0)
			fail_msg("'%s' is no span of time", wrong[i]);
}

static void check_filter(const char *text, const char *name, const char *domain, int has_indices)
{
	struct range_filter filter;
	struct error err;

	assert_int_equal(range_filter_parse(&filter, text, &err), 0);
	assert_string_equal(filter.name, name);
	if (domain)
		assert_string_equal(filter.domain, domain);
	else
		assert_null(filter.domain);
	assert_int_equal(filter.has_indices, has_indices);
	range_filter_release(&filter);
}

static void test_range_filters(void **state)
{
	struct range_filter filter;
	struct error err;

	check_filter("step", "step", NULL, 0);
	check_filter("step@d", "step", "d", 0);
	check_filter("step@*/3", "step", "*", 1);
	check_filter("step/0,2-4", "step", NULL, 1);
	check_filter("a@b@c", "a@b", "c", 0);
	check_filter("a\\@b", "a\\@b", NULL, 0);
	check_filter("a\\@b@c/1", "a\\@b", "c", 1);
	check_filter("a\\/1", "a\\/1", NULL, 0);
	/* Names of ranges have slashes. */
	check_filter("app/saxpy", "app/saxpy", NULL, 0);
	check_filter("app/saxpy/7", "app/saxpy", NULL, 1);
	check_filter("a/", "a/", NULL, 0);
	check_filter("a@", "a", NULL, 0);
	assert_true(range_filter_parse(&filter, "", &err) < 0);
	range_filter_release(&filter);
	assert_true(range_filter_parse(&filter, "@d", &err) < 0);
	range_filter_release(&filter);
	assert_true(range_filter_parse(&filter, "a/3-1", &err) < 0);
	range_filter_release(&filter);
}

static void check_step(const char *name, int is_numbered, uint64_t number, int is_step)
{
	struct name_number found = { 0 };

	assert_int_equal(name_number_find(name, strlen(name), &found), is_numbered);
	if (!is_numbered)
		return;
	assert_int_equal(found.value, number);
	assert_int_equal(name_is_step(name, found.first), is_step);
}

static void test_steps(void **state)
{
	check_step("step 12", 1, 12, 1);
	check_step("ProfilerStep#12", 1, 12, 1);
	check_step("iteration_12", 1, 12, 1);
	check_step("iter 12", 1, 12, 1);
	check_step("Step: 12", 1, 12, 1);
	check_step("batch 12", 1, 12, 1);
	check_step("batch[7]", 1, 7, 1);
	check_step("train step 3/100", 1, 3, 1);
	check_step("epoch 1 iter 4", 1, 4, 1);
	check_step("step0007", 1, 7, 1);
	check_step("epoch 3", 1, 3, 0);
	check_step("12", 1, 12, 0);
	check_step("stepper 3", 1, 3, 0);
	check_step("step", 0, 0, 0);
	check_step("layer_12_ffn", 0, 0, 0);
	check_step("", 0, 0, 0);
	check_step("step 99999999999999999999", 0, 0, 0);
}

static void check_fold(const char *text, const char *expected)
{
	char folded[64];
	size_t len;

	strcpy(folded, text);
	len = fold_text(folded, strlen(folded), folded);
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(folded, expected, len);
}

static void test_fold(void **state)
{
	check_fold("layer_12_ffn", "layer_#_ffn");
	check_fold("12", "#");
	check_fold("1.25x", "#.#x");
	check_fold("a1b22c333", "a#b#c#");
	check_fold("none", "none");
	check_fold("", "");
	check_fold("#1#", "###");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns), cmocka_unit_test(test_patterns_as_fnmatch), cmocka_unit_test(test_number_lists),
		cmocka_unit_test(test_times),    cmocka_unit_test(test_range_filters),       cmocka_unit_test(test_steps),
		cmocka_unit_test(test_fold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
