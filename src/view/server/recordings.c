#include "view/internal.h"

struct recording *view_take(struct view *v, size_t number)
{
	struct recording *r;

	pthread_mutex_lock(&v->lock);
	r = v->recordings[number];
	r->users++;
	pthread_mutex_unlock(&v->lock);
	recording_hold(r);
	return r;
}

void view_give(struct view *v, struct recording *r)
{
	bool last;

	if (!r)
		return;
	recording_let_go(r);
	pthread_mutex_lock(&v->lock);
	last = --r->users == 0 && r->retired;
	pthread_mutex_unlock(&v->lock);
	if (last)
		recording_close(r);
}

int view_recording(struct view *v, struct params *p, struct recording **ret, struct error *err)
{
	int64_t number;
	int r = params_integer(p, "report", 0, (int64_t)v->recording_count - 1, &number, err);

	if (r == 0 && !p->held)
		p->held = view_take(v, (size_t)number);
	if (r == 0)
		*ret = p->held;
	return r;
}
