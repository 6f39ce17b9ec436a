#include "view/events/name_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sort.h"

int name_sums_add(struct name_sums *s, uint64_t key, uint64_t count, uint64_t time)
{
	uint64_t number = idmap_get(&s->numbers, key);

	if (number == IDMAP_NONE) {
		number = s->count;
		if (!ARRAY_ROOM(s->items, s->count, s->cap, 1) || idmap_put(&s->numbers, key, number) < 0)
			return -ENOMEM;
		s->items[s->count++] = (struct name_sum){ .key = key };
	}
	s->items[number].count += count;
	s->items[number].time += time;
	return 0;
}

int name_sums_merge(struct name_sums *to, const struct name_sums *from)
{
	for (size_t i = 0; i < from->count; i++)
		TRY(name_sums_add(to, from->items[i].key, from->items[i].count, from->items[i].time));
	return 0;
}

static int compare_name_sums(const void *a, const void *b)
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
	sort_items(s->items, s->count, sizeof(*s->items), compare_name_sums);
}

void name_sums_release(struct name_sums *s)
{
	free(s->items);
	idmap_release(&s->numbers);
	*s = (struct name_sums){ 0 };
}
