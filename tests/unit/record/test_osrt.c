/* OS runtime records made by hand: what becomes of them, and of those that make no sense. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt/osrt_calls.h"
#include "record/drain/osrt.h"

static void write_call(struct fake_writer *w, unsigned number, unsigned flags, unsigned depth, uint64_t start, uint64_t end, int64_t result)
{
	struct record_osrt record = { record_head(RECORD_OSRT, flags, sizeof(record), depth, number), end, start, result };

	assert_true(fake_write(w, &record, sizeof(record)));
}

static void write_file_call(struct fake_writer *w, unsigned number, uint64_t end, uint64_t file, int64_t bytes)
{
	struct {
		struct record_osrt call;
		struct record_osrt_file file;
	} record = { { 0, end, end - 10, bytes }, { file, bytes } };

	record.call.head = record_head(RECORD_OSRT, OSRT_FLAG_FILE, sizeof(record), 0, number);
	assert_true(fake_write(w, &record, sizeof(record)));
}

static void write_define(struct fake_writer *w, unsigned kind, uint64_t time, uint64_t id, uint64_t extra, const void *body, size_t size)
{
	struct record_define define = { record_head(RECORD_DEFINE, kind, (unsigned)(sizeof(define) + size), 0, 0), time, id, extra };
	uint8_t bytes[1024];

	memcpy(bytes, &define, sizeof(define));
	memcpy(bytes + sizeof(define), body, size);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(define) + size)));
}

static int64_t depth_of(struct bench *b, uint32_t track)
{
	struct row rows[256];
	size_t count = bench_rows(b, TABLE_TRACK, rows, 256);

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_TRACK_ID] == track) {
			assert_int_equal(rows[i].values[COLUMN_TRACK_KIND], TRACK_OSRT);
			return rows[i].values[COLUMN_TRACK_DEPTH];
		}
	return -1;
}

static struct row call_at(struct bench *b, int64_t start)
{
	struct row rows[64];
	size_t count = bench_rows(b, TABLE_OSRT, rows, 64);

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_OSRT_START] == start)
			return rows[i];
	fail_msg("no call at %lld", (long long)start);
	return rows[0];
}

static void calls_and_nested_calls(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_call(&w, OSRT_write, OSRT_FLAG_NESTED, 2, 120, 130, 5);
	write_call(&w, OSRT_nanosleep, OSRT_FLAG_NESTED, 1, 110, 150, -1);
	write_call(&w, OSRT_read, 0, 0, 100, 200, 64);
	write_call(&w, OSRT_pthread_cond_wait, 0, 0, 200, 300, 0);
	bench_finish(b);
	row = call_at(b, 100);
	assert_string_equal(bench_text(b, &row, COLUMN_OSRT_NAME), "read");
	assert_int_equal(row.values[COLUMN_OSRT_END], 200);
	assert_int_equal(row.values[COLUMN_OSRT_RESULT], 64);
	assert_true(row.nulls[COLUMN_OSRT_STACK] && row.nulls[COLUMN_OSRT_FILE] && row.nulls[COLUMN_OSRT_FLAGS]);
	assert_int_equal(depth_of(b, row.track), 0);
	assert_int_equal(call_at(b, 200).track, row.track);
	row = call_at(b, 110);
	assert_string_equal(bench_text(b, &row, COLUMN_OSRT_NAME), "nanosleep");
	assert_int_equal(row.values[COLUMN_OSRT_RESULT], -1);
	assert_int_equal(depth_of(b, row.track), 1);
	assert_int_equal(depth_of(b, call_at(b, 120).track), 2);
	assert_int_equal(b->session.events, 4);
	assert_int_equal(b->session.dropped, 0);
}

/* An agent that does not know of the outer call says nothing: tracks stay in order all the same. */
static void overlapping_calls_are_kept_apart(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_call(&w, OSRT_write, 0, 0, 120, 130, 1);
	write_call(&w, OSRT_read, 0, 0, 100, 200, 2);
	write_call(&w, OSRT_read, 0, 0, 250, 240, 3); /* ends before it begins */
	bench_finish(b);
	assert_int_equal(depth_of(b, call_at(b, 120).track), 0);
	assert_int_equal(depth_of(b, call_at(b, 100).track), 1);
	assert_int_equal(call_at(b, 240).values[COLUMN_OSRT_END], 240);
	assert_int_equal(b->session.dropped, 0);
}

