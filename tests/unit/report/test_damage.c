/* Files cut short, flipped bits, foreign and future files: said, never believed. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/format/block.h"
#include "report/read/internal.h"
#include "report/format/rowset.h"
#include "report/write/internal.h"

#define ROWS 50000
#define TRACKS 3

/* Three tracks of ROWS rows, several groups each, strings and tiny tracks. */
static void fill(struct report_writer *w)
{
	uint64_t name = report_string(w, "name", 4), seed = 1;

	for (uint32_t track = 1; track <= TRACKS; track++)
		for (int64_t i = 0; i < ROWS; i++)
			add_slice(w, track, i * 1000, i * 1000 + (int64_t)(next_random(&seed) % 1000), name);
	for (uint32_t track = 100; track < 150; track++) {
		add_slice(w, track, 5, 6, name);
		report_track_close(report_track(w, TABLE_SLICE, track));
	}
	assert_int_not_equal(report_blob(w, "blob", 4), 0);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
}

/* Offsets of all blocks of a file, and its end; to be freed. */
static uint64_t *block_offsets(const uint8_t *data, size_t size, size_t *ret_count)
{
	uint64_t *offsets = malloc((size / 72 + 2) * sizeof(*offsets)), at = 64;
	struct block_header h;
	size_t count = 0;

	while (at < size) {
		assert_int_equal(block_peek(data + at, size - at, &h), 0);
		offsets[count++] = at;
		at += block_span(&h);
	}
	assert_int_equal(at, size);
	offsets[count] = size;
	*ret_count = count;
	return offsets;
}

/* Reads every column of every group; returns the rows that could be read. */
static uint64_t read_all(struct report *r)
{
	static int64_t values[SET_MAX_ROWS];
	static uint8_t nulls[SET_MAX_ROWS];
	uint64_t rows = 0;

	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++) {
		for (size_t g = 0; g < report_group_count(r, (enum table_id)table); g++) {
			int bad = 0;

			for (unsigned c = 0; c < table_schema(table)->column_count; c++) {
				int rc = report_column(r, (enum table_id)table, g, c, values, nulls);

				assert_true(rc == 0 || rc == -EBADMSG);
				bad |= rc;
			}
			if (!bad && table == TABLE_SLICE)
				rows += report_group(r, TABLE_SLICE, g)->rows;
		}
	}
	return rows;
}

static void cut_anywhere(void **state)
{
	struct report_writer *w = open_writer(*state);
	static const int around[] = { -9, -1, 0, 1, 8, 71, 72, 73 };
	uint64_t *offsets, last_rows;
	uint8_t *data;
	size_t size, count;

	fill(w);
	report_writer_abandon(w);
	unlink(beside(*state, ".journal"));
	data = read_bytes(beside(*state, ".part"), &size);
	offsets = block_offsets(data, size, &count);
	assert_true(count > 9);
	last_rows = 0;
	for (size_t i = 0; i <= count; i++) {
		for (size_t k = 0; k < sizeof(around) / sizeof(around[0]); k++) {
			uint64_t cut = offsets[i] + (uint64_t)around[k];
			struct report *r;
			int whole = 0;

			if (cut < 64 || cut > size)
				continue;
			for (size_t m = 0; m <= count; m++)
				whole |= offsets[m] == cut;
			write_bytes(beside(*state, ".part"), data, cut);
			r = open_report(beside(*state, ".part"));
			assert_true(report_is_partial(r));
			assert_int_equal(report_note_count(r), whole ? 0 : 1);
			if (around[k] == 0) {
				assert_true(report_row_count(r, TABLE_SLICE) >= last_rows);
				last_rows = report_row_count(r, TABLE_SLICE);
				assert_int_equal(read_all(r), last_rows);
			}
			report_close(r);
		}
	}
	free(offsets);
	free(data);
}

static void too_short(void **state)
{
	struct report *r;
	struct error err = { "" };

	assert_int_equal(report_open(&r, *state, &err), -ENOENT);
	assert_true(err.text[0]);
	write_bytes(*state, "", 0);
	assert_int_equal(report_open(&r, *state, &err), -EBADMSG);
	write_bytes(*state, "SQLite format 3", 15);
	assert_int_equal(report_open(&r, *state, &err), -EBADMSG);
	write_bytes(*state, FILE_MAGIC, 8);
	assert_int_equal(report_open(&r, *state, &err), -EBADMSG);
	*strrchr(*state, '/') = '\0';
	assert_int_equal(report_open(&r, *state, &err), -EBADMSG);
	((char *)*state)[strlen(*state)] = '/';
}

/* A finished file cut short is read like a .part. */
static void finished_then_cut(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct report *r;
	uint8_t *data;
	size_t size;

	fill(w);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	data = read_bytes(*state, &size);
	write_bytes(*state, data, size - 8);
	r = open_report(*state);
	assert_true(report_is_partial(r));
	assert_true(report_note_count(r) > 0);
	assert_int_equal(report_row_count(r, TABLE_SLICE), TRACKS * ROWS + 50);
	assert_int_equal(read_all(r), TRACKS * ROWS + 50);
	report_close(r);
	free(data);
}

