/* sonde attach: what the recorder is asked for, and what is refused before it is. */
#include "run_cli.h"

#include <errno.h>
#include <unistd.h>

#include "doubles.h"

static int set_up(void **state)
{
	record_double = (struct record_double){ .started = 1 };
	*state = make_folder();
	return chdir(*state);
}

static int tear_down(void **state)
{
	int result = chdir("..");

	remove_folder(*state);
	return result;
}

static void test_defaults(void **state)
{
	const struct profile_options *o = &record_double.options;
	struct cli_run run;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	CLI_RUN(&run, "attach", pid);
	assert_int_equal(run.status, 0);
	assert_int_equal(record_double.calls, 1);
	assert_int_equal(o->attach_pid, getpid());
	assert_true(o->children);
	assert_false(o->trace_given);
	assert_int_equal(o->trace, TRACE_BIT(TRACE_CUDA) | TRACE_BIT(TRACE_NVTX) | TRACE_BIT(TRACE_OSRT));
	assert_int_equal(o->duration_ns, 0);
	/* It goes on, whatever ends the recording. */
	assert_int_equal(o->kill_signal, 0);
	assert_int_equal(o->wait, PROFILE_WAIT_PRIMARY);
	assert_true(record_double.argc > 0);
	assert_contains(record_double.argv[0], "test_cli_attach");
	assert_contains(record_double.path, "/report1.sonde");
	cli_run_release(&run);
}

static void test_options(void **state)
{
	const struct profile_options *o = &record_double.options;
	struct cli_run run;

	CLI_RUN(&run, "attach", "-d", "2.5", "1", "-t", "nvtx", "--children=false", "-y", "1", "--kill=sigkill", "-e", "A=B", "--wait=all");
	assert_int_equal(run.status, 0);
	assert_int_equal(o->attach_pid, 1);
	assert_int_equal(o->duration_ns, 2500000000);
	assert_int_equal(o->delay_ns, 1000000000);
	assert_int_equal(o->trace, TRACE_BIT(TRACE_NVTX));
	assert_true(o->trace_given);
	assert_false(o->children);
	assert_int_equal(o->kill_signal, 0);
	assert_int_equal(o->env_count, 0);
	assert_contains(run.err, "--kill applies only to programs that Sonde starts");
	assert_contains(run.err, "--env-var applies only to programs that Sonde starts");
	assert_contains(run.err, "--wait applies only to programs that Sonde starts");
	cli_run_release(&run);
	CLI_RUN(&run, "attach", "1", "-t", "none");
	assert_int_equal(o->trace, 0);
	cli_run_release(&run);
}

static void test_refused(void **state)
{
	static const char *const words[] = { "abc", "0", "12x", "99999999999", "" };
	struct cli_run run;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		CLI_RUN(&run, "attach", words[i]);
		assert_int_equal(run.status, 1);
		assert_int_equal(count_lines(run.err), 1);
		assert_contains(run.err, "is not a process id");
		cli_run_release(&run);
	}
	CLI_RUN(&run, "attach");
	assert_int_equal(run.status, 1);
	assert_contains(run.err, "No process given");
	cli_run_release(&run);
	CLI_RUN(&run, "attach", "1", "2");
	assert_int_equal(run.status, 1);
	assert_contains(run.err, "Only one process");
	cli_run_release(&run);
	assert_int_equal(record_double.calls, 0);
}

static void test_failure(void **state)
{
	struct cli_run run;

	record_double.returns = -ENOSPC;
	record_double.exit_status = 0;
	CLI_RUN(&run, "attach", "1");
	assert_int_equal(run.status, 1);
	assert_contains(run.err, "the disk is full");
	cli_run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_options, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
