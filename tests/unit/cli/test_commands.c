#include "run_cli.h"

#include <unistd.h>

/* Usage errors: status 1, nothing on stdout, one line on stderr that holds `part`. */
static void assert_usage_error(struct cli_run *run, const char *part)
{
	assert_int_equal(run->status, 1);
	assert_string_equal(run->out, "");
	assert_int_equal(count_lines(run->err), 1);
	assert_contains(run->err, part);
	cli_run_release(run);
}

static void test_version_and_help(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "--version");
	assert_int_equal(run.status, 0);
	assert_string_equal(run.out, "sonde " SONDE_VERSION "\n");
	cli_run_release(&run);
	CLI_RUN(&run, "--help");
	assert_int_equal(run.status, 0);
	assert_contains(run.out, "usage: sonde");
	assert_contains(run.out, "\n  doctor ");
	assert_contains(run.out, "\n  help ");
	assert_string_equal(run.err, "");
	cli_run_release(&run);
	cli_run_words(&run, (const char *const[]){ NULL });
	assert_int_equal(run.status, 1);
	assert_contains(run.err, "usage: sonde");
	cli_run_release(&run);
}

static void test_unknown_command(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "docter");
	assert_usage_error(&run, "Did you mean sonde doctor?");
	CLI_RUN(&run, "help", "docter");
	assert_usage_error(&run, "Did you mean sonde help doctor?");
	CLI_RUN(&run, "--verbose");
	assert_usage_error(&run, "Unknown command '--verbose'");
}

static void test_help_of_a_command(void **state)
{
	struct cli_run run, same;

	CLI_RUN(&run, "help", "doctor");
	CLI_RUN(&same, "doctor", "--help");
	assert_int_equal(run.status, 0);
	assert_contains(run.out, "--json");
	assert_string_equal(run.out, same.out);
	cli_run_release(&run);
	cli_run_release(&same);
	CLI_RUN(&run, "doctor", "--help=output");
	assert_contains(run.out, "--json");
	cli_run_release(&run);
	CLI_RUN(&run, "doctor", "--help=ouptut");
	assert_usage_error(&run, "Did you mean --help=output?");
}

static void test_generators(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "help", "--man");
	assert_contains(run.out, ".TH SONDE 1");
	cli_run_release(&run);
	CLI_RUN(&run, "help", "--man", "doctor");
	assert_contains(run.out, ".TH SONDE\\-DOCTOR 1");
	cli_run_release(&run);
	CLI_RUN(&run, "help", "--completion", "bash");
	assert_int_equal(run.status, 0);
	cli_run_release(&run);
	CLI_RUN(&run, "help", "--completion", "tcsh");
	assert_usage_error(&run, "bash");
}

static void test_recover_usage(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "recover");
	assert_usage_error(&run, "sonde recover NAME.sonde.part");
	CLI_RUN(&run, "recover", "a.sonde");
	assert_usage_error(&run, "ends in .part");
	CLI_RUN(&run, "recover", "missing.sonde.part");
	assert_usage_error(&run, "missing.sonde.part");
}

static void test_symbolize_usage(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "symbolize");
	assert_usage_error(&run, "sonde symbolize REPORT");
	CLI_RUN(&run, "symbolize", "a.sonde", "b.sonde");
	assert_usage_error(&run, "No report given");
	CLI_RUN(&run, "symbolize", "missing.sonde");
	assert_usage_error(&run, "missing.sonde does not exist");
}

static void test_recover_names(void **state)
{
	char *folder = make_folder();
	struct cli_run run;

	assert_int_equal(chdir(folder), 0);
	write_under(".", "/a.sonde.part", "left");
	CLI_RUN(&run, "recover", "a.sonde.part");
	assert_int_equal(run.status, 0);
	assert_contains(run.err, "a.sonde");
	assert_int_equal(access("a.sonde", F_OK), 0);
	cli_run_release(&run);
	write_under(".", "/b.sonde.part", "left");
	CLI_RUN(&run, "recover", "b.sonde.part", "-o", "a");
	assert_usage_error(&run, "'a.sonde' exists");
	assert_int_equal(access("b.sonde.part", F_OK), 0);
	CLI_RUN(&run, "recover", "b.sonde.part", "-o", "a", "-f");
	assert_int_equal(run.status, 0);
	assert_int_equal(access("b.sonde", F_OK), -1);
	cli_run_release(&run);
	assert_int_equal(chdir(".."), 0);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_and_help), cmocka_unit_test(test_unknown_command), cmocka_unit_test(test_help_of_a_command),
		cmocka_unit_test(test_generators),       cmocka_unit_test(test_recover_usage),   cmocka_unit_test(test_symbolize_usage),
		cmocka_unit_test(test_recover_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
