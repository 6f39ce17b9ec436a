/* Binary payloads from pieces in a ring to blobs, all of them, whole and in order. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "fmt/record.h"

static void write_record(struct fake_writer *w, void *head, size_t fixed, const void *tail, size_t size)
{
	uint8_t bytes[4096];

	memcpy(bytes, head, fixed);
	if (size)
		memcpy(bytes + fixed, tail, size);
	assert_true(fake_write(w, bytes, (uint32_t)(fixed + size)));
}

static void numbered(struct fake_writer *w, uint64_t time, unsigned number, unsigned left, uint64_t schema, uint64_t total,
		     const char *text)
{
	struct record_blob blob = { record_head(RECORD_NVTX_BLOB, number, (unsigned)(sizeof(blob) + strlen(text)), left, 0), time, schema,
				    total };

	write_record(w, &blob, sizeof(blob), text, strlen(text));
}

static void piece(struct fake_writer *w, uint64_t time, unsigned left, uint64_t schema, uint64_t total, const char *text)
{
	numbered(w, time, 0, left, schema, total, text);
}

static void whole(struct fake_writer *w, uint64_t time, uint64_t schema, const char *text)
{
	piece(w, time, 0, schema, strlen(text), text);
}

static void event(struct fake_writer *w, unsigned type, unsigned flags, uint64_t time, unsigned level, const char *name)
{
	struct record_nvtx_event e = { .head = record_head(type, flags, (unsigned)(sizeof(e) + strlen(name)), level, 0), .time = time };

	write_record(w, &e, sizeof(e), name, strlen(name));
}

static void pop(struct fake_writer *w, uint64_t time, unsigned level)
{
	struct record_plain p = { record_head(RECORD_NVTX_POP, NVTX_FLAG_BLOB, sizeof(p), level, 0), time };

	write_record(w, &p, sizeof(p), NULL, 0);
}

static void start(struct fake_writer *w, unsigned flags, uint64_t time, uint64_t id, const char *name)
{
	struct record_nvtx_range range = {
		.event = { .head = record_head(RECORD_NVTX_START, flags, (unsigned)(sizeof(range) + strlen(name)), 0, 0), .time = time },
		.range_id = id
	};

	write_record(w, &range, sizeof(range), name, strlen(name));
}

static void end(struct fake_writer *w, uint64_t time, uint64_t id)
{
	struct record_nvtx_end e = { record_head(RECORD_NVTX_END, NVTX_FLAG_BLOB, sizeof(e), 0, 0), time, id };

	write_record(w, &e, sizeof(e), NULL, 0);
}

static void add_blob(struct bench *b, int64_t id, int64_t schema, char *ret, size_t room)
{
	size_t size, at = strlen(ret);
	const char *bytes = report_blob_data(b->report, (uint64_t)id, &size);

	assert_non_null(bytes);
	snprintf(ret + at, room - at, "%s%d:%.*s", at ? " " : "", (int)schema, (int)size, bytes);
}

/* "schema:bytes schema:bytes ..." of an event: its own payload, then those of its set. */
static const char *payloads_of(struct bench *b, const struct row *row, unsigned blob, unsigned schema, unsigned args)
{
	static char text[4096];
	struct row rows[128];
	size_t count = bench_rows(b, TABLE_ARG, rows, 128);

	text[0] = '\0';
	if (!row->nulls[blob])
		add_blob(b, row->values[blob], row->values[schema], text, sizeof(text));
	for (size_t i = 0; i < count && !row->nulls[args]; i++)
		if (rows[i].values[COLUMN_ARG_SET] == row->values[args])
			add_blob(b, rows[i].values[COLUMN_ARG_BLOB], rows[i].values[COLUMN_ARG_SCHEMA], text, sizeof(text));
	return text;
}

static void check(struct bench *b, const char *name, const char *payloads, int64_t flags)
{
	struct row row = bench_slice(b, name);

	assert_string_equal(payloads_of(b, &row, COLUMN_SLICE_BLOB, COLUMN_SLICE_SCHEMA, COLUMN_SLICE_ARGS), payloads);
	assert_int_equal(row.values[COLUMN_SLICE_FLAGS], flags);
}

static void several_at_push_and_pop(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	whole(&w, 100, 1, "a");
	piece(&w, 100, 1, 2, 4, "b1");
	piece(&w, 100, 0, 2, 4, "b2");
	whole(&w, 100, 3, "c");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 100, 0, "outer");
	whole(&w, 110, 4, "d");
	whole(&w, 110, 5, "e");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 110, 1, "inner");
	/* A plain range whose payloads come with the pop. */
	fake_push(&w, 120, 0, 2, "plain");
	whole(&w, 130, 6, "f");
	whole(&w, 130, 7, "g");
	pop(&w, 130, 2);
	whole(&w, 140, 8, "h");
	pop(&w, 140, 1);
	whole(&w, 150, 9, "i");
	whole(&w, 150, 10, "j");
	pop(&w, 150, 0);
	bench_finish(b);
	check(b, "outer", "1:a 2:b1b2 3:c 9:i 10:j", 0);
	check(b, "inner", "4:d 5:e 8:h", 0);
	check(b, "plain", "6:f 7:g", 0);
}

static void several_of_a_mark(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[4];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	whole(&w, 100, 1, "x");
	whole(&w, 100, 2, "y");
	event(&w, RECORD_NVTX_MARK, NVTX_FLAG_BLOB, 100, 0, "two");
	whole(&w, 110, 3, "z");
	event(&w, RECORD_NVTX_MARK, NVTX_FLAG_BLOB, 110, 0, "one");
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_INSTANT, rows, 4), 2);
	assert_string_equal(payloads_of(b, &rows[0], COLUMN_INSTANT_BLOB, COLUMN_INSTANT_SCHEMA, COLUMN_INSTANT_ARGS), "1:x 2:y");
	assert_string_equal(payloads_of(b, &rows[1], COLUMN_INSTANT_BLOB, COLUMN_INSTANT_SCHEMA, COLUMN_INSTANT_ARGS), "3:z");
	assert_true(rows[1].nulls[COLUMN_INSTANT_ARGS]);
}

