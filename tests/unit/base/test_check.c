#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/check.h"

static int count;

static void test_holds(void **state)
{
	(void)state;
	CHECK(++count == 1);
	assert_int_equal(count, 1);
}

/* What a process that fails a check leaves: a line that says where, and the signal. */
static void test_fails(void **state)
{
	char text[512] = "";
	int ends[2], status;
	ssize_t got, all = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		CHECK(count == 4711);
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + all, sizeof(text) - 1 - (size_t)all)) > 0)
		all += got;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "test_check.c:"));
	assert_non_null(strstr(text, "count == 4711\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
