/* What is written is what is read: every table, every pattern of nulls and values. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of one track, as appended. */
struct truth {
	enum table_id table;
	uint32_t track;
	uint32_t rows;
	uint32_t *present;
	int64_t (*values)[TABLE_MAX_COLUMNS];
};

enum pattern { ALL_PRESENT, SOME_NULL, HALF_NULL, PATTERNS };

static int64_t odd_value(uint64_t *seed, unsigned column, uint32_t row)
{
	uint64_t r = next_random(seed);

	switch ((column + row / 7000) % 7) {
	case 0: return 42;                            /* constant */
	case 1: return (int64_t)r;                    /* anything */
	case 2: return (int64_t)row * 3;              /* rising */
	case 3: return (int64_t)(r % 5) * 1000000007; /* few values, far apart */
	case 4: return (int64_t)(r % 200);
	case 5: return r % 2 ? INT64_MIN : INT64_MAX; /* the whole width */
	default: return -(int64_t)(r % 70000);
	}
}

static struct truth *make_truth(enum table_id table, uint32_t track, uint32_t rows, enum pattern pattern)
{
	const struct table_schema *schema = table_schema(table);
	uint32_t all = (uint32_t)((1ull << schema->column_count) - 1);
	struct truth *t = calloc(1, sizeof(*t));
	uint64_t seed = table * 1000u + track;
	int64_t time = 1000;

	t->table = table;
	t->track = track;
	t->rows = rows;
	t->present = calloc(rows, sizeof(*t->present));
	t->values = calloc(rows, sizeof(*t->values));
	for (uint32_t i = 0; i < rows; i++) {
		for (unsigned c = 0; c < schema->column_count; c++)
			t->values[i][c] = odd_value(&seed, c, i);
		t->present[i] = pattern == ALL_PRESENT ? all :
				pattern == SOME_NULL   ? all & ~(1u << next_random(&seed) % schema->column_count) :
							 all & (uint32_t)next_random(&seed);
		if (schema->kind == TABLE_KIND_PLAIN) {
			t->present[i] |= t->present[i] ? 0 : 1;
			continue;
		}
		t->present[i] |= schema->kind == TABLE_KIND_SPAN ? 3 : 1;
		t->values[i][0] = time += (int64_t)(next_random(&seed) % 300);
		if (schema->kind == TABLE_KIND_SPAN)
			t->values[i][1] = time += (int64_t)(next_random(&seed) % 50000);
	}
	return t;
}

static void free_truth(struct truth *t)
{
	free(t->present);
	free(t->values);
	free(t);
}

static void append_truth(struct report_writer *w, const struct truth *t, uint32_t from, uint32_t to)
{
	struct report_track *track = report_track(w, t->table, t->track);

	assert_non_null(track);
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(report_append(track, t->values[i], t->present[i]), 0);
}

/* The rows of the track in file order are the truth's. */
static void check_truth(const struct report *r, const struct truth *t)
{
	const struct table_schema *schema = table_schema(t->table);
	int64_t *values = malloc(70000 * sizeof(*values));
	uint8_t *nulls = malloc(70000);
	uint32_t done = 0;

	for (size_t g = 0; g < report_group_count(r, t->table); g++) {
		const struct report_group *group = report_group(r, t->table, g);

		if (group->track != t->track)
			continue;
		assert_true(done + group->rows <= t->rows);
		for (unsigned c = 0; c < schema->column_count; c++) {
			assert_int_equal(report_column(r, t->table, g, c, values, nulls), 0);
			for (uint32_t i = 0; i < group->rows; i++) {
				int present = t->present[done + i] >> c & 1;

				assert_int_equal(nulls[i], !present);
				assert_int_equal(values[i], present ? t->values[done + i][c] : 0);
			}
		}
		if (schema->kind != TABLE_KIND_PLAIN) {
			uint32_t last = done + group->rows - 1;

			assert_int_equal(group->time_min, t->values[done][0]);
			assert_int_equal(group->time_max, t->values[last][schema->kind == TABLE_KIND_SPAN]);
		}
		done += group->rows;
	}
	assert_int_equal(done, t->rows);
	free(values);
	free(nulls);
}

static void every_table(void **state)
{
	struct truth *truths[TABLE_ID_LIMIT * PATTERNS];
	struct report_writer *w = open_writer(*state);
	struct report *r;
	size_t count = 0;
	uint64_t rows = 0;

	for (unsigned id = 1; id < TABLE_ID_LIMIT; id++) {
		if (!table_schema(id) || id == TABLE_LOD)
			continue;
		for (unsigned p = 0; p < PATTERNS; p++) {
			uint32_t n = id % 4 == 0 ? 40000 : id * 37 % 600 + 1;

			truths[count++] = make_truth((enum table_id)id, p, n, (enum pattern)p);
			rows += n;
		}
	}
	for (size_t i = 0; i < count; i++)
		append_truth(w, truths[i], 0, truths[i]->rows / 2);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	for (size_t i = 0; i < count; i++)
		append_truth(w, truths[i], truths[i]->rows / 2, truths[i]->rows);
	assert_int_equal(report_writer_rows(w), rows);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	assert_false(exists(beside(*state, ".part")));
	assert_false(exists(beside(*state, ".journal")));

	r = open_report(*state);
	assert_int_equal(report_is_partial(r), 0);
	assert_int_equal(report_note_count(r), 0);
	for (size_t i = 0; i < count; i++) {
		check_truth(r, truths[i]);
		free_truth(truths[i]);
	}
	report_close(r);
}

