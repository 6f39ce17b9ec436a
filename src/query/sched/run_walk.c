#include "query/sched/run_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "query/engine/scope.h"

const char *const thread_state_names[STATE_COUNT] = {
	"Running", "Runnable", "Preempted", "Blocked", "Not split", "Unknown",
};
const char *const block_source_names[] = { "", "OS runtime", "System call" };

enum { READ_START, READ_END, READ_CPU, READ_READY, READ_AFTER, READ_SYSCALL };
static const uint8_t run_columns[] = { COLUMN_RUN_START, COLUMN_RUN_END,   COLUMN_RUN_CPU,
				       COLUMN_RUN_READY, COLUMN_RUN_AFTER, COLUMN_RUN_SYSCALL };

enum { CALL_START, CALL_END, CALL_NAME };
static const uint8_t call_columns[] = { COLUMN_OSRT_START, COLUMN_OSRT_END, COLUMN_OSRT_NAME };

static int compare_by(const int64_t *x, const int64_t *y, const uint8_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (x[order[i]] != y[order[i]])
			return x[order[i]] < y[order[i]] ? -1 : 1;
	return 0;
}

static int compare_threads(const void *a, const void *b)
{
	static const uint8_t order[] = { TRACK_PROCESS, TRACK_THREAD, TRACK_ID };

	return compare_by(*(const int64_t *const *)a, *(const int64_t *const *)b, order, sizeof(order));
}

static int compare_call_tracks(const void *a, const void *b)
{
	static const uint8_t order[] = { TRACK_THREAD, TRACK_DEPTH, TRACK_ID };

	return compare_by(*(const int64_t *const *)a, *(const int64_t *const *)b, order, sizeof(order));
}

/* Tracks of a kind that have rows. */
static int select_tracks(struct query *q, const struct track_groups *groups, enum track_kind kind, const int64_t ***ret, size_t *ret_count)
{
	const struct index_table *tracks = &q->index.tracks;
	const int64_t *track;

	*ret = calloc(tracks->count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < tracks->count; i++) {
		track = tracks->rows + i * tracks->width;
		if (track[TRACK_KIND] == (int64_t)kind && track_groups_has(groups, (uint32_t)track[TRACK_ID]))
			(*ret)[(*ret_count)++] = track;
	}
	return 0;
}

static int64_t end_of_switches(struct query *q)
{
	const char *text = report_meta(q->report, "sched.end");

	if (!text)
		text = report_meta(q->report, "duration_ns");
	return text ? strtoll(text, NULL, 10) : 0;
}

int run_threads_load(struct run_threads *ret, struct query *q)
{
	const char *wakeups;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->q = q;
	ret->end = end_of_switches(q);
	wakeups = report_meta(q->report, "sched.wakeups");
	ret->wakeups = wakeups && strcmp(wakeups, "1") == 0;
	r = track_groups_load(&ret->runs, q, TABLE_RUN);
	if (r >= 0)
		r = track_groups_load(&ret->calls, q, TABLE_OSRT);
	if (r >= 0)
		r = select_tracks(q, &ret->runs, TRACK_RUN, &ret->tracks, &ret->count);
	if (r >= 0)
		r = select_tracks(q, &ret->calls, TRACK_OSRT, &ret->call_tracks, &ret->call_count);
	if (r < 0) {
		run_threads_release(ret);
		return r;
	}
	sort_items(ret->tracks, ret->count, sizeof(*ret->tracks), compare_threads);
	sort_items(ret->call_tracks, ret->call_count, sizeof(*ret->call_tracks), compare_call_tracks);
	return 0;
}

void run_threads_release(struct run_threads *threads)
{
	track_groups_release(&threads->runs);
	track_groups_release(&threads->calls);
	free(threads->tracks);
	free(threads->call_tracks);
	memset(threads, 0, sizeof(*threads));
}

void run_reader_init(const struct run_threads *threads, size_t thread, struct track_reader *ret)
{
	track_reader_init_columns(ret, threads->q, &threads->runs, (uint32_t)threads->tracks[thread][TRACK_ID], run_columns,
				  sizeof(run_columns));
}

int run_reader_next(struct track_reader *t, struct run *ret)
{
	int r = track_reader_load(t);

	if (r <= 0)
		return r;
	*ret = (struct run){ t->columns[READ_START][t->row], t->columns[READ_END][t->row],   t->columns[READ_CPU][t->row],
			     t->columns[READ_READY][t->row], t->columns[READ_AFTER][t->row], t->columns[READ_SYSCALL][t->row] };
	track_reader_advance(t);
	return 1;
}

