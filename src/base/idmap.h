/* A map from 64-bit ids to 64-bit values, for ids chosen by others: open addressing,
 * mixed so that no pattern of ids makes it slow. 0 is a valid key; IDMAP_NONE is
 * not a valid value. */
#ifndef SONDE_BASE_IDMAP_H
#define SONDE_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT64_MAX

struct idmap_entry {
	uint64_t key;
	uint64_t value; /* IDMAP_NONE: empty */
};

struct idmap {
	struct idmap_entry *entries;
	size_t count;
	size_t cap; /* a power of two, or 0 */
};

/* IDMAP_NONE when there is none. */
uint64_t idmap_get(const struct idmap *map, uint64_t key);
/* Sets or replaces; -ENOMEM, which replacing never is. */
int idmap_put(struct idmap *map, uint64_t key, uint64_t value);
/* Returns the value removed, or IDMAP_NONE. */
uint64_t idmap_take(struct idmap *map, uint64_t key);
/* The number of a key, from 1 in the order in which they are first asked for; 0 without memory. For maps that
 * hold nothing else. */
uint32_t idmap_number(struct idmap *map, uint64_t key, bool *ret_new);
void idmap_release(struct idmap *map);

#endif
