#include "base/keymap.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"

static uint32_t find_keymap_key(const struct keymap *m, uint64_t hash, const void *key, size_t len)
{
	struct hash_probe at = hash_probe(hash);

	while (hash_next(&m->index, &at))
		if (m->keys[at.item].len == len && memcmp(m->keys[at.item].bytes, key, len) == 0)
			return at.item;
	return KEYMAP_NONE;
}

uint32_t keymap_find(const struct keymap *m, const void *key, size_t len)
{
	return find_keymap_key(m, XXH3_64bits(key, len), key, len);
}

uint32_t keymap_number(struct keymap *m, const void *key, size_t len)
{
	uint64_t hash = XXH3_64bits(key, len);
	uint32_t number = find_keymap_key(m, hash, key, len);
	char *bytes;

	if (number != KEYMAP_NONE)
		return number;
	bytes = malloc(len + 1);
	if (!bytes || !ARRAY_ROOM(m->keys, m->count, m->capacity, 1) || !hash_index_add(&m->index, hash, m->count)) {
		free(bytes);
		return KEYMAP_NONE;
	}
	memcpy(bytes, key, len);
	bytes[len] = '\0';
	m->keys[m->count] = (struct keymap_key){ bytes, len };
	return m->count++;
}

void keymap_release(struct keymap *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		free(m->keys[i].bytes);
	free(m->keys);
	hash_index_release(&m->index);
	*m = (struct keymap){ 0 };
}
