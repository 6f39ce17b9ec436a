/* What is alive of a recording goes to a file of its own: a report of its last part, or the same file without what was given
 * up. Blocks are copied as they lie; of those that lie across the beginning the rows that ended before it are left out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/write/detail.h"
#include "report/write/internal.h"

struct cut {
	struct report_writer *w;
	int from_fd;
	int64_t from;
	int number; /* rows of a track are numbered anew */
	struct entry *old;
	size_t old_count;
	struct buf raw;
	struct scratch scratch;
	int64_t *values; /* columns of one set */
	uint8_t *nulls;
};

static int is_event(const struct entry *e)
{
	const struct table_schema *schema = e->kind == BLOCK_GROUP ? table_schema(e->table) : NULL;

	return schema && schema->kind != TABLE_KIND_PLAIN;
}

static int is_too_old(const struct cut *c, const struct entry *e)
{
	/* Level 0 of the levels of detail names rows by their old numbers; it is made anew. */
	if (e->kind == BLOCK_SKIP || (c->number && e->kind == BLOCK_GROUP && e->table == TABLE_LOD))
		return 1;
	if (e->flags & BLOCK_META)
		return 0;
	return needed_until(e) < c->from;
}

static int read_block(struct cut *c, uint64_t offset, struct block_header *h)
{
	uint64_t span;

	TRY(output_read(c->from_fd, h, sizeof(*h), offset));
	span = block_span(h);
	buf_clear(&c->raw);
	TRY(buf_reserve(&c->raw, span));
	TRY(output_read(c->from_fd, c->raw.data, span, offset));
	c->raw.len = span;
	return block_peek((const uint8_t *)c->raw.data, span, h) == 0 && block_sound((const uint8_t *)c->raw.data, h, c->w->seed) ? 0 :
																    -EIO;
}

/* The number that the next row of its track gets. */
static int take_row_number(struct cut *c, struct entry *e)
{
	struct report_track *t;

	if (!c->number || e->kind != BLOCK_GROUP)
		return 0;
	t = report_track(c->w, e->table, e->track);
	if (!t)
		return -ENOMEM;
	e->first = t->flushed;
	t->flushed += e->items;
	return 0;
}

static int decode_columns(struct cut *c, const struct set_view *set, uint32_t columns)
{
	int r = 0;

	if (set->head.rows > SET_MAX_ROWS)
		return -EIO;
	for (uint32_t left = set->head.present & columns; left && r == 0; left &= left - 1) {
		size_t at = (size_t)__builtin_ctz(left) * SET_MAX_ROWS;

		r = decode_column(&c->scratch, set, (unsigned)__builtin_ctz(left), c->values + at, c->nulls + at);
	}
	return r;
}

/* Decoded columns as an encoder has them: nulls take no place. */
static void make_dense(struct cut *c, struct row_set *rows, uint32_t *masks)
{
	memset(masks, 0, rows->head.rows * sizeof(*masks));
	for (uint32_t left = rows->head.present; left; left &= left - 1) {
		unsigned column = (unsigned)__builtin_ctz(left);
		int64_t *values = c->values + column * (size_t)SET_MAX_ROWS;
		const uint8_t *nulls = c->nulls + column * (size_t)SET_MAX_ROWS;
		uint32_t count = 0;

		for (uint32_t i = 0; i < rows->head.rows; i++) {
			if (nulls[i])
				continue;
			values[count++] = values[i];
			masks[i] |= 1u << column;
		}
		rows->columns[column] = values;
		rows->counts[column] = count;
	}
	rows->masks = masks;
}

/* Level 0 of a set that was copied as it lies: in the file that keeps the last part there is none. */
static int add_detail(struct cut *c, const struct entry *e, const uint8_t *payload, uint64_t size)
{
	struct cursor at = { payload + e->inside, payload + size, 0 };
	struct row_set rows = { 0 };
	struct set_view set;
	uint32_t *masks;
	int r;

	if (e->inside > size || set_parse(&at, &set) < 0)
		return -EIO;
	rows.head = set.head;
	rows.head.first = e->first;
	rows.head.present &= detail_columns(e->table);
	rows.kind = table_schema(e->table)->kind;
	masks = malloc((size_t)set.head.rows * sizeof(*masks) + 1);
	r = masks ? decode_columns(c, &set, rows.head.present) : -ENOMEM;
	if (r == 0) {
		make_dense(c, &rows, masks);
		detail_add(c->w, &rows);
	}
	free(masks);
	return r;
}

