#include "view/name_sums.h"

#include <errno.h>
#include <stdlib.h>

static struct name_sum *slot_of(const struct name_sums *s, uint64_t key)
{
	size_t at = (key * 0x9e3779b97f4a7c15ull) >> 20;

	for (;; at++) {
		struct name_sum *slot = &s->slots[at & (s->capacity - 1)];

		if (!slot->key || slot->key == key)
			return slot;
	}
}

static int grow(struct name_sums *s)
{
	struct name_sums larger = { .capacity = s->capacity ? s->capacity * 2 : 256, .used = s->used };

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->capacity; i++)
		if (s->slots[i].key)
			*slot_of(&larger, s->slots[i].key) = s->slots[i];
	free(s->slots);
	*s = larger;
	return 0;
}

int name_sums_add(struct name_sums *s, uint64_t key, uint64_t count, uint64_t time)
{
	struct name_sum *slot;

	if (s->used * 2 >= s->capacity && grow(s) < 0)
		return -ENOMEM;
	slot = slot_of(s, key + 1);
	s->used += !slot->key;
	slot->key = key + 1;
	slot->count += count;
	slot->time += time;
	return 0;
}

int name_sums_merge(struct name_sums *to, const struct name_sums *from)
{
	int r = 0;

	for (size_t i = 0; i < from->capacity && r == 0; i++)
		if (from->slots[i].key)
			r = name_sums_add(to, from->slots[i].key - 1, from->slots[i].count, from->slots[i].time);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct name_sum *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void name_sums_sort(struct name_sums *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->capacity; i++)
		if (s->slots[i].key)
			s->slots[count++] = s->slots[i];
	s->capacity = 0;
	if (count)
		qsort(s->slots, count, sizeof(*s->slots), compare);
}

void name_sums_release(struct name_sums *s)
{
	free(s->slots);
	*s = (struct name_sums){ 0 };
}
