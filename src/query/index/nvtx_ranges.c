#include "query/index/nvtx_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "query/index/parallel.h"

#define CLONES_MAX 16 /* a node is the clone of a clone ...: further than this nobody goes */

static const int64_t *range_track(struct query *q, uint32_t track)
{
	const int64_t *row = index_find(&q->index.tracks, track);

	if (!row || (row[TRACK_KIND] != TRACK_NVTX_PUSHPOP && row[TRACK_KIND] != TRACK_NVTX_STARTEND))
		return NULL;
	return row;
}

static int allocate_ranges(struct nvtx_ranges *r, struct query *q)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < report_group_count(q->report, TABLE_SLICE); i++)
		if (range_track(q, report_group(q->report, TABLE_SLICE, i)->track))
			rows += report_group(q->report, TABLE_SLICE, i)->rows;
	if (rows >= UINT32_MAX)
		return -ENOMEM;
	r->ranges = malloc((rows + 1) * sizeof(*r->ranges));
	return r->ranges ? 0 : -ENOMEM;
}

/* Names repeat: those asked about last. */
struct known_names {
	struct {
		int64_t id;
		int64_t first_id;
	} entries[1024];
};

static int find_first_id(struct query *q, struct known_names *known, int64_t id, uint32_t *ret)
{
	size_t slot = (size_t)id % COUNT_OF(known->entries);
	int64_t first_id = id;

	*ret = 0;
	if (id <= 0 || id > UINT32_MAX)
		return 0;
	if (known->entries[slot].id != id) {
		TRY(first_text_id(q, &first_id));
		known->entries[slot].id = id;
		known->entries[slot].first_id = first_id;
	}
	*ret = (uint32_t)known->entries[slot].first_id;
	return 0;
}

static int name_ranges(struct nvtx_ranges *r, struct query *q)
{
	struct known_names *known = calloc(1, sizeof(*known));
	const int64_t *domain;
	int result = known ? 0 : -ENOMEM;

	for (uint32_t i = 0; result >= 0 && i < r->count; i++) {
		result = find_first_id(q, known, r->ranges[i].name, &r->ranges[i].name);
		domain = index_find_last(&q->index.domains, r->ranges[i].track + TRACK_DOMAIN, 1);
		if (result >= 0 && domain)
			result = find_first_id(q, known, domain[DOMAIN_NAME], &r->ranges[i].domain);
	}
	free(known);
	return result;
}

enum { PART_START, PART_END, PART_NAME, PART_FLAGS, PART_END_THREAD, PART_COUNT };

static void add_range_rows(struct nvtx_ranges *r, const int64_t *track, int64_t *const *parts, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++) {
		if (parts[PART_FLAGS][i] & SLICE_OPEN) {
			r->never_ended++;
			continue;
		}
		if (parts[PART_END_THREAD][i] || parts[PART_END][i] < parts[PART_START][i])
			continue;
		r->ranges[r->count++] = (struct nvtx_range){ .start = parts[PART_START][i],
							     .end = parts[PART_END][i],
							     .track = track,
							     .name = parts[PART_NAME][i] > 0 && parts[PART_NAME][i] < UINT32_MAX ?
									     (uint32_t)parts[PART_NAME][i] :
									     0 };
	}
}

static int load_range_group(struct nvtx_ranges *r, struct query *q, size_t group, const int64_t *track)
{
	static const uint8_t columns[] = { COLUMN_SLICE_START, COLUMN_SLICE_END, COLUMN_SLICE_NAME, COLUMN_SLICE_FLAGS,
					   COLUMN_SLICE_END_THREAD };
	uint32_t rows = report_group(q->report, TABLE_SLICE, group)->rows;
	int64_t *values = malloc((size_t)rows * PART_COUNT * sizeof(*values) + 1), *parts[PART_COUNT];
	int result = values ? 0 : -ENOMEM;

	for (unsigned i = 0; result >= 0 && i < PART_COUNT; i++) {
		parts[i] = values + (size_t)i * rows;
		result = report_column(q->report, TABLE_SLICE, group, columns[i], parts[i], NULL);
	}
	if (result >= 0)
		add_range_rows(r, track, parts, rows);
	free(values);
	if (result == -EBADMSG) {
		atomic_fetch_add(&q->damaged, 1);
		return 0;
	}
	return result;
}

/* By thread and start; the outer of two that begin together first. */
static int compare_ranges(const void *a, const void *b)
{
	const struct nvtx_range *x = a, *y = b;

	if (x->track[TRACK_THREAD] != y->track[TRACK_THREAD])
		return x->track[TRACK_THREAD] < y->track[TRACK_THREAD] ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->track[TRACK_DEPTH] != y->track[TRACK_DEPTH])
		return x->track[TRACK_DEPTH] < y->track[TRACK_DEPTH] ? -1 : 1;
	return x->track[TRACK_ID] < y->track[TRACK_ID] ? -1 : x->track[TRACK_ID] > y->track[TRACK_ID];
}

