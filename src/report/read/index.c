/* What is where: from the directory's rows, or those found by scanning, to the lists of
 * groups per table and of string blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/write/detail.h"
#include "report/read/internal.h"

int index_block(struct report *r, const uint8_t *base, uint64_t size, uint64_t offset, uint32_t *ret)
{
	struct block_ref *last = r->block_count ? &r->blocks[r->block_count - 1] : NULL;

	if (!last || last->at != base + offset) {
		if (r->block_count >= UINT32_MAX || !ARRAY_ROOM(r->blocks, r->block_count, r->block_capacity, 1))
			return -ENOMEM;
		last = &r->blocks[r->block_count++];
		memset(last, 0, sizeof(*last));
		last->at = base + offset;
		last->left = size - offset;
		last->offset = offset;
	}
	*ret = (uint32_t)(last - r->blocks);
	return 0;
}

static int group_possible(const struct table_schema *schema, const struct entry *e, uint32_t skip)
{
	if (e->items == 0 || e->items > SET_MAX_ROWS || skip >= e->items)
		return 0;
	if (schema->kind == TABLE_KIND_SPAN && (e->present & 3) != 3)
		return 0;
	return schema->kind != TABLE_KIND_POINT || (e->present & 1);
}

/* A set whose columns repeat themselves takes 30 bytes for 65,536 rows, packed with others a tenth of one: a small file could
 * keep every reader busy for ever. Of what is recorded, the densest (counters of one value, at one pace) has 100 rows a byte,
 * and 550 as long as there are no levels of detail. */
static uint64_t rows_possible(const struct report *r)
{
	return (1u << 24) + (r->size + r->journal_size) * (r->partial ? 1024 : 256);
}

static void leave_out(struct report *r)
{
	reader_damage(r);
	if (!r->has_too_many)
		reader_note(r, "it has more rows than a file of its size can hold: those from %llu on were left out",
			    (unsigned long long)rows_possible(r));
	r->has_too_many = 1;
}

int index_group(struct report *r, uint32_t block, const struct entry *e, uint32_t skip)
{
	const struct table_schema *schema = table_schema(e->table);
	struct table_groups *t = &r->tables[e->table];

	if (!schema) {
		r->unknown_groups++;
		return 0;
	}
	if (!group_possible(schema, e, skip)) {
		reader_damage(r);
		reader_note(r, "an impossible group of table %s was skipped", schema->name);
		return 0;
	}
	if (r->rows + e->items > rows_possible(r)) {
		leave_out(r);
		return 0;
	}
	if (!LIST_ROOM(t->groups, t->count) || !LIST_ROOM(t->places, t->count))
		return -ENOMEM;
	t->groups[t->count] = (struct report_group){
		.track = e->track,
		.rows = e->items - skip,
		.first_row = t->rows,
		.time_min = e->time_min,
		.time_max = e->time_max,
		.present = (uint32_t)(e->present & ((1ull << schema->column_count) - 1)),
		.segment = e->segment,
	};
	t->places[t->count++] = (struct set_address){ block, e->inside, e->bytes, e->items, skip };
	t->rows += e->items - skip;
	r->rows += e->items - skip;
	return 0;
}

/* Ids far beyond the number of texts, or more texts than fit, would make readers
 * allocate for nothing. Blobs may begin anywhere: those before were dropped. */
static int ids_possible(const struct text_store *s, const struct entry *e, uint64_t left)
{
	uint64_t low = e->kind == BLOCK_STRINGS ? 0 : s->items && s->lowest < e->first ? s->lowest : e->first;
	uint64_t high = e->last < s->limit ? s->limit - 1 : e->last;

	return e->items && e->items <= left * MAX_RATIO + RATIO_ALLOWANCE && e->first && e->first <= e->last && e->last < UINT32_MAX &&
	       (high - low) / 16 <= s->items + e->items + (1u << 20);
}

