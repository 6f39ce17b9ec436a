#include "base/hash_index.h"

#include <stdlib.h>

#define FIRST_SIZE 64 /* a power of two */

static void put_hash_slot(struct hash_index *index, struct hash_slot slot)
{
	size_t at = slot.hash;

	while (index->slots[at & (index->size - 1)].item)
		at++;
	index->slots[at & (index->size - 1)] = slot;
}

static bool grow_hash_index(struct hash_index *index)
{
	struct hash_index larger = { .size = index->size ? index->size * 2 : FIRST_SIZE, .count = index->count };

	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < index->size; i++)
		if (index->slots[i].item)
			put_hash_slot(&larger, index->slots[i]);
	free(index->slots);
	*index = larger;
	return true;
}

bool hash_index_add(struct hash_index *index, uint64_t hash, size_t item)
{
	if (item >= UINT32_MAX || (index->count * 2 >= index->size && !grow_hash_index(index)))
		return false;
	put_hash_slot(index, (struct hash_slot){ hash_probe(hash).hash, (uint32_t)item + 1 });
	index->count++;
	return true;
}

void hash_index_release(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){ 0 };
}
