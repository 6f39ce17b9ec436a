#include "view/events/event.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/report/event_names.h"

const struct row_group *track_group(const struct view_report *r, const struct view_track *track, uint64_t index)
{
	size_t low = 0, high = track->group_count, middle;

	if (index >= track->rows)
		return NULL;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (r->groups[track->group + middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return &r->groups[track->group + low];
}

int event_load(struct view_report *r, struct event_ref *p)
{
	const struct view_track *track = &r->tracks[p->track];
	const struct row_group *group = track->row == TRACK_NO_ROW ? NULL : track_group(r, track, p->index);
	const struct decoded_rows *c;
	uint64_t at;
	int rc = 0;

	TRY(group ? store_decoded_rows(r, group, &c) : -ENOENT);
	at = p->index - group->first;
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

static bool find_in_rows(const struct decoded_rows *c, int64_t time, uint32_t *ret)
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

bool event_at(struct view_report *r, uint32_t track, int64_t time, struct event_ref *ret)
{
	const struct view_track *l = &r->tracks[track];
	const struct decoded_rows *c;
	bool found = false;
	uint32_t at;

	for (size_t i = 0; i < l->group_count && !found; i++) {
		const struct row_group *p = &r->groups[l->group + i];

		if (time < p->time_min || time > p->time_max || store_decoded_rows(r, p, &c) < 0)
			continue;
		found = find_in_rows(c, time, &at);
		if (found)
			*ret = (struct event_ref){ .track = track,
						   .index = p->first + at,
						   .start = c->start[at],
						   .end = c->end[at],
						   .name = c->names ? c->names[at] : 0 };
		store_give(r->store, c);
	}
	return found;
}

bool event_value(struct view_report *r, const struct event_ref *p, unsigned column, int64_t *ret)
{
	const struct view_track *track = &r->tracks[p->track];
	const struct row_group *group = track_group(r, track, p->index);
	int64_t *values;
	uint8_t *nulls;
	bool has = false;

	if (!group || !(report_group(group_report(r, group), track->table, group->number)->present >> column & 1))
		return false;
	values = malloc(group->rows * sizeof(*values) + 1);
	nulls = malloc(group->rows + 1u);
	if (values && nulls && report_column(group_report(r, group), track->table, group->number, column, values, nulls) >= 0) {
		has = !nulls[p->index - group->first];
		*ret = values[p->index - group->first];
	}
	free(values);
	free(nulls);
	return has;
}

bool event_origin(struct view_report *r, const struct event_ref *p, struct event_ref *ret)
{
	int64_t track, index;

	if (!r->tracks[p->track].derived || r->tracks[p->track].table != TABLE_SLICE || !event_value(r, p, COLUMN_SLICE_RANGE_ID, &track) ||
	    !event_value(r, p, COLUMN_SLICE_CORRELATION, &index))
		return false;
	*ret = (struct event_ref){ .track = (uint32_t)track, .index = (uint64_t)index };
	return track >= 0 && (uint64_t)track < r->track_count && event_load(r, ret) == 0;
}

int64_t track_process(const struct view_report *r, uint32_t track)
{
	const int64_t *track_row = view_report_track_row(r, r->tracks[track].id);
	const int64_t *owner;

	if (!track_row)
		return 0;
	if (track_row[TRACK_PROCESS])
		return track_row[TRACK_PROCESS];
	owner = index_find(&r->index.threads, track_row[TRACK_THREAD]);
	if (owner)
		return owner[THREAD_PROCESS];
	owner = index_find(&r->index.cuda->streams, track_row[TRACK_DOMAIN]);
	return owner ? owner[STREAM_PROCESS] : 0;
}

void event_put_name(struct json_out *j, struct view_report *r, uint32_t name)
{
	struct buf text = BUF_INIT;
	int rc = name_text(r, name, &text);

	out_text(j, text.data ? text.data : "", text.len);
	if (j->r >= 0 && rc < 0)
		j->r = rc;
	buf_release(&text);
}

void event_put_keys(struct json_out *j, struct view_report *r, const struct event_ref *p)
{
	out_put_integer(j, "row", r->tracks[p->track].row);
	out_put_integer(j, "lane", event_line(r, &r->tracks[p->track], p->index));
	out_put_integer(j, "index", (int64_t)(r->tracks[p->track].before + p->index));
	out_key(j, "start");
	out_exact(j, p->start);
	out_key(j, "end");
	out_exact(j, p->end);
	out_key(j, "name");
	event_put_name(j, r, p->name);
	out_put_integer(j, "name_id", p->name);
}

void event_put(struct json_out *j, struct view_report *r, const struct event_ref *p)
{
	out_open(j, '{');
	event_put_keys(j, r, p);
	out_close(j, '}');
}

int param_row(struct params *p, const struct view_report *r, const struct row **ret, struct error *err)
{
	int64_t row;
	int rc = params_integer(p, "row", 0, (int64_t)r->row_count - 1, &row, err);

	if (rc == 0)
		*ret = &r->rows[row];
	return rc;
}

/* Of a joined row the index alone says which: its lines may have become others since they were drawn. */
static void find_in_row(const struct view_report *r, const struct row *row, int64_t line, struct event_ref *ret)
{
	ret->track = row->tracks[row->joined ? 0 : line];
	for (uint32_t i = 1; row->joined && i < row->track_count && ret->index >= r->tracks[row->tracks[i]].before; i++)
		ret->track = row->tracks[i];
	ret->index -= r->tracks[ret->track].before;
}

static int param_event(struct params *p, struct view_report *r, struct event_ref *ret, struct error *err)
{
	const struct row *row;
	int64_t line, index = 0;
	int rc;

	*ret = (struct event_ref){ 0 };
	TRY(param_row(p, r, &row, err));
	if (row->draw == DRAW_GROUP)
		return error_set(err, EINVAL, "The row is a heading");
	TRY(params_integer(p, "lane", 0, (int64_t)row->track_count - 1, &line, err));
	TRY(params_integer(p, "index", 0, INT64_MAX, &index, err));
	ret->index = (uint64_t)index;
	find_in_row(r, row, line, ret);
	rc = event_load(r, ret);
	return rc == -ENOENT ? error_set(err, ENOENT, "There is no such event") : rc;
}

int param_times(struct params *p, const struct view_report *r, int64_t *from, int64_t *to, struct error *err)
{
	TRY(params_integer_or(p, "from", INT64_MIN, INT64_MAX, INT64_MIN, from, err));
	TRY(params_integer_or(p, "to", INT64_MIN, INT64_MAX, INT64_MAX, to, err));
	return *to < *from ? error_set(err, EINVAL, "to is before from") : 0;
}

int params_event(struct view *v, struct params *p, struct view_report **ret, struct event_ref *ret_event, struct error *err)
{
	TRY(view_asked_report(v, p, ret, err));
	TRY(param_event(p, *ret, ret_event, err));
	return params_all_used(p, err);
}