/* The end may be read before the start: its payloads wait with it. */
static void several_of_start_and_end(void **state)
{
	struct bench *b = *state;
	struct fake_writer one, two;

	assert_true(fake_open(&one, b->pool, 1000, 10));
	assert_true(fake_open(&two, b->pool, 1001, 10));
	whole(&one, 100, 1, "a");
	start(&one, NVTX_FLAG_BLOB, 100, 501, "in order");
	whole(&one, 200, 2, "b");
	whole(&one, 200, 3, "c");
	end(&one, 200, 501);
	whole(&one, 400, 5, "e");
	whole(&one, 400, 6, "f");
	end(&one, 400, 502);
	bench_drain(b);
	whole(&two, 300, 4, "d");
	start(&two, NVTX_FLAG_BLOB, 300, 502, "end first");
	/* Nobody starts this one. */
	whole(&two, 500, 7, "g");
	end(&two, 500, 503);
	bench_finish(b);
	check(b, "in order", "1:a 2:b 3:c", 0);
	check(b, "end first", "4:d 5:e 6:f", 0);
}

static void what_is_missing_is_said(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	piece(&w, 100, 0, 1, 9, "cut");
	whole(&w, 100, 2, "b");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 100, 0, "shorter than said");
	whole(&w, 110, 3, "c");
	piece(&w, 110, 1, 4, 9, "half");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 110, 1, "last piece missing");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 110, 2, "given away");
	whole(&w, 120, 5, "lost");
	whole(&w, 130, 6, "d");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 130, 3, "behind a lost event");
	whole(&w, 140, 7, "lost");
	event(&w, RECORD_NVTX_PUSH_EX, 0, 140, 4, "without");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 150, 5, "none came");
	bench_finish(b);
	check(b, "shorter than said", "1:cut 2:b", SLICE_BLOB_LOST | SLICE_OPEN);
	check(b, "last piece missing", "3:c", SLICE_BLOB_LOST | SLICE_OPEN);
	check(b, "given away", "", SLICE_BLOB_LOST | SLICE_OPEN);
	check(b, "behind a lost event", "6:d", SLICE_OPEN);
	check(b, "without", "", SLICE_OPEN);
	check(b, "none came", "", SLICE_BLOB_LOST | SLICE_OPEN);
}

/* Agents write at most 64; a ring that goes on does not make the recorder grow. */
static void there_is_a_limit(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[128];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	for (uint64_t i = 0; i < 100; i++)
		whole(&w, 100, i + 1, "p");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 100, 0, "many");
	bench_finish(b);
	assert_int_equal(bench_slice(b, "many").values[COLUMN_SLICE_FLAGS], SLICE_BLOB_LOST | SLICE_OPEN);
	assert_int_equal(bench_rows(b, TABLE_ARG, rows, 128), 63);
	assert_int_equal(rows[62].values[COLUMN_ARG_SCHEMA], 64);
}

static void numbers_within_the_call(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[4];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	numbered(&w, 100, 0, 0, 1, 1, "a");
	numbered(&w, 100, 3, 0, 2, 1, "b");
	event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 100, 0, "two");
	numbered(&w, 110, 1, 0, 3, 1, "c");
	pop(&w, 110, 0);
	bench_finish(b);
	check(b, "two", "1:a 2:b 3:c", 0);
	assert_int_equal(bench_rows(b, TABLE_ARG, rows, 4), 2);
	assert_int_equal(rows[0].values[COLUMN_ARG_INTEGER], 3);
	assert_int_equal(rows[1].values[COLUMN_ARG_INTEGER], 1);
}

static void define_string(struct fake_writer *w, uint64_t time, uint64_t id, const char *text)
{
	struct record_define define = { record_head(RECORD_DEFINE, DEFINE_STRING, (unsigned)(sizeof(define) + strlen(text)), 0, 0), time,
					id, id << 40 };

	write_record(w, &define, sizeof(define), text, strlen(text));
}

/* Payloads name registered strings by their number. */
static void registered_strings_have_rows(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[4];
	uint64_t id = 8;
	struct record_nvtx_event used = { .head = record_head(RECORD_NVTX_MARK, NVTX_FLAG_REGISTERED, sizeof(used) + sizeof(id), 0, 0),
					  .time = 120 };

	assert_true(fake_open(&w, b->pool, 1000, 10));
	define_string(&w, 100, 7, "seven");
	define_string(&w, 110, 7, "seven again");
	/* Used before it is defined. */
	write_record(&w, &used, sizeof(used), &id, sizeof(id));
	define_string(&w, 130, 8, "eight");
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_NVTX_STRING, rows, 4), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rows[i].values[COLUMN_NVTX_STRING_PROCESS], 1);
		assert_int_equal(rows[i].values[COLUMN_NVTX_STRING_ID], 7 + i);
		assert_int_equal(rows[i].values[COLUMN_NVTX_STRING_HANDLE], (int64_t)(7 + i) << 40);
		assert_string_equal(bench_text(b, &rows[i], COLUMN_NVTX_STRING_NAME), i ? "eight" : "seven");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		TEST(several_at_push_and_pop), TEST(several_of_a_mark), TEST(several_of_start_and_end),
		TEST(what_is_missing_is_said), TEST(there_is_a_limit), TEST(numbers_within_the_call),
		TEST(registered_strings_have_rows),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
