/* Stacks stored once: what two of them share is stored once too. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "record/session/frames.h"

#define ROWS 4096

struct expected_frame {
	int64_t offset;
	const char *module; /* NULL: none */
};

static struct space *mapped(struct bench *b)
{
	struct space *space = space_of(&b->session, 1, 0);
	struct space_mapping mapping = { .address = 0x10000, .size = 0x1000000, .path = "/nowhere/program" };

	space_map(&b->session, space, &mapping);
	return space;
}

/* Follows the stack through the rows, leaf first. */
static void check(struct bench *b, uint64_t stack, const struct expected_frame *expected, size_t count)
{
	struct row *stacks = calloc(ROWS, sizeof(*stacks)), *frames = calloc(ROWS, sizeof(*frames)), modules[16];
	size_t stack_count = bench_rows(b, TABLE_STACK, stacks, ROWS);
	size_t module_count = bench_rows(b, TABLE_MODULE, modules, 16);

	bench_rows(b, TABLE_FRAME, frames, ROWS);
	for (size_t i = 0; i < count; i++) {
		struct row *node, *frame;
		int64_t module;

		assert_in_range(stack, 1, stack_count);
		node = &stacks[stack - 1];
		assert_int_equal(node->values[COLUMN_STACK_ID], stack);
		assert_int_equal(node->values[COLUMN_STACK_DEPTH], count - 1 - i);
		frame = &frames[node->values[COLUMN_STACK_FRAME] - 1];
		assert_int_equal(frame->values[COLUMN_FRAME_OFFSET], expected[i].offset);
		module = frame->values[COLUMN_FRAME_MODULE];
		if (expected[i].module) {
			assert_in_range(module, 1, module_count);
			assert_string_equal(bench_text(b, &modules[module - 1], COLUMN_MODULE_PATH), expected[i].module);
		} else {
			assert_true(frame->nulls[COLUMN_FRAME_MODULE]);
		}
		assert_int_equal(node->nulls[COLUMN_STACK_PARENT], i == count - 1);
		stack = (uint64_t)node->values[COLUMN_STACK_PARENT];
	}
	free(stacks);
	free(frames);
}

static void callers_are_where_the_call_is(void **state)
{
	struct bench *b = *state;
	struct stack_walk walk = { .count = 3, .pcs = { 0x10100, 0x10200, 0x10300 } };
	const struct expected_frame expected[] = { { 0x100, "/nowhere/program" },
						   { 0x1ff, "/nowhere/program" },
						   { 0x2ff, "/nowhere/program" } };
	struct space *space = mapped(b);
	uint64_t stack = stacks_intern(&b->session, space, &walk);

	assert_int_equal(stacks_intern(&b->session, space, &walk), stack);
	bench_finish(b);
	check(b, stack, expected, 3);
}

static void the_kernel_is_the_leaf(void **state)
{
	struct bench *b = *state;
	struct stack_walk walk = { .count = 4, .kernel = 2, .pcs = { 0xffffffff81000100, 0xffffffff81000200, 0x10300, 0x10400 } };
	const struct expected_frame expected[] = { { (int64_t)0xffffffff81000100, "[kernel]" },
						   { (int64_t)0xffffffff810001ff, "[kernel]" },
						   { 0x300, "/nowhere/program" },
						   { 0x3ff, "/nowhere/program" } };
	uint64_t stack = stacks_intern(&b->session, mapped(b), &walk);

	bench_finish(b);
	check(b, stack, expected, 4);
}

static void what_is_cut_says_so(void **state)
{
	struct bench *b = *state;
	struct stack_walk walk = { .count = 2, .cut = 1, .pcs = { 0x10100, 0x5 } };
	const struct expected_frame expected[] = { { 0x100, "/nowhere/program" }, { 4, NULL }, { 0, STACKS_CUT } };
	uint64_t stack = stacks_intern(&b->session, mapped(b), &walk);

	bench_finish(b);
	check(b, stack, expected, 3);
}

static void nonsense_is_no_stack(void **state)
{
	struct bench *b = *state;
	struct space *space = mapped(b);
	struct stack_walk *walk = calloc(1, sizeof(*walk));

	assert_int_equal(stacks_intern(&b->session, space, walk), 0);
	walk->count = STACK_MAX_FRAMES + 1;
	assert_int_equal(stacks_intern(&b->session, space, walk), 0);
	walk->count = 1;
	walk->kernel = 2;
	assert_int_equal(stacks_intern(&b->session, space, walk), 0);
	free(walk);
}

/* 2,000 leaves under the same 63 callers. */
static void shared_callers_are_stored_once(void **state)
{
	struct bench *b = *state;
	struct space *space = mapped(b);
	struct stack_walk walk = { .count = 64 };
	uint64_t first[2000];
	uint32_t frames;

	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 2000; i++) {
			uint64_t stack;

			for (unsigned level = 0; level < 64; level++)
				walk.pcs[level] = 0x20000 + level * 16;
			walk.pcs[0] = 0x10000 + i * 16;
			stack = stacks_intern(&b->session, space, &walk);
			assert_int_not_equal(stack, 0);
			if (round)
				assert_int_equal(stack, first[i]);
			first[i] = stack;
		}
	stacks_frames(&b->session, &frames);
	assert_int_equal(frames, 2000 + 63);
	bench_finish(b);
	assert_int_equal(report_group(b->report, TABLE_STACK, 0)->rows, 2000 + 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(callers_are_where_the_call_is, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(the_kernel_is_the_leaf, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(what_is_cut_says_so, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(nonsense_is_no_stack, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(shared_callers_are_stored_once, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
