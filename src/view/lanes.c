/* Which tracks have rows, and where those lie. */
#include <errno.h>
#include <stdlib.h>

#include "view/recording.h"

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static bool has_events(unsigned table)
{
	const struct table_schema *schema = table_schema(table);

	return schema && schema->kind != TABLE_KIND_PLAIN;
}

static int list_pieces(struct recording *r)
{
	size_t count = 0;

	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++)
		count += has_events(table) ? report_group_count(r->report, table) : 0;
	r->pieces = calloc(count + 1, sizeof(*r->pieces));
	if (!r->pieces)
		return -ENOMEM;
	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++)
		for (size_t i = 0; has_events(table) && i < report_group_count(r->report, table); i++) {
			const struct report_group *g = report_group(r->report, table, i);

			r->pieces[r->piece_count++] = (struct piece){ .table = (uint8_t)table, .track = g->track, .rows = g->rows,
				.group = i, .summary = NO_SUMMARY, .time_min = g->time_min, .time_max = g->time_max };
		}
	qsort(r->pieces, r->piece_count, sizeof(*r->pieces), compare_pieces);
	return 0;
}

static int list_lanes(struct recording *r)
{
	struct lane *lane = NULL;

	r->lanes = calloc(r->piece_count + 1, sizeof(*r->lanes));
	if (!r->lanes)
		return -ENOMEM;
	for (size_t i = 0; i < r->piece_count; i++) {
		struct piece *p = &r->pieces[i];

		if (!lane || lane->table != p->table || lane->track != p->track) {
			lane = &r->lanes[r->lane_count++];
			*lane = (struct lane){ .table = p->table, .track = p->track, .piece = i, .busy = -1 };
		}
		p->first = lane->rows;
		lane->rows += p->rows;
		lane->piece_count++;
		r->events += p->rows;
		r->end = p->time_max > r->end ? p->time_max : r->end;
		r->begin = p->time_min < r->begin ? p->time_min : r->begin;
	}
	return 0;
}

static struct lane *find_lane(struct recording *r, int64_t table, int64_t track)
{
	size_t low = 0, high = r->lane_count, middle;

	while (low < high) {
		const struct lane *lane = &r->lanes[middle = low + (high - low) / 2];

		if (lane->table < table || (lane->table == table && lane->track < track))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == r->lane_count || r->lanes[low].table != table || r->lanes[low].track != track)
		return NULL;
	return &r->lanes[low];
}

/* Level 1 has a row for each group, with the sum of its durations. */
static int take_lod_row(void *context, const int64_t *values, uint32_t present)
{
	struct recording *r = context;
	struct lane *lane;

	if (values[COLUMN_LOD_LEVEL] != 1 || !(present >> COLUMN_LOD_BUSY & 1))
		return 0;
	lane = find_lane(r, values[COLUMN_LOD_TABLE], values[COLUMN_LOD_TRACK]);
	if (lane && values[COLUMN_LOD_BUSY] >= 0) {
		lane->busy = lane->busy < 0 ? 0 : lane->busy;
		if (__builtin_add_overflow(lane->busy, values[COLUMN_LOD_BUSY], &lane->busy))
			lane->busy = INT64_MAX;
	}
	return 0;
}


int recording_find_lanes(struct recording *r)
{
	int rc = list_pieces(r);

	rc = rc < 0 ? rc : list_lanes(r);
	return rc < 0 ? rc : report_each_row(r->report, TABLE_LOD, COLUMN_LOD_BUSY + 1, take_lod_row, r);
}
