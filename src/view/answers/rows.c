/* /api/reports, /api/rows and /api/names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/path.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/request/json_out.h"
#include "view/events/lines.h"
#include "view/report/event_names.h"

#define MAX_NAMES 4096

static const char *meta(struct view_report *r, const char *key)
{
	const char *text;

	pthread_mutex_lock(&r->text_lock);
	text = report_meta(r->report, key);
	pthread_mutex_unlock(&r->text_lock);
	return text;
}

static void put_gpus(struct json_out *j, struct view_report *r)
{
	out_key(j, "gpus");
	out_open(j, '[');
	for (size_t i = 0; i < r->index.cuda->gpus.count; i++) {
		const int64_t *gpu = r->index.cuda->gpus.rows + i * GPU_WIDTH;
		size_t len = 0;
		const char *name = view_report_text(r, (uint64_t)gpu[GPU_NAME], &len);

		out_open(j, '{');
		out_key(j, "name");
		out_text(j, name ? name : "GPU", name ? len : 3);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static void put_notes(struct json_out *j, struct view_report *r)
{
	out_key(j, "notes");
	out_open(j, '[');
	pthread_mutex_lock(&r->text_lock);
	for (size_t i = 0; i < report_note_count(r->report); i++)
		out_string(j, report_note(r->report, i));
	pthread_mutex_unlock(&r->text_lock);
	out_close(j, ']');
}

static void put_time_of_day(struct json_out *j, struct view_report *r)
{
	const char *text = meta(r, "start_utc_ns");
	time_t seconds = text ? (time_t)(strtoll(text, NULL, 10) / 1000000000) : 0;
	char day[64] = "";
	struct tm tm;

	if (seconds > 0 && gmtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%SZ", &tm);
	out_put_text(j, "time_of_day", day[0] ? day : NULL);
	out_put_text(j, "started", text); /* ns since 1970: too many for a number */
}

/* When the first event began: much later than the recording where that has waited for it. */
static int64_t first_event(const struct view_report *r)
{
	int64_t first = r->end;

	for (size_t i = 0; i < r->group_count; i++)
		if (r->groups[i].time_min < first)
			first = r->groups[i].time_min;
	return first;
}

static void put_timeline_report(struct json_out *j, struct view_report *r, bool is_baseline)
{
	static const char *const facts[][2] = {
		{ "host", "host" }, { "command", "command" }, { "trace", "trace" }, { "version", "sonde_version" }
	};

	out_open(j, '{');
	out_put_text(j, "name", path_name(r->name));
	out_put_text(j, "path", r->name);
	out_key(j, "begin");
	out_exact(j, r->begin);
	out_key(j, "end");
	out_exact(j, r->end);
	out_key(j, "first");
	out_exact(j, first_event(r));
	out_key(j, "length");
	out_exact(j, r->end);
	put_time_of_day(j, r);
	for (size_t i = 0; i < COUNT_OF(facts); i++)
		out_put_text(j, facts[i][0], meta(r, facts[i][1]));
	out_put_integer(j, "events", (int64_t)r->events);
	out_put_integer(j, "kernels", (int64_t)report_row_count(r->report, TABLE_KERNEL_RESULT));
	out_put_bool(j, "baseline", is_baseline);
	out_put_integer(j, "processes", (int64_t)r->index.processes.count);
	out_put_integer(j, "threads", (int64_t)r->index.threads.count);
	out_put_bool(j, "partial", report_is_partial(r->report));
	out_put_bool(j, "damaged", report_is_damaged(r->report));
	put_gpus(j, r);
	put_notes(j, r);
	out_close(j, '}');
}

int answer_reports(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct json_out j;
	int r = params_all_used(p, err);

	if (r < 0)
		return r;
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_key(&j, "reports");
	out_open(&j, '[');
	for (size_t i = 0; i < v->report_count; i++) {
		struct view_report *report;

		view_renew(v, i);
		report = view_take(v, i);
		put_timeline_report(&j, report, i < v->options.source_count && v->options.sources[i].is_baseline);
		view_give(v, report);
	}
	out_close(&j, ']');
	out_close(&j, '}');
	return j.r;
}

static void put_viewed_row(struct json_out *j, struct view_report *r, size_t id)
{
	const struct row *row = &r->rows[id];
	const char *unit;
	size_t len;

	out_open(j, '{');
	out_put_integer(j, "id", (int64_t)id);
	out_key(j, "parent");
	if (row->parent == ROW_NO_PARENT)
		out_null(j);
	else
		out_integer(j, row->parent);
	out_put_text(j, "kind", row_kind_names[row->kind]);
	out_put_text(j, "label", row->label);
	if (row->detail)
		out_put_text(j, "detail", row->detail);
	out_put_text(j, "draw", row_draw_names[row->draw]);
	out_put_integer(j, "lanes", row->draw == DRAW_GROUP ? 1 : row_line_count(row));
	out_key(j, "share");
	if (row->share < 0)
		out_null(j);
	else
		out_real(j, row->share);
	out_put_integer(j, "count", (int64_t)row->count);
	out_put_bool(j, "quiet", row->quiet);
	if (row->overlaid)
		out_put_bool(j, "overlaid", true);
	if (row->draw == DRAW_PLOT) {
		unit = view_report_text(r, (uint64_t)row->unit, &len);
		out_key(j, "unit");
		out_text(j, row->unit_text ? row->unit_text : unit, row->unit_text ? strlen(row->unit_text) : len);
		out_put_real(j, "least", row->least);
		out_put_real(j, "most", row->most);
	}
	out_close(j, '}');
}

int answer_rows(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct view_report *report;
	struct json_out j;

	TRY(view_asked_report(v, p, &report, err));
	TRY(params_all_used(p, err));
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_key(&j, "rows");
	out_open(&j, '[');
	for (size_t i = 0; i < report->row_count; i++)
		put_viewed_row(&j, report, report->order[i]);
	out_close(&j, ']');
	out_put_bool(&j, "pending", atomic_load(&report->pending));
	out_close(&j, '}');
	return j.r;
}

static int put_name(struct json_out *j, struct view_report *r, uint32_t id)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char key[16];

	TRY(name_text(r, id, &text));
	snprintf(key, sizeof(key), "%u", id);
	out_key(j, key);
	out_text(j, text.data ? text.data : "", text.len);
	return j->r;
}

int answer_names(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *ids = params_text(p, "ids");
	struct view_report *report;
	struct json_out j;
	int64_t id;

	TRY(view_asked_report(v, p, &report, err));
	TRY(params_all_used(p, err));
	if (!ids)
		return error_set(err, EINVAL, "ids is missing");
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_key(&j, "names");
	out_open(&j, '{');
	for (unsigned count = 0; *ids; count++) {
		if (count == MAX_NAMES || !params_number(&ids, 0, UINT32_MAX, &id) || (*ids && *ids++ != ','))
			return error_set(err, EINVAL, "ids is not a list of at most %d numbers", MAX_NAMES);
		TRY(put_name(&j, report, (uint32_t)id));
	}
	out_close(&j, '}');
	out_close(&j, '}');
	return j.r;
}
