/* The last part of a recording: what is young enough is in a report, in a .part and after a recovery, whole and once;
 * what is older is given back. Checked against a model that keeps everything. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/read/internal.h"
#include "report/write/internal.h"

#define TRACKS 6u
#define SECOND 1000000000ll

/* Every row has its number in the column of payloads; the model knows when each ended. */
struct model {
	struct report_writer *w;
	int64_t *ends[TRACKS];
	int64_t count[TRACKS];
	int64_t now;
	uint64_t names[3];
	uint64_t facts;
	uint64_t random;
};

static unsigned chance(struct model *m, unsigned of)
{
	return (unsigned)(next_random(&m->random) % of);
}

static void add_fact(struct model *m)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "fact %d", (int)m->facts++);
	v[COLUMN_META_KEY] = (int64_t)report_string(m->w, text, strlen(text));
	assert_int_equal(report_append(report_track(m->w, TABLE_META, 0), v, 1u << COLUMN_META_KEY), 0);
}

static void begin(struct model *m, const char *path, int64_t keep_ns, uint64_t keep_bytes, uint64_t seed)
{
	static const char *const texts[] = { "step", "load", "wait" };

	*m = (struct model){ .w = open_writer(path), .random = seed };
	for (int i = 0; i < 3; i++)
		m->names[i] = report_string(m->w, texts[i], 4);
	for (unsigned i = 0; i < TRACKS; i++)
		m->ends[i] = malloc(sizeof(int64_t) << 22);
	report_writer_set_disk_floor(m->w, 0);
	add_fact(m);
	assert_int_equal(report_writer_keep_last(m->w, keep_ns, keep_bytes), 0);
}

static void end(struct model *m)
{
	report_writer_abandon(m->w);
	for (unsigned i = 0; i < TRACKS; i++)
		free(m->ends[i]);
}

/* Track 0 is of instants, the others are of slices; track 5 is slow. */
static void add_row(struct model *m, unsigned track)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 }, last = m->count[track] ? m->ends[track][m->count[track] - 1] : 0;
	uint32_t bits;

	v[0] = last > m->now - 1000 ? last : m->now - 1000;
	v[1] = m->now;
	v[COLUMN_SLICE_NAME] = (int64_t)m->names[chance(m, 3)];
	v[COLUMN_SLICE_PAYLOAD] = m->count[track];
	v[COLUMN_SLICE_CATEGORY] = (int64_t)next_random(&m->random) >> 24;
	bits = 1u << COLUMN_SLICE_START | 1u << COLUMN_SLICE_END | 1u << COLUMN_SLICE_PAYLOAD | 1u << COLUMN_SLICE_CATEGORY;
	if (chance(m, 4))
		bits |= 1u << COLUMN_SLICE_NAME;
	if (track == 0) {
		v[COLUMN_INSTANT_TIME] = m->now;
		v[COLUMN_INSTANT_PAYLOAD] = m->count[track];
		bits = 1u << COLUMN_INSTANT_TIME | 1u << COLUMN_INSTANT_PAYLOAD;
	}
	assert_int_equal(report_append(report_track(m->w, track ? TABLE_SLICE : TABLE_INSTANT, track + 1), v, bits), 0);
	m->ends[track][m->count[track]++] = m->now;
	assert_true(m->count[track] < 1 << 22);
}

