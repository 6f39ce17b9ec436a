#include "query/index/track_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

struct compared {
	const struct report *report;
	enum table_id table;
};

static int compare_track_groups(const void *a, const void *b, void *context)
{
	const struct track_group *x = a, *y = b;
	const struct compared *in = context;
	const struct report_group *gx, *gy;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	gx = report_group(in->report, in->table, x->group);
	gy = report_group(in->report, in->table, y->group);
	if (gx->time_min != gy->time_min)
		return gx->time_min < gy->time_min ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

int track_groups_load(struct track_groups *ret, struct query *q, enum table_id table)
{
	struct compared in = { q->report, table };

	ret->table = table;
	ret->count = report_group_count(q->report, table);
	ret->groups = calloc(ret->count + 1, sizeof(*ret->groups));
	if (!ret->groups)
		return -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		ret->groups[i] = (struct track_group){ report_group(q->report, table, i)->track, i };
	sort_items_with(ret->groups, ret->count, sizeof(*ret->groups), compare_track_groups, &in);
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

int track_groups_has(const struct track_groups *groups, uint32_t track)
{
	size_t at = track_groups_find(groups, track);

	return at < groups->count && groups->groups[at].track == track;
}

void track_reader_init(struct track_reader *t, struct query *q, const struct track_groups *groups, uint32_t track)
{
	static const uint8_t columns[] = { COLUMN_SLICE_START, COLUMN_SLICE_END, COLUMN_SLICE_NAME, COLUMN_SLICE_FLAGS };

	track_reader_init_columns(t, q, groups, track, columns, sizeof(columns));
}

void track_reader_init_columns(struct track_reader *t, struct query *q, const struct track_groups *groups, uint32_t track,
			       const uint8_t *columns, unsigned count)
{
	memset(t, 0, sizeof(*t));
	t->column_count = count;
	memcpy(t->read, columns, count);
	t->q = q;
	t->groups = groups;
	t->track = track;
	t->at = track_groups_find(groups, track);
}

static void drop_columns(struct track_reader *t)
{
	for (unsigned i = 0; i < t->column_count; i++) {
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

static int load_track_group(struct track_reader *t)
{
	size_t group = t->groups->groups[t->at].group;
	int r = 0;

	t->rows = report_group(t->q->report, t->groups->table, group)->rows;
	t->row = 0;
	for (unsigned i = 0; i < t->column_count && r >= 0; i++) {
		t->columns[i] = malloc(t->rows * sizeof(*t->columns[i]));
		r = t->columns[i] ? report_column(t->q->report, t->groups->table, group, t->read[i], t->columns[i], NULL) : -ENOMEM;
	}
	t->loaded = r >= 0;
	if (r < 0)
		drop_columns(t);
	return r;
}

int track_reader_load(struct track_reader *t)
{
	int r;

	while (!t->loaded || t->row >= t->rows) {
		if (t->loaded) {
			drop_columns(t);
			t->at++;
		}
		if (at_end(t))
			return 0;
		r = load_track_group(t);
		if (r == -EBADMSG) {
			atomic_fetch_add(&t->q->damaged, 1);
			t->at++;
		} else if (r < 0) {
			return r;
		}
	}
	return 1;
}

int track_reader_peek(struct track_reader *t, struct track_row *ret)
{
	int r = track_reader_load(t);

	if (r > 0)
		*ret = (struct track_row){ t->columns[0][t->row], t->columns[1][t->row], t->columns[2][t->row], t->columns[3][t->row] };
	return r;
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
	*ret = report_group(t->q->report, t->groups->table, t->groups->groups[t->at].group)->time_min;
	return 1;
}
