#include "query/index/same_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "query/internal.h"

static uint64_t hash_same_text(const char *text, size_t len)
{
	return hash_mix(hash_bytes(HASH_START, text, len));
}

/* The id that stands for the text, or 0. */
static uint64_t find_first_text(struct query *q, const char *text, size_t len, uint64_t hash)
{
	struct hash_probe at = hash_probe(hash);
	const char *other;
	size_t other_len;

	while (hash_next(&q->first_texts.index, &at)) {
		other = query_text(q, (int64_t)q->first_texts.ids[at.item], &other_len);
		if (other_len == len && memcmp(other, text, len) == 0)
			return q->first_texts.ids[at.item];
	}
	return 0;
}

static int add_first_text(struct first_texts *c, uint64_t id, uint64_t hash)
{
	if (!ARRAY_ROOM(c->ids, c->count, c->cap, 1) || !hash_index_add(&c->index, hash, c->count))
		return -ENOMEM;
	c->ids[c->count++] = id;
	return 0;
}

int first_text_id(struct query *q, int64_t *id)
{
	const char *text;
	uint64_t hash, found;
	size_t len;

	text = query_text(q, *id, &len);
	if (!text) {
		*id = 0;
		return 0;
	}
	hash = hash_same_text(text, len);
	found = find_first_text(q, text, len, hash);
	if (!found)
		return add_first_text(&q->first_texts, (uint64_t)*id, hash);
	*id = (int64_t)found;
	return 0;
}

int first_text_of(struct query *q, const char *text, size_t len, int64_t *ret)
{
	uint64_t hash;

	len = strnlen(text, len); /* texts of our own end there */
	hash = hash_same_text(text, len);
	*ret = (int64_t)find_first_text(q, text, len, hash);
	if (*ret)
		return 0;
	*ret = cuda_add_text(q->index.cuda, text, len);
	return *ret < 0 ? -ENOMEM : add_first_text(&q->first_texts, (uint64_t)*ret, hash);
}

void first_texts_release(struct first_texts *c)
{
	free(c->ids);
	hash_index_release(&c->index);
	*c = (struct first_texts){ 0 };
}