/* One flipped bit per block: that block is refused, all others are read. */
static void flip_each_block(const char *path, int finished)
{
	uint64_t *offsets, all = TRACKS * ROWS + 50;
	uint8_t *data;
	size_t size, count;

	data = read_bytes(path, &size);
	offsets = block_offsets(data, size, &count);
	for (size_t i = 0; i < count; i++) {
		struct block_header h;
		struct report *r;
		uint64_t rows;

		memcpy(&h, data + offsets[i], sizeof(h));
		data[offsets[i] + sizeof(h) + h.size / 2] ^= 4;
		write_bytes(path, data, size);
		r = open_report(path);
		rows = read_all(r);
		for (uint64_t id = 0; id < 5; id++) {
			report_text(r, id, NULL);
			report_blob_data(r, id, NULL);
		}
		if (h.kind == BLOCK_GROUP && h.table != TABLE_LOD)
			assert_int_equal(rows, all - h.first);
		else
			assert_int_equal(rows, all);
		assert_true(report_note_count(r) > 0);
		assert_int_equal(report_is_partial(r), !finished || h.kind >= BLOCK_DIRECTORY);
		report_close(r);
		data[offsets[i] + sizeof(h) + h.size / 2] ^= 4;
	}
	free(offsets);
	free(data);
}

static void flips_in_finished(void **state)
{
	struct report_writer *w = open_writer(*state);

	fill(w);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	flip_each_block(*state, 1);
}

static void flips_in_part(void **state)
{
	struct report_writer *w = open_writer(*state);

	fill(w);
	w->stopped = 0;
	assert_int_equal(flush_all(w, 0), 0);
	report_writer_abandon(w);
	unlink(beside(*state, ".journal"));
	flip_each_block(beside(*state, ".part"), 0);
}

/* Flipped headers: whatever happens, nothing but errors and fewer rows. */
static void flips_in_headers(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t *offsets;
	uint8_t *data;
	size_t size, count;
	struct report *r;
	struct error err;

	fill(w);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	data = read_bytes(*state, &size);
	offsets = block_offsets(data, size, &count);
	for (size_t i = 0; i < count; i++) {
		for (size_t byte = 0; byte < 72; byte += 3) {
			data[offsets[i] + byte] ^= 1u << byte % 8;
			if (report_open_memory(&r, data, size, NULL, 0, &err) == 0) {
				assert_true(read_all(r) <= TRACKS * ROWS + 50);
				report_close(r);
			}
			data[offsets[i] + byte] ^= 1u << byte % 8;
		}
	}
	for (size_t byte = 0; byte < 64; byte++) {
		data[byte] ^= 0x10;
		assert_true(report_open_memory(&r, data, size, NULL, 0, &err) < 0);
		data[byte] ^= 0x10;
	}
	free(offsets);
	free(data);
}

static void from_the_future(void **state)
{
	struct file_header h;
	struct report *r;
	struct error err = { "" };
	uint8_t *data;
	size_t size;

	assert_int_equal(report_writer_finish(open_writer(*state), NULL), 0);
	data = read_bytes(*state, &size);
	memcpy(&h, data, sizeof(h));
	h.minor += 1;
	file_header_seal(&h);
	memcpy(data, &h, sizeof(h));
	write_bytes(*state, data, size);
	r = open_report(*state);
	report_close(r);
	h.major += 1;
	file_header_seal(&h);
	memcpy(data, &h, sizeof(h));
	write_bytes(*state, data, size);
	assert_int_equal(report_open(&r, *state, &err), -EPROTO);
	assert_non_null(strstr(err.text, "newer"));
	free(data);
}

/* A table and a kind of block that this version has not heard of. */
static void unknown_is_skipped(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct block_header group = { .kind = BLOCK_GROUP, .table = 200, .items = 1 };
	struct block_header strange = { .kind = 99 };
	int64_t values[] = { 1, 2, 3 };
	struct row_set rows = { .kind = TABLE_KIND_PLAIN };
	struct report *r;

	add_slice(w, 1, 1, 2, 0);
	assert_int_equal(flush_all(w, 0), 0);
	rows.head = (struct set_head){ .table = 200, .rows = 3, .present = 1 };
	rows.columns[0] = values;
	rows.counts[0] = 3;
	buf_clear(&w->block);
	buf_clear(&w->payload);
	assert_int_equal(encode_set(&w->encoder, &rows, 0, &w->payload), 0);
	assert_int_equal(block_append(&w->block, &group, w->payload.data, w->payload.len, NULL, w->seed), 0);
	assert_int_equal(block_append(&w->block, &strange, "?", 1, NULL, w->seed), 0);
	assert_int_equal(output_append(w), 0);
	add_slice(w, 1, 3, 4, 0);
	assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	report_writer_abandon(w);
	r = open_report(beside(*state, ".part"));
	assert_int_equal(report_row_count(r, TABLE_SLICE), 2);
	assert_int_equal(report_note_count(r), 1);
	assert_non_null(strstr(report_note(r, 0), "does not know"));
	report_close(r);
}

