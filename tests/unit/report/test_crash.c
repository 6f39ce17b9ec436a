/* A recorder that dies: everything appended before its last tick is there, in the .part
 * as in what recover makes of it. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/write/internal.h"

#define TRACKS 5

/* Row i of a track is [100 i, 100 i + 40), named by the track; every third has a flag. */
static void append_rows(struct report_writer *w, int64_t from, int64_t to)
{
	char text[32];

	for (int64_t i = from; i < to; i++) {
		for (uint32_t track = 1; track <= TRACKS; track++) {
			int length = snprintf(text, sizeof(text), "name %u %d", track, (int)i / 1000);
			uint64_t name = report_string(w, text, (size_t)length);
			int64_t values[] = { i * 100, i * 100 + 40, (int64_t)name, i };

			assert_int_equal(report_append(report_track(w, TABLE_SLICE, track), values, i % 3 ? 7 : 15), 0);
		}
	}
}

/* One open range per track, and a thread that still lives. */
static void provisional(struct report_writer *w, void *context)
{
	int64_t i = *(int64_t *)context;

	for (uint32_t track = 1; track <= TRACKS; track++) {
		int64_t values[] = { i * 100, i * 100 + 7, (int64_t)report_string(w, "open", 4), 1 };

		assert_int_equal(report_append_provisional(report_track(w, TABLE_SLICE, track), values, 15), 0);
	}
	assert_int_equal(report_append_provisional(report_track(w, TABLE_THREAD, 0), (int64_t[]){ 77, 1 }, 3), 0);
}

/* Rows 0 ... rows - 1 and perhaps the provisional one of every track, nothing else. */
static void check_rows(const char *path, int64_t rows, int with_open, int partial)
{
	struct report *r = open_report(path);
	int64_t *start, *end, *name, *flags, next[TRACKS + 1] = { 0 };
	uint8_t *nulls = malloc(report_row_count(r, TABLE_SLICE) + 1);
	char text[32];

	assert_int_equal(report_is_partial(r), partial);
	assert_int_equal(report_row_count(r, TABLE_SLICE), (rows + with_open) * TRACKS);
	assert_int_equal(report_row_count(r, TABLE_THREAD), with_open);
	start = whole_column(r, TABLE_SLICE, COLUMN_SLICE_START, NULL);
	end = whole_column(r, TABLE_SLICE, COLUMN_SLICE_END, NULL);
	name = whole_column(r, TABLE_SLICE, COLUMN_SLICE_NAME, NULL);
	flags = whole_column(r, TABLE_SLICE, COLUMN_SLICE_FLAGS, nulls);
	for (size_t g = 0; g < report_group_count(r, TABLE_SLICE); g++) {
		const struct report_group *group = report_group(r, TABLE_SLICE, g);

		for (uint64_t k = group->first_row; k < group->first_row + group->rows; k++) {
			int64_t i = next[group->track]++;

			assert_int_equal(start[k], i * 100);
			if (i == rows) {
				assert_int_equal(end[k], i * 100 + 7);
				assert_string_equal(report_text(r, (uint64_t)name[k], NULL), "open");
				continue;
			}
			assert_int_equal(end[k], i * 100 + 40);
			assert_int_equal(nulls[k], i % 3 ? 1 : 0);
			assert_int_equal(flags[k], i % 3 ? 0 : i);
			snprintf(text, sizeof(text), "name %u %d", group->track, (int)i / 1000);
			assert_string_equal(report_text(r, (uint64_t)name[k], NULL), text);
		}
	}
	free(start);
	free(end);
	free(name);
	free(flags);
	free(nulls);
	report_close(r);
}

