#include "view/events/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/events/event.h"

/* More tracks than that are left as they are. */
#define MOST_LINES 64u
/* For events whose group has them in several lines; beyond it, a group is all in the line that has most of it. */
#define MOST_BYTES (64u << 20)

/* Where one track of a row is read. */
struct cursor {
	const struct view_track *track;
	size_t next; /* number of the next group, in the track */
	uint32_t row, rows;
	int64_t *start, *end;
	uint8_t *lines; /* of the rows so far */
};

/* What was found of a group. */
struct found {
	uint8_t line;
	uint8_t *lines;
};

struct finder {
	struct view_report *r;
	const _Atomic bool *stop;
	struct found *found; /* by group */
	size_t bytes;
	struct cursor cursors[MOST_LINES];
	int64_t free_at[MOST_LINES];
	unsigned count;            /* of tracks, and lines at most */
	unsigned used;             /* lines */
	unsigned base;             /* line of the first: behind those of another table */
	uint8_t bases[MOST_LINES]; /* by track of the row */
};

uint32_t row_line_count(const struct row *row)
{
	return row->line_count ? row->line_count : row->track_count;
}

uint32_t event_line(const struct view_report *r, const struct view_track *track, uint64_t index)
{
	const struct row *row = &r->rows[track->row];
	const struct row_group *p = row->line_count ? track_group(r, track, index) : NULL;

	return p ? group_line(p, index - p->first) : track->place;
}

/* Most of a group's rows are in one line, often all. */
static void settle_group(struct finder *f, size_t group, uint8_t *lines, uint32_t rows)
{
	uint32_t counts[MOST_LINES] = { 0 }, most = 0;
	struct found *to = &f->found[group];

	for (uint32_t i = 0; i < rows; i++)
		counts[lines[i] - f->base]++;
	for (unsigned i = 1; i < f->count; i++)
		most = counts[i] > counts[most] ? i : most;
	to->line = (uint8_t)(f->base + most);
	if (counts[most] == rows || f->bytes + rows > MOST_BYTES) {
		free(lines);
		return;
	}
	f->bytes += rows;
	to->lines = lines;
}

static void end_group(struct finder *f, struct cursor *c)
{
	if (c->lines)
		settle_group(f, c->track->group + c->next - 1, c->lines, c->rows);
	free(c->start);
	c->start = c->end = NULL;
	c->lines = NULL;
	c->row = c->rows = 0;
}

/* What cannot be read has no rows: as in report/decoded_rows.c. */
static int begin_group(struct finder *f, struct cursor *c)
{
	const struct row_group *p = &f->r->groups[c->track->group + c->next++];
	int rc;

	f->found[p - f->r->groups].line = (uint8_t)f->base;
	c->start = malloc(p->rows * 2 * sizeof(*c->start) + 1);
	c->end = c->start ? c->start + p->rows : NULL;
	c->lines = malloc(p->rows + 1u);
	if (!c->start || !c->lines)
		return -ENOMEM;
	rc = report_column(f->r->report, p->table, p->number, 0, c->start, NULL);
	if (rc == 0)
		rc = report_column(f->r->report, p->table, p->number, 1, c->end, NULL);
	memset(c->lines, (int)f->base, p->rows);
	c->rows = p->rows;
	c->row = rc < 0 ? p->rows : 0;
	return rc == -ENOMEM ? rc : 0;
}

/* 1: it has a row; 0: it has none any more. */
static int load_cursor_row(struct finder *f, struct cursor *c)
{
	while (c->row == c->rows) {
		end_group(f, c);
		if (c->next == c->track->group_count)
			return 0;
		TRY(atomic_load_explicit(f->stop, memory_order_relaxed) ? -ECANCELED : begin_group(f, c));
	}
	return 1;
}

/* The first that is free then. Where none is, tracks overlap in themselves: it is the one that is free soonest. */
static unsigned choose_line(const struct finder *f, int64_t start)
{
	unsigned soonest = 0;

	for (unsigned i = 0; i < f->count; i++) {
		if (f->free_at[i] <= start)
			return i;
		soonest = f->free_at[i] < f->free_at[soonest] ? i : soonest;
	}
	return soonest;
}

static void take_cursor_row(struct finder *f, struct cursor *c)
{
	int64_t start = c->start[c->row], end = c->end[c->row] > start ? c->end[c->row] : start;
	unsigned line = choose_line(f, start);

	f->free_at[line] = end > f->free_at[line] ? end : f->free_at[line];
	f->used = line + 1 > f->used ? line + 1 : f->used;
	c->lines[c->row++] = (uint8_t)(f->base + line);
}

