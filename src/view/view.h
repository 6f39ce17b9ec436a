/* Reports shown in a browser: the work of `sonde view`. docs/view.md says what is served and to whom. */
#ifndef SONDE_VIEW_VIEW_H
#define SONDE_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct view;

struct view_source {
	const char *path; /* to read */
	const char *name; /* to show */
	bool is_baseline; /* others are compared with it */
};

struct view_options {
	const struct view_source *sources;
	size_t source_count;
	const char *bind;                /* NULL: loopback */
	int port;                        /* 0: any; -1: the usual one, or the next that is free */
	const char *web_folder;          /* files of the page instead of those in the binary; NULL: none */
	const char *const *text_folders; /* sections, rules and words before those of share/ */
	size_t text_folder_count;
	const char *operators; /* a trace that knows which operators started the kernels; NULL: none */
	int stop_fd;           /* readable: the end */
	int input_fd;          /* readable: on_input() is called; -1: none. At its end it is left alone */
	void (*on_input)(struct view *v, void *context);
	void (*listening)(void *context); /* the port is open, no report was read and no thread started; may be NULL */
	void *context;
};

/* Opens the reports and the port. -EADDRINUSE, or what is wrong with a report, with a sentence. */
int view_open(struct view **ret, const struct view_options *options, struct error *err);
/* The same without a port: for view_answer() alone. */
int view_open_reports(struct view **ret, const struct view_options *options, struct error *err);
/* What a request is answered (docs/view.md); -EINVAL, -ENOENT ... where it is refused. */
struct buf;
int view_answer(struct view *v, const char *uri, struct buf *ret, struct error *err);
/* Makes what is otherwise made behind the first picture (derived/derived.h), of the first report, for a page that cannot: a report, and what its
 * tracks are. Both are empty where there is nothing. */
int view_make(struct view *v, struct buf *ret_report, struct buf *ret_tracks);
/* Serves until stop_fd says so. */
int view_run(struct view *v, struct error *err);
void view_close(struct view *v);

int view_port(const struct view *v);
/* An address with a token of its own. -errno. */
int view_url(struct view *v, char *ret, size_t size);

#endif
