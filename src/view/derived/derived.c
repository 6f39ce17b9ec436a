#include "view/derived/derived.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macros.h"
#include "query/query.h"
#include "view/report/coarse.h"
#include "view/events/lines.h"
#include "view/events/event.h"

#define FILE_NAME "made.sonde"
#define HELD_BYTES (32u << 20)
#define ROWS_TO_RELIEF 65536u
/* Nice value. */
#define BEHIND_OTHERS 10

static int open_derived_file(struct making *m)
{
	const char *base = getenv("TMPDIR");
	char path[sizeof(m->folder) + 16];
	struct error err;

	if (snprintf(m->folder, sizeof(m->folder), "%s/sonde-view-XXXXXX", base && *base ? base : "/tmp") >= (int)sizeof(m->folder) ||
	    !mkdtemp(m->folder)) {
		m->folder[0] = '\0';
		return -EIO;
	}
	snprintf(path, sizeof(path), "%s/" FILE_NAME, m->folder);
	return report_writer_open(&m->w, path, 1, NULL, 0, &err);
}

int making_track(struct making *m, enum table_id table, const struct derived_track *track, struct report_track **ret)
{
	int rc;

	if (!LIST_ROOM(m->tracks, m->count))
		return -ENOMEM;
	rc = m->w ? 0 : open_derived_file(m);
	*ret = rc < 0 ? NULL : report_track(m->w, table, (uint32_t)m->count + 1);
	if (rc == 0 && !*ret)
		rc = -ENOMEM;
	if (rc == 0)
		m->tracks[m->count++] = *track;
	return rc;
}

static int relieve(struct making *m)
{
	if (++m->since_relief < ROWS_TO_RELIEF)
		return 0;
	m->since_relief = 0;
	if (atomic_load_explicit(m->stop, memory_order_relaxed))
		return -ECANCELED;
	return report_writer_relieve(m->w, HELD_BYTES);
}

/* A row out of order is none. */
static int append_derived_row(struct making *m, struct report_track *to, const int64_t *values, uint32_t present)
{
	int rc = report_append(to, values, present);

	if (rc < 0)
		return rc == -EINVAL ? 0 : rc;
	return relieve(m);
}

int making_event(struct making *m, struct report_track *to, enum table_id table, const struct derived_event *e)
{
	int64_t values[TABLE_MAX_COLUMNS] = { e->start };
	uint32_t present = 1;

	if (e->end < e->start)
		return 0;
	if (table == TABLE_INSTANT) {
		values[COLUMN_INSTANT_NAME] = e->name;
		return append_derived_row(m, to, values, 1u << COLUMN_INSTANT_TIME | 1u << COLUMN_INSTANT_NAME);
	}
	values[COLUMN_SLICE_END] = e->end;
	values[COLUMN_SLICE_NAME] = e->name;
	present |= 1u << COLUMN_SLICE_END | 1u << COLUMN_SLICE_NAME;
	if (e->track != MADE_FROM_NONE) {
		values[COLUMN_SLICE_RANGE_ID] = e->track;
		values[COLUMN_SLICE_CORRELATION] = (int64_t)e->index;
		present |= 1u << COLUMN_SLICE_RANGE_ID | 1u << COLUMN_SLICE_CORRELATION;
	}
	return append_derived_row(m, to, values, present);
}

int making_value(struct making *m, struct report_track *to, int64_t time, int64_t value)
{
	int64_t values[] = { time, value };

	return append_derived_row(m, to, values, 3);
}

/* Under its name it is seen only while it is written. */
static int finish_file(struct making *m, struct report **ret)
{
	char path[sizeof(m->folder) + 16];
	struct error err;
	int rc;

	snprintf(path, sizeof(path), "%s/" FILE_NAME, m->folder);
	rc = report_writer_finish(m->w, &err);
	m->w = NULL;
	return rc == 0 ? report_open(ret, path, &err) : rc;
}

static void remove_files(struct making *m)
{
	static const char *const names[] = { FILE_NAME, FILE_NAME ".part", FILE_NAME ".journal" };
	char path[sizeof(m->folder) + 32];

	if (m->w)
		report_writer_abandon(m->w);
	m->w = NULL;
	for (size_t i = 0; m->folder[0] && i < COUNT_OF(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", m->folder, names[i]);
		unlink(path);
	}
	if (m->folder[0])
		rmdir(m->folder);
}

static int take_in(struct view_report *r, struct making *m, struct report *derived)
{
	int rc;

	pthread_mutex_lock(&r->use_lock);
	while (r->readers)
		pthread_cond_wait(&r->unused, &r->use_lock);
	r->derived = derived;
	r->derived_tracks = m->tracks;
	r->derived_track_count = m->count;
	m->tracks = NULL;
	free(r->bounds); /* by group */
	r->bounds = NULL;
	rc = view_report_find_derived_tracks(r);
	if (rc == 0)
		rc = view_report_add_derived_rows(r);
	pthread_mutex_unlock(&r->use_lock);
	return rc;
}

int view_report_make(struct view_report *r, struct derived_limits limits, const _Atomic bool *stop)
{
	static int (*const makers[])(struct making * m) = { make_cores, make_waits, make_memory, make_projections };
	struct making m = { .r = r, .stop = stop, .limits = limits };
	struct report *derived = NULL;
	struct error err;
	int rc = query_open(&m.q, r->path, &err);

	for (size_t i = 0; i < COUNT_OF(makers) && rc == 0; i++)
		rc = makers[i](&m);
	if (rc == 0 && m.w)
		rc = finish_file(&m, &derived);
	remove_files(&m);
	query_close(m.q);
	if (rc == 0 && derived)
		rc = take_in(r, &m, derived);
	free(m.tracks);
	return rc;
}

struct maker {
	struct view_report *r;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done;
	_Atomic bool stop;
};

static void *work(void *context)
{
	struct maker *m = context;

	/* Whoever waits for an answer comes first. */
	setpriority(PRIO_PROCESS, (id_t)gettid(), BEHIND_OTHERS);
	view_report_find_lines(m->r, &m->stop);
	view_report_sum_tracks(m->r, &m->stop);
	view_report_make(m->r, MADE_LIMITS, &m->stop);
	view_report_sum_tracks(m->r, &m->stop);
	/* What was worked in is not needed again. */
	malloc_trim(0);
	atomic_store(&m->r->pending, false);
	pthread_mutex_lock(&m->lock);
	m->done = true;
	pthread_cond_broadcast(&m->ended);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int maker_start(struct view_report *r)
{
	struct maker *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return -ENOMEM;
	m->r = r;
	r->make = maker_start;
	r->end_making = maker_stop;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->ended, NULL);
	atomic_store(&r->pending, true);
	rc = -pthread_create(&m->thread, NULL, work, m);
	if (rc < 0) {
		atomic_store(&r->pending, false);
		free(m);
		return rc;
	}
	r->maker = m;
	return 0;
}

void maker_wait(struct view_report *r, unsigned milliseconds)
{
	struct maker *m = r->maker;
	struct timespec until;

	if (!m)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)milliseconds * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&m->lock);
	while (!m->done && pthread_cond_timedwait(&m->ended, &m->lock, &until) == 0)
		;
	pthread_mutex_unlock(&m->lock);
}

void maker_stop(struct view_report *r)
{
	struct maker *m = r->maker;

	if (!m)
		return;
	atomic_store(&m->stop, true);
	pthread_join(m->thread, NULL);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->ended);
	free(m);
	r->maker = NULL;
}