/* All rows of some tracks in order of their starts. */
static int merge_tracks(struct finder *f)
{
	int rc = 0;

	f->used = 1;
	for (unsigned i = 0; i < f->count; i++)
		f->free_at[i] = INT64_MIN;
	while (rc == 0) {
		struct cursor *next = NULL;

		for (unsigned i = 0; i < f->count && rc >= 0; i++) {
			struct cursor *c = &f->cursors[i];

			rc = load_cursor_row(f, c);
			if (rc > 0 && (!next || c->start[c->row] < next->start[next->row]))
				next = c;
		}
		if (rc < 0 || !next)
			break;
		take_cursor_row(f, next);
		rc = 0;
	}
	for (unsigned i = 0; i < f->count; i++)
		end_group(f, &f->cursors[i]);
	TRY(rc);
	return 0;
}

/* Tracks of one table: of kernels, of graphs. */
static int find_lines_of(struct finder *f, const uint32_t *tracks, uint32_t count)
{
	const struct view_track *first = &f->r->tracks[tracks[0]];

	f->count = count;
	f->used = 1;
	for (uint32_t i = 0; i < count; i++)
		f->cursors[i] = (struct cursor){ .track = &f->r->tracks[tracks[i]] };
	if (count > 1)
		return merge_tracks(f);
	for (size_t i = 0; i < first->group_count; i++)
		f->found[first->group + i].line = (uint8_t)f->base;
	return 0;
}

static bool can_be_found(const struct view_report *r, const struct row *row)
{
	if (!row->joined || row->line_count || row->track_count > MOST_LINES)
		return false;
	for (uint32_t i = 0; i < row->track_count; i++)
		for (size_t k = 0; k < r->tracks[row->tracks[i]].group_count; k++)
			if (r->groups[r->tracks[row->tracks[i]].group + k].absent)
				return false;
	return true;
}

static int find_lines(struct finder *f, const struct row *row)
{
	uint32_t from = 0;
	int rc = 0;

	f->base = 0;
	for (uint32_t i = 1; i <= row->track_count && rc == 0; i++) {
		if (i < row->track_count && f->r->tracks[row->tracks[i]].table == f->r->tracks[row->tracks[from]].table)
			continue;
		memset(f->bases + from, (int)f->base, i - from);
		rc = find_lines_of(f, row->tracks + from, i - from);
		f->base += f->used;
		from = i;
	}
	return rc;
}

/* The line that most of a track is in is where it is summed up. */
static uint8_t main_line(const struct view_report *r, const struct view_track *track)
{
	uint64_t rows[MOST_LINES] = { 0 };
	unsigned most = 0;

	for (size_t i = 0; i < track->group_count; i++)
		rows[r->groups[track->group + i].line] += r->groups[track->group + i].rows;
	for (unsigned i = 1; i < MOST_LINES; i++)
		most = rows[i] > rows[most] ? i : most;
	return (uint8_t)most;
}

static void put_lines(struct finder *f, struct row *row, unsigned count)
{
	struct view_report *r = f->r;

	for (uint32_t i = 0; i < row->track_count; i++) {
		struct view_track *track = &r->tracks[row->tracks[i]];

		for (size_t k = track->group; k < track->group + track->group_count; k++) {
			r->groups[k].line = f->found[k].line;
			r->groups[k].lines = f->found[k].lines;
			f->found[k].lines = NULL;
		}
		track->line = main_line(r, track);
		track->first_line = f->bases[i];
	}
	row->line_count = count;
}

/* Nobody reads meanwhile. */
static int find_and_put(struct finder *f, struct row *row)
{
	TRY(find_lines(f, row));
	pthread_mutex_lock(&f->r->use_lock);
	while (f->r->readers)
		pthread_cond_wait(&f->r->unused, &f->r->use_lock);
	put_lines(f, row, f->base);
	pthread_mutex_unlock(&f->r->use_lock);
	return 0;
}

int view_report_find_lines(struct view_report *r, const _Atomic bool *stop)
{
	struct finder *f = calloc(1, sizeof(*f));
	int rc = f ? 0 : -ENOMEM;

	if (f) {
		*f = (struct finder){ .r = r, .stop = stop, .found = calloc(r->group_count + 1, sizeof(*f->found)) };
		rc = f->found ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < r->row_count && rc == 0; i++)
		if (can_be_found(r, &r->rows[i]))
			rc = find_and_put(f, &r->rows[i]);
	for (size_t i = 0; f && f->found && i < r->group_count; i++)
		free(f->found[i].lines);
	if (f)
		free(f->found);
	free(f);
	return rc;
}
