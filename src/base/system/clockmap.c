#include "base/system/clockmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "base/array.h"

int clock_map_add(struct clock_map *map, const struct clock_snapshot *snapshot)
{
	if (map->count && snapshot->ticks <= map->snapshots[map->count - 1].ticks)
		return -EINVAL;
	if (!ARRAY_ROOM(map->snapshots, map->count, map->cap, 1))
		return -ENOMEM;
	map->snapshots[map->count++] = *snapshot;
	return 0;
}

void clock_map_trim(struct clock_map *map, size_t keep)
{
	size_t drop;

	if (map->count <= keep)
		return;
	drop = map->count - keep;
	memmove(map->snapshots, map->snapshots + drop, keep * sizeof(*map->snapshots));
	map->count = keep;
	map->last = 0;
}

/* The segment [i, i + 1] that brackets `ticks`, or the nearest one. */
static size_t find_segment(struct clock_map *map, int64_t ticks)
{
	const struct clock_snapshot *s = map->snapshots;
	size_t low = 0, high = map->count - 2, middle;

	if (map->last <= high && s[map->last].ticks <= ticks && ticks < s[map->last + 1].ticks)
		return map->last;
	while (low < high) {
		middle = (low + high + 1) / 2;
		if (s[middle].ticks <= ticks)
			low = middle;
		else
			high = middle - 1;
	}
	map->last = low;
	return low;
}

int64_t clock_map_to_raw(struct clock_map *map, int64_t ticks)
{
	const struct clock_snapshot *a, *b;
	size_t i;

	if (map->count == 0)
		return ticks;
	if (map->count == 1)
		return map->snapshots[0].raw + (ticks - map->snapshots[0].ticks);
	i = find_segment(map, ticks);
	a = &map->snapshots[i];
	b = &map->snapshots[i + 1];
	return a->raw + (int64_t)((__int128)(ticks - a->ticks) * (b->raw - a->raw) / (b->ticks - a->ticks));
}

void clock_map_release(struct clock_map *map)
{
	free(map->snapshots);
	*map = (struct clock_map)CLOCK_MAP_INIT;
}

int clock_tsc_trusted(void)
{
	char source[32] = "";
	ssize_t n;
	int fd;

	if (!arch_cycles_invariant())
		return 0;
	fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, source, sizeof(source) - 1);
	close(fd);
	return n >= 3 && strncmp(source, "tsc", 3) == 0;
}

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take_one(int use_tsc, struct clock_snapshot *ret)
{
	int64_t before, after, ticks_before, ticks_after;

	before = read_clock(CLOCK_MONOTONIC_RAW);
	ticks_before = (int64_t)arch_cycles();
	ret->raw = read_clock(CLOCK_MONOTONIC_RAW);
	ticks_after = (int64_t)arch_cycles();
	ret->mono = read_clock(CLOCK_MONOTONIC);
	ret->real = read_clock(CLOCK_REALTIME);
	after = read_clock(CLOCK_MONOTONIC_RAW);
	ret->ticks = use_tsc ? ticks_before + (ticks_after - ticks_before) / 2 : ret->raw;
	ret->error = after - before;
}

void clock_take_snapshot(int use_tsc, struct clock_snapshot *ret)
{
	struct clock_snapshot attempt;

	take_one(use_tsc, ret);
	for (int i = 0; i < 3; i++) {
		take_one(use_tsc, &attempt);
		if (attempt.error < ret->error)
			*ret = attempt;
	}
}
