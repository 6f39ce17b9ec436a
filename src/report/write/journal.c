/* The journal: what a killed recorder would lose. Each tick appends the rows, strings
 * and blobs that came since the one before and are not in the file, as blocks like
 * the file's own; rows in one block, so that a torn write loses a tick, never half of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/write/internal.h"

#define JOURNAL_FLAGS (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
#define UNCHANGED_TICKS 10 /* provisional rows that only got longer wait this long */

static int write_journal(struct report_writer *w, const struct buf *b)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = pwrite(w->journal_fd, b->data + done, b->len - done, (off_t)(w->journal_size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int r = n < 0 ? -errno : -EIO;

			/* the torn end is skipped by readers if even this fails */
			if (ftruncate(w->journal_fd, (off_t)w->journal_size) < 0)
				return r;
			return r;
		}
		done += (size_t)n;
	}
	w->journal_size += b->len;
	return 0;
}

/* Readers that find another generation than before read again. */
int journal_restart(struct report_writer *w)
{
	struct file_header h = { .magic = JOURNAL_MAGIC, .major = FORMAT_MAJOR, .minor = FORMAT_MINOR, .size = sizeof(h) };

	if (w->journal_fd < 0)
		return 0;
	h.generation = ++w->generation;
	w->ring.journal_began = w->ring.now;
	memcpy(h.id, w->id, sizeof(h.id));
	file_header_seal(&h);
	if (ftruncate(w->journal_fd, 0) < 0)
		return -errno;
	w->journal_size = 0;
	w->provisional_hash = 0;
	buf_clear(&w->block);
	TRY(buf_append(&w->block, &h, sizeof(h)));
	return write_journal(w, &w->block);
}

int journal_open(struct report_writer *w, struct error *err)
{
	int r;

	/* Without its .part a journal is of no use to anybody. */
	if (output_unlink(w, w->journal_path) < 0 && errno != ENOENT)
		return error_set_errno(err, errno, "cannot replace %s", w->journal_path);
	w->journal_fd = output_open_name(w, w->journal_path, JOURNAL_FLAGS);
	if (w->journal_fd < 0)
		return error_set_errno(err, errno, "cannot create %s", w->journal_path);
	r = journal_restart(w);
	return r < 0 ? error_set_errno(err, -r, "cannot write %s", w->journal_path) : 0;
}

static int journal_pending(struct report_writer *w, struct pending *p)
{
	size_t count = p->items.len / sizeof(struct pending_item);
	struct block_header h;
	int r;

	if (count == p->journaled_items)
		return 0;
	r = pending_encode(p, p->journaled_items, p->journaled_bytes, (uint32_t)w->generation, NULL, w->seed, &w->block, &h);
	return r;
}

static int add_journal_set(struct report_writer *w, struct report_track *t, unsigned flags, struct block_header *h)
{
	struct row_set rows;

	track_view(t, flags & SET_PROVISIONAL, &rows);
	rows.head.flags = (uint8_t)flags;
	h->items++;
	h->first += rows.head.rows;
	return encode_set(&w->encoder, &rows, 0, &w->payload);
}

static int add_dirty(struct report_writer *w, struct block_header *h)
{
	int r = 0;

	for (struct report_track *t = w->dirty; t && r == 0; t = t->next_dirty)
		if (t->rows > t->journaled)
			r = add_journal_set(w, t, 0, h);
	return r;
}

/* What the provisional rows say, but for the ends that move on every tick. */
static uint64_t hash_provisional(const struct report_writer *w)
{
	uint64_t hash = 1;

	for (size_t i = 0; i < w->provisional_count; i++) {
		const struct report_track *t = w->provisional[i];

		if (!t->rows)
			continue;
		hash = XXH3_64bits_withSeed(&t->track, sizeof(t->track), hash + t->table);
		for (unsigned c = 0; c < t->column_count; c++) {
			size_t size = track_column_values(t, c) * sizeof(int64_t);

			if (size && (t->kind != TABLE_KIND_SPAN || c != COLUMN_SLICE_END))
				hash = XXH3_64bits_withSeed(t->columns[c].values, size, hash + c);
		}
	}
	return w->provisional_count ? hash | 1 : 0;
}

