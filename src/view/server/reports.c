#include "view/internal.h"

struct view_report *view_take(struct view *v, size_t number)
{
	struct view_report *r;

	pthread_mutex_lock(&v->lock);
	r = v->reports[number];
	r->users++;
	pthread_mutex_unlock(&v->lock);
	view_report_hold(r);
	return r;
}

void view_give(struct view *v, struct view_report *r)
{
	bool last;

	if (!r)
		return;
	view_report_let_go(r);
	pthread_mutex_lock(&v->lock);
	last = --r->users == 0 && r->retired;
	pthread_mutex_unlock(&v->lock);
	if (last)
		view_report_close(r);
}

int view_asked_report(struct view *v, struct params *p, struct view_report **ret, struct error *err)
{
	int64_t number;
	int r = params_integer(p, "report", 0, (int64_t)v->report_count - 1, &number, err);

	if (r == 0 && !p->held)
		p->held = view_take(v, (size_t)number);
	if (r == 0)
		*ret = p->held;
	return r;
}
