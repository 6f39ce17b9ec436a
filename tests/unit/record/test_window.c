/* Windows of a program that runs before its recorder is told so; names of ranges that were seen while another was waited for: a few, each
 * once, whatever their bytes are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/system/monotonic.h"
#include "fmt/cuda_wire.h"
#include "record/control/messages.h"
#include "record/profile_options.h"
#include "record/control/recorder.h"
#include "record/session/window.h"

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

/* A recorder that has begun, and the other end of its connection with the command line's process. */
struct begun {
	struct recorder recorder;
	struct ring_session page;
	struct profile_options options;
	int command_line;
};

static struct begun *begin(enum capture_range range)
{
	struct begun *b = calloc(1, sizeof(*b));
	int pair[2];

	assert_non_null(b);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	b->options.capture_range = range;
	b->options.capture_end = CAPTURE_END_STOP;
	b->options.capture_repeats = 1;
	b->options.schedule = (struct schedule){ .skip_first = 1, .wait = 1, .active = 2 };
	b->page.modules = RING_GATE_NVTX;
	b->recorder.options = &b->options;
	b->recorder.page = &b->page;
	b->recorder.control.fd = pair[0];
	b->command_line = pair[1];
	window_begin(&b->recorder);
	return b;
}

static void report_started(struct begun *b)
{
	static const struct control_message message = { .kind = CONTROL_STARTED };

	assert_int_equal(send(b->command_line, &message, sizeof(message), 0), sizeof(message));
	recorder_on_control(&b->recorder);
}

static void end(struct begun *b)
{
	close(b->command_line);
	close(b->recorder.control.fd);
	free(b->recorder.spans);
	free(b);
}

static void steps_of_a_program_reported_of_late(void **state)
{
	struct begun *b = begin(CAPTURE_RANGE_SCHEDULE);
	struct capture_message step = { .request = CAPTURE_STEP, .owner = 7 };

	(void)state;
	window_step(&b->recorder, &step);
	assert_int_equal(b->page.step_next, 1);
	step.step = 1;
	window_step(&b->recorder, &step);
	report_started(b);
	/* Nothing is begun again: the steps it has made count. */
	assert_int_equal(b->recorder.start_at, 0);
	assert_int_equal(b->page.step_owner, 7);
	assert_int_equal(b->page.steps_answered, 2);
	assert_int_equal(b->page.step_next, 2);
	step.step = 2;
	window_step(&b->recorder, &step);
	assert_int_equal(b->page.gate, ring_gate(RING_GATE_NVTX, 1));
	end(b);
}

static void time_of_a_program_reported_of_late(void **state)
{
	struct begun *b = begin(CAPTURE_RANGE_NONE);

	(void)state;
	b->options.duration_ns = 5000000000;
	assert_int_equal(b->recorder.stop_at, 0);
	report_started(b);
	assert_int_equal(b->recorder.start_at, 0);
	assert_in_range(b->recorder.stop_at, monotonic_ns() + 4000000000, monotonic_ns() + 5000000000);
	assert_int_equal(b->recorder.windows, 1);
	end(b);
}

static void time_that_is_to_come(void **state)
{
	struct begun *b = begin(CAPTURE_RANGE_NONE);

	(void)state;
	b->recorder.window_begun = 0; /* with --delay nobody called window_begin() */
	b->options.delay_ns = 5000000000;
	report_started(b);
	assert_in_range(b->recorder.start_at, monotonic_ns() + 4000000000, monotonic_ns() + 5000000000);
	end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_once),
		cmocka_unit_test(no_more_than_a_few),
		cmocka_unit_test(hostile_bytes),
		cmocka_unit_test(page_holds_the_longest_names),
		cmocka_unit_test(steps_of_a_program_reported_of_late),
		cmocka_unit_test(time_of_a_program_reported_of_late),
		cmocka_unit_test(time_that_is_to_come),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
