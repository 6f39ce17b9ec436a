/* /api/events: the events of rows as a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "view/request/routes.h"
#include "view/events/selected_rows.h"
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/events/text_match.h"
#include "view/report/event_names.h"
#include "view/events/event.h"
#include "view/report/walk.h"

/* Equal to each other as far as bins tell, more are not put in order. */
#define MAX_EVENTS (2u << 20)
#define MAX_PAGE 1000
#define BINS 65536u

enum sort_by { SORT_START, SORT_DURATION, SORT_NAME, SORT_ROW };

/* All events are counted by bins, which are in the order asked for; then those of the bins that the page lies in are
 * collected and put in order. */
struct collection {
	struct match match;
	bool filtered;
	enum sort_by sort;
	bool backwards;
	uint64_t *bins[WALK_WORKERS];
	uint64_t total;
	bool collecting;
	unsigned first_bin, last_bin;
	pthread_mutex_t lock;
	struct event_ref *places;
	size_t count, capacity;
	bool cut;
};

static int add_collected_event(struct collection *e, const struct event_ref *p)
{
	if (e->count == MAX_EVENTS) {
		e->cut = true;
		return 0;
	}
	if (!ARRAY_ROOM(e->places, e->count, e->capacity, 1))
		return -ENOMEM;
	e->places[e->count++] = *p;
	return 0;
}

static unsigned duration_bin(uint64_t duration)
{
	unsigned power = duration ? 63u - (unsigned)__builtin_clzll(duration) : 0;
	uint64_t rest = power >= 10 ? duration >> (power - 10) : duration << (10 - power);

	return power * 1024u + (unsigned)(rest & 1023);
}

static unsigned start_bin(const struct walk *w, int64_t start)
{
	int64_t from = w->from > w->r->begin ? w->from : w->r->begin, to = w->to < w->r->end ? w->to : w->r->end;
	double part = to > from ? ((double)start - (double)from) / ((double)to - (double)from) : 0;

	return part <= 0 ? 0 : part >= 1 ? BINS - 1 : (unsigned)(part * (BINS - 1));
}

static unsigned bin_of(const struct walk *w, enum sort_by sort, const struct event_ref *p)
{
	switch (sort) {
	case SORT_START: return start_bin(w, p->start);
	case SORT_DURATION: return duration_bin((uint64_t)p->end - (uint64_t)p->start);
	case SORT_NAME:
		if (p->name < NAME_MADE)
			return p->name < BINS / 2 ? p->name : BINS / 2 - 1;
		return BINS / 2 + (p->name - NAME_MADE < BINS / 2 ? p->name - NAME_MADE : BINS / 2 - 1);
	default: return p->track < BINS ? p->track : BINS - 1;
	}
}

static int collect_group_events(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows)
{
	struct collection *e = w->context;
	const struct decoded_rows *c = rows->decoded;
	uint8_t *deep = NULL;
	int r = e->filtered ? match_deep_rows(&e->match, p, &deep) : 0;

	for (uint32_t i = rows->begin; i < rows->end && r == 0; i++) {
		struct event_ref event = {
			.track = track, .index = p->first + i, .start = c->start[i], .end = c->end[i], .name = c->names ? c->names[i] : 0
		};
		unsigned bin;

		if (!event_touches(event.start, event.end, w->from, w->to) ||
		    (e->filtered && !match_has(&e->match, event.name) && !(deep && deep[i])))
			continue;
		bin = bin_of(w, e->sort, &event);
		if (!e->collecting) {
			e->bins[worker][bin]++;
		} else if (bin >= e->first_bin && bin <= e->last_bin) {
			pthread_mutex_lock(&e->lock);
			r = add_collected_event(e, &event);
			pthread_mutex_unlock(&e->lock);
		}
	}
	free(deep);
	return r;
}

