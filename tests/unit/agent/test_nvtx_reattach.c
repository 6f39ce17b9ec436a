/* Recordings that follow on each other in one program: names given in one, or between two, are told in the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/core/wrappers.h"
#include "nvtx_decode.h"

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	fake_agent.comes_again = 1;
	nvtx_state.used = 1;
	return 0;
}

/* How often this was told of. */
static unsigned count(unsigned kind, const char *text)
{
	const void *cursor = NULL;
	struct seen seen;
	unsigned times = 0;

	while (nvtx_next(&cursor, &seen))
		times += seen.type == RECORD_DEFINE && seen.flags == kind && strcmp(seen.text, text) == 0;
	return times;
}

static void begin_next_recording(void)
{
	fake_agent_reset();
	fake_agent.comes_again = 1;
	agent_part_nvtx.attached();
}

static void names_given_in_one(void **state)
{
	struct nvtx_domain *domain = nvtx_domain_create_a("in one");

	(void)state;
	nvtx_register_string_a(domain, "string in one");
	nvtx_domain_name_category_a(domain, 3, "category in one");
	nvtx_name_thread_a(77, "thread in one");
	for (int recording = 0; recording < 3; recording++) {
		assert_int_equal(count(DEFINE_DOMAIN, "in one"), 1);
		assert_int_equal(count(DEFINE_STRING, "string in one"), 1);
		assert_int_equal(count(DEFINE_CATEGORY, "category in one"), 1);
		assert_int_equal(count(DEFINE_THREAD_NAME, "thread in one"), 1);
		begin_next_recording();
	}
}

static void names_given_between(void **state)
{
	struct nvtx_domain *domain;

	(void)state;
	agent_pages.attached = AGENT_OFF;
	domain = nvtx_domain_create_a("between");
	assert_non_null(domain);
	assert_non_null(nvtx_register_string_a(domain, "string between"));
	nvtx_domain_name_category_a(domain, 3, "category between");
	assert_int_equal(count(DEFINE_DOMAIN, "between"), 0);
	begin_next_recording();
	assert_int_equal(count(DEFINE_DOMAIN, "between"), 1);
	assert_int_equal(count(DEFINE_STRING, "string between"), 1);
	assert_int_equal(count(DEFINE_CATEGORY, "category between"), 1);
	assert_ptr_equal(nvtx_domain_create_a("between"), domain);
	assert_int_equal(count(DEFINE_DOMAIN, "between"), 1);
}

/* The last name counts, so the order must stay. */
static void order_stays(void **state)
{
	const void *cursor = NULL;
	struct seen seen;
	char last[sizeof(seen.text)] = "";

	(void)state;
	nvtx_name_category_a(9, "older");
	nvtx_name_category_a(9, "newer");
	begin_next_recording();
	while (nvtx_next(&cursor, &seen))
		if (seen.type == RECORD_DEFINE && seen.flags == DEFINE_CATEGORY && seen.id == 9)
			strcpy(last, seen.text);
	assert_string_equal(last, "newer");
}

/* What a window waits for is another thing in each recording. */
static void awaited_names_are_those_of_this_recording(void **state)
{
	struct nvtx_string *string = nvtx_register_string_a(NULL, "awaited later");

	(void)state;
	atomic_store(&agent_pages.session.nvtx_wait, RING_NVTX_STEPS);
	assert_false(nvtx_window_counts(1, string));
	memcpy(agent_pages.session.nvtx_range, "awaited later", 13);
	agent_pages.session.nvtx_range_size = 13;
	begin_next_recording();
	assert_true(nvtx_window_counts(1, string));
	agent_pages.session.nvtx_range_size = 0;
	begin_next_recording();
	assert_false(nvtx_window_counts(1, string));
	atomic_store(&agent_pages.session.nvtx_wait, 0);
}

/* A program that was recorded from its beginning has one recording. */
static void nothing_is_kept_otherwise(void **state)
{
	(void)state;
	fake_agent.comes_again = 0;
	nvtx_name_category_a(11, "not kept");
	assert_int_equal(count(DEFINE_CATEGORY, "not kept"), 1);
	begin_next_recording();
	assert_int_equal(count(DEFINE_CATEGORY, "not kept"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_given_in_one, reset),
		cmocka_unit_test_setup(names_given_between, reset),
		cmocka_unit_test_setup(order_stays, reset),
		cmocka_unit_test_setup(awaited_names_are_those_of_this_recording, reset),
		cmocka_unit_test_setup(nothing_is_kept_otherwise, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
