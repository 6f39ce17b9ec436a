/* Files of metric sets: what is in them, what is wrong with them, which one is taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/gpu/metric_set.h"

static char folder[64];

static const char *write_file(const char *name, const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

static int set_up(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/sonde-sets-XXXXXX");
	return mkdtemp(folder) ? setenv("SONDE_METRICS_PATH", folder, 1) : -1;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static void a_good_set(void **state)
{
	static struct metric_set set;
	struct error err = { "" };

	assert_int_equal(
		metric_set_read(
			&set,
			write_file(
				"good.set",
				"# x\n\nabout = what it is\nchip = GA10*, gh100\n"
				"a__b.avg.pct = Title One [Throughput %]\r\n  c__d.sum.per_second / 1e6   =  Rate [MB/s]\nplain__one = No unit"),
			&err),
		0);
	assert_string_equal(set.name, "good");
	assert_string_equal(set.about, "what it is");
	assert_int_equal(set.count, 3);
	assert_string_equal(set.entries[0].metric, "a__b.avg.pct");
	assert_string_equal(set.entries[0].title, "Title One [Throughput %]");
	assert_string_equal(set.entries[0].unit, "%");
	assert_true(set.entries[0].divisor == 1);
	assert_string_equal(set.entries[1].metric, "c__d.sum.per_second");
	assert_string_equal(set.entries[1].unit, "MB/s");
	assert_true(set.entries[1].divisor == 1e6);
	assert_string_equal(set.entries[2].unit, "");
	assert_true(metric_set_fits(&set, "GH100"));
	assert_true(metric_set_fits(&set, "ga102"));
	assert_false(metric_set_fits(&set, "GB100"));
}

static void bad_sets(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "", "holds no metrics" },
		{ "about = x\n", "holds no metrics" },
		{ "a__b\n", ":1: expected" },
		{ "a__b = x\n= y\n", ":2: this is not the name" },
		{ "a b = x\n", ":1: this is not the name" },
		{ "a__b =\n", ":1: a metric needs a title" },
		{ "a__b / 0 = x\n", ":1: the divisor of a metric" },
		{ "a__b / x = x\n", ":1: the divisor of a metric" },
		{ "a__b / nan = x\n", ":1: the divisor of a metric" },
	};
	static struct metric_set set;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(metric_set_read(&set, write_file("bad.set", bad[i].text), &err), -EINVAL);
		assert_non_null(strstr(err.text, bad[i].says));
	}
	assert_int_equal(metric_set_read(&set, "/nowhere/x.set", &err), -ENOENT);
}

static void endless_lines(void **state)
{
	static struct metric_set set;
	static char text[65536];
	struct error err;
	size_t used = 0;

	memset(text, 'a', 5000);
	assert_int_equal(metric_set_read(&set, write_file("bad.set", text), &err), -EINVAL);
	assert_non_null(strstr(err.text, "too long"));
	memset(text, 0, sizeof(text));
	for (int i = 0; i < METRIC_SET_MAX + 1; i++)
		used += (size_t)sprintf(text + used, "m__%d = x\n", i);
	assert_int_equal(metric_set_read(&set, write_file("bad.set", text), &err), -EINVAL);
	assert_non_null(strstr(err.text, ":257: too many"));
}

static void which_one(void **state)
{
	static struct metric_set set;
	struct error err = { "" };

	write_file("aaa.set", "a__a = x\n");
	write_file("bad.set", "");
	write_file("general.set", "chip = ga*\ng__g = x\n");
	assert_int_equal(metric_set_find(&set, NULL, "GA100", &err), 0);
	assert_string_equal(set.name, "general");
	assert_int_equal(metric_set_find(&set, NULL, "XX100", &err), 0);
	assert_string_equal(set.name, "aaa");
	assert_int_equal(metric_set_find(&set, "general", "XX100", &err), 0);
	assert_string_equal(set.entries[0].metric, "g__g");
	assert_int_equal(metric_set_find(&set, "nothing", "GA100", &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_set),
		cmocka_unit_test(bad_sets),
		cmocka_unit_test(endless_lines),
		cmocka_unit_test(which_one),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
