/* A report taken apart into its blocks, row sets, texts and directory, to be changed and put together again with offsets,
 * sizes and checksums that are right: what reads it then meets the change, and not a checksum. */
#ifndef SONDE_TESTS_FUZZ_REPORT_MODEL_H
#define SONDE_TESTS_FUZZ_REPORT_MODEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mend.h"
#include "report/read/internal.h"
#include "report/format/rowset.h"

#define MODEL_BLOCKS 160
#define MODEL_SETS 400
#define MODEL_ENTRIES 600
#define MODEL_NONE UINT32_MAX

/* Bytes of a block's payload, from one set to the next; the only one of a block of another kind. */
struct model_set {
	struct buf bytes;
	uint32_t block;
	uint32_t inside; /* where it was in the payload, then where it is */
	bool changed;    /* the directory is to say what its head says */
};

struct model_block {
	struct block_header header;
	uint64_t offset; /* where it was in the file, then where it is */
	bool is_opaque;  /* could not be unpacked: its bytes are as stored */
	bool is_gone;
};

struct model_entry {
	struct entry row;
	uint32_t block; /* MODEL_NONE: none of those of the file */
	uint32_t set;
};

struct model {
	struct file_header header;
	struct model_block blocks[MODEL_BLOCKS];
	size_t block_count;
	struct model_set sets[MODEL_SETS]; /* in the order of the blocks */
	size_t set_count;
	struct model_entry entries[MODEL_ENTRIES];
	size_t entry_count;
	bool has_directory;
	uint64_t rows;
	ZSTD_CCtx *cctx;
};

static inline void model_release(struct model *m)
{
	for (size_t i = 0; i < m->set_count; i++)
		buf_release(&m->sets[i].bytes);
	ZSTD_freeCCtx(m->cctx);
	free(m);
}

static inline bool model_add_set(struct model *m, uint32_t block, uint64_t inside, const void *bytes, size_t size)
{
	struct model_set *set = &m->sets[m->set_count];

	if (m->set_count == MODEL_SETS)
		return false;
	*set = (struct model_set){ .bytes = BUF_INIT, .block = block, .inside = (uint32_t)inside };
	m->set_count++;
	return buf_append(&set->bytes, bytes, size) == 0;
}

/* Sets one by one as long as they can be told apart; what is left is one more. */
static inline bool model_add_sets(struct model *m, uint32_t block, const uint8_t *payload, size_t size)
{
	struct cursor c = { payload, payload + size, 0 };
	struct set_view set;

	while (m->blocks[block].header.kind == BLOCK_GROUP && c.at < c.end) {
		const uint8_t *start = c.at;

		if (set_parse(&c, &set) < 0) {
			c.at = start;
			break;
		}
		if (!model_add_set(m, block, (uint64_t)(start - payload), start, set.bytes))
			return false;
	}
	return c.at == c.end || model_add_set(m, block, (uint64_t)(c.at - payload), c.at, (size_t)(c.end - c.at));
}

static inline bool model_add_block(struct model *m, const uint8_t *at, const struct block_header *h, uint64_t offset)
{
	struct model_block *b = &m->blocks[m->block_count];
	const uint8_t *payload;
	uint8_t *owned = NULL;
	bool good;

	if (m->block_count == MODEL_BLOCKS)
		return false;
	*b = (struct model_block){ .header = *h, .offset = offset };
	if (block_payload(at, h, &payload, &owned) < 0) {
		b->is_opaque = true;
		payload = at + sizeof(*h);
	}
	m->block_count++;
	good = b->is_opaque ? model_add_set(m, (uint32_t)m->block_count - 1, 0, payload, h->size) :
			      model_add_sets(m, (uint32_t)m->block_count - 1, payload, h->raw_size);
	free(owned);
	return good;
}

