/* /api/stats: a report of `sonde stats` for a part of the recording, or the list of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"
#include "view/answers.h"
#include "view/internal.h"
#include "view/json_out.h"
#include "view/place.h"

static int put_list(const struct stats_folders *folders, struct buf *out, struct error *err)
{
	struct report_files files = { 0 };
	struct json_out j;
	int r = report_files_load(&files, (const char *const *)folders->names, folders->count, err);

	if (r < 0)
		return r;
	out_begin(&j, out);
	out_open(&j, '{');
	out_key(&j, "reports");
	out_open(&j, '[');
	for (size_t i = 0; i < files.count; i++) {
		out_open(&j, '{');
		out_put_text(&j, "name", files.files[i].name);
		out_put_text(&j, "title", files.files[i].title);
		out_put_integer(&j, "place", files.files[i].default_place);
		out_put_text(&j, "help", files.files[i].help);
		out_close(&j, '}');
	}
	out_close(&j, ']');
	out_close(&j, '}');
	report_files_release(&files);
	return j.r;
}

struct texts {
	FILE *stream;
	char *data;
	size_t size;
};

static int texts_open(struct texts *t)
{
	t->stream = open_memstream(&t->data, &t->size);
	return t->stream ? 0 : -ENOMEM;
}

static void texts_close(struct texts *t)
{
	if (t->stream)
		fclose(t->stream);
	t->stream = NULL;
}

static void put_result(struct json_out *j, const char *name, struct texts *table, struct texts *remarks)
{
	const char *from = table->data ? strchr(table->data, '[') : NULL;
	const char *to = from ? strrchr(from, ']') : NULL;

	out_open(j, '{');
	out_put_text(j, "name", name);
	out_key(j, "rows");
	if (to)
		out_raw(j, from, (size_t)(to - from) + 1);
	else
		out_raw(j, "[]", 2);
	out_key(j, "remarks");
	out_text(j, remarks->data, remarks->size);
	out_close(j, '}');
}

static int run_report(struct recording *r, const struct stats_folders *folders, const char *name, const char *time,
		      struct buf *out, struct error *err)
{
	const char *format = "json", *console = "-";
	struct stats_options options = {
		.reports = &name, .report_count = 1, .formats = &format, .format_count = 1, .outputs = &console, .output_count = 1,
		.folders = (const char *const *)folders->names, .folder_count = folders->count, .scope.time = time, .opened = r->path,
	};
	struct texts table = { 0 }, remarks = { 0 };
	struct json_out j;
	int rc = texts_open(&table);

	rc = rc < 0 ? rc : texts_open(&remarks);
	rc = rc < 0 ? rc : stats_run(&options, r->name, table.stream, remarks.stream, err);
	texts_close(&table);
	texts_close(&remarks);
	out_begin(&j, out);
	if (rc >= 0)
		put_result(&j, name, &table, &remarks);
	free(table.data);
	free(remarks.data);
	return rc < 0 ? rc : j.r;
}

int answer_stats(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *name = params_text(p, "name");
	struct stats_folders folders = { 0 };
	struct recording *recording;
	int64_t from, to;
	char time[64];
	int r = view_recording(v, p, &recording, err);

	r = r < 0 ? r : param_times(p, recording, &from, &to, err);
	r = r < 0 ? r : params_all_used(p, err);
	if (r == 0 && name && (strchr(name, ',') || !*name))
		r = error_set(err, EINVAL, "name is not the name of one report");
	r = r < 0 ? r : stats_folders_find(&folders, NULL, 0, err);
	if (r < 0)
		return r;
	snprintf(time, sizeof(time), "%lldns/%lldns", (long long)(from < 0 ? 0 : from), (long long)(to < 0 ? 0 : to));
	if (name)
		r = run_report(recording, &folders, name, from == INT64_MIN && to == INT64_MAX ? NULL : time, &a->body, err);
	else
		r = put_list(&folders, &a->body, err);
	stats_folders_release(&folders);
	return r;
}
