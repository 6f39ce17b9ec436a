/* /api/tree: GPU time by the threads and ranges it was launched in, or by PyTorch's operators or modules. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "view/request/routes.h"
#include "view/answers/call_tree.h"
#include "view/answers/stacks.h"
#include "view/internal.h"
#include "view/report/event_names.h"
#include "view/events/event.h"
#include "view/report/walk.h"

#define MAX_WORK (2u << 20)
#define MAX_STEPS (1ull << 27) /* ranges around all of it: what is nested more deeply stands in the outer ones */

struct work {
	int64_t process;
	int64_t correlation;
	int64_t thread; /* uid of the thread of its call; 0: not known */
	int64_t call_start;
	uint64_t time;
	uint32_t name;
	uint32_t node; /* of the innermost range so far */
};

struct work_list {
	pthread_mutex_t lock;
	struct work *items;
	size_t count, capacity;
	uint64_t steps;
	bool cut;
};

static int add_gpu_work_item(struct work_list *list, const struct work *w)
{
	if (list->count == MAX_WORK) {
		list->cut = true;
		return 0;
	}
	if (!ARRAY_ROOM(list->items, list->count, list->capacity, 1))
		return -ENOMEM;
	list->items[list->count++] = *w;
	return 0;
}

static int take_group_works(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows)
{
	struct work_list *list = w->context;
	const struct decoded_rows *c = rows->decoded;
	int64_t *correlations = group_correlations(w->r, p), process = track_process(w->r, track);
	int r = 0;

	if (!correlations)
		return 0; /* damaged */
	pthread_mutex_lock(&list->lock);
	for (uint32_t i = rows->begin; i < rows->end && r == 0; i++) {
		struct work work = { .process = process,
				     .correlation = correlations[i],
				     .name = c->names ? c->names[i] : 0,
				     .time = event_within(c->start[i], c->end[i], w->from, w->to) };

		if (work.time)
			r = add_gpu_work_item(list, &work);
	}
	pthread_mutex_unlock(&list->lock);
	free(correlations);
	return r;
}

