/* Which metrics a report has, and which of them a word means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/results/metric_names.h"

static struct metric_value first[] = { { .name = "b.sum" }, { .name = "a.avg" }, { .name = "a.avg.warm" } };
static struct metric_value second[] = { { .name = "b.sum" }, { .name = "a.sum" }, { .name = "ab.avg" }, { .name = "a.avg" } };
static struct kernel_result items[] = {
	{ .values = first, .value_count = 3 },
	{ .values = first, .value_count = 3 },
	{ .values = second, .value_count = 4 },
};
static const struct kernel_results results = { .items = items, .count = 3 };

static void expect(const struct metric_names *names, const char *wanted)
{
	char text[256] = "";

	for (size_t i = 0; i < names->count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", names->items[i]->name);
	assert_string_equal(text, wanted);
}

static void each_name_once_and_in_order(void **state)
{
	struct metric_names all;

	(void)state;
	assert_int_equal(metric_names_of(&all, &results), 0);
	expect(&all, "a.avg a.avg.warm a.sum ab.avg b.sum");
	assert_ptr_equal(metric_names_find(&all, "b.sum"), &first[0]);
	assert_null(metric_names_find(&all, "b"));
	metric_names_release(&all);
	assert_null(metric_names_find(&all, "b.sum"));
}

static void words_mean(const char *one, const char *other, const char *wanted)
{
	char words[2][64], *list[2] = { words[0], words[1] };
	struct metric_names all, meant;

	snprintf(words[0], sizeof(words[0]), "%s", one);
	snprintf(words[1], sizeof(words[1]), "%s", other);
	assert_int_equal(metric_names_of(&all, &results), 0);
	assert_int_equal(metric_names_meant(&meant, &all, list, 2), 0);
	expect(&meant, wanted);
	metric_names_release(&meant);
	metric_names_release(&all);
}

static void names_and_expressions(void **state)
{
	(void)state;
	words_mean("a", "none", "a.avg a.avg.warm a.sum");
	words_mean("a.avg", "a.avg", "a.avg a.avg.warm");
	words_mean("regex:b$", "none", "ab.avg b.sum");
	words_mean("regex:[.]sum$", "a.av", "a.sum b.sum");
	words_mean("regex:(", "b", "b.sum");
	words_mean("", "none", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_once_and_in_order),
		cmocka_unit_test(names_and_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
