/* Which thread had a core when, and what threads did while they had none. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "query/sched/run_walk.h"
#include "view/derived/derived.h"
#include "view/report/event_names.h"

/* Cores with higher numbers are left out: a report may say anything. */
#define MAX_CORES 4096

struct core {
	struct report_track *track;
	int64_t free; /* since when nothing runs there */
};

static uint32_t thread_name(const struct making *m, int64_t uid)
{
	const struct index_table *threads = &m->r->index.threads;
	const int64_t *thread = index_find(threads, uid);

	return name_make(MADE_THREAD, thread ? (int64_t)((size_t)(thread - threads->rows) / threads->width) : INT64_MAX);
}

static int core_event(struct making *m, struct core *cores, int64_t number, enum table_id table, struct derived_event *e)
{
	struct derived_track track = { .kind = ROW_CPU, .place = number };
	struct core *core = &cores[number];

	TRY(core->track ? 0 : making_track(m, table, &track, &core->track));
	/* Clocks of cores may disagree by a little. */
	if (core->free > e->start)
		e->start = core->free;
	if (e->end < e->start)
		return 0;
	core->free = e->end;
	return making_event(m, core->track, table, e);
}

static int put_runs(struct making *m, struct core *cores)
{
	static const uint8_t columns[] = { COLUMN_RUN_START, COLUMN_RUN_END, COLUMN_RUN_CPU };
	struct merge g;
	struct merged *s;
	int rc = merge_open(&g, m, TABLE_RUN, TRACK_RUN, columns, sizeof(columns));

	while (rc >= 0 && (s = merge_next(&g, &rc)) != NULL) {
		uint32_t row = s->reader.row;
		int64_t cpu = s->reader.columns[2][row];
		struct derived_event e = { .start = s->reader.columns[0][row],
					   .end = s->reader.columns[1][row],
					   .name = thread_name(m, s->track_row[TRACK_THREAD]),
					   .track = s->track,
					   .index = s->index };

		rc = cpu >= 0 && cpu < MAX_CORES ? core_event(m, cores, cpu, TABLE_SLICE, &e) : 0;
		merge_advance(&g, s);
	}
	merge_close(&g);
	return rc;
}

static int put_samples(struct making *m, struct core *cores)
{
	static const uint8_t columns[] = { COLUMN_SAMPLE_TIME, COLUMN_SAMPLE_CPU };
	struct merge g;
	struct merged *s;
	int rc = merge_open(&g, m, TABLE_SAMPLE, TRACK_SAMPLES, columns, sizeof(columns));

	while (rc >= 0 && (s = merge_next(&g, &rc)) != NULL) {
		int64_t time = s->reader.columns[0][s->reader.row], cpu = s->reader.columns[1][s->reader.row];
		struct derived_event e = {
			.start = time, .end = time, .name = thread_name(m, s->track_row[TRACK_THREAD]), .track = MADE_FROM_NONE
		};

		if (cpu >= 0 && cpu < MAX_CORES && !merge_is_null(s, COLUMN_SAMPLE_CPU))
			rc = core_event(m, cores, cpu, TABLE_INSTANT, &e);
		merge_advance(&g, s);
	}
	merge_close(&g);
	return rc;
}

int make_cores(struct making *m)
{
	struct core *cores = calloc(MAX_CORES, sizeof(*cores));
	int rc = cores ? 0 : -ENOMEM;

	for (size_t i = 0; cores && i < MAX_CORES; i++)
		cores[i].free = INT64_MIN;
	if (rc == 0 && report_group_count(m->q->report, TABLE_RUN))
		rc = put_runs(m, cores);
	else if (rc == 0)
		rc = put_samples(m, cores);
	free(cores);
	return rc;
}

static uint32_t wait_name(const struct state_interval *i)
{
	switch (i->state) {
	case STATE_RUNNABLE: return name_make(MADE_RUNNABLE, 0);
	case STATE_PREEMPTED: return name_make(MADE_PREEMPTED, 0);
	case STATE_BLOCKED: return name_make(MADE_BLOCKED, i->reason);
	case STATE_NOT_SPLIT: return name_make(MADE_NOT_SPLIT, i->reason);
	default: return name_make(MADE_UNKNOWN, 0);
	}
}

static int put_waits(struct making *m, struct run_walk *walk, const struct view_track *track, int64_t thread)
{
	struct derived_track waits = { .kind = ROW_STATE, .thread = thread, .of_track = (uint32_t)(track - m->r->tracks) };
	struct report_track *to = NULL;
	struct state_interval i;
	int rc;

	while ((rc = run_walk_next(walk, &i)) > 0) {
		struct derived_event e = { .start = i.start, .end = i.end, .name = wait_name(&i), .track = MADE_FROM_NONE };

		if (i.state == STATE_RUNNING)
			continue;
		if (!to)
			TRY(making_track(m, TABLE_SLICE, &waits, &to));
		TRY(making_event(m, to, TABLE_SLICE, &e));
	}
	return rc;
}

int make_waits(struct making *m)
{
	CLEANUP_FREE struct run_walk *walk = malloc(sizeof(*walk));
	struct run_threads threads = { 0 };
	int rc = 0;

	TRY(walk ? run_threads_load(&threads, m->q) : -ENOMEM);
	for (size_t i = 0; i < threads.count && rc >= 0; i++) {
		const struct view_track *track = view_report_track(m->r, TABLE_RUN, threads.tracks[i][TRACK_ID]);

		if (!track)
			continue;
		run_walk_init(walk, &threads, i);
		rc = put_waits(m, walk, track, threads.tracks[i][TRACK_THREAD]);
		run_walk_release(walk);
	}
	run_threads_release(&threads);
	return rc;
}
