/* /api/sums: what lies in a selection, by row and by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/request/routes.h"
#include "view/events/selected_rows.h"
#include "view/internal.h"
#include "view/events/name_sums.h"
#include "view/report/event_names.h"
#include "view/events/event.h"
#include "view/events/spans.h"
#include "view/report/walk.h"

#define MAX_NAMES 500

/* Where more than so many lie beside others, what overlaps is not looked for. */
#define MAX_BESIDE (1u << 20)

struct track_sum {
	uint64_t count;
	uint64_t time;
	uint64_t covered; /* of the first of tracks beside each other: by the others */
};

/* What each worker adds up for itself. */
struct worker_sums {
	struct track_sum *tracks; /* by track */
	struct name_sums names;
	struct spans beside;            /* events of all tracks but the first, where tracks are beside each other */
	const struct spans *all_beside; /* of all workers, united */
};

static bool is_beside(const struct view_report *r, uint32_t track)
{
	const struct row *row = &r->rows[r->tracks[track].row];

	return row->track_count > 1 && !row_is_nested(row) && row->tracks[0] != track;
}

static int sum_group_rows(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows)
{
	struct worker_sums *sums = (struct worker_sums *)w->context + worker;
	const struct decoded_rows *c = rows->decoded;
	uint32_t row = w->r->tracks[track].row, kind = w->r->rows[row].kind;
	bool beside = is_beside(w->r, track);
	int r = 0;

	for (uint32_t i = rows->begin; i < rows->end && r == 0; i++) {
		uint64_t time = event_within(c->start[i], c->end[i], w->from, w->to);

		if (!event_touches(c->start[i], c->end[i], w->from, w->to))
			continue;
		sums->tracks[track].count++;
		sums->tracks[track].time += time;
		r = name_sums_add(&sums->names, name_key(kind, c->names ? c->names[i] : 0), 1, time);
		if (r == 0 && beside && time && sums->beside.count <= MAX_BESIDE)
			r = spans_add(&sums->beside, row, c->start[i] > w->from ? c->start[i] : w->from,
				      c->end[i] < w->to ? c->end[i] : w->to);
	}
	return r;
}

/* Of the first track, what the others cover of it. */
static int take_covered(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows)
{
	struct worker_sums *sums = (struct worker_sums *)w->context + worker;
	const struct decoded_rows *c = rows->decoded;
	uint32_t row = w->r->tracks[track].row;

	for (uint32_t i = rows->begin; i < rows->end; i++)
		if (event_within(c->start[i], c->end[i], w->from, w->to))
			sums->tracks[track].covered += spans_cover(sums->all_beside, row, c->start[i] > w->from ? c->start[i] : w->from,
								   c->end[i] < w->to ? c->end[i] : w->to);
	return 0;
}

/* Walks once more over the first tracks of rows that have something beside them. Too much of it: busy time is at most the sum. */
static int look_for_overlap(const struct walk *first, const uint8_t *selected, struct worker_sums *sums)
{
	struct walk w = *first;
	uint32_t *tracks = calloc(w.r->row_count + 1, sizeof(*tracks));
	int r = tracks ? 0 : -ENOMEM;

	for (unsigned i = 1; i < WALK_WORKERS && r == 0; i++)
		r = spans_append(&sums[0].beside, &sums[i].beside);
	if (r == 0 && sums[0].beside.count > MAX_BESIDE)
		spans_release(&sums[0].beside);
	spans_unite(&sums[0].beside);
	w.take = take_covered;
	w.tracks = tracks;
	w.track_count = 0;
	for (size_t i = 0; i < w.r->row_count && r == 0; i++)
		if (selected[i] && spans_time(&sums[0].beside, (uint32_t)i))
			tracks[w.track_count++] = w.r->rows[i].tracks[0];
	for (unsigned i = 0; i < WALK_WORKERS; i++)
		sums[i].all_beside = &sums[0].beside;
	if (r == 0 && w.track_count)
		r = walk_tracks(&w);
	free(tracks);
	return r;
}

/* Nested tracks: the outermost is the time that something went on. Lanes beside each other: what is in any of them. */
static uint64_t row_busy(const struct view_report *r, uint32_t id, const struct worker_sums *sums, int64_t from, int64_t to)
{
	const struct row *row = &r->rows[id];
	const struct track_sum *tracks = sums->tracks;
	uint64_t beside = spans_time(&sums->beside, id), busy = 0, all = (uint64_t)to - (uint64_t)from;

	if (row_is_nested(row))
		return tracks[row->tracks[0]].time;
	if (beside)
		return tracks[row->tracks[0]].time + beside - tracks[row->tracks[0]].covered;
	for (uint32_t i = 0; i < row->track_count; i++)
		busy += tracks[row->tracks[i]].time;
	return busy < all ? busy : all;
}

struct kind_sum {
	uint64_t count, busy;
};

