/* Files without a directory: block after block, then the journal's. Damaged stretches are
 * stepped over, and said. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "report/read/internal.h"

/* What is known of a track, to tell the journal's rows that are in the file already. */
struct known_track {
	uint64_t rows;
	int64_t time_max;
};

struct known {
	struct known_track *tracks;
	size_t count, cap;
	struct idmap numbers; /* by table and track */
};

/* One pass over a run of blocks. */
struct scan {
	struct report *r;
	struct known known;
	const uint8_t *base;
	uint64_t size;
	uint64_t at;
	int is_journal;
	uint32_t generation;
	uint32_t provisional_block; /* + 1: the last block of rows in the journal */
};

static struct known_track *known_get(struct known *k, unsigned table, uint32_t track)
{
	uint64_t key = (uint64_t)table << 32 | track, number = idmap_get(&k->numbers, key);

	if (number != IDMAP_NONE)
		return &k->tracks[number];
	if (!ARRAY_ROOM(k->tracks, k->count, k->cap, 1) || idmap_put(&k->numbers, key, k->count) < 0)
		return NULL;
	k->tracks[k->count] = (struct known_track){ .time_max = INT64_MIN };
	return &k->tracks[k->count++];
}

static void entry_from_set(const struct set_view *set, const struct block_header *h, uint32_t inside, struct entry *e)
{
	memset(e, 0, sizeof(*e));
	e->kind = BLOCK_GROUP;
	e->table = set->head.table;
	e->flags = h->flags;
	e->segment = h->segment;
	e->inside = inside;
	e->bytes = (uint32_t)set->bytes;
	e->items = set->head.rows;
	e->track = set->head.track;
	e->first = set->head.first;
	e->time_min = set->head.time_min;
	e->time_max = set->head.time_max;
	e->present = set->head.present;
}

/* Rows of the set that are in the file already. */
static uint32_t rows_known(const struct known_track *k, const struct entry *e)
{
	if (e->first >= k->rows)
		return 0;
	return k->rows - e->first >= e->items ? e->items : (uint32_t)(k->rows - e->first);
}

static int add_scan_set(struct scan *s, uint32_t block, struct entry *e)
{
	struct known_track *k = known_get(&s->known, e->table, e->track);
	uint32_t skip;

	if (!k)
		return -ENOMEM;
	skip = s->is_journal ? rows_known(k, e) : 0;
	if (e->first + e->items > k->rows)
		k->rows = e->first + e->items;
	if (skip == e->items)
		return 0;
	if (skip && e->time_min < k->time_max)
		e->time_min = k->time_max;
	if (e->time_max > k->time_max)
		k->time_max = e->time_max;
	if (s->is_journal)
		e->segment = UINT32_MAX;
	return index_group(s->r, block, e, skip);
}

/* Provisional rows that became rows since: they begin before the last one ended. */
static int64_t stale_rows(struct report *r, const struct set_view *set, int64_t time_max)
{
	const struct table_schema *schema = table_schema(set->head.table);
	struct scratch *s = NULL;
	int64_t *starts, stale = 0;
	int rc = -ENOMEM;

	if (!schema || schema->kind == TABLE_KIND_PLAIN)
		return 0;
	starts = malloc(set->head.rows * sizeof(*starts));
	s = starts ? reader_scratch_take(r) : NULL;
	if (s)
		rc = decode_column(s, set, 0, starts, NULL);
	if (s)
		reader_scratch_give(r, s);
	while (rc == 0 && stale < set->head.rows && starts[stale] < time_max)
		stale++;
	free(starts);
	TRY(rc);
	return stale;
}

static int add_provisional(struct scan *s, uint32_t block, const struct set_view *set, struct entry *e)
{
	struct known_track *k = known_get(&s->known, e->table, e->track);
	int64_t stale;

	if (!k)
		return -ENOMEM;
	stale = stale_rows(s->r, set, k->time_max);
	if (stale == -ENOMEM)
		return -ENOMEM;
	if (stale < 0 || stale >= e->items)
		return 0;
	if (stale)
		e->time_min = k->time_max;
	e->segment = UINT32_MAX;
	return index_group(s->r, block, e, (uint32_t)stale);
}

/* The sets of a block, provisional ones or the others. */
static int add_sets(struct scan *s, uint32_t block, const struct block_header *h, int provisional)
{
	struct block_ref *b = &s->r->blocks[block];
	struct cursor c = { b->payload, b->payload + b->payload_size, 0 };
	struct set_view set;
	struct entry e;
	int rc = 0;

	for (uint32_t i = 0; i < h->items && rc == 0; i++) {
		uint32_t inside = (uint32_t)(c.at - b->payload);

		if (set_parse(&c, &set) < 0) {
			reader_damage(s->r);
			reader_note(s->r, "a damaged group at byte %llu was skipped", (unsigned long long)b->offset);
			return 0;
		}
		if (!!(set.head.flags & SET_PROVISIONAL) != provisional)
			continue;
		entry_from_set(&set, h, inside, &e);
		rc = provisional ? add_provisional(s, block, &set, &e) : add_scan_set(s, block, &e);
	}
	return rc;
}

