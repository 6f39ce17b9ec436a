#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stats/report_file.h"

static void test_header(void **state)
{
	static const char text[] = "-- title: My Report\n-- alias: old, older\n-- default: 7\n-- requires: NVTX_EVENTS\n"
				   "-- skipped: NVTX data\n-- column: Total Time = time\n-- column: A = B = number\n"
				   "-- help: one\n-- help: two\n\nSELECT 1,\n\t2 -- not: a header\n";
	struct report_file file;
	struct error err;

	assert_int_equal(report_file_parse(&file, "dir/mine.sql", text, &err), 0);
	assert_string_equal(file.name, "mine");
	assert_string_equal(file.title, "My Report");
	assert_string_equal(file.aliases[0], "old");
	assert_string_equal(file.aliases[1], "older");
	assert_int_equal(file.default_place, 7);
	assert_string_equal(file.requires, "NVTX_EVENTS");
	assert_int_equal(file.column_count, 2);
	assert_string_equal(file.columns[0].title, "Total Time");
	assert_int_equal(file.columns[0].display, DISPLAY_TIME);
	assert_string_equal(file.columns[1].title, "A = B");
	assert_string_equal(file.help, "one\ntwo");
	assert_string_equal(file.sql, "SELECT 1,\n\t2 -- not: a header\n");
	report_file_release(&file);
}

static void option_is(const struct report_file *file, const char *asked, const char *option, const char *value)
{
	size_t len;
	const char *found = report_option_value(file, asked, option, &len);

	assert_non_null(found);
	assert_int_equal(len, strlen(value));
	assert_memory_equal(found, value, len);
}

static void test_options(void **state)
{
	static const char text[] = "-- title: T\n-- option: thread each thread apart\n-- option: rows=50 so many\n"
				   "-- column: TID = id if thread\n-- column: All = text if !thread\n-- column: A = number\n"
				   "SELECT 1\n";
	struct report_file file;
	struct report_files files = { &file, 1 };
	struct error err;
	size_t len;

	assert_int_equal(report_file_parse(&file, "mine.sql", text, &err), 0);
	assert_int_equal(file.option_count, 2);
	assert_string_equal(file.options[0].help, "each thread apart");
	option_is(&file, "mine", "thread", "0");
	option_is(&file, "mine:thread", "thread", "1");
	option_is(&file, "mine", "rows", "50");
	option_is(&file, "mine:rows=7:thread", "rows", "7");
	option_is(&file, "mine:rows=7:thread", "thread", "1");
	option_is(&file, "mine:rows=7:rows=", "rows", "");
	assert_null(report_option_value(&file, "mine:row=7", "row", &len));
	assert_true(report_column_shown(&file, "mine:thread", 0) && !report_column_shown(&file, "mine", 0));
	assert_true(!report_column_shown(&file, "mine:thread", 1) && report_column_shown(&file, "mine:rows=1", 1));
	assert_true(report_column_shown(&file, "mine", 2));
	assert_ptr_equal(report_files_find(&files, "mine:thread:rows=0", &err), &file);
	assert_null(report_files_find(&files, "mine:thread=1", &err));
	assert_non_null(strstr(err.text, "does not take a value"));
	assert_ptr_equal(report_files_find(&files, "mine:rows=-1.5:thread", &err), &file);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const odd[] = { "mine:rows=x", "mine:rows=:thread", "mine:rows=5x:thread", "mine:rows=1-" };

		assert_null(report_files_find(&files, odd[i], &err));
		assert_non_null(strstr(err.text, "Option rows of mine takes a number"));
	}
	assert_null(report_files_find(&files, "mine:", &err));
	assert_non_null(strstr(err.text, "does not have an option ''"));
	assert_null(report_files_find(&files, "min", &err));
	report_file_release(&file);
}

static void expect_refused(const char *text, const char *reason)
{
	struct report_file file;
	struct error err;

	assert_int_equal(report_file_parse(&file, "x.sql", text, &err), -EINVAL);
	assert_non_null(strstr(err.text, reason));
}

static void test_what_is_not_a_report(void **state)
{
	expect_refused("", "x.sql is not a report");
	expect_refused("SELECT 1", "x.sql is not a report");
	expect_refused("-- title: T\n-- column: A = text", "x.sql is not a report");
	expect_refused("-- title: T\n-- column: A\nSELECT 1", "x.sql line 2: column takes");
	expect_refused("-- title: T\n-- colour: A\nSELECT 1", "x.sql line 2: 'colour'");
	expect_refused("-- title: T\n-- column: A = text when x\nSELECT 1", "x.sql line 2: column takes");
	expect_refused("-- title: T\n-- option: =5 x\nSELECT 1", "x.sql line 2: option takes");
	expect_refused("-- default: x\nSELECT 1", "line 1: default takes a number");
}

static void write_file(const char *folder, const char *name, const char *title)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	fprintf(out, "-- title: %s\n-- column: A = text\n-- alias: the_%.3s\nSELECT 1\n", title, name);
	fclose(out);
}

static void test_folders(void **state)
{
	char first[] = "reports.XXXXXX", second[] = "reports.XXXXXX", path[256];
	const char *folders[] = { "no/such/folder", first, second };
	struct report_files files;
	struct error err;

	assert_non_null(mkdtemp(first));
	assert_non_null(mkdtemp(second));
	write_file(first, "one_sum.sql", "from the first");
	write_file(second, "one_sum.sql", "from the second");
	write_file(second, "two_sum.sql", "only here");
	write_file(second, "notes.txt", "no report");
	assert_int_equal(report_files_load(&files, folders, 3, &err), 0);
	assert_int_equal(files.count, 2);
	assert_string_equal(report_files_find(&files, "one_sum", &err)->title, "from the first");
	assert_string_equal(report_files_find(&files, "the_two", &err)->title, "only here");
	assert_null(report_files_find(&files, "two_sun", &err));
	assert_string_equal(err.text, "Unknown report 'two_sun'. Did you mean two_sum?");
	report_files_release(&files);
	for (int i = 1; i < 3; i++)
		for (const char **n = (const char *[]){ "one_sum.sql", "two_sum.sql", "notes.txt", NULL }; *n; n++) {
			snprintf(path, sizeof(path), "%s/%s", folders[i], *n);
			unlink(path);
		}
	rmdir(first);
	rmdir(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_what_is_not_a_report),
		cmocka_unit_test(test_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