/* Which set an entry of the directory is about. */
static inline int model_take_entry(struct report *r, const struct entry *e, void *context)
{
	struct model *m = context;
	struct model_entry *entry = &m->entries[m->entry_count];

	if (m->entry_count == MODEL_ENTRIES)
		return -ENOSPC;
	*entry = (struct model_entry){ *e, MODEL_NONE, MODEL_NONE };
	for (size_t b = 0; b < m->block_count && entry->block == MODEL_NONE; b++)
		if (m->blocks[b].offset == e->offset && e->kind < BLOCK_DIRECTORY)
			entry->block = (uint32_t)b;
	for (size_t s = 0; s < m->set_count && entry->block != MODEL_NONE; s++)
		if (m->sets[s].block == entry->block && m->sets[s].inside == e->inside)
			entry->set = (uint32_t)s;
	m->entry_count++;
	return 0;
}

static inline bool model_take_directory(struct model *m, const uint8_t *data, size_t size)
{
	struct footer footer;
	struct report *r;
	struct error err;
	bool good = true;

	if (report_open_memory(&r, data, size, NULL, 0, &err) < 0)
		return true; /* a new one is made */
	if (reader_footer(r, &footer)) {
		m->has_directory = true;
		m->rows = footer.rows;
		good = directory_walk(r, &footer, model_take_entry, m, &err) != -ENOSPC;
	}
	report_close(r);
	return good;
}

/* NULL where it is no report, or one that is too large. */
static inline struct model *model_load(const uint8_t *data, size_t size)
{
	struct model *m;
	struct block_header h;
	bool good = true;

	if (size < sizeof(struct file_header) || !(m = calloc(1, sizeof(*m))))
		return NULL;
	memcpy(&m->header, data, sizeof(m->header));
	m->cctx = ZSTD_createCCtx();
	for (uint64_t at = sizeof(m->header); good && at < size && block_peek(data + at, size - at, &h) == 0; at += block_span(&h))
		if (h.kind != BLOCK_DIRECTORY && h.kind != BLOCK_FOOTER && h.kind != BLOCK_SKIP)
			good = h.size < 1u << 20 && h.raw_size < 1u << 20 && model_add_block(m, data + at, &h, at);
	if (good && m->block_count && model_take_directory(m, data, size))
		return m;
	model_release(m);
	return NULL;
}

/* What the directory says of a set, from its head. */
static inline void model_describe(const struct model_set *set, const struct model_block *b, struct entry *e)
{
	struct cursor c = { (const uint8_t *)set->bytes.data, (const uint8_t *)set->bytes.data + set->bytes.len, 0 };
	struct set_view view;

	e->kind = b->header.kind;
	e->flags = b->header.flags & (uint16_t)~BLOCK_COMPRESSED;
	e->segment = b->header.segment;
	e->bytes = (uint32_t)set->bytes.len;
	if (b->header.kind != BLOCK_GROUP) {
		e->items = b->header.items;
		e->first = b->header.first;
		e->last = b->header.last;
	} else if (set_parse(&c, &view) == 0) {
		e->table = view.head.table;
		e->items = view.head.rows;
		e->track = view.head.track;
		e->first = view.head.first;
		e->time_min = view.head.time_min;
		e->time_max = view.head.time_max;
		e->present = view.head.present;
	}
}

static inline void model_add_entry(struct model *m, uint32_t set)
{
	struct model_entry *e = &m->entries[m->entry_count];

	if (m->entry_count == MODEL_ENTRIES)
		return;
	*e = (struct model_entry){ .block = m->sets[set].block, .set = set };
	model_describe(&m->sets[set], &m->blocks[m->sets[set].block], &e->row);
	m->entry_count++;
}

static inline int model_put_block(struct model *m, uint32_t number, uint64_t seed, struct buf *out)
{
	struct model_block *b = &m->blocks[number];
	struct block_header h = b->header;
	struct buf payload = BUF_INIT;
	int r = 0;

	for (size_t s = 0; s < m->set_count && r == 0; s++) {
		if (m->sets[s].block != number)
			continue;
		m->sets[s].inside = (uint32_t)payload.len;
		r = buf_append(&payload, m->sets[s].bytes.data, m->sets[s].bytes.len);
	}
	b->offset = out->len;
	if (r == 0)
		r = block_append(out, &h, payload.data, payload.len, h.flags & BLOCK_COMPRESSED && !b->is_opaque ? m->cctx : NULL, seed);
	if (r == 0 && b->is_opaque) {
		h.flags = b->header.flags;
		h.raw_size = b->header.raw_size;
		mend_block((uint8_t *)out->data + b->offset, &h, seed);
	}
	buf_release(&payload);
	return r;
}

