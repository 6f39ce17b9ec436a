#include "view/internal.h"

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
