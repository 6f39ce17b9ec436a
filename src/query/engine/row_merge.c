#include "query/engine/row_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "query/engine/merge_heap.h"
#include "query/index/parallel.h"

/* Groups of a track follow each other; where a file has them otherwise, so many of them are kept apart before
 * every further one is a track of its own. */
#define TRACKS_TRIED 8

struct group_ref {
	unsigned source;
	uint32_t track;
	size_t group;
	int64_t first; /* the least key, or less */
	int64_t last;  /* the largest, or more */
	size_t next;   /* of its track; SIZE_MAX: it is the last */
};

/* Groups one behind the other. */
struct merged_track {
	struct merge_place place; /* key: of the row; of the group to come where `ready` is not set */
	size_t group;             /* entered next; SIZE_MAX: none */
	struct scan *scan;
	struct vector starts;
	const struct vector *keys;
	uint32_t *order; /* rows by key */
	int sorted;      /* rows come in that order */
	uint32_t at;     /* in that order, or the row */
	uint32_t row;
	int ready;
};

struct row_merge {
	struct query *q;
	struct row_merge_request request;
	struct group_ref *groups;
	size_t group_count;
	struct merged_track *tracks;
	size_t track_count;
	struct merge_heap heap;
	/* Rows with the same key. */
	int64_t key;
	struct merged_row *rows;
	size_t row_count;
	size_t row_cap;
	size_t at;
	/* Scans that those rows may still be in. */
	struct scan **left;
	size_t left_count;
	size_t left_cap;
	_Atomic size_t next; /* work shared by threads */
};

static int compare_merged_groups(const void *a, const void *b)
{
	const struct group_ref *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static int list_merged_groups(struct row_merge *m, struct scan *probe)
{
	const struct mapped_table *t = m->request.table;
	size_t all = 0;

	for (unsigned i = 0; i < t->source_count; i++)
		all += report_group_count(m->q->report, t->sources[i].table);
	m->groups = calloc(all + 1, sizeof(*m->groups));
	m->tracks = calloc(all + 1, sizeof(*m->tracks));
	m->heap.items = calloc(all + 1, sizeof(struct merge_place *));
	if (!m->groups || !m->tracks || !m->heap.items)
		return -ENOMEM;
	for (unsigned i = 0; i < t->source_count; i++)
		for (size_t g = 0; g < report_group_count(m->q->report, t->sources[i].table); g++) {
			const struct report_group *group = report_group(m->q->report, t->sources[i].table, g);

			if (scan_may_enter(probe, i, g) > 0)
				m->groups[m->group_count++] = (struct group_ref){
					i, group->track, g, group->time_min, group->time_max, SIZE_MAX
				};
		}
	return 0;
}

/* The least and the largest key of a group; none: it goes. */
static int measure_group(struct row_merge *m, struct scan *s, struct group_ref *p)
{
	const struct vector *keys;
	int64_t key;
	int r = scan_enter(s, p->source, p->group);

	p->first = INT64_MAX;
	p->last = INT64_MIN;
	if (r > 0)
		r = scan_vector(s, (unsigned)m->request.key_column, &keys);
	else
		return r == -EBADMSG ? 0 : r;
	for (uint32_t row = s->first; r >= 0 && row < s->limit; row++) {
		if (vector_is_null(keys, row))
			continue;
		key = vector_value(keys, row);
		p->first = key < p->first ? key : p->first;
		p->last = key > p->last ? key : p->last;
	}
	if (r != -EBADMSG)
		return r;
	atomic_fetch_add(&m->q->damaged, 1);
	return 0;
}

static int measure_groups(void *context, unsigned worker)
{
	struct row_merge *m = context;
	struct scan s;
	size_t group;
	int r = 0;

	scan_init(&s, m->q, m->request.table);
	while (r >= 0 && (group = atomic_fetch_add(&m->next, 1)) < m->group_count)
		r = measure_group(m, &s, &m->groups[group]);
	scan_release(&s);
	return r;
}

/* Where rows are not ordered by their start, each group is read once to know what is in it. */
static int measure_keys(struct row_merge *m)
{
	size_t kept = 0;
	int r = parallel_run(measure_groups, m, parallel_width(m->group_count));

	for (size_t i = 0; r >= 0 && i < m->group_count; i++)
		if (m->groups[i].first <= m->groups[i].last)
			m->groups[kept++] = m->groups[i];
	m->group_count = r < 0 ? m->group_count : kept;
	return r;
}

/* The last groups of the track's tracks are in lasts[]; puts the group behind one that ends before it begins. */
static int append_group(struct row_merge *m, size_t group, size_t *lasts, size_t count)
{
	for (size_t i = 0; i < count && i < TRACKS_TRIED; i++)
		if (m->groups[lasts[i]].last <= m->groups[group].first) {
			m->groups[lasts[i]].next = group;
			lasts[i] = group;
			return 1;
		}
	return 0;
}

static void make_tracks(struct row_merge *m)
{
	size_t lasts[TRACKS_TRIED] = { 0 }, count = 0;

	for (size_t i = 0; i < m->group_count; i++) {
		const struct group_ref *p = &m->groups[i];

		if (i == 0 || p[-1].source != p->source || p[-1].track != p->track)
			count = 0;
		if (append_group(m, i, lasts, count))
			continue;
		if (count < TRACKS_TRIED)
			lasts[count] = i;
		count++;
		m->tracks[m->track_count] = (struct merged_track){ .place = { 0, p->first }, .group = i };
		m->heap.items[m->heap.count++] = &m->tracks[m->track_count++].place;
	}
}

static struct merged_track *top_track(const struct row_merge *m)
{
	return (struct merged_track *)m->heap.items[0];
}

int row_merge_open(struct row_merge **ret, struct query *q, const struct row_merge_request *request)
{
	struct row_merge *m = calloc(1, sizeof(*m));
	struct scan probe;
	int r;

	if (!m)
		return -ENOMEM;
	m->q = q;
	m->request = *request;
	scan_init(&probe, q, request->table);
	memcpy(probe.conditions, request->conditions, sizeof(probe.conditions));
	probe.condition_count = request->condition_count;
	r = list_merged_groups(m, &probe);
	scan_release(&probe);
	if (r >= 0 && request->key_column >= 0)
		r = measure_keys(m);
	if (r < 0) {
		row_merge_free(m);
		return r;
	}
	sort_items(m->groups, m->group_count, sizeof(*m->groups), compare_merged_groups);
	make_tracks(m);
	merge_heap_build(&m->heap);
	*ret = m;
	return 0;
}

static void free_scan(struct scan *s)
{
	if (s)
		scan_release(s);
	free(s);
}

static void free_track(struct merged_track *track)
{
	free_scan(track->scan);
	free(track->order);
	track->scan = NULL;
	track->order = NULL;
}

static void free_left(struct row_merge *m)
{
	while (m->left_count)
		free_scan(m->left[--m->left_count]);
}

void row_merge_free(struct row_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->track_count; i++)
		free_track(&m->tracks[i]);
	free_left(m);
	free(m->left);
	free(m->rows);
	free(m->groups);
	free(m->tracks);
	free(m->heap.items);
	free(m);
}