static int compare_event_starts(const void *a, const void *b)
{
	const struct event_ref *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_duration(const void *a, const void *b)
{
	const struct event_ref *x = a, *y = b;
	uint64_t dx = (uint64_t)x->end - (uint64_t)x->start, dy = (uint64_t)y->end - (uint64_t)y->start;

	return dx != dy ? (dx < dy ? -1 : 1) : compare_event_starts(a, b);
}

/* Names that are equal are together. */
static int compare_event_names(const void *a, const void *b)
{
	const struct event_ref *x = a, *y = b;

	return x->name != y->name ? (x->name < y->name ? -1 : 1) : compare_event_starts(a, b);
}

static int by_row(const void *a, const void *b)
{
	const struct event_ref *x = a, *y = b;

	return x->track != y->track ? (x->track < y->track ? -1 : 1) : compare_event_starts(a, b);
}

static void put_cells(struct json_out *j, struct view_report *r, const struct event_ref *p)
{
	uint32_t row = r->tracks[p->track].row;

	out_key(j, "cells");
	out_open(j, '[');
	out_exact(j, p->start);
	out_exact(j, (int64_t)((uint64_t)p->end - (uint64_t)p->start));
	event_put_name(j, r, p->name);
	out_string(j, r->rows[row].label);
	out_integer(j, event_line(r, &r->tracks[p->track], p->index));
	out_close(j, ']');
}

static int put_events(struct collection *e, struct view_report *r, size_t offset, size_t limit, struct buf *out)
{
	static const char *const columns[] = { "Start (ns)", "Duration (ns)", "Name", "Row", "Lane" };
	struct json_out j;

	out_begin(&j, out);
	out_open(&j, '{');
	out_put_integer(&j, "total", (int64_t)e->total);
	out_put_bool(&j, "cut", e->cut);
	out_key(&j, "columns");
	out_open(&j, '[');
	for (size_t i = 0; i < COUNT_OF(columns); i++)
		out_string(&j, columns[i]);
	out_close(&j, ']');
	out_key(&j, "rows");
	out_open(&j, '[');
	for (size_t i = 0; i < limit && offset + i < e->count; i++) {
		const struct event_ref *p = &e->places[e->backwards ? e->count - 1 - offset - i : offset + i];

		out_open(&j, '{');
		out_key(&j, "event");
		event_put(&j, r, p);
		put_cells(&j, r, p);
		out_close(&j, '}');
	}
	out_close(&j, ']');
	out_close(&j, '}');
	return j.r;
}

/* A column, with '-' for the other way round; the row and the track go together. */
static int param_sort(struct params *p, struct collection *e, struct error *err)
{
	const char *text = params_text(p, "sort");
	int64_t column = 0;

	e->backwards = text && *text == '-';
	text = text ? text + e->backwards : "0";
	if (!params_number(&text, 0, 4, &column) || *text)
		return error_set(err, EINVAL, "sort is not the number of a column");
	e->sort = column > 3 ? SORT_ROW : (enum sort_by)column;
	return 0;
}

static void put_in_order(struct collection *e)
{
	static int (*const orders[])(const void *, const void *) = { compare_event_starts, by_duration, compare_event_names, by_row };

	if (e->count)
		qsort(e->places, e->count, sizeof(*e->places), orders[e->sort]);
}

/* The bins that have the events from `offset` on; returns how many of those in them come before. */
static uint64_t choose_bins(struct collection *e, uint64_t offset, uint64_t limit)
{
	uint64_t before = 0, skipped = 0;
	bool begun = false;

	for (unsigned i = 0; i < BINS; i++) {
		unsigned bin = e->backwards ? BINS - 1 - i : i;
		uint64_t count = e->bins[0][bin];

		if (count && before + count > offset && before < offset + limit) {
			skipped = begun ? skipped : offset - before;
			e->first_bin = begun && !e->backwards ? e->first_bin : bin;
			e->last_bin = begun && e->backwards ? e->last_bin : bin;
			begun = true;
		}
		before += count;
	}
	e->total = before;
	if (!begun) {
		e->first_bin = 1;
		e->last_bin = 0;
	}
	return skipped;
}

static int count_all(struct collection *e, struct walk *w, const char *filter)
{
	for (unsigned i = 0; i < WALK_WORKERS; i++) {
		e->bins[i] = calloc(BINS, sizeof(*e->bins[i]));
		if (!e->bins[i])
			return -ENOMEM;
	}
	e->filtered = filter && *filter;
	if (e->filtered) {
		TRY(match_open(&e->match, w->r, filter));
		TRY(match_look_deep(&e->match));
	}
	TRY(walk_tracks(w));
	for (unsigned i = 1; i < WALK_WORKERS; i++)
		for (unsigned k = 0; k < BINS; k++)
			e->bins[0][k] += e->bins[i][k];
	return 0;
}

static int collect(struct collection *e, struct walk *w, const uint8_t *selected, const char *filter, uint64_t *offset, uint64_t limit)
{
	CLEANUP_FREE uint32_t *tracks = chosen_tracks(w->r, selected, &w->track_count);

	if (!tracks)
		return -ENOMEM;
	w->tracks = tracks;
	TRY(count_all(e, w, filter));
	*offset = choose_bins(e, *offset, limit);
	e->collecting = true;
	return e->first_bin <= e->last_bin ? walk_tracks(w) : 0;
}

static void collection_release(struct collection *e)
{
	match_release(&e->match);
	for (unsigned i = 0; i < WALK_WORKERS; i++)
		free(e->bins[i]);
	free(e->places);
}

int answer_events(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *filter = params_text(p, "filter");
	CLEANUP(collection_release) struct collection e = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct walk w = { .take = collect_group_events, .context = &e };
	CLEANUP_FREE uint8_t *selected = NULL;
	int64_t offset, limit;
	uint64_t skipped;

	TRY(view_asked_report(v, p, &w.r, err));
	TRY(param_times(p, w.r, &w.from, &w.to, err));
	TRY(params_integer_or(p, "offset", 0, INT64_MAX / 2, 0, &offset, err));
	TRY(params_integer_or(p, "limit", 0, MAX_PAGE, 100, &limit, err));
	TRY(param_sort(p, &e, err));
	TRY(param_rows(p, w.r, &selected, err));
	TRY(params_all_used(p, err));
	skipped = (uint64_t)offset;
	TRY(collect(&e, &w, selected, filter, &skipped, (uint64_t)limit));
	put_in_order(&e);
	return put_events(&e, w.r, (size_t)skipped, (size_t)limit, &a->body);
}
