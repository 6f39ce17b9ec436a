/* The writer's front: opening, tracks, appending, ticks. */
#include "report/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "report/write/internal.h"

struct report_writer *writer_new(const char *path, int overwrite)
{
	struct report_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = w->journal_fd = w->folder = -1;
	w->overwrite = overwrite;
	w->next_string = w->next_blob = 1;
	w->tick = 1;
	w->string_limit = UINT32_MAX;
	w->journal_limit = JOURNAL_LIMIT;
	w->segment_bytes = SEGMENT_BYTES;
	w->size_limit = UINT64_MAX;
	w->finish_reserve = FINISH_RESERVE;
	pending_init(&w->strings, BLOCK_STRINGS, BLOCK_META);
	pending_init(&w->late, BLOCK_STRINGS, BLOCK_META | BLOCK_LATE);
	pending_init(&w->blobs, BLOCK_BLOBS, 0);
	pending_init(&w->passing.texts, BLOCK_STRINGS, BLOCK_LATE);
	w->path = path_with(path, "");
	w->part_path = path_with(path, ".part");
	w->journal_path = path_with(path, ".journal");
	if (!w->path || !w->part_path || !w->journal_path || encoder_init(&w->encoder) < 0 || fill_random(w->id, sizeof(w->id)) < 0 ||
	    fill_random(&w->interned.seed, sizeof(w->interned.seed)) < 0) {
		writer_free(w);
		return NULL;
	}
	w->seed = block_seed(w->id);
	return w;
}

void writer_free(struct report_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->track_count; i++)
		track_destroy(w->tracks[i]);
	free(w->tracks);
	idmap_release(&w->track_numbers);
	free(w->closed);
	free(w->provisional);
	free(w->entries);
	detail_release(&w->detail);
	free(w->interned.slots);
	pending_release(&w->strings);
	pending_release(&w->late);
	pending_release(&w->blobs);
	passing_release(w);
	encoder_release(&w->encoder);
	buf_release(&w->block);
	buf_release(&w->payload);
	if (w->fd >= 0)
		close(w->fd);
	if (w->journal_fd >= 0)
		close(w->journal_fd);
	if (w->folder >= 0)
		close(w->folder);
	free(w->path);
	free(w->part_path);
	free(w->journal_path);
	free(w->left_part);
	free(w);
}

int report_writer_open(struct report_writer **ret, const char *path, int overwrite, char *ret_note, size_t note_size, struct error *err)
{
	struct report_writer *w = writer_new(path, overwrite);
	int r;

	*ret = NULL;
	if (ret_note && note_size)
		ret_note[0] = '\0';
	if (!w)
		return error_set(err, ENOMEM, "no memory for the report");
	r = output_open(w, ret_note, note_size, err);
	if (r == 0) {
		if ((r = room_check_first(w, err)) == 0)
			r = journal_open(w, err);
		if (r < 0)
			output_unlink(w, w->part_path);
	}
	if (r < 0)
		writer_free(w);
	else
		*ret = w;
	return r;
}

static uint64_t track_key(unsigned table, uint32_t track)
{
	return (uint64_t)table << 32 | track;
}

struct report_track *report_track(struct report_writer *w, enum table_id table, uint32_t track)
{
	uint64_t number = idmap_get(&w->track_numbers, track_key(table, track));
	struct report_track *t;

	if (number != IDMAP_NONE)
		return w->tracks[number];
	if (!ARRAY_ROOM(w->tracks, w->track_count, w->track_capacity, 1) || w->track_count >= UINT32_MAX)
		return NULL;
	t = track_create(w, table, track);
	if (t && idmap_put(&w->track_numbers, track_key(table, track), w->track_count) < 0) {
		track_destroy(t);
		return NULL;
	}
	if (t)
		w->tracks[w->track_count++] = t;
	return t;
}

int forget_tracks(struct report_writer *w)
{
	uint8_t *needed = calloc(w->track_count + 1, 1);
	size_t kept = 0;

	if (!needed)
		return -ENOMEM;
	for (size_t i = 0; i < w->entry_count; i++)
		if (w->entries[i].kind == BLOCK_GROUP)
			needed[idmap_get(&w->track_numbers, track_key(w->entries[i].table, w->entries[i].track)) + 1] = 1;
	for (size_t i = 0; i < w->closed_count; i++)
		needed[idmap_get(&w->track_numbers, track_key(w->closed[i]->table, w->closed[i]->track)) + 1] = 1;
	for (size_t i = 0; i < w->track_count; i++) {
		struct report_track *t = w->tracks[i];

		if (!needed[i + 1] && t->closed && !t->rows && !t->dirty && !t->peer) {
			idmap_take(&w->track_numbers, track_key(t->table, t->track));
			track_destroy(t);
			continue;
		}
		idmap_put(&w->track_numbers, track_key(t->table, t->track), kept);
		w->tracks[kept++] = t;
	}
	w->track_count = kept;
	free(needed);
	return 0;
}

void report_track_close(struct report_track *t)
{
	struct report_writer *w = t ? t->writer : NULL;

	if (!t || t->closed || !ARRAY_ROOM(w->closed, w->closed_count, w->closed_capacity, 1))
		return;
	t->closed = 1;
	if (t->rows == 0) {
		track_clear(t, 1);
		return;
	}
	w->closed[w->closed_count++] = t;
	w->closed_rows += t->rows;
	if (w->closed_rows >= PACK_ROWS && !w->stopped)
		w->stopped = flush_closed(w);
}

int reclaim_memory(struct report_writer *w)
{
	int r = 0;

	if (w->builder_bytes > BUILDER_SOFT_LIMIT)
		r = flush_idle(w);
	if (r == 0 && w->builder_bytes > BUILDER_HARD_LIMIT)
		r = flush_all(w, 1);
	return r;
}

int report_writer_tick(struct report_writer *w, report_provisional_fn provisional, void *context, struct error *err)
{
	int r;

	if (w->stopped)
		return error_set_errno(err, -w->stopped, "%s takes no more rows", w->part_path);
	w->tick++;
	r = reclaim_memory(w);
	if (w->parked) {
		w->stopped = r;
		return r < 0 ? error_set_errno(err, -r, "cannot write between two reports") : 0;
	}
	if (r == 0)
		r = journal_tick(w, provisional, context);
	if (r < 0)
		error_set_errno(err, -r, "cannot write %s", w->part_path);
	else
		r = room_check(w, err);
	w->stopped = r;
	return r;
}

int report_writer_relieve(struct report_writer *w, uint64_t bytes)
{
	if (!w->stopped && w->builder_bytes > bytes)
		w->stopped = flush_all(w, 1);
	return w->stopped;
}

const char *report_writer_path(const struct report_writer *w)
{
	return w->path;
}

uint64_t report_writer_rows(const struct report_writer *w)
{
	return w->rows;
}

void report_writer_remove(struct report_writer *w)
{
	if (w->folder < 0)
		return;
	output_unlink(w, w->part_path);
	output_unlink(w, w->journal_path);
}

void report_writer_abandon(struct report_writer *w)
{
	writer_free(w);
}