static int add_details(struct cut *c, const struct block_header *h, const struct entry *entries, size_t count)
{
	const uint8_t *payload;
	uint8_t *owned = NULL;
	size_t large = 0;
	int r;

	for (size_t i = 0; i < count; i++)
		large += is_event(&entries[i]) && entries[i].items >= DETAIL_MIN_ROWS;
	if (!c->number || !large)
		return 0;
	r = block_payload((const uint8_t *)c->raw.data, h, &payload, &owned);
	for (size_t i = 0; i < count && r == 0; i++)
		if (is_event(&entries[i]) && entries[i].items >= DETAIL_MIN_ROWS)
			r = add_detail(c, &entries[i], payload, h->raw_size);
	free(owned);
	return r;
}

static int copy_whole(struct cut *c, const struct entry *entries, size_t count)
{
	struct report_writer *w = c->w;
	struct block_header h;
	uint64_t offset = w->size;
	CLEANUP_FREE struct entry *copies = malloc(count * sizeof(*copies));

	TRY(copies ? read_block(c, entries[0].offset, &h) : -ENOMEM);
	buf_clear(&w->block);
	TRY(buf_append(&w->block, c->raw.data, c->raw.len));
	TRY(output_append(w));
	for (size_t i = 0; i < count; i++) {
		copies[i] = entries[i];
		copies[i].offset = offset;
		TRY(take_row_number(c, &copies[i]));
		TRY(entry_add(w, &copies[i]));
	}
	return add_details(c, &h, copies, count);
}

/* Rows are sorted by their ends, too. */
static int take_rows(struct cut *c, const struct set_view *set, struct report_track *t)
{
	const int64_t *ends = c->values + (t->kind == TABLE_KIND_SPAN ? SET_MAX_ROWS : 0);
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present, columns = set->head.present & (uint32_t)((1ull << t->column_count) - 1);
	int r = 0;

	for (uint32_t i = 0; i < set->head.rows && r == 0; i++) {
		if (t->kind != TABLE_KIND_PLAIN && ends[i] < c->from)
			continue;
		present = 0;
		for (uint32_t left = columns; left; left &= left - 1) {
			unsigned column = (unsigned)__builtin_ctz(left);

			values[column] = c->values[column * (size_t)SET_MAX_ROWS + i];
			present |= (uint32_t)!c->nulls[column * (size_t)SET_MAX_ROWS + i] << column;
		}
		r = present ? track_put(t, values, present) : 0;
	}
	return r;
}

/* A builder with the rows of a set that are young enough. */
static int cut_set(struct cut *c, const struct entry *e, const uint8_t *payload, uint64_t size, struct report_track **ret)
{
	struct cursor at = { payload + e->inside, payload + size, 0 };
	struct report_track *t, *numbered;
	struct set_view set;
	int r;

	if (e->inside > size || set_parse(&at, &set) < 0)
		return -EIO;
	t = track_create(c->w, (enum table_id)e->table, e->track);
	numbered = report_track(c->w, (enum table_id)e->table, e->track);
	r = t && numbered ? decode_columns(c, &set, UINT32_MAX) : -ENOMEM;
	if (r == 0)
		r = take_rows(c, &set, t);
	if (r < 0) {
		track_destroy(t);
		return r;
	}
	t->flushed = numbered->flushed;
	numbered->flushed += t->rows;
	*ret = t;
	return 0;
}

static int cut_block(struct cut *c, const struct entry *entries, size_t count)
{
	struct report_track **tracks = calloc(count, sizeof(*tracks));
	const uint8_t *payload;
	struct block_header h;
	uint8_t *owned = NULL;
	size_t kept = 0;
	int r = tracks ? read_block(c, entries[0].offset, &h) : -ENOMEM;

	if (r == 0)
		r = block_payload((const uint8_t *)c->raw.data, &h, &payload, &owned);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (is_too_old(c, &entries[i]))
			continue;
		r = cut_set(c, &entries[i], payload, h.raw_size, &tracks[kept]);
		kept += r == 0;
	}
	if (r == 0)
		r = flush_tracks(c->w, tracks, kept);
	for (size_t i = 0; i < kept; i++)
		track_destroy(tracks[i]);
	free(tracks);
	free(owned);
	return r;
}

/* 0: nothing of it; 1: all of it; 2: a part */
static int how_much(const struct cut *c, const struct entry *entries, size_t count)
{
	size_t old = 0, across = 0;

	for (size_t i = 0; i < count; i++) {
		old += (size_t)is_too_old(c, &entries[i]);
		across += is_event(&entries[i]) && entries[i].time_min < c->from;
	}
	if (old == count)
		return 0;
	return old || across ? 2 : 1;
}

