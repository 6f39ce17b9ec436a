/* Ranges that open and close the capture window: which, and what is written meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include <cmocka.h>

#include "fmt/cuda_wire.h"
#include "nvtx_decode.h"

static void await(const char *range, const char *domain, uint32_t how)
{
	struct ring_session *session = &agent_pages.session;

	fake_agent_reset();
	memset(nvtx_state.seen, 0, sizeof(nvtx_state.seen));
	nvtx_state.seen_looks = 0;
	session->gate = 0;
	session->nvtx_wait = RING_NVTX_ARMED | how;
	session->nvtx_range_size = (uint32_t)strlen(range);
	memcpy(session->nvtx_range, range, strlen(range));
	session->nvtx_domain_size = (uint32_t)strlen(domain);
	memcpy(session->nvtx_domain, domain, strlen(domain));
}

static int stop_waiting(void **state)
{
	(void)state;
	agent_pages.session.nvtx_wait = 0;
	agent_pages.session.nvtx_range_size = 0;
	agent_pages.session.nvtx_domain_size = 0;
	agent_pages.session.nvtx_numbered = 0;
	return 0;
}

/* Records so far of this type. */
static unsigned count(unsigned type)
{
	const void *cursor = NULL;
	struct seen seen;
	unsigned found = 0;

	while (nvtx_next(&cursor, &seen))
		found += seen.type == type;
	return found;
}

static unsigned pushes(void)
{
	return count(RECORD_NVTX_PUSH) + count(RECORD_NVTX_PUSH_EX);
}

/* Texts of the CAPTURE_SEEN records, each with a space behind it. */
static void reported(char *text, size_t size)
{
	const void *cursor = NULL;
	const uint64_t *record;

	text[0] = '\0';
	while ((record = fake_agent_next(&cursor))) {
		size_t length = record_size(*record) - sizeof(struct record_capture), at = strlen(text);

		if (record_is_short(*record) || record_type(*record) != RECORD_CAPTURE || record_flags(*record) != CAPTURE_SEEN)
			continue;
		assert_true(at + length + 2 < size);
		memcpy(text + at, (const char *)record + sizeof(struct record_capture), length);
		strcpy(text + at + length, " ");
	}
}

static struct nvtx_attributes with_text(const char *text)
{
	return (struct nvtx_attributes){
		.version = 3, .size = sizeof(struct nvtx_attributes), .message_type = NVTX_MESSAGE_ASCII, .message.ascii = text
	};
}

static void push_opens_and_pop_closes(void **state)
{
	(void)state;
	await("step", "", 0);
	assert_int_equal(nvtx_range_push_a("other"), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_pop(), NVTX_UNTRACKED);
	assert_int_equal(pushes(), 0);
	assert_int_equal(nvtx_range_push_a("step"), 0);
	assert_int_equal(nvtx_range_push_a("within"), 1);
	assert_int_equal(nvtx_range_pop(), 1);
	assert_int_equal(fake_agent.asked_stop, 0);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(fake_agent.asked_start, 1);
	assert_int_equal(fake_agent.asked_stop, 1);
	assert_int_equal(pushes(), 2);
	assert_int_equal(count(RECORD_NVTX_POP), 2);
	assert_int_equal(nvtx_range_push_a("after"), NVTX_UNTRACKED);
}

/* The second window of a thread goes by the quick ways: its names are known. */
static void windows_follow_each_other(void **state)
{
	(void)state;
	await("step", "", 0);
	for (unsigned i = 1; i <= 5; i++) {
		assert_int_equal(nvtx_range_push_a("step"), 0);
		for (int k = 0; k < 3; k++) {
			assert_int_equal(nvtx_range_push_a("within"), 1);
			assert_int_equal(nvtx_range_pop(), 1);
		}
		assert_int_equal(nvtx_range_pop(), 0);
		assert_int_equal(fake_agent.asked_start, i);
		assert_int_equal(fake_agent.asked_stop, i);
	}
	assert_int_equal(pushes(), 20);
}

static void only_the_whole_name_counts(void **state)
{
	static const char *const others[] = { "ste", "steps", "Step", "", "xstep", NULL };
	struct nvtx_attributes small = with_text("step");

	(void)state;
	await("step", "", 0);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(nvtx_range_push_a(others[i]), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_push_w(L"stepp"), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_push_w(NULL), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_push_ex(NULL), NVTX_UNTRACKED);
	small.size = offsetof(struct nvtx_attributes, message);
	assert_int_equal(nvtx_range_push_ex(&small), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_start_a("other"), 0);
	assert_int_equal(fake_agent.asked_start, 0);
	assert_int_equal(nvtx_range_push_w(L"step"), 0);
	assert_int_equal(fake_agent.asked_start, 1);
}

