#include "view/view.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "view/internal.h"
#include "view/kernels/kernels.h"
#include "view/derived/derived.h"

/* So long, in ms, the first picture may wait to be complete. */
#define MADE_AT_ONCE 250
#define MAPPED_BYTES (128 << 10)
#define MOST_ARENAS 4

static int open_reports(struct view *v, struct error *err)
{
	int r = 0;

	v->reports = calloc(v->options.source_count + 1, sizeof(*v->reports));
	if (!v->reports)
		return error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; i < v->options.source_count && r == 0; i++) {
		r = view_report_open(&v->reports[i], v->options.sources[i].path, v->options.sources[i].name, err);
		v->report_count += r == 0;
	}
	return r;
}

/* A recording without what they make can be shown all the same. */
static void start_makers(struct view *v)
{
	for (size_t i = 0; i < v->report_count; i++)
		maker_start(v->reports[i]);
	for (size_t i = 0; i < v->report_count; i++)
		maker_wait(v->reports[i], i ? 0 : MADE_AT_ONCE);
}

/* A trace that is none is told of before anything is served. */
static int check_operators(struct view *v, struct error *err)
{
	const struct view_texts *texts;
	struct kernel_results *results;

	if (!v->options.operators || !v->report_count)
		return 0;
	TRY(view_texts(v, &texts, err));
	return view_report_kernels(v->reports[0], &texts->sections, v->options.operators, &results, err);
}

int view_open_reports(struct view **ret, const struct view_options *options, struct error *err)
{
	struct view *v = calloc(1, sizeof(*v));
	int r;

	*ret = NULL;
	if (!v)
		return error_set(err, ENOMEM, "Not enough memory");
	v->options = *options;
	pthread_mutex_init(&v->lock, NULL);
	pthread_mutex_init(&v->renewing, NULL);
	r = open_reports(v, err);
	if (r == 0)
		r = check_operators(v, err);
	if (r < 0) {
		view_close(v);
		return r;
	}
	*ret = v;
	return 0;
}

int view_open(struct view **ret, const struct view_options *options, struct error *err)
{
	int port = options->port, fd, r;

	/* What statistics are computed in goes back when they are done. */
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_ARENA_MAX, MOST_ARENAS);
	*ret = NULL;
	fd = listen_on(options->bind ? options->bind : LOOPBACK, &port, err);
	if (fd < 0)
		return fd;
	if (options->listening)
		options->listening(options->context);
	r = view_open_reports(ret, options, err);
	if (r < 0)
		close(fd);
	else
		r = server_open(&(*ret)->server, *ret, fd, port, err);
	if (r < 0 && *ret) {
		view_close(*ret);
		*ret = NULL;
	}
	if (r == 0)
		start_makers(*ret);
	return r;
}

int view_make(struct view *v, struct buf *ret_report, struct buf *ret_tracks)
{
	struct view_report *r = v->reports[0];
	_Atomic bool stop = false;
	const void *bytes;
	size_t size;
	int rc = view_report_make(r, MADE_LIMITS, &stop);

	if (rc < 0 || !r->derived)
		return rc == -ENOMEM ? rc : 0;
	bytes = report_bytes(r->derived, &size);
	TRY(buf_append(ret_report, bytes, size));
	return buf_append(ret_tracks, r->derived_tracks, r->derived_track_count * sizeof(*r->derived_tracks));
}

int view_answer(struct view *v, const char *uri, struct buf *ret, struct error *err)
{
	struct answer a = { 0 };
	struct params params;
	const struct route *route;
	int r;

	TRY(params_parse(&params, uri, err));
	route = route_find(params.path);
	if (!route) {
		r = error_set(err, ENOENT, "There is nothing here");
	} else {
		r = route->fn(v, &params, &a, err);
		view_give(v, params.held);
		params.held = NULL;
		if (r >= 0)
			buf_append(ret, a.body.data, a.body.len);
		buf_release(&a.body);
	}
	view_give(v, params.held);
	params_release(&params);
	TRY(r);
	return 0;
}

int view_run(struct view *v, struct error *err)
{
	return server_run(v->server, err);
}

void view_close(struct view *v)
{
	/* Also where it is not closed: files that are being made have to go. */
	for (size_t i = 0; i < v->report_count; i++)
		maker_stop(v->reports[i]);
	if (v->server && !server_close(v->server))
		return; /* a thread still reads all of it; the program ends */
	for (size_t i = 0; i < v->report_count; i++)
		view_report_close(v->reports[i]);
	view_texts_release(v);
	pthread_mutex_destroy(&v->lock);
	pthread_mutex_destroy(&v->renewing);
	free(v->reports);
	free(v);
}

int view_port(const struct view *v)
{
	return server_port(v->server);
}

int view_url(struct view *v, char *ret, size_t size)
{
	const char *address = v->options.bind;
	struct guard *guard = server_guard(v->server);
	char token[GUARD_SECRET_SIZE];
	int r = guard_token(guard, token);
	bool brackets;

	if (r < 0)
		return r;
	/* By number: somebody else may have the port at another address that localhost means. */
	if (!address || strcasecmp(address, "localhost") == 0)
		address = LOOPBACK;
	if (strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0)
		address = guard->host_name;
	brackets = strchr(address, ':') != NULL;
	snprintf(ret, size, "http://%s%s%s:%d/?token=%s", brackets ? "[" : "", address, brackets ? "]" : "", view_port(v), token);
	return 0;
}
