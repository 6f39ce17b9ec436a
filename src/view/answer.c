#include "view/answer.h"

#include <errno.h>
#include <string.h>

#include "view/answers.h"
#include "view/internal.h"
#include "view/json_out.h"

static const struct route routes[] = {
	{ "/api/reports", answer_reports, false, false },
	{ "/api/rows", answer_rows, false, false },
	{ "/api/tiles", answer_tiles, false, false },
	{ "/api/names", answer_names, false, false },
	{ "/api/slice", answer_slice, false, false },
	{ "/api/alike", answer_alike, true, false },
	{ "/api/find", answer_find, true, false },
	{ "/api/sums", answer_sums, true, false },
	{ "/api/events", answer_events, true, false },
	{ "/api/stats", answer_stats, true, false },
	{ "/api/flame", answer_flame, true, false },
	{ "/api/tree", answer_tree, true, false },
	{ "/api/session", answer_session, false, false },
	{ "/api/diagnostics", answer_diagnostics, false, false },
	{ "/api/findings", answer_findings, true, false },
	{ "/api/counters", answer_counters, true, false },
	{ "/api/kernels", answer_kernels, true, true },
	{ "/api/kernel", answer_kernel, true, true },
	{ "/api/values", answer_values, true, true },
	{ "/api/variation", answer_variation, true, true },
	{ "/api/groups", answer_groups, true, true },
	{ "/api/source", answer_source, true, true },
	{ "/api/explain", answer_explain, true, true },
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
