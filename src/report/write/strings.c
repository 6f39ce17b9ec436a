/* Interned strings, strings defined later, blobs. What was said once is remembered by
 * its hash alone; bodies wait in a buffer until they make a block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "report/write/internal.h"

#define FIRST_SLOTS 1024u
#define MAX_BYTES (1ull << 30) /* of one string or blob */

void pending_init(struct pending *p, unsigned kind, unsigned flags)
{
	memset(p, 0, sizeof(*p));
	p->kind = (uint8_t)kind;
	p->flags = (uint16_t)flags;
}

void pending_release(struct pending *p)
{
	buf_release(&p->items);
	buf_release(&p->bytes);
}

static void pending_clear(struct pending *p)
{
	buf_clear(&p->items);
	buf_clear(&p->bytes);
	p->journaled_items = p->journaled_bytes = 0;
}

int pending_add(struct pending *p, uint64_t id, const void *data, size_t size)
{
	struct pending_item item = { id, size };
	int r;

	if (size > MAX_BYTES)
		return -E2BIG;
	r = buf_reserve(&p->bytes, size + 1);
	if (r == 0)
		r = buf_append(&p->items, &item, sizeof(item));
	if (r == 0)
		r = buf_append(&p->bytes, data, size);
	if (r == 0)
		r = buf_append(&p->bytes, "", 1);
	return r;
}

static size_t item_count(const struct pending *p)
{
	return p->items.len / sizeof(struct pending_item);
}

/* Ids (difference to the one before) and sizes, then the bodies. */
static int encode_payload(const struct pending *p, size_t from_item, size_t from_byte, struct buf *payload, struct block_header *h)
{
	const struct pending_item *items = (const struct pending_item *)p->items.data;
	uint64_t previous = 0;

	h->first = UINT64_MAX;
	for (size_t i = from_item; i < item_count(p); i++) {
		h->first = items[i].id < h->first ? items[i].id : h->first;
		h->last = items[i].id > h->last ? items[i].id : h->last;
		TRY(put_zigzag(payload, (int64_t)(items[i].id - previous)));
		TRY(put_varint(payload, items[i].size));
		previous = items[i].id;
		h->items++;
	}
	return buf_append(payload, p->bytes.data + from_byte, p->bytes.len - from_byte);
}

int pending_encode(const struct pending *p, size_t from_item, size_t from_byte, uint32_t segment, ZSTD_CCtx *cctx, uint64_t seed,
		   struct buf *out, struct block_header *ret_header)
{
	struct block_header h = { .kind = p->kind, .flags = p->flags, .segment = segment };
	struct buf payload = BUF_INIT;
	int r = encode_payload(p, from_item, from_byte, &payload, &h);

	if (r == 0)
		r = block_append(out, &h, payload.data, payload.len, cctx, seed);
	buf_release(&payload);
	*ret_header = h;
	return r;
}

int pending_flush(struct report_writer *w, struct pending *p)
{
	struct entry entry = { .kind = p->kind, .segment = w->segment, .offset = w->size, .written = w->ring.now };
	struct block_header h;
	int r;

	if (item_count(p) == 0)
		return 0;
	buf_clear(&w->block);
	r = pending_encode(p, 0, 0, w->segment, w->encoder.cctx, w->seed, &w->block, &h);
	if (r == 0)
		r = output_append(w);
	if (r < 0)
		return r;
	entry.flags = h.flags;
	entry.items = h.items;
	entry.first = h.first;
	entry.last = h.last;
	pending_clear(p);
	if (p->bytes.cap > 4 * BLOBS_FLUSH)
		pending_release(p);
	return entry_add(w, &entry);
}

static int pending_flush_if_large(struct report_writer *w, struct pending *p, size_t limit)
{
	int r = p->bytes.len >= limit && !w->stopped ? pending_flush(w, p) : 0;

	if (r < 0)
		w->stopped = r;
	return r;
}

static struct intern_slot *find_slot(const struct intern_table *table, uint64_t low, uint32_t high)
{
	uint32_t mask = table->capacity - 1, at = (uint32_t)low & mask;

	while (table->slots[at].id && (table->slots[at].hash_low != low || table->slots[at].hash_high != high))
		at = (at + 1) & mask;
	return &table->slots[at];
}

