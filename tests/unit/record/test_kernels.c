/* Records about kernels whose counters are read: states in order, in any order, cut, and made up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_support.h"
#include "fmt/kernel_wire.h"
#include "record/cuda/cuda.h"
#include "record/kernel_choice.h"

#define VALUES 4u

static const char *const metrics[VALUES] = { "a", "b", "c", "d" };
static struct kernel_choice choice = { .metrics = metrics, .count = VALUES, .progress = -1 };

static int set_up(void **state)
{
	int r = bench_set_up(state);

	((struct bench *)*state)->session.kernels = &choice;
	return r;
}

static int report(struct bench *b, unsigned state, uint32_t number, const char *text)
{
	size_t size = strlen(text);
	/* clang-format off */
	struct record_kernel k = { .head = record_head(RECORD_KERNEL, state, (unsigned)(sizeof(k) + size), 0, 0), .time = 100, .number = number,
				   .grid = { 8, 1, 1 }, .block = { 32, 1, 1 }, .passes = 2, .duration = state == KERNEL_TIMED ? 1234 : 0 };
	/* clang-format on */
	uint8_t *bytes = malloc(sizeof(k) + size);
	int r;

	memcpy(bytes, &k, sizeof(k));
	memcpy(bytes + sizeof(k), text, size);
	r = cuda_kernel_counters(&b->session, b->process, bytes, (uint32_t)(sizeof(k) + size));
	free(bytes);
	return r;
}

static int report_values(struct bench *b, uint32_t number, uint32_t first, uint32_t count)
{
	uint32_t size = (uint32_t)(sizeof(struct record_kernel_values) + count * sizeof(double));
	struct record_kernel_values *v = calloc(1, size);
	double *numbers = (double *)(v + 1);
	int r;

	v->head = record_head(RECORD_KERNEL_VALUES, 0, size & 0xffff, 0, 0);
	v->number = number;
	v->first = first;
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = 0.5 + i;
	r = cuda_kernel_values(&b->session, b->process, (uint8_t *)v, size);
	free(v);
	return r;
}

static size_t rows_named(struct bench *b, const char *name, int64_t *ret_integer)
{
	size_t count, found = 0;
	struct row *rows = rows_of(b, TABLE_KERNEL_METRIC, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(bench_text(b, &rows[i], COLUMN_KERNEL_METRIC_NAME), name) == 0) {
			found++;
			if (ret_integer)
				*ret_integer = rows[i].values[COLUMN_KERNEL_METRIC_INTEGER];
		}
	free(rows);
	return found;
}

static int64_t result_of(struct bench *b, const char *name)
{
	size_t count;
	struct row *rows = rows_of(b, TABLE_KERNEL_METRIC, &count);
	int64_t result = 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(bench_text(b, &rows[i], COLUMN_KERNEL_METRIC_NAME), name) == 0)
			result = rows[i].values[COLUMN_KERNEL_METRIC_RESULT];
	free(rows);
	return result;
}

static void in_order(void **state)
{
	struct bench *b = *state;
	int64_t duration = 0;

	assert_int_equal(report(b, KERNEL_BEGUN, 0, "first"), 0);
	assert_int_equal(report(b, KERNEL_PASS, 0, ""), 0);
	assert_int_equal(report(b, KERNEL_PASS, 0, ""), 0);
	assert_int_equal(report_values(b, 0, 0, VALUES), 0);
	assert_int_equal(report(b, KERNEL_READ, 0, ""), 0);
	assert_int_equal(report(b, KERNEL_BEGUN, 1, "second"), 0);
	assert_int_equal(report(b, KERNEL_TIMED, 1, ""), 0);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_KERNEL_RESULT), 2);
	assert_int_equal(rows_named(b, "d", NULL), 1);
	assert_int_equal(rows_named(b, "gpu__time_duration.sum", &duration), 1);
	assert_int_equal(duration, 1234);
	assert_int_equal(rows_named(b, "profiler__error", NULL), 0);
}

/* The process ends in the middle: the kernel is there, and why it has no values. */
static void interrupted(void **state)
{
	struct bench *b = *state;
	struct row *rows;
	size_t count;

	assert_int_equal(report(b, KERNEL_BEGUN, 0, "first"), 0);
	assert_int_equal(report(b, KERNEL_PASS, 0, ""), 0);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_KERNEL_RESULT), 1);
	assert_int_equal(rows_named(b, "profiler__error", NULL), 1);
	rows = rows_of(b, TABLE_KERNEL_METRIC, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(bench_text(b, &rows[i], COLUMN_KERNEL_METRIC_NAME), "profiler__error") == 0)
			assert_string_equal(bench_text(b, &rows[i], COLUMN_KERNEL_METRIC_TEXT),
					    "the program ended while the kernel was read, in pass 1 of 2");
	free(rows);
}