static void files_are_openings(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[8];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_define(&w, DEFINE_FILE, 100, 7, 1, "/a/file", 7);
	write_file_call(&w, OSRT_write, 110, 7, 33);
	write_define(&w, DEFINE_FILE, 120, 7, 1, "", 0); /* a duplicate */
	write_define(&w, DEFINE_FILE, 130, 7, 2, "", 0);
	write_file_call(&w, OSRT_read, 140, 7, 44);
	write_define(&w, DEFINE_FILE, 150, 7, 2, "", 0);
	write_define(&w, DEFINE_FILE, 160, 7, 2, "", 0); /* once too often */
	write_define(&w, DEFINE_FILE, 170, 8, 0, "/was/open", 9);
	write_file_call(&w, OSRT_read, 180, 9, 55); /* its definition is in another ring */
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_FILE, rows, 8), 3);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_FILE_PATH), "/a/file");
	assert_int_equal(rows[0].values[COLUMN_FILE_OPENED], 100);
	assert_int_equal(rows[0].values[COLUMN_FILE_CLOSED], 150);
	assert_string_equal(bench_text(b, &rows[1], COLUMN_FILE_PATH), "/was/open");
	assert_true(rows[1].nulls[COLUMN_FILE_OPENED] && rows[1].nulls[COLUMN_FILE_CLOSED]);
	assert_int_equal(call_at(b, 100).values[COLUMN_OSRT_FILE], rows[0].values[COLUMN_FILE_ID]);
	assert_int_equal(call_at(b, 100).values[COLUMN_OSRT_BYTES], 33);
	assert_int_equal(call_at(b, 130).values[COLUMN_OSRT_FILE], rows[0].values[COLUMN_FILE_ID]);
	assert_int_equal(call_at(b, 170).values[COLUMN_OSRT_FILE], rows[2].values[COLUMN_FILE_ID]);
}

static void call_that_never_returned(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_call(&w, OSRT_write, 0, 0, 100, 150, 1);
	w.slot->call_start = 200;
	w.slot->call = OSRT_poll + 1;
	bench_drain(b);
	fake_close(&w, 500);
	bench_finish(b);
	row = call_at(b, 200);
	assert_string_equal(bench_text(b, &row, COLUMN_OSRT_NAME), "poll");
	assert_int_equal(row.values[COLUMN_OSRT_END], 500);
	assert_int_equal(row.values[COLUMN_OSRT_FLAGS], SLICE_OPEN);
	assert_true(row.nulls[COLUMN_OSRT_RESULT]);
}

static void notes_that_make_no_sense(void **state)
{
	static const struct {
		uint32_t call;
		uint64_t start;
	} notes[] = { { OSRT_NUMBER_COUNT + 1, 200 }, { UINT32_MAX, 200 }, { 1, 120 }, { 1, 5 }, { 1, UINT64_MAX } };
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[16];

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		assert_true(fake_open(&w, b->pool, (uint32_t)(1000 + i), 10));
		write_call(&w, OSRT_write, 0, 0, 100, 150, 1);
		w.slot->call = notes[i].call;
		w.slot->call_start = notes[i].start;
		fake_close(&w, 500);
	}
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_OSRT, rows, 16), 5); /* the writes */
}

static void damage(struct bench *b, const void *record, uint32_t size)
{
	struct fake_writer w;
	struct row rows[4];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	assert_true(fake_write(&w, record, size));
	write_call(&w, OSRT_read, 0, 0, 100, 200, 1);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_OSRT, rows, 4), 0);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
}

static void an_unknown_function_is_damage(void **state)
{
	struct record_osrt record = { record_head(RECORD_OSRT, 0, sizeof(record), 0, OSRT_NUMBER_COUNT), 50, 40, 0 };

	damage(*state, &record, sizeof(record));
}

static void a_short_call_is_damage(void **state)
{
	struct record_osrt record = { record_head(RECORD_OSRT, 0, 24, 0, OSRT_read), 50, 40, 0 };

	damage(*state, &record, 24);
}

static void a_call_without_its_file_is_damage(void **state)
{
	struct record_osrt record = { record_head(RECORD_OSRT, OSRT_FLAG_FILE, sizeof(record), 0, OSRT_read), 50, 40, 0 };

	damage(*state, &record, sizeof(record));
}

static void a_short_stack_is_damage(void **state)
{
	struct record_stack record = { record_head(RECORD_STACK, 0, 64, 0, 0), 50, { 0 } };

	damage(*state, &record, 64);
}

static void module_damage(struct bench *b, uint64_t address, uint64_t size, uint32_t build_id_size)
{
	struct {
		struct record_define define;
		struct record_module module;
		char path[8];
	} record = { { record_head(RECORD_DEFINE, DEFINE_MODULE, sizeof(record), 0, 0), 50, 0, 0 },
		     { address, size, 0, build_id_size, 0 },
		     "/a/file" };

	damage(b, &record, sizeof(record));
}

static void a_build_id_beyond_the_record_is_damage(void **state)
{
	module_damage(*state, 0x1000, 0x1000, 9);
}

static void a_module_around_the_end_of_memory_is_damage(void **state)
{
	module_damage(*state, UINT64_MAX - 10, 0x1000, 0);
}

