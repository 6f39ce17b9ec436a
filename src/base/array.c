#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ARRAY 16
#define FIRST_LIST 4 /* a power of two */

/* `items` is the address of a pointer of any type. */
static bool resize(void *items, size_t count, size_t item_size)
{
	void *grown;

	/* No object is larger; allocators of sanitizers end the process when they are asked for one. */
	if (count > PTRDIFF_MAX / item_size)
		return false;
	memcpy(&grown, items, sizeof(grown));
	grown = reallocarray(grown, count, item_size);
	if (grown)
		memcpy(items, &grown, sizeof(grown));
	return grown != NULL;
}

bool array_grow(void *items, size_t *cap, size_t wanted, size_t item_size, bool zeroed)
{
	size_t grown = *cap < SIZE_MAX / 2 && 2 * *cap > wanted ? 2 * *cap : wanted;
	char *data;

	if (grown < FIRST_ARRAY)
		grown = FIRST_ARRAY;
	if (!resize(items, grown, item_size))
		return false;
	if (zeroed) {
		memcpy(&data, items, sizeof(data));
		memset(data + *cap * item_size, 0, (grown - *cap) * item_size);
	}
	*cap = grown;
	return true;
}

bool array_grow_32(void *items, uint32_t *cap, size_t wanted, size_t item_size, bool zeroed)
{
	size_t grown = *cap;

	/* Twice the capacity must fit as well. */
	if (wanted > UINT32_MAX / 2 || !array_grow(items, &grown, wanted, item_size, zeroed))
		return false;
	*cap = (uint32_t)grown;
	return true;
}

bool list_grow(void *items, size_t count, size_t item_size)
{
	if (count && (count < FIRST_LIST || (count & (count - 1))))
		return true;
	return count <= SIZE_MAX / 2 && resize(items, count ? 2 * count : FIRST_LIST, item_size);
}