/* A segment taken out of the middle: the rows of all others are there, with their names. */
static void dropped_segment(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t *offsets, dropped = 0, kept = 0, size_kept = 64, seed = 5;
	struct block_header h;
	uint8_t *data, *copy;
	size_t size, count;
	struct report *r;

	w->segment_bytes = 200000;
	for (int64_t i = 0; i < 400000; i++) {
		uint64_t text = next_random(&seed) % 3000;

		add_slice(w, 1 + (uint32_t)(i % 3), i * 1000, i * 1000 + (int64_t)(next_random(&seed) % 1000),
			  report_string(w, (const char *)&text, sizeof(text)));
	}
	assert_int_equal(flush_all(w, 0), 0);
	report_writer_abandon(w);
	unlink(beside(*state, ".journal"));
	data = read_bytes(beside(*state, ".part"), &size);
	copy = malloc(size);
	memcpy(copy, data, 64);
	offsets = block_offsets(data, size, &count);
	for (size_t i = 0; i < count; i++) {
		memcpy(&h, data + offsets[i], sizeof(h));
		if (h.segment == 1 && !(h.flags & BLOCK_META)) {
			dropped += h.kind == BLOCK_GROUP && h.table != TABLE_LOD ? h.first : 0;
			continue;
		}
		kept += h.kind == BLOCK_GROUP && h.table != TABLE_LOD ? h.first : 0;
		memcpy(copy + size_kept, data + offsets[i], block_span(&h));
		size_kept += block_span(&h);
	}
	assert_true(h.segment >= 3);
	assert_int_equal(dropped + kept, 400000);
	assert_true(dropped > 10000);
	write_bytes(beside(*state, ".part"), copy, size_kept);
	r = open_report(beside(*state, ".part"));
	assert_int_equal(read_all(r), kept);
	for (uint64_t id = 1; id <= 3000; id++)
		assert_non_null(report_text(r, id, NULL));
	assert_int_equal(report_note_count(r), 0);
	report_close(r);
	free(offsets);
	free(data);
	free(copy);
}

/* Every entry of a kind, a second time behind the first. */
static void name_again(struct report_writer *w, unsigned kind, unsigned table)
{
	struct entry *entries = calloc(2 * w->entry_count, sizeof(*entries));
	size_t count = 0;

	assert_non_null(entries);
	for (size_t i = 0; i < w->entry_count; i++) {
		const struct entry *e = &w->entries[i];

		entries[count++] = *e;
		if (e->kind == kind && e->table == table)
			entries[count++] = *e;
	}
	assert_true(count > w->entry_count);
	free(w->entries);
	w->entries = entries;
	w->entry_capacity = 2 * w->entry_count;
	w->entry_count = count;
}

/* A directory that names the same bytes again and again would make much of a small file. */
static void named_twice(void **state)
{
	static const struct {
		unsigned kind, table;
	} again[] = { { BLOCK_GROUP, TABLE_SLICE }, { BLOCK_STRINGS, 0 }, { BLOCK_BLOBS, 0 } };

	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
		struct report_writer *w = open_writer(*state);
		struct report *r;
		struct error err;

		fill(w);
		assert_int_equal(flush_all(w, 0), 0);
		name_again(w, again[i].kind, again[i].table);
		assert_int_equal(report_writer_finish(w, &err), 0);
		r = open_report(*state);
		assert_string_equal(report_note(r, 0), "the directory is damaged; the file was searched instead");
		assert_int_equal(report_row_count(r, TABLE_SLICE), TRACKS * ROWS + 50);
		assert_string_equal(report_text(r, 1, NULL), "name");
		report_close(r);
		unlink(*state);
	}
}

/* What is unpacked stays in memory, up to a limit. */
static void too_much_to_unpack(void **state)
{
	struct report_writer *w = open_writer(*state);
	struct error err;
	struct report *r;
	char text[64];

	for (int i = 0; i < 1000; i++)
		assert_int_not_equal(report_string(w, text, (size_t)snprintf(text, sizeof(text), "a name of some length, number %d", i)),
				     0);
	assert_int_equal(report_writer_finish(w, &err), 0);
	r = open_report(*state);
	atomic_store(&r->unpacked, 1ull << 40);
	assert_null(report_text(r, 1, NULL));
	assert_true(report_is_damaged(r));
	assert_int_equal(atomic_load(&r->unpacked), 1ull << 40);
	report_close(r);
	r = open_report(*state);
	assert_non_null(report_text(r, 1, NULL));
	assert_false(report_is_damaged(r));
	assert_true(atomic_load(&r->unpacked) > 30000);
	report_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cut_anywhere, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(too_short, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(finished_then_cut, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(flips_in_finished, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(flips_in_part, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(flips_in_headers, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(from_the_future, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(unknown_is_skipped, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(dropped_segment, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(named_twice, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(too_much_to_unpack, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