static int by_correlation(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

static int by_call(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->call_start < y->call_start ? -1 : x->call_start > y->call_start;
}

/* The first that is not before; of all in order of their correlations. */
static size_t first_of(const struct work_list *list, int64_t process, int64_t correlation)
{
	struct work wanted = { .process = process, .correlation = correlation };
	size_t low = 0, high = list->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (by_correlation(&list->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first group of work of a call is told of it; spread_calls() tells the others. */
static int join_group(struct view_report *r, struct work_list *list, const struct row_group *p, int64_t process, int64_t thread)
{
	int64_t *correlations = group_correlations(r, p);
	const struct decoded_rows *c = NULL;
	int rc = correlations ? store_decoded_rows(r, p, &c) : 0;
	size_t at;

	for (uint32_t i = 0; rc == 0 && c && i < c->rows; i++) {
		if (correlations[i] <= 0)
			continue;
		at = first_of(list, process, correlations[i]);
		if (at == list->count || list->items[at].process != process || list->items[at].correlation != correlations[i])
			continue;
		list->items[at].thread = thread;
		list->items[at].call_start = c->start[i];
	}
	if (c)
		store_give(r->store, c);
	free(correlations);
	return rc;
}

static void spread_calls(struct work_list *list)
{
	for (size_t i = 1; i < list->count; i++) {
		if (by_correlation(&list->items[i], &list->items[i - 1]) != 0)
			continue;
		list->items[i].thread = list->items[i - 1].thread;
		list->items[i].call_start = list->items[i - 1].call_start;
	}
}

/* Who made the calls. Calls of these numbers only are looked at. */
static int join_calls(struct view_report *r, struct work_list *list)
{
	int rc = 0;

	for (size_t i = 0; i < r->track_count && rc == 0; i++) {
		const struct view_track *track = &r->tracks[i];
		const int64_t *track_row = view_report_track_row(r, track->id);
		int64_t process = track_process(r, (uint32_t)i);
		size_t first = first_of(list, process, 1), end = first_of(list, process, INT64_MAX);

		if (track->table != TABLE_CUDA_API || !track_row || first == end)
			continue;
		for (size_t k = 0; k < track->group_count && rc == 0; k++)
			if (group_may_have(r, track->group + k, list->items[first].correlation, list->items[end - 1].correlation))
				rc = join_group(r, list, &r->groups[track->group + k], process, track_row[TRACK_THREAD]);
	}
	return rc;
}

static uint32_t child_named(struct call_tree *t, struct view_report *r, uint32_t parent, uint32_t name)
{
	struct buf text = BUF_INIT;
	uint32_t number = name_text(r, name, &text) < 0 ? UINT32_MAX :
							  call_tree_text(t, text.data ? text.data : "?", text.data ? text.len : 1);

	buf_release(&text);
	return number == UINT32_MAX ? 0 : call_tree_child(t, parent, number);
}

static uint32_t child_labelled(struct call_tree *t, uint32_t parent, const char *label)
{
	uint32_t number = call_tree_text(t, label, strlen(label));

	return number == UINT32_MAX ? 0 : call_tree_child(t, parent, number);
}

/* The process of some work, and below it the thread where that is known: as their rows are called. */
static uint32_t event_node(struct call_tree *t, struct view_report *r, const struct work *w)
{
	const int64_t *process = index_find(&r->index.processes, w->process);
	const int64_t *thread = index_find(&r->index.threads, w->thread);
	char label[320];
	size_t len;
	uint32_t node;
	const char *name = process ? view_report_text(r, (uint64_t)process[PROCESS_NAME], &len) : NULL;

	snprintf(label, sizeof(label), "%.256s %lld", name ? name : "process", process ? (long long)process[PROCESS_PID] : 0);
	node = child_labelled(t, 0, label);
	if (!node || !thread)
		return node;
	name = view_report_text(r, (uint64_t)index_thread_name(&r->index, w->thread), &len);
	snprintf(label, sizeof(label), "%.256s %lld", name ? name : "thread", (long long)thread[THREAD_TID]);
	return child_labelled(t, node, label);
}

/* Adds the ranges of one track to those of a thread's works, which are in order of their calls. */
static int add_track_ranges(struct call_tree *t, struct view_report *r, uint32_t track, struct work *works, size_t count)
{
	const struct view_track *l = &r->tracks[track];
	struct event_ref at = { .start = 1, .end = 0 };

	for (size_t i = 0; i < count; i++) {
		int64_t time = works[i].call_start;

		if (at.start > at.end || time < at.start || time > at.end) {
			if (time < r->groups[l->group].time_min || !event_at(r, track, time, &at)) {
				at = (struct event_ref){ .start = 1, .end = 0 };
				continue;
			}
		}
		works[i].node = child_named(t, r, works[i].node, at.name);
		if (!works[i].node)
			return -ENOMEM;
	}
	return 0;
}

static int add_thread_works(struct call_tree *t, struct view_report *r, struct work_list *list, struct work *works, size_t count)
{
	uint32_t node;
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || works[i].process != works[i - 1].process)
			node = event_node(t, r, &works[i]);
		works[i].node = node;
		if (!node)
			return -ENOMEM;
	}
	for (size_t i = 0; works[0].thread && i < r->row_count && rc == 0; i++) {
		const struct row *row = &r->rows[i];

		if (row->uid != works[0].thread || row->draw != DRAW_SLICES || (row->kind != ROW_NVTX && row->kind != ROW_GENERIC))
			continue;
		for (uint32_t k = 0; k < row->track_count && rc == 0 && list->steps < MAX_STEPS; k++, list->steps += count)
			rc = add_track_ranges(t, r, row->tracks[k], works, count);
		list->cut |= list->steps >= MAX_STEPS;
	}
	for (size_t i = 0; i < count && rc == 0; i++) {
		node = child_named(t, r, works[i].node, works[i].name);
		if (node)
			t->nodes[node].self += works[i].time;
		rc = node ? 0 : -ENOMEM;
	}
	return rc;
}

static int make_tree(struct call_tree *t, struct view_report *r, struct work_list *list)
{
	size_t from = 0;
	int rc;

	sort_items(list->items, list->count, sizeof(*list->items), by_correlation);
	rc = join_calls(r, list);
	spread_calls(list);
	sort_items(list->items, list->count, sizeof(*list->items), by_call);
	for (size_t i = 1; i <= list->count && rc == 0; i++) {
		if (i < list->count && list->items[i].thread == list->items[from].thread)
			continue;
		rc = add_thread_works(t, r, list, list->items + from, i - from);
		from = i;
	}
	return rc;
}

static uint32_t *work_tracks(const struct view_report *r, size_t *ret_count)
{
	uint32_t *tracks = calloc(r->track_count + 1, sizeof(*tracks));

	*ret_count = 0;
	for (size_t i = 0; tracks && i < r->track_count; i++)
		if (r->tracks[i].table == TABLE_GPU_KERNEL || r->tracks[i].table == TABLE_GPU_COPY || r->tracks[i].table == TABLE_GPU_SET)
			tracks[(*ret_count)++] = (uint32_t)i;
	return tracks;
}

static int put_tree(struct walk *w, struct buf *out)
{
	struct work_list list = { .lock = PTHREAD_MUTEX_INITIALIZER };
	uint32_t *tracks = work_tracks(w->r, &w->track_count);
	struct call_tree tree;
	struct json_out j;
	int r = call_tree_open(&tree);

	w->tracks = tracks;
	w->take = take_group_works;
	w->context = &list;
	r = r < 0 || !tracks ? -ENOMEM : walk_tracks(w);
	if (r == 0 && list.count)
		r = make_tree(&tree, w->r, &list);
	out_begin(&j, out);
	if (r == 0) {
		out_open(&j, '{');
		out_put_text(&j, "unit", "ns");
		out_put_bool(&j, "cut", list.cut);
		out_key(&j, "root");
		call_tree_put(&j, &tree);
		out_close(&j, '}');
		r = j.r;
	}
	call_tree_release(&tree);
	free(list.items);
	free(tracks);
	return r;
}

/* Operators and modules of PyTorch: through the tables of src/query. */
static int read_torch_tree(struct call_tree *t, struct query *q, const char *by, int64_t from, int64_t to, struct error *err)
{
	sqlite3_stmt *s = NULL;
	bool has_times;

	if (query_prepare(q, "select id, parent, name, 0, time from torch_gpu_tree(?1, ?2, ?3)", &s, NULL) != SQLITE_OK)
		return error_set(err, EIO, "%s", sqlite3_errmsg(query_db(q)));
	sqlite3_bind_text(s, 1, by, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, from);
	sqlite3_bind_int64(s, 3, to);
	return call_tree_read(t, q, s, &has_times, err);
}

static int put_torch_tree(const struct walk *w, const char *by, struct buf *out, struct error *err)
{
	struct call_tree tree;
	struct json_out j;
	struct query *q;
	int r = call_tree_open(&tree);

	if (r == 0)
		r = query_begin(w->r, &q, err);
	if (r == 0) {
		r = read_torch_tree(&tree, q, by, w->from, w->to, err);
		query_done(w->r);
	}
	out_begin(&j, out);
	if (r == 0) {
		out_open(&j, '{');
		out_put_text(&j, "unit", "ns");
		out_put_bool(&j, "cut", false);
		out_key(&j, "root");
		call_tree_put(&j, &tree);
		out_close(&j, '}');
		r = j.r;
	}
	call_tree_release(&tree);
	return r;
}

int answer_tree(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *by = params_text(p, "by");
	struct walk w = { 0 };

	TRY(view_asked_report(v, p, &w.r, err));
	if (by && strcmp(by, "range") && strcmp(by, "operator") && strcmp(by, "module"))
		return error_set(err, EINVAL, "by is none of range, operator and module");
	TRY(param_times(p, w.r, &w.from, &w.to, err));
	TRY(params_all_used(p, err));
	if (by && strcmp(by, "range"))
		return put_torch_tree(&w, by, &a->body, err);
	return put_tree(&w, &a->body);
}