static void domains_are_reported_apart(void **state)
{
	struct nvtx_attributes event = with_text("step");
	struct nvtx_domain *other, *wanted;

	(void)state;
	await("step", "wanted", 0);
	other = nvtx_domain_create_a("other domain");
	assert_int_equal(nvtx_domain_range_push_ex(other, &event), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_push_a("step"), NVTX_UNTRACKED);
	wanted = nvtx_domain_create_a("wanted");
	assert_int_equal(nvtx_domain_range_push_ex(wanted, &event), 0);
	/* Ranges of another domain do not end it. */
	assert_int_equal(nvtx_range_push_a("x"), 0);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(fake_agent.asked_stop, 0);
	assert_int_equal(nvtx_domain_range_pop(wanted), 0);
	assert_int_equal(fake_agent.asked_stop, 1);
	await("step", "", RING_NVTX_ANY_DOMAIN);
	assert_int_equal(nvtx_domain_range_push_ex(other, &event), 0);
	assert_int_equal(nvtx_domain_range_pop(other), 0);
	assert_int_equal(fake_agent.asked_stop, 1);
}

static void registered_strings_match(void **state)
{
	struct nvtx_attributes event = with_text(NULL);

	(void)state;
	await("registered step", "", 0);
	event.message_type = NVTX_MESSAGE_REGISTERED;
	event.message.string = nvtx_register_string_a(NULL, "registered other");
	assert_int_equal(nvtx_range_push_ex(&event), NVTX_UNTRACKED);
	event.message.string = nvtx_register_string_a(NULL, "registered step");
	assert_int_equal(nvtx_range_push_ex(&event), 0);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(fake_agent.asked_stop, 1);
}

static void start_opens_and_its_end_closes(void **state)
{
	uint64_t window, within;

	(void)state;
	await("step", "", 0);
	window = nvtx_range_start_a("step");
	assert_int_not_equal(window, 0);
	within = nvtx_range_start_a("step");
	assert_int_not_equal(within, window);
	nvtx_range_end(within);
	assert_int_equal(fake_agent.asked_stop, 0);
	nvtx_range_end(window);
	assert_int_equal(fake_agent.asked_stop, 1);
	assert_int_equal(count(RECORD_NVTX_START), 2);
	assert_int_equal(count(RECORD_NVTX_END), 2);
	assert_int_equal(nvtx_range_start_a("x"), 0);
	/* An end that comes in a later window, which others opened, is not that window's. */
	window = nvtx_range_start_a("step");
	agent_pages.session.gate = ring_gate(RING_GATE_NVTX, 77);
	nvtx_range_end(window);
	assert_int_equal(fake_agent.asked_stop, 1);
}

static void ends_without_meaning(void **state)
{
	(void)state;
	await("step", "", RING_NVTX_KEEP_OPEN);
	assert_int_equal(nvtx_range_push_a("step"), 0);
	assert_int_equal(nvtx_range_pop(), 0);
	nvtx_range_end(nvtx_range_start_a("step"));
	assert_int_equal(fake_agent.asked_stop, 0);
	/* Another thread was quicker. */
	await("step", "", 0);
	fake_agent.others = 1;
	assert_int_equal(nvtx_range_push_a("step"), 0);
	assert_int_equal(nvtx_range_pop(), 0);
	assert_int_equal(fake_agent.asked_stop, 0);
}

static void nobody_answers(void **state)
{
	(void)state;
	await("step", "", 0);
	fake_agent.deaf = 1;
	assert_int_equal(nvtx_range_push_a("step"), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_pop(), NVTX_UNTRACKED);
	assert_int_equal(nvtx_range_start_a("step"), 0);
	assert_int_equal(fake_agent.asked_stop, 0);
	assert_int_equal(pushes(), 0);
}

/* The cost that is told is that of a recorded range, whether a window is open or not. */
static void cost_is_measured_with_the_gate_closed(void **state)
{
	unsigned before;

	(void)state;
	await("step", "", RING_NVTX_TELL);
	nvtx_range_push_a("step");
	nvtx_range_pop();
	assert_int_equal(agent_pages.session.gate, 0);
	before = pushes();
	nvtx_cost_pair();
	nvtx_cost_pair();
	assert_int_equal(pushes(), before + 2);
	assert_int_equal(agent_memory()->levels[0], 0);
	assert_int_equal(fake_agent.asked_start, 1);
}

