/* Where kernels were launched, as agents tell it, and as nobody should. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_support.h"
#include "fmt/kernel_wire.h"
#include "record/cuda/cuda.h"
#include "record/kernel_choice.h"

#define TID 77u

static struct fake_writer open_ring(struct bench *b, uint32_t tid)
{
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, tid, 10));
	return w;
}

static void begin_kernel(struct fake_writer *w, uint32_t number)
{
	struct record_kernel k = { .time = 100, .number = number };

	put_record(w, RECORD_KERNEL, KERNEL_BEGUN, 0, &k, sizeof(k), "_Z3addIiEvPT_");
}

/* Of no result: the thread is known then. */
static void wait_for_kernel(struct fake_writer *w, uint32_t number)
{
	struct record_kernel k = { .time = 100, .number = number };

	put_record(w, RECORD_KERNEL, KERNEL_WAITS, 0, &k, sizeof(k), "_Z3addIiEvPT_");
}

/* `text` has a NUL in it: size says how long it is. */
static int place(struct bench *b, enum kernel_place kind, uint32_t number, const char *text, uint32_t text_size)
{
	struct record_kernel_place p = { .time = 100, .number = number, .color = 0xff00ff00 };
	uint32_t size = (uint32_t)sizeof(p) + text_size;
	uint8_t *bytes = malloc(size);
	int r;

	p.head = record_head(RECORD_KERNEL_PLACE, kind, size, 0, 0);
	memcpy(bytes, &p, sizeof(p));
	memcpy(bytes + sizeof(p), text, text_size);
	r = cuda_kernel_place(&b->session, b->process, b->process->threads[0], bytes, size);
	free(bytes);
	return r;
}

static void ranges(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct row rows[8];
	uint32_t thread;
	size_t count;

	wait_for_kernel(&w, 0);
	bench_drain(b);
	thread = b->process->threads[0]->tid;
	assert_int_equal(place(b, KERNEL_PLACE_PUSHED, 0, "\0outer", 6), 0);
	assert_int_equal(place(b, KERNEL_PLACE_PUSHED, 0, "D\0in\0ner", 8), 0);
	assert_int_equal(place(b, KERNEL_PLACE_STARTED, 0, "D", 1), 0);
	bench_finish(b);
	count = bench_rows(b, TABLE_KERNEL_METRIC, rows, 8);
	assert_int_equal(count, 3);
	assert_true(rows[0].nulls[COLUMN_KERNEL_METRIC_NAME]);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_KERNEL_METRIC_TEXT), "outer");
	assert_string_equal(bench_text(b, &rows[0], COLUMN_KERNEL_METRIC_LABEL), "0xff00ff00");
	assert_int_equal(rows[0].values[COLUMN_KERNEL_METRIC_KIND], KERNEL_METRIC_PUSHED);
	assert_int_equal(rows[0].values[COLUMN_KERNEL_METRIC_INTEGER], thread);
	assert_string_equal(bench_text(b, &rows[1], COLUMN_KERNEL_METRIC_NAME), "D");
	assert_true(rows[1].values[COLUMN_KERNEL_METRIC_INSTANCE] > rows[0].values[COLUMN_KERNEL_METRIC_INSTANCE]);
	assert_int_equal(rows[2].values[COLUMN_KERNEL_METRIC_KIND], KERNEL_METRIC_STARTED);
	assert_true(rows[2].nulls[COLUMN_KERNEL_METRIC_TEXT]);
	assert_true(rows[2].nulls[COLUMN_KERNEL_METRIC_INTEGER]);
}

/* A kernel is told of by another thread, and later: its ranges are its own all the same. */
static void before(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct record_kernel k = { .time = 100, .number = 9 };
	struct row row;

	begin_kernel(&w, 3);
	bench_drain(b);
	assert_int_equal(place(b, KERNEL_PLACE_PUSHED, 9, "\0a", 2), 0);
	begin_kernel(&w, 9);
	put_record(&w, RECORD_KERNEL, KERNEL_READ, 0, &k, sizeof(k), "");
	/* A kernel that is never read has a range, and nothing else. */
	bench_drain(b);
	assert_int_equal(place(b, KERNEL_PLACE_PUSHED, 77, "\0b", 2), 0);
	bench_finish(b);
	/* Numbered as the launches are, from 1. */
	row = row_where(b, TABLE_KERNEL_RESULT, COLUMN_KERNEL_RESULT_NUMBER, 9);
	assert_int_equal(row.values[COLUMN_KERNEL_RESULT_ID], 10);
	row = row_where(b, TABLE_KERNEL_METRIC, COLUMN_KERNEL_METRIC_INSTANCE, 0);
	assert_int_equal(row.values[COLUMN_KERNEL_METRIC_RESULT], 10);
	/* The first was not read to its end, and says so. */
	assert_int_equal(count_rows(b, TABLE_KERNEL_RESULT), 2);
}

