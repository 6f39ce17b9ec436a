/* Reports made of a report: those of a time range, and those without the rows that the levels of detail tell of. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/write/detail.h"
#include "report/format/file_format.h"
#include "report/read/internal.h"
#include "report/write/internal.h"

#define LONG_TRACK 1u  /* three full groups and a rest */
#define SHORT_TRACK 2u /* too few rows for a level 0 */
#define LONG_ROWS (3 * GROUP_ROWS + 500)
#define SHORT_ROWS 700
#define STEP 100

/* Row i of both tracks is from 100 i to 100 i + 60, its name is one of three. */
static void write_report(const char *path)
{
	struct report_writer *w = open_writer(path);
	uint64_t names[3] = { report_string(w, "one", 3), report_string(w, "two", 3), report_string(w, "three", 5) };
	struct error err;

	for (int64_t i = 0; i < LONG_ROWS; i++)
		add_slice(w, LONG_TRACK, i * STEP, i * STEP + 60, names[i % 3]);
	for (int64_t i = 0; i < SHORT_ROWS; i++)
		add_slice(w, SHORT_TRACK, i * STEP, i * STEP + 60, names[i % 3]);
	assert_int_equal(report_writer_finish(w, &err), 0);
}

struct bounds {
	int64_t from, to;
};

static bool touches(void *context, int64_t start, int64_t end)
{
	const struct bounds *b = context;

	return end >= b->from && start <= b->to;
}

static uint64_t rows_of_track(const struct report *r, uint32_t track)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < report_group_count(r, TABLE_SLICE); i++)
		rows += report_group(r, TABLE_SLICE, i)->track == track ? report_group(r, TABLE_SLICE, i)->rows : 0;
	return rows;
}

/* The edges lie within rows: both are in. The names are those of the same rows. */
static void a_range(void **state)
{
	struct bounds b = { 20000 * STEP + 30, 20500 * STEP + 10 };
	struct report_part part = { .from = b.from, .to = b.to, .keeps = touches, .context = &b };
	const char *copy = beside(*state, ".copy");
	struct report *r;
	struct error err;
	int64_t *starts, *names;
	size_t len;

	write_report(*state);
	r = open_report(*state);
	assert_int_equal(report_copy(r, copy, 0, &part, &err), 0);
	report_close(r);
	r = open_report(copy);
	assert_false(report_is_damaged(r));
	assert_int_equal(report_row_count(r, TABLE_SLICE), 501);
	assert_int_equal(rows_of_track(r, SHORT_TRACK), 0);
	starts = whole_column(r, TABLE_SLICE, COLUMN_SLICE_START, NULL);
	names = whole_column(r, TABLE_SLICE, COLUMN_SLICE_NAME, NULL);
	for (int64_t i = 0; i < 501; i++) {
		static const char *const texts[] = { "one", "two", "three" };

		assert_int_equal(starts[i], (20000 + i) * STEP);
		assert_string_equal(report_text(r, (uint64_t)names[i], &len), texts[(20000 + i) % 3]);
	}
	free(starts);
	free(names);
	report_close(r);
}

static void nothing_in_range(void **state)
{
	struct bounds b = { -500, -100 };
	struct report_part part = { .from = b.from, .to = b.to, .keeps = touches, .context = &b };
	const char *copy = beside(*state, ".copy");
	struct report *r;
	struct error err;

	write_report(*state);
	r = open_report(*state);
	assert_int_equal(report_copy(r, copy, 0, &part, &err), 0);
	report_close(r);
	r = open_report(copy);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 0);
	assert_false(report_is_damaged(r));
	report_close(r);
}

#define CODES 6

/* Of six codes the odd ones stay, under other checksums. */
static bool is_odd(void *context, enum table_id table, int64_t *values, uint32_t present)
{
	assert_int_equal(present & 1u << COLUMN_KERNEL_CODE_SIZE, 0);
	*(unsigned *)context += table == TABLE_KERNEL_CODE;
	values[COLUMN_KERNEL_CODE_CRC] += 100;
	return values[COLUMN_KERNEL_CODE_ID] % 2;
}

/* The first blob has number 1. */
static bool is_odd_blob(void *context, uint64_t id)
{
	return id % 2;
}

