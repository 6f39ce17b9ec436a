/* Strings and blobs by id. A block is decoded when one of its texts is asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/read/internal.h"

static void text_list_free(struct text_list *list)
{
	if (!list)
		return;
	free(list->ids);
	free(list->offsets);
	free(list);
}

void text_store_release(struct text_store *s)
{
	for (size_t i = 0; i < s->ordered_count; i++)
		text_list_free(s->ordered[i].list);
	for (size_t i = 0; i < s->late_count; i++)
		text_list_free(s->late[i].list);
	free(s->ordered);
	free(s->late);
	free(s->merged);
}

static int read_items(struct cursor *c, struct text_list *list)
{
	uint64_t id = 0, offset = 0, size;

	for (size_t i = 0; i < list->count; i++) {
		id += (uint64_t)get_zigzag(c);
		size = get_varint(c);
		if (c->failed || size >= cursor_left(c))
			return -EBADMSG;
		list->ids[i] = id;
		list->offsets[i] = offset;
		offset += size + 1;
	}
	list->offsets[list->count] = offset;
	return offset == cursor_left(c) ? 0 : -EBADMSG;
}

static int texts_terminated(const struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->bodies[list->offsets[i + 1] - 1] != '\0')
			return 0;
	return 1;
}

/* Ids one after the other need no list. */
static void drop_plain_ids(struct text_list *list)
{
	list->first = list->ids[0];
	for (size_t i = 0; i < list->count; i++)
		if (list->ids[i] != list->first + i)
			return;
	free(list->ids);
	list->ids = NULL;
}

static int ids_rise(const struct text_list *list)
{
	for (size_t i = 1; i < list->count; i++)
		if (list->ids[i] <= list->ids[i - 1])
			return 0;
	return 1;
}

static int fill_list(const struct block_ref *b, int must_rise, struct text_list *list)
{
	struct cursor c = { b->payload, b->payload + b->payload_size, 0 };

	list->ids = malloc(list->count * sizeof(*list->ids));
	list->offsets = malloc((list->count + 1) * sizeof(*list->offsets));
	if (!list->ids || !list->offsets)
		return -ENOMEM;
	TRY(read_items(&c, list));
	list->bodies = (const char *)c.at;
	if (!texts_terminated(list) || (must_rise && !ids_rise(list)))
		return -EBADMSG;
	drop_plain_ids(list);
	return 0;
}

static struct text_list *load_list(struct report *r, struct text_block *t, int must_rise)
{
	struct text_list *list;
	struct block_ref *b;

	if (t->tried)
		return t->list;
	t->tried = 1;
	if (reader_load(r, t->block) < 0)
		return NULL;
	b = &r->blocks[t->block];
	if (b->items == 0 || b->items > b->payload_size / 3 || !reader_take_room(r, b->items * 2 * sizeof(*list->ids))) {
		reader_damage(r);
		reader_note(r, "a block of strings or blobs at byte %llu was skipped", (unsigned long long)b->offset);
		return NULL;
	}
	list = calloc(1, sizeof(*list));
	if (!list)
		return NULL;
	list->count = b->items;
	if (fill_list(b, must_rise, list) < 0) {
		reader_damage(r);
		reader_note(r, "a damaged block of strings or blobs was skipped");
		text_list_free(list);
		return NULL;
	}
	return t->list = list;
}

static const char *text_at(const struct text_list *list, size_t i, uint64_t *ret_size)
{
	*ret_size = list->offsets[i + 1] - list->offsets[i] - 1;
	return list->bodies + list->offsets[i];
}

static const char *find_in_list(const struct text_list *list, uint64_t id, uint64_t *ret_size)
{
	size_t low = 0, high = list->count, middle;

	if (!list->ids)
		return id - list->first < list->count ? text_at(list, id - list->first, ret_size) : NULL;
	while (low < high) {
		middle = (low + high) / 2;
		if (list->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->ids[low] == id ? text_at(list, low, ret_size) : NULL;
}

static const char *find_ordered(struct report *r, struct text_store *s, uint64_t id, uint64_t *ret_size)
{
	size_t low = 0, high = s->ordered_count, middle;
	struct text_list *list;

	while (low < high) {
		middle = (low + high) / 2;
		if (s->ordered[middle].last < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->ordered_count || s->ordered[low].first > id)
		return NULL;
	list = load_list(r, &s->ordered[low], 1);
	return list ? find_in_list(list, id, ret_size) : NULL;
}

static int compare_found(const void *a, const void *b)
{
	const struct text_found *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void merge_late(struct report *r, struct text_store *s)
{
	size_t total = 0;

	s->is_merged = 1;
	for (size_t i = 0; i < s->late_count; i++)
		total += load_list(r, &s->late[i], 0) ? s->late[i].list->count : 0;
	s->merged = total ? malloc(total * sizeof(*s->merged)) : NULL;
	if (!s->merged)
		return;
	for (size_t i = 0; i < s->late_count; i++) {
		const struct text_list *list = s->late[i].list;

		for (size_t k = 0; list && k < list->count; k++) {
			struct text_found *f = &s->merged[s->merged_count++];

			f->id = list->ids ? list->ids[k] : list->first + k;
			f->text = text_at(list, k, &f->size);
		}
	}
	qsort(s->merged, s->merged_count, sizeof(*s->merged), compare_found);
}

static const char *find_text(struct report *r, struct text_store *s, uint64_t id, size_t *ret_len)
{
	struct text_found key = { .id = id }, *found;
	const char *text = find_ordered(r, s, id, &key.size);

	if (!text && s->late_count) {
		if (!s->is_merged)
			merge_late(r, s);
		found = s->merged_count ? bsearch(&key, s->merged, s->merged_count, sizeof(*s->merged), compare_found) : NULL;
		if (found) {
			text = found->text;
			key.size = found->size;
		}
	}
	if (ret_len)
		*ret_len = text ? key.size : 0;
	return text;
}

const char *report_text(struct report *r, uint64_t id, size_t *ret_len)
{
	return find_text(r, &r->strings, id, ret_len);
}

const void *report_blob_data(struct report *r, uint64_t id, size_t *ret_len)
{
	return find_text(r, &r->blobs, id, ret_len);
}

uint64_t report_string_limit(const struct report *r)
{
	return r->strings.limit ? r->strings.limit : 1;
}
