/* A visit from beginning to end, and what is answered when none is possible. The long ones are in tests/e2e/t_inject. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/inject.h"
#include "inject/restart.h"

#define TIMEOUT_MS 20000

struct sitter {
	pid_t pid;
	int input;
};

/* Started, and in read(). */
static int sit_down(void **state)
{
	static struct sitter sitter;
	char path[64], text[64];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	sitter.pid = fork();
	if (sitter.pid == 0) {
		dup2(ends[0], 0);
		close(ends[0]);
		close(ends[1]);
		execl(getenv("SITTER"), "sitter", NULL);
		_exit(127);
	}
	close(ends[0]);
	sitter.input = ends[1];
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)sitter.pid);
	for (int i = 0; i < 1000; i++) {
		FILE *f = fopen(path, "re");

		if (f && fgets(text, sizeof(text), f) && strncmp(text, "0 0x0 ", 6) == 0)
			i = 1000;
		if (f)
			fclose(f);
		usleep(10000);
	}
	*state = &sitter;
	return 0;
}

/* It must have gone on, and end well. */
static int get_up(void **state)
{
	struct sitter *sitter = *state;
	int status;

	close(sitter->input);
	assert_int_equal(waitpid(sitter->pid, &status, 0), sitter->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return 0;
}

static int call(void **state, const char *library, const char *function, const char *argument, int64_t *value, struct error *err)
{
	struct sitter *sitter = *state;

	return inject_call(sitter->pid, library, function, argument, strlen(argument) + 1, TIMEOUT_MS, value, err);
}

static void values(void **state)
{
	struct error err = { "" };
	int64_t value;

	if (call(state, getenv("GUEST"), "length_of", "", &value, &err) == -EPERM)
		skip();
	for (int i = 1; i < 4; i++) {
		assert_int_equal(call(state, getenv("GUEST"), "count_visit", "x", &value, &err), 0);
		assert_int_equal(value, i);
	}
	assert_int_equal(call(state, getenv("GUEST"), "negative", "hello", &value, &err), 0);
	assert_int_equal(value, -5);
	assert_int_equal(call(state, getenv("GUEST"), "length_of", "", &value, &err), 0);
	assert_int_equal(value, 0);
}

static void linker_errors(void **state)
{
	struct error err = { "" };
	int64_t value = 0;

	if (call(state, getenv("GUEST"), "length_of", "", &value, &err) == -EPERM)
		skip();
	assert_int_equal(call(state, "/dev/null", "x", "", &value, &err), -ELIBACC);
	assert_non_null(strstr(err.text, "/dev/null: file too short"));
	assert_int_equal(call(state, getenv("GUEST"), "nowhere", "", &value, &err), -ELIBACC);
	assert_non_null(strstr(err.text, "undefined symbol: nowhere"));
	assert_int_equal(call(state, "/no/such/library.so", "x", "", &value, &err), -ENOENT);
	assert_int_equal(call(state, "relative.so", "x", "", &value, &err), -EINVAL);
}

static void examined(void **state)
{
	struct sitter *sitter = *state;
	struct inject_report report;
	struct error err;
	int r = inject_examine(sitter->pid, &report, &err);

	if (r == -EPERM)
		skip();
	assert_int_equal(r, 0);
	assert_int_equal(report.obstacle, INJECT_NO_OBSTACLE);
	assert_int_equal(report.threads, 1);
	assert_int_equal(inject_examine(getpid(), &report, &err), -EINVAL);
	assert_int_equal(inject_examine(0, &report, &err), -ESRCH);
	assert_int_equal(inject_examine(-5, &report, &err), -ESRCH);
}

static void zombies(void **state)
{
	struct inject_report report;
	struct error err;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(inject_examine(pid, &report, &err), -ECHILD);
	waitpid(pid, NULL, 0);
	assert_int_equal(inject_examine(pid, &report, &err), -ESRCH);
}

static void too_large(void **state)
{
	struct sitter *sitter = *state;
	struct error err;
	int64_t value;

	assert_int_equal(inject_call(sitter->pid, getenv("GUEST"), "length_of", "", 1u << 30, TIMEOUT_MS, &value, &err), -EINVAL);
}

/* Calls that have done something when they return EINTR are not made again. */
static void restarts(void **state)
{
	assert_true(restart_allowed(SYS_epoll_pwait));
	assert_true(restart_allowed(SYS_rt_sigtimedwait));
	assert_false(restart_allowed(SYS_close));
	assert_false(restart_allowed(SYS_connect));
	assert_false(restart_allowed(SYS_fsync));
	assert_false(restart_allowed(-1));
	assert_true(restart_pending(-ERESTARTSYS));
	assert_true(restart_pending(-ERESTART_RESTARTBLOCK));
	assert_false(restart_pending(-EINTR));
	assert_false(restart_pending(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values, sit_down, get_up),
		cmocka_unit_test_setup_teardown(linker_errors, sit_down, get_up),
		cmocka_unit_test_setup_teardown(examined, sit_down, get_up),
		cmocka_unit_test_setup_teardown(too_large, sit_down, get_up),
		cmocka_unit_test(zombies),
		cmocka_unit_test(restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
