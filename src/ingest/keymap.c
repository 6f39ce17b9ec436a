#include "ingest/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void place(struct keymap *m, uint64_t hash, uint32_t number)
{
	uint32_t i = (uint32_t)hash & (m->slot_count - 1);

	while (m->slots[i])
		i = (i + 1) & (m->slot_count - 1);
	m->slots[i] = number + 1;
}

static int grow(struct keymap *m)
{
	uint32_t capacity = m->capacity ? m->capacity * 2 : 64;
	struct keymap_key *keys;
	uint32_t *slots;

	if (capacity > UINT32_MAX / 8)
		return -ENOMEM;
	keys = realloc(m->keys, capacity * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	m->keys = keys;
	slots = calloc((size_t)capacity * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(m->slots);
	m->slots = slots;
	m->slot_count = capacity * 2;
	m->capacity = capacity;
	for (uint32_t i = 0; i < m->count; i++)
		place(m, keys[i].hash, i);
	return 0;
}

static uint32_t find(const struct keymap *m, uint64_t hash, const void *key, size_t len)
{
	const struct keymap_key *k;
	uint32_t i;

	if (!m->slot_count)
		return KEYMAP_NONE;
	for (i = (uint32_t)hash & (m->slot_count - 1); m->slots[i]; i = (i + 1) & (m->slot_count - 1)) {
		k = &m->keys[m->slots[i] - 1];
		if (k->hash == hash && k->len == len && memcmp(k->bytes, key, len) == 0)
			return m->slots[i] - 1;
	}
	return KEYMAP_NONE;
}

uint32_t keymap_find(const struct keymap *m, const void *key, size_t len)
{
	return find(m, XXH3_64bits(key, len), key, len);
}

uint32_t keymap_number(struct keymap *m, const void *key, size_t len)
{
	uint64_t hash = XXH3_64bits(key, len);
	uint32_t number = find(m, hash, key, len);
	char *bytes;

	if (number != KEYMAP_NONE)
		return number;
	if (m->count == m->capacity && grow(m) < 0)
		return KEYMAP_NONE;
	bytes = malloc(len ? len : 1);
	if (!bytes)
		return KEYMAP_NONE;
	memcpy(bytes, key, len);
	number = m->count++;
	m->keys[number] = (struct keymap_key){ hash, bytes, len };
	place(m, hash, number);
	return number;
}

void keymap_release(struct keymap *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		free(m->keys[i].bytes);
	free(m->keys);
	free(m->slots);
	memset(m, 0, sizeof(*m));
}
