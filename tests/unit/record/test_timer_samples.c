/* Samples from timers in the target: pieces of stacks, weights, and records nobody would write. */
#include "support.h"

#include <string.h>

#include "fmt/record.h"
#include "record/session/address_space.h"
#include "record/stacks/timer_samples.h"

#define STACK_AT 0x7000000u

static void write_piece(struct fake_writer *w, uint64_t time, unsigned level, unsigned flags, uint64_t weight, const void *stack,
			size_t size)
{
	struct record_sample sample = { .at.time = time, .cpu = 3, .weight = weight };
	uint8_t bytes[4096];

	sample.at.head = record_head(RECORD_SAMPLE, flags, (unsigned)(sizeof(sample) + size), level, 0);
	sample.at.registers[ARCH_DWARF_RETURN] = 0x4000;
	sample.at.registers[ARCH_DWARF_STACK] = STACK_AT;
	sample.at.registers[ARCH_DWARF_FRAME] = STACK_AT + 64;
	memcpy(bytes, &sample, sizeof(sample));
	if (size)
		memcpy(bytes + sizeof(sample), stack, size);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(sample) + size)));
}

/* Frames linked by frame pointers: one in the first half, one in the second. */
static void make_stack(uint64_t *words, size_t count)
{
	memset(words, 0, count * sizeof(*words));
	words[8] = STACK_AT + 8 * (count - 4);
	words[9] = 0x5000;
	words[count - 3] = 0x6000;
}

/* Code without a file: it is walked by frame pointers. */
static void map_code(struct bench *b)
{
	struct space_mapping code = { .address = 0x1000, .size = 0x10000, .path = "//anon" };

	space_map(&b->session, space_of(&b->session, b->process->uid, 0), &code);
}

static size_t samples(struct bench *b, struct row *rows, size_t cap)
{
	return bench_rows(b, TABLE_SAMPLE, rows, cap);
}

/* How many callers the stack of a sample has. */
static int64_t depth_of_stack(struct bench *b, const struct row *sample)
{
	struct row stacks[64];
	size_t count = bench_rows(b, TABLE_STACK, stacks, 64);

	for (size_t i = 0; i < count; i++)
		if (stacks[i].values[COLUMN_STACK_ID] == sample->values[COLUMN_SAMPLE_STACK])
			return stacks[i].values[COLUMN_STACK_DEPTH];
	return -1;
}

static void pieces_become_one_stack(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	uint64_t stack[300];
	struct row rows[8];

	map_code(b);
	make_stack(stack, 300);
	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_piece(&w, 100, 2, 0, 5000, stack, 800);
	write_piece(&w, 100, 1, 0, 5000, (uint8_t *)stack + 800, 800);
	write_piece(&w, 100, 0, 0, 5000, (uint8_t *)stack + 1600, 800);
	write_piece(&w, 200, 0, 0, 1000, stack, 2400);
	bench_drain(b);
	bench_finish(b);
	assert_int_equal(samples(b, rows, 8), 2);
	assert_int_equal(rows[0].values[COLUMN_SAMPLE_TIME], 100);
	assert_int_equal(rows[0].values[COLUMN_SAMPLE_WEIGHT], 5000);
	assert_int_equal(rows[0].values[COLUMN_SAMPLE_CPU], 3);
	assert_int_equal(rows[1].values[COLUMN_SAMPLE_TIME], 200);
	/* The same frames, in three pieces and in one: the same stack. */
	assert_int_equal(depth_of_stack(b, &rows[0]), depth_of_stack(b, &rows[1]));
	assert_int_equal(rows[0].values[COLUMN_SAMPLE_STACK], rows[1].values[COLUMN_SAMPLE_STACK]);
	assert_true(depth_of_stack(b, &rows[0]) >= 2);
}