static void put_row_sums(struct json_out *j, const struct view_report *r, uint32_t id, const struct worker_sums *sums, const struct walk *w,
			 struct kind_sum *kinds)
{
	const struct row *row = &r->rows[id];
	uint64_t count = 0, total = 0, busy = row_busy(r, id, sums, w->from, w->to);

	for (uint32_t i = 0; i < row->track_count; i++) {
		count += sums->tracks[row->tracks[i]].count;
		total += sums->tracks[row->tracks[i]].time;
	}
	if (!count)
		return;
	kinds[row->kind].count += count;
	kinds[row->kind].busy += busy;
	out_open(j, '{');
	out_put_integer(j, "row", id);
	out_put_text(j, "label", row->label);
	out_put_text(j, "kind", row_kind_names[row->kind]);
	out_put_integer(j, "busy", (int64_t)busy);
	out_put_integer(j, "total", (int64_t)total);
	out_put_integer(j, "count", (int64_t)count);
	out_close(j, '}');
}

static void put_kinds(struct json_out *j, const struct kind_sum *kinds)
{
	out_key(j, "kinds");
	out_open(j, '[');
	for (unsigned i = 0; i < ROW_KIND_COUNT; i++) {
		if (!kinds[i].count)
			continue;
		out_open(j, '{');
		out_put_text(j, "kind", row_kind_names[i]);
		out_put_integer(j, "busy", (int64_t)kinds[i].busy);
		out_put_integer(j, "count", (int64_t)kinds[i].count);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static void put_names(struct json_out *j, struct view_report *r, struct name_sums *names)
{
	name_sums_sort(names);
	out_key(j, "names");
	out_open(j, '[');
	for (size_t i = 0; i < names->count && i < MAX_NAMES; i++) {
		uint64_t key = names->items[i].key;

		out_open(j, '{');
		out_put_text(j, "kind", row_kind_names[key >> 32]);
		out_put_integer(j, "name_id", (int64_t)(uint32_t)key);
		out_key(j, "name");
		event_put_name(j, r, (uint32_t)key);
		out_put_integer(j, "count", (int64_t)names->items[i].count);
		out_put_integer(j, "total", (int64_t)names->items[i].time);
		out_put_real(j, "mean", (double)names->items[i].time / (double)names->items[i].count);
		out_close(j, '}');
	}
	out_close(j, ']');
	out_put_integer(j, "different", (int64_t)names->count);
}

static int put_sums(struct view_report *r, const struct walk *w, const uint8_t *selected, struct worker_sums *sums, struct buf *out)
{
	struct kind_sum kinds[ROW_KIND_COUNT] = { 0 };
	struct json_out j;
	int rc = 0;

	for (unsigned i = 1; i < WALK_WORKERS && rc == 0; i++) {
		for (size_t l = 0; l < r->track_count; l++) {
			sums[0].tracks[l].count += sums[i].tracks[l].count;
			sums[0].tracks[l].time += sums[i].tracks[l].time;
			sums[0].tracks[l].covered += sums[i].tracks[l].covered;
		}
		rc = name_sums_merge(&sums[0].names, &sums[i].names);
	}
	if (rc < 0)
		return rc;
	out_begin(&j, out);
	out_open(&j, '{');
	out_key(&j, "from");
	out_exact(&j, w->from);
	out_key(&j, "to");
	out_exact(&j, w->to);
	out_key(&j, "busy");
	out_open(&j, '[');
	for (size_t i = 0; i < r->row_count; i++)
		if (selected[i])
			put_row_sums(&j, r, (uint32_t)i, &sums[0], w, kinds);
	out_close(&j, ']');
	put_kinds(&j, kinds);
	put_names(&j, r, &sums[0].names);
	out_close(&j, '}');
	return j.r;
}

static void sums_release(struct worker_sums (*sums)[WALK_WORKERS])
{
	for (unsigned i = 0; i < WALK_WORKERS; i++) {
		free((*sums)[i].tracks);
		name_sums_release(&(*sums)[i].names);
		spans_release(&(*sums)[i].beside);
	}
}

int answer_sums(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	CLEANUP(sums_release) struct worker_sums sums[WALK_WORKERS] = { 0 };
	struct walk w = { .take = sum_group_rows, .context = sums };
	CLEANUP_FREE uint32_t *tracks = NULL;
	CLEANUP_FREE uint8_t *selected = NULL;

	TRY(view_asked_report(v, p, &w.r, err));
	TRY(param_times(p, w.r, &w.from, &w.to, err));
	TRY(param_rows(p, w.r, &selected, err));
	TRY(params_all_used(p, err));
	w.tracks = tracks = chosen_tracks(w.r, selected, &w.track_count);
	if (!tracks)
		return -ENOMEM;
	for (unsigned i = 0; i < WALK_WORKERS; i++) {
		sums[i].tracks = calloc(w.r->track_count + 1, sizeof(*sums[i].tracks));
		if (!sums[i].tracks)
			return -ENOMEM;
	}
	TRY(walk_tracks(&w));
	TRY(look_for_overlap(&w, selected, sums));
	return put_sums(w.r, &w, selected, sums, &a->body);
}
