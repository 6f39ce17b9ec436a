/* From builders to blocks. Large sets get a block each; small ones share blocks, so that
 * a hundred thousand threads with three ranges each stay cheap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/write/internal.h"

int entry_add(struct report_writer *w, const struct entry *entry)
{
	if (!ARRAY_ROOM(w->entries, w->entry_count, w->entry_capacity, 1))
		return -ENOMEM;
	w->entries[w->entry_count++] = *entry;
	return 0;
}

static void entry_describe(struct entry *entry, const struct report_writer *w, const struct row_set *rows, int meta)
{
	memset(entry, 0, sizeof(*entry));
	entry->kind = BLOCK_GROUP;
	entry->table = rows->head.table;
	entry->flags = meta ? BLOCK_META : 0;
	entry->segment = w->segment;
	entry->offset = w->size;
	entry->items = rows->head.rows;
	entry->track = rows->head.track;
	entry->first = rows->head.first;
	entry->time_min = rows->head.time_min;
	entry->time_max = rows->head.time_max;
	entry->present = rows->head.present;
	entry->written = w->ring.now;
	lod_summarise(rows, entry);
}

/* The rows are in the file: the builder starts over. */
static void track_written(struct report_track *t, int free_buffers)
{
	t->flushed += t->rows;
	track_clear(t, free_buffers);
}

int flush_pending(struct report_writer *w)
{
	TRY(pending_flush(w, &w->strings));
	TRY(pending_flush(w, &w->late));
	TRY(pending_flush(w, &w->passing.texts));
	return pending_flush(w, &w->blobs);
}

static int rotate_segment(struct report_writer *w)
{
	int r;

	if (w->size - w->segment_start < w->segment_bytes)
		return 0;
	r = detail_flush(w);
	w->segment++;
	w->segment_start = w->size;
	return r;
}

/* Strings and blobs go first: a group never names one that comes after it, except
 * those announced as later. */
int flush_track(struct report_writer *w, struct report_track *t)
{
	struct block_header h = { .kind = BLOCK_GROUP, .table = t->table, .items = 1 };
	struct row_set rows;
	struct entry entry;

	TRY(flush_pending(w));
	if (t->rows == 0)
		return 0;
	TRY(rotate_segment(w));
	track_view(t, 1, &rows);
	entry_describe(&entry, w, &rows, track_is_meta(t));
	buf_clear(&w->payload);
	TRY(encode_set(&w->encoder, &rows, 1, &w->payload));
	entry.bytes = (uint32_t)w->payload.len;
	h.flags = entry.flags;
	h.segment = w->segment;
	h.first = entry.items;
	h.last = t->track;
	h.time_min = entry.time_min;
	h.time_max = entry.time_max;
	buf_clear(&w->block);
	TRY(block_append(&w->block, &h, w->payload.data, w->payload.len, NULL, w->seed));
	TRY(output_append(w));
	TRY(entry_add(w, &entry));
	detail_add(w, &rows);
	track_written(t, 0);
	return 0;
}

/* Several small sets on their way into one block. */
struct pack {
	struct report_writer *w;
	struct buf payload;
	struct buf tracks;  /* struct report_track * */
	struct buf entries; /* struct entry, one per track */
	struct block_header header;
	int meta;
	int free_buffers;
};

static int pack_entries(struct pack *p)
{
	const struct entry *entries = (const struct entry *)p->entries.data;
	size_t count = p->entries.len / sizeof(*entries);

	for (size_t i = 0; i < count; i++)
		TRY(entry_add(p->w, &entries[i]));
	return 0;
}

static int pack_write(struct pack *p)
{
	struct report_track **tracks = (struct report_track **)p->tracks.data;
	struct report_writer *w = p->w;

	if (p->header.items == 0)
		return 0;
	p->header.kind = BLOCK_GROUP;
	p->header.flags = p->meta ? BLOCK_META : 0;
	p->header.segment = w->segment;
	p->header.table = p->header.items == 1 ? tracks[0]->table : 0;
	p->header.last = p->header.items == 1 ? tracks[0]->track : 0;
	buf_clear(&w->block);
	TRY(block_append(&w->block, &p->header, p->payload.data, p->payload.len, w->encoder.cctx, w->seed));
	TRY(output_append(w));
	TRY(pack_entries(p));
	for (size_t i = 0; i < p->tracks.len / sizeof(*tracks); i++)
		track_written(tracks[i], p->free_buffers || tracks[i]->closed);
	buf_clear(&p->payload);
	buf_clear(&p->tracks);
	buf_clear(&p->entries);
	memset(&p->header, 0, sizeof(p->header));
	return 0;
}

