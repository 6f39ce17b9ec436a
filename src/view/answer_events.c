/* /api/events: the events of rows as a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/answers.h"
#include "view/chosen.h"
#include "view/internal.h"
#include "view/match.h"
#include "view/place.h"
#include "view/walk.h"

/* More are not sorted: the page asks for less. */
#define MAX_EVENTS (2u << 20)
#define MAX_PAGE 1000

enum sort_by { SORT_START, SORT_DURATION, SORT_NAME, SORT_ROW };

struct collection {
	struct match match;
	bool filtered;
	pthread_mutex_t lock;
	struct place *places;
	size_t count, capacity;
	bool cut;
	enum sort_by sort;
	bool backwards;
};

static int add_place(struct collection *e, const struct place *p)
{
	struct place *grown;

	if (e->count == MAX_EVENTS) {
		e->cut = true;
		return 0;
	}
	if (e->count == e->capacity) {
		e->capacity = e->capacity ? e->capacity * 2 : 1024;
		grown = reallocarray(e->places, e->capacity, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		e->places = grown;
	}
	e->places[e->count++] = *p;
	return 0;
}

static int take_piece(struct walk *w, unsigned worker, uint32_t lane, const struct piece *p, const struct walk_rows *rows)
{
	struct collection *e = w->context;
	const struct chunk *c = rows->chunk;
	int r = 0;

	pthread_mutex_lock(&e->lock);
	for (uint32_t i = rows->begin; i < rows->end && r == 0 && !e->cut; i++) {
		struct place place = { .lane = lane, .index = p->first + i, .start = c->start[i], .end = c->end[i],
				       .name = c->names ? c->names[i] : 0 };

		if (event_touches(place.start, place.end, w->from, w->to) && (!e->filtered || match_has(&e->match, place.name)))
			r = add_place(e, &place);
	}
	pthread_mutex_unlock(&e->lock);
	return r;
}

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_duration(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	uint64_t dx = (uint64_t)x->end - (uint64_t)x->start, dy = (uint64_t)y->end - (uint64_t)y->start;

	return dx != dy ? (dx < dy ? -1 : 1) : by_start(a, b);
}

/* Names that are equal are together. */
static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->name != y->name ? (x->name < y->name ? -1 : 1) : by_start(a, b);
}

static int by_row(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->lane != y->lane ? (x->lane < y->lane ? -1 : 1) : by_start(a, b);
}

static void put_cells(struct json_out *j, struct recording *r, const struct place *p)
{
	uint32_t row = r->lane_rows[p->lane].row;

	out_key(j, "cells");
	out_open(j, '[');
	out_exact(j, p->start);
	out_exact(j, (int64_t)((uint64_t)p->end - (uint64_t)p->start));
	place_put_name(j, r, p->name);
	out_string(j, r->rows[row].label);
	out_integer(j, r->lane_rows[p->lane].lane);
	out_close(j, ']');
}

static int put_events(struct collection *e, struct recording *r, size_t offset, size_t limit, struct buf *out)
{
	static const char *const columns[] = { "Start (ns)", "Duration (ns)", "Name", "Row", "Lane" };
	struct json_out j;

	out_begin(&j, out);
	out_open(&j, '{');
	out_put_integer(&j, "total", (int64_t)e->count);
	out_put_bool(&j, "cut", e->cut);
	out_key(&j, "columns");
	out_open(&j, '[');
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		out_string(&j, columns[i]);
	out_close(&j, ']');
	out_key(&j, "rows");
	out_open(&j, '[');
	for (size_t i = offset; i < e->count && i - offset < limit; i++) {
		out_open(&j, '{');
		out_key(&j, "event");
		place_put(&j, r, &e->places[i]);
		put_cells(&j, r, &e->places[i]);
		out_close(&j, '}');
	}
	out_close(&j, ']');
	out_close(&j, '}');
	return j.r;
}

/* A column, with '-' for the other way round; the row and the lane go together. */
static int param_sort(struct params *p, struct collection *e, struct error *err)
{
	const char *text = params_text(p, "sort");
	int64_t column = 0;

	e->backwards = text && *text == '-';
	text = text ? text + e->backwards : "0";
	if (!params_number(&text, 0, 4, &column) || *text)
		return error_set(err, EINVAL, "sort is no number of a column");
	e->sort = column > 3 ? SORT_ROW : (enum sort_by)column;
	return 0;
}

static void reverse(struct collection *e)
{
	for (size_t i = 0; i < e->count / 2; i++) {
		struct place other = e->places[i];

		e->places[i] = e->places[e->count - 1 - i];
		e->places[e->count - 1 - i] = other;
	}
}

static void put_in_order(struct collection *e)
{
	static int (*const orders[])(const void *, const void *) = { by_start, by_duration, by_name, by_row };

	if (e->count)
		qsort(e->places, e->count, sizeof(*e->places), orders[e->sort]);
	if (e->backwards)
		reverse(e);
}

static int collect(struct collection *e, struct walk *w, const uint8_t *chosen, const char *filter)
{
	uint32_t *lanes = chosen_lanes(w->r, chosen, &w->lane_count);
	int r = lanes ? 0 : -ENOMEM;

	w->lanes = lanes;
	e->filtered = filter && *filter;
	if (r == 0 && e->filtered)
		r = match_open(&e->match, w->r, filter);
	r = r < 0 ? r : walk_lanes(w);
	free(lanes);
	return r;
}

int answer_events(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *filter = params_text(p, "filter");
	struct collection e = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct walk w = { .take = take_piece, .context = &e };
	uint8_t *chosen = NULL;
	int64_t offset = 0, limit = 0;
	int r = view_recording(v, p, &w.r, err);

	r = r < 0 ? r : param_times(p, w.r, &w.from, &w.to, err);
	r = r < 0 ? r : params_integer_or(p, "offset", 0, MAX_EVENTS, 0, &offset, err);
	r = r < 0 ? r : params_integer_or(p, "limit", 0, MAX_PAGE, 100, &limit, err);
	r = r < 0 ? r : param_sort(p, &e, err);
	r = r < 0 ? r : param_rows(p, w.r, &chosen, err);
	r = r < 0 ? r : params_all_used(p, err);
	r = r < 0 ? r : collect(&e, &w, chosen, filter);
	if (r == 0)
		put_in_order(&e);
	r = r < 0 ? r : put_events(&e, w.r, (size_t)offset, (size_t)limit, &a->body);
	match_release(&e.match);
	free(e.places);
	free(chosen);
	return r;
}
