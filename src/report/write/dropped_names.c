/* Names that never come again ("step 1234567") would fill a recording without end. In a file that keeps the last part they lie in
 * blocks that are dropped with the events they belong to, and their ids are given again, from a part of the ids that is theirs: the
 * lowest first, so that readers find ids close together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/write/internal.h"

#define RUN_IDS 16384u /* a block holds ids that follow each other */

static const char one_of_many[] = "(one of too many names)";

int passing_begin(struct report_writer *w)
{
	struct passing *p = &w->passing;

	if (w->next_string > PASSING_FIRST)
		return 0; /* no part of the ids is left: all names stay */
	p->free = malloc(16 * sizeof(*p->free));
	if (!p->free)
		return -ENOMEM;
	p->free_capacity = 16;
	p->free[p->free_count++] = (struct id_run){ PASSING_FIRST, PASSING_END };
	return 0;
}

void passing_release(struct report_writer *w)
{
	pending_release(&w->passing.texts);
	free(w->passing.free);
}

static int flush_texts(struct report_writer *w)
{
	int r = w->stopped ? w->stopped : pending_flush(w, &w->passing.texts);

	if (r < 0)
		w->stopped = r;
	return r;
}

/* The next ids; -ENOSPC when all are in use. */
static int take_run(struct report_writer *w)
{
	struct passing *p = &w->passing;

	TRY(flush_texts(w));
	if (!p->free_count)
		return -ENOSPC;
	p->run.first = p->free[0].first;
	p->run.end = p->free[0].end - p->free[0].first > RUN_IDS ? p->free[0].first + RUN_IDS : p->free[0].end;
	p->free[0].first = p->run.end;
	if (p->free[0].first == p->free[0].end)
		memmove(p->free, p->free + 1, --p->free_count * sizeof(*p->free));
	return 0;
}

/* Joined with its neighbours. */
int passing_return(struct report_writer *w, uint64_t first, uint64_t last)
{
	struct passing *p = &w->passing;
	uint32_t end = (uint32_t)last + 1;
	size_t at = 0;

	while (at < p->free_count && p->free[at].end < first)
		at++;
	if (at < p->free_count && p->free[at].end == first) {
		p->free[at].end = end;
		if (at + 1 < p->free_count && p->free[at + 1].first == end) {
			p->free[at].end = p->free[at + 1].end;
			memmove(p->free + at + 1, p->free + at + 2, (--p->free_count - at - 1) * sizeof(*p->free));
		}
		return 0;
	}
	if (at < p->free_count && p->free[at].first == end) {
		p->free[at].first = (uint32_t)first;
		return 0;
	}
	if (!ARRAY_ROOM(p->free, p->free_count, p->free_capacity, 1))
		return -ENOMEM;
	memmove(p->free + at + 1, p->free + at, (p->free_count++ - at) * sizeof(*p->free));
	p->free[at] = (struct id_run){ (uint32_t)first, end };
	return 0;
}

int report_string_passes(const struct report_writer *w, uint64_t id)
{
	return w->ring.on && id >= PASSING_FIRST && id < PASSING_END && w->passing.free_capacity;
}

static uint64_t put_dropped_name(struct report_writer *w, const char *text, size_t len)
{
	struct passing *p = &w->passing;
	uint64_t id;

	if (p->run.first == p->run.end && take_run(w) < 0)
		return report_string(w, one_of_many, sizeof(one_of_many) - 1);
	id = p->run.first;
	if (!room_for_texts(w, p->texts.bytes.len + len) || pending_add(&p->texts, id, text, len) < 0)
		return 0;
	p->run.first++;
	if (p->texts.bytes.len >= STRINGS_FLUSH)
		flush_texts(w);
	return id;
}

uint64_t report_string_passing(struct report_writer *w, const char *text, size_t len)
{
	uint64_t id;

	if (w->interned.used < w->string_limit || !w->ring.on || !w->passing.free_capacity)
		return report_string(w, text, len);
	id = string_known(w, text, len);
	return id ? id : put_dropped_name(w, text, len);
}

/* Copies the text of an id in `payload`, which holds `items` texts. */
static int find_text(const uint8_t *payload, uint64_t size, uint32_t items, uint64_t wanted, struct buf *ret)
{
	struct cursor c = { payload, payload + size, 0 };
	uint64_t id = 0, length, offset = 0, at = UINT64_MAX, found = 0;

	for (uint32_t i = 0; i < items && !c.failed; i++) {
		id += (uint64_t)get_zigzag(&c);
		length = get_varint(&c);
		if (id == wanted) {
			at = offset;
			found = length;
		}
		offset += length + 1;
	}
	if (c.failed || at == UINT64_MAX || at > cursor_left(&c) || found > cursor_left(&c) - at)
		return -ENOENT;
	return buf_append(ret, c.at + at, found);
}

static int read_dropped_text(struct report_writer *w, const struct entry *e, uint64_t id, struct buf *ret)
{
	CLEANUP(buf_release) struct buf block = BUF_INIT;
	CLEANUP_FREE uint8_t *owned = NULL;
	const uint8_t *payload;
	struct block_header h;

	TRY(output_read(w->fd, &h, sizeof(h), e->offset));
	TRY(buf_reserve(&block, block_span(&h)));
	TRY(output_read(w->fd, block.data, block_span(&h), e->offset));
	if (block_peek((const uint8_t *)block.data, block_span(&h), &h) < 0 || !block_sound((const uint8_t *)block.data, &h, w->seed))
		return -EIO;
	TRY(block_payload((const uint8_t *)block.data, &h, &payload, &owned));
	return find_text(payload, h.raw_size, h.items, id, ret);
}

/* Not in a block yet: it is young. */
static int is_pending(const struct passing *p, uint64_t id)
{
	size_t count = p->texts.items.len / sizeof(struct pending_item);
	const struct pending_item *items = (const struct pending_item *)p->texts.items.data;

	return count && id >= items[0].id && id <= items[count - 1].id;
}

uint64_t report_string_again(struct report_writer *w, uint64_t id)
{
	struct buf text = BUF_INIT;
	uint64_t again = 0;

	if (!report_string_passes(w, id) || is_pending(&w->passing, id))
		return id;
	for (size_t i = w->entry_count; i-- > 0;) {
		const struct entry *e = &w->entries[i];

		if (e->kind != BLOCK_STRINGS || e->flags & BLOCK_META || id < e->first || id > e->last)
			continue;
		if (read_dropped_text(w, e, id, &text) == 0)
			again = put_dropped_name(w, text.data, text.len);
		break;
	}
	buf_release(&text);
	return again;
}
