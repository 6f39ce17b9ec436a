/* From CUPTI's times to ticks of the session's clock. */
#ifndef SONDE_AGENT_CUDA_RECORDS_CLOCK_H
#define SONDE_AGENT_CUDA_RECORDS_CLOCK_H

#include <stdint.h>

/* Pairs kept at most; the older, the sparser. */
#define CUDA_CLOCK_PAIRS 64u

struct cuda_clock_pair {
	uint64_t theirs; /* ns */
	uint64_t ticks;
};

struct cuda_clock_fit {
	uint32_t count;                                 /* 0: CUPTI's times are ticks */
	struct cuda_clock_pair pairs[CUDA_CLOCK_PAIRS]; /* rising in both */
};

/* Gives CUPTI our clock where it takes one; says which way it went. Before anything is enabled. */
void cuda_clock_start(void) __attribute__((visibility("hidden")));
/* CUPTI is somebody else's from now on: its times are again what they would be without us. */
void cuda_clock_give_back(void) __attribute__((visibility("hidden")));
/* Compares the clocks now, where that is needed. */
void cuda_clock_compare(void) __attribute__((visibility("hidden")));
/* Tells how far off the fit may be, if that has become worse. */
void cuda_clock_report(void) __attribute__((visibility("hidden")));
void cuda_clock_get(struct cuda_clock_fit *ret) __attribute__((visibility("hidden")));

/* Adds a pair; one that is not later than the last is left out. */
void cuda_clock_add(struct cuda_clock_fit *fit, struct cuda_clock_pair pair) __attribute__((visibility("hidden")));
uint64_t cuda_clock_convert(const struct cuda_clock_fit *fit, uint64_t time) __attribute__((visibility("hidden")));

/* 0 stays 0: not known. */
static inline uint64_t cuda_clock_ticks(const struct cuda_clock_fit *fit, uint64_t time)
{
	return fit->count == 0 || time == 0 ? time : cuda_clock_convert(fit, time);
}

#endif
