/* What to do about counters that cannot be read: looked up in a made-up /proc. */
#include "run_cli.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/kernel/run/trouble.h"
#include "fmt/kernel_wire.h"

#define PARAMS "/proc/driver/nvidia/params"
#define STATUS "/proc/self/status"
#define LINE "    options nvidia NVreg_RestrictProfilingToAdminUsers=0\n"
#define FORBIDDEN KERNEL_FORBIDDEN ": the driver does not let this user read counters"
#define HELD KERNEL_HELD ": another tool reads counters of this GPU"

static int enter(void **state)
{
	*state = make_folder();
	write_under(*state, STATUS, "CapEff:\t0000000000000000\n");
	return 0;
}

static int leave(void **state)
{
	remove_folder(*state);
	return 0;
}

static char *explained(void **state, const char *sentence)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	kernel_explain_failure(out, *state, sentence);
	fclose(out);
	return text;
}

static void says(void **state, const char *sentence, const char *part)
{
	char *text = explained(state, sentence);

	assert_contains(text, part);
	free(text);
}

static void says_not(void **state, const char *sentence, const char *part)
{
	char *text = explained(state, sentence);

	if (strstr(text, part))
		fail_msg("'%s' is in\n%s", part, text);
	free(text);
}

static void which_door_is_shut(void **state)
{
	write_under(*state, PARAMS, "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nPreserve: 0\n");
	says(state, FORBIDDEN, "RmProfilingAdminOnly: 1), and this process has no CAP_SYS_ADMIN");
	says(state, FORBIDDEN, LINE);
	says(state, FORBIDDEN, "as root (sudo)");
	says_not(state, FORBIDDEN, "docker");
	write_under(*state, "/.dockerenv", "");
	says(state, FORBIDDEN, "docker run --cap-add=SYS_ADMIN");
	says(state, FORBIDDEN, "an administrator of the host writes");
	says_not(state, FORBIDDEN, "sudo");
	write_under(*state, STATUS, "CapEff:\t0000000000200000\n");
	says(state, FORBIDDEN, "user namespace");
	write_under(*state, PARAMS, "RmProfilingAdminOnly: 0\n");
	says(state, FORBIDDEN, "lets all users read counters (RmProfilingAdminOnly: 0)");
	says_not(state, FORBIDDEN, LINE);
}

static void the_driver_is_not_seen(void **state)
{
	says(state, FORBIDDEN, "cannot be read");
	says(state, FORBIDDEN, "has no CAP_SYS_ADMIN");
	says(state, FORBIDDEN, LINE);
}

static void add_process(void **state, const char *pid, const char *name, const char *opened)
{
	char path[200];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	write_under(*state, path, name);
	snprintf(path, sizeof(path), "/proc/%s/fd/keep", pid);
	write_under(*state, path, "");
	snprintf(path, sizeof(path), "%s/proc/%s/fd/7", (char *)*state, pid);
	assert_int_equal(symlink(opened, path), 0);
}

static void who_holds_them(void **state)
{
	char *text;

	says(state, HELD, "outside of this container");
	add_process(state, "41", "nv-hostengine\n", "/dev/nvidia0");
	add_process(state, "42", "python3\n", "/dev/nvidia0");
	add_process(state, "43", "ncu\n", "/dev/null");
	add_process(state, "44", "nv-nsight-cu-cl\n", "/dev/nvidiactl");
	write_under(*state, "/proc/45/comm", "dcgm-exporter\n");
	text = explained(state, HELD);
	assert_contains(text, "==ERROR== nv-hostengine (process 41) has a GPU open: 'dcgmi profile --pause' releases them");
	assert_contains(text, "nv-nsight-cu-cli (process 44) has a GPU open");
	/* Another user's: what it has open is not to be seen. */
	assert_contains(text, "dcgm-exporter (process 45) is running, and may hold them");
	/* The sentence, and a line for each of three. */
	assert_int_equal(count_lines(text), 4);
	free(text);
	/* CUPTI says so in several ways: who is there is told with any failure but a forbidden one. */
	says(state, "reading counters: CUPTI_ERROR_UNKNOWN (error 999)", "nv-hostengine");
	says_not(state, FORBIDDEN, "nv-hostengine");
}

static void nobody_is_blamed(void **state)
{
	char *text = explained(state, "stopping the counters: CUPTI_ERROR_UNKNOWN (error 999)");

	assert_string_equal(text, "==ERROR== stopping the counters: CUPTI_ERROR_UNKNOWN (error 999).\n");
	free(text);
}

static void collectives(void **state)
{
	static const char *const waiting[] = { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
					       "vllm::cross_device_reduce_1stage", "nvshmemi_barrier", "two_shot_all_reduce_kernel" };
	static const char *const others[] = { "gemm", "reduce_kernel", "elementwise_kernel", "all_of_them", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		assert_true(kernel_is_collective(waiting[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(kernel_is_collective(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(which_door_is_shut, enter, leave),
		cmocka_unit_test_setup_teardown(the_driver_is_not_seen, enter, leave),
		cmocka_unit_test_setup_teardown(who_holds_them, enter, leave),
		cmocka_unit_test_setup_teardown(nobody_is_blamed, enter, leave),
		cmocka_unit_test(collectives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
