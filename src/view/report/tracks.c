/* Which tracks have rows, and where those lie. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "report/write/detail.h"
#include "view/report/view_report.h"

/* A report whose tracks are listed: all of them, or those that were made, behind the others. */
struct source {
	struct view_report *r;
	const struct report *report;
	bool derived;
	size_t first_group, first_track;
};

static int compare_view_groups(const void *a, const void *b)
{
	const struct row_group *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_min != y->time_min)
		return x->time_min < y->time_min ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool has_events(unsigned table)
{
	const struct table_schema *schema = table_schema(table);

	return schema && schema->kind != TABLE_KIND_PLAIN;
}

/* With those whose rows are left out. */
static size_t count_groups(const struct source *s, unsigned table)
{
	return has_events(table) ? report_group_count(s->report, table) + report_absent_count(s->report, table) : 0;
}

static int list_track_groups(const struct source *s)
{
	struct view_report *r = s->r;
	struct row_group *grown;
	size_t count = s->first_group;

	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++)
		count += count_groups(s, table);
	grown = reallocarray(r->groups, count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->groups = grown;
	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++)
		for (size_t i = 0; i < count_groups(s, table); i++) {
			const struct report_group *g = report_group(s->report, table, i);

			/* clang-format off */
			grown[r->group_count++] = (struct row_group){ .table = (uint8_t)table, .derived = s->derived, .track = g->track,
				.rows = g->rows, .number = i, .absent = i >= report_group_count(s->report, table), .summary = NO_SUMMARY, .time_min = g->time_min, .time_max = g->time_max };
			/* clang-format on */
		}
	sort_items(grown + s->first_group, r->group_count - s->first_group, sizeof(*grown), compare_view_groups);
	return 0;
}

static int list_tracks(const struct source *s)
{
	struct view_report *r = s->r;
	struct view_track *track = NULL,
			  *grown = reallocarray(r->tracks, s->first_track + r->group_count - s->first_group + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->tracks = grown;
	for (size_t i = s->first_group; i < r->group_count; i++) {
		struct row_group *p = &r->groups[i];
		uint32_t id = s->derived ? MADE_TRACKS + p->track : p->track;

		if (!track || track->table != p->table || track->id != id) {
			track = &r->tracks[r->track_count++];
			*track = (struct view_track){
				.table = p->table, .derived = s->derived, .id = id, .group = i, .busy = -1, .row = TRACK_NO_ROW
			};
		}
		p->first = track->rows;
		track->rows += p->rows;
		track->group_count++;
		if (s->derived)
			continue;
		r->events += p->rows;
		r->end = p->time_max > r->end ? p->time_max : r->end;
		r->begin = p->time_min < r->begin ? p->time_min : r->begin;
	}
	return 0;
}

static struct view_track *find_track(const struct source *s, int64_t table, int64_t id)
{
	struct view_report *r = s->r;
	size_t low = s->first_track, high = r->track_count, middle;

	id += s->derived ? MADE_TRACKS : 0;
	while (low < high) {
		const struct view_track *track = &r->tracks[middle = low + (high - low) / 2];

		if (track->table < table || (track->table == table && track->id < id))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == r->track_count || r->tracks[low].table != table || r->tracks[low].id != id)
		return NULL;
	return &r->tracks[low];
}

/* Level 1 has a row for each group, with the sum of its durations. */
static void take_sum(const struct source *s, int64_t table, int64_t id, int64_t busy)
{
	struct view_track *track = find_track(s, table, id);

	if (!track || busy < 0)
		return;
	track->busy = track->busy < 0 ? 0 : track->busy;
	if (__builtin_add_overflow(track->busy, busy, &track->busy))
		track->busy = INT64_MAX;
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
	const struct row_group *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_min != y->time_min)
		return x->time_min < y->time_min ? -1 : 1;
	return x->time_max < y->time_max ? -1 : x->time_max > y->time_max;
}

static void join_group(struct row_group *p, const struct row_group *details, size_t count)
{
	const struct row_group *found;

	if (p->rows < DETAIL_MIN_ROWS)
		return;
	found = find_item(p, details, count, sizeof(*details), compare_details);
	p->summary_level = detail_level(p->table, p->rows, p->time_min, p->time_max);
	if (found && p->summary_level <= SUMMARY_MAX_LEVEL)
		p->summary = found->number;
}

/* Level 0 has a group for each group of events, with its track and times. Whether it is the right one is seen when it is
 * read. */
static int join_details(const struct source *s)
{
	struct view_report *r = s->r;
	size_t count = 0, all = report_group_count(s->report, TABLE_LOD);
	struct row_group *details = calloc(all + 1, sizeof(*details));

	if (!details)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct report_group *g = report_group(s->report, TABLE_LOD, i);

		if (g->track)
			details[count++] = (struct row_group){
				.track = g->track, .number = i, .time_min = g->time_min, .time_max = g->time_max
			};
	}
	sort_items(details, count, sizeof(*details), compare_details);
	for (size_t i = s->first_group; i < r->group_count; i++)
		join_group(&r->groups[i], details, count);
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
	TRY(list_tracks(s));
	TRY(join_details(s));
	return add_sums(s);
}

int view_report_find_tracks(struct view_report *r)
{
	struct source s = { .r = r, .report = r->report };

	return list_source(&s);
}

int view_report_find_derived_tracks(struct view_report *r)
{
	struct source s = { .r = r, .report = r->derived, .derived = true, .first_group = r->group_count, .first_track = r->track_count };

	return list_source(&s);
}

struct view_track *view_report_track(struct view_report *r, int64_t table, int64_t id)
{
	struct source s = { .r = r };

	return find_track(&s, table, id);
}
