/* Several reports from one writer: each has what describes the recording, and its own events. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fact(struct report_writer *w, const char *key, const char *value)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_META_KEY] = (int64_t)report_string(w, key, strlen(key));
	v[COLUMN_META_VALUE] = (int64_t)report_string(w, value, strlen(value));
	assert_int_equal(report_append(report_track(w, TABLE_META, 0), v, 1u << COLUMN_META_KEY | 1u << COLUMN_META_VALUE), 0);
}

static void loss(struct report_writer *w)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_LOSS_COUNT] = 1;
	assert_int_equal(report_append(report_track(w, TABLE_LOSS, 0), v, 1u << COLUMN_LOSS_COUNT), 0);
}

/* Ten ns each, one after the other. */
static void slices(struct report_writer *w, int64_t from, int64_t count, uint64_t name)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	for (int64_t i = from; i < from + count; i++) {
		v[COLUMN_SLICE_START] = i * 10;
		v[COLUMN_SLICE_END] = i * 10 + 10;
		v[COLUMN_SLICE_NAME] = (int64_t)name;
		assert_int_equal(report_append(report_track(w, TABLE_SLICE, 1), v,
					       1u << COLUMN_SLICE_START | 1u << COLUMN_SLICE_END | 1u << COLUMN_SLICE_NAME),
				 0);
	}
}

/* As a recorder does: a copy of the process completes the report. */
static void complete_in_copy(struct report_writer *w)
{
	struct error err = { "" };
	int status;
	pid_t pid;

	assert_int_equal(report_writer_flush(w), 0);
	pid = fork();
	if (pid == 0)
		_exit(report_writer_finish(w, &err) == 0 ? 0 : 1);
	assert_int_equal(report_writer_park(w, &err), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct slice_check {
	int64_t next;
	int64_t rows;
};

static int check_slice(void *context, const int64_t *values, uint32_t present)
{
	struct slice_check *check = context;

	assert_true(present & 1u << COLUMN_SLICE_START);
	assert_int_equal(values[COLUMN_SLICE_START], check->next * 10);
	check->next++;
	check->rows++;
	return 0;
}

struct expected {
	uint64_t facts;
	uint64_t losses;
	int64_t first;
	int64_t slices;
};

static void check_report(const char *path, const struct expected *want, uint64_t name)
{
	struct slice_check check = { .next = want->first };
	struct error err = { "" };
	struct report *r;

	assert_int_equal(report_open(&r, path, &err), 0);
	assert_false(report_is_partial(r));
	assert_false(report_is_damaged(r));
	assert_int_equal(report_note_count(r), 0);
	assert_int_equal(report_row_count(r, TABLE_META), want->facts);
	assert_int_equal(report_row_count(r, TABLE_LOSS), want->losses);
	report_each_row(r, TABLE_SLICE, COLUMN_SLICE_NAME + 1, check_slice, &check);
	assert_int_equal(check.rows, want->slices);
	assert_string_equal(report_text(r, name, NULL), "told once");
	assert_string_equal(report_meta(r, "first"), "1");
	report_close(r);
}

static void each_report_has_its_own(void **state)
{
	const char *a = *state, *b = beside(a, ".b.sonde"), *c = beside(a, ".c.sonde");
	char note[256];
	struct error err = { "" };
	struct report_writer *w;
	uint64_t name;

	assert_int_equal(report_writer_open_parked(&w, &err), 0);
	fact(w, "first", "1");
	name = report_string(w, "told once", 9);
	slices(w, 0, 3, name); /* nobody records now */
	assert_int_equal(report_writer_unpark(w, a, 0, note, sizeof(note), &err), 0);
	slices(w, 10, 100000, name);
	loss(w);
	fact(w, "second", "2");
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
	complete_in_copy(w);
	slices(w, 200000, 5, name);
	fact(w, "third", "3");
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
	assert_int_equal(report_writer_unpark(w, b, 0, note, sizeof(note), &err), 0);
	assert_int_equal(report_string(w, "told once", 9), name);
	slices(w, 300000, 70000, name);
	complete_in_copy(w);
	assert_int_equal(report_writer_unpark(w, c, 0, note, sizeof(note), &err), 0);
	slices(w, 400000, 1, name);
	assert_int_equal(report_writer_finish(w, &err), 0);
	check_report(a, &(struct expected){ 2, 1, 10, 100000 }, name);
	check_report(b, &(struct expected){ 3, 0, 300000, 70000 }, name);
	check_report(c, &(struct expected){ 3, 0, 400000, 1 }, name);
}

static void a_file_that_is_there(void **state)
{
	const char *taken = *state, *free_path = beside(taken, ".free.sonde");
	char note[256], *content;
	struct error err = { "" };
	struct report_writer *w;
	uint64_t name;
	size_t size;

	write_bytes(taken, "precious", 8);
	assert_int_equal(report_writer_open_parked(&w, &err), 0);
	fact(w, "first", "1");
	name = report_string(w, "told once", 9);
	assert_int_equal(report_writer_unpark(w, taken, 0, note, sizeof(note), &err), -EEXIST);
	assert_int_equal(report_writer_unpark(w, beside(taken, "/x.sonde"), 0, note, sizeof(note), &err), -ENOTDIR);
	fact(w, "second", "2");
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
	assert_int_equal(report_writer_unpark(w, free_path, 0, note, sizeof(note), &err), 0);
	slices(w, 0, 4, name);
	assert_int_equal(report_writer_finish(w, &err), 0);
	check_report(free_path, &(struct expected){ 2, 0, 0, 4 }, name);
	content = read_bytes(taken, &size);
	assert_int_equal(size, 8);
	assert_memory_equal(content, "precious", 8);
	free(content);
}

/* A recorder that is killed: what is in the .part and its journal is a report. */
static void recovery_in_a_later_capture(void **state)
{
	const char *a = *state, *b = beside(a, ".b.sonde");
	char path[4096];
	struct error err = { "" };
	struct report_writer *w;
	uint64_t name;

	assert_int_equal(report_writer_open_parked(&w, &err), 0);
	fact(w, "first", "1");
	name = report_string(w, "told once", 9);
	assert_int_equal(report_writer_unpark(w, a, 0, NULL, 0, &err), 0);
	slices(w, 0, 1000, name);
	complete_in_copy(w);
	assert_int_equal(report_writer_unpark(w, b, 0, NULL, 0, &err), 0);
	slices(w, 5000, 1000, name);
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
	report_writer_abandon(w);
	assert_int_equal(report_recover(beside(b, ".part"), 0, path, sizeof(path), &err), 0);
	check_report(path, &(struct expected){ 1, 0, 5000, 1000 }, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_report_has_its_own, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_there, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(recovery_in_a_later_capture, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
