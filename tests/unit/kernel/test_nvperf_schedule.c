/* Configurations made by the real NVPerf, which answers for any chip without a GPU, beside CUPTI's own. Skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cupti_here.h"
#include "kernel/choice/pass_schedule.h"
#include "vendor/nvperf/schedule.h"

static struct cupti_host cupti;
static struct nvperf_schedule nvperf;

static int load(void **state)
{
	cupti_here(&cupti);
	if (cupti.library)
		nvperf_schedule_open(&nvperf, cupti.path, "GH100", NULL);
	return 0;
}

static int unload(void **state)
{
	nvperf_schedule_close(&nvperf);
	return 0;
}

static struct nvperf_config make(enum nvperf_kind kind, const char *const *names, size_t count)
{
	struct nvperf_config config = { 0 };

	if (!nvperf.library)
		skip();
	assert_int_equal(nvperf_schedule_make(&nvperf, kind, names, count, &config), 0);
	return config;
}

/* Of metrics that fit into one pass there is one way to count them: the images are the same. */
static void as_cupti_makes_it(void **state)
{
	static const char *const names[] = { "sm__cycles_elapsed.avg", "dram__bytes_read.sum" };
	struct nvperf_config config = make(NVPERF_RANGES, names, 2);
	struct error err = { "" };
	struct schedule schedule;
	struct catalog catalog;

	assert_int_equal(catalog_open(&catalog, &cupti, "gh100", HOST_PROFILER_RANGE, NULL, &err), 0);
	assert_int_equal(schedule_make(&schedule, &catalog, SCHEDULE_APART, names, 2, &err), 0);
	assert_int_equal(config.passes, 1);
	assert_int_equal(config.image_size, schedule.parts[SCHEDULE_MAIN].image_size);
	assert_memory_equal(config.image, schedule.parts[SCHEDULE_MAIN].image, config.image_size);
	schedule_release(&schedule);
	catalog_close(&catalog);
	free(config.image);
}

/* CUPTI 13.0 says two passes of each of these for PM sampling, and PM sampling takes one pass only. */
static void warp_states_in_one_pass(void **state)
{
	static const char *const states[] = { "smsp__warps_issue_stalled_barrier.avg", "smsp__warps_issue_stalled_long_scoreboard.avg",
					      "smsp__warps_issue_stalled_wait.avg" };
	struct nvperf_config config;

	for (size_t i = 0; i < 3; i++) {
		config = make(NVPERF_SAMPLES, states + i, 1);
		assert_int_equal(config.passes, 1);
		free(config.image);
	}
}

static void what_is_not_known(void **state)
{
	static const char *const names[] = { "sm__cycles_elapsed.avg", "sm__nonsense.avg" };
	struct nvperf_config config;
	struct nvperf_schedule other;

	if (!nvperf.library)
		skip();
	assert_int_equal(nvperf_schedule_make(&nvperf, NVPERF_RANGES, names, 2, &config), -1);
	assert_int_equal(nvperf_schedule_open(&other, cupti.path, "NOCHIP", NULL), -1);
	assert_null(other.library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_cupti_makes_it),
		cmocka_unit_test(warp_states_in_one_pass),
		cmocka_unit_test(what_is_not_known),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
