/* The functions that a page calls (web/offline_worker.js). Texts end with a NUL; what the page hands over was made by
 * engine_room() and is the engine's from then on. */
#include "view/offline/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/internal.h"
#include "view/events/lines.h"

#define MOST_REPORTS 16
#define MOST_FOLDERS 256
#define EXPORTED(name) __attribute__((export_name(#name)))

/* There is one page, and one thread. */
static struct engine {
	struct view view;
	struct view_report *reports[MOST_REPORTS];
	struct answer answer;
	const char *folders[MOST_FOLDERS];
} engine = { .view.reports = engine.reports };

/* What is in a page does not grow. */
void view_renew(struct view *v, size_t number)
{
}

static int fail_answer(int status, const char *text)
{
	answer_error(&engine.answer, status, text);
	return status;
}

/* NULL: no memory. */
EXPORTED(engine_room) void *engine_room(size_t size)
{
	return malloc(size ? size : 1);
}

/* A file of the user's own, "FOLDER/NAME"; folders are numbers from 0 on, in their order. */
EXPORTED(engine_take_text) int engine_take_text(char *name, const void *data, size_t size)
{
	struct view_options *options = &engine.view.options;
	size_t number = strtoul(name, NULL, 10);
	char *path;

	if (number >= MOST_FOLDERS || asprintf(&path, GIVEN_FOLDER "/%s", name) < 0 || memory_file_add(path, data, size) < 0)
		return fail_answer(503, "Not enough memory");
	options->text_folders = engine.folders;
	for (; options->text_folder_count <= number; options->text_folder_count++)
		if (asprintf((char **)&engine.folders[options->text_folder_count], GIVEN_FOLDER "/%zu", options->text_folder_count) < 0)
			return fail_answer(503, "Not enough memory");
	free(name);
	return 0;
}

/* Opens one more report. 0, or the status of an answer that says what is wrong with it. */
EXPORTED(engine_open) int engine_open(char *name, const void *data, size_t size)
{
	static const _Atomic bool never = false;
	struct view *v = &engine.view;
	struct error err;

	if (v->report_count == MOST_REPORTS)
		return fail_answer(400, "No more reports can be shown at once");
	if (memory_file_add(name, data, size) < 0)
		return fail_answer(503, "Not enough memory");
	if (view_report_open(&engine.reports[v->report_count], name, name, &err) < 0)
		return fail_answer(400, err.text);
	view_report_find_lines(engine.reports[v->report_count], &never);
	v->report_count++;
	return 0;
}

/* Rows that were made of the report opened last, when the page was written (derived/derived.h): 0, or the status of an answer. */
EXPORTED(engine_take_made) int engine_take_made(struct derived_track *tracks, size_t tracks_size, const void *data, size_t size)
{
	struct view_report *r = engine.reports[engine.view.report_count - 1];
	struct report *derived;
	struct error err;

	if (memory_file_add("/made", data, size) < 0 || report_open(&derived, "/made", &err) < 0)
		return fail_answer(400, "What was derived from the report cannot be read");
	r->derived = derived;
	r->derived_tracks = tracks;
	r->derived_track_count = tracks_size / sizeof(*tracks);
	return view_report_find_derived_tracks(r) < 0 || view_report_add_derived_rows(r) < 0 ? fail_answer(503, "Not enough memory") : 0;
}

static bool has_absent(const struct view_report *r)
{
	for (size_t i = 0; i < r->group_count; i++)
		if (r->groups[i].absent)
			return true;
	return false;
}

/* Of a report by level of detail, what would have to look at single events is not answered wrongly. */
static bool needs_events(const struct route *route, struct params *p)
{
	struct error err;
	int64_t report;

	return route->slow && !route->eventless &&
	       params_integer(p, "report", 0, (int64_t)engine.view.report_count - 1, &report, &err) == 0 &&
	       has_absent(engine.reports[report]);
}

/* Answers a request; returns its status. */
EXPORTED(engine_ask) int engine_ask(char *uri)
{
	struct params params;
	const struct route *route;
	struct error err;

	buf_release(&engine.answer.body);
	if (params_parse(&params, uri, &err) < 0) {
		free(uri);
		return fail_answer(400, err.text);
	}
	route = route_find(params.path);
	if (route && needs_events(route, &params))
		answer_error(&engine.answer, 400,
			     "This file has the report by level of detail, without its single events: export a time range, or open "
			     "the report with sonde view.");
	else if (route)
		answer_make(&engine.view, route, &params, &engine.answer);
	else
		answer_error(&engine.answer, 404, "There is nothing here");
	params_release(&params);
	free(uri);
	return engine.answer.status;
}

/* The answer to come is which requests are slow: their paths, with blanks between. 200, or another status. */
EXPORTED(engine_list_slow) int engine_list_slow(void)
{
	const struct route *route;

	answer_error(&engine.answer, 200, "");
	engine.answer.type = "text/plain";
	buf_clear(&engine.answer.body);
	for (size_t i = 0; (route = route_number(i)); i++)
		if (route->slow)
			buf_printf(&engine.answer.body, "%s%s", engine.answer.body.len ? " " : "", route->path);
	return buf_result(&engine.answer.body) < 0 ? fail_answer(503, "Not enough memory") : 200;
}

/* The answer, until the next request. */
EXPORTED(engine_body) const void *engine_body(void)
{
	return engine.answer.body.data;
}

EXPORTED(engine_body_size) size_t engine_body_size(void)
{
	return engine.answer.body.len;
}

EXPORTED(engine_type) const char *engine_type(void)
{
	return engine.answer.type;
}
