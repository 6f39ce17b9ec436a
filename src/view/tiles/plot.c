/* Counters in the buckets of a tile. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "view/tiles/tile.h"

static void add_value(struct plot_bucket *b, double value)
{
	if (!b->count || value < b->least)
		b->least = value;
	if (!b->count || value > b->most)
		b->most = value;
	b->sum += value;
	b->last = value;
	b->count++;
}

/* `before` becomes the last value in front of the tile. */
static void add_decoded_rows(struct plot *plot, struct tile *t, const struct decoded_rows *c, double *before)
{
	for (uint32_t i = 0; i < c->rows && c->start[i] < t->to; i++) {
		if (!isfinite(c->values[i]))
			continue;
		if (c->start[i] < t->from)
			*before = c->values[i];
		else
			add_value(&plot->buckets[(uint64_t)(c->start[i] - t->from) >> t->level], c->values[i]);
	}
}

static void plot_summary_buckets(struct plot *plot, struct tile *t, const struct plot_summary *s, double *before)
{
	for (uint32_t i = 0; i < s->count && s->start[i] < t->to; i++) {
		struct plot_bucket *b;

		if (s->start[i] < t->from) {
			*before = s->last[i];
			continue;
		}
		b = &plot->buckets[(uint64_t)(s->start[i] - t->from) >> t->level];
		b->least = !b->count || s->least[i] < b->least ? s->least[i] : b->least;
		b->most = !b->count || s->most[i] > b->most ? s->most[i] : b->most;
		b->sum += s->mean[i] * s->rows[i];
		b->last = s->last[i];
		b->count += s->rows[i];
	}
}

static int plot_group(struct plot *plot, struct tile *t, struct view_report *r, const struct row_group *p, double *before)
{
	const struct plot_summary *s;
	const struct decoded_rows *c;
	int rc;

	if (p->summary != NO_SUMMARY && p->summary_level <= t->level && store_plot_summary(r, p, &s) == 0) {
		plot_summary_buckets(plot, t, s, before);
		store_give(r->store, s);
		return 0;
	}
	rc = store_decoded_rows(r, p, &c);
	if (rc == 0) {
		add_decoded_rows(plot, t, c, before);
		store_give(r->store, c);
	}
	return rc;
}

/* The group with the last value in front of the tile. */
static size_t group_before(const struct tile *t, const struct view_report *r, const struct view_track *track)
{
	size_t at = 0;

	for (size_t i = 0; i < track->group_count; i++)
		if (r->groups[track->group + i].time_min < t->from)
			at = i;
	return at;
}

/* Until the next value, or the end of the recording; a bucket with values begins with the one before. */
static void hold_values(struct plot *plot, const struct tile *t, const struct view_report *r, double value)
{
	for (unsigned i = 0; i < TILE_BUCKETS; i++) {
		struct plot_bucket *b = &plot->buckets[i];
		int64_t start = t->from + ((int64_t)i << t->level);

		if (!b->count && isfinite(value) && start <= r->end)
			add_value(b, value);
		if (b->count && isfinite(value)) {
			b->least = value < b->least ? value : b->least;
			b->most = value > b->most ? value : b->most;
		}
		value = b->count ? b->last : value;
	}
}

/* The line goes on from the value before the tile, and to the next one behind it: at the edges, where nothing was recorded, is the
 * last value. Behind the last of all there is none. */
static void carry_values(struct plot *plot, const struct tile *t, const struct view_report *r, const struct view_track *track, double value)
{
	int64_t last = r->groups[track->group + track->group_count - 1].time_max;
	struct plot_bucket *at = &plot->buckets[0];

	if (!at->count && isfinite(value) && last >= t->from)
		add_value(at, value);
	for (unsigned i = 0; i < TILE_BUCKETS; i++)
		value = plot->buckets[i].count ? plot->buckets[i].last : value;
	at = &plot->buckets[TILE_BUCKETS - 1];
	if (!at->count && isfinite(value) && last >= t->to)
		add_value(at, value);
}

/* Where something was recorded is all of a bucket busy, else nothing of it. */
static void mark_recorded(const struct plot *plot, struct tile *t)
{
	for (unsigned i = 0; i < TILE_BUCKETS; i++)
		if (plot->buckets[i].count)
			t->buckets[i].busy = UINT64_C(1) << t->level;
}

int plot_fill(struct plot *plot, struct tile *t, struct view_report *r, const struct view_track *track, bool held)
{
	size_t first = group_before(t, r, track);
	double before = (double)NAN;
	int rc = 0;

	memset(plot, 0, sizeof(*plot));
	t->table = track->table;
	for (size_t i = first; i < track->group_count && rc == 0; i++) {
		const struct row_group *p = &r->groups[track->group + i];

		if (p->time_min >= t->to || (p->time_max < t->from && i != first))
			continue;
		rc = plot_group(plot, t, r, p, &before);
	}
	mark_recorded(plot, t);
	if (held)
		hold_values(plot, t, r, before);
	else
		carry_values(plot, t, r, track, before);
	for (unsigned i = 0; i < TILE_BUCKETS; i++)
		t->buckets[i].touched = plot->buckets[i].count > 0;
	return rc;
}
