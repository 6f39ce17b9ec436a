/* Going over many events, group by group, without keeping them. */
#ifndef SONDE_VIEW_RECORDING_WALK_H
#define SONDE_VIEW_RECORDING_WALK_H

#include "view/report/view_report.h"

/* Rows of a group that touch [from, to): positions in the decoded rows. */
struct walk_rows {
	const struct decoded_rows *decoded;
	uint32_t begin, end;
};

/* False where no row of the group can touch it. */
bool group_touches(const struct row_group *p, int64_t from, int64_t to);
/* -ENOMEM. Given back with walk_give(). */
int walk_group(struct view_report *r, const struct row_group *p, int64_t from, int64_t to, struct walk_rows *ret);
void walk_give(struct walk_rows *rows);

/* Whether an event lies in the span, at least with a part; and how much of it does. */
static inline bool event_touches(int64_t start, int64_t end, int64_t from, int64_t to)
{
	return start < to && (end > from || start >= from);
}

static inline uint64_t event_within(int64_t start, int64_t end, int64_t from, int64_t to)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	return end > start ? (uint64_t)end - (uint64_t)start : 0;
}

/* All events of some tracks that touch [from, to), by several threads: `take` gets groups in no particular order, each
 * worker one at a time. Negative errno from it ends the walk. */
#define WALK_WORKERS 4u
struct walk {
	struct view_report *r;
	const uint32_t *tracks;
	size_t track_count;
	int64_t from, to;
	int (*take)(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows);
	void *context;
};
int walk_tracks(struct walk *w);

#endif
