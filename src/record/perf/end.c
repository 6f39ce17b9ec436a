/* What is said about the recording when it has ended. */
#include "record/perf/perf.h"
#include "record/session.h"

void perf_end(struct perf *p)
{
	(void)p;
}
