/* Units: as ncu printed them for real kernels, where CUPTI is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cupti_here.h"
#include "kernel/choice/catalog.h"
#include "kernel/metrics/unit.h"

static void words(void **state)
{
	char unit[64];

	assert_string_equal(unit_of_dimension("instruction/gpc_cycle", unit, sizeof(unit)), "inst/cycle");
	assert_string_equal(unit_of_dimension("dram_cycle/second", unit, sizeof(unit)), "hz");
	assert_string_equal(unit_of_dimension("byte/second", unit, sizeof(unit)), "byte/s");
	assert_string_equal(unit_of_dimension("percent", unit, sizeof(unit)), "%");
	assert_string_equal(unit_of_dimension("l1tex_wavefront", unit, sizeof(unit)), "");
	assert_string_equal(unit_of_dimension("math_op/second", unit, sizeof(unit)), "");
	assert_string_equal(unit_of_dimension("", unit, sizeof(unit)), "");
	assert_string_equal(unit_of_dimension("/", unit, sizeof(unit)), "");
}

static void scaled(double value, const char *unit, double wanted, const char *wanted_unit)
{
	char got[64];
	double result = unit_scale(value, unit, got, sizeof(got));

	assert_true(result > wanted * 0.999999 && result < wanted * 1.000001);
	assert_string_equal(got, wanted_unit);
}

static void sizes(void **state)
{
	scaled(2619000000.0, "hz", 2.619, "Ghz");
	scaled(1700, "ns", 1.7, "us");
	scaled(5e9, "ns", 5, "s");
	scaled(7e15, "ns", 7e6, "s");
	scaled(32768, "byte", 32.768, "Kbyte");
	scaled(1024, "byte/block", 1.024, "Kbyte/block");
	scaled(3.2e12, "byte/s", 3.2, "Tbyte/s");
	scaled(6.13e12, "flop/s", 6.13, "Tflop/s");
	scaled(1.979e12, "op/s", 1.979, "Top/s");
	scaled(1700, "flop/byte", 1700, "flop/byte");
	scaled(123456789, "cycle", 123456789, "cycle");
	scaled(999, "byte", 999, "byte");
}

/* The next cell of a line of quoted cells, in place. */
static char *cell(char **at)
{
	char *begin = *at, *end;

	if (*begin != '"')
		return NULL;
	end = strchr(++begin, '"');
	if (!end)
		return NULL;
	*at = end[1] == ',' ? end + 2 : end + 1;
	*end = '\0';
	return begin;
}

static size_t compare_lines(const struct catalog *c, char *names, char *units)
{
	struct metric_facts facts;
	char got[64], *name, *unit;
	size_t count = 0;

	while ((name = cell(&names)) && (unit = cell(&units))) {
		if (!strstr(name, "__") || !name[metric_base_len(name)] || !catalog_facts(c, name, &facts))
			continue;
		if (strcmp(unit_of_dimension(facts.dimension, got, sizeof(got)), unit) != 0)
			fail_msg("%s: '%s' instead of '%s' (%s)", name, got, unit, facts.dimension);
		count++;
	}
	return count;
}

static void as_ncu_prints_them(void **state)
{
	static char names[1 << 18], units[1 << 18];
	FILE *file = fopen(NCU_TABLE, "r");
	struct cupti_host cupti;
	struct error err = { "" };
	struct catalog c;

	cupti_here(&cupti);
	assert_non_null(file);
	if (!cupti.library) {
		fclose(file);
		skip();
	}
	while (fgets(names, sizeof(names), file) && strncmp(names, "\"ID\"", 4) != 0)
		;
	assert_non_null(fgets(units, sizeof(units), file));
	fclose(file);
	if (catalog_open(&c, &cupti, "gh100", HOST_PROFILER_RANGE, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(compare_lines(&c, names, units) > 1500);
	catalog_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(sizes),
		cmocka_unit_test(as_ncu_prints_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
