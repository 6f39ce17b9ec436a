#include "query/engine/scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "query/index/cuda_calls.h"
#include "query/engine/scan.h"
#include "query/engine/scope_internal.h"
#include "query/engine/scope_text.h"

/* Part of the spans: those of one owner. */
struct span_list {
	const struct scope_span *spans;
	size_t count;
};

/* What counts on a track. */
struct span_lists {
	struct span_list own;    /* the thread's, or the process's, or all */
	struct span_list shared; /* of all threads of the process */
};

static int compare_spans(const void *a, const void *b)
{
	const struct scope_span *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int make_spans(struct scope *scope, const struct scope_ranges *selected)
{
	struct scope_span *spans = calloc(3 * selected->count + 1, sizeof(*spans));
	size_t count = 0;

	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < selected->count; i++) {
		const struct scope_range *range = &selected->ranges[i];
		struct scope_span span = { .start = range->start, .end = range->end };

		span.owner = range->thread ? OWNER_OF_THREAD : OWNER_OF_ALL_IN;
		span.uid = range->thread ? range->thread : range->process;
		spans[count++] = span;
		span.owner = OWNER_OF_PROCESS;
		span.uid = range->process;
		spans[count++] = span;
		span.owner = OWNER_OF_NOBODY;
		span.uid = 0;
		spans[count++] = span;
	}
	sort_items(spans, count, sizeof(*spans), compare_spans);
	for (size_t i = 0; i < count; i++) {
		int same = i > 0 && spans[i].owner == spans[i - 1].owner && spans[i].uid == spans[i - 1].uid;

		spans[i].reach = same && spans[i - 1].reach > spans[i].end ? spans[i - 1].reach : spans[i].end;
	}
	scope->spans = spans;
	scope->count = count;
	return 0;
}

static int choose_ranges(struct scope *scope, struct query *q, const struct scope_request *request, struct error *err)
{
	struct scope_ranges selected = { 0 };
	int r;

	if (request->nvtx)
		r = scope_find_ranges(q, request->nvtx, &selected, err);
	else
		r = scope_find_steps(q, request->steps, &selected, scope->note, sizeof(scope->note), err);
	if (r >= 0 && make_spans(scope, &selected) < 0)
		r = error_set(err, ENOMEM, "Not enough memory for the ranges that were chosen");
	scope->by_ranges = 1;
	free(selected.ranges);
	return r;
}

int query_set_scope(struct query *q, const struct scope_request *request, struct error *err)
{
	struct scope *scope;
	int r = 0;

	if (!request->time && !request->nvtx && !request->steps)
		return 0;
	if (request->nvtx && request->steps)
		return error_set(err, EINVAL, "Ranges are chosen by name or as steps, not by both");
	scope = calloc(1, sizeof(*scope));
	if (!scope)
		return error_set(err, ENOMEM, "Not enough memory");
	scope->from = INT64_MIN;
	scope->to = INT64_MAX;
	if (request->time)
		r = time_span_parse(request->time, &scope->from, &scope->to, err);
	if (r >= 0 && (request->nvtx || request->steps))
		r = choose_ranges(scope, q, request, err);
	if (r < 0) {
		scope_free(scope);
		return r;
	}
	q->scope = scope;
	return 0;
}

const char *query_scope_note(const struct query *q)
{
	return q->scope && q->scope->note[0] ? q->scope->note : NULL;
}

void scope_free(struct scope *scope)
{
	if (!scope)
		return;
	free(scope->spans);
	free(scope->calls);
	free(scope);
}

