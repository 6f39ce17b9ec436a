/* Push, pop, start, end and mark: what the records say, and what the calls return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "nvtx_decode.h"

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	return 0;
}

static struct seen expect(const void **cursor, unsigned type)
{
	struct seen seen = { .type = 0 };

	assert_true(nvtx_next(cursor, &seen));
	/* A push with nothing but a name is the same in either form. */
	if ((type == RECORD_NVTX_PUSH && seen.type == RECORD_NVTX_PUSH_EX && seen.flags == 0) ||
	    (type == RECORD_NVTX_PUSH_EX && seen.type == RECORD_NVTX_PUSH))
		seen.type = type;
	assert_int_equal(seen.type, type);
	return seen;
}

static void expect_end(const void **cursor)
{
	struct seen seen;

	assert_false(nvtx_next(cursor, &seen));
}

static struct nvtx_attributes with_text(const char *text)
{
	return (struct nvtx_attributes){
		.version = 3, .size = sizeof(struct nvtx_attributes), .message_type = NVTX_MESSAGE_ASCII, .message.ascii = text
	};
}

static void push_and_pop_return_levels(void **state)
{
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	assert_int_equal(nvtx_range_push_a("outer"), 0);
	assert_int_equal(nvtx_range_push_a("inner"), 1);
	assert_int_equal(nvtx_range_pop(), 1);
	assert_int_equal(nvtx_range_pop(), 0);
	seen = expect(&cursor, RECORD_NVTX_PUSH);
	assert_string_equal(seen.text, "outer");
	assert_int_equal(seen.level, 0);
	seen = expect(&cursor, RECORD_NVTX_PUSH);
	assert_string_equal(seen.text, "inner");
	assert_int_equal(seen.level, 1);
	assert_int_equal(expect(&cursor, RECORD_NVTX_POP).level, 1);
	assert_int_equal(expect(&cursor, RECORD_NVTX_POP).level, 0);
	expect_end(&cursor);
}

static void pop_without_push_is_counted(void **state)
{
	const void *cursor = NULL;

	(void)state;
	assert_true(nvtx_range_pop() < 0);
	assert_int_equal(nvtx_range_push_a("x"), 0);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_true(nvtx_range_pop() < 0);
	assert_true(nvtx_domain_range_pop(nvtx_domain_create_a("unused")) < 0);
	assert_int_equal(fake_agent.unmatched, 3);
	expect(&cursor, RECORD_NVTX_PUSH);
	expect(&cursor, RECORD_NVTX_POP);
	expect(&cursor, RECORD_DEFINE);
	expect_end(&cursor);
}

static void name_is_content_not_pointer(void **state)
{
	const void *cursor = NULL;
	char buffer[16] = "first";

	(void)state;
	nvtx_range_push_a(buffer);
	strcpy(buffer, "second");
	nvtx_range_push_a(buffer);
	memset(buffer, 'z', sizeof(buffer));
	assert_string_equal(expect(&cursor, RECORD_NVTX_PUSH).text, "first");
	assert_string_equal(expect(&cursor, RECORD_NVTX_PUSH).text, "second");
}

/* Every length around the blocks, at every distance from the end of a page that
 * must not be left. */
static void texts_of_every_length_at_a_page_end(void **state)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char truth[400];

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	for (unsigned length = 0; length < 300; length += 1 + length / 150) {
		for (unsigned gap = 0; gap < 20; gap += 1 + length / 64) {
			char *text = pages + 4096 - gap - length - 1;
			const void *cursor = NULL;
			struct seen seen;

			reset(NULL);
			memset(pages, 'x', 4096);
			for (unsigned i = 0; i < length; i++)
				text[i] = truth[i] = (char)('a' + (i + length) % 26);
			text[length] = truth[length] = 0;
			assert_int_equal(nvtx_range_push_a(text), 0);
			assert_true(nvtx_next(&cursor, &seen));
			assert_int_equal(seen.text_size, length);
			assert_string_equal(seen.text, truth);
		}
	}
	munmap(pages, 8192);
}

