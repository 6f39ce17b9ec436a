#include "view/tiles/tile.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/cleanup.h"
#include "report/write/detail.h"
#include "view/report/coarse.h"
#include "view/events/lines.h"

/* Heat lines are exact up to so many rows. */
#define HEAT_EXACT_ROWS 262144u

bool tile_init(struct tile *t, unsigned level, int64_t index)
{
	int64_t most = INT64_MAX >> (level + TILE_SHIFT + 1);

	if (level > TILE_MAX_LEVEL || index > most || index < -most)
		return false;
	/* What is listed is long, and counted. */
	memset(t, 0, offsetof(struct tile, listed));
	t->level = level;
	t->index = index;
	t->from = index * (INT64_C(1) << (level + TILE_SHIFT));
	t->to = t->from + (INT64_C(1) << (level + TILE_SHIFT));
	return true;
}

void tile_clear(struct tile *t)
{
	memset(t->buckets, 0, sizeof(t->buckets));
	t->listed_count = 0;
	t->least = 0;
}

static uint64_t span(int64_t start, int64_t end)
{
	return (uint64_t)end - (uint64_t)start;
}

static unsigned bucket_at(const struct tile *t, int64_t time)
{
	uint64_t bucket = span(t->from, time) >> t->level;

	CHECK(bucket < TILE_BUCKETS);
	return (unsigned)bucket;
}

static int64_t bucket_start(const struct tile *t, unsigned bucket)
{
	return t->from + ((int64_t)bucket << t->level);
}

/* Gives or takes the time from start to end, which may lie outside. */
static void change_tile_time(struct tile *t, int64_t start, int64_t end, bool take)
{
	int64_t from = start > t->from ? start : t->from, to = end < t->to ? end : t->to, edge;

	for (unsigned b; from < to; from = edge) {
		b = bucket_at(t, from);
		edge = bucket_start(t, b) + (INT64_C(1) << t->level);
		edge = edge < to ? edge : to;
		if (take)
			t->buckets[b].busy -= span(from, edge) < t->buckets[b].busy ? span(from, edge) : t->buckets[b].busy;
		else
			t->buckets[b].busy += span(from, edge);
		t->buckets[b].touched |= !take;
	}
}

static void list(struct tile *t, const struct listed *event)
{
	if (t->listed_count < TILE_MAX_LISTED)
		t->listed[t->listed_count++] = *event;
}

static void sum_up_event(struct tile *t, const struct listed *event)
{
	struct bucket *b;

	change_tile_time(t, event->start, event->end, false);
	if (event->start < t->from)
		return;
	b = &t->buckets[bucket_at(t, event->start)];
	b->touched = true;
	if (b->begins++ == 0)
		b->first = event->index;
	if (!b->name || span(event->start, event->end) > b->longest) {
		b->longest = span(event->start, event->end);
		b->name = event->name;
	}
}

void tile_add_event(struct tile *t, const struct listed *event)
{
	bool is_point = event->start == event->end;

	if (event->start >= t->to || (event->end <= t->from && event->start < t->from))
		return;
	if (!t->heat && (span(event->start, event->end) >> t->level ||
			 (is_point && t->level <= TILE_POINT_LEVEL && table_schema(t->table)->kind == TABLE_KIND_POINT)))
		list(t, event);
	else
		sum_up_event(t, event);
}

/* Most are: short, and within one bucket. */
static inline bool add_plain(struct tile *t, const struct listed *event)
{
	uint64_t length = span(event->start, event->end), at = span(t->from, event->start);
	struct bucket *b;

	if (event->start < t->from || length >> t->level || length == 0 || at >> t->level != (at + length - 1) >> t->level)
		return false;
	CHECK(at >> t->level < TILE_BUCKETS);
	b = &t->buckets[at >> t->level];
	b->busy += length;
	if (b->begins++ == 0)
		b->first = event->index;
	if (!b->name || length > b->longest) {
		b->longest = length;
		b->name = event->name;
	}
	return true;
}

