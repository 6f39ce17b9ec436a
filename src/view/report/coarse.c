#include "view/report/coarse.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "report/write/detail.h"
#include "view/report/store_items.h"

/* Smaller tracks are read as they are. */
#define COARSE_MIN_ROWS 4096u
/* To a bucket, if they were evenly spread: a picture at the next finer level decodes so many for each of its buckets. */
#define COARSE_ROWS 16u

/* While it is added up. */
struct sum {
	uint64_t busy;
	uint64_t longest; /* what the name was chosen by */
	uint32_t rows;
	uint32_t name;
};

struct summing {
	struct coarse *c;
	struct sum *sums;
	uint32_t long_room;
};

static uint64_t span(int64_t start, int64_t end)
{
	return (uint64_t)end - (uint64_t)start;
}

/* NULL for times out of the track's: a report may say anything. */
static struct sum *sum_at(const struct summing *s, int64_t time)
{
	uint64_t at = (uint64_t)(time >> s->c->level) - (uint64_t)s->c->base;

	return at < s->c->count ? &s->sums[at] : NULL;
}

static int add_long(struct summing *s, const struct coarse_long *l)
{
	struct coarse *c = s->c;

	if (!(span(l->start, l->end) >> c->level))
		return 0;
	if (!ARRAY_ROOM(c->longs, c->long_count, s->long_room, 1))
		return -ENOMEM;
	c->longs[c->long_count++] = *l;
	return 0;
}

static void name_bucket(struct sum *to, uint32_t name, uint64_t by)
{
	if (name && (!to->name || by > to->longest)) {
		to->longest = by;
		to->name = name;
	}
}

/* Busy time over several buckets. */
static void add_coarse_time(struct summing *s, int64_t start, int64_t end)
{
	struct sum *to;
	int64_t edge;

	for (; start < end && (to = sum_at(s, start)) != NULL; start = edge) {
		edge = (start >> s->c->level) == INT64_MAX >> s->c->level ? end : ((start >> s->c->level) + 1) << s->c->level;
		edge = edge < end ? edge : end;
		to->busy += span(start, edge);
	}
}

static int sum_coarse_summary(struct summing *s, const struct row_group *p, const struct summary *from)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		struct sum *to = sum_at(s, from->start[i]);

		if (!to)
			return -EBADMSG;
		to->busy += from->busy[i];
		to->rows += from->rows[i];
		name_bucket(to, from->names[i], from->busy[i]);
	}
	for (uint32_t i = 0; i < from->long_count && rc == 0; i++) {
		const struct summary_long *l = &from->longs[i];
		struct coarse_long added = { l->start, l->end, (uint32_t)l->row, from->names[l->bucket], l->flags };

		rc = add_long(s, &added);
	}
	return rc;
}

static int sum_coarse_rows(struct summing *s, const struct row_group *p, const struct decoded_rows *from)
{
	int rc = from->rows == p->rows ? 0 : -EBADMSG;

	for (uint32_t i = 0; i < from->rows && rc == 0; i++) {
		struct sum *to = sum_at(s, from->start[i]);
		struct coarse_long added = { from->start[i], from->end[i], (uint32_t)p->first + i, from->names ? from->names[i] : 0,
					     from->flags ? from->flags[i] : 0 };

		if (!to)
			return -EBADMSG;
		to->rows++;
		name_bucket(to, added.name, span(added.start, added.end));
		add_coarse_time(s, added.start, added.end);
		rc = add_long(s, &added);
	}
	return rc;
}

static int sum_coarse_group(struct summing *s, struct view_report *r, const struct row_group *p)
{
	struct store_item *item = NULL;
	int rc = -EBADMSG;

	if (p->summary != NO_SUMMARY && p->summary_level <= s->c->level)
		rc = summary_make(r, p, &item);
	if (rc == 0) {
		rc = sum_coarse_summary(s, p, &item->content.summary);
		free(item);
		return rc;
	}
	if (rc != -EBADMSG)
		return rc;
	rc = decoded_rows_make(r, p, &item);
	if (rc == 0) {
		rc = sum_coarse_rows(s, p, &item->content.decoded);
		free(item);
	}
	return rc;
}

/* Rows have numbers in the order of time: where the next bucket's begin is where this one's end. */
static void settle_coarse_sums(const struct summing *s)
{
	struct coarse *c = s->c;
	uint64_t first = 0, width = UINT64_C(1) << c->level;

	for (uint32_t i = 0; i < c->count; i++) {
		uint64_t busy = s->sums[i].busy < width ? s->sums[i].busy : width;

		c->buckets[i] = (struct coarse_bucket){ .name = s->sums[i].name,
							.first = (uint32_t)first,
							.busy = (uint32_t)(c->level > COARSE_BITS ? busy >> (c->level - COARSE_BITS) :
												    busy << (COARSE_BITS - c->level)) };
		first += s->sums[i].rows;
	}
	c->buckets[c->count] = (struct coarse_bucket){ .first = (uint32_t)first };
}

static int begin_coarse_sums(struct summing *s, const struct view_report *r, const struct view_track *track)
{
	int64_t min = INT64_MAX, max = INT64_MIN;
	struct coarse *c = s->c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < track->group_count; i++) {
		const struct row_group *p = &r->groups[track->group + i];

		min = p->time_min < min ? p->time_min : min;
		max = p->time_max > max ? p->time_max : max;
	}
	c->level = detail_level_for((uint32_t)track->rows / COARSE_ROWS, min, max);
	if (max < min || c->level > SUMMARY_MAX_LEVEL)
		return -EBADMSG;
	c->base = min >> c->level;
	c->count = (uint32_t)((max >> c->level) - c->base + 1);
	s->sums = calloc(c->count, sizeof(*s->sums));
	c->buckets = malloc((c->count + 1u) * sizeof(*c->buckets));
	return s->sums && c->buckets ? 0 : -ENOMEM;
}

/* -EBADMSG where it cannot be: the track is read as it is. */
static int sum_track(struct view_report *r, const struct view_track *track, const _Atomic bool *stop, struct coarse **ret)
{
	struct summing s = { 0 };
	int rc = begin_coarse_sums(&s, r, track);

	for (size_t i = 0; i < track->group_count && rc == 0; i++)
		rc = atomic_load_explicit(stop, memory_order_relaxed) ? -ECANCELED : sum_coarse_group(&s, r, &r->groups[track->group + i]);
	if (rc == 0) {
		settle_coarse_sums(&s);
		*ret = s.c;
	} else {
		coarse_free(s.c);
	}
	free(s.sums);
	return rc;
}

void coarse_free(struct coarse *c)
{
	if (!c)
		return;
	free(c->buckets);
	free(c->longs);
	free(c);
}

static bool wants_coarse(const struct view_track *track)
{
	return !track->coarse && track->table != TABLE_COUNTER && track->group_count > 1 && track->rows >= COARSE_MIN_ROWS &&
	       track->rows <= UINT32_MAX;
}

int view_report_sum_tracks(struct view_report *r, const _Atomic bool *stop)
{
	int rc = 0;

	for (size_t i = 0; i < r->track_count && rc == 0; i++) {
		struct coarse *c = NULL;

		if (!wants_coarse(&r->tracks[i]))
			continue;
		rc = sum_track(r, &r->tracks[i], stop, &c);
		if (rc == 0)
			atomic_store_explicit(&r->tracks[i].coarse, c, memory_order_release);
		rc = rc == -EBADMSG ? 0 : rc;
	}
	return rc;
}