static void long_text_is_cut_once_reported(void **state)
{
	char *text = malloc(20001);
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	nvtx_state.cut_reported = 0;
	memset(text, 'y', 20000);
	text[20000] = 0;
	nvtx_range_push_a(text);
	nvtx_mark_a(text);
	seen = expect(&cursor, RECORD_NVTX_PUSH_EX);
	assert_int_equal(seen.text_size, NVTX_WIRE_TEXT_MAX);
	expect(&cursor, RECORD_NVTX_MARK);
	assert_int_equal(fake_agent.diagnostics, 1);
	/* No half of a character at the cut. */
	memset(text, 'a', 3999);
	memcpy(text + 3999, "\xc3\xa9", 3);
	nvtx_mark_a(text);
	assert_int_equal(expect(&cursor, RECORD_NVTX_MARK).text_size, 3999);
	free(text);
}

static void attributes_reach_the_record(void **state)
{
	struct nvtx_attributes a = with_text("with everything");
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	a.category = 9;
	a.color_type = NVTX_COLOR_IS_ARGB;
	a.color = 0xff112233;
	a.payload_type = NVTX_PAYLOAD_DOUBLE;
	memcpy(&a.payload, &(double){ 2.5 }, 8);
	assert_int_equal(nvtx_range_push_ex(&a), 0);
	seen = expect(&cursor, RECORD_NVTX_PUSH_EX);
	assert_string_equal(seen.text, "with everything");
	assert_int_equal(seen.color, 0xff112233);
	assert_int_equal(seen.category, 9);
	assert_int_equal(seen.flags, NVTX_FLAG_COLOR | NVTX_PAYLOAD_DOUBLE << NVTX_FLAG_PAYLOAD_SHIFT);
	assert_int_equal(seen.payload, a.payload);
	nvtx_mark_ex(&a);
	seen = expect(&cursor, RECORD_NVTX_MARK);
	assert_string_equal(seen.text, "with everything");
	assert_int_equal(seen.payload, a.payload);
}

static void every_scalar_payload(void **state)
{
	static const struct {
		int32_t type;
		uint64_t given, kept;
	} cases[] = {
		{ NVTX_PAYLOAD_UINT64, 0xfedcba9876543210u, 0xfedcba9876543210u },
		{ NVTX_PAYLOAD_INT64, (uint64_t)-7, (uint64_t)-7 },
		{ NVTX_PAYLOAD_UINT32, 0xdeadbeef00000005u, 5 },
		{ NVTX_PAYLOAD_INT32, 0xdeadbeeffffffffbu, (uint64_t)-5 },
		{ NVTX_PAYLOAD_FLOAT, 0xdeadbeef3fc00000u, 0x3fc00000 },
		{ NVTX_PAYLOAD_NONE, 77, 77 },
	};
	const void *cursor = NULL;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nvtx_attributes a = with_text("p");
		struct seen seen;

		a.payload_type = cases[i].type;
		a.payload = cases[i].given;
		nvtx_range_push_ex(&a);
		seen = expect(&cursor, RECORD_NVTX_PUSH_EX);
		assert_int_equal(seen.flags >> NVTX_FLAG_PAYLOAD_SHIFT, cases[i].type);
		if (cases[i].type != NVTX_PAYLOAD_NONE)
			assert_int_equal(seen.payload, cases[i].kept);
		assert_true(nvtx_range_start_ex(&a) != 0);
		seen = expect(&cursor, RECORD_NVTX_START);
		assert_int_equal(seen.flags >> NVTX_FLAG_PAYLOAD_SHIFT, cases[i].type);
	}
}

