#include "record/session/timebase.h"

#include <errno.h>
#include <time.h>

#include "base/cleanup.h"

#define FINE_LIMIT 2048
#define FINE_KEEP 512
#define FARTHEST (INT64_C(1) << 42)

void timebase_init(struct timebase *t, int use_tsc, int64_t start_raw)
{
	*t = (struct timebase){ .use_tsc = use_tsc, .start = start_raw };
}

void timebase_release(struct timebase *t)
{
	clock_map_release(&t->fine);
	clock_map_release(&t->coarse);
}

int timebase_add(struct timebase *t, const struct clock_snapshot *snapshot)
{
	TRY(clock_map_add(&t->fine, snapshot));
	t->now_ticks = (uint64_t)snapshot->ticks;
	t->seg_width = 0;
	if (t->fine.count > FINE_LIMIT)
		clock_map_trim(&t->fine, FINE_KEEP);
	if (t->coarse.count && snapshot->raw - t->last_kept < TIMEBASE_KEEP_NS)
		return 0;
	t->last_kept = snapshot->raw;
	return clock_map_add(&t->coarse, snapshot) < 0 ? 0 : 1;
}

void timebase_forget(struct timebase *t, size_t keep)
{
	if (t->coarse.count > 2 * keep)
		clock_map_trim(&t->coarse, keep);
}

int timebase_snap(struct timebase *t, struct clock_snapshot *ret)
{
	clock_take_snapshot(t->use_tsc, ret);
	return timebase_add(t, ret);
}

/* Remembers the segment of the fine map around `ticks`, when there is one that
 * the 32-bit fraction is precise enough for. */
static void cache_segment(struct timebase *t, size_t i)
{
	const struct clock_snapshot *a = &t->fine.snapshots[i];
	const struct clock_snapshot *b = a + 1;
	uint64_t width = (uint64_t)(b->ticks - a->ticks);

	if (width >> 32 || b->raw < a->raw || b->raw - a->raw >= INT64_C(1) << 31)
		return;
	t->seg_ticks = (uint64_t)a->ticks;
	t->seg_width = width;
	t->seg_raw = a->raw;
	t->seg_mult = ((uint64_t)(b->raw - a->raw) << 32) / width;
}

/* A stamp may be anything; what lies absurdly far from all snapshots is moved near
 * them, so that no arithmetic overflows. */
static int64_t tame_ticks(const struct timebase *t, uint64_t ticks)
{
	int64_t first = t->coarse.count ? t->coarse.snapshots[0].ticks : 0;
	int64_t last = t->fine.count ? t->fine.snapshots[t->fine.count - 1].ticks : 0;

	if ((int64_t)ticks < 0 || (int64_t)ticks > last + FARTHEST)
		return last + FARTHEST;
	return (int64_t)ticks < first - FARTHEST ? first - FARTHEST : (int64_t)ticks;
}

int64_t timebase_convert_slow(struct timebase *t, uint64_t stamp)
{
	struct clock_map *map = &t->fine;
	int64_t ticks = tame_ticks(t, stamp);
	int64_t raw;

	/* Older than all fine snapshots: a stamp that was long on its way. */
	if (t->fine.count && ticks < t->fine.snapshots[0].ticks && t->coarse.count > 1)
		map = &t->coarse;
	raw = clock_map_to_raw(map, ticks);
	if (map == &t->fine && map->count > 1 && map->last + 1 < map->count && map->snapshots[map->last].ticks <= ticks)
		cache_segment(t, map->last);
	return raw - t->start;
}

int64_t timebase_now(const struct timebase *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - t->start;
}
