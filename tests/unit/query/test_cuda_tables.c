/* CUDA and GPUs under nsys's names, over tests/golden/cuda.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static int set_up(void **state)
{
	return golden_set_up(state, "cuda.txt");
}

static void expect(void **state, const char *sql, const char *answer)
{
	assert_string_equal(ask(*state, sql), answer);
}

static void test_the_recording_is_whole(void **state)
{
	expect(state, "SELECT (SELECT count(*) FROM sonde_gpu_kernel), (SELECT count(*) FROM sonde_gpu_copy), "
		      "(SELECT count(*) FROM sonde_cuda_api), (SELECT count(*) FROM sonde_counter)", "12|16|34|10");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_recording_is_whole, set_up, golden_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
