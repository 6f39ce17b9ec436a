#include "query/canon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/hash.h"
#include "query/internal.h"

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash_mix(h);
}

static void canon_place(struct canon *c, uint64_t id, uint64_t hash)
{
	size_t at = hash & (c->slot_count - 1);

	while (c->slots[at])
		at = (at + 1) & (c->slot_count - 1);
	c->slots[at] = id;
}

static int canon_grow(struct query *q)
{
	struct canon *c = &q->canon;
	struct canon larger = { NULL, c->slot_count ? c->slot_count * 2 : 512, c->count };
	const char *text;
	size_t len = 0;

	larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < c->slot_count; i++)
		if (c->slots[i]) {
			text = query_text(q, (int64_t)c->slots[i], &len);
			canon_place(&larger, c->slots[i], hash_text(text, len));
		}
	free(c->slots);
	*c = larger;
	return 0;
}

/* The slot that has the text, or is free for it. */
static int find_slot(struct query *q, const char *text, size_t len, size_t *ret)
{
	struct canon *c = &q->canon;
	const char *other;
	size_t other_len, at;

	if (c->count * 2 >= c->slot_count && canon_grow(q) < 0)
		return -ENOMEM;
	for (at = hash_text(text, len) & (c->slot_count - 1); c->slots[at]; at = (at + 1) & (c->slot_count - 1)) {
		other = query_text(q, (int64_t)c->slots[at], &other_len);
		if (other_len == len && memcmp(other, text, len) == 0)
			break;
	}
	*ret = at;
	return 0;
}

static void take_slot(struct canon *c, size_t at, int64_t *id)
{
	if (c->slots[at]) {
		*id = (int64_t)c->slots[at];
		return;
	}
	c->slots[at] = (uint64_t)*id;
	c->count++;
}

int canon_id(struct query *q, int64_t *id)
{
	const char *text;
	size_t len, at;

	text = query_text(q, *id, &len);
	if (!text) {
		*id = 0;
		return 0;
	}
	if (find_slot(q, text, len, &at) < 0)
		return -ENOMEM;
	take_slot(&q->canon, at, id);
	return 0;
}

int canon_text(struct query *q, const char *text, size_t len, int64_t *ret)
{
	size_t at;

	*ret = 0;
	len = strnlen(text, len); /* texts of our own end there */
	if (find_slot(q, text, len, &at) < 0)
		return -ENOMEM;
	if (!q->canon.slots[at])
		*ret = cuda_add_text(q->index.cuda, text, len);
	if (*ret < 0)
		return -ENOMEM;
	take_slot(&q->canon, at, ret);
	return 0;
}

void canon_release(struct canon *c)
{
	free(c->slots);
	*c = (struct canon){ 0 };
}
