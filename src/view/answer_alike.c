/* /api/alike: all events with the name of one of them, on rows of the same kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/answers.h"
#include "view/internal.h"
#include "view/place.h"
#include "view/walk.h"

#define BINS 32
/* Durations are counted by their logarithm, 64 to each power of two: quantiles are right to one percent. */
#define FINE 64u
#define FINE_SLOTS (64u * FINE)

struct alike {
	struct place self;
	struct alike_part {
		uint64_t count, sum, least, largest;
		uint64_t shorter; /* than this one */
		struct place before, after; /* the nearest in time */
		bool has_before, has_after;
		uint64_t slots[FINE_SLOTS];
	} parts[WALK_WORKERS];
};

static unsigned slot_of(uint64_t duration)
{
	unsigned power = duration ? 63u - (unsigned)__builtin_clzll(duration) : 0;
	uint64_t rest = power >= 6 ? duration >> (power - 6) : duration << (6 - power);

	return power * FINE + (unsigned)(rest & (FINE - 1));
}

static double slot_value(unsigned slot)
{
	return (double)(UINT64_C(1) << (slot / FINE)) * (1.0 + (double)(slot % FINE) / FINE);
}

static bool starts_before(const struct place *x, const struct place *y)
{
	if (x->start != y->start)
		return x->start < y->start;
	return x->lane != y->lane ? x->lane < y->lane : x->index < y->index;
}

static void take_neighbour(struct alike_part *a, const struct place *self, const struct place *p)
{
	if (starts_before(p, self) && (!a->has_before || starts_before(&a->before, p))) {
		a->before = *p;
		a->has_before = true;
	}
	if (starts_before(self, p) && (!a->has_after || starts_before(p, &a->after))) {
		a->after = *p;
		a->has_after = true;
	}
}

static void take_event(struct alike_part *a, const struct place *self, const struct place *p)
{
	uint64_t duration = (uint64_t)p->end - (uint64_t)p->start;

	a->least = !a->count || duration < a->least ? duration : a->least;
	a->largest = duration > a->largest ? duration : a->largest;
	a->count++;
	a->sum += duration;
	a->shorter += duration < (uint64_t)self->end - (uint64_t)self->start;
	a->slots[slot_of(duration)]++;
	take_neighbour(a, self, p);
}

static int take_piece(struct walk *w, unsigned worker, uint32_t lane, const struct piece *p, const struct walk_rows *rows)
{
	struct alike *a = w->context;
	const struct chunk *c = rows->chunk;

	for (uint32_t i = rows->begin; i < rows->end; i++) {
		struct place place = { .lane = lane, .index = p->first + i, .start = c->start[i], .end = c->end[i] };

		place.name = c->names ? c->names[i] : 0;
		if (place.name == a->self.name)
			take_event(&a->parts[worker], &a->self, &place);
	}
	return 0;
}

static void merge(struct alike_part *to, const struct alike_part *from, const struct place *self)
{
	if (!from->count)
		return;
	to->least = !to->count || from->least < to->least ? from->least : to->least;
	to->largest = from->largest > to->largest ? from->largest : to->largest;
	to->count += from->count;
	to->sum += from->sum;
	to->shorter += from->shorter;
	for (unsigned i = 0; i < FINE_SLOTS; i++)
		to->slots[i] += from->slots[i];
	if (from->has_before)
		take_neighbour(to, self, &from->before);
	if (from->has_after)
		take_neighbour(to, self, &from->after);
}

static double quantile(const struct alike_part *a, double part)
{
	uint64_t before = 0, wanted = (uint64_t)(part * (double)(a->count - 1));

	for (unsigned i = 0; i < FINE_SLOTS; i++) {
		before += a->slots[i];
		if (before > wanted)
			return slot_value(i) < (double)a->least ? (double)a->least
			       : slot_value(i) > (double)a->largest ? (double)a->largest : slot_value(i);
	}
	return (double)a->largest;
}

/* Bins of equal ratio from the least to the largest. */
static void put_histogram(struct json_out *j, const struct alike_part *a)
{
	unsigned from = slot_of(a->least), to = slot_of(a->largest), width = (to - from) / BINS + 1;

	out_key(j, "histogram");
	out_open(j, '[');
	for (unsigned at = from; at <= to; at += width) {
		uint64_t count = 0;

		for (unsigned i = at; i < at + width && i < FINE_SLOTS; i++)
			count += a->slots[i];
		out_open(j, '{');
		out_put_real(j, "from", slot_value(at));
		out_put_real(j, "to", slot_value(at + width));
		out_put_integer(j, "count", (int64_t)count);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static int put_alike(struct alike *a, struct recording *r, struct buf *out)
{
	struct alike_part *all = &a->parts[0];
	struct json_out j;

	for (unsigned i = 1; i < WALK_WORKERS; i++)
		merge(all, &a->parts[i], &a->self);
	out_begin(&j, out);
	out_open(&j, '{');
	out_put_integer(&j, "count", (int64_t)all->count);
	out_put_integer(&j, "total", (int64_t)all->sum);
	out_put_integer(&j, "least", (int64_t)all->least);
	out_put_integer(&j, "largest", (int64_t)all->largest);
	out_put_integer(&j, "shorter", (int64_t)all->shorter);
	if (all->count) {
		out_put_real(&j, "average", (double)all->sum / (double)all->count);
		out_put_real(&j, "median", quantile(all, 0.5));
		out_put_real(&j, "p95", quantile(all, 0.95));
		put_histogram(&j, all);
	}
	if (all->has_before) {
		out_key(&j, "previous");
		place_put(&j, r, &all->before);
	}
	if (all->has_after) {
		out_key(&j, "next");
		place_put(&j, r, &all->after);
	}
	out_close(&j, '}');
	return j.r;
}

/* Rows of the same kind: the same name on a stream and in a call is something else. */
static uint32_t *lanes_alike(const struct recording *r, uint32_t lane, size_t *ret_count)
{
	uint32_t *lanes = calloc(r->lane_count + 1, sizeof(*lanes));

	*ret_count = 0;
	for (size_t i = 0; lanes && i < r->lane_count; i++)
		if (r->lanes[i].table == r->lanes[lane].table &&
		    r->rows[r->lane_rows[i].row].kind == r->rows[r->lane_rows[lane].row].kind)
			lanes[(*ret_count)++] = (uint32_t)i;
	return lanes;
}

int answer_alike(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct alike *all = calloc(1, sizeof(*all));
	struct walk w = { .take = take_piece, .context = all, .from = INT64_MIN, .to = INT64_MAX };
	uint32_t *lanes = NULL;
	int64_t index = 0;
	int r = all ? view_recording(v, p, &w.r, err) : -ENOMEM;

	r = r < 0 ? r : param_lane(p, w.r, &all->self.lane, err);
	r = r < 0 ? r : params_integer(p, "index", 0, INT64_MAX, &index, err);
	r = r < 0 ? r : params_all_used(p, err);
	if (r == 0) {
		all->self.index = (uint64_t)index;
		r = place_load(w.r, &all->self);
		if (r == -ENOENT)
			error_set(err, ENOENT, "There is no such event");
	}
	if (r == 0) {
		w.lanes = lanes = lanes_alike(w.r, all->self.lane, &w.lane_count);
		r = lanes ? walk_lanes(&w) : -ENOMEM;
	}
	r = r < 0 ? r : put_alike(all, w.r, &a->body);
	free(lanes);
	free(all);
	return r;
}
