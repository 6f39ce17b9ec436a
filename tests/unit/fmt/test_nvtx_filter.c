/* NVTX expressions against stacks whose answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fmt/filter/nvtx_filter.h"

/* "A D@B <C" : pushed A, pushed B of domain D, started C. "-" has no name. */
static size_t ranges_of(const char *text, char *memory, struct nvtx_open_range *ret)
{
	size_t count = 0;
	char *word, *at;

	strcpy(memory, text);
	for (word = strtok(memory, " "); word; word = strtok(NULL, " ")) {
		int pushed = *word != '<';

		word += !pushed;
		at = strchr(word, '@');
		if (at)
			*at++ = '\0';
		ret[count++] = (struct nvtx_open_range){ .domain = at ? word : "", .name = at ? at : word, .is_pushed = pushed };
		if (strcmp(ret[count - 1].name, "-") == 0)
			ret[count - 1].name = NULL;
	}
	return count;
}

static int matches(const char *expression, const char *open)
{
	struct nvtx_open_range ranges[128];
	char memory[1024], why[200] = "";
	struct nvtx_filter filter;
	int result;

	if (nvtx_filter_parse(&filter, expression, why, sizeof(why)) < 0)
		fail_msg("%s: %s", expression, why);
	result = nvtx_filter_matches(&filter, ranges, ranges_of(open, memory, ranges));
	nvtx_filter_release(&filter);
	return result;
}

static void pushed(void **state)
{
	(void)state;
	assert_true(matches("A/", "A"));
	assert_true(matches("A/", "X A Y"));
	assert_false(matches("A/", "X"));
	assert_false(matches("A/", "<A"));
	assert_false(matches("A/", ""));
	assert_true(matches("A/B", "X A B Y"));
	assert_true(matches("A/B/", "A B"));
	assert_false(matches("A/B", "B A"));
	assert_false(matches("A/B", "A X B"));
	/* The first A is not the one. */
	assert_true(matches("A/B", "A X A B"));
}

static void places(void **state)
{
	(void)state;
	assert_true(matches("[A", "A B"));
	assert_false(matches("[A", "B A"));
	assert_true(matches("A]", "B A"));
	assert_false(matches("A]", "A B"));
	assert_true(matches("[A]", "A"));
	assert_false(matches("[A]", "A A"));
	assert_true(matches("[A/+/B]", "A X B"));
	assert_false(matches("[A/+/B]", "A B"));
	assert_false(matches("[A/+/B]", "A X Y B"));
	assert_true(matches("[A/+/+/B]", "A X Y B"));
	assert_true(matches("[A/*/B]", "A B"));
	assert_true(matches("[A/*/B]", "A X Y B"));
	assert_false(matches("[A/*/B]", "A X B Y"));
	assert_true(matches("A/*/B/*/C", "A A X B B C Z"));
	assert_false(matches("A/*/B/*/C", "A C B"));
	/* One without a name is there, but is nobody's. */
	assert_true(matches("A/+/B", "A - B"));
	assert_false(matches("A/-/B", "A - B"));
}

static void started(void **state)
{
	(void)state;
	assert_true(matches("A", "<A"));
	assert_true(matches("A", "X <B <A"));
	assert_false(matches("A", "A"));
	assert_true(matches("A,B", "<B <X <A"));
	assert_false(matches("A,B", "<A"));
	assert_true(matches("Range A,Range\\,B", "<Range_A") == 0);
}

static void domains(void **state)
{
	(void)state;
	assert_true(matches("D@A/", "D@A"));
	assert_false(matches("D@A/", "A"));
	assert_false(matches("A/", "D@A"));
	assert_true(matches("D@A,B", "<D@A <D@B"));
	assert_false(matches("D@A,B", "<D@A <E@B"));
	assert_true(matches("A/B", "A D@X B"));
	assert_true(matches("<default domain>@A/", "A"));
	assert_true(matches("regex:^D[12]$@A/", "D2@A"));
	assert_false(matches("regex:^D[12]$@A/", "D3@A"));
	/* All of a stack are of one domain. */
	assert_false(matches("regex:D.@A/B", "D1@A D2@B"));
	assert_true(matches("regex:D.@A/B", "D1@A D2@A D2@B"));
}