static void pack_bounds(struct block_header *h, const struct entry *entry)
{
	if (h->items == 0 || entry->time_min < h->time_min)
		h->time_min = entry->time_min;
	if (h->items == 0 || entry->time_max > h->time_max)
		h->time_max = entry->time_max;
	h->items++;
	h->first += entry->items;
}

static int pack_add(struct pack *p, struct report_track *t)
{
	size_t before = p->payload.len;
	struct row_set rows;
	struct entry entry;

	track_view(t, 1, &rows);
	entry_describe(&entry, p->w, &rows, p->meta);
	TRY(encode_set(&p->w->encoder, &rows, 0, &p->payload));
	entry.inside = (uint32_t)before;
	entry.bytes = (uint32_t)(p->payload.len - before);
	TRY(buf_append(&p->tracks, &t, sizeof(t)));
	TRY(buf_append(&p->entries, &entry, sizeof(entry)));
	pack_bounds(&p->header, &entry);
	return p->payload.len >= PACK_BYTES ? pack_write(p) : 0;
}

static void pack_release(struct pack *p)
{
	buf_release(&p->payload);
	buf_release(&p->tracks);
	buf_release(&p->entries);
}

/* Writes what `tracks` hold: data, or metadata. */
static int flush_some(struct report_writer *w, struct report_track **tracks, size_t count, int meta, int free_buffers)
{
	CLEANUP(pack_release) struct pack p = { .w = w, .meta = meta, .free_buffers = free_buffers };

	for (size_t i = 0; i < count; i++) {
		if (tracks[i]->rows == 0 || track_is_meta(tracks[i]) != meta)
			continue;
		if (tracks[i]->rows < TINY_ROWS) {
			TRY(pack_add(&p, tracks[i]));
			continue;
		}
		TRY(pack_write(&p)); /* keeps the sets' offsets right */
		TRY(flush_track(w, tracks[i]));
		if (free_buffers || tracks[i]->closed)
			track_clear(tracks[i], 1);
	}
	return pack_write(&p);
}

static int flush_both(struct report_writer *w, struct report_track **tracks, size_t count, int free_buffers)
{
	TRY(flush_pending(w));
	TRY(rotate_segment(w));
	TRY(flush_some(w, tracks, count, 1, free_buffers));
	return flush_some(w, tracks, count, 0, free_buffers);
}

int flush_all(struct report_writer *w, int free_buffers)
{
	TRY(flush_both(w, w->tracks, w->track_count, free_buffers));
	w->closed_count = w->closed_rows = 0;
	for (size_t i = 0; i < w->track_count && free_buffers; i++)
		track_clear(w->tracks[i], 1);
	return 0;
}

int flush_closed(struct report_writer *w)
{
	TRY(flush_both(w, w->closed, w->closed_count, 1));
	w->closed_count = w->closed_rows = 0;
	return 0;
}

int flush_tracks(struct report_writer *w, struct report_track **tracks, size_t count)
{
	TRY(flush_some(w, tracks, count, 1, 1));
	return flush_some(w, tracks, count, 0, 1);
}

int flush_idle(struct report_writer *w)
{
	CLEANUP_FREE struct report_track **idle = malloc((w->track_count + 1) * sizeof(struct report_track *));
	size_t count = 0;

	if (!idle)
		return -ENOMEM;
	for (size_t i = 0; i < w->track_count; i++)
		if (w->tracks[i]->capacity && w->tick - w->tracks[i]->last_tick >= IDLE_TICKS)
			idle[count++] = w->tracks[i];
	TRY(flush_both(w, idle, count, 1));
	for (size_t i = 0; i < count; i++)
		track_clear(idle[i], 1);
	return 0;
}