static size_t first_call_track(const struct run_threads *threads, int64_t thread)
{
	size_t low = 0, high = threads->call_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (threads->call_tracks[middle][TRACK_THREAD] < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void run_walk_init(struct run_walk *w, const struct run_threads *threads, size_t thread)
{
	int64_t uid = threads->tracks[thread][TRACK_THREAD];

	memset(w, 0, sizeof(*w));
	w->threads = threads;
	w->track = threads->tracks[thread];
	run_reader_init(threads, thread, &w->runs);
	for (size_t i = first_call_track(threads, uid);
	     i < threads->call_count && threads->call_tracks[i][TRACK_THREAD] == uid && w->level_count < RUN_WALK_LEVELS; i++)
		track_reader_init_columns(&w->levels[w->level_count++], threads->q, &threads->calls,
					  (uint32_t)threads->call_tracks[i][TRACK_ID], call_columns, sizeof(call_columns));
}

void run_walk_release(struct run_walk *w)
{
	track_reader_release(&w->runs);
	for (unsigned i = 0; i < w->level_count; i++)
		track_reader_release(&w->levels[i]);
}

/* The innermost OS runtime call that was running at that time; times asked for do not go back. */
static int call_at(struct run_walk *w, int64_t time, int64_t *ret_name)
{
	struct track_reader *t;
	int r;

	*ret_name = 0;
	for (unsigned i = 0; i < w->level_count; i++) {
		t = &w->levels[i];
		while ((r = track_reader_load(t)) > 0 && t->columns[CALL_END][t->row] < time)
			track_reader_advance(t);
		if (r < 0)
			return r;
		if (r > 0 && t->columns[CALL_START][t->row] <= time)
			*ret_name = t->columns[CALL_NAME][t->row];
	}
	return 0;
}

static struct state_interval *queue(struct run_walk *w, enum thread_state state, int64_t start, int64_t end)
{
	struct state_interval *i = &w->queue[w->queued];

	*i = (struct state_interval){ .start = start, .end = end, .state = state };
	w->queued += end > start;
	return i;
}

static int find_reason(struct run_walk *w, struct state_interval *blocked)
{
	int r = call_at(w, w->last.end, &blocked->reason);

	blocked->source = blocked->reason ? BLOCK_OSRT : BLOCK_UNKNOWN;
	if (r >= 0 && !blocked->reason && w->last.syscall) {
		blocked->reason = w->last.syscall;
		blocked->source = BLOCK_SYSCALL;
	}
	return r;
}

/* From the end of the last run to `until`, when the next one began (ready to run since `ready`,
 * 0 = not known) or nobody looked any more. */
static int queue_gap(struct run_walk *w, int64_t until, int64_t ready)
{
	int64_t from = w->last.end;
	int r;

	switch (w->last.after) {
	case RUN_PREEMPTED: queue(w, STATE_PREEMPTED, from, until); return 0;
	case RUN_BLOCKED:
		if (ready < from || ready > until)
			return find_reason(w, queue(w, STATE_NOT_SPLIT, from, until));
		r = find_reason(w, queue(w, STATE_BLOCKED, from, ready));
		queue(w, STATE_RUNNABLE, ready, until);
		return r;
	case RUN_EXITED:
	case RUN_STILL: return 0;
	default: queue(w, STATE_UNKNOWN, from, until); return 0;
	}
}

/* Behind the last run. Had it been woken, it would have been seen. */
static int queue_tail(struct run_walk *w)
{
	int64_t end = w->threads->end;

	if (!w->has_last || end <= w->last.end || w->last.after == RUN_AFTER_UNKNOWN)
		return 0;
	return queue_gap(w, end, w->threads->wakeups ? end : 0);
}

static int queue_next(struct run_walk *w)
{
	struct run run;
	int r = run_reader_next(&w->runs, &run);

	w->queued = w->at = 0;
	TRY(r);
	if (r == 0) {
		TRY(queue_tail(w));
		w->has_last = 0;
		return w->queued > 0;
	}
	if (w->has_last)
		r = queue_gap(w, run.start, run.ready);
	else if (run.ready)
		queue(w, STATE_RUNNABLE, run.ready, run.start);
	queue(w, STATE_RUNNING, run.start, run.end)->cpu = run.cpu;
	w->last = run;
	w->has_last = 1;
	TRY(r);
	return 1;
}

static int next_whole(struct run_walk *w, struct state_interval *ret)
{
	int r = 1;

	while (r > 0 && w->at >= w->queued)
		r = queue_next(w);
	if (r > 0)
		*ret = w->queue[w->at++];
	return r;
}

int run_walk_next(struct run_walk *w, struct state_interval *ret)
{
	int r;

	if (!w->threads->q->scope)
		return next_whole(w, ret);
	for (;;) {
		if (!w->has_rest && (r = next_whole(w, &w->rest)) <= 0)
			return r;
		*ret = w->rest;
		w->has_rest = scope_cut(w->threads->q, w->track, &ret->start, &ret->end);
		if (w->has_rest) {
			w->rest.start = ret->end;
			return 1;
		}
	}
}

void result_who(sqlite3_context *context, struct query *q, const int64_t *track, int which)
{
	const int64_t *process = index_find(&q->index.processes, track[TRACK_PROCESS]);
	const int64_t *thread = index_find(&q->index.threads, track[TRACK_THREAD]);

	switch (which) {
	case WHO_PROCESS_UID: sqlite3_result_int64(context, track[TRACK_PROCESS]); break;
	case WHO_THREAD_UID: sqlite3_result_int64(context, track[TRACK_THREAD]); break;
	case WHO_PID:
		if (process)
			sqlite3_result_int64(context, process[PROCESS_PID]);
		break;
	case WHO_TID:
		if (thread)
			sqlite3_result_int64(context, thread[THREAD_TID]);
		break;
	case WHO_GLOBAL_TID: sqlite3_result_int64(context, index_global_tid(&q->index, track[TRACK_THREAD])); break;
	case WHO_PROCESS_NAME: result_text(context, q, process ? process[PROCESS_NAME] : 0); break;
	default: result_text(context, q, index_thread_name(&q->index, track[TRACK_THREAD]));
	}
}
