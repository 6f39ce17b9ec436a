#include "base/idmap.h"

#include <errno.h>
#include <stdlib.h>

static size_t home(const struct idmap *map, uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ull;
	key ^= key >> 29;
	key *= 0xbf58476d1ce4e5b9ull;
	return (key >> 20) & (map->cap - 1);
}

/* Where the key is, or the empty place where it would go. */
static size_t find_idmap_entry(const struct idmap *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->entries[i].value != IDMAP_NONE && map->entries[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return i;
}

uint64_t idmap_get(const struct idmap *map, uint64_t key)
{
	return map->cap ? map->entries[find_idmap_entry(map, key)].value : IDMAP_NONE;
}

static int grow_idmap(struct idmap *map)
{
	struct idmap bigger = { .cap = map->cap ? map->cap * 2 : 16, .count = map->count };

	bigger.entries = malloc(bigger.cap * sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < bigger.cap; i++)
		bigger.entries[i] = (struct idmap_entry){ 0, IDMAP_NONE };
	for (size_t i = 0; i < map->cap; i++)
		if (map->entries[i].value != IDMAP_NONE)
			bigger.entries[find_idmap_entry(&bigger, map->entries[i].key)] = map->entries[i];
	free(map->entries);
	*map = bigger;
	return 0;
}

int idmap_put(struct idmap *map, uint64_t key, uint64_t value)
{
	size_t i = map->cap ? find_idmap_entry(map, key) : 0;

	if (!map->cap || (map->entries[i].value == IDMAP_NONE && map->count * 4 >= map->cap * 3)) {
		if (grow_idmap(map) < 0)
			return -ENOMEM;
		i = find_idmap_entry(map, key);
	}
	map->count += map->entries[i].value == IDMAP_NONE;
	map->entries[i] = (struct idmap_entry){ key, value };
	return 0;
}

uint64_t idmap_take(struct idmap *map, uint64_t key)
{
	size_t hole, i, at;
	uint64_t value;

	if (!map->cap)
		return IDMAP_NONE;
	hole = find_idmap_entry(map, key);
	value = map->entries[hole].value;
	if (value == IDMAP_NONE)
		return IDMAP_NONE;
	/* Close the gap: move up what would no longer be found behind it. */
	for (i = (hole + 1) & (map->cap - 1); map->entries[i].value != IDMAP_NONE; i = (i + 1) & (map->cap - 1)) {
		at = home(map, map->entries[i].key);
		if (((i - at) & (map->cap - 1)) >= ((i - hole) & (map->cap - 1))) {
			map->entries[hole] = map->entries[i];
			hole = i;
		}
	}
	map->entries[hole].value = IDMAP_NONE;
	map->count--;
	return value;
}

uint32_t idmap_number(struct idmap *map, uint64_t key, bool *ret_new)
{
	uint64_t number = idmap_get(map, key);

	*ret_new = number == IDMAP_NONE;
	if (!*ret_new)
		return (uint32_t)number;
	number = map->count + 1;
	*ret_new = number < UINT32_MAX && idmap_put(map, key, number) == 0;
	return *ret_new ? (uint32_t)number : 0;
}

void idmap_release(struct idmap *map)
{
	free(map->entries);
	*map = (struct idmap){ 0 };
}
