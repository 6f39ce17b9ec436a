/* From builders to blocks. Large sets get a block each; small ones share blocks, so that
 * a hundred thousand threads with three ranges each stay cheap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/writer_internal.h"

int entry_add(struct report_writer *w, const struct entry *entry)
{
	if (!ARRAY_ROOM(w->entries, w->entry_count, w->entry_capacity, 1))
		return -ENOMEM;
	w->entries[w->entry_count++] = *entry;
	return 0;
}

static void entry_describe(struct entry *entry, const struct report_writer *w,
			   const struct set_rows *rows, int meta)
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
	int r = pending_flush(w, &w->strings);

	r = r < 0 ? r : pending_flush(w, &w->late);
	r = r < 0 ? r : pending_flush(w, &w->passing.texts);
	return r < 0 ? r : pending_flush(w, &w->blobs);
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
	struct set_rows rows;
	struct entry entry;
	int r = flush_pending(w);

	if (r < 0 || t->rows == 0)
		return r;
	r = rotate_segment(w);
	if (r < 0)
		return r;
	track_view(t, 1, &rows);
	entry_describe(&entry, w, &rows, track_is_meta(t));
	buf_clear(&w->payload);
	r = encode_set(&w->encoder, &rows, 1, &w->payload);
	entry.bytes = (uint32_t)w->payload.len;
	h.flags = entry.flags;
	h.segment = w->segment;
	h.first = entry.items;
	h.last = t->track;
	h.time_min = entry.time_min;
	h.time_max = entry.time_max;
	buf_clear(&w->block);
	r = r < 0 ? r : block_append(&w->block, &h, w->payload.data, w->payload.len, NULL, w->seed);
	r = r < 0 ? r : output_append(w);
	r = r < 0 ? r : entry_add(w, &entry);
	if (r == 0) {
		detail_add(w, &rows);
		track_written(t, 0);
	}
	return r;
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
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = entry_add(p->w, &entries[i]);
	return r;
}

static int pack_write(struct pack *p)
{
	struct report_track **tracks = (struct report_track **)p->tracks.data;
	struct report_writer *w = p->w;
	int r = 0;

	if (p->header.items == 0)
		return 0;
	p->header.kind = BLOCK_GROUP;
	p->header.flags = p->meta ? BLOCK_META : 0;
	p->header.segment = w->segment;
	p->header.table = p->header.items == 1 ? tracks[0]->table : 0;
	p->header.last = p->header.items == 1 ? tracks[0]->track : 0;
	buf_clear(&w->block);
	r = block_append(&w->block, &p->header, p->payload.data, p->payload.len, w->encoder.cctx,
			 w->seed);
	r = r < 0 ? r : output_append(w);
	r = r < 0 ? r : pack_entries(p);
	for (size_t i = 0; i < p->tracks.len / sizeof(*tracks) && r == 0; i++)
		track_written(tracks[i], p->free_buffers || tracks[i]->closed);
	buf_clear(&p->payload);
	buf_clear(&p->tracks);
	buf_clear(&p->entries);
	memset(&p->header, 0, sizeof(p->header));
	return r;
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
	struct set_rows rows;
	struct entry entry;
	int r;

	track_view(t, 1, &rows);
	entry_describe(&entry, p->w, &rows, p->meta);
	r = encode_set(&p->w->encoder, &rows, 0, &p->payload);
	entry.inside = (uint32_t)before;
	entry.bytes = (uint32_t)(p->payload.len - before);
	r = r < 0 ? r : buf_append(&p->tracks, &t, sizeof(t));
	r = r < 0 ? r : buf_append(&p->entries, &entry, sizeof(entry));
	if (r < 0)
		return r;
	pack_bounds(&p->header, &entry);
	return p->payload.len >= PACK_BYTES ? pack_write(p) : 0;
}

/* Writes what `tracks` hold: data, or metadata. */
static int flush_some(struct report_writer *w, struct report_track **tracks, size_t count, int meta,
		      int free_buffers)
{
	struct pack p = { .w = w, .meta = meta, .free_buffers = free_buffers };
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		if (tracks[i]->rows == 0 || track_is_meta(tracks[i]) != meta)
			continue;
		if (tracks[i]->rows < TINY_ROWS) {
			r = pack_add(&p, tracks[i]);
			continue;
		}
		r = pack_write(&p); /* keeps the sets' offsets right */
		r = r < 0 ? r : flush_track(w, tracks[i]);
		if (r == 0 && (free_buffers || tracks[i]->closed))
			track_clear(tracks[i], 1);
	}
	r = r < 0 ? r : pack_write(&p);
	buf_release(&p.payload);
	buf_release(&p.tracks);
	buf_release(&p.entries);
	return r;
}

static int flush_both(struct report_writer *w, struct report_track **tracks, size_t count,
		      int free_buffers)
{
	int r = flush_pending(w);

	r = r < 0 ? r : rotate_segment(w);
	r = r < 0 ? r : flush_some(w, tracks, count, 1, free_buffers);
	return r < 0 ? r : flush_some(w, tracks, count, 0, free_buffers);
}

int flush_all(struct report_writer *w, int free_buffers)
{
	int r = flush_both(w, w->tracks, w->track_count, free_buffers);

	if (r == 0)
		w->closed_count = w->closed_rows = 0;
	for (size_t i = 0; i < w->track_count && free_buffers && r == 0; i++)
		track_clear(w->tracks[i], 1);
	return r;
}

int flush_closed(struct report_writer *w)
{
	int r = flush_both(w, w->closed, w->closed_count, 1);

	if (r == 0)
		w->closed_count = w->closed_rows = 0;
	return r;
}

int flush_tracks(struct report_writer *w, struct report_track **tracks, size_t count)
{
	int r = flush_some(w, tracks, count, 1, 1);

	return r < 0 ? r : flush_some(w, tracks, count, 0, 1);
}

int flush_idle(struct report_writer *w)
{
	struct report_track **idle = malloc((w->track_count + 1) * sizeof(struct report_track *));
	size_t count = 0;
	int r;

	if (!idle)
		return -ENOMEM;
	for (size_t i = 0; i < w->track_count; i++)
		if (w->tracks[i]->capacity && w->tick - w->tracks[i]->last_tick >= IDLE_TICKS)
			idle[count++] = w->tracks[i];
	r = flush_both(w, idle, count, 1);
	for (size_t i = 0; i < count && r == 0; i++)
		track_clear(idle[i], 1);
	free(idle);
	return r;
}
