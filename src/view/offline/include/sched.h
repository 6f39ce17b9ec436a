/* One CPU. */
#ifndef SONDE_VIEW_OFFLINE_SCHED_H
#define SONDE_VIEW_OFFLINE_SCHED_H

#include <stddef.h>

typedef int cpu_set_t;

#define CPU_COUNT(set) (*(set))

static inline int sched_getaffinity(int pid, size_t size, cpu_set_t *ret)
{
	*ret = 1;
	return 0;
}

#endif