/* One thread ends what another began, and its records are read first. */
static void by_two_threads(void **state)
{
	struct bench *b = *state;

	assert_int_equal(report_values(b, 3, 0, VALUES), 0);
	assert_int_equal(report(b, KERNEL_READ, 3, ""), 0);
	assert_int_equal(report(b, KERNEL_BEGUN, 3, "range"), 0);
	assert_int_equal(report(b, KERNEL_PASS, 3, ""), 0);
	assert_int_equal(report(b, KERNEL_READ, 3, ""), 0);
	bench_finish(b);
	assert_int_equal(count_rows(b, TABLE_KERNEL_RESULT), 1);
	assert_int_equal(rows_named(b, "d", NULL), 1);
	assert_int_equal(rows_named(b, "profiler__error", NULL), 0);
}

/* The result of a later launch is heard of first: results are numbered as the launches are. */
static void numbered_by_launch(void **state)
{
	struct bench *b = *state;

	assert_int_equal(report_values(b, 1, 1, 1), 0);
	assert_int_equal(report_values(b, 0, 0, 1), 0);
	assert_int_equal(report(b, KERNEL_READ, 0, ""), 0);
	assert_int_equal(report(b, KERNEL_READ, 1, ""), 0);
	bench_finish(b);
	assert_int_equal(result_of(b, "a"), 1);
	assert_int_equal(result_of(b, "b"), 2);
}

static void out_of_order(void **state)
{
	struct bench *b = *state;

	assert_int_equal(report(b, KERNEL_BEGUN, 7, ""), 0);
	/* More values than there are metrics, from anywhere. */
	assert_int_equal(report_values(b, 7, 0, 3 * VALUES), 0);
	assert_int_equal(report_values(b, 7, VALUES - 1, 2), 0);
	assert_int_equal(report_values(b, 7, UINT32_MAX, 2), 0);
	bench_finish(b);
	assert_int_equal(rows_named(b, "a", NULL), 1);
	assert_int_equal(rows_named(b, "d", NULL), 2);
}

static void cut(void **state)
{
	struct bench *b = *state;
	uint8_t *bytes;

	for (uint32_t size = 8; size < sizeof(struct record_kernel); size++) {
		bytes = calloc(1, size);
		assert_int_equal(cuda_kernel_counters(&b->session, b->process, bytes, size), -EBADMSG);
		free(bytes);
	}
	assert_int_equal(report(b, KERNEL_BEGUN, 0, "k"), 0);
	for (uint32_t size = 8; size < sizeof(struct record_kernel_values) + 64; size++) {
		int whole = size >= sizeof(struct record_kernel_values) &&
			    (size - sizeof(struct record_kernel_values)) % sizeof(double) == 0;

		bytes = calloc(1, size);
		assert_int_equal(cuda_kernel_values(&b->session, b->process, bytes, size), whole ? 0 : -EBADMSG);
		free(bytes);
	}
}

/* Any bytes: refused or taken, and the report can be read. Sanitizers watch. */
static void made_up(void **state)
{
	struct bench *b = *state;
	uint64_t seed = 88172645463325252u;

	for (unsigned round = 0; round < 20000; round++) {
		uint32_t size = (uint32_t)(8 + seed % 400);
		uint8_t *bytes = malloc(size);

		for (uint32_t i = 0; i < size; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[i] = (uint8_t)seed;
		}
		/* Numbers that are known now and then, and states. */
		bytes[1] = (uint8_t)(seed >> 8) % 7;
		if (size > 20)
			memset(bytes + 16, (int)(seed >> 16) % 3, 4);
		if (round % 2)
			cuda_kernel_counters(&b->session, b->process, bytes, size);
		else
			cuda_kernel_values(&b->session, b->process, bytes, size);
		free(bytes);
	}
	bench_finish(b);
	assert_true(count_rows(b, TABLE_KERNEL_RESULT) > 0);
}

/* A pass that does not end is told of once its time is over, not before, and not when another pass began. */
static void stuck(void **state)
{
	struct bench *b = *state;
	struct kernel_progress p;
	int ends[2], reported = 0;

	assert_int_equal(pipe(ends), 0);
	choice.progress = ends[1];
	choice.stuck_after = 1;
	assert_int_equal(report(b, KERNEL_BEGUN, 0, "_Z4waitv"), 0);
	assert_int_equal(report(b, KERNEL_PASS, 0, ""), 0);
	cuda_tick(&b->session, b->process);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(read(ends[0], &p, sizeof(p)), sizeof(p));
		assert_true(p.state == (i == 0 ? (uint32_t)KERNEL_CONNECTED : i == 1 ? (uint32_t)KERNEL_BEGUN : (uint32_t)KERNEL_PASS));
	}
	for (int i = 0; i < 300 && !reported; i++) {
		usleep(10000);
		cuda_tick(&b->session, b->process);
		/* The end of the file tells that there is nothing. */
		assert_true(write(ends[1], "", 1) == 1);
		reported = read(ends[0], &p, 1) == 1 && *(char *)&p == (char)KERNEL_STUCK;
	}
	assert_true(reported);
	assert_int_equal(read(ends[0], (char *)&p + 1, sizeof(p) - 1), sizeof(p) - 1);
	assert_true(p.state == KERNEL_STUCK && p.seconds >= 1 && p.number == 0 && p.passes == 2);
	assert_string_equal(p.text, "wait");
	choice.progress = -1;
	choice.stuck_after = 0;
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(interrupted, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(by_two_threads, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(numbered_by_launch, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(out_of_order, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(cut, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(made_up, set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(stuck, set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
