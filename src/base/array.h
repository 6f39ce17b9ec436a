/* Arrays that grow: a pointer and two numbers of the caller's, size_t or uint32_t. They grow by doubling,
 * so that adding costs the same however many there are. Without memory they stay as they were.
 *
 *	struct line *line = ARRAY_ADD(list->lines, list->count, list->cap);
 *
 *	if (!line)
 *		return -ENOMEM;
 */
#ifndef SONDE_BASE_ARRAY_H
#define SONDE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for so many more behind the first `count`: false without memory. */
#define ARRAY_ROOM(items, count, cap, more) \
	((more) <= (cap) - (count) || ARRAY_GROW_(cap)(&(items), &(cap), (size_t)(count) + (more), sizeof(*(items)), false))
/* Room for an item of that index, and zeroes in what is new: false without memory. The capacity is the count. */
#define ARRAY_REACH(items, cap, index) ((index) < (cap) || ARRAY_GROW_(cap)(&(items), &(cap), (size_t)(index) + 1, sizeof(*(items)), true))
/* One more behind the first `count`, not initialised: where it stands, or NULL without memory. */
#define ARRAY_ADD(items, count, cap) (ARRAY_ROOM(items, count, cap, 1) ? &(items)[(count)++] : NULL)

/* The same for one more in an array that only ever grew by this: the capacity is not kept, as it follows from the count. */
#define LIST_ROOM(items, count) list_grow(&(items), (count), sizeof(*(items)))
#define LIST_ADD(items, count) (LIST_ROOM(items, count) ? &(items)[(count)++] : NULL)

#define ARRAY_GROW_(cap) _Generic(&(cap), size_t * : array_grow, uint32_t * : array_grow_32)

bool array_grow(void *items, size_t *cap, size_t wanted, size_t item_size, bool zeroed);
bool array_grow_32(void *items, uint32_t *cap, size_t wanted, size_t item_size, bool zeroed);
bool list_grow(void *items, size_t count, size_t item_size);

#endif