/* The scan stays until the rows that were taken have been shown. */
static int leave_scan(struct row_merge *m, struct merged_track *track)
{
	if (!ARRAY_ROOM(m->left, m->left_count, m->left_cap, 1))
		return -ENOMEM;
	m->left[m->left_count++] = track->scan;
	track->scan = NULL;
	return 0;
}

/* Goes on to the next row that the table shows; 0 behind the group's last. */
static int find_track_row(struct merged_track *track)
{
	for (track->ready = 0; track->at < track->scan->limit; track->at++) {
		track->row = track->sorted ? track->order[track->at] : track->at;
		if (vector_is_null(track->keys, track->row) || !scan_row_visible(track->scan, track->row))
			continue;
		track->place.key = vector_value(track->keys, track->row);
		track->ready = 1;
		break;
	}
	return track->ready;
}

static int64_t get_merge_key(const struct vector *keys, uint32_t row)
{
	return vector_is_null(keys, row) ? INT64_MIN : vector_value(keys, row);
}

static int compare_keys(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct vector *keys = context;

	if (get_merge_key(keys, x) != get_merge_key(keys, y))
		return get_merge_key(keys, x) < get_merge_key(keys, y) ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int sort_group(struct merged_track *track)
{
	const struct scan *s = track->scan;
	uint32_t row = s->first + 1;

	track->sorted = 0;
	while (row < s->limit && get_merge_key(track->keys, row - 1) <= get_merge_key(track->keys, row))
		row++;
	if (row >= s->limit)
		return 0;
	free(track->order);
	track->order = malloc(s->limit * sizeof(*track->order));
	if (!track->order)
		return -ENOMEM;
	track->sorted = 1;
	for (row = 0; row < s->limit; row++)
		track->order[row] = row;
	sort_items_with(track->order + s->first, s->limit - s->first, sizeof(*track->order), compare_keys, (void *)(uintptr_t)track->keys);
	return 0;
}

static int start_vector(struct scan *s, struct merged_track *track)
{
	struct scan_column *starts;
	int r = scan_raw(s, 0, &starts);

	if (r >= 0)
		track->starts = (struct vector){ VECTOR_NUMBER, 0, starts->values, NULL };
	track->keys = &track->starts;
	return r;
}

/* Reads the track's next group. 0 where it has no row to show. */
static int enter_group(struct row_merge *m, struct merged_track *track)
{
	const struct group_ref *p = &m->groups[track->group];
	int r;

	track->group = p->next;
	if (!track->scan) {
		track->scan = malloc(sizeof(*track->scan));
		if (!track->scan)
			return -ENOMEM;
		scan_init(track->scan, m->q, m->request.table);
	}
	r = scan_enter(track->scan, p->source, p->group);
	if (r > 0) {
		r = m->request.key_column < 0 ? start_vector(track->scan, track) :
						scan_vector(track->scan, (unsigned)m->request.key_column, &track->keys);
		if (r >= 0 && m->request.key_column >= 0)
			r = sort_group(track);
		if (r >= 0)
			r = 1;
	}
	if (r == -EBADMSG) {
		atomic_fetch_add(&m->q->damaged, 1);
		return 0;
	}
	if (r <= 0)
		return r;
	track->at = track->scan->first;
	return find_track_row(track);
}

/* Puts the track on top where it belongs now, or takes it out at its end. */
static int settle_top(struct row_merge *m)
{
	struct merged_track *track = top_track(m);
	int r = 0;

	if (!track->ready && track->group == SIZE_MAX) {
		if (track->scan)
			r = leave_scan(m, track);
		free_track(track);
		merge_heap_drop_top(&m->heap);
	} else if (!track->ready) {
		track->place.key = m->groups[track->group].first;
	}
	if (m->heap.count)
		merge_heap_sink(&m->heap, 0);
	return r;
}

/* Makes the track on top stand at a row. */
static int ready_top(struct row_merge *m)
{
	struct merged_track *track;
	int r = 0;

	while (r >= 0 && m->heap.count && !top_track(m)->ready) {
		track = top_track(m);
		/* Behind the rows already taken: it is for the next time. */
		if (m->row_count && track->place.key > m->key)
			return 0;
		if (m->row_count && track->scan)
			r = leave_scan(m, track);
		if (r >= 0)
			r = enter_group(m, track);
		if (r >= 0)
			r = settle_top(m);
	}
	return r;
}

static int take_merged_row(struct row_merge *m, struct merged_track *track)
{
	if (!ARRAY_ROOM(m->rows, m->row_count, m->row_cap, 1))
		return -ENOMEM;
	m->rows[m->row_count++] = (struct merged_row){ track->scan, track->row };
	return 0;
}

/* Takes all rows that have the key of the next one. */
static int gather_equal_rows(struct row_merge *m)
{
	struct merged_track *track;
	int r = 0;

	m->row_count = m->at = 0;
	free_left(m);
	while (r >= 0) {
		r = ready_top(m);
		if (r < 0 || m->heap.count == 0)
			break;
		track = top_track(m);
		if (m->row_count && (!track->ready || track->place.key != m->key))
			break;
		m->key = track->place.key;
		r = take_merged_row(m, track);
		if (r < 0)
			break;
		track->at++;
		find_track_row(track);
		r = settle_top(m);
	}
	if (m->row_count > 1)
		qsort_r(m->rows, m->row_count, sizeof(*m->rows), m->request.compare, m->request.context);
	return r;
}

int row_merge_next(struct row_merge *m, struct merged_row *ret)
{
	int r = m->at < m->row_count ? 0 : gather_equal_rows(m);

	if (r < 0 || m->at >= m->row_count)
		return r;
	*ret = m->rows[m->at++];
	return 1;
}

int merged_row_compare_places(const struct merged_row *a, const struct merged_row *b)
{
	if (a->scan->source != b->scan->source)
		return a->scan->source < b->scan->source ? -1 : 1;
	if (a->scan->group != b->scan->group)
		return a->scan->group < b->scan->group ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}