static int add_provisional(struct report_writer *w, struct block_header *h)
{
	int r = 0;

	for (size_t i = 0; i < w->provisional_count && r == 0; i++)
		if (w->provisional[i]->rows)
			r = add_journal_set(w, w->provisional[i], SET_PROVISIONAL, h);
	return r;
}

static void pending_journaled(struct pending *p)
{
	p->journaled_items = p->items.len / sizeof(struct pending_item);
	p->journaled_bytes = p->bytes.len;
}

/* Everything is in the journal now. */
static void mark_journaled(struct report_writer *w)
{
	struct report_track *t, *next;

	for (t = w->dirty; t; t = next) {
		next = t->next_dirty;
		t->next_dirty = NULL;
		t->dirty = 0;
		track_mark_journaled(t);
	}
	w->dirty = NULL;
	pending_journaled(&w->strings);
	pending_journaled(&w->late);
	pending_journaled(&w->blobs);
	pending_journaled(&w->passing.texts);
}

static void drop_provisional(struct report_writer *w)
{
	for (size_t i = 0; i < w->provisional_count; i++) {
		w->provisional[i]->peer->peer = NULL;
		track_destroy(w->provisional[i]);
	}
	w->provisional_count = 0;
}

/* The block of rows. It replaces the provisional rows before it, so it is written, even
 * empty, whenever those are no longer right. */
static int journal_rows(struct report_writer *w, uint64_t hash)
{
	struct block_header h = { .kind = BLOCK_GROUP, .segment = (uint32_t)w->generation };
	bool changed = hash != w->provisional_hash;

	buf_clear(&w->payload);
	TRY(add_dirty(w, &h));
	if (h.items == 0 && !changed && (!hash || ++w->provisional_age < UNCHANGED_TICKS))
		return 0;
	TRY(add_provisional(w, &h));
	TRY(block_append(&w->block, &h, w->payload.data, w->payload.len, NULL, w->seed));
	w->provisional_hash = hash;
	w->provisional_age = 0;
	return 0;
}

/* The builder of the track's provisional rows, for the length of one tick. */
static struct report_track *provisional_of(struct report_track *t)
{
	struct report_writer *w = t->writer;
	struct report_track *p;

	if (t->peer)
		return t->peer;
	if (!ARRAY_ROOM(w->provisional, w->provisional_count, w->provisional_capacity, 1))
		return NULL;
	p = track_create(w, (enum table_id)t->table, t->track);
	if (!p)
		return NULL;
	p->last = t->last;
	p->peer = t;
	t->peer = p;
	w->provisional[w->provisional_count++] = p;
	return p;
}

int report_append_provisional(struct report_track *t, const int64_t *values, uint32_t present)
{
	struct report_track *p;

	if (!t || !t->writer->fill_journal)
		return -EINVAL;
	p = provisional_of(t);
	if (!p)
		return -ENOMEM;
	if (p->rows == GROUP_ROWS)
		return -E2BIG;
	return track_put(p, values, present);
}

static int journal_all(struct report_writer *w)
{
	buf_clear(&w->block);
	TRY(journal_pending(w, &w->strings));
	TRY(journal_pending(w, &w->late));
	TRY(journal_pending(w, &w->blobs));
	TRY(journal_pending(w, &w->passing.texts));
	TRY(journal_rows(w, hash_provisional(w)));
	if (w->block.len)
		TRY(write_journal(w, &w->block));
	mark_journaled(w);
	return 0;
}

int journal_tick(struct report_writer *w, report_provisional_fn provisional, void *context)
{
	int r;

	if (w->journal_size > w->journal_limit) {
		TRY(flush_all(w, 0));
		TRY(journal_restart(w));
	}
	w->fill_journal = 1;
	if (provisional)
		provisional(w, context);
	w->fill_journal = 0;
	r = journal_all(w);
	drop_provisional(w);
	return r;
}