static void some_rows(void **state)
{
	unsigned asked = 0;
	struct report_part part = { .from = INT64_MIN, .to = INT64_MAX, .keeps_row = is_odd, .keeps_blob = is_odd_blob, .context = &asked };
	struct report_writer *w = open_writer(*state);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 }, *ids, *crcs, *images;
	struct report *r;
	struct error err;
	size_t size;

	for (int i = 1; i <= CODES; i++) {
		v[COLUMN_KERNEL_CODE_ID] = i;
		v[COLUMN_KERNEL_CODE_CRC] = 10 * i;
		v[COLUMN_KERNEL_CODE_IMAGE] = (int64_t)report_blob(w, "image of a cubin", (size_t)i);
		assert_int_equal(report_append(report_track(w, TABLE_KERNEL_CODE, 0), v,
					       1u << COLUMN_KERNEL_CODE_ID | 1u << COLUMN_KERNEL_CODE_CRC | 1u << COLUMN_KERNEL_CODE_IMAGE),
				 0);
	}
	add_slice(w, 1, 1000, 2000, 0);
	assert_int_equal(report_writer_finish(w, &err), 0);
	r = open_report(*state);
	assert_int_equal(report_copy(r, beside(*state, ".copy"), 0, &part, &err), 0);
	report_close(r);
	assert_int_equal(asked, CODES);
	r = open_report(beside(*state, ".copy"));
	assert_false(report_is_damaged(r));
	assert_int_equal(report_row_count(r, TABLE_SLICE), 1);
	assert_int_equal(report_row_count(r, TABLE_KERNEL_CODE), CODES / 2);
	ids = whole_column(r, TABLE_KERNEL_CODE, COLUMN_KERNEL_CODE_ID, NULL);
	crcs = whole_column(r, TABLE_KERNEL_CODE, COLUMN_KERNEL_CODE_CRC, NULL);
	images = whole_column(r, TABLE_KERNEL_CODE, COLUMN_KERNEL_CODE_IMAGE, NULL);
	for (int i = 0; i < CODES / 2; i++) {
		assert_int_equal(ids[i], 2 * i + 1);
		assert_int_equal(crcs[i], 10 * ids[i] + 100);
		assert_memory_equal(report_blob_data(r, (uint64_t)images[i], &size), "image of a cubin", (size_t)ids[i]);
		assert_int_equal(size, ids[i]);
		assert_null(report_blob_data(r, (uint64_t)images[i] + 1, &size));
	}
	free(ids);
	free(crcs);
	free(images);
	report_close(r);
}

/* Groups that have a level 0 are absent, with their rows and times; others are as they were. */
static void an_outline(void **state)
{
	const char *copy = beside(*state, ".copy");
	struct report *whole, *r;
	struct error err;
	uint64_t left_out, absent = 0;
	size_t size, whole_size;
	int64_t last = -1, value;

	write_report(*state);
	whole = open_report(*state);
	assert_int_equal(report_outline(whole, copy, &left_out, &err), 0);
	r = open_report(copy);
	assert_false(report_is_damaged(r));
	assert_int_equal(report_is_partial(r), 0);
	assert_int_equal(left_out, 3 * GROUP_ROWS);
	assert_int_equal(report_absent_count(r, TABLE_SLICE), 3);
	assert_int_equal(report_absent_count(whole, TABLE_SLICE), 0);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 500 + SHORT_ROWS);
	for (size_t i = 0; i < 3; i++) {
		size_t number = report_group_count(r, TABLE_SLICE) + i;
		const struct report_group *g = report_group(r, TABLE_SLICE, number);

		assert_int_equal(g->track, LONG_TRACK);
		assert_int_equal(g->present, 0);
		assert_true(g->time_min > last);
		last = g->time_max;
		absent += g->rows;
		assert_true(report_column(r, TABLE_SLICE, number, 0, &value, NULL) < 0);
	}
	assert_null(report_group(r, TABLE_SLICE, report_group_count(r, TABLE_SLICE) + 3));
	assert_int_equal(absent, left_out);
	assert_int_equal(report_row_count(r, TABLE_LOD), report_row_count(whole, TABLE_LOD));
	free(read_bytes(copy, &size));
	free(read_bytes(*state, &whole_size));
	assert_true(size < whole_size);
	report_close(r);
	report_close(whole);
}

/* Entries of the directory that no outline has: nothing comes of them, and nothing is read outside. */
static void impossible_entries(void **state)
{
	const struct entry good = { .kind = BLOCK_ABSENT, .table = TABLE_SLICE, .track = 1, .items = 2000, .time_min = 5, .time_max = 900 };
	struct entry wrong[] = { good, good, good, good, good, good, good };
	struct report_writer *w = open_writer(*state);
	struct report *r;
	struct error err;

	wrong[0].table = 250;
	wrong[1].table = TABLE_META;
	wrong[2].items = 0;
	wrong[3].items = UINT32_MAX;
	wrong[4].time_max = 4;
	wrong[5].track = 0;
	wrong[6].items = DETAIL_MIN_ROWS - 1;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(entry_add(w, &wrong[i]), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(entry_add(w, &good), 0);
	add_slice(w, 1, 1000, 2000, 0);
	assert_int_equal(report_writer_finish(w, &err), 0);
	r = open_report(*state);
	assert_int_equal(report_absent_count(r, TABLE_SLICE), 5);
	assert_int_equal(report_absent_count(r, TABLE_META), 0);
	assert_int_equal(report_absent_count(r, (enum table_id)250), 0);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 1);
	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++)
		assert_true(report_absent_count(r, (enum table_id)table) == 0 || table == TABLE_SLICE);
	report_close(r);
}

/* What is not finished has no levels of detail. */
static void an_unfinished_report(void **state)
{
	struct report_writer *w = open_writer(*state);
	const char *part = beside(*state, ".part");
	struct report *r;
	struct error err;
	uint64_t left_out;

	add_slice(w, 1, 1000, 2000, 0);
	assert_int_equal(report_writer_flush(w), 0);
	report_writer_abandon(w);
	r = open_report(part);
	assert_true(report_outline(r, beside(*state, ".copy"), &left_out, &err) < 0);
	assert_false(exists(beside(*state, ".copy")));
	report_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_range, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(nothing_in_range, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(some_rows, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(an_outline, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(impossible_entries, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(an_unfinished_report, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
