/* annotate.h against a tool that prints what it is told. State is per process, so each
 * behaviour is a run of a small program. argv[1]: folder of the programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	const char *folder;
	char output[8192];
};

static const char expected_scenario[] = "init callbacks=16 version=24/3 tables -1 16 9 15 7 16 7 -1\n"
					"push first\n"
					"push second\n"
					"pop\n"
					"levels 0 1 1pop\n"
					" 0\n"
					"mark a mark\n"
					"start long\n"
					"end 1\n"
					"thread self main thread\n"
					"domain push domain=default v3/48 text=all color1=ff112233 category=7 u64=18446744073709551615\n"
					"domain mark domain=default v3/48 text=all color1=ff112233 category=7 i64=-5\n"
					"domain start domain=default v3/48 text=all color1=ff112233 category=7 double=1.5\n"
					"domain end domain=default 2\n"
					"register domain=default registered name\n"
					"domain mark domain=default v3/48 registered=registered name u32=4000000000\n"
					"domain mark domain=default v3/48 registered=registered name i32=-6\n"
					"domain mark domain=default v3/48 registered=registered name float=0.25\n"
					"pop\n"
					"create library\n"
					"category domain=library 7 io\n"
					"domain push domain=library v3/48 text=all color1=ff112233 category=7 u64=18446744073709551615\n"
					"domain mark domain=library v3/48 text=all color1=ff112233 category=7 i64=-5\n"
					"domain start domain=library v3/48 text=all color1=ff112233 category=7 double=1.5\n"
					"domain end domain=library 3\n"
					"register domain=library registered name\n"
					"domain mark domain=library v3/48 registered=registered name u32=4000000000\n"
					"domain mark domain=library v3/48 registered=registered name i32=-6\n"
					"domain mark domain=library v3/48 registered=registered name float=0.25\n"
					"domain pop domain=library\n"
					"domain push domain=library v3/48 text=plain\n"
					"domain pop domain=library\n"
					"domain mark domain=library v3/48 text=plain mark\n"
					"domain start domain=library v3/48 text=plain start\n"
					"domain end domain=library 4\n"
					"destroy library\n";

/* Runs `program` with the tool in this mode ("none": without one); its output is in fixture->output. */
static void run_program(struct fixture *fixture, const char *mode, const char *program)
{
	char command[4096];
	size_t length;
	FILE *pipe;

	snprintf(command, sizeof(command), "%s%s%s FAKE_TOOL=%s '%s'/%s",
		 !strcmp(mode, "none") ? "env -u NVTX_INJECTION64_PATH" : "NVTX_INJECTION64_PATH='",
		 !strcmp(mode, "none")    ? "" :
		 !strcmp(mode, "missing") ? "/nowhere" :
					    fixture->folder,
		 !strcmp(mode, "none") ? "" : "/libfake_tool.so'", mode, fixture->folder, program);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	length = fread(fixture->output, 1, sizeof(fixture->output) - 1, pipe);
	fixture->output[length] = 0;
	assert_int_equal(pclose(pipe), 0);
}

static int is_built(struct fixture *fixture, const char *program)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", fixture->folder, program);
	return access(path, X_OK) == 0;
}

static void check_scenario(struct fixture *fixture, const char *program)
{
	if (!is_built(fixture, program))
		skip();
	run_program(fixture, "print", program);
	assert_string_equal(fixture->output, expected_scenario);
}

static void scenario_in_c(void **state)
{
	check_scenario(*state, "scenario_c");
}
static void scenario_in_cpp(void **state)
{
	check_scenario(*state, "scenario_cpp");
}
static void scenario_through_nvidias_headers(void **state)
{
	check_scenario(*state, "scenario_nvtx");
}

static void scopes_in_cpp(void **state)
{
	struct fixture *fixture = *state;

	if (!is_built(fixture, "scope_cpp"))
		skip();
	run_program(fixture, "print", "scope_cpp");
	assert_string_equal(fixture->output, "init callbacks=16 version=24/3 tables -1 16 9 15 7 16 7 -1\n"
					     "create library\n"
					     "push macro\n"
					     "domain push domain=library v3/48 text=domain macro\n"
					     "push first\n"
					     "domain push domain=library v3/48 text=second\n"
					     "domain push domain=library v3/48 text=event\n"
					     "domain pop domain=library\n"
					     "domain pop domain=library\n"
					     "pop\n"
					     "domain pop domain=library\n"
					     "pop\n"
					     "push throws\n"
					     "pop\n"
					     "mark caught\n");
}

static void first_call_from_all_threads_is_one_init(void **state)
{
	run_program(*state, "slow", "program threads");
	assert_string_equal(((struct fixture *)*state)->output, "inits=1 pushes=8000 pops=8000\n");
}

static void each_linkage_unit_attaches(void **state)
{
	run_program(*state, "count", "program units");
	assert_string_equal(((struct fixture *)*state)->output, "inits=2 pushes=2 pops=2\n");
}

static void check_quiet(struct fixture *fixture, const char *mode, const char *before)
{
	char expected[128];

	run_program(fixture, mode, "program quiet");
	snprintf(expected, sizeof(expected), "%spush -2 pop -2 start 0 domain 0 errno 77\n", before);
	assert_string_equal(fixture->output, expected);
}

static void no_tool_is_quiet(void **state)
{
	check_quiet(*state, "none", "");
}
static void missing_tool_is_quiet(void **state)
{
	check_quiet(*state, "missing", "");
}
static void refusing_tool_is_asked_once(void **state)
{
	check_quiet(*state, "refuse", "refused\n");
}

static void child_forked_while_loading_goes_on(void **state)
{
	run_program(*state, "fork", "program fork");
	assert_string_equal(((struct fixture *)*state)->output, "child 0\ninits=1 pushes=1 pops=1\n");
}

static void disabled_is_nothing(void **state)
{
	run_program(*state, "print", "disabled");
	assert_string_equal(((struct fixture *)*state)->output, "");
}

int main(int argc, char **argv)
{
	struct fixture fixture = { .folder = argc > 1 ? argv[1] : "." };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(scenario_in_c, &fixture),
		cmocka_unit_test_prestate(scenario_in_cpp, &fixture),
		cmocka_unit_test_prestate(scenario_through_nvidias_headers, &fixture),
		cmocka_unit_test_prestate(scopes_in_cpp, &fixture),
		cmocka_unit_test_prestate(first_call_from_all_threads_is_one_init, &fixture),
		cmocka_unit_test_prestate(each_linkage_unit_attaches, &fixture),
		cmocka_unit_test_prestate(no_tool_is_quiet, &fixture),
		cmocka_unit_test_prestate(missing_tool_is_quiet, &fixture),
		cmocka_unit_test_prestate(refusing_tool_is_asked_once, &fixture),
		cmocka_unit_test_prestate(child_forked_while_loading_goes_on, &fixture),
		cmocka_unit_test_prestate(disabled_is_nothing, &fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