static inline void model_row(const struct entry *e, int64_t *values)
{
	/* clang-format off */
	const int64_t row[DIRECTORY_COLUMNS] = {
		e->kind, e->table, e->flags, e->segment, (int64_t)e->offset, e->inside, e->bytes, e->items, e->track,
		(int64_t)e->first, (int64_t)e->last, e->time_min, e->time_max, e->present,
	};
	/* clang-format on */

	memcpy(values, row, sizeof(row));
}

static inline int model_put_directory(struct model *m, uint64_t seed, struct buf *out)
{
	static int64_t columns[DIRECTORY_COLUMNS][MODEL_ENTRIES];
	struct block_header h = { .kind = BLOCK_DIRECTORY, .flags = BLOCK_META, .items = 1, .first = m->entry_count };
	struct row_set rows = {
		.head = { .table = DIRECTORY_TABLE, .rows = (uint32_t)m->entry_count, .present = (1u << DIRECTORY_COLUMNS) - 1 }
	};
	struct buf payload = BUF_INIT;
	struct encoder encoder;
	int64_t values[DIRECTORY_COLUMNS];
	int r;

	for (size_t i = 0; i < m->entry_count; i++) {
		model_row(&m->entries[i].row, values);
		for (unsigned c = 0; c < DIRECTORY_COLUMNS; c++)
			columns[c][i] = values[c];
	}
	for (unsigned c = 0; c < DIRECTORY_COLUMNS; c++) {
		rows.columns[c] = columns[c];
		rows.counts[c] = (uint32_t)m->entry_count;
	}
	h.items = m->entry_count > 0;
	r = encoder_init(&encoder);
	if (r == 0 && m->entry_count)
		r = encode_set(&encoder, &rows, 0, &payload);
	if (r == 0)
		r = block_append(out, &h, payload.data, payload.len, NULL, seed);
	encoder_release(&encoder);
	buf_release(&payload);
	return r;
}

static inline int model_put_footer(struct model *m, uint64_t directory, uint64_t seed, struct buf *out)
{
	struct block_header h = { .kind = BLOCK_FOOTER, .flags = BLOCK_META };
	struct footer footer = { .directory_offset = directory,
				 .directory_size = out->len - directory,
				 .file_size = out->len + FOOTER_BLOCK_SIZE,
				 .rows = m->rows,
				 .magic = FOOTER_MAGIC };

	return block_append(out, &h, &footer, sizeof(footer), NULL, seed);
}

/* Entries follow their blocks and sets. */
static inline void model_settle(struct model *m)
{
	if (!m->has_directory)
		for (uint32_t s = 0; s < m->set_count; s++)
			model_add_entry(m, s);
	m->has_directory = true;
	for (size_t i = 0; i < m->entry_count; i++) {
		struct model_entry *e = &m->entries[i];

		if (e->block == MODEL_NONE)
			continue;
		e->row.offset = m->blocks[e->block].offset;
		if (e->set == MODEL_NONE)
			continue;
		e->row.inside = m->sets[e->set].inside;
		if (m->sets[e->set].changed)
			model_describe(&m->sets[e->set], &m->blocks[e->block], &e->row);
	}
}

static inline void model_drop_gone(struct model *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->entry_count; i++)
		if (m->entries[i].block == MODEL_NONE || !m->blocks[m->entries[i].block].is_gone)
			m->entries[kept++] = m->entries[i];
	m->entry_count = kept;
}

/* The whole file, appended to `out`. */
static inline int model_save(struct model *m, struct buf *out)
{
	uint64_t seed = block_seed(m->header.id), directory;
	int r;

	file_header_seal(&m->header);
	r = buf_append(out, &m->header, sizeof(m->header));
	for (uint32_t b = 0; b < m->block_count && r == 0; b++)
		if (!m->blocks[b].is_gone)
			r = model_put_block(m, b, seed, out);
	if (r < 0)
		return r;
	model_settle(m);
	model_drop_gone(m);
	directory = out->len;
	r = model_put_directory(m, seed, out);
	return r < 0 ? r : model_put_footer(m, directory, seed, out);
}

#endif
