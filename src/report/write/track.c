/* Builders: the rows of a track that are not in the file yet, column by column. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/write/internal.h"

#define FIRST_CAPACITY 16u

struct report_track *track_create(struct report_writer *w, enum table_id table, uint32_t track)
{
	const struct table_schema *schema = table_schema(table);
	struct report_track *t;

	if (!schema || schema->column_count > TABLE_MAX_COLUMNS)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->writer = w;
	t->table = (uint8_t)table;
	t->kind = (uint8_t)schema->kind;
	t->column_count = (uint8_t)schema->column_count;
	t->track = track;
	t->last = INT64_MIN;
	return t;
}

static void free_buffers_of(struct report_track *t)
{
	if (t->columns) {
		for (unsigned c = 0; c < t->column_count; c++) {
			if (t->columns[c].values)
				t->writer->builder_bytes -= t->capacity * sizeof(int64_t);
			free(t->columns[c].values);
		}
		free(t->columns);
		t->columns = NULL;
	}
	t->with_room = 0;
	free(t->masks);
	t->masks = NULL;
	t->capacity = 0;
}

void track_destroy(struct report_track *t)
{
	if (!t)
		return;
	free_buffers_of(t);
	free(t);
}

void track_clear(struct report_track *t, int free_buffers)
{
	t->rows = t->journaled = 0;
	free(t->masks);
	t->masks = NULL;
	if (free_buffers)
		free_buffers_of(t);
	for (unsigned c = 0; t->columns && c < t->column_count; c++)
		t->columns[c].count = t->columns[c].journaled = 0;
}

int track_is_meta(const struct report_track *t)
{
	return t->kind == TABLE_KIND_PLAIN && t->table != TABLE_ARG && !(t->writer->ring.on && table_passes(t->table));
}

static int grow_array(void **array, uint32_t capacity, size_t item)
{
	void *grown = realloc(*array, capacity * item);

	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static int track_grow(struct report_track *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 4 : FIRST_CAPACITY;

	if (capacity > GROUP_ROWS)
		capacity = GROUP_ROWS;
	if (!t->columns) {
		t->columns = calloc(t->column_count, sizeof(*t->columns));
		if (!t->columns)
			return -ENOMEM;
	}
	for (unsigned c = 0; c < t->column_count; c++) {
		if (!t->columns[c].values)
			continue;
		if (grow_array((void **)&t->columns[c].values, capacity, sizeof(int64_t)) < 0)
			return -ENOMEM;
	}
	if (t->masks && grow_array((void **)&t->masks, capacity, sizeof(*t->masks)) < 0)
		return -ENOMEM;
	for (unsigned c = 0; c < t->column_count; c++)
		if (t->columns[c].values)
			t->writer->builder_bytes += (capacity - t->capacity) * sizeof(int64_t);
	t->capacity = capacity;
	return 0;
}

/* From now on every row says which columns it has, and columns are counted one by one. */
static int start_masks(struct report_track *t)
{
	t->masks = malloc(t->capacity * sizeof(*t->masks));
	if (!t->masks)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->rows; i++)
		t->masks[i] = t->mask;
	for (unsigned c = 0; c < t->column_count; c++) {
		t->columns[c].count = t->mask >> c & 1 ? t->rows : 0;
		t->columns[c].journaled = t->mask >> c & 1 ? t->journaled : 0;
	}
	return 0;
}

/* Columns that this track has not had before, and room for one more row. */
static int track_prepare(struct report_track *t, uint32_t present)
{
	int r = 0;

	if (t->rows == t->capacity)
		r = track_grow(t);
	for (unsigned c = 0; c < t->column_count && r == 0; c++) {
		if (!(present >> c & 1) || t->columns[c].values)
			continue;
		t->columns[c].values = malloc(t->capacity * sizeof(int64_t));
		if (!t->columns[c].values)
			return -ENOMEM;
		t->with_room |= 1u << c;
		t->writer->builder_bytes += t->capacity * sizeof(int64_t);
	}
	if (r == 0 && t->rows && t->mask != present && !t->masks)
		r = start_masks(t);
	return r;
}