static void python(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct row rows[4];

	wait_for_kernel(&w, 0);
	bench_drain(b);
	assert_int_equal(place(b, KERNEL_PLACE_PYTHON, 0, "Model.forward\0/a/b.py", 21), 0);
	assert_int_equal(place(b, KERNEL_PLACE_PYTHON, 0, "main", 4), 0);
	assert_int_equal(place(b, KERNEL_PLACE_PYTHON, 0, "", 0), 0);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_KERNEL_METRIC, rows, 4), 3);
	assert_int_equal(rows[0].values[COLUMN_KERNEL_METRIC_KIND], KERNEL_METRIC_PYTHON);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_KERNEL_METRIC_NAME), "Model.forward");
	assert_string_equal(bench_text(b, &rows[0], COLUMN_KERNEL_METRIC_TEXT), "/a/b.py");
	assert_int_equal(rows[0].values[COLUMN_KERNEL_METRIC_INTEGER], 0xff00ff00);
	assert_true(rows[1].values[COLUMN_KERNEL_METRIC_INSTANCE] > rows[0].values[COLUMN_KERNEL_METRIC_INSTANCE]);
	assert_true(rows[1].nulls[COLUMN_KERNEL_METRIC_TEXT]);
}

static void hostile(void **state)
{
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	uint8_t *bytes;
	uint64_t head;

	wait_for_kernel(&w, 0);
	bench_drain(b);
	/* Of a kind that there is not. */
	assert_int_equal(place(b, (enum kernel_place)200, 0, "", 0), -EBADMSG);
	/* A stack that was never written is none. */
	assert_int_equal(place(b, KERNEL_PLACE_STACK, 0, "", 0), 0);
	assert_int_equal(place(b, KERNEL_PLACE_PUSHED, 0, "", 0), 0);
	for (uint32_t size = 16; size < sizeof(struct record_kernel_place); size++) {
		bytes = malloc(size);
		memset(bytes, 0, size);
		head = record_head(RECORD_KERNEL_PLACE, KERNEL_PLACE_PUSHED, size, 0, 0);
		memcpy(bytes, &head, sizeof(head));
		assert_int_equal(cuda_kernel_place(&b->session, b->process, b->process->threads[0], bytes, size), -EBADMSG);
		free(bytes);
	}
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_KERNEL_METRIC), 1);
}

/* A process is told of once, whatever comes first, and when it has ended. */
static void processes(void **state)
{
	static const uint32_t steps[] = { KERNEL_CONNECTED, KERNEL_BEGUN, KERNEL_DISCONNECTED };
	struct bench *b = *state;
	struct fake_writer w = open_ring(b, TID);
	struct kernel_choice choice = { .progress = -1 };
	uint32_t pid = b->process->info.pid;
	struct kernel_progress step;
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	choice.progress = ends[1];
	b->session.kernels = &choice;
	fake_push(&w, 50, 0, 0, "x");
	bench_drain(b);
	assert_int_equal(place(b, KERNEL_PLACE_PROCESS, 0, "", 0), 0);
	begin_kernel(&w, 0);
	bench_drain(b);
	assert_int_equal(place(b, KERNEL_PLACE_PROCESS, 0, "", 0), 0);
	bench_finish(b);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_int_equal(read(ends[0], &step, sizeof(step)), sizeof(step));
		assert_int_equal(step.state, steps[i]);
		assert_int_equal(step.number, steps[i] == KERNEL_BEGUN ? 0 : pid);
	}
	assert_true(read(ends[0], &step, sizeof(step)) < 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(before, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(python, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(hostile, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(processes, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
