#include "view/rows/rows.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "view/request/json_out.h"

/* Threads with less than this are folded away. */
#define QUIET_SHARE 0.001
#define QUIET_COUNT 100
/* Points of a plot that its range is found by, about. */
#define PLOT_LOOKED_AT 65536

/* clang-format off */
const char *const row_kind_names[ROW_KIND_COUNT] = {
	"gpu", "compute", "copies", "stream", "gpu-nvtx", "gpu-sync", "gpu-memory", "gpu-allocator", "gpu-switch", "gpu-metrics", "cpus",
	"cpu", "process", "thread", "state", "nvtx", "marks", "generic", "cuda-api", "osrt", "overhead", "samples", "counter",
};
/* clang-format on */
const char *const row_draw_names[] = { "group", "slices", "points", "plot" };

struct row *row_add(struct row_maker *m, uint32_t parent, enum row_kind kind, enum row_draw draw)
{
	struct view_report *r = m->r;
	struct row *row;

	if (!ARRAY_ROOM(r->rows, r->row_count, m->capacity, 1))
		return NULL;
	row = &r->rows[r->row_count++];
	*row = (struct row){ .parent = parent, .kind = kind, .draw = draw, .share = -1 };
	return row;
}

int row_print(char **to, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(to, format, args);
	va_end(args);
	if (r < 0)
		*to = NULL;
	return r < 0 ? -ENOMEM : 0;
}

const char *row_text(struct view_report *r, int64_t id)
{
	size_t len;
	const char *text = id > 0 ? view_report_text(r, (uint64_t)id, &len) : NULL;

	return text ? text : "";
}

static int compare_key_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* All but the depth and the track. */
static int compare_key_rows(const struct track_key *x, const struct track_key *y)
{
	const int64_t a[] = { x->section, x->place, x->order, x->owner, x->kind, x->domain, x->label, x->draw };
	const int64_t b[] = { y->section, y->place, y->order, y->owner, y->kind, y->domain, y->label, y->draw };
	int r = 0;

	for (size_t i = 0; i < COUNT_OF(a) && r == 0; i++)
		r = compare_key_numbers(a[i], b[i]);
	return r;
}

static int compare_keys(const void *a, const void *b)
{
	const struct track_key *x = a, *y = b;
	int r = compare_key_rows(x, y);

	r = r ? r : compare_key_numbers(x->depth, y->depth);
	return r ? r : compare_key_numbers(x->track, y->track);
}

enum row_draw row_draw_of(const struct view_report *r, uint32_t track)
{
	unsigned table = r->tracks[track].table;

	if (table == TABLE_COUNTER)
		return DRAW_PLOT;
	return table_schema(table)->kind == TABLE_KIND_SPAN ? DRAW_SLICES : DRAW_POINTS;
}