/* A row that needs more than room: the first one, or one unlike those before. */
static int put_slowly(struct report_track *t, const int64_t *values, uint32_t present)
{
	if (!present || (uint64_t)present >> t->column_count)
		return -EINVAL;
	if (!t->masks || t->rows == t->capacity || present & ~t->with_room)
		TRY(track_prepare(t, present));
	if (t->rows == 0)
		t->mask = present;
	for (uint32_t left = present; left; left &= left - 1) {
		struct track_column *column = &t->columns[__builtin_ctz(left)];

		column->values[t->masks ? column->count++ : t->rows] = values[__builtin_ctz(left)];
	}
	if (t->masks)
		t->masks[t->rows] = present;
	t->rows++;
	return 0;
}

int track_put(struct report_track *t, const int64_t *values, uint32_t present)
{
	int64_t last = t->last;

	if (t->kind == TABLE_KIND_SPAN) {
		if ((present & 3) != 3 || values[0] < t->last || values[1] < values[0])
			return -EINVAL;
		last = values[1];
	} else if (t->kind == TABLE_KIND_POINT) {
		if (!(present & 1) || values[0] < t->last)
			return -EINVAL;
		last = values[0];
	}
	if (present == t->mask && t->rows && t->rows < t->capacity && !t->masks) {
		for (uint32_t left = present; left; left &= left - 1) {
			unsigned c = (unsigned)__builtin_ctz(left);

			t->columns[c].values[t->rows] = values[c];
		}
		t->rows++;
	} else {
		TRY(put_slowly(t, values, present));
	}
	t->last = last;
	return 0;
}

uint32_t track_column_values(const struct report_track *t, unsigned c)
{
	return t->masks ? t->columns[c].count : t->mask >> c & 1 ? t->rows : 0;
}

void track_mark_journaled(struct report_track *t)
{
	t->journaled = t->rows;
	for (unsigned c = 0; t->masks && c < t->column_count; c++)
		t->columns[c].journaled = t->columns[c].count;
}

void track_view(const struct report_track *t, int all, struct row_set *ret)
{
	uint32_t from = all ? 0 : t->journaled;

	memset(ret, 0, sizeof(*ret));
	ret->kind = (enum table_kind)t->kind;
	ret->head.table = t->table;
	ret->head.track = t->track;
	ret->head.first = t->flushed + from;
	ret->head.rows = t->rows - from;
	ret->masks = t->masks ? t->masks + from : NULL;
	for (unsigned c = 0; c < t->column_count; c++) {
		uint32_t skip = all ? 0 : t->masks ? t->columns[c].journaled : t->mask >> c & 1 ? from : 0;

		ret->counts[c] = track_column_values(t, c) - skip;
		ret->columns[c] = t->columns[c].values ? t->columns[c].values + skip : NULL;
		if (ret->counts[c])
			ret->head.present |= 1u << c;
	}
	if (t->kind == TABLE_KIND_PLAIN)
		return;
	ret->head.time_min = ret->columns[0][0];
	ret->head.time_max = t->last;
}

/* Data is refused after trouble with the disk; a little more about the recording
 * (how it ended, what was lost) still fits into what was set aside. */
static int track_refuses_rows(const struct report_track *t)
{
	return t->writer->stopped && (!track_is_meta(t) || t->rows == GROUP_ROWS);
}

static void track_full(struct report_writer *w, struct report_track *t)
{
	int r = w->stopped ? 0 : flush_track(w, t);

	if (r < 0)
		w->stopped = r;
}

int report_append(struct report_track *t, const int64_t *values, uint32_t present)
{
	struct report_writer *w = t->writer;

	if (track_refuses_rows(t))
		return w->stopped;
	TRY(track_put(t, values, present));
	w->rows++;
	if (!t->dirty) {
		t->dirty = 1;
		t->closed = 0;
		t->next_dirty = w->dirty;
		w->dirty = t;
	}
	t->last_tick = w->tick;
	if (t->rows == GROUP_ROWS)
		track_full(w, t);
	return 0;
}
