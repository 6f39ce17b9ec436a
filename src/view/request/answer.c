#include "view/request/answer.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/request/json_out.h"

enum { QUICK, SLOW };
enum { EVENTS, EVENTLESS };

static const struct route routes[] = {
#define ROUTE(name, speed, needs) { "/api/" #name, answer_##name, speed == SLOW, needs == EVENTLESS },
#include "view/request/routes.def"
#undef ROUTE
};

const struct route *route_number(size_t i)
{
	return i < COUNT_OF(routes) ? &routes[i] : NULL;
}

const struct route *route_find(const char *path)
{
	for (size_t i = 0; i < COUNT_OF(routes); i++)
		if (strcmp(routes[i].path, path) == 0)
			return &routes[i];
	return NULL;
}

void answer_error(struct answer *a, int status, const char *text)
{
	struct json_out j;

	buf_clear(&a->body);
	a->status = status;
	a->type = "application/json";
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_put_text(&j, "error", text);
	out_close(&j, '}');
}

void answer_make(struct view *v, const struct route *route, struct params *p, struct answer *a)
{
	struct error err = { "It could not be computed" };
	int r;

	*a = (struct answer){ .status = 200, .type = "application/json" };
	r = route->fn(v, p, a, &err);
	view_give(v, p->held);
	p->held = NULL;
	if (r == -ENOMEM)
		answer_error(a, 503, "Not enough memory");
	else if (r < 0)
		answer_error(a, r == -EINVAL ? 400 : r == -ENOENT ? 404 : 500, err.text);
}
