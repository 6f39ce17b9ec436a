/* What fuzzers of whole reports change them with (tests/fuzz): taken apart and put together a report is the same, and most of what
 * is changed still opens, so that readers are reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../fuzz/mutate_report.h"

static uint8_t *data;
static size_t size;

/* In libFuzzer's place. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t max_size)
{
	if (count)
		bytes[dice((uint32_t)count)] ^= (uint8_t)(1u << dice(8));
	return count;
}

static int read_seed(void **state)
{
	FILE *f = fopen(SEEDS "/seed-cuda", "rb");

	data = malloc(1 << 16);
	size = f && data ? fread(data, 1, 1 << 16, f) : 0;
	if (f)
		fclose(f);
	return size <= FUZZ_CHOICES;
}

static int free_seed(void **state)
{
	free(data);
	return 0;
}

static uint64_t sum_rows(struct report *r)
{
	static int64_t values[SET_MAX_ROWS];
	uint64_t sum = 0;

	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++)
		for (size_t g = 0; g < report_group_count(r, (enum table_id)table); g++)
			for (unsigned c = 0; c < table_schema(table)->column_count; c++) {
				assert_int_equal(report_column(r, (enum table_id)table, g, c, values, NULL), 0);
				for (uint32_t i = 0; i < report_group(r, (enum table_id)table, g)->rows; i++)
					sum = sum * 31 + (uint64_t)values[i];
			}
	return sum;
}

static void test_same_again(void **state)
{
	struct model *m = model_load(data + FUZZ_CHOICES, size - FUZZ_CHOICES);
	struct buf out = BUF_INIT;
	struct report *before, *after;
	struct error err;

	assert_non_null(m);
	assert_int_equal(model_save(m, &out), 0);
	model_release(m);
	assert_int_equal(report_open_memory(&before, data + FUZZ_CHOICES, size - FUZZ_CHOICES, NULL, 0, &err), 0);
	assert_int_equal(report_open_memory(&after, out.data, out.len, NULL, 0, &err), 0);
	assert_false(report_is_partial(after) || report_is_damaged(after));
	assert_int_equal(report_string_limit(after), report_string_limit(before));
	assert_string_equal(report_meta(after, "host"), report_meta(before, "host"));
	assert_int_equal(sum_rows(after), sum_rows(before));
	report_close(before);
	report_close(after);
	buf_release(&out);
}

static void test_most_open(void **state)
{
	uint8_t *room = malloc(1 << 17);
	unsigned opened = 0, different = 0;
	struct report *r;
	struct error err;
	size_t len;

	assert_non_null(room);
	for (unsigned seed = 0; seed < 200; seed++) {
		memcpy(room, data, size);
		len = LLVMFuzzerCustomMutator(room, size, 1 << 17, seed);
		different += len != size || memcmp(room, data, size) != 0;
		if (report_open_memory(&r, room + FUZZ_CHOICES, len - FUZZ_CHOICES, NULL, 0, &err) < 0)
			continue;
		opened += !report_is_partial(r);
		report_close(r);
	}
	free(room);
	assert_true(different > 180);
	assert_true(opened > 150);
}

static void test_crossed(void **state)
{
	uint8_t *room = malloc(1 << 17);
	struct report *r;
	struct error err;
	size_t len;

	assert_non_null(room);
	len = LLVMFuzzerCustomCrossOver(data, size, data, size, room, 1 << 17, 3);
	assert_true(len > size);
	assert_int_equal(report_open_memory(&r, room + FUZZ_CHOICES, len - FUZZ_CHOICES, NULL, 0, &err), 0);
	assert_false(report_is_partial(r));
	report_close(r);
	free(room);
}

/* Sets of 65,536 values that are all the same, packed: next to nothing each. */
static void add_dense_sets(struct model *m, unsigned count)
{
	static int64_t times[SET_MAX_ROWS], values[SET_MAX_ROWS];
	struct row_set rows = {
		.head = { .table = TABLE_COUNTER, .track = 1, .rows = SET_MAX_ROWS, .time_max = SET_MAX_ROWS - 1, .present = 3 },
		.kind = TABLE_KIND_POINT,
		.columns = { times, values },
		.counts = { SET_MAX_ROWS, SET_MAX_ROWS }
	};
	struct buf bytes = BUF_INIT;
	struct encoder encoder;

	for (unsigned i = 0; i < SET_MAX_ROWS; i++)
		times[i] = i;
	assert_int_equal(encoder_init(&encoder), 0);
	assert_int_equal(encode_set(&encoder, &rows, 0, &bytes), 0);
	encoder_release(&encoder);
	m->blocks[m->block_count++] = (struct model_block){
		.header = { .kind = BLOCK_GROUP, .flags = BLOCK_COMPRESSED, .segment = 1, .items = count }
	};
	for (unsigned i = 0; i < count; i++) {
		assert_true(model_add_set(m, (uint32_t)m->block_count - 1, 0, bytes.data, bytes.len));
		model_add_entry(m, (uint32_t)m->set_count - 1);
	}
	buf_release(&bytes);
}

/* No reader is kept busy for ever by a small file. */
static void test_more_rows_than_a_file_can_hold(void **state)
{
	struct model *m = model_load(data + FUZZ_CHOICES, size - FUZZ_CHOICES);
	struct buf out = BUF_INIT;
	unsigned count;
	struct report *r;
	struct error err;

	assert_non_null(m);
	count = (unsigned)(MODEL_SETS - m->set_count);
	add_dense_sets(m, count);
	assert_int_equal(model_save(m, &out), 0);
	model_release(m);
	assert_int_equal(report_open_memory(&r, out.data, out.len, NULL, 0, &err), 0);
	assert_false(report_is_partial(r));
	assert_true(report_is_damaged(r));
	assert_true(report_row_count(r, TABLE_COUNTER) < (1u << 24) + 256 * out.len);
	assert_true(report_row_count(r, TABLE_COUNTER) > 1u << 24);
	assert_true((uint64_t)count * SET_MAX_ROWS > (1u << 24) + 256 * out.len);
	assert_non_null(strstr(report_note(r, 0), "more rows than a file of its size can hold"));
	report_close(r);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_again),
		cmocka_unit_test(test_most_open),
		cmocka_unit_test(test_crossed),
		cmocka_unit_test(test_more_rows_than_a_file_can_hold),
	};

	return cmocka_run_group_tests(tests, read_seed, free_seed);
}
