/* Finishing: the rest of the rows, the levels of detail, the directory, the footer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/write/internal.h"

static void fill_columns(const struct entry *e, int64_t *columns[DIRECTORY_COLUMNS], uint32_t row)
{
	const int64_t values[DIRECTORY_COLUMNS] = {
		[DIRECTORY_KIND] = e->kind,
		[DIRECTORY_ITS_TABLE] = e->table,
		[DIRECTORY_FLAGS] = e->flags,
		[DIRECTORY_SEGMENT] = e->segment,
		[DIRECTORY_OFFSET] = (int64_t)e->offset,
		[DIRECTORY_INSIDE] = e->inside,
		[DIRECTORY_BYTES] = e->bytes,
		[DIRECTORY_ITEMS] = e->items,
		[DIRECTORY_TRACK] = e->track,
		[DIRECTORY_FIRST] = (int64_t)e->first,
		[DIRECTORY_LAST] = (int64_t)e->last,
		[DIRECTORY_TIME_MIN] = e->time_min,
		[DIRECTORY_TIME_MAX] = e->time_max,
		[DIRECTORY_PRESENT] = e->present,
	};

	for (unsigned c = 0; c < DIRECTORY_COLUMNS; c++)
		columns[c][row] = values[c];
}

static int encode_entries(struct report_writer *w, size_t from, uint32_t count, int64_t *room)
{
	struct row_set rows = { .kind = TABLE_KIND_PLAIN };
	int64_t *columns[DIRECTORY_COLUMNS];

	rows.head.table = DIRECTORY_TABLE;
	rows.head.rows = count;
	rows.head.first = from;
	rows.head.present = (1u << DIRECTORY_COLUMNS) - 1;
	for (unsigned c = 0; c < DIRECTORY_COLUMNS; c++) {
		columns[c] = room + (size_t)c * SET_MAX_ROWS;
		rows.columns[c] = columns[c];
		rows.counts[c] = count;
	}
	for (uint32_t i = 0; i < count; i++)
		fill_columns(&w->entries[from + i], columns, i);
	return encode_set(&w->encoder, &rows, 1, &w->payload);
}

static int write_block(struct report_writer *w, struct block_header *h, const void *payload, size_t size)
{
	buf_clear(&w->block);
	TRY(block_append(&w->block, h, payload, size, NULL, w->seed));
	return output_append(w);
}

static int write_directory(struct report_writer *w)
{
	struct block_header h = { .kind = BLOCK_DIRECTORY, .flags = BLOCK_META };
	CLEANUP_FREE int64_t *room = malloc((size_t)DIRECTORY_COLUMNS * SET_MAX_ROWS * sizeof(*room));
	uint32_t count;

	if (!room)
		return -ENOMEM;
	buf_clear(&w->payload);
	for (size_t done = 0; done < w->entry_count; done += count) {
		count = w->entry_count - done < SET_MAX_ROWS ? (uint32_t)(w->entry_count - done) : SET_MAX_ROWS;
		TRY(encode_entries(w, done, count, room));
		h.items++;
	}
	h.first = w->entry_count;
	return write_block(w, &h, w->payload.data, w->payload.len);
}

static int write_footer(struct report_writer *w, uint64_t directory)
{
	struct block_header h = { .kind = BLOCK_FOOTER, .flags = BLOCK_META };
	struct footer footer = {
		.directory_offset = directory,
		.directory_size = w->size - directory,
		.file_size = w->size + FOOTER_BLOCK_SIZE,
		.rows = w->rows,
		.magic = FOOTER_MAGIC,
	};

	return write_block(w, &h, &footer, sizeof(footer));
}

static int write_end(struct report_writer *w)
{
	uint64_t directory;

	TRY(flush_all(w, 0));
	if (!w->extends)
		TRY(lod_write(w));
	directory = w->size;
	TRY(write_directory(w));
	return write_footer(w, directory);
}

int finish_file(struct report_writer *w, struct error *err)
{
	int r;

	w->stopped = 0; /* what was set aside is for this */
	r = write_end(w);
	if (r < 0)
		return error_set_errno(err, -r,
				       "cannot finish %s; 'sonde recover %s' can do it once "
				       "there is room",
				       w->part_path, w->part_path);
	return output_publish(w, err);
}

int report_writer_finish(struct report_writer *w, struct error *err)
{
	int r = finish_file(w, err);

	if (r == 0)
		output_unlink(w, w->journal_path);
	if (w->left_part && r < 0) {
		output_unlink(w, w->part_path);
		error_set_errno(err, -r, "cannot finish %s; 'sonde recover %s' can do it once there is room", w->path, w->left_part);
	} else if (w->left_part) {
		output_unlink(w, w->left_part);
	}
	writer_free(w);
	return r;
}