static void other_names_are_reported_once(void **state)
{
	struct nvtx_attributes event = with_text("in a domain");
	char buffer[64] = "changing 0", all[1024];

	(void)state;
	await("step", "", RING_NVTX_TELL);
	for (int i = 0; i < 3000; i++) {
		nvtx_range_push_a("literal");
		nvtx_domain_range_push_ex(nvtx_domain_create_a("some domain"), &event);
		buffer[9] = (char)('0' + i % 3);
		nvtx_range_push_a(buffer);
		nvtx_range_push_w(L"wide");
	}
	nvtx_cost_pair();
	reported(all, sizeof(all));
	assert_string_equal(all, "literal in a domain@some domain changing 0 wide changing 1 changing 2 ");
	for (int i = 0; i < 5000; i++) {
		snprintf(buffer, sizeof(buffer), "number %d", i);
		nvtx_range_push_a(buffer);
	}
	reported(all, sizeof(all));
	assert_non_null(strstr(all, "number 0 number 1 "));
	assert_null(strstr(all, "number 2"));
}

static void await_steps(const char *range, uint32_t recorded)
{
	await(range, "", RING_NVTX_STEPS);
	agent_pages.session.nvtx_numbered = 1;
	fake_agent.recorded_steps = recorded;
}

/* In a window, too, and though all names have been used before. */
static void every_begin_is_a_step(void **state)
{
	struct nvtx_attributes event = with_text("step");
	unsigned i;

	(void)state;
	await_steps("step", 0x1c);
	for (i = 0; i < 8; i++) {
		if (i % 2)
			nvtx_range_push_a("step");
		else
			nvtx_range_push_ex(&event);
		for (int k = 0; k < 5; k++) {
			nvtx_range_push_a("within");
			nvtx_range_pop();
		}
		nvtx_range_pop();
		assert_int_equal(fake_agent.steps, i + 1);
	}
	assert_int_equal(pushes(), 3 * 6);
	assert_int_equal(count(RECORD_NVTX_POP), 3 * 6);
	assert_int_equal(fake_agent.asked_start + fake_agent.asked_stop, 0);
	nvtx_range_start_a("step");
	nvtx_range_push_w(L"step");
	assert_int_equal(fake_agent.steps, i + 2);
}

static void numbers_behind_the_name(void **state)
{
	static const char *const steps[] = { "step", "step12", "step 12", "step_12", "step-1", "step#0", "step:7", "step 000" };
	static const char *const others[] = { "ste",   "steps",   "step ",  "step #1", "step 1a", "step 1 2",
					      "step_", "step  1", "step.1", "1step",   "" };
	struct nvtx_attributes event = with_text(NULL);
	wchar_t wide[32];

	(void)state;
	for (uint32_t recorded = 0; recorded <= 1; recorded++) {
		await_steps("step", recorded ? ~0u : 0);
		agent_pages.session.gate = recorded ? ring_gate(RING_GATE_NVTX, 1) : 0;
		for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
			nvtx_range_push_a(others[i]);
			swprintf(wide, 32, L"%s", others[i]);
			nvtx_range_push_w(wide);
			event.message_type = NVTX_MESSAGE_REGISTERED;
			event.message.string = nvtx_register_string_a(NULL, others[i]);
			nvtx_range_push_ex(&event);
		}
		assert_int_equal(fake_agent.steps, 0);
	}
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		nvtx_range_push_a(steps[i]);
		swprintf(wide, 32, L"%s", steps[i]);
		nvtx_range_push_w(wide);
		event.message.string = nvtx_register_string_a(NULL, steps[i]);
		nvtx_range_push_ex(&event);
		assert_int_equal(fake_agent.steps, 3 * i + 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(push_opens_and_pop_closes, stop_waiting),
		cmocka_unit_test_teardown(windows_follow_each_other, stop_waiting),
		cmocka_unit_test_teardown(only_the_whole_name_counts, stop_waiting),
		cmocka_unit_test_teardown(domains_are_reported_apart, stop_waiting),
		cmocka_unit_test_teardown(registered_strings_match, stop_waiting),
		cmocka_unit_test_teardown(start_opens_and_its_end_closes, stop_waiting),
		cmocka_unit_test_teardown(ends_without_meaning, stop_waiting),
		cmocka_unit_test_teardown(nobody_answers, stop_waiting),
		cmocka_unit_test_teardown(cost_is_measured_with_the_gate_closed, stop_waiting),
		cmocka_unit_test_teardown(other_names_are_reported_once, stop_waiting),
		cmocka_unit_test_teardown(every_begin_is_a_step, stop_waiting),
		cmocka_unit_test_teardown(numbers_behind_the_name, stop_waiting),
	};

	return cmocka_run_group_tests_name("nvtx_window", tests, NULL, NULL);
}
