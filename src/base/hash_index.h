/* Finds the items of an array by a hash of what they are known by. The array and what makes two of its items
 * the same are the caller's:
 *
 *	struct hash_probe at = hash_probe(hash);
 *
 *	while (hash_next(&t->index, &at))
 *		if (strcmp(t->texts[at.item], text) == 0)
 *			return at.item;
 *
 * A new item goes into the array and, as the number it has there, into the index. Nothing is taken out. */
#ifndef SONDE_BASE_HASH_INDEX_H
#define SONDE_BASE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t item; /* plus 1; 0: free */
};

struct hash_index {
	struct hash_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

struct hash_probe {
	size_t at;
	uint32_t hash;
	uint32_t item;
};

static inline struct hash_probe hash_probe(uint64_t hash)
{
	uint32_t folded = (uint32_t)(hash ^ hash >> 32);

	return (struct hash_probe){ .at = folded, .hash = folded };
}

/* The next item of that hash, in no order; other keys may have it, too. */
static inline bool hash_next(const struct hash_index *index, struct hash_probe *probe)
{
	const struct hash_slot *slot;

	while (index->size && (slot = &index->slots[probe->at++ & (index->size - 1)])->item) {
		probe->item = slot->item - 1;
		if (slot->hash == probe->hash)
			return true;
	}
	return false;
}

/* False without memory. */
bool hash_index_add(struct hash_index *index, uint64_t hash, size_t item);
void hash_index_release(struct hash_index *index);

#endif