static void add_rows_to_tile(struct tile *t, const struct row_group *p, const struct decoded_rows *c, uint64_t before)
{
	uint32_t low = 0, high = c->rows, middle;
	uint64_t first = before + p->first;

	/* The first that may reach into the tile: rows are in order and do not overlap. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->end[middle] < t->from)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i < c->rows && c->start[i] < t->to; i++) {
		struct listed event = { .start = c->start[i],
					.end = c->end[i],
					.index = first + i,
					.name = c->names ? c->names[i] : 0,
					.flags = c->flags ? c->flags[i] : 0 };

		if (t->by_line && group_line(p, i) != t->line)
			continue;
		if (!add_plain(t, &event))
			tile_add_event(t, &event);
	}
}

/* A bucket of a summary that is not wider than the tile's: it lies in one of them. */
static void add_bucket(struct tile *t, const struct summary *s, uint32_t i, uint64_t first)
{
	struct bucket *b = &t->buckets[bucket_at(t, s->start[i])];

	b->busy += s->busy[i];
	if (s->rows[i] && b->begins == 0)
		b->first = first;
	b->begins += s->rows[i];
	if (s->names[i] && (!b->name || s->busy[i] > b->longest)) {
		b->longest = s->busy[i];
		b->name = s->names[i];
	}
}

/* What is listed is not summed up. It may be listed in one line, and have been summed up in another. */
static void take_event_out(struct tile *t, const struct listed *event, bool is_here, bool is_summed)
{
	struct bucket *b;

	if (!(span(event->start, event->end) >> t->level) || event->start >= t->to || (event->end <= t->from && event->start < t->from))
		return;
	if (is_here)
		list(t, event);
	if (!is_summed)
		return;
	change_tile_time(t, event->start, event->end, true);
	if (event->start < t->from)
		return;
	b = &t->buckets[bucket_at(t, event->start)];
	b->begins -= b->begins > 0;
	if (b->first == event->index)
		b->first++;
}

static void take_out_of_summary(struct tile *t, const struct row_group *p, const struct summary *s, uint64_t before, bool is_summed)
{
	for (uint32_t i = 0; i < s->long_count; i++) {
		const struct summary_long *l = &s->longs[i];
		struct listed event = {
			.start = l->start, .end = l->end, .index = before + l->row, .name = s->names[l->bucket], .flags = l->flags
		};

		take_event_out(t, &event, !t->by_line || group_line(p, l->row - p->first) == t->line, is_summed);
	}
}

/* What was rounded may be left over where a listed event was taken out. */
static void note_rounding(struct tile *t, unsigned level)
{
	if (level > DETAIL_BITS && UINT64_C(1) << (level - DETAIL_BITS) > t->least)
		t->least = UINT64_C(1) << (level - DETAIL_BITS);
}

/* Coarser than the tile: spread evenly. */
static void spread_bucket(struct tile *t, const struct summary *s, uint32_t i)
{
	int64_t start = s->start[i], end = start + (INT64_C(1) << s->level);
	int64_t from = start > t->from ? start : t->from, to = end < t->to ? end : t->to;

	for (int64_t at = from; at < to; at += INT64_C(1) << t->level) {
		struct bucket *b = &t->buckets[bucket_at(t, at)];

		b->busy += s->busy[i] >> (s->level - t->level);
		b->touched = true;
		if (!t->heat && !b->name)
			b->name = s->names[i];
	}
}

static void add_summary_to_tile(struct tile *t, const struct row_group *p, const struct summary *s, uint64_t before)
{
	bool finer = s->level <= t->level, is_summed = !t->by_line || p->line == t->line;
	uint64_t first = before + p->first;

	for (uint32_t i = 0; i < s->count && s->start[i] < t->to && is_summed; i++) {
		if (finer && s->start[i] >= t->from)
			add_bucket(t, s, i, first);
		else if (!finer && s->start[i] + (INT64_C(1) << s->level) > t->from)
			spread_bucket(t, s, i);
		first += s->rows[i];
	}
	if (!t->heat)
		take_out_of_summary(t, p, s, before, is_summed);
	note_rounding(t, s->level);
}

static bool group_is_near(const struct tile *t, const struct row_group *p)
{
	return p->time_min < t->to && p->time_max >= t->from;
}

static bool lists_points(const struct tile *t)
{
	return table_schema(t->table)->kind == TABLE_KIND_POINT && t->level <= TILE_POINT_LEVEL;
}

static int add_group_to_tile(struct tile *t, struct view_report *r, const struct row_group *p, uint64_t before, bool coarse)
{
	const struct summary *s = NULL;
	const struct decoded_rows *c;

	if (p->summary != NO_SUMMARY && (p->absent || ((coarse || p->summary_level <= t->level) && !lists_points(t))) &&
	    store_summary(r, p, &s) == 0) {
		add_summary_to_tile(t, p, s, before);
		store_give(r->store, s);
		return 0;
	}
	TRY(store_decoded_rows(r, p, &c));
	add_rows_to_tile(t, p, c, before);
	store_give(r->store, c);
	return 0;
}

static void list_long(struct tile *t, const struct view_report *r, const struct view_track *track, const struct coarse_long *l)
{
	struct listed event = { .start = l->start, .end = l->end, .index = track->before + l->row, .name = l->name, .flags = l->flags };

	take_event_out(t, &event, !t->by_line || event_line(r, track, l->row) == t->line, !t->by_line || track->line == t->line);
}

/* Rows do not overlap: the first long one that may reach into the tile. */
static void list_longs(struct tile *t, const struct view_report *r, const struct view_track *track, const struct coarse *c)
{
	uint32_t low = 0, high = c->long_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->longs[middle].end < t->from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->long_count && c->longs[low].start < t->to; low++)
		list_long(t, r, track, &c->longs[low]);
}

