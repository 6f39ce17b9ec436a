#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "query/hash.h"
#include "query/torch_ops.h"

static uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash_mix(h);
}

static uint32_t *slot_of(const struct torch_texts *t, const char *text)
{
	size_t at = hash_text(text) & (t->slot_count - 1);

	while (t->slots[at] && strcmp(t->texts[t->slots[at] - 1], text) != 0)
		at = (at + 1) & (t->slot_count - 1);
	return &t->slots[at];
}

static int grow(struct torch_texts *t)
{
	size_t cap = t->cap ? t->cap * 2 : 64;
	char **texts = realloc(t->texts, cap * sizeof(*texts));
	uint32_t *slots = calloc(cap * 2, sizeof(*slots));

	if (texts)
		t->texts = texts;
	if (!texts || !slots) {
		free(slots);
		return 0;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = cap * 2;
	t->cap = cap;
	for (size_t i = 0; i < t->count; i++)
		*slot_of(t, t->texts[i]) = (uint32_t)i + 1;
	return 1;
}

int32_t torch_made_text(struct torch_texts *t, const char *text)
{
	uint32_t *slot;
	char *copy;

	if (t->count == t->cap && (t->count >= UINT32_MAX / 4 || !grow(t)))
		return 0;
	slot = slot_of(t, text);
	if (!*slot) {
		copy = strdup(text);
		if (!copy)
			return 0;
		t->texts[t->count++] = copy;
		*slot = (uint32_t)t->count;
	}
	return -(int32_t)*slot;
}

/* "[[64,3],[],[[2],[3]]]" becomes "[[64, 3], [], []]": torch has no shapes of lists of tensors. */
int32_t torch_shapes_text(struct torch_texts *t, const char *json)
{
	struct buf text = BUF_INIT;
	size_t argument = 0; /* where the current one begins in the text */
	unsigned depth = 0, is_list = 0, closes;
	int32_t id = 0;
	int r = 0;

	for (; *json && r >= 0; json++) {
		if (*json == '[' && ++depth == 2)
			argument = text.len;
		is_list = depth > 2 || (is_list && depth == 2);
		closes = *json == ']' && depth == 2 && is_list;
		depth -= *json == ']' && depth > 0;
		if (closes) {
			text.len = argument;
			is_list = 0;
			r = buf_puts(&text, "[]");
		} else if (*json == ',') {
			r = buf_puts(&text, ", ");
		} else if (!strchr(" \t\r\n", *json)) {
			r = buf_append(&text, json, 1);
		}
		if (depth > 64)
			break;
	}
	if (r >= 0)
		id = torch_made_text(t, buf_cstr(&text));
	buf_release(&text);
	return id;
}

void torch_texts_release(struct torch_texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->slots);
	*t = (struct torch_texts){ 0 };
}
