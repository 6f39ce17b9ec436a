/* How far GPU times may be off: bounds known in advance. */
#include "cuda_support.h"

#include <string.h>

#define TID 1000u
#define EVENT 1u
#define WAIT_EVENT 2u
#define STREAM 3u
#define WHOLE_CONTEXT 4u

static struct fake_writer open_ring(struct bench *b)
{
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, TID, 10));
	return w;
}

static struct row clock_row(struct bench *b)
{
	bench_finish(b);
	return row_where(b, TABLE_CUDA_CLOCK, COLUMN_CUDA_CLOCK_PROCESS, 1);
}

static void reported_by_the_agent(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);
	struct cuda_wire_clock clock = { 130001, 13000, 9 };
	struct row row;

	put_definition(&w, DEFINE_CUDA_CLOCK, 20, CUDA_CLOCK_SESSION, 0, &clock, sizeof(clock), "/lib/libcupti.so.13");
	row = clock_row(b);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_METHOD], 1);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_CUPTI], 130001);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_DRIVER], 13000);
	assert_string_equal(bench_text(b, &row, COLUMN_CUDA_CLOCK_PATH), "/lib/libcupti.so.13");
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_KERNELS], 0);
	assert_true(row.nulls[COLUMN_CUDA_CLOCK_ERROR] && row.nulls[COLUMN_CUDA_CLOCK_EARLY] && row.nulls[COLUMN_CUDA_CLOCK_LATE]);
}

static void the_last_fit_counts(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);
	struct cuda_wire_clock clock = { 18, 11080, 900 };

	put_definition(&w, DEFINE_CUDA_CLOCK, 20, CUDA_CLOCK_FITTED, 0, &clock, sizeof(clock), "");
	clock.error = 700;
	put_definition(&w, DEFINE_CUDA_CLOCK, 30, CUDA_CLOCK_FITTED, 0, &clock, sizeof(clock), "");
	assert_int_equal(clock_row(b).values[COLUMN_CUDA_CLOCK_ERROR], 700);
}

static void least_time_from_call_to_kernel(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);
	struct row row;

	put_kernel(&w, 7, 1, 1, 1500, 1600); /* before its call in the buffer */
	put_api(&w, TID, 1, 1, 1000, 1100);
	put_api(&w, TID, 1, 2, 2000, 2100);
	put_kernel(&w, 7, 1, 2, 2350, 2400);
	put_api(&w, TID, 1, 3, 3000, 3100);
	put_kernel(&w, 7, 1, 3, 3400, 3500);
	put_kernel(&w, 7, 1, 99, 3600, 3700); /* of a call that was not recorded */
	row = clock_row(b);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_EARLY], 350);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_KERNELS], 3);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_BEFORE], 0);
	assert_true(row.nulls[COLUMN_CUDA_CLOCK_LATE]);
	assert_int_equal(count_rows(b, TABLE_DIAGNOSTIC), 1); /* the launch was not described; nothing else */
}

static void kernels_before_their_calls_are_counted(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);
	size_t count, found = 0;
	struct row row, rows[8];

	for (uint32_t i = 1; i <= 5; i++)
		put_api(&w, TID, 1, i, i * 1000, i * 1000 + 50);
	put_kernel(&w, 7, 1, 1, 1100, 1200);
	put_kernel(&w, 7, 1, 2, 1970, 2010); /* 30 too early */
	put_kernel(&w, 7, 1, 3, 3000, 3010); /* at the same time: not before */
	put_kernel(&w, 7, 1, 4, 3999, 4010); /* 1 too early */
	put_batch(&w, 0);
	put_kernel(&w, 7, 1, 5, 5100, 5200); /* its call came in an earlier buffer */
	row = clock_row(b);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_EARLY], -30);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_BEFORE], 2);
	assert_int_equal(row.values[COLUMN_CUDA_CLOCK_KERNELS], 5);
	row_where(b, TABLE_GPU_KERNEL, 0, 1970); /* shown as it is */
	count = bench_rows(b, TABLE_DIAGNOSTIC, rows, 8);
	for (size_t i = 0; i < count; i++)
		found += strstr(bench_text(b, &rows[i], COLUMN_DIAGNOSTIC_TEXT), "2 of 5 kernels") &&
			 strstr(bench_text(b, &rows[i], COLUMN_DIAGNOSTIC_TEXT), "30 ns");
	assert_int_equal(found, 1);
}

