#include "view/recording/walk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "query/index/parallel.h"
#include "view/recording/store_items.h"

bool piece_touches(const struct piece *p, int64_t from, int64_t to)
{
	return p->time_min < to && p->time_max >= from;
}

int walk_piece(struct recording *r, const struct piece *p, int64_t from, int64_t to, struct walk_rows *ret)
{
	struct store_item *item;
	const struct chunk *c;

	*ret = (struct walk_rows){ 0 };
	TRY(chunk_make(r, p, &item));
	c = ret->chunk = &item->content.chunk;
	ret->end = c->rows;
	while (ret->begin < ret->end && !event_touches(c->start[ret->begin], c->end[ret->begin], from, to))
		ret->begin++;
	while (ret->end > ret->begin && !event_touches(c->start[ret->end - 1], c->end[ret->end - 1], from, to))
		ret->end--;
	return 0;
}

void walk_give(struct walk_rows *rows)
{
	free(rows->chunk ? item_of(rows->chunk) : NULL);
	*rows = (struct walk_rows){ 0 };
}

struct walk_work {
	struct walk *walk;
	struct {
		uint32_t lane;
		size_t piece;
	} * pieces;
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
		const struct piece *p = &w->r->pieces[work->pieces[i].piece];

		r = walk_piece(w->r, p, w->from, w->to, &rows);
		if (r == 0 && rows.begin < rows.end)
			r = w->take(w, worker, work->pieces[i].lane, p, &rows);
		walk_give(&rows);
	}
	return r;
}

int walk_lanes(struct walk *w)
{
	struct walk_work work = { .walk = w };
	size_t all = 0;
	unsigned width;
	int r;

	for (size_t i = 0; i < w->lane_count; i++)
		all += w->r->lanes[w->lanes[i]].piece_count;
	work.pieces = calloc(all + 1, sizeof(*work.pieces));
	if (!work.pieces)
		return -ENOMEM;
	for (size_t i = 0; i < w->lane_count; i++) {
		const struct lane *lane = &w->r->lanes[w->lanes[i]];

		for (size_t k = 0; k < lane->piece_count; k++)
			if (piece_touches(&w->r->pieces[lane->piece + k], w->from, w->to)) {
				work.pieces[work.count].lane = w->lanes[i];
				work.pieces[work.count++].piece = lane->piece + k;
			}
	}
	width = parallel_width(work.count);
	r = parallel_run(do_work, &work, width < WALK_WORKERS ? width : WALK_WORKERS);
	free(work.pieces);
	return r;
}