static int grow_table(struct intern_table *table)
{
	struct intern_table grown = *table;

	grown.capacity = table->capacity ? table->capacity * 2 : FIRST_SLOTS;
	if (!grown.capacity)
		return -ENOMEM;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->capacity; i++)
		if (table->slots[i].id)
			*find_slot(&grown, table->slots[i].hash_low, table->slots[i].hash_high) = table->slots[i];
	free(table->slots);
	*table = grown;
	return 0;
}

/* Its id, which is 0 without memory. */
static uint64_t write_string(struct report_writer *w, const char *text, size_t len)
{
	uint64_t id;

	if (w->passing.free_capacity && w->next_string == PASSING_FIRST)
		w->next_string = PASSING_END;
	id = w->next_string;
	if (id > UINT32_MAX || !room_for_texts(w, w->strings.bytes.len + len) || pending_add(&w->strings, id, text, len) < 0)
		return 0;
	w->next_string++;
	pending_flush_if_large(w, &w->strings, STRINGS_FLUSH);
	return id;
}

uint64_t report_string_of(struct report_writer *w, const char *text, size_t len, uint32_t most)
{
	struct intern_table *table = &w->interned;
	XXH128_hash_t hash = XXH3_128bits_withSeed(text, len, table->seed);
	struct intern_slot *slot;

	if ((uint64_t)table->used * 5 >= (uint64_t)table->capacity * 4 && grow_table(table) < 0)
		return 0;
	slot = find_slot(table, hash.low64, (uint32_t)hash.high64);
	if (slot->id)
		return slot->id;
	if (table->used >= most)
		return write_string(w, text, len);
	slot->id = (uint32_t)write_string(w, text, len);
	if (!slot->id)
		return 0;
	slot->hash_low = hash.low64;
	slot->hash_high = (uint32_t)hash.high64;
	table->used++;
	return slot->id;
}

uint64_t string_known(const struct report_writer *w, const char *text, size_t len)
{
	const struct intern_table *table = &w->interned;
	XXH128_hash_t hash = XXH3_128bits_withSeed(text, len, table->seed);

	return table->capacity ? find_slot(table, hash.low64, (uint32_t)hash.high64)->id : 0;
}

uint64_t report_string(struct report_writer *w, const char *text, size_t len)
{
	return report_string_of(w, text, len, w->string_limit);
}

uint64_t report_string_apart(struct report_writer *w, const char *text, size_t len)
{
	return write_string(w, text, len);
}

uint64_t report_string_later(struct report_writer *w)
{
	if (w->passing.free_capacity && w->next_string == PASSING_FIRST)
		w->next_string = PASSING_END;
	return w->next_string > UINT32_MAX ? 0 : w->next_string++;
}

int report_string_define(struct report_writer *w, uint64_t id, const char *text, size_t len)
{
	if (id == 0 || id >= w->next_string)
		return -EINVAL;
	TRY(room_for_texts(w, w->late.bytes.len + len) ? pending_add(&w->late, id, text, len) : w->stopped);
	return pending_flush_if_large(w, &w->late, STRINGS_FLUSH);
}

/* Recovering: ids are given, in rising order. */
int string_put(struct report_writer *w, uint64_t id, const char *text, size_t len)
{
	if (id >= w->next_string)
		w->next_string = id + 1;
	TRY(pending_add(&w->strings, id, text, len));
	return pending_flush_if_large(w, &w->strings, STRINGS_FLUSH);
}

int blob_put(struct report_writer *w, uint64_t id, const void *data, size_t len)
{
	if (id >= w->next_blob)
		w->next_blob = id + 1;
	TRY(pending_add(&w->blobs, id, data, len));
	return pending_flush_if_large(w, &w->blobs, BLOBS_FLUSH);
}

uint64_t report_blob(struct report_writer *w, const void *data, size_t len)
{
	uint64_t id = w->next_blob;

	if (!room_for_texts(w, w->blobs.bytes.len + len) || pending_add(&w->blobs, id, data, len) < 0)
		return 0;
	w->next_blob++;
	pending_flush_if_large(w, &w->blobs, BLOBS_FLUSH);
	return id;
}
