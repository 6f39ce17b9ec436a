/* Numbers from 1 for keys, in the order in which they are first asked for. */
#ifndef SONDE_EXPORT_ID_MAP_H
#define SONDE_EXPORT_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
	uint64_t *keys;
	uint32_t *numbers; /* 0 = free */
	size_t slots;
	uint32_t count;
};

/* 0: no memory. */
uint32_t id_map_number(struct id_map *map, uint64_t key, bool *ret_new);
void id_map_release(struct id_map *map);

#endif