static int add_block(struct scan *s, const struct block_header *h)
{
	struct entry e = {
		.kind = h->kind, .flags = h->flags, .segment = h->segment, .items = h->items, .first = h->first, .last = h->last
	};
	uint32_t block;
	int rc;

	if (h->kind < BLOCK_GROUP || h->kind > BLOCK_BLOBS)
		return 0;
	TRY(index_block(s->r, s->base, s->size, s->at, &block));
	if (h->kind != BLOCK_GROUP)
		return index_texts(s->r, block, &e);
	rc = reader_load(s->r, block);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	if (s->is_journal)
		s->provisional_block = block + 1;
	return add_sets(s, block, h, 0);
}

/* The next sound block at or behind `from`; hashing is bounded so that a hostile
 * file cannot make this take for ever. */
static uint64_t find_block(struct scan *s, uint64_t from, uint64_t *budget)
{
	struct block_header h;
	uint32_t magic;
	uint64_t hashed;

	for (; from + sizeof(h) <= s->size && *budget; from += 8) {
		memcpy(&magic, s->base + from, sizeof(magic));
		if (magic != BLOCK_MAGIC || block_peek(s->base + from, s->size - from, &h) < 0)
			continue;
		hashed = h.kind == BLOCK_SKIP ? 0 : h.size;
		if (hashed > *budget)
			break;
		*budget -= hashed + 1 > *budget ? *budget : hashed + 1;
		if (block_sound(s->base + from, &h, s->r->seed))
			return from;
	}
	return s->size;
}

static int block_here(struct scan *s, struct block_header *h)
{
	return block_peek(s->base + s->at, s->size - s->at, h) == 0 && block_sound(s->base + s->at, h, s->r->seed) &&
	       (!s->is_journal || h->segment == s->generation);
}

static void note_skipped(struct scan *s, uint64_t from, uint64_t to)
{
	if (to == s->size) {
		reader_note(s->r, "the last %llu bytes of the %s are incomplete and were left out", (unsigned long long)(to - from),
			    s->is_journal ? "journal" : "file");
		return;
	}
	/* A journal may be read while it is being written anew. */
	if (!s->is_journal)
		reader_damage(s->r);
	reader_note(s->r, "%llu damaged bytes at byte %llu of the %s were skipped", (unsigned long long)(to - from),
		    (unsigned long long)from, s->is_journal ? "journal" : "file");
}

static int scan_blocks(struct scan *s)
{
	uint64_t budget = s->size * 2, next;
	struct block_header h;
	int rc = 0;

	while (s->at < s->size && rc == 0) {
		if (block_here(s, &h)) {
			rc = add_block(s, &h);
			s->at += block_span(&h);
			CHECK(s->at <= s->size);
			continue;
		}
		next = s->is_journal ? s->size : find_block(s, s->at + 8, &budget);
		next = next < s->size ? next : s->size;
		CHECK(next > s->at);
		note_skipped(s, s->at, next);
		s->at = next;
	}
	return rc;
}

/* The journal belongs to the file if it carries its id. */
static int scan_journal(struct scan *s)
{
	struct file_header h;
	struct block_header last;
	int rc;

	if (!s->r->journal || s->r->journal_size < sizeof(h))
		return 0;
	memcpy(&h, s->r->journal, sizeof(h));
	if (memcmp(h.magic, JOURNAL_MAGIC, sizeof(h.magic)) || !file_header_sound(&h) || h.major > FORMAT_MAJOR ||
	    memcmp(h.id, s->r->id, sizeof(h.id))) {
		reader_note(s->r, "the journal is damaged or of another recording and was left out");
		return 0;
	}
	s->base = s->r->journal;
	s->size = s->r->journal_size;
	s->at = sizeof(h);
	s->is_journal = 1;
	s->generation = (uint32_t)h.generation;
	rc = scan_blocks(s);
	if (rc < 0 || !s->provisional_block)
		return rc;
	memcpy(&last, s->r->blocks[s->provisional_block - 1].at, sizeof(last));
	return add_sets(s, s->provisional_block - 1, &last, 1);
}

int scan_file(struct report *r, uint64_t from)
{
	struct scan s = { .r = r, .base = r->map, .size = r->size, .at = from };
	int rc = scan_blocks(&s);

	if (rc == 0)
		rc = scan_journal(&s);
	free(s.known.tracks);
	idmap_release(&s.known.numbers);
	return rc;
}