/* Groups of every size around the powers of two that buffers grow by. */
static void every_size(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct truth *truths[80];
	struct report *r;

	for (uint32_t i = 0; i < 80; i++) {
		uint32_t n = i < 70 ? i + 1 : i < 75 ? 510 + i - 70 : 16380 + 2 * (i - 75);

		truths[i] = make_truth(i % 2 ? TABLE_SLICE : TABLE_COUNTER, i + 1, n, SOME_NULL);
		append_truth(w, truths[i], 0, n);
		if (i % 3 == 0)
			report_track_close(report_track(w, truths[i]->table, i + 1));
	}
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	for (uint32_t i = 0; i < 80; i++) {
		check_truth(r, truths[i]);
		free_truth(truths[i]);
	}
	report_close(r);
}

static void empty_report(void **state)
{
	struct report *r;

	assert_int_equal(report_writer_finish(open_writer(*state), NULL), 0);
	r = open_report(*state);
	assert_int_equal(report_is_partial(r), 0);
	for (unsigned id = 0; id < TABLE_ID_LIMIT; id++)
		assert_int_equal(report_row_count(r, (enum table_id)id), 0);
	assert_null(report_text(r, 1, NULL));
	assert_null(report_meta(r, "host"));
	report_close(r);
}

static void order_is_kept(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct report_track *slices = report_track(w, TABLE_SLICE, 1);
	struct report_track *marks = report_track(w, TABLE_INSTANT, 2);
	struct report *r;

	assert_int_equal(report_append(slices, (int64_t[]){ 10, 20 }, 3), 0);
	assert_int_equal(report_append(slices, (int64_t[]){ 19, 30 }, 3), -EINVAL);
	assert_int_equal(report_append(slices, (int64_t[]){ 30, 29 }, 3), -EINVAL);
	assert_int_equal(report_append(slices, (int64_t[]){ 30 }, 1), -EINVAL);
	assert_int_equal(report_append(slices, (int64_t[]){ 20, 20 }, 3), 0);
	assert_int_equal(report_append(slices, (int64_t[]){ 20, 20 }, 0), -EINVAL);
	assert_int_equal(report_append(slices, (int64_t[32]){ 20, 20 }, 1u << 20 | 3), -EINVAL);
	assert_int_equal(report_append(marks, (int64_t[]){ 5 }, 1), 0);
	assert_int_equal(report_append(marks, (int64_t[]){ 5 }, 1), 0);
	assert_int_equal(report_append(marks, (int64_t[]){ 4 }, 1), -EINVAL);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 2);
	assert_int_equal(report_row_count(r, TABLE_INSTANT), 2);
	report_close(r);
}

/* A column is decoded without the others being given, in any order. */
static void columns_alone(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct truth *t = make_truth(TABLE_SLICE, 3, 20000, HALF_NULL);
	int64_t *ends, *names;
	struct report *r;
	uint8_t *nulls = malloc(t->rows);

	append_truth(w, t, 0, t->rows);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	names = whole_column(r, TABLE_SLICE, COLUMN_SLICE_NAME, nulls);
	ends = whole_column(r, TABLE_SLICE, COLUMN_SLICE_END, NULL);
	for (uint32_t i = 0; i < t->rows; i++) {
		assert_int_equal(ends[i], t->values[i][1]);
		assert_int_equal(names[i], t->present[i] & 4 ? t->values[i][2] : 0);
	}
	assert_int_equal(report_column(r, TABLE_SLICE, 0, 31, ends, nulls), 0);
	assert_int_equal(nulls[0], 1);
	assert_int_equal(report_column(r, TABLE_SLICE, 99, 0, ends, nulls), -EINVAL);
	free(names);
	free(ends);
	free(nulls);
	free_truth(t);
	report_close(r);
}