static void odd_attributes_do_no_harm(void **state)
{
	struct nvtx_attributes a = with_text("not to be read");
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	nvtx_range_push_ex(NULL);
	assert_true(expect(&cursor, RECORD_NVTX_PUSH_EX).flags & NVTX_FLAG_NO_MESSAGE);
	a.size = 0;
	nvtx_range_push_ex(&a);
	assert_true(expect(&cursor, RECORD_NVTX_PUSH_EX).flags & NVTX_FLAG_NO_MESSAGE);
	a.size = 24; /* up to the payload's type; no message */
	a.category = 3;
	nvtx_mark_ex(&a);
	seen = expect(&cursor, RECORD_NVTX_MARK);
	assert_true(seen.flags & NVTX_FLAG_NO_MESSAGE);
	assert_int_equal(seen.category, 3);
	a.size = sizeof(a);
	a.message_type = 99;
	a.payload_type = 99;
	nvtx_range_push_ex(&a);
	seen = expect(&cursor, RECORD_NVTX_PUSH_EX);
	assert_int_equal(seen.flags, NVTX_FLAG_NO_MESSAGE);
	a.message_type = NVTX_MESSAGE_REGISTERED;
	a.message.string = NULL;
	nvtx_range_push_ex(&a);
	assert_true(expect(&cursor, RECORD_NVTX_PUSH_EX).flags & NVTX_FLAG_NO_MESSAGE);
	nvtx_range_push_a(NULL);
	assert_true(expect(&cursor, RECORD_NVTX_PUSH_EX).flags & NVTX_FLAG_NO_MESSAGE);
	nvtx_range_push_w(NULL);
	assert_true(expect(&cursor, RECORD_NVTX_PUSH_EX).flags & NVTX_FLAG_NO_MESSAGE);
	nvtx_mark_a(NULL);
	nvtx_mark_w(NULL);
	expect(&cursor, RECORD_NVTX_MARK);
	expect(&cursor, RECORD_NVTX_MARK);
	assert_true(nvtx_range_start_a(NULL) != 0);
	expect_end((expect(&cursor, RECORD_NVTX_START), &cursor));
}

static void wide_texts_become_utf8(void **state)
{
	static const wchar_t wide[] = { 'a', 0xe9, 0x20ac, 0x1f600, 0xd800, 0x7fffffff, 0 };
	static const char truth[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd";
	struct nvtx_attributes a = with_text(NULL);
	const void *cursor = NULL;

	(void)state;
	assert_int_equal(nvtx_range_push_w(wide), 0);
	assert_string_equal(expect(&cursor, RECORD_NVTX_PUSH_EX).text, truth);
	nvtx_mark_w(wide);
	assert_string_equal(expect(&cursor, RECORD_NVTX_MARK).text, truth);
	a.message_type = NVTX_MESSAGE_WIDE;
	a.message.wide = wide;
	nvtx_range_end(nvtx_range_start_ex(&a));
	assert_string_equal(expect(&cursor, RECORD_NVTX_START).text, truth);
}

static void ranges_have_ids_of_their_own(void **state)
{
	uint64_t first = nvtx_range_start_a("one"), second = nvtx_range_start_w(L"two");
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	assert_true(first && second && first != second);
	nvtx_range_end(first);
	nvtx_domain_range_end(NULL, second);
	seen = expect(&cursor, RECORD_NVTX_START);
	assert_int_equal(seen.range, first);
	assert_string_equal(seen.text, "one");
	assert_int_equal(expect(&cursor, RECORD_NVTX_START).range, second);
	assert_int_equal(expect(&cursor, RECORD_NVTX_END).range, first);
	assert_int_equal(expect(&cursor, RECORD_NVTX_END).range, second);
	/* The counter's end does not lead into another thread's ids. */
	agent_tls.ranges |= 0xffffffffu;
	first = nvtx_range_start_a("last");
	second = nvtx_range_start_a("first of the next");
	assert_int_equal(second & 0xffffffffu, 1);
	assert_true(second >> 32 > first >> 32);
}

static void times_are_in_order(void **state)
{
	const void *cursor = NULL;
	uint64_t before = arch_cycles(), last = before;
	struct seen seen;

	(void)state;
	nvtx_range_push_a("a");
	nvtx_mark_a("b");
	nvtx_range_pop();
	while (nvtx_next(&cursor, &seen)) {
		assert_true(seen.time >= last);
		last = seen.time;
	}
	assert_true(last <= arch_cycles() && last > before);
}

static void domains_keep_their_own_levels(void **state)
{
	struct nvtx_domain *d = nvtx_domain_create_a("levels");
	struct nvtx_attributes a = with_text("in it");
	const void *cursor = NULL;

	(void)state;
	assert_int_equal(nvtx_range_push_a("default"), 0);
	assert_int_equal(nvtx_domain_range_push_ex(d, &a), 0);
	assert_int_equal(nvtx_domain_range_push_ex(d, &a), 1);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(nvtx_domain_range_pop(d), 1);
	assert_int_equal(nvtx_domain_range_pop(d), 0);
	expect(&cursor, RECORD_DEFINE);
	assert_int_equal(expect(&cursor, RECORD_NVTX_PUSH).domain, 0);
	assert_int_equal(expect(&cursor, RECORD_NVTX_PUSH_EX).domain, nvtx_domain_id(d));
}

static void many_domains_have_levels_too(void **state)
{
	struct nvtx_attributes a = with_text("far");
	char name[32];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct nvtx_domain *d;

		snprintf(name, sizeof(name), "many %d", i);
		d = nvtx_domain_create_a(name);
		for (int level = 0; level < 3; level++)
			assert_int_equal(nvtx_domain_range_push_ex(d, &a), level);
		for (int level = 2; level >= 0; level--)
			assert_int_equal(nvtx_domain_range_pop(d), level);
		assert_true(nvtx_domain_range_pop(d) < 0);
	}
	assert_int_equal(fake_agent.unmatched, 3000);
}

