/* Events with binary payloads: RECORD_NVTX_BLOB pieces, then the event (fmt/nvtx_wire.h). */
#include "agent/nvtx/nvtx.h"

#define PAYLOADS_MAX 64u

/* A piece of a payload on its way into a record: bytes [from, from + size). */
struct window {
	uint8_t *to;
	uint64_t from;
	uint32_t size;
};

/* Copies the part of `size` bytes at `at` of the payload that falls into the window. */
static void window_put(const struct window *window, uint64_t at, const void *bytes, uint64_t size)
{
	uint64_t begin = at > window->from ? at : window->from;
	uint64_t end = at + size < window->from + window->size ? at + size : window->from + window->size;

	if (begin < end)
		arch_copy(window->to + (begin - window->from), (const uint8_t *)bytes + (begin - at), end - begin);
}

static uint64_t read_pointer(const uint8_t *data, uint32_t position)
{
	uint64_t value;

	arch_copy(&value, data + position, sizeof(value));
	return value;
}

static int is_rewritten(const struct nvtx_field *field, size_t size)
{
	if (field->type != NVTX_TYPE_REGISTERED && !(field->flags & NVTX_FIELD_TEXT_POINTER))
		return 0;
	/* Arrays of handles, and what the payload is too short for, stay as they are. */
	return field->width == sizeof(uint64_t) && field->position != UINT32_MAX && size >= sizeof(uint64_t) &&
	       field->position <= size - sizeof(uint64_t);
}

/* Where a payload comes from, with its size known. */
struct source {
	const struct nvtx_schema *schema; /* NULL: nothing to rewrite */
	const uint8_t *data;
	size_t size;
};

/* Texts that pointers lead to are put behind the payload; returns where they end. Called
 * without a window it only measures. */
static uint64_t put_pointers(const struct source *source, const struct window *window)
{
	uint64_t end = source->size;

	if (!source->schema || !source->schema->touches_pointers)
		return end;
	for (uint32_t i = 0; i < source->schema->field_count; i++) {
		const struct nvtx_field *field = &source->schema->fields[i];
		uint64_t value, pointer;

		if (!is_rewritten(field, source->size))
			continue;
		pointer = read_pointer(source->data, field->position);
		value = 0;
		if (pointer && field->type == NVTX_TYPE_REGISTERED) {
			value = ((const struct nvtx_string *)(uintptr_t)pointer)->id;
		} else if (pointer) {
			const char *text = (const char *)(uintptr_t)pointer;
			size_t length = arch_text_length(text, NVTX_WIRE_TEXT_MAX);

			value = end;
			if (window) {
				window_put(window, end, text, length);
				window_put(window, end + length, "", 1);
			}
			end += length + 1;
		}
		if (window)
			window_put(window, field->position, &value, sizeof(value));
	}
	return end;
}

/* One payload in pieces; 0 on success. `number`: in the call. */
static int put_payload(uint32_t domain, uint64_t schema_id, const struct source *source, uint32_t number, uint64_t time)
{
	uint64_t total = put_pointers(source, NULL);
	uint64_t kept = total < NVTX_WIRE_PAYLOAD_MAX ? total : NVTX_WIRE_PAYLOAD_MAX;
	uint64_t done = 0;
	uint32_t left = kept ? (uint32_t)((kept - 1) / NVTX_WIRE_PIECE_MAX) : 0;

	do {
		struct window window = { .from = done, .size = (uint32_t)(kept - done) };
		struct record_blob *record;
		uint32_t size;

		if (window.size > NVTX_WIRE_PIECE_MAX)
			window.size = NVTX_WIRE_PIECE_MAX;
		size = (uint32_t)sizeof(*record) + window.size;
		record = agent_begin(size);
		if (!record)
			return -1;
		record->time = time;
		record->schema_id = schema_id;
		record->total = total;
		window.to = (uint8_t *)(record + 1);
		window_put(&window, 0, source->data, source->size);
		put_pointers(source, &window);
		agent_end(record, record_head(RECORD_NVTX_BLOB, number, size, left, domain), size);
		done += window.size;
	} while (left-- > 0);
	return 0;
}

/* Finds out the size of a payload; 0 when it cannot be known. */
static int open_source(uint32_t domain, const struct nvtx_payload *payload, struct source *ret)
{
	*ret = (struct source){ .schema = nvtx_schema_find(domain, payload->schema), .data = payload->data, .size = payload->size };
	if (!payload->data)
		return 0;
	if (payload->size != SIZE_MAX)
		return 1;
	if (ret->schema)
		ret->size = ret->schema->size;
	else if (payload->schema == NVTX_TYPE_TEXT || payload->schema == NVTX_TYPE_TEXT_UTF8)
		ret->size = arch_text_length(payload->data, NVTX_WIRE_TEXT_MAX);
	else
		ret->size = nvtx_type_size(payload->schema);
	return ret->size != 0;
}

uint32_t nvtx_payload_put(uint32_t domain, const struct nvtx_payload *payloads, size_t count, uint64_t time)
{
	uint32_t flag = 0;

	if (!payloads)
		return 0;
	for (size_t i = 0; i < count && i < PAYLOADS_MAX; i++) {
		struct source source;

		if (!open_source(domain, &payloads[i], &source))
			continue;
		if (put_payload(domain, payloads[i].schema, &source, (uint32_t)i, time))
			return NVTX_EVENT_LOST;
		flag = NVTX_FLAG_BLOB;
	}
	return flag;
}

