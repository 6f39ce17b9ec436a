/* Names of ranges that were seen while another was waited for: a few, each once, whatever their bytes are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "record/profile_options.h"
#include "record/window.h"

static void saw(struct window_seen *seen, const char *name)
{
	window_saw(seen, name, strlen(name));
}

static void each_name_once(void **state)
{
	struct window_seen seen = { .count = 0 };

	(void)state;
	saw(&seen, "a");
	saw(&seen, "b@c");
	saw(&seen, "a");
	assert_int_equal(seen.count, 2);
	assert_string_equal(seen.names[0], "a");
	assert_string_equal(seen.names[1], "b@c");
	assert_int_equal(seen.more, 0);
}

static void no_more_than_a_few(void **state)
{
	struct window_seen seen = { .count = 0 };
	char name[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		saw(&seen, name);
	}
	assert_int_equal(seen.count, WINDOW_SEEN);
	assert_string_equal(seen.names[WINDOW_SEEN - 1], "name 7");
	assert_int_equal(seen.more, 1);
}

static void hostile_bytes(void **state)
{
	struct window_seen seen = { .count = 0 };
	char huge[4000];

	(void)state;
	memset(huge, 'x', sizeof(huge));
	window_saw(&seen, huge, sizeof(huge));
	assert_int_equal(strlen(seen.names[0]), sizeof(seen.names[0]) - 1);
	window_saw(&seen, "a\033[2Jb\n", 7);
	assert_string_equal(seen.names[1], "a?[2Jb?");
	window_saw(&seen, "cut\0behind", 10);
	assert_string_equal(seen.names[2], "cut");
	window_saw(&seen, "", 0);
	assert_string_equal(seen.names[3], "");
	assert_int_equal(seen.count, 4);
}

static void page_holds_the_longest_names(void **state)
{
	static struct profile_options options = { .capture_range = CAPTURE_RANGE_NVTX };
	static struct ring_session page;

	(void)state;
	memset(options.nvtx_capture.range, 'r', RING_NVTX_RANGE);
	memset(options.nvtx_capture.domain, 'd', RING_NVTX_DOMAIN);
	window_fill_page(&page, &options);
	assert_int_equal(page.nvtx_range_size, RING_NVTX_RANGE);
	assert_int_equal(page.nvtx_domain_size, RING_NVTX_DOMAIN);
	assert_int_equal(page.nvtx_range[RING_NVTX_RANGE - 1], 'r');
	assert_int_equal(page.nvtx_domain[RING_NVTX_DOMAIN - 1], 'd');
	/* Waited for only when the time has come. */
	assert_int_equal(page.nvtx_wait, 0);
	memset(&page, 0, sizeof(page));
	options.capture_range = CAPTURE_RANGE_CUDA_PROFILER;
	window_fill_page(&page, &options);
	assert_int_equal(page.nvtx_range_size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_once),
		cmocka_unit_test(no_more_than_a_few),
		cmocka_unit_test(hostile_bytes),
		cmocka_unit_test(page_holds_the_longest_names),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