/* Some rows, then a tick, as the recorder does; each turn is a tenth of a second. */
static void turn(struct model *m, unsigned rows)
{
	struct error err = { "" };

	for (unsigned i = 0; i < rows; i++) {
		m->now += SECOND / 10 / (int64_t)rows;
		add_row(m, chance(m, TRACKS - 1));
	}
	if (chance(m, 30) == 0)
		add_row(m, 5);
	if (chance(m, 50) == 0)
		add_fact(m);
	if (report_writer_tick(m->w, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(report_writer_trim(m->w, m->now, 1), 0);
}

/* The rows of a track from the first one on that did not end before `from`. */
struct found {
	int64_t first;
	int64_t rows;
};

static void read_track(const struct report *r, enum table_id table, uint32_t track, struct found *f)
{
	unsigned column = table == TABLE_SLICE ? COLUMN_SLICE_PAYLOAD : COLUMN_INSTANT_PAYLOAD;
	int64_t *values = malloc(SET_MAX_ROWS * sizeof(*values));

	*f = (struct found){ -1, 0 };
	for (size_t i = 0; i < report_group_count(r, table); i++) {
		const struct report_group *g = report_group(r, table, i);

		if (g->track != track)
			continue;
		assert_int_equal(report_column(r, table, i, column, values, NULL), 0);
		for (uint32_t k = 0; k < g->rows; k++) {
			f->first = f->first < 0 ? values[k] : f->first;
			assert_int_equal(values[k], f->first + f->rows);
			f->rows++;
		}
	}
	free(values);
}

static int64_t first_not_before(const struct model *m, unsigned track, int64_t from)
{
	int64_t i = m->count[track];

	while (i > 0 && m->ends[track][i - 1] >= from)
		i--;
	return i;
}

/* `exact`: nothing older is in it either. */
static void check_rows(const struct model *m, struct report *r, int64_t from, int exact)
{
	struct found f;

	assert_int_equal(report_note_count(r), 0);
	assert_false(report_is_damaged(r));
	assert_int_equal(report_row_count(r, TABLE_META), m->facts);
	assert_string_equal(report_text(r, m->names[0], NULL), "step");
	for (unsigned i = 0; i < TRACKS; i++) {
		int64_t first = first_not_before(m, i, from), due = m->count[i] - first;

		read_track(r, i ? TABLE_SLICE : TABLE_INSTANT, i + 1, &f);
		if (exact)
			assert_int_equal(f.rows, due);
		else
			assert_true(f.rows >= due);
		if (due)
			assert_int_equal(f.first + f.rows, m->count[i]);
	}
}

/* Whether the row of that index in its track starts then. */
static int starts_at(struct report *r, const int64_t *starts, uint32_t track, int64_t index, int64_t time)
{
	for (size_t g = 0; g < report_group_count(r, TABLE_SLICE); g++) {
		const struct report_group *group = report_group(r, TABLE_SLICE, g);

		if (group->track != track)
			continue;
		if (index < group->rows)
			return starts[group->first_row + (uint64_t)index] == time;
		index -= group->rows;
	}
	return 0;
}

/* Level 0 of the levels of detail covers all rows of large groups; level 1 covers every row of a track, from its first on. */
static void check_levels(struct report *r)
{
	int64_t *table = whole_column(r, TABLE_LOD, COLUMN_LOD_TABLE, NULL);
	int64_t *track = whole_column(r, TABLE_LOD, COLUMN_LOD_TRACK, NULL);
	int64_t *level = whole_column(r, TABLE_LOD, COLUMN_LOD_LEVEL, NULL);
	int64_t *first = whole_column(r, TABLE_LOD, COLUMN_LOD_FIRST, NULL);
	int64_t *rows = whole_column(r, TABLE_LOD, COLUMN_LOD_ROWS, NULL);
	int64_t *row = whole_column(r, TABLE_LOD, COLUMN_LOD_ROW, NULL), *at = whole_column(r, TABLE_LOD, COLUMN_LOD_AT, NULL);
	int64_t *starts = whole_column(r, TABLE_SLICE, COLUMN_SLICE_START, NULL);
	uint64_t slices = 0, detailed = 0, large = 0;
	int64_t next[TRACKS + 2] = { 0 };

	for (size_t g = 0; g < report_group_count(r, TABLE_SLICE); g++)
		large += report_group(r, TABLE_SLICE, g)->rows >= 1024 ? report_group(r, TABLE_SLICE, g)->rows : 0;
	for (uint64_t i = 0; i < report_row_count(r, TABLE_LOD); i++) {
		if (level[i] == 0 && table[i] == TABLE_SLICE) {
			detailed += (uint64_t)rows[i];
			/* Numbers are those of this report. */
			if (at[i])
				assert_true(starts_at(r, starts, (uint32_t)track[i], row[i], at[i]));
		}
		if (level[i] != 1)
			continue;
		assert_int_equal(first[i], next[track[i]]);
		next[track[i]] += rows[i];
		slices += table[i] == TABLE_SLICE ? (uint64_t)rows[i] : 0;
	}
	assert_int_equal(slices, report_row_count(r, TABLE_SLICE));
	assert_int_equal(detailed, large);
	free(row);
	free(at);
	free(starts);
	free(table);
	free(track);
	free(level);
	free(first);
	free(rows);
}

/* As a trigger does: a copy of the process writes a report while the original goes on. */
static int64_t write_report(struct model *m, const char *path, int64_t from)
{
	struct error err = { "" };
	int64_t begins = 0;
	int status, pipes[2];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(report_writer_flush(m->w), 0);
	pid = fork();
	if (pid == 0) {
		if (report_writer_cut(m->w, path, 0, from, &begins, &err) < 0 ||
		    write(pipes[1], &begins, sizeof(begins)) != sizeof(begins) || report_writer_finish(m->w, &err) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(pipes[0], &begins, sizeof(begins)), sizeof(begins));
	close(pipes[0]);
	close(pipes[1]);
	return begins;
}

static void check_report(struct model *m, const char *path, int64_t from, int64_t *ret_begins)
{
	struct report *r;

	*ret_begins = write_report(m, path, from);
	r = open_report(path);
	assert_false(report_is_partial(r));
	check_rows(m, r, *ret_begins, 1);
	check_levels(r);
	report_close(r);
}

static void copy_file(const char *from, const char *to)
{
	size_t size;
	void *data = read_bytes(from, &size);

	write_bytes(to, data, size);
	free(data);
}

/* What a killed recorder would leave at this moment, read as it is and recovered. */
static void check_recovery(struct model *m, const char *path, int64_t from)
{
	char part[4096], result[4096];
	struct error err = { "" };
	struct report *r;

	r = open_report(beside(path, ".part"));
	assert_true(report_is_partial(r));
	check_rows(m, r, from, 0);
	report_close(r);
	snprintf(part, sizeof(part), "%s.copy.part", path);
	copy_file(beside(path, ".part"), part);
	copy_file(beside(path, ".journal"), beside(path, ".copy.journal"));
	if (report_recover(part, 0, result, sizeof(result), &err) < 0)
		fail_msg("%s", err.text);
	r = open_report(result);
	assert_false(report_is_partial(r));
	check_rows(m, r, from, 0);
	check_levels(r);
	report_close(r);
	assert_int_equal(unlink(result), 0);
}

static uint64_t disk_bytes(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void random_run(const char *path, uint64_t seed, int punch)
{
	int64_t begins, keep = 2 * SECOND;
	char name[8300];
	struct model m;

	begin(&m, path, keep, 0, seed);
	m.w->ring.cannot_punch = !punch;
	for (int i = 0; i < 300; i++) {
		turn(&m, 1 + chance(&m, chance(&m, 10) ? 200 : 8000));
		if (chance(&m, 40) == 0) {
			snprintf(name, sizeof(name), "%s.%d.sonde", path, i);
			check_report(&m, name, m.now - keep, &begins);
			assert_int_equal(begins, m.now - keep);
		}
		if (chance(&m, 40) == 0)
			check_recovery(&m, path, m.now - keep);
	}
	assert_true(m.w->ring.skipped > 0);
	end(&m);
}

static void test_random_by_time(void **state)
{
	char path[4096];

	for (uint64_t seed = 1; seed <= 4; seed++) {
		snprintf(path, sizeof(path), "%s.%d", (const char *)*state, (int)seed);
		random_run(path, seed, seed != 4);
	}
}

/* Bytes that are kept do not fit: the file is rewritten now and then. */
static void test_disk_that_keeps(void **state)
{
	const char *path = *state;
	int64_t begins, keep = 2 * SECOND;
	uint64_t largest = 0;
	struct model m;

	begin(&m, path, keep, 0, 9);
	m.w->ring.cannot_punch = 1;
	for (int i = 0; i < 120; i++) {
		turn(&m, 20000);
		largest = m.w->size > largest ? m.w->size : largest;
	}
	assert_true(m.w->size < largest);
	assert_true(report_writer_cannot_trim(m.w));
	check_recovery(&m, path, m.now - keep);
	check_report(&m, beside(path, ".1.sonde"), m.now - keep, &begins);
	end(&m);
}

static void test_size_is_kept(void **state)
{
	const char *path = *state;
	uint64_t limit = 4u << 20, most = 0, bytes;
	int64_t begins, covered;
	struct model m;

	begin(&m, path, 0, limit, 5);
	for (int i = 0; i < 150; i++) {
		turn(&m, 20000);
		bytes = disk_bytes(beside(path, ".part")) + disk_bytes(beside(path, ".journal"));
		most = bytes > most ? bytes : most;
		assert_true(bytes <= limit);
	}
	assert_true(most > limit / 2);
	assert_true(m.w->size > 2 * limit);
	check_recovery(&m, path, m.w->ring.dropped_until + 1);
	check_report(&m, beside(path, ".1.sonde"), INT64_MIN, &begins);
	covered = m.now - begins;
	assert_true(covered > SECOND / 10 && covered < m.now / 2);
	end(&m);
}

/* Losses, clock readings and the like do not pile up; what was there at the beginning stays. */
static void test_plain_rows_pass(void **state)
{
	const char *path = *state;
	int64_t v[TABLE_MAX_COLUMNS] = { 0 }, begins, *counts;
	struct report *r;
	struct model m;

	begin(&m, path, 2 * SECOND, 0, 6);
	for (int i = 0; i < 400; i++) {
		v[COLUMN_LOSS_COUNT] = i;
		assert_int_equal(report_append(report_track(m.w, TABLE_LOSS, 0), v, 1u << COLUMN_LOSS_COUNT), 0);
		turn(&m, 3);
	}
	assert_true(m.w->entry_count < 200);
	check_report(&m, beside(path, ".1.sonde"), m.now - 2 * SECOND, &begins);
	r = open_report(beside(path, ".1.sonde"));
	counts = whole_column(r, TABLE_LOSS, COLUMN_LOSS_COUNT, NULL);
	assert_in_range(report_row_count(r, TABLE_LOSS), 20, 60);
	assert_int_equal(counts[report_row_count(r, TABLE_LOSS) - 1], 399);
	free(counts);
	report_close(r);
	end(&m);
}

/* Threads come and go: builders of those that are gone and forgotten take no memory. */
static void test_tracks_pass(void **state)
{
	const char *path = *state;
	int64_t begins, last = 0;
	struct report *r;
	struct model m;

	begin(&m, path, 2 * SECOND, 0, 11);
	for (uint32_t i = 0; i < 20000; i++) {
		struct report_track *t = report_track(m.w, TABLE_SLICE, 1000 + i);
		int64_t v[] = { m.now, m.now + 1, (int64_t)m.names[0] };

		assert_int_equal(report_append(t, v, 7), 0);
		report_track_close(t);
		last = m.now + 1;
		if (i % 20 == 19)
			turn(&m, 3);
	}
	assert_in_range(m.w->track_count, 400, 4000);
	write_report(&m, beside(path, ".1.sonde"), m.now - 2 * SECOND);
	begins = m.now - 2 * SECOND;
	r = open_report(beside(path, ".1.sonde"));
	assert_int_equal(report_note_count(r), 0);
	for (uint32_t i = 1000; i < 21000; i++) {
		int64_t end = (int64_t)((i - 1000) / 20) * (SECOND / 10 / 3 * 3) + 1;
		struct found f = { 0 };

		if (i % 500 && i != 20999)
			continue;
		for (size_t k = 0; k < report_group_count(r, TABLE_SLICE); k++)
			f.rows += report_group(r, TABLE_SLICE, k)->track == i;
		assert_int_equal(f.rows, end >= begins);
	}
	assert_true(last > begins);
	report_close(r);
	end(&m);
}

/* Every row has a name of its own, which tells its number. */
static void add_named(struct model *m, int64_t number)
{
	char text[40];
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	snprintf(text, sizeof(text), "a name that never comes again %lld", (long long)number);
	v[COLUMN_SLICE_START] = v[COLUMN_SLICE_END] = m->now;
	v[COLUMN_SLICE_NAME] = (int64_t)report_string_passing(m->w, text, strlen(text));
	v[COLUMN_SLICE_PAYLOAD] = number;
	assert_int_equal(
		report_append(report_track(m->w, TABLE_SLICE, 99), v,
			      1u << COLUMN_SLICE_START | 1u << COLUMN_SLICE_END | 1u << COLUMN_SLICE_NAME | 1u << COLUMN_SLICE_PAYLOAD),
		0);
}

static void check_named(const char *path, int64_t last, int64_t least)
{
	struct report *r = open_report(path);
	int64_t *numbers = malloc(SET_MAX_ROWS * sizeof(int64_t)), *names = malloc(SET_MAX_ROWS * sizeof(int64_t)), rows = 0;
	char text[40];

	assert_int_equal(report_note_count(r), 0);
	for (size_t i = 0; i < report_group_count(r, TABLE_SLICE); i++) {
		const struct report_group *g = report_group(r, TABLE_SLICE, i);

		if (g->track != 99)
			continue;
		assert_int_equal(report_column(r, TABLE_SLICE, i, COLUMN_SLICE_PAYLOAD, numbers, NULL), 0);
		assert_int_equal(report_column(r, TABLE_SLICE, i, COLUMN_SLICE_NAME, names, NULL), 0);
		for (uint32_t k = 0; k < g->rows; k++, rows++) {
			snprintf(text, sizeof(text), "a name that never comes again %lld", (long long)numbers[k]);
			if (!report_text(r, (uint64_t)names[k], NULL))
				fail_msg("row %lld of %lld has no name", (long long)numbers[k], (long long)last);
			assert_string_equal(report_text(r, (uint64_t)names[k], NULL), text);
		}
	}
	assert_int_equal(numbers[0] >= 0, 1);
	assert_true(rows >= least);
	free(numbers);
	free(names);
	report_close(r);
}

static void named_run(const char *path, int64_t keep_ns, uint64_t keep_bytes)
{
	uint64_t held, most = 0;
	char part[4096], result[4096];
	struct error err = { "" };
	int64_t number = 0;
	struct model m;

	begin(&m, path, keep_ns, keep_bytes, 12);
	m.w->string_limit = m.w->interned.used;
	held = report_string_passing(m.w, "held open", 9);
	assert_true(report_string_passes(m.w, held));
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 300; k++)
			add_named(&m, number++);
		turn(&m, 3);
		if (i % 15 == 14)
			held = report_string_again(m.w, held);
		most = m.w->passing.run.end > most ? m.w->passing.run.end : most;
	}
	/* Ids are given again: far fewer than names. */
	assert_in_range(most - PASSING_FIRST, 1000, 116000);
	assert_int_equal(report_string_passing(m.w, "step", 4), m.names[0]);
	write_report(&m, beside(path, ".1.sonde"), keep_ns ? m.now - keep_ns : 0);
	check_named(beside(path, ".1.sonde"), number, 3000);
	turn(&m, 3);
	snprintf(part, sizeof(part), "%s.copy.part", path);
	copy_file(beside(path, ".part"), part);
	copy_file(beside(path, ".journal"), beside(path, ".copy.journal"));
	if (report_recover(part, 0, result, sizeof(result), &err) < 0)
		fail_msg("%s", err.text);
	check_named(result, number, 3000);
	write_report(&m, beside(path, ".2.sonde"), 0);
	struct report *r = open_report(beside(path, ".2.sonde"));
	assert_string_equal(report_text(r, held, NULL), "held open");
	report_close(r);
	end(&m);
}

static void test_names_pass_by_time(void **state)
{
	named_run(*state, 2 * SECOND, 0);
}

static void test_names_pass_by_size(void **state)
{
	named_run(*state, 0, 1u << 18);
}

/* Runs of ids, given back in any order, become one again. */
static void test_ids_are_given_back(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t random = 3, at = PASSING_FIRST;
	struct id_run runs[200];
	int left = 200;

	assert_int_equal(report_writer_keep_last(w, SECOND, 0), 0);
	for (int i = 0; i < 200; i++) {
		runs[i] = (struct id_run){ (uint32_t)at, (uint32_t)(at + 1 + next_random(&random) % 50) };
		at = runs[i].end;
	}
	w->passing.free[0].first = (uint32_t)at;
	while (left) {
		unsigned i = (unsigned)(next_random(&random) % (unsigned)left);

		assert_int_equal(passing_return(w, runs[i].first, runs[i].end - 1), 0);
		runs[i] = runs[--left];
		for (size_t k = 1; k < w->passing.free_count; k++)
			assert_true(w->passing.free[k - 1].end < w->passing.free[k].first);
	}
	assert_int_equal(w->passing.free_count, 1);
	assert_int_equal(w->passing.free[0].first, PASSING_FIRST);
	assert_int_equal(w->passing.free[0].end, PASSING_END);
	report_writer_abandon(w);
}

/* Ids of blobs go on for ever; those that are left are far from 1. */
static void test_blobs_pass(void **state)
{
	const char *path = *state;
	int64_t begins;
	uint64_t last = 0;
	char text[32];
	struct report *r;
	struct model m;
	size_t size;

	begin(&m, path, 2 * SECOND, 0, 7);
	m.w->next_blob = 3000000000u;
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 3000; k++) {
			snprintf(text, sizeof(text), "blob %d", i * 3000 + k);
			last = report_blob(m.w, text, strlen(text));
		}
		turn(&m, 10);
	}
	check_report(&m, beside(path, ".1.sonde"), m.now - 2 * SECOND, &begins);
	check_recovery(&m, path, m.now - 2 * SECOND);
	r = open_report(beside(path, ".1.sonde"));
	assert_memory_equal(report_blob_data(r, last, &size), "blob 299999", 11);
	assert_memory_equal(report_blob_data(r, last - 50000, &size), "blob 249999", 11);
	assert_null(report_blob_data(r, 3000000000u, &size));
	report_close(r);
	end(&m);
}

