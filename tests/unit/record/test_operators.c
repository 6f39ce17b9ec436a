/* Records of PyTorch's operators made by hand: what becomes of them, and of those that make no sense. */
#include "support.h"

#include <string.h>

#include "fmt/torch_wire.h"

static void write_name(struct fake_writer *w, unsigned number, uint64_t thread, const char *text)
{
	uint8_t bytes[512];
	uint32_t size = (uint32_t)(sizeof(struct record_torch_name) + strlen(text));
	struct record_torch_name record = { record_head(RECORD_TORCH_NAME, 0, size, number, 0), 50, thread };

	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), text, strlen(text));
	assert_true(fake_write(w, bytes, size));
}

static void write_start(struct fake_writer *w, unsigned name, unsigned place, unsigned flags, uint64_t time, const uint64_t *values,
			unsigned count)
{
	uint64_t words[8] = { record_head(RECORD_TORCH_START, flags, 16 + 8 * count, place, name), time };

	for (unsigned i = 0; i < count; i++)
		words[2 + i] = values[i];
	assert_true(fake_write(w, words, 16 + 8 * count));
}

static void write_end(struct fake_writer *w, unsigned place, unsigned flags, uint64_t time, uint64_t value)
{
	uint64_t words[3] = { record_head(RECORD_TORCH_END, flags, flags ? 24 : 16, place, 0), time, value };

	assert_true(fake_write(w, words, flags ? 24 : 16));
}

static struct row operator_at(struct bench *b, int64_t start)
{
	struct row rows[64];
	size_t count = bench_rows(b, TABLE_TORCH_OP, rows, 64);

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_TORCH_OP_START] == start)
			return rows[i];
	fail_msg("no operator at %lld", (long long)start);
	return rows[0];
}

static size_t count_operators(struct bench *b)
{
	struct row rows[64];

	return bench_rows(b, TABLE_TORCH_OP, rows, 64);
}

static void operators_end_in_any_order(void **state)
{
	const uint64_t values[] = { 41, 7 };
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_name(&w, 3, 5, "aten::outer");
	write_name(&w, 1023, 5, "aten::inner");
	write_start(&w, 3, 0, TORCH_FLAG_SEQUENCE, 100, values, 1);
	write_start(&w, 1023, 1, TORCH_FLAG_SEQUENCE | TORCH_FLAG_FORWARD | 1 << TORCH_FLAG_SCOPE_SHIFT, 110, values, 2);
	write_end(&w, 0, 0, 120, 0);
	write_start(&w, 3, 2, 0, 130, NULL, 0);
	write_end(&w, 1, 0, 140, 0);
	write_end(&w, 2, 0, 150, 0);
	bench_finish(b);
	row = operator_at(b, 100);
	assert_string_equal(bench_text(b, &row, COLUMN_TORCH_OP_NAME), "aten::outer");
	assert_int_equal(row.values[COLUMN_TORCH_OP_END], 120);
	assert_int_equal(row.values[COLUMN_TORCH_OP_SEQUENCE], 41);
	assert_int_equal(row.values[COLUMN_TORCH_OP_NUMBER], 5);
	assert_true(row.nulls[COLUMN_TORCH_OP_FORWARD] && row.nulls[COLUMN_TORCH_OP_FLAGS] && row.nulls[COLUMN_TORCH_OP_SCOPE]);
	row = operator_at(b, 110);
	assert_int_equal(row.values[COLUMN_TORCH_OP_END], 140);
	assert_int_equal(row.values[COLUMN_TORCH_OP_FORWARD], 7);
	assert_int_equal(row.values[COLUMN_TORCH_OP_SCOPE], 1);
	assert_true(operator_at(b, 130).nulls[COLUMN_TORCH_OP_SEQUENCE]);
	assert_int_equal(b->session.events, 6);
}

static void ends_that_are_missing(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_name(&w, 0, 1, "op");
	write_start(&w, 0, 0, 0, 100, NULL, 0);
	write_start(&w, 0, 0, 0, 200, NULL, 0); /* the end of the one before was lost */
	write_end(&w, 7, 0, 250, 0);            /* its start was lost */
	bench_finish(b);
	assert_int_equal(operator_at(b, 100).values[COLUMN_TORCH_OP_END], 200);
	assert_int_equal(operator_at(b, 100).values[COLUMN_TORCH_OP_FLAGS], SLICE_OPEN);
	assert_int_equal(operator_at(b, 200).values[COLUMN_TORCH_OP_FLAGS], SLICE_OPEN);
	assert_int_equal(b->session.events, 2);
	assert_int_equal(bench_loss(b, LOSS_PUSH_MISSING), 1);
}

