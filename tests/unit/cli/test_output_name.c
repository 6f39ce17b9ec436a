#include "run_cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/arguments/output_name.h"

/* Each test runs in an empty folder of its own, without a rank in the environment. */
static int enter(void **state)
{
	char *folder = make_folder();

	unsetenv("RANK");
	unsetenv("SLURM_PROCID");
	unsetenv("OMPI_COMM_WORLD_RANK");
	*state = folder;
	return chdir(folder);
}

static int leave(void **state)
{
	int r = chdir("..");

	remove_folder(*state);
	return r;
}

/* The name, as a path below the current folder, and the number taken. */
static void assert_name(const char *name, pid_t pid, int first, const char *expected, int number)
{
	char path[PATH_MAX], cwd[PATH_MAX], whole[PATH_MAX * 2];
	struct error err = { "" };

	assert_int_equal(output_name_path(name, OUTPUT_SONDE, pid, first, path, sizeof(path), &err), number);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(whole, sizeof(whole), "%s/%s", cwd, expected);
	assert_string_equal(path, whole);
}

static void test_extension(void **state)
{
	assert_name("run", 1, 1, "run.sonde", 0);
	assert_name("run.sonde", 1, 1, "run.sonde", 0);
	assert_name("run.nsys-rep", 1, 1, "run.nsys-rep", 0);
	assert_name("run.txt", 1, 1, "run.txt.sonde", 0);
	assert_name(".sonde", 1, 1, ".sonde.sonde", 0);
	assert_name("./run24", 1, 1, "run24.sonde", 0);
}

static void test_absolute(void **state)
{
	char path[PATH_MAX];
	struct error err;

	assert_int_equal(output_name_path("/reports/x", OUTPUT_SONDE, 1, 1, path, sizeof(path), &err), 0);
	assert_string_equal(path, "/reports/x.sonde");
}

static void test_default_takes_the_smallest_free_number(void **state)
{
	assert_name(NULL, 1, 1, "report1.sonde", 1);
	write_under(".", "/report1.sonde", "");
	assert_name(NULL, 1, 1, "report2.sonde", 2);
	/* One that is being recorded counts as taken. */
	write_under(".", "/report2.sonde.part", "");
	assert_name(NULL, 1, 1, "report3.sonde", 3);
	/* A planted link counts too, even if it leads nowhere. */
	assert_int_equal(symlink("nowhere", "report3.sonde"), 0);
	assert_name(NULL, 1, 1, "report4.sonde", 4);
	assert_name(NULL, 1, 7, "report7.sonde", 7);
	assert_name("", 1, 1, "report4.sonde", 4);
}

static void test_macros(void **state)
{
	char host[256], expected[512];

	gethostname(host, sizeof(host));
	setenv("SONDE_TEST_NAME", "value", 1);
	assert_name("a%p", 4711, 1, "a4711.sonde", 0);
	snprintf(expected, sizeof(expected), "%s-x.sonde", host);
	assert_name("%h-x", 1, 1, expected, 0);
	assert_name("%q{SONDE_TEST_NAME}.sonde", 1, 1, "value.sonde", 0);
	assert_name("100%%", 1, 1, "100%.sonde", 0);
	assert_name("%%p", 12, 1, "%p.sonde", 0);
	write_under(".", "/n1.sonde", "");
	assert_name("n%n.sonde", 1, 1, "n2.sonde", 2);
	assert_name("%p_%p_%n", 3, 1, "3_3_1.sonde", 1);
}

static void test_bad_macros(void **state)
{
	static const char *const bad[] = { "%x", "a%", "%q", "%q{", "%q{}", "%q{SONDE_NOT_SET}" };
	struct error err;
	size_t i;

	unsetenv("SONDE_NOT_SET");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(output_name_check(bad[i], OUTPUT_SONDE, &err), -EINVAL);
		assert_true(err.text[0] != '\0');
		assert_int_equal(count_lines(err.text), 0);
	}
}

static void test_rank(void **state)
{
	char host[256], expected[512];

	gethostname(host, sizeof(host));
	setenv("SLURM_PROCID", "0", 1);
	snprintf(expected, sizeof(expected), "run.%s.rank0.sonde", host);
	assert_name("run", 1, 1, expected, 0);
	/* More specific launchers win over the step they run in. */
	setenv("OMPI_COMM_WORLD_RANK", "12", 1);
	snprintf(expected, sizeof(expected), "run.%s.rank12.nsys-rep", host);
	assert_name("run.nsys-rep", 1, 1, expected, 0);
	setenv("RANK", "3", 1);
	snprintf(expected, sizeof(expected), "run.%s.rank3.sonde", host);
	assert_name("run.sonde", 1, 1, expected, 0);
	snprintf(expected, sizeof(expected), "report1.%s.rank3.sonde", host);
	assert_name(NULL, 1, 1, expected, 1);
	/* A macro says how names differ; a percent sign is none. */
	assert_name("run%p", 9, 1, "run9.sonde", 0);
	snprintf(expected, sizeof(expected), "50%%.%s.rank3.sonde", host);
	assert_name("50%%", 9, 1, expected, 0);
	/* A variable of this name that is no rank. */
	setenv("RANK", "../../etc", 1);
	snprintf(expected, sizeof(expected), "run.%s.rank12.sonde", host);
	assert_name("run", 1, 1, expected, 0);
}

static void test_folder_is_checked(void **state)
{
	struct error err;

	assert_int_equal(output_name_check("run", OUTPUT_SONDE, &err), 0);
	assert_int_equal(output_name_check(NULL, OUTPUT_SONDE, &err), 0);
	assert_int_equal(output_name_check("missing/run", OUTPUT_SONDE, &err), -ENOENT);
	assert_contains(err.text, "missing");
	write_under(".", "/file", "");
	assert_int_equal(output_name_check("file/run", OUTPUT_SONDE, &err), -ENOTDIR);
	write_under(".", "/sub/file", "");
	assert_name("sub/", 1, 1, "sub/report1.sonde", 1);
	write_under(".", "/dir.sonde/file", "");
	assert_int_equal(output_name_check("dir.sonde", OUTPUT_SONDE, &err), -EISDIR);
}

static void test_too_long(void **state)
{
	char name[PATH_MAX + 10];
	struct error err;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(output_name_check(name, OUTPUT_SONDE, &err), -ENAMETOOLONG);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_extension),
		TEST(test_absolute),
		TEST(test_default_takes_the_smallest_free_number),
		TEST(test_macros),
		TEST(test_bad_macros),
		TEST(test_rank),
		TEST(test_folder_is_checked),
		TEST(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
