/* The final state: segments, which are what the allocator took from CUDA, and the blocks they are divided into. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "ingest/snapshot/internal.h"

struct snapshot_device *snapshot_device(struct snapshot *s, int64_t number)
{
	struct snapshot_device *d;

	if (number < 0 || number >= SNAPSHOT_MOST_DEVICES)
		return NULL;
	if ((uint32_t)number >= s->device_count)
		s->device_count = (uint32_t)number + 1;
	d = &s->devices[number];
	d->is_used = 1;
	return d;
}

enum block_state { BLOCK_UNKNOWN, BLOCK_ALLOCATED, BLOCK_PENDING, BLOCK_INACTIVE };

static enum block_state find_block_state(const struct keymap_key *word)
{
	if (snapshot_text_is(word, "active_allocated"))
		return BLOCK_ALLOCATED;
	/* As PyTorch's code writes it, and as its documentation does. */
	if (snapshot_text_is(word, "active_pending_free") || snapshot_text_is(word, "active_awaiting_free"))
		return BLOCK_PENDING;
	return snapshot_text_is(word, "inactive") ? BLOCK_INACTIVE : BLOCK_UNKNOWN;
}

struct block {
	int64_t address, size, requested, stream;
	enum block_state state;
	uint64_t word; /* string id of the state */
	uint32_t frames;
	struct frames_seen seen;
};

/* Up to PyTorch 2.0 a block has a history, whose first entry is what it was allocated for last. */
static int read_history(struct snapshot *s, const struct members *m, struct block *b)
{
	uint32_t list = snapshot_list(s, m, FIELD_HISTORY), value;
	struct pickle_items at;
	struct members entry;
	int r;

	if (!list)
		return 0;
	at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	r = snapshot_next(s, &at, &value);
	if (r > 0)
		r = snapshot_members(s, value, &entry);
	if (r <= 0)
		return r;
	b->frames = snapshot_list(s, &entry, FIELD_FRAMES);
	snapshot_size(s, &entry, FIELD_REAL_SIZE, &b->requested);
	return 0;
}

static int read_block(struct snapshot *s, uint32_t value, struct block *b)
{
	struct members m;
	int r = snapshot_members(s, value, &m);

	if (r <= 0 || !snapshot_size(s, &m, FIELD_SIZE, &b->size))
		return r < 0 ? r : 0;
	b->word = snapshot_string(s, &m, FIELD_STATE);
	b->state = find_block_state(snapshot_text(s, &m, FIELD_STATE));
	if (b->state == BLOCK_UNKNOWN)
		return 0;
	snapshot_integer(s, &m, FIELD_ADDRESS, &b->address);
	b->requested = b->size;
	b->frames = snapshot_list(s, &m, FIELD_FRAMES);
	if (!b->frames)
		TRY(read_history(s, &m, b));
	snapshot_size(s, &m, FIELD_REQUESTED_SIZE, &b->requested);
	TRY(snapshot_stack(s, b->frames, &b->seen));
	return 1;
}

static void write_block(struct snapshot *s, const struct block *b, uint32_t segment)
{
	uint32_t present = BITS_TO(COLUMN_TORCH_BLOCK_STATE);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_TORCH_BLOCK_SEGMENT] = segment;
	v[COLUMN_TORCH_BLOCK_ADDRESS] = b->address;
	v[COLUMN_TORCH_BLOCK_BYTES] = b->size;
	v[COLUMN_TORCH_BLOCK_REQUESTED] = b->requested;
	v[COLUMN_TORCH_BLOCK_STATE] = (int64_t)b->word;
	snapshot_put(v, &present, COLUMN_TORCH_BLOCK_STACK, b->seen.stack != 0, (int64_t)b->seen.stack);
	snapshot_put(v, &present, COLUMN_TORCH_BLOCK_FRAME, b->seen.own != 0, (int64_t)b->seen.own);
	if (b->state == BLOCK_INACTIVE)
		present &= ~SINK_BIT(COLUMN_TORCH_BLOCK_REQUESTED);
	sink_row(&s->sink, TABLE_TORCH_BLOCK, v, present);
}

static int keep_block(struct snapshot_device *d, const struct block *b)
{
	struct snapshot_block *kept;

	if (b->state == BLOCK_INACTIVE)
		return 0;
	kept = ARRAY_ADD(d->blocks, d->block_count, d->block_cap);
	if (!kept)
		return -ENOMEM;
	*kept = (struct snapshot_block){ .address = b->address,
					 .size = b->requested,
					 .frames = b->frames,
					 .stream = b->stream,
					 .is_allocated = b->state == BLOCK_ALLOCATED };
	d->active += b->requested;
	d->allocated += kept->is_allocated ? b->requested : 0;
	return 0;
}

