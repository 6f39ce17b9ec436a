/* Numbers by number. */
#ifndef SONDE_INGEST_NSYS_MAP_H
#define SONDE_INGEST_NSYS_MAP_H

#include <stddef.h>
#include <stdint.h>

struct nsys_map {
	struct nsys_pair *slots;
	size_t slot_count;
	size_t count;
};

struct nsys_pair {
	int64_t key;
	uint64_t value; /* 0 is free */
};

/* 0: there is none. */
uint64_t nsys_map_find(const struct nsys_map *m, int64_t key);
/* Values are not 0. An older value of the key is replaced. -ENOMEM. */
int nsys_map_put(struct nsys_map *m, int64_t key, uint64_t value);
void nsys_map_release(struct nsys_map *m);

#endif
