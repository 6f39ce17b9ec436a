#include "view/events/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/events/event.h"

/* More tracks than that are left as they are. */
#define MOST_LINES 64u
/* For events whose piece has them in several lines; beyond it, a piece is all in the line that has most of it. */
#define MOST_BYTES (64u << 20)

/* Where one track of a row is read. */
struct cursor {
	const struct lane *lane;
	size_t next; /* number of the next piece, in the lane */
	uint32_t row, rows;
	int64_t *start, *end;
	uint8_t *lines; /* of the rows so far */
};

/* What was found of a piece. */
struct found {
	uint8_t line;
	uint8_t *lines;
};

struct finder {
	struct recording *r;
	const _Atomic bool *stop;
	struct found *found; /* by piece */
	size_t bytes;
	struct cursor cursors[MOST_LINES];
	int64_t free_at[MOST_LINES];
	unsigned count;            /* of tracks, and lines at most */
	unsigned used;             /* lines */
	unsigned base;             /* line of the first: behind those of another table */
	uint8_t bases[MOST_LINES]; /* by lane of the row */
};

uint32_t row_line_count(const struct row *row)
{
	return row->line_count ? row->line_count : row->lane_count;
}

uint32_t event_line(const struct recording *r, const struct lane *lane, uint64_t index)
{
	const struct row *row = &r->rows[lane->row];
	const struct piece *p = row->line_count ? lane_piece(r, lane, index) : NULL;

	return p ? piece_line(p, index - p->first) : lane->place;
}

/* Most of a piece's rows are in one line, often all. */
static void settle_piece(struct finder *f, size_t piece, uint8_t *lines, uint32_t rows)
{
	uint32_t counts[MOST_LINES] = { 0 }, most = 0;
	struct found *to = &f->found[piece];

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

static void end_piece(struct finder *f, struct cursor *c)
{
	if (c->lines)
		settle_piece(f, c->lane->piece + c->next - 1, c->lines, c->rows);
	free(c->start);
	c->start = c->end = NULL;
	c->lines = NULL;
	c->row = c->rows = 0;
}

/* What cannot be read has no rows: as in recording/decoded_rows.c. */
static int begin_piece(struct finder *f, struct cursor *c)
{
	const struct piece *p = &f->r->pieces[c->lane->piece + c->next++];
	int rc;

	f->found[p - f->r->pieces].line = (uint8_t)f->base;
	c->start = malloc(p->rows * 2 * sizeof(*c->start) + 1);
	c->end = c->start ? c->start + p->rows : NULL;
	c->lines = malloc(p->rows + 1u);
	if (!c->start || !c->lines)
		return -ENOMEM;
	rc = report_column(f->r->report, p->table, p->group, 0, c->start, NULL);
	if (rc == 0)
		rc = report_column(f->r->report, p->table, p->group, 1, c->end, NULL);
	memset(c->lines, (int)f->base, p->rows);
	c->rows = p->rows;
	c->row = rc < 0 ? p->rows : 0;
	return rc == -ENOMEM ? rc : 0;
}

/* 1: it has a row; 0: it has none any more. */
static int load_cursor_row(struct finder *f, struct cursor *c)
{
	while (c->row == c->rows) {
		end_piece(f, c);
		if (c->next == c->lane->piece_count)
			return 0;
		TRY(atomic_load_explicit(f->stop, memory_order_relaxed) ? -ECANCELED : begin_piece(f, c));
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
		end_piece(f, &f->cursors[i]);
	TRY(rc);
	return 0;
}

/* Tracks of one table: of kernels, of graphs. */
static int find_lines_of(struct finder *f, const uint32_t *lanes, uint32_t count)
{
	const struct lane *first = &f->r->lanes[lanes[0]];

	f->count = count;
	f->used = 1;
	for (uint32_t i = 0; i < count; i++)
		f->cursors[i] = (struct cursor){ .lane = &f->r->lanes[lanes[i]] };
	if (count > 1)
		return merge_tracks(f);
	for (size_t i = 0; i < first->piece_count; i++)
		f->found[first->piece + i].line = (uint8_t)f->base;
	return 0;
}

static bool can_be_found(const struct recording *r, const struct row *row)
{
	if (!row->joined || row->line_count || row->lane_count > MOST_LINES)
		return false;
	for (uint32_t i = 0; i < row->lane_count; i++)
		for (size_t k = 0; k < r->lanes[row->lanes[i]].piece_count; k++)
			if (r->pieces[r->lanes[row->lanes[i]].piece + k].absent)
				return false;
	return true;
}

static int find_lines(struct finder *f, const struct row *row)
{
	uint32_t from = 0;
	int rc = 0;

	f->base = 0;
	for (uint32_t i = 1; i <= row->lane_count && rc == 0; i++) {
		if (i < row->lane_count && f->r->lanes[row->lanes[i]].table == f->r->lanes[row->lanes[from]].table)
			continue;
		memset(f->bases + from, (int)f->base, i - from);
		rc = find_lines_of(f, row->lanes + from, i - from);
		f->base += f->used;
		from = i;
	}
	return rc;
}

/* The line that most of a lane is in is where it is summed up. */
static uint8_t main_line(const struct recording *r, const struct lane *lane)
{
	uint64_t rows[MOST_LINES] = { 0 };
	unsigned most = 0;

	for (size_t i = 0; i < lane->piece_count; i++)
		rows[r->pieces[lane->piece + i].line] += r->pieces[lane->piece + i].rows;
	for (unsigned i = 1; i < MOST_LINES; i++)
		most = rows[i] > rows[most] ? i : most;
	return (uint8_t)most;
}

static void put_lines(struct finder *f, struct row *row, unsigned count)
{
	struct recording *r = f->r;

	for (uint32_t i = 0; i < row->lane_count; i++) {
		struct lane *lane = &r->lanes[row->lanes[i]];

		for (size_t k = lane->piece; k < lane->piece + lane->piece_count; k++) {
			r->pieces[k].line = f->found[k].line;
			r->pieces[k].lines = f->found[k].lines;
			f->found[k].lines = NULL;
		}
		lane->line = main_line(r, lane);
		lane->first_line = f->bases[i];
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

int recording_find_lines(struct recording *r, const _Atomic bool *stop)
{
	struct finder *f = calloc(1, sizeof(*f));
	int rc = f ? 0 : -ENOMEM;

	if (f) {
		*f = (struct finder){ .r = r, .stop = stop, .found = calloc(r->piece_count + 1, sizeof(*f->found)) };
		rc = f->found ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < r->row_count && rc == 0; i++)
		if (can_be_found(r, &r->rows[i]))
			rc = find_and_put(f, &r->rows[i]);
	for (size_t i = 0; f && f->found && i < r->piece_count; i++)
		free(f->found[i].lines);
	if (f)
		free(f->found);
	free(f);
	return rc;
}
