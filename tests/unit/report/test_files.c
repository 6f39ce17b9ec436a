/* Names, permissions, locks, full disks, limits of memory. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/write/internal.h"

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

static void private_files(void **state)
{
	struct report_writer *w = open_writer(*state);

	assert_int_equal(mode_of(beside(*state, ".part")) & 0777, 0600);
	assert_int_equal(mode_of(beside(*state, ".journal")) & 0777, 0600);
	assert_false(exists(*state));
	assert_int_equal(report_writer_finish(w, NULL), 0);
	assert_int_equal(mode_of(*state) & 0777, 0600);
}

static void overwrite_rules(void **state)
{
	struct report_writer *w, *other;
	struct error err = { "" };
	char note[512] = "x";

	write_bytes(*state, "mine", 4);
	assert_int_equal(report_writer_open(&w, *state, 0, note, sizeof(note), &err), -EEXIST);
	assert_null(w);
	assert_true(err.text[0]);
	assert_false(exists(beside(*state, ".part")));
	assert_int_equal(report_writer_open(&w, *state, 1, note, sizeof(note), &err), 0);
	assert_string_equal(note, "");
	assert_int_equal(report_writer_open(&other, *state, 1, note, sizeof(note), &err), -EBUSY);
	assert_int_equal(report_writer_finish(w, &err), 0);
	report_close(open_report(*state));
	assert_int_equal(report_writer_open(&w, *state, 0, note, sizeof(note), &err), -EEXIST);
}

static void appeared_meanwhile(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct error err = { "" };
	struct report *r;
	size_t size;
	char *data;

	add_slice(w, 1, 1, 2, 0);
	write_bytes(*state, "mine", 4);
	assert_int_equal(report_writer_finish(w, &err), -EEXIST);
	assert_non_null(strstr(err.text, ".part"));
	data = read_bytes(*state, &size);
	assert_int_equal(size, 4);
	free(data);
	r = open_report(beside(*state, ".part"));
	assert_int_equal(report_is_partial(r), 0);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 1);
	report_close(r);
}

static void left_over_is_kept(void **state)
{
	struct report_writer *w;
	struct error err = { "" };
	char note[512];

	for (int i = 1; i <= 3; i++) {
		w = NULL;
		assert_int_equal(report_writer_open(&w, *state, 0, note, sizeof(note), &err), 0);
		assert_int_equal(note[0] != '\0', i > 1);
		add_slice(w, 1, i, i + 1, 0);
		assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
		report_writer_abandon(w);
	}
	assert_true(exists(beside(*state, ".part.1")));
	assert_true(exists(beside(*state, ".journal.1")));
	assert_true(exists(beside(*state, ".part.2")));
	for (int i = 1; i <= 3; i++) {
		struct report *r = open_report(beside(*state, i == 1 ? ".part.1" : i == 2 ? ".part.2" : ".part"));
		int64_t start;

		assert_int_equal(report_row_count(r, TABLE_SLICE), 1);
		assert_int_equal(report_column(r, TABLE_SLICE, 0, 0, &start, NULL), 0);
		assert_int_equal(start, i);
		report_close(r);
	}
}

static void planted_links(void **state)
{
	struct report_writer *w;
	struct error err = { "" };
	size_t size;

	write_bytes(beside(*state, ".victim"), "victim", 6);
	assert_int_equal(symlink("x.sonde.victim", beside(*state, ".part")), 0);
	assert_true(report_writer_open(&w, *state, 1, NULL, 0, &err) < 0);
	assert_true(err.text[0]);
	assert_int_equal(unlink(beside(*state, ".part")), 0);
	assert_int_equal(symlink("x.sonde.victim", beside(*state, ".journal")), 0);
	assert_int_equal(symlink("x.sonde.victim", *state), 0);
	assert_int_equal(report_writer_open(&w, *state, 1, NULL, 0, &err), 0);
	assert_int_equal(report_writer_finish(w, &err), 0);
	free(read_bytes(beside(*state, ".victim"), &size));
	assert_int_equal(size, 6);
	assert_true(S_ISREG(mode_of(*state)));
}

static void no_such_folder(void **state)
{
	struct report_writer *w;
	struct error err = { "" };

	assert_int_equal(report_writer_open(&w, beside(*state, ".none/x.sonde"), 0, NULL, 0, &err), -ENOENT);
	assert_true(err.text[0]);
	assert_int_equal(mkdir(*state, 0700), 0);
	assert_int_equal(report_writer_open(&w, *state, 1, NULL, 0, &err), -EISDIR);
}

static void disk_nearly_full(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct error err = { "" };
	struct report *r;

	for (int64_t i = 0; i < 20000; i++)
		add_slice(w, 1, i * 10, i * 10 + 5, 0);
	report_writer_set_disk_floor(w, UINT64_MAX);
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "free"));
	assert_int_equal(report_append(report_track(w, TABLE_SLICE, 1), (int64_t[]){ 900000, 900001 }, 3), -ENOSPC);
	assert_int_equal(report_append(report_track(w, TABLE_META, 0), (int64_t[]){ 1 }, 1), 0);
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), -ENOSPC);
	assert_int_equal(report_writer_finish(w, &err), 0);
	r = open_report(*state);
	assert_int_equal(report_is_partial(r), 0);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 20000);
	assert_int_equal(report_row_count(r, TABLE_META), 1);
	report_close(r);
}

/* A write that fails in the middle: the file ends with a whole block. */
static void write_fails(void **state)
{
	struct rlimit limit, before;
	struct report_writer *w;
	struct error err = { "" };
	uint64_t seed = 3, written = 0;
	struct report *r;
	int64_t time = 0;
	int failed = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 500000;
	w = open_writer(*state);
	setrlimit(RLIMIT_FSIZE, &limit);
	while (!failed) {
		int64_t length = (int64_t)(next_random(&seed) >> 30);
		int64_t values[] = { time, time + length, (int64_t)next_random(&seed) };

		time += length;
		failed = report_append(report_track(w, TABLE_SLICE, 1), values, 7) < 0;
		written += !failed;
		if (written % 1000 == 0 && !failed)
			failed = report_writer_tick(w, NULL, NULL, &err) < 0;
	}
	setrlimit(RLIMIT_FSIZE, &before);
	r = open_report(beside(*state, ".part"));
	assert_int_equal(report_note_count(r), 0);
	report_close(r);
	assert_int_equal(report_writer_finish(w, &err), 0); /* there is room again */
	r = open_report(*state);
	assert_int_equal(report_row_count(r, TABLE_SLICE), written);
	assert_int_equal(report_note_count(r), 0);
	report_close(r);
	signal(SIGXFSZ, SIG_DFL);
}