int index_texts(struct report *r, uint32_t block, const struct entry *e)
{
	struct text_store *s = e->kind == BLOCK_STRINGS ? &r->strings : &r->blobs;
	struct text_block added = { .first = e->first, .last = e->last, .block = block };
	int in_order;

	if (!ids_possible(s, e, r->blocks[block].left)) {
		reader_damage(r);
		reader_note(r, "a damaged block of %s was skipped", e->kind == BLOCK_STRINGS ? "strings" : "blobs");
		return 0;
	}
	in_order = !(e->flags & BLOCK_LATE) && (!s->ordered_count || s->ordered[s->ordered_count - 1].last < e->first);
	if (in_order ? !ARRAY_ROOM(s->ordered, s->ordered_count, s->ordered_capacity, 1) :
		       !ARRAY_ROOM(s->late, s->late_count, s->late_capacity, 1))
		return -ENOMEM;
	if (in_order)
		s->ordered[s->ordered_count++] = added;
	else
		s->late[s->late_count++] = added;
	if (!s->items || e->first < s->lowest)
		s->lowest = e->first;
	s->items += e->items;
	if (e->last + 1 > s->limit)
		s->limit = e->last + 1;
	return 0;
}

/* So many entries a directory of any size may have: thousands of threads that did little, and the same, take less than a byte each. */
#define ENTRY_ALLOWANCE (1u << 20)

/* The columns of a piece of the directory. */
struct directory_rows {
	int64_t *columns[DIRECTORY_COLUMNS];
	uint32_t rows;
};

static void entry_from_row(const struct directory_rows *d, uint32_t i, struct entry *e)
{
	memset(e, 0, sizeof(*e));
	e->kind = (uint8_t)d->columns[DIRECTORY_KIND][i];
	e->table = (uint8_t)d->columns[DIRECTORY_ITS_TABLE][i];
	e->flags = (uint16_t)d->columns[DIRECTORY_FLAGS][i];
	e->segment = (uint32_t)d->columns[DIRECTORY_SEGMENT][i];
	e->offset = (uint64_t)d->columns[DIRECTORY_OFFSET][i];
	e->inside = (uint32_t)d->columns[DIRECTORY_INSIDE][i];
	e->bytes = (uint32_t)d->columns[DIRECTORY_BYTES][i];
	e->items = (uint32_t)d->columns[DIRECTORY_ITEMS][i];
	e->track = (uint32_t)d->columns[DIRECTORY_TRACK][i];
	e->first = (uint64_t)d->columns[DIRECTORY_FIRST][i];
	e->last = (uint64_t)d->columns[DIRECTORY_LAST][i];
	e->time_min = d->columns[DIRECTORY_TIME_MIN][i];
	e->time_max = d->columns[DIRECTORY_TIME_MAX][i];
	e->present = (uint32_t)d->columns[DIRECTORY_PRESENT][i];
}

/* Only level 0 tells of it: what cannot have one, or comes without an order, is none. */
static int index_absent(struct report *r, const struct entry *e)
{
	const struct table_schema *schema = table_schema(e->table);
	struct table_groups *t = &r->tables[e->table];
	struct report_group *added;

	if (!schema || schema->kind == TABLE_KIND_PLAIN || e->items < DETAIL_MIN_ROWS || e->items > SET_MAX_ROWS || !e->track ||
	    e->time_max < e->time_min)
		return 0;
	added = LIST_ADD(t->absent, t->absent_count);
	if (!added)
		return -ENOMEM;
	*added = (struct report_group){
		.track = e->track, .rows = e->items, .time_min = e->time_min, .time_max = e->time_max, .segment = e->segment
	};
	return 0;
}

static int index_entry(struct report *r, const struct entry *e, void *context)
{
	uint32_t block;

	(void)context;
	if (e->kind == BLOCK_ABSENT)
		return index_absent(r, e);
	if (e->kind < BLOCK_GROUP || e->kind > BLOCK_BLOBS)
		return 0; /* of a newer minor version */
	TRY(index_block(r, r->map, r->size, e->offset, &block));
	return e->kind == BLOCK_GROUP ? index_group(r, block, e, 0) : index_texts(r, block, e);
}