static int append_tracks(struct row *row, const uint32_t *tracks, uint32_t count)
{
	uint32_t *grown = reallocarray(row->tracks, row->track_count + count + 1u, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memcpy(grown + row->track_count, tracks, count * sizeof(*tracks));
	row->tracks = grown;
	row->track_count += count;
	return 0;
}

int row_add_heat(struct row *group, const uint32_t *tracks, uint32_t count)
{
	return append_tracks(group, tracks, count);
}

int row_add_tracks(struct view_report *r, uint32_t id, const uint32_t *tracks, uint32_t count)
{
	struct row *row = &r->rows[id];
	uint32_t before = row->track_count;
	int rc = append_tracks(row, tracks, count);

	for (uint32_t i = 0; i < count && rc == 0; i++) {
		r->tracks[tracks[i]].row = id;
		r->tracks[tracks[i]].place = before + i;
		r->tracks[tracks[i]].before = row->joined ? row->count : 0;
		row->count += r->tracks[tracks[i]].rows;
	}
	return rc;
}

static int take_tracks(struct view_report *r, struct row *row, const struct track_key *keys, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = row_add_tracks(r, (uint32_t)(row - r->rows), &keys[i].track, 1);
	return rc;
}

/* Nested tracks: the outermost is the time. Lanes beside each other (GPU work): their sum. */
static double busy_share(const struct view_report *r, const struct row *row)
{
	bool nested = row_is_nested(row) && row->draw != DRAW_GROUP;
	double length = (double)r->end - (double)(r->begin), busy = 0;

	if (row->draw == DRAW_POINTS || row->draw == DRAW_PLOT || !row->track_count || !(length > 0))
		return -1;
	for (uint32_t i = 0; i < (nested ? 1 : row->track_count); i++) {
		if (r->tracks[row->tracks[i]].busy < 0)
			return -1;
		busy += (double)r->tracks[row->tracks[i]].busy;
	}
	/* Of cores: of all that there are. */
	if (row->kind == ROW_CPUS)
		busy /= row->track_count;
	return busy / length > 1 ? 1 : busy / length;
}

/* A thread's heat line is its first row of slices; a GPU's is all of its work. */
static int warm_parents(struct row_maker *m, size_t id)
{
	struct view_report *r = m->r;
	struct row *row = &r->rows[id];
	bool nested = row->kind >= ROW_PROCESS;
	bool warm = row->draw == DRAW_SLICES && (nested ? !m->owner_has_heat : row->kind == ROW_STREAM);
	int rc = 0;

	if (warm && nested && row->kind != ROW_OVERHEAD)
		m->owner_has_heat = true;
	for (uint32_t up = row->parent; up != ROW_NO_PARENT && rc == 0; up = r->rows[up].parent) {
		r->rows[up].count += row->count;
		if (warm)
			rc = row_add_heat(&r->rows[up], row->tracks, nested ? 1 : row->track_count);
	}
	return rc;
}

static int add_track_row(struct row_maker *m, const struct track_key *before, const struct track_key *keys, size_t count)
{
	bool of_gpu = keys->section == SECTION_GPU;
	struct row *row;

	TRY(of_gpu ? gpu_headings(m, before, keys) : process_headings(m, before, keys));
	row = row_add(m, m->owner_row, keys->kind, keys->draw);
	if (!row)
		return -ENOMEM;
	row->uid = keys->owner;
	row->joined = keys->draw == DRAW_SLICES && (keys->kind == ROW_STREAM || keys->kind == ROW_GPU_SYNC) && count > 1;
	TRY(take_tracks(m->r, row, keys, count));
	TRY(of_gpu ? gpu_label(m->r, keys, row) : process_label(m->r, keys, row));
	return warm_parents(m, m->r->row_count - 1);
}

static size_t make_keys(struct view_report *r, struct track_key *keys)
{
	size_t count = 0;

	for (size_t i = 0; i < r->track_count; i++) {
		const int64_t *track_row = view_report_track_row(r, r->tracks[i].id);
		static const int64_t nobody[VIEW_TRACK_WIDTH];
		struct track_key *key = &keys[count];

		*key = (struct track_key){ .track = (uint32_t)i, .draw = row_draw_of(r, (uint32_t)i) };
		track_row = track_row ? track_row : nobody;
		if (gpu_track_key(r, track_row, key) || process_track_key(r, track_row, key))
			count++;
	}
	sort_items(keys, count, sizeof(*keys), compare_keys);
	return count;
}

static void widen(struct row *row, const struct decoded_rows *c)
{
	for (uint32_t i = 0; i < c->rows; i++) {
		row->least = c->values[i] < row->least ? c->values[i] : row->least;
		row->most = c->values[i] > row->most ? c->values[i] : row->most;
	}
}

/* Axes begin at zero, and shares end at a hundred. Long plots are looked at here and there. */
static void find_range(struct view_report *r, struct row *row)
{
	const struct view_track *track = &r->tracks[row->tracks[0]];
	size_t step = track->rows / PLOT_LOOKED_AT + 1;
	const struct decoded_rows *c;

	row->most = strcmp(row_text(r, row->unit), "%") == 0 ? 100 : 0;
	for (size_t i = 0; i < track->group_count; i += step)
		if (store_decoded_rows(r, &r->groups[track->group + i], &c) == 0) {
			widen(row, c);
			store_give(r->store, c);
		}
}

static void set_row_shares(struct view_report *r, size_t from)
{
	for (size_t i = from; i < r->row_count; i++) {
		struct row *row = &r->rows[i];

		row->share = busy_share(r, row);
		if (row->draw == DRAW_PLOT)
			find_range(r, row);
		row->quiet = row->kind == ROW_THREAD && row->count < QUIET_COUNT && row->share < QUIET_SHARE;
	}
}

/* Rows below a GPU, and those below nothing, are ordered by their kinds; others as they were added. */
static int64_t rank_of(const struct view_report *r, const struct row *row)
{
	bool by_kind = row->parent == ROW_NO_PARENT || r->rows[row->parent].kind == ROW_GPU;

	return by_kind ? (int64_t)row->kind : 0;
}

static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct view_report *r = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = compare_key_numbers(r->rows[x].parent, r->rows[y].parent);

	c = c ? c : compare_key_numbers(rank_of(r, &r->rows[x]), rank_of(r, &r->rows[y]));
	return c ? c : compare_key_numbers(x, y);
}