static void recover_and_check(const char *path, int64_t rows, int with_open)
{
	struct error err = { "" };
	char result[256];

	check_rows(beside(path, ".part"), rows, with_open, 1);
	if (report_recover(beside(path, ".part"), 0, result, sizeof(result), &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(result, path);
	assert_false(exists(beside(path, ".part")));
	assert_false(exists(beside(path, ".journal")));
	check_rows(path, rows, with_open, 0);
}

static void abandoned_after_tick(void **state)
{
	struct report_writer *w = open_writer(*state);

	append_rows(w, 0, 100);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	append_rows(w, 100, 20000); /* some of it in groups by now */
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	append_rows(w, 20000, 20100);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	append_rows(w, 20100, 20150); /* not brought to the file */
	report_writer_abandon(w);
	recover_and_check(*state, 20100, 0);
}

static void last_provisional_counts(void **state)
{
	struct report_writer *w = open_writer(*state);
	int64_t at = 0;

	for (int tick = 1; tick <= 30; tick++) {
		append_rows(w, at, tick * 50);
		at = tick * 50;
		assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	}
	report_writer_abandon(w);
	recover_and_check(*state, 1500, 1);
}

/* The range that was open at the last tick is a row in a group by now. */
static void closed_since(void **state)
{
	struct report_writer *w = open_writer(*state);
	int64_t at = 10;

	append_rows(w, 0, 10);
	assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	append_rows(w, 10, GROUP_ROWS);
	report_writer_abandon(w);
	{
		struct report *r = open_report(beside(*state, ".part"));

		assert_int_equal(report_row_count(r, TABLE_SLICE), GROUP_ROWS * TRACKS);
		report_close(r);
	}
}

static void none_open_any_more(void **state)
{
	struct report_writer *w = open_writer(*state);
	int64_t at = 10;

	append_rows(w, 0, 10);
	assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	report_writer_abandon(w);
	recover_and_check(*state, 10, 0);
}

/* Open ranges that only get longer are not written ten times a second. */
static void idle_writes_little(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t size;
	int64_t at = 10;

	append_rows(w, 0, 10);
	assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	size = w->journal_size;
	for (int i = 0; i < 9; i++)
		assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	assert_int_equal(w->journal_size, size);
	assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	assert_true(w->journal_size > size);
	size = w->journal_size;
	at = 11;
	assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	assert_true(w->journal_size > size);
	size = w->journal_size;
	for (int i = 0; i < 30; i++)
		assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	assert_true(w->journal_size - size <= 80);
	report_writer_abandon(w);
}

static void provisional_only_within_tick(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct report_track *t = report_track(w, TABLE_SLICE, 1);

	assert_int_equal(report_append_provisional(t, (int64_t[]){ 1, 2 }, 3), -EINVAL);
	report_writer_abandon(w);
}

/* The journal starts over several times. */
static void journal_rotates(void **state)
{
	struct report_writer *w = open_writer(*state);
	int64_t at = 0;

	w->journal_limit = 20000;
	for (int tick = 1; tick <= 300; tick++) {
		append_rows(w, at, tick * 20);
		at = tick * 20;
		assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	}
	assert_true(w->generation > 3);
	report_writer_abandon(w);
	recover_and_check(*state, 6000, 1);
}

static void killed(void **state)
{
	pid_t child = fork();
	int64_t at = 0;
	int status;

	if (child == 0) {
		struct report_writer *w = open_writer(*state);

		for (int tick = 1; tick <= 20; tick++) {
			append_rows(w, at, tick * 1300);
			at = tick * 1300;
			if (report_writer_tick(w, provisional, &at, NULL) < 0)
				_exit(1);
		}
		append_rows(w, at, at + 10);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	recover_and_check(*state, 26000, 1);
}

/* Rows 0 ... n - 1 of every track with n at least `rows`, then at most one that was open. */
static void check_at_least(const char *path, int64_t rows)
{
	struct report *r = open_report(path);
	int64_t *start = whole_column(r, TABLE_SLICE, COLUMN_SLICE_START, NULL);
	int64_t *end = whole_column(r, TABLE_SLICE, COLUMN_SLICE_END, NULL);
	int64_t next[TRACKS + 1] = { 0 }, open[TRACKS + 1] = { 0 };

	for (size_t g = 0; g < report_group_count(r, TABLE_SLICE); g++) {
		const struct report_group *group = report_group(r, TABLE_SLICE, g);

		for (uint64_t k = group->first_row; k < group->first_row + group->rows; k++) {
			assert_int_equal(start[k], next[group->track]++ * 100);
			open[group->track] += end[k] == start[k] + 7;
			assert_true(open[group->track] == 0 || end[k] == start[k] + 7);
		}
	}
	for (uint32_t track = 1; track <= TRACKS; track++) {
		assert_true(open[track] <= 1);
		assert_true(next[track] - open[track] >= rows);
	}
	free(start);
	free(end);
	report_close(r);
}

/* Writes until it is killed; *ticked says how many rows are safe. */
static void write_for_ever(const char *path, _Atomic int64_t *ticked)
{
	struct report_writer *w = open_writer(path);
	int64_t at = 0, more;

	w->journal_limit = 40000;
	for (uint64_t seed = 1;; atomic_store(ticked, at)) {
		more = (int64_t)(next_random(&seed) % 900);
		append_rows(w, at, at + more);
		at += more;
		if (report_writer_tick(w, provisional, &at, NULL) < 0)
			_exit(1);
	}
}

static void killed_at_random(void **state)
{
	_Atomic int64_t *ticked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t seed = (uint64_t)getpid();
	char result[256];

	assert_true(ticked != MAP_FAILED);
	for (int round = 0; round < 10; round++) {
		pid_t child;
		int status;

		atomic_store(ticked, -1);
		child = fork();
		if (child == 0)
			write_for_ever(*state, ticked);
		while (atomic_load(ticked) < 0)
			usleep(200);
		usleep((useconds_t)(next_random(&seed) % 40000));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		check_at_least(beside(*state, ".part"), atomic_load(ticked));
		assert_int_equal(report_recover(beside(*state, ".part"), 1, result, sizeof(result), NULL), 0);
		check_at_least(*state, atomic_load(ticked));
		unlink(*state);
	}
	munmap(ticked, 4096);
}

/* The journal cut anywhere: whole ticks are there, never parts of one. */
static void journal_cut(void **state)
{
	struct report_writer *w = open_writer(*state);
	int64_t at = 0, last_rows = -1;
	size_t size;
	char *journal;

	for (int tick = 1; tick <= 4; tick++) {
		append_rows(w, at, tick * 3);
		at = tick * 3;
		assert_int_equal(report_writer_tick(w, provisional, &at, NULL), 0);
	}
	report_writer_abandon(w);
	journal = read_bytes(beside(*state, ".journal"), &size);
	for (size_t cut = size; cut > 0; cut -= cut > 7 ? 7 : cut) {
		struct report *r;
		int64_t rows;

		write_bytes(beside(*state, ".journal"), journal, cut);
		r = open_report(beside(*state, ".part"));
		rows = (int64_t)report_row_count(r, TABLE_SLICE);
		assert_true(rows == 0 || rows % (3 * TRACKS) == TRACKS);
		assert_true(last_rows < 0 || rows <= last_rows);
		last_rows = rows;
		report_close(r);
	}
	free(journal);
}

/* Readers open the .part while it grows. */
struct growing {
	const char *path;
	_Atomic int64_t ticked;
	_Atomic int stop;
};

static void *grow(void *context)
{
	struct growing *g = context;
	struct report_writer *w = open_writer(g->path);
	int64_t at = 0;

	w->journal_limit = 30000;
	atomic_store(&g->ticked, 0);
	for (int tick = 1; !atomic_load(&g->stop) && at < 400000; tick++) {
		append_rows(w, at, at + 50 + tick % 7 * 10);
		at += 50 + tick % 7 * 10;
		assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
		atomic_store(&g->ticked, at);
	}
	report_writer_abandon(w);
	return NULL;
}

static void read_while_growing(void **state)
{
	struct growing g = { .path = *state };
	pthread_t thread;

	atomic_init(&g.ticked, -1);
	assert_int_equal(pthread_create(&thread, NULL, grow, &g), 0);
	while (atomic_load(&g.ticked) < 0)
		usleep(1000);
	for (int round = 0; round < 40; round++) {
		int64_t before = atomic_load(&g.ticked), next[TRACKS + 1] = { 0 };
		struct report *r = open_report(beside(*state, ".part"));
		int64_t *start = whole_column(r, TABLE_SLICE, COLUMN_SLICE_START, NULL);

		for (size_t i = 0; i < report_group_count(r, TABLE_SLICE); i++) {
			const struct report_group *group = report_group(r, TABLE_SLICE, i);

			for (uint32_t k = 0; k < group->rows; k++)
				assert_int_equal(start[group->first_row + k], next[group->track]++ * 100);
		}
		for (int track = 1; track <= TRACKS; track++)
			assert_true(next[track] >= before);
		free(start);
		report_close(r);
	}
	atomic_store(&g.stop, 1);
	pthread_join(thread, NULL);
}

static void recover_refuses(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct error err = { "" };
	char result[256];

	append_rows(w, 0, 10);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	assert_int_equal(report_recover(beside(*state, ".part"), 0, result, sizeof(result), &err), -EBUSY);
	assert_true(err.text[0]);
	report_writer_abandon(w);
	write_bytes(*state, "mine", 4);
	assert_int_equal(report_recover(beside(*state, ".part"), 0, result, sizeof(result), &err), -EEXIST);
	assert_true(exists(beside(*state, ".part")));
	assert_int_equal(report_recover(beside(*state, ".none.part"), 0, result, sizeof(result), &err), -ENOENT);
	assert_int_equal(report_recover(*state, 0, result, sizeof(result), &err), -EINVAL);
	assert_int_equal(report_recover(beside(*state, ".part"), 1, result, sizeof(result), &err), 0);
	check_rows(*state, 10, 0, 0);
}

static void moved_aside_is_recovered(void **state)
{
	struct report_writer *w = open_writer(*state);
	char note[512], result[256];
	struct error err = { "" };

	append_rows(w, 0, 10);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	report_writer_abandon(w);
	assert_int_equal(report_writer_open(&w, *state, 0, note, sizeof(note), &err), 0);
	assert_non_null(strstr(note, ".part.1"));
	report_writer_abandon(w);
	assert_int_equal(report_recover(beside(*state, ".part.1"), 0, result, sizeof(result), &err), 0);
	check_rows(*state, 10, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(abandoned_after_tick, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(last_provisional_counts, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(closed_since, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(none_open_any_more, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(idle_writes_little, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(provisional_only_within_tick, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(journal_rotates, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(killed, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(killed_at_random, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(journal_cut, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(read_while_growing, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(recover_refuses, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(moved_aside_is_recovered, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
