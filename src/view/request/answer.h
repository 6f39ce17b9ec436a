/* What a request is answered with. */
#ifndef SONDE_VIEW_REQUEST_ANSWER_H
#define SONDE_VIEW_REQUEST_ANSWER_H

#include "base/buf.h"
#include "base/error.h"
#include "view/request/params.h"

struct view;

struct answer {
	int status;
	const char *type;
	struct buf body;
};

/* Fills the body. -EINVAL is answered 400, -ENOENT 404, others 500, with the sentence. */
typedef int (*answer_fn)(struct view *v, struct params *p, struct answer *a, struct error *err);

/* A line of routes.def. */
struct route {
	const char *path;
	answer_fn fn;
	bool slow;
	bool eventless;
};

/* NULL where there is none. */
const struct route *route_find(const char *path);
const struct route *route_number(size_t i);

void answer_error(struct answer *a, int status, const char *text);
/* Runs the route and turns errors into answers. */
void answer_make(struct view *v, const struct route *route, struct params *p, struct answer *a);

#endif
