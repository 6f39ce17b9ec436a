#include "cli/reports/export_answers.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "stats/stats.h"
#include "view/view.h"

struct answering {
	struct view *view;
	FILE *out;
	unsigned count;
};

/* In JSON a '<' stands in texts only. */
static void put_json(FILE *out, const char *text, size_t len)
{
	const char *mark;

	while (len && (mark = memchr(text, '<', len))) {
		fwrite(text, 1, (size_t)(mark - text), out);
		fputs("\\u003c", out);
		len -= (size_t)(mark - text) + 1;
		text = mark + 1;
	}
	fwrite(text, 1, len, out);
}

/* What cannot be answered is not in it: the page then says why. */
static int put_answer(struct answering *a, const char *uri, struct error *err)
{
	struct buf body = BUF_INIT;
	int r = view_answer(a->view, uri, &body, err);

	if (r == 0) {
		fprintf(a->out, "%s\n\"%s\": ", a->count++ ? "," : "", uri);
		put_json(a->out, body.data, body.len);
	}
	buf_release(&body);
	return r == -ENOMEM ? r : 0;
}

/* The statistics of the default set. */
static int put_statistics(struct answering *a, struct error *err)
{
	struct stats_folders folders;
	struct report_files files;
	char uri[256];
	int r;

	TRY(stats_folders_find(&folders, NULL, 0, err));
	r = report_files_load(&files, (const char *const *)folders.names, folders.count, err);
	for (size_t i = 0; r >= 0 && i < files.count; i++) {
		if (!files.files[i].default_place)
			continue;
		snprintf(uri, sizeof(uri), "/api/stats?name=%s&report=0", files.files[i].name);
		r = put_answer(a, uri, err);
	}
	report_files_release(&files);
	stats_folders_release(&folders);
	return r;
}

int export_answers(void *context, const char *path, FILE *out, struct error *err)
{
	static const char *const uris[] = { "/api/findings?report=0",
					    "/api/stats?report=0",
					    "/api/tree?report=0",
					    "/api/flame?report=0",
					    "/api/flame?order=top-down&report=0",
					    "/api/flame?order=bottom-up&report=0" };
	struct view_source source = { .path = path, .name = "report" };
	struct view_options options = { .sources = &source, .source_count = 1 };
	struct answering a = { .out = out };
	int r = view_open_reports(&a.view, &options, err);

	if (r < 0)
		return r;
	fputs("{", out);
	for (size_t i = 0; i < COUNT_OF(uris) && r >= 0; i++)
		r = put_answer(&a, uris[i], err);
	if (r >= 0)
		r = put_statistics(&a, err);
	fputs("}\n", out);
	view_close(a.view);
	TRY(r);
	return 0;
}

int export_made(void *context, const char *path, struct buf *ret_report, struct buf *ret_tracks, struct error *err)
{
	struct view_source source = { .path = path, .name = "report" };
	struct view_options options = { .sources = &source, .source_count = 1 };
	struct view *v;
	int r;

	TRY(view_open_reports(&v, &options, err));
	r = view_make(v, ret_report, ret_tracks);
	view_close(v);
	return r < 0 ? error_set_errno(err, -r, "Rows cannot be made") : 0;
}
