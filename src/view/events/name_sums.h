/* Counts and times by key: a name of some kind of row. */
#ifndef SONDE_VIEW_EVENTS_NAME_SUMS_H
#define SONDE_VIEW_EVENTS_NAME_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"

struct name_sum {
	uint64_t key;
	uint64_t count;
	uint64_t time;
};

struct name_sums {
	struct name_sum *items;
	size_t count, cap;
	struct idmap numbers; /* places among the items, by key */
};

/* -ENOMEM. */
int name_sums_add(struct name_sums *s, uint64_t key, uint64_t count, uint64_t time);
int name_sums_merge(struct name_sums *to, const struct name_sums *from);
/* The longest times first; nothing can be added after it. */
void name_sums_sort(struct name_sums *s);
void name_sums_release(struct name_sums *s);

static inline uint64_t name_key(uint32_t kind, uint32_t name)
{
	return (uint64_t)kind << 32 | name;
}

#endif
