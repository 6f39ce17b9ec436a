/* A file that keeps the last part of a recording. Blocks of events that are too old leave the directory; in the file one
 * header (BLOCK_SKIP) stands for a stretch of them, over which a recovery steps, and the disk gets its pages back. What
 * describes the recording stays. In the directory a stretch is an entry of its own: `last` is its end, up to `first` its pages
 * are given back, `items` says that its header is not right yet. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/write/internal.h"

#define SECOND 1000000000ll
#define PAGE 4096ull
#define REMEMBERED_STRINGS (1u << 17)
/* Rows of a PLAIN table belong to events that may come a little after them. */
#define PLAIN_GRACE SECOND
/* Without holes the file is copied when it is twice as large as it need be, and worth the copying. */
#define ROTATE_MIN (1ull << 20)
#define MANY_TRACKS 1024

int table_passes(unsigned table)
{
	switch (table) {
	case TABLE_ARG:
	case TABLE_CLOCK:
	case TABLE_CUDA_EVENT:
	case TABLE_DIAGNOSTIC:
	case TABLE_GPU_FAULT:
	case TABLE_GPU_POOL:
	case TABLE_LOSS: return 1;
	default: return 0;
	}
}

int report_writer_keep_last(struct report_writer *w, int64_t keep_ns, uint64_t keep_bytes)
{
	TRY(report_writer_flush(w));
	w->ring = (struct ring){ .on = 1, .keep_ns = keep_ns, .keep_bytes = keep_bytes, .now = w->ring.now, .dropped_until = INT64_MIN };
	w->string_limit = REMEMBERED_STRINGS;
	/* What was set aside for finishing counts: a report is made in a file of its own. */
	if (ftruncate(w->fd, (off_t)w->size) < 0)
		return -errno;
	w->reserved = 0;
	TRY(passing_begin(w));
	if (keep_bytes && keep_bytes / 8 < w->journal_limit)
		w->journal_limit = keep_bytes / 8;
	return journal_restart(w);
}

int report_writer_cannot_trim(const struct report_writer *w)
{
	return w->ring.cannot_punch;
}

uint64_t report_writer_table_rows(const struct report_writer *w, enum table_id table)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < w->entry_count; i++)
		if (w->entries[i].kind == BLOCK_GROUP && w->entries[i].table == table)
			rows += w->entries[i].items;
	return rows;
}

/* What is alive takes this much, its part of the directory included, which is in memory. */
static uint64_t ring_bytes(const struct report_writer *w)
{
	return w->size - w->ring.skipped + w->entry_count * sizeof(struct entry);
}

/* Room for what comes until the next look, and for the journal. */
static uint64_t ring_limit(const struct report_writer *w)
{
	return w->ring.keep_bytes ? w->ring.keep_bytes - w->ring.keep_bytes / 8 - w->journal_limit : UINT64_MAX;
}

int64_t needed_until(const struct entry *e)
{
	const struct table_schema *schema = e->kind == BLOCK_GROUP ? table_schema(e->table) : NULL;

	if (schema && schema->kind != TABLE_KIND_PLAIN)
		return e->time_max;
	return e->written + (e->kind == BLOCK_STRINGS ? PASSING_SECONDS * SECOND : PLAIN_GRACE);
}

struct pass {
	struct report_writer *w;
	int64_t before;
	uint64_t too_much; /* bytes to be given up, however young */
	size_t kept;
	int in_journal; /* something was dropped that the journal has, too */
	int result;
};

/* The entries of one block, [from, to), which ends at `end`. */
static int is_over(const struct pass *p, size_t from, size_t to, int64_t *ret_until)
{
	const struct entry *e = p->w->entries;
	int64_t until = INT64_MIN;

	if (e[from].flags & BLOCK_META)
		return 0;
	for (size_t i = from; i < to; i++)
		until = needed_until(&e[i]) > until ? needed_until(&e[i]) : until;
	*ret_until = until;
	/* Names go when all events have gone that may bear them, however large they are. */
	if (e[from].kind == BLOCK_STRINGS)
		return until < p->before || until < p->w->ring.dropped_until;
	return until < p->before || p->too_much;
}

/* The stretch grows by what lies behind it, or begins. */
static void give_up_stretch(struct pass *p, uint64_t offset, uint64_t end)
{
	struct entry *last = p->kept ? &p->w->entries[p->kept - 1] : NULL;

	if (!last || last->kind != BLOCK_SKIP) {
		last = &p->w->entries[p->kept++];
		*last = (struct entry){ .kind = BLOCK_SKIP, .offset = offset, .first = offset };
	}
	last->last = end;
	last->items = 1;
}

static void join_skip_entry(struct pass *p, const struct entry *skip)
{
	struct entry *last = p->kept ? &p->w->entries[p->kept - 1] : NULL;

	if (last && last->kind == BLOCK_SKIP)
		last->last = skip->last;
	else
		p->w->entries[p->kept++] = *skip;
}

