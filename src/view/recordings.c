#include "view/internal.h"

int view_recording(struct view *v, struct params *p, struct recording **ret, struct error *err)
{
	int64_t number;
	int r = params_integer(p, "report", 0, (int64_t)v->recording_count - 1, &number, err);

	if (r == 0)
		*ret = v->recordings[number];
	return r;
}
