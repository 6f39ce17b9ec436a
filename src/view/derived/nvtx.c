/* NVTX ranges on the GPU: from the begin of the first work whose call was made within a range to the end of the last. What
 * the query's nvtx_projection says, but in bounded memory: some threads at a time, of their calls some at a time, and of
 * the work only the groups that can belong to those. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "view/derived/derived.h"
#include "view/events/event.h"
#include "view/rows/rows.h"

/* Ranges of one depth may overlap on the GPU, where a thread uses several streams; further ones are left out. */
#define BESIDE 8
/* Ranges that need not be nested come below those that are. */
#define START_END_DEPTH (INT64_C(1) << 32)

/* Where those of one depth are put. */
struct beside {
	struct report_track *track;
	int64_t free;
};

/* The ranges of a track, or of some of its groups; those that do not count end before all times. */
struct ranges {
	uint32_t track;
	const int64_t *track_row;
	size_t group, group_end;
	uint64_t base; /* index of the first */
	uint64_t count;
	uint64_t hint;
	struct beside beside[BESIDE];
	int64_t *start, *end, *first, *last; /* first: INT64_MAX without work */
	uint32_t *name;
};

struct call {
	int64_t start, end;
	uint32_t correlation;
	uint32_t group;  /* of several with the same number the first in the file counts */
	uint32_t ranges; /* the thread's first, and how many */
	uint32_t ranges_end;
};

struct projecting {
	struct making *m;
	struct ranges *tracks; /* all, by process, thread and depth */
	size_t track_count;
	size_t from, to; /* those held now */
	int64_t process, gpu;
	struct call *calls;
	size_t call_count;
};

static int compare_tracks(const void *a, const void *b)
{
	const int64_t *x = ((const struct ranges *)a)->track_row, *y = ((const struct ranges *)b)->track_row;
	static const uint8_t order[] = { TRACK_PROCESS, TRACK_THREAD, TRACK_KIND, TRACK_DEPTH, TRACK_ID };

	for (size_t i = 0; i < sizeof(order); i++)
		if (x[order[i]] != y[order[i]])
			return x[order[i]] < y[order[i]] ? -1 : 1;
	return 0;
}

static bool is_of_ranges(const int64_t *track_row)
{
	return track_row && (track_row[TRACK_KIND] == TRACK_NVTX_PUSHPOP || track_row[TRACK_KIND] == TRACK_NVTX_STARTEND) &&
	       track_row[TRACK_THREAD];
}

static int list_tracks(struct projecting *p)
{
	struct view_report *r = p->m->r;

	p->tracks = calloc(r->track_count + 1, sizeof(*p->tracks));
	p->calls = malloc(p->m->limits.calls * sizeof(*p->calls));
	if (!p->tracks || !p->calls)
		return -ENOMEM;
	for (size_t i = 0; i < r->track_count; i++) {
		const int64_t *track_row = view_report_track_row(r, r->tracks[i].id);

		if (r->tracks[i].table == TABLE_SLICE && is_of_ranges(track_row))
			p->tracks[p->track_count++] = (struct ranges){ .track = (uint32_t)i, .track_row = track_row };
	}
	sort_items(p->tracks, p->track_count, sizeof(*p->tracks), compare_tracks);
	return 0;
}

/* Columns of a group, to be freed; NULL where they cannot be read. */
static int64_t *read_group_columns(struct view_report *r, const struct row_group *p, const uint8_t *columns, unsigned count)
{
	int64_t *values = malloc((size_t)p->rows * count * sizeof(*values) + 1);

	for (unsigned c = 0; values && c < count; c++)
		if (report_column(r->report, p->table, p->number, columns[c], values + (size_t)c * p->rows, NULL) < 0) {
			free(values);
			values = NULL;
		}
	return values;
}

static void take_ranges(struct ranges *l, const struct row_group *p, const int64_t *values)
{
	enum { START, END, NAME, FLAGS, END_THREAD };
	const size_t rows = p->rows;

	for (size_t i = 0; i < rows; i++) {
		size_t at = p->first - l->base + i;
		bool counts = values && !(values[FLAGS * rows + i] & SLICE_OPEN) && !values[END_THREAD * rows + i];
		int64_t name = values ? values[NAME * rows + i] : 0;

		l->start[at] = values ? values[START * rows + i] : at ? l->start[at - 1] : INT64_MIN;
		l->end[at] = counts ? values[END * rows + i] : INT64_MIN;
		l->name[at] = name > 0 && name < MADE_TRACKS ? (uint32_t)name : 0;
		l->first[at] = INT64_MAX;
		l->last[at] = INT64_MIN;
	}
}