/* Under its own name, in the same process: what was there before goes when the report is complete. */
static void test_end_under_own_name(void **state)
{
	const char *path = *state;
	struct error err = { "" };
	int64_t begins, keep = 2 * SECOND;
	struct report *r;
	struct model m;

	begin(&m, path, keep, 0, 8);
	for (int i = 0; i < 100; i++)
		turn(&m, 500);
	assert_int_equal(report_writer_flush(m.w), 0);
	assert_int_equal(report_writer_cut(m.w, NULL, 0, m.now - keep, &begins, &err), 0);
	assert_true(exists(beside(path, ".part")));
	add_row(&m, 1);
	assert_int_equal(report_writer_finish(m.w, &err), 0);
	assert_false(exists(beside(path, ".part")));
	assert_false(exists(beside(path, ".journal")));
	r = open_report(path);
	check_rows(&m, r, begins, 1);
	check_levels(r);
	report_close(r);
	for (unsigned i = 0; i < TRACKS; i++)
		free(m.ends[i]);
}

/* Stretches that say they are longer than the file, or of no length, are damage and nothing worse. */
static void test_hostile_skip(void **state)
{
	const char *path = *state;
	const uint64_t spans[] = { 72, 80, UINT64_MAX - 7, UINT64_MAX / 2, 1ull << 40 };
	struct block_header h;
	struct error err;
	struct report *r;
	struct model m;
	uint8_t *data;
	size_t size;

	begin(&m, path, 2 * SECOND, 0, 10);
	for (int i = 0; i < 60; i++)
		turn(&m, 3000);
	data = read_bytes(beside(path, ".part"), &size);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		for (size_t at = 64; at + sizeof(h) < size; at += 8) {
			memcpy(&h, data + at, sizeof(h));
			if (h.magic != BLOCK_MAGIC || h.kind != BLOCK_SKIP)
				continue;
			block_skip(&h, spans[i], m.w->seed);
			memcpy(data + at, &h, sizeof(h));
		}
		assert_int_equal(report_open_memory(&r, data, size, NULL, 0, &err), 0);
		assert_true(report_note_count(r) > 0);
		report_close(r);
	}
	free(data);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random_by_time, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_disk_that_keeps, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_size_is_kept, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_plain_rows_pass, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_tracks_pass, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_names_pass_by_time, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_names_pass_by_size, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_ids_are_given_back, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_blobs_pass, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_end_under_own_name, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_hostile_skip, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