/* Goes through the directory's rows in order. */
struct directory_walk {
	struct report *report;
	directory_fn take;
	void *context;
	struct entry previous; /* the last that has a block */
	struct directory_rows rows;
};

/* What is in the file is named once, in its order: entries of the same bytes would let a small file stand for any amount. */
static int follows_entry(const struct directory_walk *w, const struct entry *e)
{
	const struct entry *last = &w->previous;

	if (e->offset % 8 || e->offset > w->report->size)
		return 0;
	if (e->offset != last->offset || !last->kind)
		return e->offset > last->offset || !last->kind;
	return e->kind == BLOCK_GROUP && last->kind == BLOCK_GROUP && last->bytes && e->inside >= last->inside &&
	       e->inside - last->inside >= last->bytes;
}

static int walk_rows(struct directory_walk *w)
{
	struct report *r = w->report;
	struct entry e;
	int rc = 0;

	for (uint32_t i = 0; i < w->rows.rows && rc == 0; i++) {
		entry_from_row(&w->rows, i, &e);
		if (e.kind >= BLOCK_GROUP && e.kind <= BLOCK_BLOBS) {
			if (!follows_entry(w, &e))
				return -EBADMSG;
			w->previous = e;
		}
		rc = w->take(r, &e, w->context);
	}
	return rc;
}

static int decode_rows(struct report *r, const struct set_view *set, struct directory_rows *d)
{
	struct scratch *s = reader_scratch_take(r);
	int rc = s ? 0 : -ENOMEM;

	d->rows = set->head.rows;
	for (unsigned c = 0; c < DIRECTORY_COLUMNS && rc == 0; c++)
		rc = decode_column(s, set, c, d->columns[c], NULL);
	if (s)
		reader_scratch_give(r, s);
	return rc;
}

static int walk_sets(struct directory_walk *w, struct cursor *c, uint32_t items)
{
	/* Every entry stands for some bytes of its own, but for those of many small sets that are packed together. */
	uint64_t left = w->report->size / 4 + ENTRY_ALLOWANCE;
	struct set_view set;

	for (uint32_t i = 0; i < items; i++) {
		TRY(set_parse(c, &set));
		if (set.head.table != DIRECTORY_TABLE || set.head.rows > left)
			return -EBADMSG;
		left -= set.head.rows;
		TRY(decode_rows(w->report, &set, &w->rows));
		TRY(walk_rows(w));
	}
	return 0;
}

static int walk_payload(struct directory_walk *w, const uint8_t *payload, uint64_t size, uint32_t items)
{
	int64_t *room = malloc((size_t)DIRECTORY_COLUMNS * SET_MAX_ROWS * sizeof(*room));
	struct cursor c = { payload, payload + size, 0 };
	int rc;

	if (!room)
		return -ENOMEM;
	for (unsigned i = 0; i < DIRECTORY_COLUMNS; i++)
		w->rows.columns[i] = room + (size_t)i * SET_MAX_ROWS;
	rc = walk_sets(w, &c, items);
	free(room);
	return rc;
}

int directory_walk(struct report *r, const struct footer *footer, directory_fn take, void *context, struct error *err)
{
	struct directory_walk w = { .report = r, .take = take, .context = context };
	const uint8_t *payload;
	struct block_header h;
	uint8_t *owned;
	int rc;

	if (footer->directory_offset % 8 || footer->directory_offset > r->size ||
	    block_peek(r->map + footer->directory_offset, r->size - footer->directory_offset, &h) < 0 || h.kind != BLOCK_DIRECTORY ||
	    !block_sound(r->map + footer->directory_offset, &h, r->seed))
		return error_set(err, EBADMSG, "its directory is damaged");
	rc = block_payload(r->map + footer->directory_offset, &h, &payload, &owned);
	if (rc == 0)
		rc = walk_payload(&w, payload, h.raw_size, h.items);
	free(owned);
	if (rc == -EBADMSG)
		error_set(err, EBADMSG, "its directory is damaged");
	return rc;
}

int index_directory(struct report *r, const struct footer *footer, struct error *err)
{
	return directory_walk(r, footer, index_entry, NULL, err);
}
