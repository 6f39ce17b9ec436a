/* The clock that deadlines and durations are measured by. */
#ifndef SONDE_BASE_SYSTEM_MONOTONIC_H
#define SONDE_BASE_SYSTEM_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