static void dropped_push_keeps_its_level(void **state)
{
	const void *cursor = NULL;

	(void)state;
	assert_int_equal(nvtx_range_push_a("kept"), 0);
	agent_tls.end = agent_tls.write; /* the chunk is full */
	fake_agent.chunks_left = 0;
	assert_int_equal(nvtx_range_push_a("dropped"), 1);
	assert_int_equal(nvtx_range_pop(), 1);
	fake_agent.chunks_left = -1;
	assert_int_equal(nvtx_range_push_a("kept too"), 1);
	assert_int_equal(nvtx_range_pop(), 1);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(fake_agent.dropped, 2);
	assert_int_equal(fake_agent.unmatched, 0);
	assert_string_equal(expect(&cursor, RECORD_NVTX_PUSH).text, "kept");
	assert_string_equal(expect(&cursor, RECORD_NVTX_PUSH).text, "kept too");
}

static void threads_without_a_ring_are_counted_as_dropped(void **state)
{
	(void)state;
	fake_agent.no_slots = 1;
	assert_true(nvtx_range_push_a("x") < 0);
	assert_true(nvtx_range_pop() < 0);
	assert_int_equal(fake_agent.dropped, 2);
	assert_int_equal(fake_agent.unmatched, 0);
}

static void reentry_is_refused_but_counted(void **state)
{
	(void)state;
	assert_int_equal(nvtx_range_push_a("before"), 0);
	agent_tls.busy = 1; /* as a signal handler would find it */
	assert_int_equal(nvtx_range_push_a("inside"), 1);
	assert_int_equal(nvtx_range_pop(), 1);
	nvtx_mark_a("inside");
	agent_tls.busy = 0;
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(fake_agent.refused, 3);
}

static void closed_window_touches_nothing(void **state)
{
	struct nvtx_attributes a = with_text("x");
	struct agent_tls before = agent_tls;

	(void)state;
	agent_pages.session.gate = 0;
	assert_int_equal(nvtx_range_push_a("x"), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_push_w(L"x"), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_push_ex(&a), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_pop(), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_start_a("x"), 0);
	nvtx_range_end(5);
	nvtx_mark_a("x");
	nvtx_mark_ex(&a);
	assert_memory_equal(&before, &agent_tls, sizeof(before));
	agent_pages.session.gate = RING_GATE_NVTX;
	nvtx_range_end(0); /* started while it was closed */
	assert_int_equal(fake_agent.unmatched, 1);
}