static int load_ranges(struct view_report *r, struct ranges *l)
{
	static const uint8_t columns[] = { COLUMN_SLICE_START, COLUMN_SLICE_END, COLUMN_SLICE_NAME, COLUMN_SLICE_FLAGS,
					   COLUMN_SLICE_END_THREAD };

	l->start = malloc(l->count * 4 * sizeof(*l->start) + 1);
	l->name = malloc(l->count * sizeof(*l->name) + 1);
	if (!l->start || !l->name)
		return -ENOMEM;
	l->end = l->start + l->count;
	l->first = l->end + l->count;
	l->last = l->first + l->count;
	l->hint = 0;
	for (size_t i = l->group; i < l->group_end; i++) {
		const struct row_group *p = &r->groups[i];
		int64_t *values = read_group_columns(r, p, columns, sizeof(columns));

		take_ranges(l, p, values);
		free(values);
	}
	return 0;
}

static void drop_ranges(struct projecting *p)
{
	for (size_t i = p->from; i < p->to; i++) {
		free(p->tracks[i].start);
		free(p->tracks[i].name);
		p->tracks[i].start = NULL;
		p->tracks[i].name = NULL;
	}
}

/* The last range that has begun by then; count: none has. Asked for in order mostly. */
static uint64_t range_at(struct ranges *l, int64_t time)
{
	uint64_t low = 0, high = l->count, middle;

	for (uint64_t near = l->hint; near < l->count && near < l->hint + 2; near++)
		if (l->start[near] <= time && (near + 1 == l->count || l->start[near + 1] > time))
			return l->hint = near;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->start[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		l->hint = low - 1;
	return low ? low - 1 : l->count;
}

static void extend_ranges(struct projecting *p, const struct call *call, int64_t start, int64_t end)
{
	for (uint32_t i = call->ranges; i < call->ranges_end; i++) {
		struct ranges *l = &p->tracks[i];
		uint64_t at = range_at(l, call->start);

		if (at == l->count || l->end[at] < call->end)
			continue;
		l->first[at] = start < l->first[at] ? start : l->first[at];
		l->last[at] = end > l->last[at] ? end : l->last[at];
	}
}

static int compare_launch_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/* `hint` is where the last one was; work comes in the order of its calls mostly. */
static const struct call *find_call(const struct projecting *p, int64_t correlation, size_t *hint)
{
	size_t low = 0, high = p->call_count, middle;

	if (*hint + 1 < p->call_count && p->calls[*hint].correlation < correlation && p->calls[*hint + 1].correlation == correlation)
		return &p->calls[++*hint];
	while (low < high) {
		middle = low + (high - low) / 2;
		if ((int64_t)p->calls[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	*hint = low;
	return low < p->call_count && (int64_t)p->calls[low].correlation == correlation ? &p->calls[low] : NULL;
}

static void project_group(struct projecting *p, const struct row_group *group)
{
	const uint8_t columns[] = { 0, 1, (uint8_t)correlation_column(group->table) };
	int64_t *values = read_group_columns(p->m->r, group, columns, sizeof(columns));
	const size_t rows = group->rows;
	size_t hint = 0;

	for (size_t i = 0; values && i < rows; i++) {
		const struct call *call = find_call(p, values[2 * rows + i], &hint);

		if (call && values[rows + i] >= values[i])
			extend_ranges(p, call, values[i], values[rows + i]);
	}
	free(values);
}

static bool is_work(const struct view_track *track)
{
	return table_column(track->table, ROLE_WORK) >= 0 && track->table != TABLE_GPU_SYNC;
}

/* All work of the calls held. */
static int project_calls(struct projecting *p)
{
	struct view_report *r = p->m->r;

	if (!p->call_count)
		return 0;
	sort_items(p->calls, p->call_count, sizeof(*p->calls), compare_launch_calls);
	for (size_t i = 0; i < r->track_count; i++) {
		const struct view_track *track = &r->tracks[i];

		if (!is_work(track) || track_process(r, (uint32_t)i) != p->process || gpu_of_track(r, (uint32_t)i) != p->gpu)
			continue;
		for (size_t k = 0; k < track->group_count; k++) {
			if (atomic_load_explicit(p->m->stop, memory_order_relaxed))
				return -ECANCELED;
			if (group_may_have(r, track->group + k, p->calls[0].correlation, p->calls[p->call_count - 1].correlation))
				project_group(p, &r->groups[track->group + k]);
		}
	}
	p->call_count = 0;
	return 0;
}

static int take_calls(struct projecting *p, const struct row_group *group, uint32_t ranges, uint32_t ranges_end)
{
	static const uint8_t columns[] = { COLUMN_CUDA_API_START, COLUMN_CUDA_API_END, COLUMN_CUDA_API_CORRELATION };
	int64_t *values = read_group_columns(p->m->r, group, columns, sizeof(columns));
	const size_t rows = group->rows;
	int rc = 0;

	for (size_t i = 0; values && i < rows && rc == 0; i++) {
		int64_t correlation = values[2 * rows + i];

		if (correlation <= 0 || correlation >= UINT32_MAX)
			continue;
		/* clang-format off */
		p->calls[p->call_count++] = (struct call){ .start = values[i], .end = values[rows + i], .correlation = (uint32_t)correlation,
							   .group = (uint32_t)group->number, .ranges = ranges, .ranges_end = ranges_end };
		/* clang-format on */
		if (p->call_count == p->m->limits.calls)
			rc = project_calls(p);
	}
	free(values);
	return rc;
}

/* Whether calls of the group can lie in ranges that are held. */
static bool is_near(const struct projecting *p, const struct row_group *group, size_t from, size_t to)
{
	const struct row_group *groups = p->m->r->groups;

	for (size_t i = from; i < to; i++)
		for (size_t k = p->tracks[i].group; k < p->tracks[i].group_end; k++)
			if (groups[k].time_min <= group->time_max && groups[k].time_max >= group->time_min)
				return true;
	return false;
}

/* The calls of a thread, whose ranges are these. */
static int project_thread(struct projecting *p, size_t from, size_t to)
{
	struct view_report *r = p->m->r;
	int64_t thread = p->tracks[from].track_row[TRACK_THREAD];
	int rc = 0;

	for (size_t i = 0; i < r->track_count && rc == 0; i++) {
		const struct view_track *track = &r->tracks[i];
		const int64_t *track_row = track->table == TABLE_CUDA_API ? view_report_track_row(r, track->id) : NULL;

		for (size_t k = 0; track_row && track_row[TRACK_THREAD] == thread && k < track->group_count && rc == 0; k++)
			if (is_near(p, &r->groups[track->group + k], from, to))
				rc = take_calls(p, &r->groups[track->group + k], (uint32_t)from, (uint32_t)to);
	}
	return rc;
}

static int compare_firsts(const void *a, const void *b, void *context)
{
	const struct ranges *l = context;
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	if (l->first[x] != l->first[y])
		return l->first[x] < l->first[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int put_projected_range(struct projecting *p, struct ranges *l, uint64_t i)
{
	struct beside *beside = l->beside;
	/* A report may have any depth: it wraps. */
	uint64_t depth = (uint64_t)l->track_row[TRACK_DEPTH] + (l->track_row[TRACK_KIND] == TRACK_NVTX_STARTEND ? START_END_DEPTH : 0);
	struct derived_event e = { .start = l->first[i], .end = l->last[i], .name = l->name[i], .track = l->track, .index = l->base + i };
	unsigned at = 0;

	while (at < BESIDE && beside[at].track && beside[at].free > e.start)
		at++;
	if (at == BESIDE)
		return 0;
	if (!beside[at].track) {
		struct derived_track track = { .kind = ROW_GPU_NVTX,
					       .place = p->gpu,
					       .thread = l->track_row[TRACK_THREAD],
					       .domain = l->track_row[TRACK_DOMAIN],
					       .depth = (int64_t)(depth * BESIDE + at) };

		TRY(making_track(p->m, TABLE_SLICE, &track, &beside[at].track));
	}
	beside[at].free = e.end;
	return making_event(p->m, beside[at].track, TABLE_SLICE, &e);
}

static int put_projected_ranges(struct projecting *p, struct ranges *l)
{
	uint64_t *order = malloc(l->count * sizeof(*order) + 1), count = 0;
	int rc = order ? 0 : -ENOMEM;
	bool sorted = true;

	for (uint64_t i = 0; rc == 0 && i < l->count; i++) {
		if (l->first[i] == INT64_MAX)
			continue;
		sorted = sorted && (!count || l->first[order[count - 1]] <= l->first[i]);
		order[count++] = i;
	}
	if (!sorted)
		sort_items_with(order, count, sizeof(*order), compare_firsts, l);
	for (uint64_t i = 0; i < count && rc == 0; i++)
		rc = put_projected_range(p, l, order[i]);
	free(order);
	return rc;
}

/* The tracks held, of one process. */
static int project_held(struct projecting *p)
{
	size_t to;

	for (size_t i = p->from; i < p->to; i++)
		TRY(load_ranges(p->m->r, &p->tracks[i]));
	for (size_t from = p->from; from < p->to; from = to) {
		for (to = from; to < p->to && p->tracks[to].track_row[TRACK_THREAD] == p->tracks[from].track_row[TRACK_THREAD];)
			to++;
		TRY(project_thread(p, from, to));
	}
	TRY(project_calls(p));
	for (size_t i = p->from; i < p->to; i++)
		TRY(put_projected_ranges(p, &p->tracks[i]));
	return 0;
}

/* The groups of a track from one on that may be held beside `held`: false where none may. */
static bool hold_groups(const struct projecting *p, struct ranges *l, size_t group, uint64_t *held)
{
	struct view_report *r = p->m->r;
	const struct view_track *track = &r->tracks[l->track];
	size_t end = track->group + track->group_count;

	l->group = l->group_end = group;
	l->base = r->groups[group].first;
	l->count = 0;
	while (l->group_end < end && (*held == 0 || *held + r->groups[l->group_end].rows <= p->m->limits.ranges)) {
		*held += r->groups[l->group_end].rows;
		l->count += r->groups[l->group_end++].rows;
	}
	return l->group_end > group;
}

/* A track of more ranges than may be held goes by itself, group by group: a range needs no other. */
static int project_long_track(struct projecting *p, size_t at)
{
	struct ranges *l = &p->tracks[at];
	const struct view_track *track = &p->m->r->tracks[l->track];
	uint64_t held = 0;
	int rc = 0;

	p->from = at;
	p->to = at + 1;
	for (size_t group = track->group; group < track->group + track->group_count && rc == 0; group = l->group_end) {
		held = 0;
		hold_groups(p, l, group, &held);
		rc = project_held(p);
		drop_ranges(p);
	}
	return rc;
}

/* As many tracks of a process as may be held at a time. */
static int project_process(struct projecting *p, size_t from, size_t to)
{
	struct view_report *r = p->m->r;
	int rc = 0;

	for (size_t i = from; i < to; i++)
		memset(p->tracks[i].beside, 0, sizeof(p->tracks[i].beside));
	while (from < to && rc == 0) {
		uint64_t held = 0;

		if (r->tracks[p->tracks[from].track].rows > p->m->limits.ranges) {
			rc = project_long_track(p, from++);
			continue;
		}
		for (p->from = p->to = from; p->to < to && held + r->tracks[p->tracks[p->to].track].rows <= p->m->limits.ranges; p->to++)
			hold_groups(p, &p->tracks[p->to], r->tracks[p->tracks[p->to].track].group, &held);
		from = p->to;
		rc = project_held(p);
		drop_ranges(p);
	}
	return rc;
}

static bool has_work(const struct projecting *p)
{
	struct view_report *r = p->m->r;

	for (size_t i = 0; i < r->track_count; i++)
		if (is_work(&r->tracks[i]) && track_process(r, (uint32_t)i) == p->process && gpu_of_track(r, (uint32_t)i) == p->gpu)
			return true;
	return false;
}

/* A process may use several GPUs: ranges have a place on each. */
static int project_gpus(struct projecting *p, size_t from, size_t to)
{
	const struct index_table *gpus = &p->m->r->index.cuda->gpus;
	int rc = 0;

	p->process = p->tracks[from].track_row[TRACK_PROCESS];
	/* Work whose GPU is not known is on one of its own. */
	for (size_t i = 0; i <= gpus->count && rc == 0; i++) {
		p->gpu = i < gpus->count ? gpus->rows[i * GPU_WIDTH + GPU_UID] : 0;
		if (has_work(p))
			rc = project_process(p, from, to);
	}
	return rc;
}

int make_projections(struct making *m)
{
	struct projecting p = { .m = m };
	size_t to;
	int rc;

	if (!report_group_count(m->r->report, TABLE_CUDA_API))
		return 0;
	rc = list_tracks(&p);
	for (size_t from = 0; from < p.track_count && rc == 0; from = to) {
		for (to = from; to < p.track_count && p.tracks[to].track_row[TRACK_PROCESS] == p.tracks[from].track_row[TRACK_PROCESS];)
			to++;
		rc = project_gpus(&p, from, to);
	}
	free(p.tracks);
	free(p.calls);
	return rc;
}