/* The first of those below a parent. */
static size_t first_child(const struct view_report *r, const uint32_t *sorted, uint32_t parent)
{
	size_t low = 0, high = r->row_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (r->rows[sorted[middle]].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t put_children(struct view_report *r, const uint32_t *sorted, uint32_t parent, size_t at)
{
	for (size_t i = first_child(r, sorted, parent); i < r->row_count && r->rows[sorted[i]].parent == parent; i++) {
		r->order[at++] = sorted[i];
		if (r->rows[sorted[i]].draw == DRAW_GROUP)
			at = put_children(r, sorted, sorted[i], at);
	}
	return at;
}

int rows_finish(struct view_report *r, size_t from)
{
	uint32_t *sorted = calloc(r->row_count + 1, sizeof(*sorted));
	uint32_t *order = calloc(r->row_count + 1, sizeof(*order));

	set_row_shares(r, from);
	if (!sorted || !order) {
		free(sorted);
		free(order);
		return -ENOMEM;
	}
	free(r->order);
	r->order = order;
	for (size_t i = 0; i < r->row_count; i++)
		sorted[i] = (uint32_t)i;
	sort_items_with(sorted, r->row_count, sizeof(*sorted), compare_siblings, r);
	put_children(r, sorted, ROW_NO_PARENT, 0);
	free(sorted);
	return 0;
}

int view_report_make_rows(struct view_report *r)
{
	struct row_maker m = { .r = r, .place_row = ROW_NO_PARENT, .owner_row = ROW_NO_PARENT };
	CLEANUP_FREE struct track_key *keys = calloc(r->track_count + 1, sizeof(*keys));
	size_t count, from = 0;

	if (!keys)
		return -ENOMEM;
	count = make_keys(r, keys);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && compare_key_rows(&keys[i], &keys[from]) == 0)
			continue;
		TRY(add_track_row(&m, from ? &keys[from - 1] : NULL, &keys[from], i - from));
		from = i;
	}
	return rows_finish(r, 0);
}

void rows_drop(struct view_report *r, size_t from)
{
	for (size_t i = from; i < r->row_count; i++) {
		free(r->rows[i].label);
		free(r->rows[i].detail);
		free(r->rows[i].tracks);
	}
	for (size_t i = 0; i < r->track_count; i++)
		if (r->tracks[i].row >= from)
			r->tracks[i].row = TRACK_NO_ROW;
	r->row_count = from < r->row_count ? from : r->row_count;
}

void view_report_free_rows(struct view_report *r)
{
	rows_drop(r, 0);
	free(r->rows);
	free(r->order);
}
