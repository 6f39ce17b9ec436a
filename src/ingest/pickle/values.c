#include "ingest/pickle/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

int values_add(struct pickle *p, struct pickle_value value, uint32_t *ret)
{
	struct pickle_value *place;

	if (p->value_count >= PICKLE_MOST_VALUES)
		return -E2BIG;
	place = ARRAY_ADD(p->values, p->value_count, p->value_cap);
	if (!place)
		return -ENOMEM;
	*place = value;
	*ret = p->value_count - 1;
	return 0;
}

int values_begin(struct pickle *p)
{
	uint32_t *hole;
	uint32_t number;

	*p = (struct pickle){ 0 };
	/* Place 0 stands for no chunk. */
	hole = ARRAY_ADD(p->items, p->item_count, p->item_cap);
	if (!hole)
		return -ENOMEM;
	*hole = 0;
	TRY(values_add(p, (struct pickle_value){ .kind = PICKLE_NONE }, &number));
	TRY(values_add(p, (struct pickle_value){ .kind = PICKLE_BOOL }, &number));
	TRY(values_add(p, (struct pickle_value){ .kind = PICKLE_BOOL, .is.integer = 1 }, &number));
	for (int i = 0; i < VALUE_SMALL_END - VALUE_SMALL; i++)
		TRY(values_add(p, (struct pickle_value){ .kind = PICKLE_INT, .is.integer = i }, &number));
	return 0;
}

int values_add_integer(struct pickle *p, int64_t integer, uint32_t *ret)
{
	if (integer >= 0 && integer < VALUE_SMALL_END - VALUE_SMALL) {
		*ret = VALUE_SMALL + (uint32_t)integer;
		return 0;
	}
	return values_add(p, (struct pickle_value){ .kind = PICKLE_INT, .is.integer = integer }, ret);
}

int values_add_text(struct pickle *p, const char *text, size_t len, uint32_t *ret)
{
	uint32_t count = p->texts.count, number = keymap_find(&p->texts, text, len);

	if (number == KEYMAP_NONE) {
		if (count >= PICKLE_MOST_TEXTS || len > PICKLE_MOST_TEXT_BYTES - p->text_bytes)
			return -E2BIG;
		number = keymap_number(&p->texts, text, len);
		if (number == KEYMAP_NONE)
			return -ENOMEM;
		p->text_bytes += len;
	}
	return values_add(p, (struct pickle_value){ .kind = PICKLE_TEXT, .is.text = number }, ret);
}

/* A chunk at the end of the array grows where it is. */
static uint32_t *chunk_room(struct pickle *p, struct pickle_value *to, uint32_t count)
{
	uint32_t last = to->is.chunks.last, need = count + PICKLE_CHUNK_ITEMS;

	if (!ARRAY_ROOM(p->items, p->item_count, p->item_cap, need))
		return NULL;
	if (!last || last + PICKLE_CHUNK_ITEMS + p->items[last + PICKLE_CHUNK_COUNT] != p->item_count) {
		if (last)
			p->items[last + PICKLE_CHUNK_NEXT] = p->item_count;
		else
			to->is.chunks.first = p->item_count;
		to->is.chunks.last = last = p->item_count;
		p->items[last + PICKLE_CHUNK_NEXT] = 0;
		p->items[last + PICKLE_CHUNK_COUNT] = 0;
		p->item_count += PICKLE_CHUNK_ITEMS;
	}
	p->items[last + PICKLE_CHUNK_COUNT] += count;
	p->item_count += count;
	return p->items + p->item_count - count;
}

int values_append(struct pickle *p, uint32_t to, const uint32_t *items, uint32_t count)
{
	uint32_t *place;

	if (!count)
		return 0;
	if (p->item_count > PICKLE_MOST_ITEMS - PICKLE_CHUNK_ITEMS || count > PICKLE_MOST_ITEMS - PICKLE_CHUNK_ITEMS - p->item_count)
		return -E2BIG;
	place = chunk_room(p, &p->values[to], count);
	if (!place)
		return -ENOMEM;
	memcpy(place, items, count * sizeof(*items));
	p->values[to].count += count;
	return 0;
}

struct pickle_items pickle_items(const struct pickle *p, const struct pickle_value *of)
{
	return (struct pickle_items){ .of = p, .chunk = of->kind >= PICKLE_LIST ? of->is.chunks.first : 0 };
}

int pickle_next(struct pickle_items *at, uint32_t *ret)
{
	const uint32_t *items = at->of->items;

	while (at->chunk && at->at >= items[at->chunk + PICKLE_CHUNK_COUNT]) {
		at->chunk = items[at->chunk + PICKLE_CHUNK_NEXT];
		at->at = 0;
	}
	if (!at->chunk)
		return 0;
	*ret = items[at->chunk + PICKLE_CHUNK_ITEMS + at->at++];
	return 1;
}

void pickle_release(struct pickle *p)
{
	free(p->values);
	free(p->items);
	keymap_release(&p->texts);
	*p = (struct pickle){ 0 };
}