static void finish_fails(void **state)
{
	struct rlimit limit, before;
	struct report_writer *w;
	struct error err = { "" };
	uint64_t seed = 3;
	struct report *r;
	char result[256];

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 60000;
	w = open_writer(*state);
	for (int64_t i = 0; i < 4000; i++) {
		int64_t values[] = { i * 10, i * 10 + 5, (int64_t)next_random(&seed) };

		assert_int_equal(report_append(report_track(w, TABLE_SLICE, 1), values, 7), 0);
	}
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
	for (int64_t i = 4000; i < 8000; i++) {
		int64_t values[] = { i * 10, i * 10 + 5, (int64_t)next_random(&seed) };

		assert_int_equal(report_append(report_track(w, TABLE_SLICE, 1), values, 7), 0);
	}
	assert_int_equal(report_writer_tick(w, NULL, NULL, &err), 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_true(report_writer_finish(w, &err) < 0);
	assert_non_null(strstr(err.text, "recover"));
	setrlimit(RLIMIT_FSIZE, &before);
	assert_false(exists(*state));
	assert_int_equal(report_recover(beside(*state, ".part"), 0, result, sizeof(result), &err), 0);
	r = open_report(*state);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 8000);
	report_close(r);
	signal(SIGXFSZ, SIG_DFL);
}

/* Thousands of tracks that stopped giving rows hand their buffers back. */
static void idle_tracks_give_back(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct report *r;

	for (uint32_t track = 1; track <= 400; track++)
		for (int64_t i = 0; i < 6000; i++)
			add_slice(w, track, i * 10, i * 10 + 5, 0);
	assert_true(w->builder_bytes > BUILDER_SOFT_LIMIT);
	for (int tick = 0; tick < IDLE_TICKS + 1; tick++)
		assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	assert_int_equal(w->builder_bytes, 0);
	for (uint32_t track = 1; track <= 400; track++)
		add_slice(w, track, 100000, 100001, 0);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	assert_int_equal(report_row_count(r, TABLE_SLICE), 400 * 6001);
	report_close(r);
}

struct reader_job {
	const struct report *r;
	uint64_t sum;
};

static void *sum_columns(void *context)
{
	struct reader_job *job = context;
	int64_t *values = malloc(SET_MAX_ROWS * sizeof(*values));

	for (size_t g = 0; g < report_group_count(job->r, TABLE_SLICE); g++) {
		for (unsigned c = 0; c < 3; c++) {
			if (report_column(job->r, TABLE_SLICE, g, c, values, NULL) < 0)
				return NULL;
			for (uint32_t i = 0; i < report_group(job->r, TABLE_SLICE, g)->rows; i++)
				job->sum += (uint64_t)values[i] * (c + 1);
		}
	}
	free(values);
	return NULL;
}

static void columns_from_several_threads(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct reader_job jobs[4];
	pthread_t threads[4];
	struct report *r;

	for (uint32_t track = 1; track <= 300; track++)
		for (int64_t i = 0; i < (track % 10 ? 20 : 20000); i++)
			add_slice(w, track, i * 10, i * 10 + i % 7, (uint64_t)i % 100);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	for (int i = 0; i < 4; i++) {
		jobs[i] = (struct reader_job){ r, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, sum_columns, &jobs[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < 4; i++)
		assert_int_equal(jobs[i].sum, jobs[0].sum);
	assert_int_not_equal(jobs[0].sum, 0);
	report_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(private_files, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(overwrite_rules, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(appeared_meanwhile, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(left_over_is_kept, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(planted_links, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(no_such_folder, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(disk_nearly_full, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(write_fails, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(finish_fails, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(idle_tracks_give_back, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(columns_from_several_threads, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