static void a_missing_piece_ends_the_stack(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	uint64_t stack[300];
	struct row rows[8];

	make_stack(stack, 300);
	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_piece(&w, 100, 2, 0, 10, stack, 800);
	write_piece(&w, 100, 0, 0, 10, (uint8_t *)stack + 1600, 800); /* the one between was dropped */
	write_piece(&w, 200, 1, 0, 10, stack, 800);
	write_piece(&w, 300, 0, 0, 10, stack, 2400);
	write_piece(&w, 400, 3, 0, 10, stack, 800); /* and the thread ends */
	bench_drain(b);
	bench_finish(b);
	assert_int_equal(samples(b, rows, 8), 5);
	assert_int_equal(rows[4].values[COLUMN_SAMPLE_TIME], 400);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 0);
}

static void the_rest_is_where_the_last_sample_was(void **state)
{
	struct bench *b = *state;
	struct fake_writer with, without;
	uint64_t stack[300];
	struct row rows[8];
	size_t nowhere = 0, sum = 0;

	make_stack(stack, 300);
	assert_true(fake_open(&with, b->pool, 1000, 10));
	write_piece(&with, 100, 0, 0, 10, stack, 2400);
	write_piece(&with, 200, 0, SAMPLE_FLAG_REST, 7, NULL, 0);
	assert_true(fake_open(&without, b->pool, 1001, 10));
	write_piece(&without, 300, 0, SAMPLE_FLAG_REST, 5, NULL, 0);
	bench_drain(b);
	bench_finish(b);
	assert_int_equal(samples(b, rows, 8), 3);
	for (size_t i = 0; i < 3; i++) {
		nowhere += rows[i].nulls[COLUMN_SAMPLE_STACK];
		sum += (size_t)rows[i].values[COLUMN_SAMPLE_WEIGHT];
		if (rows[i].values[COLUMN_SAMPLE_WEIGHT] == 5)
			assert_true(rows[i].nulls[COLUMN_SAMPLE_STACK]);
	}
	assert_int_equal(nowhere, 1);
	assert_int_equal(sum, 22);
	/* It says nothing about how often there was a tick. */
	assert_int_equal(b->session.timer_samples, 1);
}

static void check_damage(struct bench *b)
{
	struct row rows[8];

	bench_drain(b);
	bench_finish(b);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
	assert_int_equal(samples(b, rows, 8), 0);
}

static void a_short_record_is_damage(void **state)
{
	struct bench *b = *state;
	struct record_stack half = { .head = record_head(RECORD_SAMPLE, 0, sizeof(half), 0, 0), .time = 100 };
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	assert_true(fake_write(&w, &half, sizeof(half)));
	check_damage(b);
}

static void a_weight_beyond_all_time_is_damage(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_piece(&w, 100, 0, 0, UINT64_MAX, NULL, 0);
	check_damage(b);
}

static void a_stack_without_end_is_damage(void **state)
{
	struct bench *b = *state;
	static uint8_t zeros[3000];
	struct row rows[8];
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	for (unsigned left = 60; left; left--)
		write_piece(&w, 100, left, 0, 1, zeros, sizeof(zeros));
	bench_drain(b);
	bench_finish(b);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
	assert_int_equal(samples(b, rows, 8), 1);
}

/* How many diagnostics there are when so many samples stood for so much, and 1000 Hz were asked for. */
static size_t diagnostics_of_rate(struct bench *b, uint64_t weight, unsigned count)
{
	struct row rows[8];
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	for (unsigned i = 0; i < count; i++)
		write_piece(&w, 100 + i, 0, 0, weight, NULL, 0);
	bench_drain(b);
	timer_samples_report_rate(&b->session, 1000);
	bench_finish(b);
	return bench_rows(b, TABLE_DIAGNOSTIC, rows, 8);
}

static void a_rate_not_given_is_reported(void **state)
{
	assert_int_equal(diagnostics_of_rate(*state, 4000000, 100), 1);
}

static void a_rate_given_is_not(void **state)
{
	assert_int_equal(diagnostics_of_rate(*state, 1000000, 100), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(pieces_become_one_stack),
		TEST(a_missing_piece_ends_the_stack),
		TEST(the_rest_is_where_the_last_sample_was),
		TEST(a_short_record_is_damage),
		TEST(a_weight_beyond_all_time_is_damage),
		TEST(a_stack_without_end_is_damage),
		TEST(a_rate_not_given_is_reported),
		TEST(a_rate_given_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