static int find_threads(struct nvtx_ranges *r)
{
	size_t count = 0;

	for (uint32_t i = 0; i < r->count; i++)
		count += i == 0 || r->ranges[i - 1].track[TRACK_THREAD] != r->ranges[i].track[TRACK_THREAD];
	r->threads = calloc(count + 1, sizeof(*r->threads));
	if (!r->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->count; i++) {
		if (i == 0 || r->ranges[i - 1].track[TRACK_THREAD] != r->ranges[i].track[TRACK_THREAD])
			r->threads[r->thread_count++] = (struct range_thread){ r->ranges[i].track[TRACK_THREAD], i, 0 };
		r->threads[r->thread_count - 1].count++;
	}
	return 0;
}

static void find_parent(struct nvtx_ranges *r, struct nvtx_range *range)
{
	uint32_t at = range->container;

	while (at && nvtx_range_style(nvtx_range_get(r, at)) != RANGE_PUSH_POP)
		at = nvtx_range_outer(r, at, range->end);
	range->parent = at;
	if (at) {
		range->level = r->ranges[at - 1].level + 1;
		r->ranges[at - 1].children++;
	}
}

/* What stands between a range and its container ends before it does, so containers are a short cut. */
static void nest(struct nvtx_ranges *r, const struct range_thread *thread)
{
	for (uint32_t i = thread->first; i < thread->first + thread->count; i++) {
		struct nvtx_range *range = &r->ranges[i];
		uint32_t at = i > thread->first ? i : 0; /* place of the one before */

		while (at && r->ranges[at - 1].end < range->start)
			at = r->ranges[at - 1].container;
		range->previous = at;
		while (at && r->ranges[at - 1].end < range->end)
			at = r->ranges[at - 1].container;
		range->container = at;
		r->crossing |= range->container != range->previous;
		find_parent(r, range);
	}
}

