#include "record/nvtx/payloads.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "fmt/nvtx_wire.h"

/* Texts copied behind a payload may make it longer than the program's own bytes. */
#define PAYLOAD_LIMIT (4u * NVTX_WIRE_PAYLOAD_MAX)
/* Of one event; agents write no more than that. */
#define LIST_LIMIT 64u

static int list_add(struct payload_list *list, struct stored_payload item)
{
	if (list->count == LIST_LIMIT)
		return -1;
	if (!ARRAY_ROOM(list->items, list->count, list->cap, 1))
		return -1;
	list->items[list->count++] = item;
	return 0;
}

void payload_list_copy(struct payload_list *ret, const struct payload_list *from)
{
	*ret = (struct payload_list){ .lost = from ? from->lost : 0 };
	for (uint32_t i = 0; from && i < from->count; i++)
		if (list_add(ret, from->items[i]) < 0)
			ret->lost = 1;
}

void payload_list_release(struct payload_list *list)
{
	free(list->items);
	*list = (struct payload_list){ 0 };
}

static void forget_payloads(struct pending_payloads *p)
{
	p->done.count = 0;
	p->done.lost = 0;
	p->size = 0;
	p->open = p->cut = p->taken = 0;
}

static int append_piece(struct pending_payloads *p, const uint8_t *bytes, size_t size)
{
	if (size > PAYLOAD_LIMIT - p->size || !ARRAY_ROOM(p->data, p->size, p->cap, size))
		return -1;
	if (size)
		memcpy(p->data + p->size, bytes, size);
	p->size += size;
	return 0;
}

/* Stored at once, not with its event: what a ring can make us hold is one payload. */
static void store(struct session *s, struct pending_payloads *p, const struct record_blob *piece)
{
	struct stored_payload item = { .schema = piece->schema_id, .number = record_flags(piece->head) };

	if (p->cut || p->size < piece->total)
		p->done.lost = 1;
	if (p->done.count < LIST_LIMIT)
		item.blob = report_blob(s->writer, p->data, p->size);
	if (!item.blob || list_add(&p->done, item) < 0)
		p->done.lost = 1;
	p->size = 0;
	p->open = p->cut = 0;
}

void payloads_collect(struct session *s, struct pending_payloads *p, const struct record_blob *piece, const uint8_t *bytes, size_t size)
{
	if (p->taken || p->time != piece->time)
		forget_payloads(p);
	p->time = piece->time;
	p->open = 1;
	if (append_piece(p, bytes, size) < 0)
		p->cut = 1;
	if (record_level(piece->head) == 0)
		store(s, p, piece);
}

const struct payload_list *payloads_take(struct pending_payloads *p, uint64_t ticks)
{
	if (p->taken || p->time != ticks)
		forget_payloads(p);
	if (p->open || !p->done.count)
		p->done.lost = 1;
	p->taken = 1;
	return &p->done;
}

void payloads_release(struct pending_payloads *p)
{
	payload_list_release(&p->done);
	free(p->data);
	p->data = NULL;
}

static int arg_row(struct session *s, uint64_t set, const struct stored_payload *payload)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_ARG_SET] = (int64_t)set;
	v[COLUMN_ARG_INTEGER] = payload->number;
	v[COLUMN_ARG_BLOB] = (int64_t)payload->blob;
	v[COLUMN_ARG_SCHEMA] = (int64_t)payload->schema;
	return session_row(s, TABLE_ARG, v, BIT(COLUMN_ARG_SET) | BIT(COLUMN_ARG_INTEGER) | BIT(COLUMN_ARG_BLOB) | BIT(COLUMN_ARG_SCHEMA));
}

void payloads_attach(struct session *s, struct event_attributes *event, const struct payload_list *list)
{
	for (uint32_t i = 0; list && i < list->count; i++) {
		if (!event->blob) {
			event->blob = list->items[i].blob;
			event->schema = list->items[i].schema;
			continue;
		}
		if (!event->args)
			event->args = ++s->next_arg_set;
		if (arg_row(s, event->args, &list->items[i]) < 0)
			event->flags |= SLICE_BLOB_LOST;
	}
	if (list && list->lost)
		event->flags |= SLICE_BLOB_LOST;
}