static void launch(struct fake_writer *w, uint32_t stream, uint32_t correlation, uint64_t start, uint64_t end)
{
	put_api(w, TID, 1, correlation, start - 100, start - 50);
	put_kernel(w, stream, 1, correlation, start, end);
}

static void least_time_to_the_call_that_waited(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);

	launch(&w, 7, 1, 1000, 1400);
	put_sync(&w, STREAM, 7, 2, 1000, 1480); /* 80 */
	launch(&w, 7, 3, 2000, 2300);
	launch(&w, 8, 4, 2100, 2400);
	put_sync(&w, STREAM, 7, 5, 2200, 2360);                 /* 60: the other stream does not matter */
	put_sync(&w, WHOLE_CONTEXT, CUDA_NO_ID, 6, 2200, 2490); /* 90: it does */
	assert_int_equal(clock_row(b).values[COLUMN_CUDA_CLOCK_LATE], 60);
}

static void the_context_waits_for_all_streams(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);

	launch(&w, 7, 1, 1000, 1500);
	launch(&w, 8, 2, 1000, 1100);
	put_sync(&w, WHOLE_CONTEXT, CUDA_NO_ID, 3, 1200, 1570);
	put_batch(&w, 0);
	put_sync(&w, WHOLE_CONTEXT, CUDA_NO_ID, 4, 1600, 1620); /* waits for nothing new; 120 */
	assert_int_equal(clock_row(b).values[COLUMN_CUDA_CLOCK_LATE], 70);
}

/* Nothing of this bounds anything: waiting for events, streams waiting for events, failed calls, work of later calls,
 * work whose call was not over when the waiting began. */
static void what_says_nothing(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);
	struct record_cuda_sync failed = {
		.time = 1000, .end = 1401, .kind = STREAM, .event = CUDA_NO_ID, .result = 700, .place = { 0, CONTEXT, 7, 2 }
	};

	launch(&w, 7, 1, 1000, 1400);
	put_sync(&w, EVENT, CUDA_NO_ID, 3, 1000, 1402);
	put_sync(&w, WAIT_EVENT, 7, 4, 1000, 1403);
	put_record(&w, RECORD_CUDA_SYNC, 1, 0, &failed, sizeof(failed), "");
	put_sync(&w, STREAM, 9, 5, 1000, 1404); /* an idle stream */
	put_api(&w, TID, 1, 9, 2000, 2900);
	put_kernel(&w, 9, 1, 9, 2100, 2200);
	put_sync(&w, STREAM, 9, 10, 2050, 2150); /* of another thread */
	launch(&w, 7, 21, 3000, 3100);
	put_batch(&w, 0);
	put_sync(&w, STREAM, 7, 20, 2990, 3001); /* came in a later buffer than work of a later call */
	assert_true(clock_row(b).nulls[COLUMN_CUDA_CLOCK_LATE]);
}

static void work_that_ends_after_its_wait_is_reported(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);
	struct row rows[4];
	size_t count, found = 0;

	launch(&w, 7, 1, 1000, 1400);
	put_sync(&w, STREAM, 7, 2, 1000, 1375);
	assert_int_equal(clock_row(b).values[COLUMN_CUDA_CLOCK_LATE], -25);
	count = bench_rows(b, TABLE_DIAGNOSTIC, rows, 4);
	for (size_t i = 0; i < count; i++)
		found += strstr(bench_text(b, &rows[i], COLUMN_DIAGNOSTIC_TEXT), "25 ns after the call that waited") != NULL;
	assert_int_equal(found, 1);
}

/* Numbers of correlations wrap around. */
static void correlations_wrap(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b);

	put_sync(&w, STREAM, 7, 1, 1500, 1900); /* behind both */
	launch(&w, 7, 0xfffffffe, 1000, 1400);
	launch(&w, 7, 0xffffffff, 1500, 1800);
	assert_int_equal(clock_row(b).values[COLUMN_CUDA_CLOCK_LATE], 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(reported_by_the_agent),
		TEST(the_last_fit_counts),
		TEST(least_time_from_call_to_kernel),
		TEST(kernels_before_their_calls_are_counted),
		TEST(least_time_to_the_call_that_waited),
		TEST(the_context_waits_for_all_streams),
		TEST(what_says_nothing),
		TEST(work_that_ends_after_its_wait_is_reported),
		TEST(correlations_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
