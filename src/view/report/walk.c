#include "view/report/walk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "query/index/parallel.h"
#include "view/report/store_items.h"

bool group_touches(const struct row_group *p, int64_t from, int64_t to)
{
	return p->time_min < to && p->time_max >= from;
}

int walk_group(struct view_report *r, const struct row_group *p, int64_t from, int64_t to, struct walk_rows *ret)
{
	struct store_item *item;
	const struct decoded_rows *c;

	*ret = (struct walk_rows){ 0 };
	TRY(decoded_rows_make(r, p, &item));
	c = ret->decoded = &item->content.decoded;
	ret->end = c->rows;
	while (ret->begin < ret->end && !event_touches(c->start[ret->begin], c->end[ret->begin], from, to))
		ret->begin++;
	while (ret->end > ret->begin && !event_touches(c->start[ret->end - 1], c->end[ret->end - 1], from, to))
		ret->end--;
	return 0;
}

void walk_give(struct walk_rows *rows)
{
	free(rows->decoded ? item_of(rows->decoded) : NULL);
	*rows = (struct walk_rows){ 0 };
}

struct walk_work {
	struct walk *walk;
	struct {
		uint32_t track;
		size_t group;
	} * groups;
	size_t count;
	_Atomic size_t next;
};

static int do_work(void *context, unsigned worker)
{
	struct walk_work *work = context;
	struct walk *w = work->walk;
	struct walk_rows rows;
	size_t i;
	int r = 0;

	while (r == 0 && (i = atomic_fetch_add(&work->next, 1)) < work->count) {
		const struct row_group *p = &w->r->groups[work->groups[i].group];

		r = walk_group(w->r, p, w->from, w->to, &rows);
		if (r == 0 && rows.begin < rows.end)
			r = w->take(w, worker, work->groups[i].track, p, &rows);
		walk_give(&rows);
	}
	return r;
}

int walk_tracks(struct walk *w)
{
	struct walk_work work = { .walk = w };
	size_t all = 0;
	unsigned width;
	int r;

	for (size_t i = 0; i < w->track_count; i++)
		all += w->r->tracks[w->tracks[i]].group_count;
	work.groups = calloc(all + 1, sizeof(*work.groups));
	if (!work.groups)
		return -ENOMEM;
	for (size_t i = 0; i < w->track_count; i++) {
		const struct view_track *track = &w->r->tracks[w->tracks[i]];

		for (size_t k = 0; k < track->group_count; k++)
			if (group_touches(&w->r->groups[track->group + k], w->from, w->to)) {
				work.groups[work.count].track = w->tracks[i];
				work.groups[work.count++].group = track->group + k;
			}
	}
	width = parallel_width(work.count);
	r = parallel_run(do_work, &work, width < WALK_WORKERS ? width : WALK_WORKERS);
	free(work.groups);
	return r;
}
