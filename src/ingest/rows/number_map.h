/* Numbers by number; 0 is no value. */
#ifndef SONDE_INGEST_ROWS_NUMBER_MAP_H
#define SONDE_INGEST_ROWS_NUMBER_MAP_H

#include "base/idmap.h"

struct nsys_map {
	struct idmap values;
};

/* 0: there is none. */
static inline uint64_t nsys_map_find(const struct nsys_map *m, int64_t key)
{
	uint64_t value = idmap_get(&m->values, (uint64_t)key);

	return value == IDMAP_NONE ? 0 : value;
}

/* An older value of the key is replaced. -ENOMEM. */
static inline int nsys_map_put(struct nsys_map *m, int64_t key, uint64_t value)
{
	return idmap_put(&m->values, (uint64_t)key, value);
}

static inline void nsys_map_release(struct nsys_map *m)
{
	idmap_release(&m->values);
}

#endif
