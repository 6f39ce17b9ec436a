#include "view/report/view_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "query/query.h"
#include "view/report/coarse.h"
#include "view/kernels/kernels.h"
#include "view/report/event_names.h"

#define STORE_BYTES (32u << 20)

const char *view_report_text(struct view_report *r, uint64_t id, size_t *ret_len)
{
	const char *text;

	pthread_mutex_lock(&r->text_lock);
	text = id ? report_text(r->report, id, ret_len) : NULL;
	pthread_mutex_unlock(&r->text_lock);
	if (!text)
		*ret_len = 0;
	return text;
}

void view_report_hold(struct view_report *r)
{
	pthread_mutex_lock(&r->use_lock);
	r->readers++;
	pthread_mutex_unlock(&r->use_lock);
}

void view_report_let_go(struct view_report *r)
{
	pthread_mutex_lock(&r->use_lock);
	if (--r->readers == 0)
		pthread_cond_signal(&r->unused);
	pthread_mutex_unlock(&r->use_lock);
}

static int load_view_tables(struct view_report *r)
{
	static const uint8_t tracks[] = { COLUMN_TRACK_ID,     COLUMN_TRACK_KIND,  COLUMN_TRACK_PROCESS, COLUMN_TRACK_THREAD,
					  COLUMN_TRACK_DOMAIN, COLUMN_TRACK_DEPTH, COLUMN_TRACK_NAME };
	static const uint8_t metrics[] = { COLUMN_GPU_METRIC_TRACK, COLUMN_GPU_METRIC_GPU, COLUMN_GPU_METRIC_NAME, COLUMN_GPU_METRIC_UNIT,
					   COLUMN_GPU_METRIC_PROCESS };
	static const uint8_t counters[] = { COLUMN_NVTX_COUNTER_TRACK, COLUMN_NVTX_COUNTER_NAME };
	const struct index_source tables[] = {
		{ &r->track_rows, TABLE_TRACK, VIEW_TRACK_WIDTH, tracks, 1 },
		{ &r->metrics, TABLE_GPU_METRIC, VIEW_METRIC_WIDTH, metrics, 0 },
		{ &r->counters, TABLE_NVTX_COUNTER, VIEW_COUNTER_WIDTH, counters, 0 },
	};

	return index_load_sorted(tables, COUNT_OF(tables), r->report);
}

static int load_tracks(struct view_report *r)
{
	TRY(load_view_tables(r));
	TRY(name_load_launches(r));
	TRY(view_report_find_tracks(r));
	TRY(store_open(&r->store, STORE_BYTES));
	return view_report_make_rows(r);
}

static int load_report_index(struct view_report *r, struct error *err)
{
	int rc;

	TRY(query_index_load(&r->index, r->report, err));
	rc = load_tracks(r);
	return rc < 0 ? error_set_errno(err, -rc, "%s cannot be shown", r->name) : 0;
}

int view_report_open(struct view_report **ret, const char *path, const char *name, struct error *err)
{
	struct view_report *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, ENOMEM, "Not enough memory to open %s", name);
	pthread_mutex_init(&r->text_lock, NULL);
	pthread_mutex_init(&r->bounds_lock, NULL);
	pthread_mutex_init(&r->kernels_lock, NULL);
	pthread_mutex_init(&r->query_lock, NULL);
	pthread_mutex_init(&r->use_lock, NULL);
	pthread_cond_init(&r->unused, NULL);
	r->path = strdup(path);
	r->name = strdup(name);
	rc = r->path && r->name ? report_open(&r->report, path, err) : error_set(err, ENOMEM, "Not enough memory");
	if (rc == 0)
		rc = load_report_index(r, err);
	if (rc < 0) {
		view_report_close(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void view_report_close(struct view_report *r)
{
	if (!r)
		return;
	if (r->end_making)
		r->end_making(r);
	query_close(r->query);
	view_report_kernels_release(r);
	view_report_free_rows(r);
	store_close(r->store);
	query_index_release(&r->index);
	free(r->track_rows.rows);
	free(r->metrics.rows);
	free(r->counters.rows);
	for (size_t i = 0; i < r->group_count; i++)
		free(r->groups[i].lines);
	free(r->groups);
	free(r->bounds);
	for (size_t i = 0; i < r->track_count; i++)
		coarse_free(r->tracks[i].coarse);
	free(r->tracks);
	free(r->launch_names);
	free(r->communication);
	free(r->derived_tracks);
	if (r->derived)
		report_close(r->derived);
	if (r->report)
		report_close(r->report);
	pthread_mutex_destroy(&r->use_lock);
	pthread_cond_destroy(&r->unused);
	pthread_mutex_destroy(&r->text_lock);
	pthread_mutex_destroy(&r->bounds_lock);
	pthread_mutex_destroy(&r->kernels_lock);
	pthread_mutex_destroy(&r->query_lock);
	free(r->path);
	free(r->name);
	free(r);
}
