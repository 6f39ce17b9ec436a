/* Spans of time, and how much of others they cover. */
#ifndef SONDE_VIEW_EVENTS_SPANS_H
#define SONDE_VIEW_EVENTS_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint32_t row;
	int64_t start, end;
};

struct spans {
	struct span *items;
	size_t count, room;
};

/* -ENOMEM. */
int spans_add(struct spans *s, uint32_t row, int64_t start, int64_t end);
int spans_append(struct spans *s, const struct spans *more);
/* By row and start, and those of a row that touch made one. */
void spans_unite(struct spans *s);
/* Of united ones of a row: their time, and how much of [start, end) they cover. */
uint64_t spans_time(const struct spans *s, uint32_t row);
uint64_t spans_cover(const struct spans *s, uint32_t row, int64_t start, int64_t end);
void spans_release(struct spans *s);

#endif
