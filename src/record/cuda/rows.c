#include "record/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FIRST_ROWS 8u
#define KEPT_BYTES (32u << 20) /* of a process, while nothing waits */

struct cuda_rows *cuda_rows_of(struct cuda_rows **rows, enum table_id table, uint64_t thread, uint64_t domain)
{
	const struct table_schema *schema;

	if (*rows)
		return *rows;
	schema = table_schema(table);
	*rows = calloc(1, sizeof(**rows));
	if (!*rows)
		return NULL;
	(*rows)->table = (uint8_t)table;
	(*rows)->kind = table_tracks(table)->kind;
	(*rows)->thread = thread;
	(*rows)->domain = domain;
	(*rows)->stride = (uint8_t)(schema->column_count + 1);
	(*rows)->is_span = schema->kind == TABLE_KIND_SPAN;
	return *rows;
}

static int grow_cuda_rows(struct cuda_process *c, struct cuda_rows *rows)
{
	uint32_t cap = rows->cap ? rows->cap * 4 : FIRST_ROWS;
	int64_t *grown = realloc(rows->values, (size_t)cap * rows->stride * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	c->row_bytes += (size_t)(cap - rows->cap) * rows->stride * sizeof(*grown);
	rows->values = grown;
	rows->cap = cap;
	return 0;
}

static int64_t *row_at(const struct cuda_rows *rows, uint32_t i)
{
	return rows->values + (size_t)i * rows->stride;
}

/* The later one first where both begin at once: it contains the other. */
static int is_cuda_row_before(const struct cuda_rows *rows, const int64_t *a, const int64_t *b)
{
	return a[1] != b[1] ? a[1] < b[1] : rows->is_span && a[2] > b[2];
}

int64_t *cuda_rows_add(struct cuda_decoder *d, struct cuda_rows *rows, int64_t start, int64_t end, uint32_t present)
{
	int64_t *row;

	if (!rows || (rows->count == rows->cap && grow_cuda_rows(d->c, rows) < 0)) {
		d->c->unplaced++;
		return NULL;
	}
	if (rows->count == 0) {
		rows->next_waiting = d->c->waiting;
		d->c->waiting = rows;
	}
	row = row_at(rows, rows->count++);
	row[0] = present | 1u | (rows->is_span ? 2u : 0);
	row[1] = start;
	if (rows->is_span)
		row[2] = end;
	if (rows->count > 1 && is_cuda_row_before(rows, row, row - rows->stride))
		rows->out_of_order = 1;
	d->c->waiting_rows++;
	d->s->events++;
	return row + 1;
}

struct sort_key {
	int64_t start;
	int64_t end;
	uint32_t index;
};

static int compare_cuda_starts(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* In order of start, without memory in that of arrival: then tracks keep them apart. */
static struct sort_key *sort_row_keys(const struct cuda_rows *rows)
{
	struct sort_key *keys = rows->out_of_order ? malloc(rows->count * sizeof(*keys)) : NULL;
	const int64_t *row;

	for (uint32_t i = 0; keys && i < rows->count; i++) {
		row = row_at(rows, i);
		keys[i] = (struct sort_key){ row[1], rows->is_span ? row[2] : row[1], i };
	}
	if (keys)
		qsort(keys, rows->count, sizeof(*keys), compare_cuda_starts);
	return keys;
}

static struct placed_track *add_cuda_track(struct cuda_decoder *d, struct cuda_rows *rows)
{
	if (rows->track_count == CUDA_MAX_TRACKS)
		return NULL;
	if (!LIST_ROOM(rows->tracks, rows->track_count))
		return NULL;
	rows->tracks[rows->track_count] = (struct placed_track){
		.track = session_track(d->s, (enum table_id)rows->table, (enum track_kind)rows->kind, d->p->uid, rows->thread, rows->domain,
				       rows->track_count),
		.last_end = INT64_MIN,
	};
	return rows->tracks[rows->track_count].track ? &rows->tracks[rows->track_count++] : NULL;
}

static struct placed_track *free_track_for(struct cuda_decoder *d, struct cuda_rows *rows, int64_t start)
{
	for (uint32_t i = 0; i < rows->track_count; i++)
		if (rows->tracks[i].last_end <= start)
			return &rows->tracks[i];
	return add_cuda_track(d, rows);
}

static void place_cuda_row(struct cuda_decoder *d, struct cuda_rows *rows, const int64_t *row)
{
	struct placed_track *track = free_track_for(d, rows, row[1]);
	int r = track ? report_append(track->track, row + 1, (uint32_t)row[0]) : -ENOMEM;

	if (__builtin_expect(r == 0, 1)) {
		track->last_end = rows->is_span ? row[2] : row[1];
		return;
	}
	d->s->events--;
	if (r == -EINVAL || r == -ENOMEM)
		d->c->unplaced++;
	else
		d->s->unwritten++;
}

static void free_values(struct cuda_process *c, struct cuda_rows *rows)
{
	c->row_bytes -= (size_t)rows->cap * rows->stride * sizeof(*rows->values);
	free(rows->values);
	rows->values = NULL;
	rows->cap = 0;
}

static void place_all(struct cuda_decoder *d, struct cuda_rows *rows)
{
	struct sort_key *keys = sort_row_keys(rows);

	for (uint32_t i = 0; i < rows->count; i++)
		place_cuda_row(d, rows, row_at(rows, keys ? keys[i].index : i));
	free(keys);
	d->c->waiting_rows -= rows->count;
	rows->count = rows->stacks = rows->asked = 0;
	rows->out_of_order = 0;
	if (d->c->row_bytes > KEPT_BYTES)
		free_values(d->c, rows);
}

/* A stack was written before its call's record came, but lies in its thread's ring, which may be read later, and in parts: the
 * call waits until all rings were read to their end by a round that began after it was here. */
static int must_wait(struct cuda_decoder *d, struct cuda_rows *rows, int everything)
{
	uint32_t final = 0;

	if (everything || rows->count >= CUDA_WAITING_ROWS / 2)
		final = rows->count;
	else if (rows->asked && d->s->whole_rounds - rows->asked_round >= 2)
		final = rows->asked;
	if (rows->stacks)
		cuda_stacks_fill(d->c, rows, final);
	if (!rows->stacks)
		return 0;
	if (final >= rows->asked) {
		rows->asked = rows->count;
		rows->asked_round = d->s->whole_rounds;
	}
	return 1;
}

void cuda_flush(struct cuda_decoder *d, int everything)
{
	struct cuda_rows *rows = d->c->waiting, *next;

	cuda_clock_compare(d->c);
	d->c->waiting = NULL;
	d->c->ticks_waited = 0;
	for (; rows; rows = next) {
		next = rows->next_waiting;
		if (must_wait(d, rows, everything)) {
			rows->next_waiting = d->c->waiting;
			d->c->waiting = rows;
		} else {
			place_all(d, rows);
		}
	}
}

void cuda_rows_free(struct cuda_rows *rows)
{
	if (!rows)
		return;
	for (uint32_t i = 0; i < rows->track_count; i++)
		report_track_close(rows->tracks[i].track);
	free(rows->tracks);
	free(rows->values);
	free(rows);
}