/* The message, where the schema says which entry that is. */
static struct nvtx_text field_text(const struct nvtx_field *field, const struct source *source)
{
	struct nvtx_text none = { .type = NVTX_MESSAGE_NONE };
	const uint8_t *at = source->data + field->position;
	union nvtx_message value;

	if (field->flags & NVTX_FIELD_TEXT_POINTER) {
		value.ascii = (const char *)(uintptr_t)read_pointer(source->data, field->position);
		return nvtx_text_message(NVTX_MESSAGE_ASCII, value);
	}
	if (field->type == NVTX_TYPE_REGISTERED) {
		value.string = (struct nvtx_string *)(uintptr_t)read_pointer(source->data, field->position);
		return nvtx_text_message(NVTX_MESSAGE_REGISTERED, value);
	}
	if (field->type == NVTX_TYPE_TEXT || field->type == NVTX_TYPE_TEXT_UTF8) {
		uint32_t room = field->width < NVTX_WIRE_TEXT_MAX ? field->width : NVTX_WIRE_TEXT_MAX;

		return (struct nvtx_text){ .type = NVTX_MESSAGE_ASCII,
					   .value.ascii = (const char *)at,
					   .size = (uint32_t)arch_text_length((const char *)at, room) };
	}
	return none;
}

static void attribute_from(struct nvtx_event *event, const struct nvtx_field *field, const struct source *source)
{
	if (field->position == UINT32_MAX || field->width == 0 || (uint64_t)field->position + field->width > source->size)
		return;
	if ((field->flags & NVTX_ENTRY_KIND_MASK) == NVTX_ENTRY_MESSAGE && event->text.type == NVTX_MESSAGE_NONE)
		event->text = field_text(field, source);
	if (field->type == NVTX_TYPE_CATEGORY && field->width == sizeof(uint32_t))
		arch_copy(&event->category, source->data + field->position, sizeof(uint32_t));
	if (field->type == NVTX_TYPE_COLOR && field->width == sizeof(uint32_t)) {
		arch_copy(&event->color, source->data + field->position, sizeof(uint32_t));
		event->flags |= NVTX_FLAG_COLOR;
	}
}

/* What push, start and mark take from the payloads themselves. */
static struct nvtx_event event_of(uint32_t domain, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_event event = { .time = agent_now() };

	for (size_t i = 0; payloads && i < count && i < PAYLOADS_MAX; i++) {
		struct source source;

		if (!open_source(domain, &payloads[i], &source))
			continue;
		for (uint32_t f = 0; source.schema && f < source.schema->field_count; f++)
			attribute_from(&event, &source.schema->fields[f], &source);
		/* A bare text among the payloads can only be the message. */
		if ((payloads[i].schema == NVTX_TYPE_TEXT || payloads[i].schema == NVTX_TYPE_TEXT_UTF8) &&
		    event.text.type == NVTX_MESSAGE_NONE)
			event.text = (struct nvtx_text){
				.type = NVTX_MESSAGE_ASCII,
				.value.ascii = payloads[i].data,
				.size = (uint32_t)arch_text_length(payloads[i].data,
								   source.size < NVTX_WIRE_TEXT_MAX ? source.size : NVTX_WIRE_TEXT_MAX),
			};
	}
	event.flags |= nvtx_payload_put(domain, payloads, count, event.time);
	return event;
}

void nvtx_mark_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_event event;

	if (!agent_on(RING_GATE_NVTX))
		return;
	event = event_of(nvtx_domain_id(domain), payloads, count);
	nvtx_mark_event(nvtx_domain_id(domain), &event);
}

int nvtx_range_push_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_event event;

	if (!agent_on(RING_GATE_NVTX))
		return NVTX_UNTRACKED;
	event = event_of(nvtx_domain_id(domain), payloads, count);
	return nvtx_push_event(nvtx_domain_id(domain), &event);
}

uint64_t nvtx_range_start_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_event event;

	if (!agent_on(RING_GATE_NVTX))
		return 0;
	event = event_of(nvtx_domain_id(domain), payloads, count);
	return nvtx_start_event(nvtx_domain_id(domain), &event);
}

/* A message or colour given only at the end stays in the payload: pop and end
 * have no place for them. */
int nvtx_range_pop_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	uint32_t id = nvtx_domain_id(domain), flags = 0;
	uint64_t time;

	if (!agent_on(RING_GATE_NVTX))
		return NVTX_UNTRACKED;
	time = agent_now();
	if (nvtx_range_is_open(id))
		flags = nvtx_payload_put(id, payloads, count, time);
	return nvtx_pop_event(id, flags, time);
}

void nvtx_range_end_payload(struct nvtx_domain *domain, uint64_t range, const struct nvtx_payload *payloads, size_t count)
{
	uint32_t id = nvtx_domain_id(domain), flags = 0;
	uint64_t time;

	if (!agent_on(RING_GATE_NVTX))
		return;
	time = agent_now();
	if (range)
		flags = nvtx_payload_put(id, payloads, count, time);
	nvtx_end_event(id, range, flags, time);
}

/* Programs keep the answer, so a window that is closed now does not count. */
uint8_t nvtx_domain_is_enabled(struct nvtx_domain *domain)
{
	(void)domain;
	return nvtx_defining() ? 1 : 0;
}

int64_t nvtx_timestamp_get(void)
{
	return (int64_t)agent_now();
}