/* The first span whose owner is not below. */
static size_t owner_begin(const struct scope *scope, enum span_owner owner, int64_t uid)
{
	size_t low = 0, high = scope->count, middle;

	while (low < high) {
		const struct scope_span *span = &scope->spans[middle = low + (high - low) / 2];

		if (span->owner < owner || (span->owner == owner && span->uid < uid))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct span_list spans_of(const struct scope *scope, enum span_owner owner, int64_t uid)
{
	size_t first = owner_begin(scope, owner, uid);
	size_t end = uid == INT64_MAX ? scope->count : owner_begin(scope, owner, uid + 1);

	return (struct span_list){ scope->spans + first, end - first };
}

static struct span_lists lists_of(const struct scope *scope, int64_t process, int64_t thread)
{
	struct span_lists lists = { 0 };

	if (thread) {
		lists.own = spans_of(scope, OWNER_OF_THREAD, thread);
		lists.shared = spans_of(scope, OWNER_OF_ALL_IN, process);
	} else if (process) {
		lists.own = spans_of(scope, OWNER_OF_PROCESS, process);
	} else {
		lists.own = spans_of(scope, OWNER_OF_NOBODY, 0);
	}
	return lists;
}

static struct span_lists lists_of_track(const struct scope *scope, const int64_t *track)
{
	return lists_of(scope, track ? track[TRACK_PROCESS] : 0, track ? track[TRACK_THREAD] : 0);
}

/* How many begin no later than that. */
static size_t count_begun_spans(const struct span_list *list, int64_t time)
{
	size_t low = 0, high = list->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list->spans[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether one span contains [start, end]. */
static int contains(const struct span_list *list, int64_t start, int64_t end)
{
	size_t count = count_begun_spans(list, start);

	return count && list->spans[count - 1].reach >= end;
}

static int touches_span(const struct span_list *list, int64_t start, int64_t end)
{
	size_t count = count_begun_spans(list, end);

	return count && list->spans[count - 1].reach >= start;
}

static int is_inside(const struct span_lists *lists, int64_t start, int64_t end)
{
	return contains(&lists->own, start, end) || contains(&lists->shared, start, end);
}

static int in_time(const struct scope *scope, int64_t start, int64_t end)
{
	return start <= scope->to && end >= scope->from;
}

int scope_has(const struct query *q, const int64_t *track, int64_t start, int64_t end)
{
	const struct scope *scope = q->scope;
	struct span_lists lists;

	if (!scope || !in_time(scope, start, end))
		return !scope;
	if (!scope->by_ranges)
		return 1;
	lists = lists_of_track(scope, track);
	return is_inside(&lists, start, end);
}

static void mark_calls(const struct scope *scope, const struct cuda_calls *calls, uint8_t *counts)
{
	const int64_t *track, *last = NULL;
	struct span_lists lists = { 0 };
	size_t hint = 0;

	for (uint32_t i = 0; i < calls->count; i++) {
		track = cuda_call_track(calls, i, &hint);
		if (!track)
			continue;
		if (track != last)
			lists = lists_of_track(scope, track);
		last = track;
		counts[i] = (uint8_t)is_inside(&lists, cuda_call_start(calls, i), cuda_call_end(calls, i));
	}
}

/* By call of cuda_calls: whether the call lies in a chosen range. Made by whichever thread comes first. */
static int calls_that_count(struct query *q, const uint8_t **ret)
{
	struct scope *scope = q->scope;
	struct cuda_calls *calls;

	TRY(cuda_calls_of(q, CALL_PART_STARTS | CALL_PART_ENDS, &calls));
	pthread_mutex_lock(&q->loading);
	if (!scope->calls) {
		scope->calls = calloc((size_t)calls->count + 1, 1);
		if (scope->calls)
			mark_calls(scope, calls, scope->calls);
	}
	*ret = scope->calls;
	pthread_mutex_unlock(&q->loading);
	return *ret ? 0 : -ENOMEM;
}

/* Of the spans of both lists that end behind `from`, the one that begins first. */
static const struct scope_span *next_span(const struct span_lists *lists, int64_t from)
{
	const struct span_list *list[] = { &lists->own, &lists->shared };
	const struct scope_span *best = NULL;

	for (unsigned i = 0; i < 2; i++) {
		size_t low = 0, high = list[i]->count, middle;

		while (low < high) {
			middle = low + (high - low) / 2;
			if (list[i]->spans[middle].reach <= from)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < list[i]->count && (!best || list[i]->spans[low].start < best->start))
			best = &list[i]->spans[low];
	}
	return best;
}

int scope_cut(const struct query *q, const int64_t *track, int64_t *start, int64_t *end)
{
	const struct scope *scope = q->scope;
	const struct scope_span *span;
	struct span_lists lists;
	int64_t until;

	if (!scope)
		return 1;
	*start = *start > scope->from ? *start : scope->from;
	*end = *end < scope->to ? *end : scope->to;
	if (*start >= *end || !scope->by_ranges)
		return *start < *end;
	lists = lists_of_track(scope, track);
	span = next_span(&lists, *start);
	if (!span || span->start >= *end)
		return 0;
	*start = *start > span->start ? *start : span->start;
	/* As far as others go on from there. */
	for (until = *start; span && span->start <= until && until < *end; span = next_span(&lists, until))
		until = span->reach;
	*end = until < *end ? until : *end;
	return 1;
}

int64_t scope_length(const struct query *q, const int64_t *track, int64_t start, int64_t end)
{
	int64_t from = start, to = end;
	uint64_t length = 0;

	if (!q->scope)
		return (int64_t)((uint64_t)end - (uint64_t)start);
	for (; from < end && scope_cut(q, track, &from, &to); from = to, to = end)
		length += (uint64_t)to - (uint64_t)from;
	return (int64_t)length;
}

/* Where tables have what is asked about; COLUMN_NONE: nowhere. Tables with a time in their first columns need no
 * entry. */
#define COLUMN_NONE UINT8_MAX

struct timed_table {
	enum table_id table;
	uint8_t end; /* start is column 0 */
	uint8_t correlation;
	uint8_t process; /* of tables without tracks */
	int touching;    /* counts where it touches a range: states of threads lie across them */
};

static const struct timed_table timed_tables[] = {
	{ TABLE_GPU_MEMORY, COLUMN_NONE, COLUMN_GPU_MEMORY_CORRELATION, COLUMN_NONE, 0 },
	{ TABLE_GPU_POOL, COLUMN_NONE, COLUMN_NONE, COLUMN_GPU_POOL_PROCESS, 0 },
	{ TABLE_GPU_FAULT, COLUMN_GPU_FAULT_END, COLUMN_NONE, COLUMN_GPU_FAULT_PROCESS, 0 },
	{ TABLE_RUN, COLUMN_RUN_END, COLUMN_NONE, COLUMN_NONE, 1 },
};

/* 0 for tables whose rows have no time. */
static int timed_table(enum table_id table, struct timed_table *ret)
{
	enum table_kind kind = table_schema(table)->kind;

	for (size_t i = 0; i < COUNT_OF(timed_tables); i++)
		if (timed_tables[i].table == table) {
			*ret = timed_tables[i];
			return 1;
		}
	*ret = (struct timed_table){ table, kind == TABLE_KIND_SPAN ? 1 : COLUMN_NONE, (uint8_t)table_column(table, ROLE_WORK), COLUMN_NONE,
				     0 };
	return kind != TABLE_KIND_PLAIN;
}

int scope_may_enter(const struct scan *s)
{
	const struct scope *scope = s->q->scope;
	enum table_id table = s->table->sources[s->source].table;
	const struct report_group *group = report_group(s->q->report, table, s->group);
	struct timed_table timed;
	struct span_lists lists;

	if (!timed_table(table, &timed) || table_schema(table)->kind == TABLE_KIND_PLAIN || table == TABLE_RUN)
		return 1; /* what lies between two runs is looked at, too */
	if (!in_time(scope, group->time_min, group->time_max))
		return 0;
	if (!scope->by_ranges || timed.correlation != COLUMN_NONE)
		return 1;
	lists = lists_of_track(scope, s->track);
	return touches_span(&lists.own, group->time_min, group->time_max) || touches_span(&lists.shared, group->time_min, group->time_max);
}

/* The columns of a group. */
struct marking {
	struct timed_table timed;
	struct scan_column *start;
	struct scan_column *end;
	struct scan_column *correlation;
	struct scan_column *process;
	const uint8_t *calls;
	const struct cuda_process *callers;
	struct span_lists lists;
};

static int prepare_marking(struct marking *m, struct scan *s)
{
	const struct scope *scope = s->q->scope;
	int64_t process = s->track ? s->track[TRACK_PROCESS] : 0;
	int r = scan_raw(s, 0, &m->start);

	m->end = m->start;
	if (r >= 0 && m->timed.end != COLUMN_NONE)
		r = scan_raw(s, m->timed.end, &m->end);
	if (r < 0 || !scope->by_ranges)
		return r;
	if (m->timed.process != COLUMN_NONE)
		return scan_raw(s, m->timed.process, &m->process);
	m->lists = lists_of_track(scope, s->track);
	if (m->timed.correlation == COLUMN_NONE)
		return 0;
	r = scan_raw(s, m->timed.correlation, &m->correlation);
	if (r >= 0)
		r = calls_that_count(s->q, &m->calls);
	if (r >= 0)
		m->callers = cuda_calls_process(s->q->calls, process);
	return r;
}

static int row_is_inside(struct marking *m, const struct scan *s, uint32_t row, int64_t start, int64_t end)
{
	const struct scope *scope = s->q->scope;
	uint32_t call;

	if (m->process)
		m->lists = lists_of(scope, m->process->values[row], 0);
	/* Unified memory moves without a call: then by time. */
	if (m->correlation && m->correlation->values[row]) {
		call = cuda_call_find(s->q->calls, m->callers, m->correlation->values[row]);
		return call != CUDA_NO_CALL && m->calls[call];
	}
	if (m->timed.touching)
		return touches_span(&m->lists.own, start, end) || touches_span(&m->lists.shared, start, end);
	return is_inside(&m->lists, start, end);
}

int scope_mark_rows(struct scan *s, uint8_t *counts)
{
	const struct scope *scope = s->q->scope;
	struct marking m = { 0 };
	int64_t start, end;
	int r;

	memset(counts, 1, s->rows);
	if (!timed_table(s->table->sources[s->source].table, &m.timed))
		return 0;
	r = prepare_marking(&m, s);
	for (uint32_t row = 0; r >= 0 && row < s->rows; row++) {
		start = m.start->values[row];
		end = m.end->nulls[row] || m.end->values[row] < start ? start : m.end->values[row];
		counts[row] = in_time(scope, start, end) && (!scope->by_ranges || row_is_inside(&m, s, row, start, end));
	}
	return r;
}

int scope_mark_group(struct query *q, enum table_id table, size_t group, uint8_t *counts)
{
	uint32_t rows = report_group(q->report, table, group)->rows;
	char name[64];
	struct scan s;
	int r;

	memset(counts, !q->scope, rows);
	if (!q->scope)
		return 0;
	snprintf(name, sizeof(name), "sonde_%s", table_schema(table)->name);
	scan_init(&s, q, query_table(q, name));
	r = scan_enter(&s, 0, group);
	if (r > 0)
		r = scope_mark_rows(&s, counts);
	scan_release(&s);
	TRY(r);
	return 0;
}