static void levels_of_detail(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t name = report_string(w, "short", 5), longest = report_string(w, "long", 4);
	int64_t *level, *busy, *rows, *names, *longs, time = 0;
	int64_t sum[4] = { 0 }, covered[4] = { 0 }, total = 0;
	size_t count, of_level[4] = { 0 };
	struct report *r;

	for (uint32_t i = 0; i < 16384 * 20; i++, time += 10) {
		int64_t length = i == 100000 ? 5000 : 7;

		add_slice(w, 1, time, time + length, i == 100000 ? longest : name);
		time += length;
		total += length;
	}
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	level = whole_column(r, TABLE_LOD, COLUMN_LOD_LEVEL, NULL);
	busy = whole_column(r, TABLE_LOD, COLUMN_LOD_BUSY, NULL);
	rows = whole_column(r, TABLE_LOD, COLUMN_LOD_ROWS, NULL);
	names = whole_column(r, TABLE_LOD, COLUMN_LOD_NAME, NULL);
	longs = whole_column(r, TABLE_LOD, COLUMN_LOD_LONGEST, NULL);
	count = report_row_count(r, TABLE_LOD);
	for (size_t i = 0; i < count; i++) {
		assert_in_range(level[i], 0, 3);
		sum[level[i]] += busy[i];
		covered[level[i]] += rows[i];
		of_level[level[i]]++;
	}
	assert_int_equal(of_level[1], 20);
	assert_int_equal(of_level[2], 2);
	assert_int_equal(of_level[3], 1);
	for (int i = 0; i <= 3; i++)
		assert_int_equal(covered[i], 16384 * 20);
	for (int i = 1; i <= 3; i++)
		assert_int_equal(sum[i], total);
	assert_int_equal(longs[count - 1], 5000);
	assert_int_equal(names[count - 1], longest);
	free(level);
	free(busy);
	free(rows);
	free(names);
	free(longs);
	report_close(r);
}

/* Level 0 against what the rows come to, bucket by bucket. */
static void details_by_time(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t name = report_string(w, "x", 1), seed = 11;
	int64_t *width, *start, *busy, *rows, *longs, *at, *row, starts[5000], ends[5000], time = -12345;
	struct report *r;

	for (uint32_t i = 0; i < 5000; i++) {
		starts[i] = time += (int64_t)(next_random(&seed) % 100);
		ends[i] = time += (int64_t)(next_random(&seed) % (i % 500 == 7 ? 100000 : 50));
		add_slice(w, 1, starts[i], ends[i], name);
	}
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	width = whole_column(r, TABLE_LOD, COLUMN_LOD_WIDTH, NULL);
	start = whole_column(r, TABLE_LOD, COLUMN_LOD_START, NULL);
	busy = whole_column(r, TABLE_LOD, COLUMN_LOD_BUSY, NULL);
	rows = whole_column(r, TABLE_LOD, COLUMN_LOD_ROWS, NULL);
	longs = whole_column(r, TABLE_LOD, COLUMN_LOD_LONGEST, NULL);
	at = whole_column(r, TABLE_LOD, COLUMN_LOD_AT, NULL);
	row = whole_column(r, TABLE_LOD, COLUMN_LOD_ROW, NULL);
	for (size_t b = 0; b < report_row_count(r, TABLE_LOD); b++) {
		int64_t sum = 0, begins = 0, is_long = -1, from, to;

		if (!width[b])
			continue;
		assert_int_equal(start[b] % width[b], 0);
		for (int i = 0; i < 5000; i++) {
			from = starts[i] > start[b] ? starts[i] : start[b];
			to = ends[i] < start[b] + width[b] ? ends[i] : start[b] + width[b];
			sum += to > from ? to - from : 0;
			if (starts[i] < start[b] || starts[i] >= start[b] + width[b])
				continue;
			begins++;
			is_long = ends[i] - starts[i] >= width[b] ? i : is_long;
		}
		assert_int_equal(rows[b], begins);
		assert_in_range(busy[b] - sum + width[b] / 512 + 1, 0, width[b] / 256 + 2);
		assert_int_equal(longs[b], is_long < 0 ? 0 : ends[is_long] - starts[is_long]);
		assert_int_equal(at[b], is_long < 0 ? 0 : starts[is_long]);
		assert_int_equal(row[b], is_long < 0 ? 0 : is_long);
	}
	for (size_t i = 0; i < 7; i++)
		free((int64_t *[]){ width, start, busy, rows, longs, at, row }[i]);
	report_close(r);
}

/* A hundred thousand threads with three ranges each. */
static void many_tiny_tracks(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t name = report_string(w, "work", 4);
	int64_t *starts;
	struct report *r;

	for (uint32_t track = 1; track <= 100000; track++) {
		for (int64_t i = 0; i < 3; i++)
			add_slice(w, track, track * 100 + i * 10, track * 100 + i * 10 + 5, name);
		report_track_close(report_track(w, TABLE_SLICE, track));
		if (track % 20000 == 0)
			assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	}
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 300000);
	starts = whole_column(r, TABLE_SLICE, COLUMN_SLICE_START, NULL);
	for (size_t g = 0; g < report_group_count(r, TABLE_SLICE); g++) {
		const struct report_group *group = report_group(r, TABLE_SLICE, g);

		assert_int_equal(group->rows, 3);
		assert_int_equal(starts[group->first_row + 2], group->track * 100 + 20);
	}
	free(starts);
	report_close(r);
	{
		size_t size;

		free(read_bytes(*state, &size));
		assert_true(size < 100000 * 60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_table, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(every_size, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(empty_report, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(order_is_kept, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(columns_alone, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(levels_of_detail, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(details_by_time, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(many_tiny_tracks, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
