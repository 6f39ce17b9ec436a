/* What the benchmarks share: clocks in seconds, and numbers as if by chance that are the same in every run. */
#ifndef SONDE_TESTS_BENCH_SUPPORT_H
#define SONDE_TESTS_BENCH_SUPPORT_H

#include <stdint.h>
#include <time.h>

static inline double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Between 0 and 1, neither of them. */
static inline double uniform(uint64_t *state)
{
	return ((double)(next_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

#endif
