#include "view/events/event.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/recording/event_names.h"

const struct piece *lane_piece(const struct recording *r, const struct lane *lane, uint64_t index)
{
	size_t low = 0, high = lane->piece_count, middle;

	if (index >= lane->rows)
		return NULL;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (r->pieces[lane->piece + middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return &r->pieces[lane->piece + low];
}

int place_load(struct recording *r, struct place *p)
{
	const struct lane *lane = &r->lanes[p->lane];
	const struct piece *piece = lane->row == LANE_NO_ROW ? NULL : lane_piece(r, lane, p->index);
	const struct chunk *c;
	uint64_t at;
	int rc = 0;

	TRY(piece ? store_chunk(r, piece, &c) : -ENOENT);
	at = p->index - piece->first;
	if (at < c->rows) {
		p->start = c->start[at];
		p->end = c->end[at];
		p->name = c->names ? c->names[at] : 0;
	} else {
		rc = -ENOENT;
	}
	store_give(r->store, c);
	return rc;
}

static bool find_in_chunk(const struct chunk *c, int64_t time, uint32_t *ret)
{
	uint32_t low = 0, high = c->rows, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->start[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || c->end[low - 1] < time)
		return false;
	*ret = low - 1;
	return true;
}

bool place_at(struct recording *r, uint32_t lane, int64_t time, struct place *ret)
{
	const struct lane *l = &r->lanes[lane];
	const struct chunk *c;
	bool found = false;
	uint32_t at;

	for (size_t i = 0; i < l->piece_count && !found; i++) {
		const struct piece *p = &r->pieces[l->piece + i];

		if (time < p->time_min || time > p->time_max || store_chunk(r, p, &c) < 0)
			continue;
		found = find_in_chunk(c, time, &at);
		if (found)
			*ret = (struct place){ .lane = lane,
					       .index = p->first + at,
					       .start = c->start[at],
					       .end = c->end[at],
					       .name = c->names ? c->names[at] : 0 };
		store_give(r->store, c);
	}
	return found;
}

bool place_value(struct recording *r, const struct place *p, unsigned column, int64_t *ret)
{
	const struct lane *lane = &r->lanes[p->lane];
	const struct piece *piece = lane_piece(r, lane, p->index);
	int64_t *values;
	uint8_t *nulls;
	bool has = false;

	if (!piece || !(report_group(piece_report(r, piece), lane->table, piece->group)->present >> column & 1))
		return false;
	values = malloc(piece->rows * sizeof(*values) + 1);
	nulls = malloc(piece->rows + 1u);
	if (values && nulls && report_column(piece_report(r, piece), lane->table, piece->group, column, values, nulls) >= 0) {
		has = !nulls[p->index - piece->first];
		*ret = values[p->index - piece->first];
	}
	free(values);
	free(nulls);
	return has;
}

bool place_source(struct recording *r, const struct place *p, struct place *ret)
{
	int64_t lane, index;

	if (!r->lanes[p->lane].made || r->lanes[p->lane].table != TABLE_SLICE || !place_value(r, p, COLUMN_SLICE_RANGE_ID, &lane) ||
	    !place_value(r, p, COLUMN_SLICE_CORRELATION, &index))
		return false;
	*ret = (struct place){ .lane = (uint32_t)lane, .index = (uint64_t)index };
	return lane >= 0 && (uint64_t)lane < r->lane_count && place_load(r, ret) == 0;
}

int64_t lane_process(const struct recording *r, uint32_t lane)
{
	const int64_t *track = recording_track(r, r->lanes[lane].track);
	const int64_t *owner;

	if (!track)
		return 0;
	if (track[TRACK_PROCESS])
		return track[TRACK_PROCESS];
	owner = index_find(&r->index.threads, track[TRACK_THREAD]);
	if (owner)
		return owner[THREAD_PROCESS];
	owner = index_find(&r->index.cuda->streams, track[TRACK_DOMAIN]);
	return owner ? owner[STREAM_PROCESS] : 0;
}

void place_put_name(struct json_out *j, struct recording *r, uint32_t name)
{
	struct buf text = BUF_INIT;
	int rc = name_text(r, name, &text);

	out_text(j, text.data ? text.data : "", text.len);
	if (j->r >= 0 && rc < 0)
		j->r = rc;
	buf_release(&text);
}

void place_put_keys(struct json_out *j, struct recording *r, const struct place *p)
{
	out_put_integer(j, "row", r->lanes[p->lane].row);
	out_put_integer(j, "lane", event_line(r, &r->lanes[p->lane], p->index));
	out_put_integer(j, "index", (int64_t)(r->lanes[p->lane].before + p->index));
	out_key(j, "start");
	out_exact(j, p->start);
	out_key(j, "end");
	out_exact(j, p->end);
	out_key(j, "name");
	place_put_name(j, r, p->name);
	out_put_integer(j, "name_id", p->name);
}

void place_put(struct json_out *j, struct recording *r, const struct place *p)
{
	out_open(j, '{');
	place_put_keys(j, r, p);
	out_close(j, '}');
}

int param_row(struct params *p, const struct recording *r, const struct row **ret, struct error *err)
{
	int64_t row;
	int rc = params_integer(p, "row", 0, (int64_t)r->row_count - 1, &row, err);

	if (rc == 0)
		*ret = &r->rows[row];
	return rc;
}

/* Of a joined row the index alone says which: its lines may have become others since they were drawn. */
static void find_in_row(const struct recording *r, const struct row *row, int64_t line, struct place *ret)
{
	ret->lane = row->lanes[row->joined ? 0 : line];
	for (uint32_t i = 1; row->joined && i < row->lane_count && ret->index >= r->lanes[row->lanes[i]].before; i++)
		ret->lane = row->lanes[i];
	ret->index -= r->lanes[ret->lane].before;
}

static int param_place(struct params *p, struct recording *r, struct place *ret, struct error *err)
{
	const struct row *row;
	int64_t line, index = 0;
	int rc;

	*ret = (struct place){ 0 };
	TRY(param_row(p, r, &row, err));
	if (row->draw == DRAW_GROUP)
		return error_set(err, EINVAL, "The row is a heading");
	TRY(params_integer(p, "lane", 0, (int64_t)row->lane_count - 1, &line, err));
	TRY(params_integer(p, "index", 0, INT64_MAX, &index, err));
	ret->index = (uint64_t)index;
	find_in_row(r, row, line, ret);
	rc = place_load(r, ret);
	return rc == -ENOENT ? error_set(err, ENOENT, "There is no such event") : rc;
}

int param_times(struct params *p, const struct recording *r, int64_t *from, int64_t *to, struct error *err)
{
	TRY(params_integer_or(p, "from", INT64_MIN, INT64_MAX, INT64_MIN, from, err));
	TRY(params_integer_or(p, "to", INT64_MIN, INT64_MAX, INT64_MAX, to, err));
	return *to < *from ? error_set(err, EINVAL, "to is before from") : 0;
}

int params_event(struct view *v, struct params *p, struct recording **ret, struct place *ret_place, struct error *err)
{
	TRY(view_recording(v, p, ret, err));
	TRY(param_place(p, *ret, ret_place, err));
	return params_all_used(p, err);
}
