/* Piecewise conversion of a clock's ticks to nanoseconds of the reference clock
 * (MONOTONIC_RAW). Snapshots are the joints; between two of them time runs
 * linearly; outside the first and last the nearest segment is continued. */
#ifndef SONDE_BASE_SYSTEM_CLOCKMAP_H
#define SONDE_BASE_SYSTEM_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>

struct clock_snapshot {
	int64_t ticks;
	int64_t raw; /* MONOTONIC_RAW ns */
	int64_t mono;
	int64_t real;
	int64_t error; /* ns between the readings before and after */
};

struct clock_map {
	struct clock_snapshot *snapshots;
	size_t count;
	size_t cap;
	size_t last; /* segment used last: times come nearly in order */
};

/* clang-format off */
#define CLOCK_MAP_INIT { NULL, 0, 0, 0 }
/* clang-format on */

/* Snapshots must be added in increasing order of ticks; -EINVAL otherwise. */
int clock_map_add(struct clock_map *map, const struct clock_snapshot *snapshot);
/* Drops all but the last `keep` snapshots: converted times need no older ones. */
void clock_map_trim(struct clock_map *map, size_t keep);
int64_t clock_map_to_raw(struct clock_map *map, int64_t ticks);
void clock_map_release(struct clock_map *map);

/* How the session clock reads on this machine. The session clock is
 * the TSC only where the TSC is invariant and the kernel itself uses it. */
int clock_tsc_trusted(void);
/* The best (narrowest) of a few bracketed readings. */
void clock_take_snapshot(int use_tsc, struct clock_snapshot *ret);

#endif