static void add_coarse(struct tile *t, const struct view_report *r, const struct view_track *track, const struct coarse *c)
{
	int64_t from = (t->from >> c->level) - c->base, to = (t->to >> c->level) - c->base;

	from = from > 0 ? from : 0;
	to = to < (int64_t)c->count ? to : (int64_t)c->count;
	for (int64_t i = from; i < to && (!t->by_line || track->line == t->line); i++) {
		const struct coarse_bucket *s = &c->buckets[i];
		struct bucket *b = &t->buckets[bucket_at(t, (int64_t)((uint64_t)(c->base + i) << c->level))];
		uint64_t busy = coarse_busy(c, (uint32_t)i);
		uint32_t rows = s[1].first - s->first;

		b->busy += busy;
		if (rows && b->begins == 0)
			b->first = track->before + s->first;
		b->begins += rows;
		if (s->name && (!b->name || busy > b->longest)) {
			b->longest = busy;
			b->name = s->name;
		}
	}
	if (!t->heat)
		list_longs(t, r, track, c);
	note_rounding(t, c->level);
}

static int add_track_to_tile(struct tile *t, struct view_report *r, const struct view_track *track, bool coarse)
{
	const struct coarse *c = atomic_load_explicit(&track->coarse, memory_order_acquire);
	int rc = 0;

	t->table = track->table;
	if (c && c->level <= t->level && !lists_points(t)) {
		add_coarse(t, r, track, c);
		return 0;
	}
	for (size_t i = 0; i < track->group_count && rc == 0; i++) {
		const struct row_group *p = &r->groups[track->group + i];

		if (group_is_near(t, p))
			rc = add_group_to_tile(t, r, p, track->before, coarse);
	}
	return rc;
}

int tile_add_track(struct tile *t, struct view_report *r, const struct view_track *track)
{
	t->heat = false;
	return add_track_to_tile(t, r, track, false);
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Lanes of one table have their lines one below the other. */
static unsigned first_line(const struct view_report *r, const struct row *row, unsigned line)
{
	unsigned first = 0;

	for (uint32_t i = 0; i < row->track_count; i++)
		if (r->tracks[row->tracks[i]].first_line <= line)
			first = r->tracks[row->tracks[i]].first_line;
	return first;
}

int tile_add_line(struct tile *t, struct view_report *r, const struct row *row, unsigned line)
{
	unsigned first = first_line(r, row, line);
	int rc = 0;

	t->by_line = true;
	t->line = line;
	for (uint32_t i = 0; i < row->track_count && rc == 0; i++)
		if (r->tracks[row->tracks[i]].first_line == first)
			rc = tile_add_track(t, r, &r->tracks[row->tracks[i]]);
	t->by_line = false;
	if (t->listed_count)
		qsort(t->listed, t->listed_count, sizeof(t->listed[0]), compare_listed);
	return rc;
}

/* Rows that would have to be decoded. */
static uint64_t rows_to_decode(const struct tile *t, const struct view_report *r, const struct view_track *track)
{
	uint64_t rows = 0;

	const struct coarse *c = atomic_load_explicit(&track->coarse, memory_order_acquire);

	if (c && c->level <= t->level)
		return 0;
	for (size_t i = 0; i < track->group_count; i++) {
		const struct row_group *p = &r->groups[track->group + i];

		if (group_is_near(t, p) && (p->summary == NO_SUMMARY || p->summary_level > t->level))
			rows += p->rows;
	}
	return rows;
}

int tile_add_heat(struct tile *t, struct view_report *r, const struct view_track *const *tracks, size_t count)
{
	uint64_t rows = 0;
	int rc = 0;

	t->heat = true;
	for (size_t i = 0; i < count; i++)
		rows += rows_to_decode(t, r, tracks[i]);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_track_to_tile(t, r, tracks[i], rows > HEAT_EXACT_ROWS);
	/* The line has one colour: of what stands first. */
	t->table = count ? tracks[0]->table : 0;
	return rc;
}

bool tile_has(const struct tile *t, unsigned bucket)
{
	const struct bucket *b = &t->buckets[bucket];

	return b->touched || b->begins || b->busy > t->least;
}

static uint8_t share_among(uint64_t busy, uint64_t width, uint32_t among)
{
	double share = ceil((double)busy * 255 / ((double)width * among));

	return share < 1 ? 1 : share > 255 ? 255 : (uint8_t)share;
}

uint8_t tile_share(const struct tile *t, unsigned bucket)
{
	const struct bucket *b = &t->buckets[bucket];
	uint64_t width = UINT64_C(1) << t->level, busy = b->busy < width ? b->busy : width, share;

	if (!tile_has(t, bucket))
		return 0;
	if (t->among > 1)
		return share_among(b->busy, width, t->among);
	/* Up to 2^50 ns: no overflow. */
	share = (busy * 255 + width - 1) >> t->level;
	return share ? (uint8_t)share : 1;
}
