#include "ingest/nsys_map.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

static struct nsys_pair *slot_of(const struct nsys_map *m, int64_t key)
{
	size_t i = (size_t)XXH3_64bits(&key, sizeof(key)) & (m->slot_count - 1);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->slot_count - 1);
	return &m->slots[i];
}

uint64_t nsys_map_find(const struct nsys_map *m, int64_t key)
{
	return m->slot_count ? slot_of(m, key)->value : 0;
}

static int grow(struct nsys_map *m)
{
	struct nsys_map grown = { .slot_count = m->slot_count ? m->slot_count * 2 : 256, .count = m->count };

	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->slot_count; i++)
		if (m->slots[i].value)
			*slot_of(&grown, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = grown;
	return 0;
}

int nsys_map_put(struct nsys_map *m, int64_t key, uint64_t value)
{
	struct nsys_pair *slot;

	if (m->count * 4 >= m->slot_count * 3 && grow(m) < 0)
		return -ENOMEM;
	slot = slot_of(m, key);
	m->count += slot->value == 0;
	*slot = (struct nsys_pair){ key, value };
	return 0;
}

void nsys_map_release(struct nsys_map *m)
{
	free(m->slots);
	*m = (struct nsys_map){ 0 };
}
