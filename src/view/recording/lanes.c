/* Which tracks have rows, and where those lie. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "report/write/detail.h"
#include "view/recording/recording.h"

/* A report whose lanes are listed: all of them, or those that were made, behind the others. */
struct source {
	struct recording *r;
	const struct report *report;
	bool made;
	size_t first_piece, first_lane;
};

static int compare_view_groups(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_min != y->time_min)
		return x->time_min < y->time_min ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static bool has_events(unsigned table)
{
	const struct table_schema *schema = table_schema(table);

	return schema && schema->kind != TABLE_KIND_PLAIN;
}

/* With those whose rows are left out. */
static size_t group_count(const struct source *s, unsigned table)
{
	return has_events(table) ? report_group_count(s->report, table) + report_absent_count(s->report, table) : 0;
}

static int list_track_groups(const struct source *s)
{
	struct recording *r = s->r;
	struct piece *grown;
	size_t count = s->first_piece;

	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++)
		count += group_count(s, table);
	grown = reallocarray(r->pieces, count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->pieces = grown;
	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++)
		for (size_t i = 0; i < group_count(s, table); i++) {
			const struct report_group *g = report_group(s->report, table, i);

			/* clang-format off */
			grown[r->piece_count++] = (struct piece){ .table = (uint8_t)table, .made = s->made, .track = g->track,
				.rows = g->rows, .group = i, .absent = i >= report_group_count(s->report, table), .summary = NO_SUMMARY, .time_min = g->time_min, .time_max = g->time_max };
			/* clang-format on */
		}
	sort_items(grown + s->first_piece, r->piece_count - s->first_piece, sizeof(*grown), compare_view_groups);
	return 0;
}

static int list_lanes(const struct source *s)
{
	struct recording *r = s->r;
	struct lane *lane = NULL, *grown = reallocarray(r->lanes, s->first_lane + r->piece_count - s->first_piece + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->lanes = grown;
	for (size_t i = s->first_piece; i < r->piece_count; i++) {
		struct piece *p = &r->pieces[i];
		uint32_t track = s->made ? MADE_TRACKS + p->track : p->track;

		if (!lane || lane->table != p->table || lane->track != track) {
			lane = &r->lanes[r->lane_count++];
			*lane = (struct lane){
				.table = p->table, .made = s->made, .track = track, .piece = i, .busy = -1, .row = LANE_NO_ROW
			};
		}
		p->first = lane->rows;
		lane->rows += p->rows;
		lane->piece_count++;
		if (s->made)
			continue;
		r->events += p->rows;
		r->end = p->time_max > r->end ? p->time_max : r->end;
		r->begin = p->time_min < r->begin ? p->time_min : r->begin;
	}
	return 0;
}

static struct lane *find_lane(const struct source *s, int64_t table, int64_t track)
{
	struct recording *r = s->r;
	size_t low = s->first_lane, high = r->lane_count, middle;

	track += s->made ? MADE_TRACKS : 0;

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
static void take_sum(const struct source *s, int64_t table, int64_t track, int64_t busy)
{
	struct lane *lane = find_lane(s, table, track);

	if (!lane || busy < 0)
		return;
	lane->busy = lane->busy < 0 ? 0 : lane->busy;
	if (__builtin_add_overflow(lane->busy, busy, &lane->busy))
		lane->busy = INT64_MAX;
}

static int add_group_sums(const struct source *s, size_t group)
{
	static const uint8_t columns[] = { COLUMN_LOD_TABLE, COLUMN_LOD_TRACK, COLUMN_LOD_LEVEL, COLUMN_LOD_BUSY };
	uint32_t rows = report_group(s->report, TABLE_LOD, group)->rows;
	int64_t *values = malloc(rows * sizeof(columns) * sizeof(*values) + 1);
	int rc = values ? 0 : -ENOMEM;

	for (unsigned c = 0; c < sizeof(columns) && rc >= 0; c++)
		rc = report_column(s->report, TABLE_LOD, group, columns[c], values + (size_t)c * rows, NULL);
	for (uint32_t i = 0; i < rows && rc >= 0; i++)
		if (values[2 * (size_t)rows + i] == 1)
			take_sum(s, values[i], values[rows + (size_t)i], values[3 * (size_t)rows + i]);
	free(values);
	return rc == -ENOMEM ? rc : 0;
}

static int compare_details(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_min != y->time_min)
		return x->time_min < y->time_min ? -1 : 1;
	return x->time_max < y->time_max ? -1 : x->time_max > y->time_max;
}

static void join_piece(struct piece *p, const struct piece *details, size_t count)
{
	const struct piece *found;

	if (p->rows < DETAIL_MIN_ROWS)
		return;
	found = find_item(p, details, count, sizeof(*details), compare_details);
	p->summary_level = detail_level(p->table, p->rows, p->time_min, p->time_max);
	if (found && p->summary_level <= SUMMARY_MAX_LEVEL)
		p->summary = found->group;
}

/* Level 0 has a group for each group of events, with its track and times. Whether it is the right one is seen when it is
 * read. */
static int join_details(const struct source *s)
{
	struct recording *r = s->r;
	size_t count = 0, all = report_group_count(s->report, TABLE_LOD);
	struct piece *details = calloc(all + 1, sizeof(*details));

	if (!details)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct report_group *g = report_group(s->report, TABLE_LOD, i);

		if (g->track)
			details[count++] = (struct piece){
				.track = g->track, .group = i, .time_min = g->time_min, .time_max = g->time_max
			};
	}
	sort_items(details, count, sizeof(*details), compare_details);
	for (size_t i = s->first_piece; i < r->piece_count; i++)
		join_piece(&r->pieces[i], details, count);
	free(details);
	return 0;
}

/* Groups of level 0 are left alone: they are many. */
static int add_sums(const struct source *s)
{
	int rc = 0;

	for (size_t i = 0; i < report_group_count(s->report, TABLE_LOD) && rc == 0; i++)
		if (report_group(s->report, TABLE_LOD, i)->track == 0)
			rc = add_group_sums(s, i);
	return rc;
}

static int list_source(const struct source *s)
{
	TRY(list_track_groups(s));
	TRY(list_lanes(s));
	TRY(join_details(s));
	return add_sums(s);
}

int recording_find_lanes(struct recording *r)
{
	struct source s = { .r = r, .report = r->report };

	return list_source(&s);
}

int recording_find_made_lanes(struct recording *r)
{
	struct source s = { .r = r, .report = r->made, .made = true, .first_piece = r->piece_count, .first_lane = r->lane_count };

	return list_source(&s);
}

struct lane *recording_lane(struct recording *r, int64_t table, int64_t track)
{
	struct source s = { .r = r };

	return find_lane(&s, table, track);
}