static void drop_block(struct pass *p, size_t from, size_t to, uint64_t end, int64_t until)
{
	struct report_writer *w = p->w;
	uint64_t offset = w->entries[from].offset, freed = end - offset + (to - from) * sizeof(struct entry);

	if (w->entries[from].kind != BLOCK_STRINGS)
		w->ring.dropped_until = until > w->ring.dropped_until ? until : w->ring.dropped_until;
	else if (p->result == 0)
		p->result = passing_return(w, w->entries[from].first, w->entries[from].last);
	p->in_journal |= w->entries[from].written >= w->ring.journal_began;
	w->ring.skipped += end - offset;
	p->too_much -= freed < p->too_much ? freed : p->too_much;
	give_up_stretch(p, offset, end);
}

static void drop_blocks(struct pass *p)
{
	struct report_writer *w = p->w;
	struct entry first;
	uint64_t end;
	int64_t until;
	size_t to;

	for (size_t from = 0; from < w->entry_count; from = to) {
		first = w->entries[from];
		for (to = from + 1; to < w->entry_count && w->entries[to].offset == first.offset;)
			to++;
		end = to < w->entry_count ? w->entries[to].offset : w->size;
		if (first.kind == BLOCK_SKIP) {
			join_skip_entry(p, &first);
		} else if (is_over(p, from, to, &until)) {
			drop_block(p, from, to, end, until);
		} else {
			memmove(w->entries + p->kept, w->entries + from, (to - from) * sizeof(first));
			p->kept += to - from;
		}
	}
	w->entry_count = p->kept;
}

/* Whole pages alone can be given back; the one that a stretch ended in goes with the next. */
static int punch(struct report_writer *w, const struct entry *skip)
{
	uint64_t from = skip->first & ~(PAGE - 1), to = skip->last & ~(PAGE - 1);
	uint64_t lowest = (skip->offset + sizeof(struct block_header) + PAGE - 1) & ~(PAGE - 1);

	from = from < lowest ? lowest : from;
	if (from >= to)
		return 0;
	if (fallocate(w->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) == 0)
		return 0;
	return errno == EINTR ? -EAGAIN : -errno;
}

/* The header first: between the two steps nothing is lost that is still in the directory. */
static int write_skip(struct report_writer *w, struct entry *skip)
{
	struct block_header h;
	int r;

	block_skip(&h, skip->last - skip->offset, w->seed);
	TRY(output_overwrite(w, &h, sizeof(h), skip->offset));
	skip->items = 0;
	r = w->ring.cannot_punch ? 0 : punch(w, skip);
	if (r == 0)
		skip->first = skip->last;
	else if (r != -EAGAIN)
		w->ring.cannot_punch = 1;
	return 0;
}

static int drop(struct report_writer *w, int64_t before, uint64_t too_much)
{
	struct pass p = { .w = w, .before = before, .too_much = too_much };
	int r;

	drop_blocks(&p);
	r = p.result;
	for (size_t i = 0; i < w->entry_count && r == 0; i++)
		if (w->entries[i].kind == BLOCK_SKIP && w->entries[i].items)
			r = write_skip(w, &w->entries[i]);
	TRY(r);
	if (p.in_journal) {
		TRY(flush_all(w, 0));
		TRY(journal_restart(w));
	}
	if (w->track_count > 2 * w->ring.tracks + MANY_TRACKS) {
		r = forget_tracks(w);
		w->ring.tracks = w->track_count;
	}
	if (r == 0 && w->ring.cannot_punch && w->size > 2 * (w->size - w->ring.skipped) + ROTATE_MIN)
		r = ring_rotate(w);
	return r;
}

/* Rows of slow tracks do not wait in memory, nor rows in the journal, until they are too old. */
static int flush_old(struct report_writer *w, int64_t now)
{
	int64_t pause = w->ring.keep_ns / 2 > SECOND ? w->ring.keep_ns / 2 : SECOND;

	if (!w->ring.keep_ns || now - w->ring.last_flush < pause)
		return 0;
	w->ring.last_flush = now;
	TRY(flush_all(w, 0));
	return journal_restart(w);
}

int report_writer_trim(struct report_writer *w, int64_t now, int may_drop)
{
	uint64_t bytes, limit = ring_limit(w);
	int r;

	w->ring.now = now;
	if (!w->ring.on || w->stopped)
		return w->stopped;
	r = flush_old(w, now);
	bytes = ring_bytes(w);
	if (r == 0 && may_drop && (bytes > limit || now - w->ring.last_pass >= SECOND)) {
		w->ring.last_pass = now;
		r = drop(w, w->ring.keep_ns ? now - w->ring.keep_ns : INT64_MIN, bytes > limit ? bytes - limit : 0);
	}
	w->stopped = r;
	return r;
}
