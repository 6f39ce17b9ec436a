/* The moment between a target's fork and its exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/control/launch.h"
#include "record/profile_options.h"

static void prepare(struct launch *l, const char *program)
{
	static char *argv[] = { (char *)"target", NULL }, *environment[] = { NULL };
	static struct profile_options options;
	const struct captured captured = { -1, -1 };
	struct launch_signals signals;
	struct error err = { "" };

	options = (struct profile_options){ .program = program, .argv = argv };
	sigprocmask(SIG_BLOCK, NULL, &signals.mask);
	sigaction(SIGCHLD, NULL, &signals.child);
	assert_int_equal(launch_prepare(l, &options, environment, &captured, &signals, &err), 0);
}

static void killed_before_its_exec(void **state)
{
	struct launch l;
	struct error err = { "" };
	siginfo_t info;
	int status = 0;

	prepare(&l, "/bin/true");
	kill(l.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)l.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(launch_go(&l, &(struct profile_options){ .program = "/bin/true" }, &err), 0);
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void runs_or_says_why_not(void **state)
{
	struct launch l;
	struct error err = { "" };
	int status = 1;

	prepare(&l, "/bin/true");
	assert_int_equal(launch_go(&l, &(struct profile_options){ .program = "/bin/true" }, &err), 0);
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid);
	assert_int_equal(status, 0);
	prepare(&l, "/no/such/program");
	assert_true(launch_go(&l, &(struct profile_options){ .program = "/no/such/program" }, &err) < 0);
	assert_non_null(strstr(err.text, "/no/such/program"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_before_its_exec),
		cmocka_unit_test(runs_or_says_why_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
