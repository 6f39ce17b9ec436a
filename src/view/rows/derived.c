/* Rows of what was made. They come behind all others in the list, whose numbers a page may have already. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "fmt/gpu_enums.h"
#include "view/rows/rows.h"

static const struct derived_track *find_derived_track(const struct view_report *r, size_t track)
{
	size_t number = r->tracks[track].id - MADE_TRACKS;

	return number >= 1 && number <= r->derived_track_count ? &r->derived_tracks[number - 1] : NULL;
}

/* What rows are told apart by; depths of one are its tracks. */
static int compare_derived_tracks(const struct derived_track *x, const struct derived_track *y)
{
	const int64_t a[] = { x->kind, x->place, x->thread, x->domain }, b[] = { y->kind, y->place, y->thread, y->domain };

	for (size_t i = 0; i < COUNT_OF(a); i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Tracks of one row are equal; as in rows.c, they are drawn alike. */
static int compare_derived_rows(const struct view_report *r, uint32_t a, uint32_t b)
{
	int c = compare_derived_tracks(find_derived_track(r, a), find_derived_track(r, b));

	return c ? c : (int)row_draw_of(r, a) - (int)row_draw_of(r, b);
}

static int compare_tracks(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t depth = find_derived_track(context, x)->depth, other = find_derived_track(context, y)->depth;
	int c = compare_derived_rows(context, x, y);

	return c ? c : depth < other ? -1 : depth > other;
}

static uint32_t find_heading_row(const struct view_report *r, enum row_kind kind, int64_t uid, uint32_t parent)
{
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].kind == kind && r->rows[i].uid == uid && (parent == ROW_NO_PARENT || r->rows[i].parent == parent) &&
		    r->rows[i].draw == DRAW_GROUP)
			return (uint32_t)i;
	return ROW_NO_PARENT;
}

static int add_heading(struct row_maker *m, uint32_t parent, enum row_kind kind, int64_t uid, const char *label, uint32_t *ret)
{
	struct row *row;

	*ret = find_heading_row(m->r, kind, uid, parent);
	if (*ret != ROW_NO_PARENT)
		return 0;
	row = row_add(m, parent, kind, DRAW_GROUP);
	if (!row)
		return -ENOMEM;
	*ret = (uint32_t)(m->r->row_count - 1);
	row->uid = uid;
	return row_print(&row->label, "%s", label);
}

/* The heading that rows of a kind are below. */
static int find_parent(struct row_maker *m, const struct derived_track *t, uint32_t *ret)
{
	uint32_t gpu;

	if (t->kind == ROW_CPU)
		return add_heading(m, ROW_NO_PARENT, ROW_CPUS, 0, "CPUs", ret);
	gpu = find_heading_row(m->r, ROW_GPU, t->place, ROW_NO_PARENT);
	*ret = gpu;
	return t->kind == ROW_GPU_NVTX ? add_heading(m, gpu, ROW_GPU_NVTX, t->place, "NVTX on the GPU", ret) : 0;
}

static int label_memory(struct row *row, int64_t kind)
{
	switch (kind) {
	case GPU_MEMORY_UNKNOWN: return row_print(&row->label, "memory in use");
	case GPU_MEMORY_ARRAY: return row_print(&row->label, "arrays in use");
	case GPU_MEMORY_DEVICE_STATIC: return row_print(&row->label, "static memory in use");
	default: return row_print(&row->label, "%s memory in use", gpu_memory_kind(kind)->word);
	}
}

static int label_ranges(struct view_report *r, const struct derived_track *t, struct row *row)
{
	const int64_t *domain = index_find(&r->index.domains, t->domain), *thread = index_find(&r->index.threads, t->thread);
	const int64_t *process = thread ? index_find(&r->index.processes, thread[THREAD_PROCESS]) : NULL;
	const char *name = domain ? row_text(r, domain[DOMAIN_NAME]) : "", *of;

	if (thread) {
		of = row_text(r, index_thread_name(&r->index, t->thread));
		row_print(&row->detail, "%s %lld, %s %lld", process ? row_text(r, process[PROCESS_NAME]) : "process",
			  process ? (long long)process[PROCESS_PID] : 0, *of ? of : "thread", (long long)thread[THREAD_TID]);
	}
	return row_print(&row->label, "%s", *name ? name : "NVTX");
}

static int label_row(struct view_report *r, const struct derived_track *t, struct row *row)
{
	switch ((int)t->kind) {
	case ROW_CPU: return row_print(&row->label, "CPU %lld", (long long)t->place);
	case ROW_GPU_MEMORY:
		row->unit_text = "B";
		row->held = true;
		return label_memory(row, t->domain);
	default: return label_ranges(r, t, row);
	}
}

/* What a thread waited for lies in the same line as its runs; where these are in no row of slices, it is not shown. */
static int join_state(struct row_maker *m, uint32_t track)
{
	uint32_t runs = find_derived_track(m->r, track)->of_track, id = runs < m->r->track_count ? m->r->tracks[runs].row : TRACK_NO_ROW;
	struct row *row = id == TRACK_NO_ROW ? NULL : &m->r->rows[id];

	if (!row || row->draw != row_draw_of(m->r, track))
		return 0;
	TRY(row_add_tracks(m->r, id, &track, 1));
	row->overlaid = true;
	free(row->label);
	row->label = NULL;
	return row_print(&row->label, "state");
}

static int join_states(struct row_maker *m, const uint32_t *tracks, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = join_state(m, tracks[i]);
	return rc;
}

static int add_derived_row(struct row_maker *m, const uint32_t *tracks, size_t count)
{
	const struct derived_track *t = find_derived_track(m->r, tracks[0]);
	struct row *row;
	uint32_t parent;

	if (t->kind == ROW_STATE)
		return join_states(m, tracks, count);
	TRY(find_parent(m, t, &parent));
	row = row_add(m, parent, t->kind, row_draw_of(m->r, tracks[0]));
	if (!row)
		return -ENOMEM;
	row->uid = t->kind == ROW_CPU ? t->place : t->thread;
	TRY(label_row(m->r, t, row));
	TRY(row_add_tracks(m->r, (uint32_t)(row - m->r->rows), tracks, (uint32_t)count));
	if (t->kind == ROW_GPU_MEMORY)
		return 0;
	m->r->rows[parent].count += row->count;
	return row->draw == DRAW_SLICES ? row_add_heat(&m->r->rows[parent], tracks, 1) : 0;
}

static int add_derived_rows(struct row_maker *m, uint32_t *tracks, size_t count)
{
	size_t from = 0;
	int rc = 0;

	sort_items_with(tracks, count, sizeof(*tracks), compare_tracks, m->r);
	for (size_t i = 1; i <= count && rc == 0; i++) {
		if (i < count && compare_derived_rows(m->r, tracks[i], tracks[from]) == 0)
			continue;
		rc = add_derived_row(m, tracks + from, i - from);
		from = i;
	}
	return rc;
}

int view_report_add_derived_rows(struct view_report *r)
{
	struct row_maker m = { .r = r, .capacity = r->row_count };
	uint32_t *tracks = calloc(r->track_count + 1, sizeof(*tracks));
	size_t count = 0, before = r->row_count;
	int rc = tracks ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->track_count && rc == 0; i++)
		if (r->tracks[i].derived && find_derived_track(r, i))
			tracks[count++] = (uint32_t)i;
	if (rc == 0)
		rc = add_derived_rows(&m, tracks, count);
	free(tracks);
	if (rc == 0)
		rc = rows_finish(r, before);
	if (rc < 0)
		rows_drop(r, before);
	return rc;
}
