#include "record/perf/sched.h"

void sched_take(struct session *s, const struct sched_event *event)
{
	(void)s;
	(void)event;
}
