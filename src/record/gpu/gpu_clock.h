/* From a GPU's timer to MONOTONIC_RAW. Readings of both come again and again, some better than others; of each window of time the one with
 * the narrowest bracket counts. Times never go back: what turns out to be wrong is made good gradually, as in any disciplined clock. */
#ifndef SONDE_RECORD_GPU_GPU_CLOCK_H
#define SONDE_RECORD_GPU_GPU_CLOCK_H

#include <stdint.h>

#define GPU_CLOCK_HISTORY 32

struct gpu_reading {
	uint64_t ticks; /* ns, by the GPU's timer */
	int64_t raw;
	int64_t error; /* both were read within this time */
};

struct gpu_clock {
	int started;
	uint64_t base_ticks; /* from here on: raw = base_raw + (ticks - base_ticks) * rate */
	int64_t base_raw;
	double rate;
	double true_rate;    /* as far as known, without what is made good */
	uint64_t last_ticks; /* youngest that was converted */
	int64_t window_end;
	struct gpu_reading best; /* of this window */
	struct gpu_reading kept[GPU_CLOCK_HISTORY];
	uint32_t kept_count;
	int64_t wrong;  /* largest distance from a bracket */
	int64_t widest; /* bracket of a reading that counted */
};

/* Returns 1 and the reading in *ret when a window is over and one of its readings counts (the very first does at once), else 0. */
int gpu_clock_add(struct gpu_clock *c, const struct gpu_reading *reading, struct gpu_reading *ret);
int64_t gpu_clock_raw(struct gpu_clock *c, uint64_t ticks);
/* How far times were off at most, as the readings tell. */
int64_t gpu_clock_error(const struct gpu_clock *c);

#endif
