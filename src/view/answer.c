#include "view/answer.h"

#include <errno.h>
#include <string.h>

#include "view/answers.h"
#include "view/internal.h"
#include "view/json_out.h"

static const struct route routes[] = {
	{ "/api/reports", answer_reports, false },
	{ "/api/rows", answer_rows, false },
	{ "/api/tiles", answer_tiles, false },
	{ "/api/names", answer_names, false },
	{ "/api/slice", answer_slice, false },
	{ "/api/alike", answer_alike, true },
	{ "/api/find", answer_find, true },
	{ "/api/sums", answer_sums, true },
	{ "/api/events", answer_events, true },
	{ "/api/stats", answer_stats, true },
	{ "/api/flame", answer_flame, true },
	{ "/api/tree", answer_tree, true },
	{ "/api/session", answer_session, false },
	{ "/api/diagnostics", answer_diagnostics, false },
	{ "/api/findings", answer_findings, true },
	{ "/api/counters", answer_counters, true },
	{ "/api/kernels", answer_kernels, true },
	{ "/api/kernel", answer_kernel, true },
	{ "/api/values", answer_values, true },
	{ "/api/source", answer_source, true },
	{ "/api/explain", answer_explain, true },
};

const struct route *route_find(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
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