/* What was open in a window that was closed counts no more in the next. */
static void levels_begin_anew_in_each_window(void **state)
{
	struct nvtx_domain *far = NULL;
	struct nvtx_attributes a = with_text("far");

	(void)state;
	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "window %d", i);
		far = nvtx_domain_create_a(name);
	}
	agent_pages.session.gate = ring_gate(RING_GATE_NVTX, 1);
	assert_int_equal(nvtx_range_push_a("left open"), 0);
	assert_int_equal(nvtx_range_push_a("left open"), 1);
	assert_int_equal(nvtx_domain_range_push_ex(far, &a), 0);
	agent_pages.session.gate = 0;
	assert_int_equal(nvtx_range_pop(), NVTX_UNTRACKED);
	agent_pages.session.gate = ring_gate(RING_GATE_NVTX, 2);
	assert_int_equal(nvtx_range_pop(), -1);
	assert_int_equal(fake_agent.unmatched, 1);
	assert_int_equal(nvtx_range_push_a("left open"), 0);
	assert_int_equal(nvtx_domain_range_push_ex(far, &a), 0);
	assert_int_equal(nvtx_domain_range_pop(far), 0);
	assert_int_equal(nvtx_range_pop(), 0);
}

static void deep_nesting_does_no_harm(void **state)
{
	const void *cursor = NULL;
	struct seen seen;
	unsigned last = 0;

	(void)state;
	for (int i = 0; i < 70000; i++)
		assert_int_equal(nvtx_range_push_a("deep"), i);
	for (int i = 70000; i-- > 0;)
		assert_int_equal(nvtx_range_pop(), i);
	while (nvtx_next(&cursor, &seen) && seen.type != RECORD_NVTX_POP) {
		assert_int_equal(seen.domain, 0);
		last = seen.level;
	}
	assert_int_equal(last, NVTX_WIRE_LEVEL_MAX);
}

static void errno_is_kept(void **state)
{
	(void)state;
	errno = ENOTTY;
	nvtx_range_push_a("x");
	nvtx_range_push_w(L"x");
	nvtx_mark_a("x");
	nvtx_range_end(nvtx_range_start_a("x"));
	nvtx_range_pop();
	assert_int_equal(errno, ENOTTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(push_and_pop_return_levels, reset),
		cmocka_unit_test_setup(pop_without_push_is_counted, reset),
		cmocka_unit_test_setup(name_is_content_not_pointer, reset),
		cmocka_unit_test_setup(texts_of_every_length_at_a_page_end, reset),
		cmocka_unit_test_setup(long_text_is_cut_once_reported, reset),
		cmocka_unit_test_setup(attributes_reach_the_record, reset),
		cmocka_unit_test_setup(every_scalar_payload, reset),
		cmocka_unit_test_setup(odd_attributes_do_no_harm, reset),
		cmocka_unit_test_setup(wide_texts_become_utf8, reset),
		cmocka_unit_test_setup(ranges_have_ids_of_their_own, reset),
		cmocka_unit_test_setup(times_are_in_order, reset),
		cmocka_unit_test_setup(domains_keep_their_own_levels, reset),
		cmocka_unit_test_setup(dropped_push_keeps_its_level, reset),
		cmocka_unit_test_setup(threads_without_a_ring_are_counted_as_dropped, reset),
		cmocka_unit_test_setup(reentry_is_refused_but_counted, reset),
		cmocka_unit_test_setup(closed_window_touches_nothing, reset),
		cmocka_unit_test_setup(levels_begin_anew_in_each_window, reset),
		cmocka_unit_test_setup(deep_nesting_does_no_harm, reset),
		cmocka_unit_test_setup(errno_is_kept, reset),
		cmocka_unit_test_setup(many_domains_have_levels_too, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
