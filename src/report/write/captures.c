/* Several reports from one writer. Between them it is parked: its file has no name and keeps what describes the
 * recording (processes, names, tracks, texts), which goes into every report. Ids and builders stay as they are, so
 * that whoever writes rows need not know. Blocks are copied as they lie. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "report/write/internal.h"

/* A file without a name, on disk where that can be had. */
static int nameless_file(void)
{
	static const char *const folders[] = { "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; i < COUNT_OF(folders) && fd < 0; i++)
		fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? memfd_create("sonde-parked", MFD_CLOEXEC) : fd;
}

/* Rows of events and readings of clocks stay with the report they were made for, and so do blobs, which only events have. */
static int is_kept(const struct entry *e)
{
	if (e->kind == BLOCK_STRINGS)
		return 1;
	return e->kind == BLOCK_GROUP && e->flags & BLOCK_META && e->table != TABLE_LOSS && e->table != TABLE_LOD &&
	       e->table != TABLE_GPU_FAULT && e->table != TABLE_OUTPUT_STREAM && e->table != TABLE_CLOCK;
}

static int copy_block(struct report_writer *w, int from, uint64_t offset)
{
	struct block_header h;
	uint64_t span;

	TRY(output_read(from, &h, sizeof(h), offset));
	span = block_span(&h);
	buf_clear(&w->block);
	TRY(buf_reserve(&w->block, span));
	TRY(output_read(from, w->block.data, span, offset));
	w->block.len = span;
	return output_append(w);
}

/* The sets of one block follow each other in the directory. */
static int copy_kept(struct report_writer *w, int from)
{
	uint64_t last_from = UINT64_MAX, last_to = 0, rows = 0;
	struct entry *entries = malloc((w->entry_count + 1) * sizeof(*entries));
	size_t kept = 0;
	int r = entries ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->entry_count && r == 0; i++) {
		struct entry e = w->entries[i];

		if (!is_kept(&e))
			continue;
		if (e.offset != last_from) {
			last_from = e.offset;
			last_to = w->size;
			r = copy_block(w, from, e.offset);
		}
		e.offset = last_to;
		entries[kept++] = e;
		rows += e.kind == BLOCK_GROUP ? e.items : 0;
	}
	if (r < 0) {
		free(entries);
		return r;
	}
	free(w->entries);
	w->entries = entries;
	w->entry_capacity = w->entry_count + 1;
	w->entry_count = kept;
	w->rows = rows;
	return 0;
}

/* Rows of a track are numbered through; those left behind do not count. */
static void number_anew(struct report_writer *w)
{
	for (size_t i = 0; i < w->track_count; i++)
		w->tracks[i]->flushed = 0;
	for (size_t i = 0; i < w->entry_count; i++) {
		const struct entry *e = &w->entries[i];
		struct report_track *t = e->kind == BLOCK_GROUP ? report_track(w, e->table, e->track) : NULL;

		if (t && e->first + e->items > t->flushed)
			t->flushed = e->first + e->items;
	}
}

static int move_over(struct report_writer *w, int from)
{
	TRY(copy_kept(w, from));
	number_anew(w);
	w->segment_start = w->size;
	w->segment++;
	w->stopped = 0;
	return 0;
}

static void forget_file(struct report_writer *w)
{
	if (w->folder >= 0)
		close(w->folder);
	w->fd = w->journal_fd = w->folder = -1;
	w->size = w->reserved = w->synced = 0;
	w->journal_size = 0;
}

static int begin_nameless(struct report_writer *w, struct error *err)
{
	forget_file(w);
	w->parked = 1;
	w->fd = nameless_file();
	if (w->fd < 0)
		return error_set_errno(err, errno, "cannot make a file in /tmp");
	return output_begin(w, err);
}

int report_writer_open_parked(struct report_writer **ret, struct error *err)
{
	struct report_writer *w = writer_new("", 0);
	int r;

	*ret = NULL;
	if (!w)
		return error_set(err, ENOMEM, "no memory for the report");
	r = begin_nameless(w, err);
	if (r < 0)
		writer_free(w);
	else
		*ret = w;
	return r;
}

int report_writer_flush(struct report_writer *w)
{
	return w->stopped ? w->stopped : flush_all(w, 0);
}

int report_writer_park(struct report_writer *w, struct error *err)
{
	int old = w->fd, journal = w->journal_fd;
	int r = begin_nameless(w, err);

	if (r == 0) {
		r = move_over(w, old);
		if (r < 0)
			error_set_errno(err, -r, "cannot keep what describes the recording");
	}
	close(old);
	if (journal >= 0)
		close(journal);
	return r;
}

int take_paths(struct report_writer *w, const char *path)
{
	char *names[] = { path_with(path, ""), path_with(path, ".part"), path_with(path, ".journal") };

	if (!names[0] || !names[1] || !names[2]) {
		for (int i = 0; i < 3; i++)
			free(names[i]);
		return -ENOMEM;
	}
	if (w->folder >= 0)
		close(w->folder);
	w->folder = -1;
	free(w->path);
	free(w->part_path);
	free(w->journal_path);
	w->path = names[0];
	w->part_path = names[1];
	w->journal_path = names[2];
	return 0;
}

/* A file that could not be begun is as if it had not been tried. */
static int go_back(struct report_writer *w, int old, uint64_t size, int created)
{
	if (created) {
		output_unlink(w, w->part_path);
		output_unlink(w, w->journal_path);
	}
	if (w->fd >= 0)
		close(w->fd);
	if (w->journal_fd >= 0)
		close(w->journal_fd);
	forget_file(w);
	w->fd = old;
	w->size = size;
	w->parked = 1;
	return 0;
}

int report_writer_unpark(struct report_writer *w, const char *path, int overwrite, char *ret_note, size_t note_size, struct error *err)
{
	uint64_t size;
	int old = w->fd, created = 0;
	int r = report_writer_flush(w);

	if (ret_note && note_size)
		ret_note[0] = '\0';
	if (r == 0)
		r = take_paths(w, path);
	if (r < 0)
		return error_set_errno(err, -r, "cannot begin %s", path);
	size = w->size;
	forget_file(w);
	w->overwrite = overwrite;
	w->parked = 0;
	r = output_open(w, ret_note, note_size, err);
	if (r == 0) {
		created = 1;
		r = room_check_first(w, err);
	}
	if (r == 0)
		r = journal_open(w, err);
	if (r == 0) {
		r = move_over(w, old);
		if (r < 0)
			error_set_errno(err, -r, "cannot begin %s", path);
	}
	if (r < 0)
		go_back(w, old, size, created);
	else
		close(old);
	return r;
}