/* Pieces of a stack that never ends. */
static void an_endless_stack_is_damage(void **state)
{
	static uint8_t bytes[7000];
	struct record_stack *record = (void *)bytes;
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	for (unsigned left = 100; left > 0; left--) {
		*record = (struct record_stack){ record_head(RECORD_STACK, 0, sizeof(bytes), left, 0), 50, { 0 } };
		assert_true(fake_write(&w, bytes, sizeof(bytes)));
		bench_drain(b);
	}
	bench_finish(b);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
}

#define STACK_BYTES 3000

struct capture {
	uint64_t registers[ARCH_DWARF_REGISTERS];
	uint8_t bytes[STACK_BYTES];
};

__attribute__((noinline)) static void capture(struct capture *c)
{
	arch_unwind_registers(c->registers);
	arch_copy(c->bytes, (const void *)c->registers[ARCH_DWARF_STACK], STACK_BYTES);
}

static void write_stack(struct fake_writer *w, const struct capture *c, uint64_t time, size_t at, size_t size, unsigned left)
{
	uint8_t bytes[sizeof(struct record_stack) + STACK_BYTES];
	struct record_stack record = { record_head(RECORD_STACK, 0, (unsigned)(sizeof(record) + size), left, 0), time, { 0 } };

	memcpy(record.registers, c->registers, sizeof(record.registers));
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), c->bytes + at, size);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(record) + size)));
}

/* Our own stack: whole, in pieces, and with what does not belong to it. */
static void stacks_of_calls(void **state)
{
	struct process_info self = { .pid = (uint32_t)getpid(), .inner_pid = (uint32_t)getpid() };
	struct bench *b = *state;
	struct fake_writer w;
	struct capture c = { 0 };
	struct row rows[64];
	int64_t stack;

	b->session.osrt_depth = 3;
	b->process->info.pid = self.pid;
	capture(&c);
	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_stack(&w, &c, 100, 0, STACK_BYTES, 0);
	write_call(&w, OSRT_read, OSRT_FLAG_STACK, 0, 90, 100, 0);
	write_stack(&w, &c, 200, 0, 1000, 2);
	write_stack(&w, &c, 200, 1000, 1000, 1);
	write_stack(&w, &c, 200, 2000, 1000, 0);
	write_call(&w, OSRT_read, OSRT_FLAG_STACK, 0, 190, 200, 0);
	write_call(&w, OSRT_read, OSRT_FLAG_STACK, 0, 210, 220, 0); /* it has been used */
	write_stack(&w, &c, 300, 0, 1000, 1);
	write_call(&w, OSRT_read, OSRT_FLAG_STACK, 0, 290, 300, 0); /* half of it */
	write_stack(&w, &c, 400, 0, STACK_BYTES, 0);
	write_call(&w, OSRT_read, OSRT_FLAG_STACK, 0, 390, 401, 0); /* another call's */
	bench_finish(b);
	assert_false(call_at(b, 90).nulls[COLUMN_OSRT_STACK]);
	stack = call_at(b, 90).values[COLUMN_OSRT_STACK];
	assert_int_equal(call_at(b, 190).values[COLUMN_OSRT_STACK], stack);
	assert_true(call_at(b, 210).nulls[COLUMN_OSRT_STACK]);
	assert_true(call_at(b, 290).nulls[COLUMN_OSRT_STACK]);
	assert_true(call_at(b, 390).nulls[COLUMN_OSRT_STACK]);
	/* Cut to three frames, the same three each time. */
	assert_int_equal(bench_rows(b, TABLE_STACK, rows, 64), 3);
}

static void thresholds_are_in_ticks(void **state)
{
	struct osrt_options options = {
		.threshold_ns = 1000, .backtrace_threshold_ns = 80000, .backtrace_stack_size = 6144, .file_access = true
	};
	struct ring_session page = { 0 };

	(void)state;
	osrt_fill_page(&page, &options, 0);
	assert_int_equal(page.osrt_threshold, 1000);
	assert_int_equal(page.osrt_stack_threshold, 80000);
	assert_int_equal(page.osrt_stack_size, 6144);
	assert_int_equal(page.osrt_files, 1);
	if (!clock_tsc_trusted())
		return;
	osrt_fill_page(&page, &options, 1);
	/* No CPU's counter is slower than 500 MHz or faster than 10 GHz. */
	assert_in_range(page.osrt_threshold, 500, 10000);
	assert_in_range(page.osrt_stack_threshold, page.osrt_threshold * 79, page.osrt_threshold * 81);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(calls_and_nested_calls),
		TEST(overlapping_calls_are_kept_apart),
		TEST(files_are_openings),
		TEST(call_that_never_returned),
		TEST(notes_that_make_no_sense),
		TEST(an_unknown_function_is_damage),
		TEST(a_short_call_is_damage),
		TEST(a_call_without_its_file_is_damage),
		TEST(a_short_stack_is_damage),
		TEST(a_build_id_beyond_the_record_is_damage),
		TEST(a_module_around_the_end_of_memory_is_damage),
		TEST(an_endless_stack_is_damage),
		TEST(stacks_of_calls),
		TEST(thresholds_are_in_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
