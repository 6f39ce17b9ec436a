/* /api/find: events that have a text in their name, their kernel's whole name or their arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "view/request/routes.h"
#include "view/events/selected_rows.h"
#include "view/internal.h"
#include "view/events/text_match.h"
#include "view/events/event.h"
#include "view/report/walk.h"

#define MAX_FOUND 2000

/* The earliest so far, in a heap whose top is the latest of them. */
struct found {
	struct event_ref places[MAX_FOUND];
	size_t count;
	uint64_t *rows; /* events by row */
};

struct event_search {
	struct match match;
	size_t limit;
	struct found found[WALK_WORKERS];
};

static void swap(struct event_ref *x, struct event_ref *y)
{
	struct event_ref z = *x;

	*x = *y;
	*y = z;
}

static void sink(struct found *f)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < f->count; at = child) {
		if (child + 1 < f->count && is_event_before(&f->places[child], &f->places[child + 1]))
			child++;
		if (!is_event_before(&f->places[at], &f->places[child]))
			return;
		swap(&f->places[at], &f->places[child]);
	}
}

static void keep_found_event(struct found *f, size_t limit, const struct event_ref *p)
{
	if (f->count == limit) {
		if (!limit || !is_event_before(p, &f->places[0]))
			return;
		f->places[0] = *p;
		sink(f);
		return;
	}
	f->places[f->count] = *p;
	for (size_t at = f->count++; at && is_event_before(&f->places[(at - 1) / 2], &f->places[at]); at = (at - 1) / 2)
		swap(&f->places[(at - 1) / 2], &f->places[at]);
}

static int search_group_rows(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows)
{
	struct event_search *s = w->context;
	struct found *f = &s->found[worker];
	const struct decoded_rows *c = rows->decoded;
	uint32_t last = 0;
	bool last_has = false;
	uint8_t *deep;
	int r = match_deep_rows(&s->match, p, &deep);

	for (uint32_t i = rows->begin; r == 0 && i < rows->end; i++) {
		struct event_ref event = {
			.track = track, .index = p->first + i, .start = c->start[i], .end = c->end[i], .name = c->names ? c->names[i] : 0
		};

		if (event.name != last) {
			last = event.name;
			last_has = match_has(&s->match, last);
		}
		if ((!last_has && !(deep && deep[i])) || event.start < w->from)
			continue;
		f->rows[w->r->tracks[track].row]++;
		keep_found_event(f, s->limit, &event);
	}
	free(deep);
	return r;
}

static int compare_found_events(const void *a, const void *b)
{
	return is_event_before(a, b) ? -1 : is_event_before(b, a);
}

static int put_found(struct event_search *s, struct view_report *r, struct buf *out)
{
	struct found *f = &s->found[0];
	uint64_t all = 0;
	struct json_out j;

	for (unsigned i = 1; i < WALK_WORKERS; i++) {
		for (size_t k = 0; k < s->found[i].count; k++)
			keep_found_event(f, s->limit, &s->found[i].places[k]);
		for (size_t k = 0; k < r->row_count; k++)
			f->rows[k] += s->found[i].rows[k];
	}
	sort_items(f->places, f->count, sizeof(f->places[0]), compare_found_events);
	out_begin(&j, out);
	out_open(&j, '{');
	out_key(&j, "events");
	out_open(&j, '[');
	for (size_t i = 0; i < f->count; i++)
		event_put(&j, r, &f->places[i]);
	out_close(&j, ']');
	out_key(&j, "rows");
	out_open(&j, '[');
	for (size_t i = 0; i < r->row_count; i++) {
		if (!f->rows[i])
			continue;
		all += f->rows[i];
		out_open(&j, '[');
		out_integer(&j, (int64_t)i);
		out_integer(&j, (int64_t)f->rows[i]);
		out_close(&j, ']');
	}
	out_close(&j, ']');
	out_put_integer(&j, "total", (int64_t)all);
	out_close(&j, '}');
	return j.r;
}

static int search_events(struct event_search *s, struct walk *w, const char *text, const uint8_t *selected, struct buf *out)
{
	CLEANUP_FREE uint32_t *tracks = chosen_tracks(w->r, selected, &w->track_count);

	w->tracks = tracks;
	TRY(tracks ? match_open(&s->match, w->r, text) : -ENOMEM);
	TRY(match_look_deep(&s->match));
	for (unsigned i = 0; i < WALK_WORKERS; i++) {
		s->found[i].rows = calloc(w->r->row_count + 1, sizeof(uint64_t));
		if (!s->found[i].rows)
			return -ENOMEM;
	}
	TRY(walk_tracks(w));
	return put_found(s, w->r, out);
}

static void search_free(struct event_search **s)
{
	for (unsigned i = 0; *s && i < WALK_WORKERS; i++)
		free((*s)->found[i].rows);
	if (*s)
		match_release(&(*s)->match);
	free(*s);
}

int answer_find(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *text = params_text(p, "text");
	CLEANUP(search_free) struct event_search *s = calloc(1, sizeof(*s));
	struct walk w = { .take = search_group_rows, .context = s };
	CLEANUP_FREE uint8_t *selected = NULL;
	int64_t limit;

	TRY(s ? view_asked_report(v, p, &w.r, err) : -ENOMEM);
	TRY(param_times(p, w.r, &w.from, &w.to, err));
	TRY(params_integer_or(p, "limit", 0, MAX_FOUND, 100, &limit, err));
	TRY(param_rows(p, w.r, &selected, err));
	TRY(params_all_used(p, err));
	if (!text || !*text)
		return error_set(err, EINVAL, "text is missing");
	s->limit = (size_t)limit;
	return search_events(s, &w, text, selected, &a->body);
}