struct segment {
	uint32_t id;
	struct snapshot_device *device;
	int64_t address, stream;
	int64_t allocated, active; /* bytes of blocks */
};

static int read_blocks(struct snapshot *s, uint32_t list, struct segment *segment)
{
	struct pickle_items at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	int64_t address = segment->address;
	uint32_t value;
	int r, found;

	while ((r = snapshot_next(s, &at, &value)) > 0) {
		/* Where blocks have no address, they follow each other. */
		struct block b = { .address = address, .stream = segment->stream };

		found = read_block(s, value, &b);
		TRY(found);
		s->odd += !found;
		if (!found)
			continue;
		address = (int64_t)((uint64_t)b.address + (uint64_t)b.size);
		segment->active += b.state != BLOCK_INACTIVE ? b.size : 0;
		segment->allocated += b.state == BLOCK_ALLOCATED ? b.size : 0;
		write_block(s, &b, segment->id);
		TRY(keep_block(segment->device, &b));
	}
	return r;
}

static int write_segment(struct snapshot *s, const struct members *m, const struct segment *segment, int64_t size)
{
	uint32_t present = BITS_TO(COLUMN_TORCH_SEGMENT_STREAM);
	const struct keymap_key *type = snapshot_text(s, m, FIELD_SEGMENT_TYPE);
	uint64_t pool = snapshot_pool(s, m, FIELD_SEGMENT_POOL);
	int64_t v[TABLE_MAX_COLUMNS], expandable = 0;
	int has_expandable = snapshot_integer(s, m, FIELD_EXPANDABLE, &expandable);
	struct frames_seen seen;

	TRY(snapshot_stack(s, snapshot_list(s, m, FIELD_FRAMES), &seen));
	v[COLUMN_TORCH_SEGMENT_ID] = segment->id;
	v[COLUMN_TORCH_SEGMENT_GPU] = segment->device - s->devices + 1;
	v[COLUMN_TORCH_SEGMENT_ADDRESS] = segment->address;
	v[COLUMN_TORCH_SEGMENT_BYTES] = size;
	v[COLUMN_TORCH_SEGMENT_ALLOCATED] = segment->allocated;
	v[COLUMN_TORCH_SEGMENT_ACTIVE] = segment->active;
	v[COLUMN_TORCH_SEGMENT_STREAM] = segment->stream;
	snapshot_put(v, &present, COLUMN_TORCH_SEGMENT_LARGE, type != NULL, snapshot_text_is(type, "large"));
	snapshot_put(v, &present, COLUMN_TORCH_SEGMENT_POOL, pool != 0, (int64_t)pool);
	snapshot_put(v, &present, COLUMN_TORCH_SEGMENT_EXPANDABLE, has_expandable, expandable);
	snapshot_put(v, &present, COLUMN_TORCH_SEGMENT_STACK, seen.stack != 0, (int64_t)seen.stack);
	sink_row(&s->sink, TABLE_TORCH_SEGMENT, v, present);
	return 0;
}

static int read_segment(struct snapshot *s, uint32_t value)
{
	struct segment segment = { .device = NULL };
	int64_t size, device = 0;
	struct members m;
	uint32_t blocks;
	int r = snapshot_members(s, value, &m);

	if (r <= 0 || !snapshot_size(s, &m, FIELD_TOTAL_SIZE, &size) || !snapshot_integer(s, &m, FIELD_ADDRESS, &segment.address))
		return r < 0 ? r : 0;
	snapshot_integer(s, &m, FIELD_DEVICE, &device);
	segment.device = snapshot_device(s, device);
	if (!segment.device)
		return 0;
	snapshot_integer(s, &m, FIELD_STREAM, &segment.stream);
	segment.id = ++s->next_segment;
	segment.device->reserved += size;
	blocks = snapshot_list(s, &m, FIELD_BLOCKS);
	if (blocks)
		TRY(read_blocks(s, blocks, &segment));
	TRY(write_segment(s, &m, &segment, size));
	return 1;
}

int snapshot_segments(struct snapshot *s, uint32_t list)
{
	struct pickle_items at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	uint32_t value;
	int r, found;

	while ((r = snapshot_next(s, &at, &value)) > 0) {
		found = read_segment(s, value);
		TRY(found);
		s->odd += !found;
	}
	return r;
}
