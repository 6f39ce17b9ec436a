/* From ticks of a clock to nanoseconds since the session began.
 *
 * Fine snapshots (one per batch of records) make the joints of the conversion;
 * one in about 50 ms is kept for good, in memory for stamps that come late and in the
 * report's clock table. */
#ifndef SONDE_RECORD_SESSION_TIMEBASE_H
#define SONDE_RECORD_SESSION_TIMEBASE_H

#include <stdint.h>

#include "base/system/clockmap.h"

#define TIMEBASE_SESSION_DOMAIN 1
/* A little less than the recorder's sleep: every wake-up of an idle one is kept. */
#define TIMEBASE_KEEP_NS 45000000

struct timebase {
	struct clock_map fine;
	struct clock_map coarse;
	int64_t start;     /* MONOTONIC_RAW of time 0 */
	int64_t last_kept; /* raw time of the last coarse snapshot */
	int use_tsc;
	uint64_t now_ticks; /* of the last snapshot */
	/* The segment used last: raw = seg_raw + (ticks - seg_ticks) * seg_mult >> 32
	 * for seg_ticks <= ticks < seg_ticks + seg_width. */
	uint64_t seg_ticks;
	uint64_t seg_width; /* 0: none */
	uint64_t seg_mult;
	int64_t seg_raw;
};

/* Time 0 is now, unless the first snapshot is given by the caller. */
void timebase_init(struct timebase *t, int use_tsc, int64_t start_raw);
void timebase_release(struct timebase *t);

/* Adds a snapshot. Returns 1 when it is one to keep in the report (about every 50 ms, and
 * the first), 0 when not, -EINVAL when it is older than the last. */
int timebase_add(struct timebase *t, const struct clock_snapshot *snapshot);
/* Takes one now and adds it; *ret is filled in any case. */
int timebase_snap(struct timebase *t, struct clock_snapshot *ret);

/* Keeps about the last `keep` of the coarse snapshots: stamps that came later than that are converted less exactly. */
void timebase_forget(struct timebase *t, size_t keep);

int64_t timebase_convert_slow(struct timebase *t, uint64_t ticks);

/* Ticks to ns since the session started; within 1 ns of clock_map_to_raw(). */
static inline int64_t timebase_convert(struct timebase *t, uint64_t ticks)
{
	uint64_t delta = ticks - t->seg_ticks;

	if (__builtin_expect(delta < t->seg_width, 1))
		return t->seg_raw + (int64_t)((unsigned __int128)delta * t->seg_mult >> 32) - t->start;
	return timebase_convert_slow(t, ticks);
}

/* Nanoseconds since the session started, now. */
int64_t timebase_now(const struct timebase *t);

#endif