static void ends_in_other_threads(void **state)
{
	const uint64_t first = 0x1000, second = 0x2000;
	struct bench *b = *state;
	struct fake_writer one, other;
	struct row row;

	assert_true(fake_open(&one, b->pool, 1000, 10));
	assert_true(fake_open(&other, b->pool, 1001, 10));
	write_name(&one, 0, 1, "nccl:all_reduce");
	write_end(&other, 0, TORCH_FLAG_ID, 300, first);
	write_start(&one, 0, 0, TORCH_FLAG_ID, 100, &first, 1);
	write_start(&one, 0, 0, TORCH_FLAG_ID, 110, &second, 1);
	write_start(&one, 0, 4, 0, 120, NULL, 0);
	bench_drain(b);
	write_end(&other, 4, TORCH_FLAG_FORWARD, 310, 1); /* of thread 1 */
	write_end(&other, 0, TORCH_FLAG_ID, 320, 0x3000); /* of nothing */
	bench_finish(b);
	row = operator_at(b, 100);
	assert_int_equal(row.values[COLUMN_TORCH_OP_END], 300);
	assert_int_equal(row.values[COLUMN_TORCH_OP_FLAGS], SLICE_ASYNC);
	assert_false(row.nulls[COLUMN_TORCH_OP_END_THREAD]);
	assert_int_equal(operator_at(b, 110).values[COLUMN_TORCH_OP_FLAGS], SLICE_ASYNC | SLICE_OPEN);
	assert_int_equal(operator_at(b, 120).values[COLUMN_TORCH_OP_END], 310);
	assert_int_equal(b->session.events, 5);
	assert_int_equal(bench_loss(b, LOSS_UNMATCHED_END), 1);
}

static void inputs_are_texts(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;
	uint32_t words[4 + 12] = { 0 };
	uint64_t head = record_head(RECORD_TORCH_START, TORCH_FLAG_INPUTS, sizeof(words), 0, 0), time = 100;

	memcpy(words, &head, 8);
	memcpy(words + 2, &time, 8);
	words[4] = 2u << TORCH_INPUT_COUNT_SHIFT | TORCH_INPUT_TYPED | 1;
	words[5] = 64;
	words[6] = 3;
	words[7] = TORCH_INPUT_TYPED | 2;
	words[8] = 2u << TORCH_INPUT_COUNT_SHIFT | TORCH_INPUT_TYPED | TORCH_INPUT_WIDE | 1;
	words[9] = 7;
	words[10] = 1;
	words[11] = 5;
	words[13] = 0;
	words[14] = 0;
	words[15] = 0;
	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_name(&w, 0, 1, "op");
	write_name(&w, 1, 1, "float");
	write_name(&w, 2, 1, "Scalar");
	assert_true(fake_write(&w, words, sizeof(words)));
	write_end(&w, 0, 0, 200, 0);
	bench_finish(b);
	row = operator_at(b, 100);
	assert_string_equal(bench_text(b, &row, COLUMN_TORCH_OP_SHAPES), "[[64, 3], [], [4294967303, 5], [], [], []]");
	assert_string_equal(bench_text(b, &row, COLUMN_TORCH_OP_TYPES), "[\"float\", \"Scalar\", \"float\", \"\", \"\", \"\"]");
}

static void write_and_finish(struct bench *b, const void *bytes, uint32_t size)
{
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_name(&w, 0, 1, "op");
	assert_true(fake_write(&w, bytes, size));
	bench_finish(b);
	assert_int_equal(count_operators(b), 0);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
}

static void a_name_that_was_not_given(void **state)
{
	const uint64_t words[] = { record_head(RECORD_TORCH_START, 0, 16, 0, 9), 100 };

	write_and_finish(*state, words, sizeof(words));
}

static void values_that_are_not_there(void **state)
{
	const uint64_t words[] = { record_head(RECORD_TORCH_START, TORCH_FLAG_SEQUENCE | TORCH_FLAG_FORWARD, 24, 0, 0), 100, 1 };

	write_and_finish(*state, words, sizeof(words));
}

static void inputs_that_are_not_there(void **state)
{
	const uint64_t words[] = { record_head(RECORD_TORCH_START, TORCH_FLAG_INPUTS, 24, 0, 0), 100, 40u << TORCH_INPUT_COUNT_SHIFT };

	write_and_finish(*state, words, sizeof(words));
}

static void a_number_that_is_none(void **state)
{
	const uint64_t words[] = { record_head(RECORD_TORCH_NAME, 0, 24, TORCH_NAMES, 0), 100, 1 };

	write_and_finish(*state, words, sizeof(words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(operators_end_in_any_order, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(ends_that_are_missing, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(ends_in_other_threads, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(inputs_are_texts, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_name_that_was_not_given, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(values_that_are_not_there, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(inputs_that_are_not_there, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_number_that_is_none, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