/* Spans that lie across the beginning have a start before it: only the ends count. */
static int copy_cut_blocks(struct cut *c)
{
	size_t to;
	int r = 0;

	for (size_t from = 0; from < c->old_count && r == 0; from = to) {
		for (to = from + 1; to < c->old_count && c->old[to].offset == c->old[from].offset;)
			to++;
		switch (how_much(c, c->old + from, to - from)) {
		case 1: r = copy_whole(c, c->old + from, to - from); break;
		case 2: r = cut_block(c, c->old + from, to - from); break;
		}
	}
	return r;
}

/* Where the writer was before. */
struct place_before {
	struct entry *entries;
	size_t count;
	size_t capacity;
	uint64_t size;
	uint64_t synced;
};

static int copy_alive(struct report_writer *w, int from_fd, int64_t from, int number, struct place_before *before)
{
	struct cut c = { .w = w, .from_fd = from_fd, .from = from, .number = number, .old = before->entries, .old_count = before->count };
	int r;

	w->entries = NULL;
	w->entry_count = w->entry_capacity = 0;
	for (size_t i = 0; i < w->track_count && number; i++)
		w->tracks[i]->flushed = 0;
	c.values = malloc((size_t)TABLE_MAX_COLUMNS * SET_MAX_ROWS * sizeof(*c.values));
	c.nulls = malloc((size_t)TABLE_MAX_COLUMNS * SET_MAX_ROWS);
	r = c.values && c.nulls ? copy_cut_blocks(&c) : -ENOMEM;
	scratch_release(&c.scratch);
	buf_release(&c.raw);
	free(c.values);
	free(c.nulls);
	return r;
}

static struct place_before leave_place(struct report_writer *w)
{
	struct place_before before = { w->entries, w->entry_count, w->entry_capacity, w->size, w->synced };

	w->size = w->synced = w->reserved = 0;
	return before;
}

static void go_back(struct report_writer *w, const struct place_before *before, int fd)
{
	if (w->entries != before->entries)
		free(w->entries);
	w->entries = before->entries;
	w->entry_count = before->count;
	w->entry_capacity = before->capacity;
	w->size = before->size;
	w->synced = before->synced;
	if (w->fd >= 0 && w->fd != fd)
		close(w->fd);
	w->fd = fd;
}

/* Sets keep their numbers, so that the journal goes on to belong to them. */
int ring_rotate(struct report_writer *w)
{
	struct place_before before = leave_place(w);
	struct error why;
	char *name = NULL;
	int r, old = w->fd;

	w->fd = output_create_beside(w, w->part_path, &name);
	r = w->fd < 0 ? w->fd : output_begin(w, &why);
	if (r == 0)
		r = copy_alive(w, old, INT64_MIN, 0, &before);
	if (r == 0 && output_rename(w, name, w->part_path) < 0)
		r = -errno;
	if (r < 0) {
		if (name)
			output_unlink(w, name);
		go_back(w, &before, old);
	} else {
		free(before.entries);
		close(old);
		w->ring.skipped = 0;
		w->segment_start = w->size;
		w->segment++;
	}
	free(name);
	return r;
}

static int open_cut(struct report_writer *w, const char *path, int overwrite, struct error *err)
{
	if (!path) {
		w->left_part = path_with(w->part_path, "");
		return w->left_part ? output_open_temporary(w, err) : -ENOMEM;
	}
	w->overwrite = overwrite;
	TRY(take_paths(w, path));
	return output_open(w, NULL, 0, err);
}

int report_writer_cut(struct report_writer *w, const char *path, int overwrite, int64_t from, int64_t *ret_from, struct error *err)
{
	struct place_before before = leave_place(w);
	int r, old = w->fd;

	if (w->ring.on && w->ring.dropped_until >= from)
		from = w->ring.dropped_until + 1;
	*ret_from = from;
	w->fd = -1;
	w->ring.on = 0;
	detail_release(&w->detail);
	r = open_cut(w, path, overwrite, err);
	if (r == 0) {
		r = copy_alive(w, old, from, 1, &before);
		if (r < 0)
			error_set_errno(err, -r, "cannot write %s", w->part_path);
		if (r < 0)
			output_unlink(w, w->part_path);
	}
	free(before.entries);
	close(old);
	if (w->journal_fd >= 0)
		close(w->journal_fd);
	w->journal_fd = -1;
	w->rows = 0;
	for (size_t i = 0; i < w->entry_count; i++)
		w->rows += w->entries[i].kind == BLOCK_GROUP ? w->entries[i].items : 0;
	w->segment_start = w->size;
	w->segment++;
	w->stopped = r;
	return r;
}