static void expressions(void **state)
{
	(void)state;
	assert_true(matches("regex:^A[0-9]/", "A7"));
	assert_false(matches("regex:^A[0-9]$/", "A77"));
	assert_true(matches("regex:A\\d+/", "xA77"));
	/* The vendor's own example: brackets of the expressions, first and last. */
	assert_true(matches("regex:[0-9]domainA@/[0-9]rangeA,RangeC[0-9/]", "<1domainA@2rangeA <1domainA@RangeC3"));
	assert_false(matches("regex:[0-9]domainA@/[0-9]rangeA,RangeC[0-9/]", "<1domainA@2rangeA <1domainA@RangeC"));
	assert_true(matches("regex:[A.", "Ab X"));
	assert_false(matches("regex:[A.", "X Ab"));
	assert_true(matches("regex:^A$/*/B]", "A X aB"));
}

static void escapes(void **state)
{
	(void)state;
	assert_true(matches("A\\[i\\]", "<A[i]"));
	assert_true(matches("\\[A/", "[A"));
	assert_true(matches("a\\/b/", "a/b"));
	assert_true(matches("a\\@b", "<a@b") == 0); /* the double reads that as a domain */
	assert_true(matches("\\*/", "*"));
	assert_true(matches("A/\\*/B", "A * B"));
	assert_false(matches("A/\\*/B", "A B"));
	assert_true(matches("a\\\\b/", "a\\b"));
	assert_true(matches("a\\,b", "<a,b"));
	assert_true(matches("regex:^a\\/b$/", "a/b"));
}

static void deep(void **state)
{
	struct nvtx_open_range ranges[100];
	struct nvtx_filter filter;
	char why[200];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		ranges[i] = (struct nvtx_open_range){ .domain = "", .name = i == 62 ? "B" : i == 0 ? "A" : "x", .is_pushed = 1 };
	assert_int_equal(nvtx_filter_parse(&filter, "[A/*/B", why, sizeof(why)), 0);
	assert_true(nvtx_filter_matches(&filter, ranges, 100));
	ranges[62].name = "x";
	ranges[63].name = "B"; /* above those that are looked at */
	assert_false(nvtx_filter_matches(&filter, ranges, 100));
	nvtx_filter_release(&filter);
}

static void wrong(void **state)
{
	/* clang-format off */
	static const char *const texts[] = { "",	"/",	  "[",	 "]",	 "[]",	  "@",	    "@A",	"D@",	   "A,",     ",A",
					     "A//B",	"*/A",	  "A/+", "A,,B", "D@E@A", "regex:", "regex:(/", "regex:@A/", "regex:A@(", "[*]" };
	/* clang-format on */
	struct nvtx_filter filter;
	char why[200], longest[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		why[0] = '\0';
		if (nvtx_filter_parse(&filter, texts[i], why, sizeof(why)) != -1)
			fail_msg("'%s' was taken", texts[i]);
		assert_true(why[0] != '\0');
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(nvtx_filter_parse(&filter, longest, why, sizeof(why)), -1);
	memset(longest, '/', 100);
	for (int i = 0; i < 80; i += 2)
		longest[i] = 'a';
	longest[80] = '\0';
	assert_int_equal(nvtx_filter_parse(&filter, longest, why, sizeof(why)), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed),      cmocka_unit_test(places),  cmocka_unit_test(started), cmocka_unit_test(domains),
		cmocka_unit_test(expressions), cmocka_unit_test(escapes), cmocka_unit_test(deep),    cmocka_unit_test(wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