static int compare_range_starts(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct nvtx_ranges *r = context;

	if (r->ranges[x].start != r->ranges[y].start)
		return r->ranges[x].start < r->ranges[y].start ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int number_ranges(struct nvtx_ranges *r)
{
	uint32_t *order = malloc(((size_t)r->count + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->count; i++)
		order[i] = i;
	if (r->thread_count > 1)
		qsort_r(order, r->count, sizeof(*order), compare_range_starts, r);
	for (uint32_t i = 0; i < r->count; i++)
		r->ranges[order[i]].id = i + 1;
	free(order);
	return 0;
}

static int load_ranges(struct nvtx_ranges *r, struct query *q)
{
	const int64_t *track;

	TRY(allocate_ranges(r, q));
	for (size_t i = 0; i < report_group_count(q->report, TABLE_SLICE); i++) {
		track = range_track(q, report_group(q->report, TABLE_SLICE, i)->track);
		if (track)
			TRY(load_range_group(r, q, i, track));
	}
	sort_items(r->ranges, r->count, sizeof(*r->ranges), compare_ranges);
	TRY(name_ranges(r, q));
	TRY(find_threads(r));
	for (size_t i = 0; i < r->thread_count; i++)
		nest(r, &r->threads[i]);
	return number_ranges(r);
}

static const struct range_thread *find_thread(const struct nvtx_ranges *r, int64_t uid)
{
	size_t low = 0, high = r->thread_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (r->threads[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->thread_count && r->threads[low].uid == uid ? &r->threads[low] : NULL;
}

/* The innermost range that contains [start, end]: `begun` is the last that begins no later. */
static uint32_t find_containing_range(const struct nvtx_ranges *r, uint32_t begun, int64_t end)
{
	while (begun && r->ranges[begun - 1].end < end)
		begun = r->ranges[begun - 1].container;
	return begun;
}

/* Place of the last range of the thread that begins no later than `time`. */
static uint32_t last_begun(const struct nvtx_ranges *r, const struct range_thread *thread, int64_t time)
{
	uint32_t low = thread->first, high = thread->first + thread->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (r->ranges[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low > thread->first ? low : 0;
}

uint32_t nvtx_range_at(const struct nvtx_ranges *r, int64_t thread_uid, int64_t time)
{
	const struct range_thread *thread = find_thread(r, thread_uid);

	return thread ? find_containing_range(r, last_begun(r, thread, time), time) : 0;
}

struct placing {
	struct nvtx_ranges *ranges;
	const struct cuda_calls *calls;
	struct query *q;
	_Atomic size_t next;
};

/* Calls of a group are in order of start: one walk along the ranges. */
static void place_calls(struct nvtx_ranges *r, const struct range_thread *thread, const int64_t *starts, const int64_t *ends,
			const uint32_t *calls, uint32_t rows)
{
	uint32_t at = rows ? last_begun(r, thread, starts[0]) : 0, behind = thread->first + thread->count;

	at = at ? at : thread->first; /* so many have begun */
	for (uint32_t row = 0; row < rows; row++) {
		while (at < behind && r->ranges[at].start <= starts[row])
			at++;
		if (at > thread->first && calls[row] != CUDA_NO_CALL)
			r->of_call[calls[row]] = find_containing_range(r, at, ends[row]);
	}
}

static int place_group(const struct placing *p, size_t group, const struct range_thread *thread)
{
	uint32_t rows = p->calls->group_first[group + 1] - p->calls->group_first[group];
	int64_t *times = malloc(2 * ((size_t)rows + 1) * sizeof(*times)), *ends = times + rows;
	uint32_t *calls = malloc(((size_t)rows + 1) * sizeof(*calls));
	int r = times && calls ? cuda_group_calls(p->q, p->calls, group, calls) : -ENOMEM;

	if (r >= 0)
		r = report_column(p->q->report, TABLE_CUDA_API, group, COLUMN_CUDA_API_START, times, NULL);
	if (r >= 0)
		r = report_column(p->q->report, TABLE_CUDA_API, group, COLUMN_CUDA_API_END, ends, NULL);
	if (r >= 0)
		place_calls(p->ranges, thread, times, ends, calls, rows);
	free(times);
	free(calls);
	if (r == -EBADMSG) {
		atomic_fetch_add(&p->q->damaged, 1);
		return 0;
	}
	return r;
}

static int place_groups(void *context, unsigned worker)
{
	struct placing *p = context;
	const struct cuda_calls *calls = p->calls;
	const struct range_thread *thread;
	size_t group;
	int r = 0;

	while (r >= 0 && (group = atomic_fetch_add(&p->next, 1)) < calls->group_count) {
		thread = calls->group_tracks[group] ? find_thread(p->ranges, calls->group_tracks[group][TRACK_THREAD]) : NULL;
		if (thread)
			r = place_group(p, group, thread);
	}
	return r;
}

static int place_all_calls(struct nvtx_ranges *r, struct query *q, const struct cuda_calls *calls)
{
	struct placing p = { r, calls, q, 0 };

	r->of_call = calloc((size_t)calls->count + 1, sizeof(*r->of_call));
	if (!r->of_call)
		return -ENOMEM;
	return parallel_run(place_groups, &p, parallel_width(calls->group_count));
}

static const int64_t *find_node(const struct nvtx_ranges *r, int64_t process, int64_t node)
{
	int64_t key[] = { process, node };

	return index_find_last(&r->nodes, key, 2);
}

static int place_nodes(struct nvtx_ranges *r, struct query *q)
{
	/* The place of the range is read from a column and replaced below. */
	static const uint8_t columns[] = { COLUMN_CUDA_GRAPH_NODE_PROCESS, COLUMN_CUDA_GRAPH_NODE_NODE, COLUMN_CUDA_GRAPH_NODE_ORIGINAL,
					   COLUMN_CUDA_GRAPH_NODE_THREAD,  COLUMN_CUDA_GRAPH_NODE_TIME, COLUMN_CUDA_GRAPH_NODE_TIME };

	TRY(index_load(&r->nodes, q->report, TABLE_CUDA_GRAPH_NODE, NODE_WIDTH, columns));
	index_sort(&r->nodes);
	for (size_t i = 0; i < r->nodes.count; i++) {
		int64_t *node = r->nodes.rows + i * NODE_WIDTH;
		const int64_t *made = node, *original;

		for (int clones = 0; made[NODE_ORIGINAL] && clones < CLONES_MAX; clones++, made = original)
			if (!(original = find_node(r, made[NODE_PROCESS], made[NODE_ORIGINAL])))
				break;
		node[NODE_RANGE] = nvtx_range_at(r, made[NODE_THREAD], made[NODE_TIME]);
	}
	return 0;
}

uint32_t nvtx_range_of_node(const struct nvtx_ranges *r, int64_t process_uid, int64_t node)
{
	const int64_t *row = node ? find_node(r, process_uid, node) : NULL;

	return row ? (uint32_t)row[NODE_RANGE] : 0;
}

static int load_all(struct query *q, const struct cuda_calls *calls, struct nvtx_ranges **ret)
{
	struct nvtx_ranges *r = calloc(1, sizeof(*r));
	int result = r ? load_ranges(r, q) : -ENOMEM;

	if (result >= 0)
		result = place_all_calls(r, q, calls);
	if (result >= 0)
		result = place_nodes(r, q);
	if (result < 0)
		nvtx_ranges_release(r);
	else
		*ret = r;
	return result;
}

int nvtx_ranges_of(struct query *q, struct nvtx_ranges **ret)
{
	struct cuda_calls *calls;
	int r = 0;

	TRY(cuda_calls_of(q, 0, &calls));
	pthread_mutex_lock(&q->loading);
	if (!q->ranges)
		r = load_all(q, calls, &q->ranges);
	*ret = q->ranges;
	pthread_mutex_unlock(&q->loading);
	return r;
}

void nvtx_ranges_release(struct nvtx_ranges *r)
{
	if (!r)
		return;
	free(r->ranges);
	free(r->threads);
	free(r->of_call);
	free(r->nodes.rows);
	free(r);
}
