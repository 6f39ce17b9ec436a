#include "export/id_map.h"

#include <errno.h>
#include <stdlib.h>

#include "query/hash.h"

static size_t slot_of(const struct id_map *map, uint64_t key)
{
	size_t at = hash_mix(key * 0x9e3779b97f4a7c15ull) & (map->slots - 1);

	while (map->numbers[at] && map->keys[at] != key)
		at = (at + 1) & (map->slots - 1);
	return at;
}

static int grow_map(struct id_map *map)
{
	struct id_map grown = { .slots = map->slots ? map->slots * 2 : 64, .count = map->count };
	size_t at;

	grown.keys = malloc(grown.slots * sizeof(*grown.keys));
	grown.numbers = calloc(grown.slots, sizeof(*grown.numbers));
	if (!grown.keys || !grown.numbers) {
		free(grown.keys);
		free(grown.numbers);
		return -ENOMEM;
	}
	for (size_t i = 0; i < map->slots; i++)
		if (map->numbers[i]) {
			at = slot_of(&grown, map->keys[i]);
			grown.keys[at] = map->keys[i];
			grown.numbers[at] = map->numbers[i];
		}
	free(map->keys);
	free(map->numbers);
	*map = grown;
	return 0;
}

uint32_t id_map_number(struct id_map *map, uint64_t key, bool *ret_new)
{
	size_t at;

	*ret_new = false;
	if ((size_t)map->count * 2 >= map->slots && grow_map(map) < 0)
		return 0;
	at = slot_of(map, key);
	if (!map->numbers[at]) {
		map->keys[at] = key;
		map->numbers[at] = ++map->count;
		*ret_new = true;
	}
	return map->numbers[at];
}

void id_map_release(struct id_map *map)
{
	free(map->keys);
	free(map->numbers);
	*map = (struct id_map){ 0 };
}
