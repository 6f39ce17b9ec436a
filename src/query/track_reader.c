#include "query/track_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t read_columns[4] = { COLUMN_SLICE_START, COLUMN_SLICE_END, COLUMN_SLICE_NAME,
					 COLUMN_SLICE_FLAGS };

static int compare_track_groups(const void *a, const void *b, void *context)
{
	const struct track_group *x = a, *y = b;
	const struct report *report = context;
	const struct report_group *gx, *gy;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	gx = report_group(report, TABLE_SLICE, x->group);
	gy = report_group(report, TABLE_SLICE, y->group);
	if (gx->time_min != gy->time_min)
		return gx->time_min < gy->time_min ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

int track_groups_load(struct track_groups *ret, struct query *q)
{
	ret->count = report_group_count(q->report, TABLE_SLICE);
	ret->groups = calloc(ret->count + 1, sizeof(*ret->groups));
	if (!ret->groups)
		return -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		ret->groups[i] = (struct track_group){ report_group(q->report, TABLE_SLICE, i)->track, i };
	qsort_r(ret->groups, ret->count, sizeof(*ret->groups), compare_track_groups, q->report);
	return 0;
}

void track_groups_release(struct track_groups *groups)
{
	free(groups->groups);
	*groups = (struct track_groups){ 0 };
}

size_t track_groups_find(const struct track_groups *groups, uint32_t track)
{
	size_t low = 0, high = groups->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (groups->groups[middle].track < track)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void track_reader_init(struct track_reader *t, struct query *q, const struct track_groups *groups,
		       uint32_t track)
{
	memset(t, 0, sizeof(*t));
	t->q = q;
	t->groups = groups;
	t->track = track;
	t->at = track_groups_find(groups, track);
}

static void drop_columns(struct track_reader *t)
{
	for (unsigned i = 0; i < 4; i++) {
		free(t->columns[i]);
		t->columns[i] = NULL;
	}
	t->loaded = 0;
}

void track_reader_release(struct track_reader *t)
{
	drop_columns(t);
}

static int at_end(const struct track_reader *t)
{
	return t->at >= t->groups->count || t->groups->groups[t->at].track != t->track;
}

static int load_group(struct track_reader *t)
{
	size_t group = t->groups->groups[t->at].group;
	int r = 0;

	t->rows = report_group(t->q->report, TABLE_SLICE, group)->rows;
	t->row = 0;
	for (unsigned i = 0; i < 4 && r >= 0; i++) {
		t->columns[i] = malloc(t->rows * sizeof(*t->columns[i]));
		r = t->columns[i] ? report_column(t->q->report, TABLE_SLICE, group, read_columns[i],
						  t->columns[i], NULL) : -ENOMEM;
	}
	t->loaded = r >= 0;
	if (r < 0)
		drop_columns(t);
	return r;
}

int track_reader_peek(struct track_reader *t, struct track_row *ret)
{
	int r;

	while (!t->loaded || t->row >= t->rows) {
		if (t->loaded) {
			drop_columns(t);
			t->at++;
		}
		if (at_end(t))
			return 0;
		r = load_group(t);
		if (r == -EBADMSG) {
			atomic_fetch_add(&t->q->damaged, 1);
			t->at++;
		} else if (r < 0) {
			return r;
		}
	}
	*ret = (struct track_row){ t->columns[0][t->row], t->columns[1][t->row], t->columns[2][t->row],
				   t->columns[3][t->row] };
	return 1;
}

void track_reader_advance(struct track_reader *t)
{
	t->row++;
	if (t->loaded && t->row >= t->rows) {
		drop_columns(t);
		t->at++;
	}
}

int track_reader_next_start(struct track_reader *t, int64_t *ret)
{
	if (t->loaded && t->row < t->rows) {
		*ret = t->columns[0][t->row];
		return 1;
	}
	if (at_end(t))
		return 0;
	*ret = report_group(t->q->report, TABLE_SLICE, t->groups->groups[t->at].group)->time_min;
	return 1;
}
