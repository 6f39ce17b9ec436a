#include "query/payload/payload.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/payload/walk.h"

#define MAX_DIMENSIONS 8u
#define MAX_PLACES 64
#define STEPS_ALWAYS (1u << 23)
#define STEPS_PER_BYTE 64 /* of the file, which is packed */
#define NO_MEMBER (-1)

/* A structure being shown. Entries after one whose length the data says are found by walking: the places
 * of the first are remembered, because lengths and selectors refer to them. */
struct frame {
	const int64_t *schema;
	size_t base;
	size_t first; /* entries in the index */
	size_t limit;
	size_t places[MAX_PLACES];
};

struct dimensions {
	uint64_t lengths[MAX_DIMENSIONS];
	unsigned count;
};

static int append_schema(struct walk *w, const int64_t *schema, size_t at, int64_t selected, size_t *end);

static int append_null(struct walk *w)
{
	return buf_puts(w->json, "null");
}

static size_t advance(size_t at, size_t by)
{
	return at == NOWHERE || by >= NOWHERE - at ? NOWHERE : at + by;
}

/* The entry of that number in the structure and where it lies; NULL when there is none. */
static const int64_t *other_entry(struct walk *w, const struct frame *f, int64_t index, size_t *ret_at)
{
	int64_t key[] = { f->schema[SCHEMA_PROCESS], f->schema[SCHEMA_DOMAIN], f->schema[SCHEMA_ID], index };
	const int64_t *entry = index_find_last(&w->q->index.payload_entries, key, 4);

	if (!entry || index < 0)
		return NULL;
	if (entry[ENTRY_OFFSET] > 0)
		*ret_at = advance(f->base, (size_t)entry[ENTRY_OFFSET]);
	else
		*ret_at = index < MAX_PLACES ? f->places[index] : NOWHERE;
	return entry;
}

/* A length that does not make sense ends the list. */
static void read_lengths(struct walk *w, int64_t type, size_t at, uint64_t count, int zero_ends, struct dimensions *ret)
{
	size_t width = type_extent(w, type).size;
	uint64_t length;

	ret->count = 0;
	for (uint64_t i = 0; i < count && ret->count < MAX_DIMENSIONS; i++, at = advance(at, width)) {
		if (!value_integer(w, type, at, &length) || length > INT64_MAX || (zero_ends && !length))
			return;
		ret->lengths[ret->count++] = length;
	}
}

static void lengths_of_entry(struct walk *w, const int64_t *entry, size_t at, struct dimensions *ret)
{
	int64_t array = entry ? entry[ENTRY_FLAGS] & FLAG_ARRAY : 0;

	ret->count = 0;
	if (!entry || at == NOWHERE || entry[ENTRY_FLAGS] & (FLAG_POINTER | FLAG_OFFSETS))
		return;
	if (array == 0)
		read_lengths(w, entry[ENTRY_TYPE], at, 1, 0, ret);
	else if (array == FLAG_ARRAY_FIXED)
		read_lengths(w, entry[ENTRY_TYPE], at, (uint64_t)entry[ENTRY_DETAIL], 0, ret);
	else if (array == FLAG_ARRAY_ZERO)
		read_lengths(w, entry[ENTRY_TYPE], at, MAX_DIMENSIONS, 1, ret);
}

/* The payload of that number in the call the current one came with; NULL. Numbers rise within a call. */
static const struct event_payload *payload_of_call(const struct walk *w, int64_t number)
{
	const struct event_payload *all = w->payloads;
	size_t i = w->current;

	while (i > 0 && all[i - 1].number < all[i].number)
		i--;
	do {
		if (all[i].number == number)
			return &all[i];
		i++;
	} while (i < w->count && all[i].number > all[i - 1].number);
	return NULL;
}

/* The other payload is a number, numbers, or a structure that begins with them. */
static void lengths_of_payload(struct walk *w, int64_t number, struct dimensions *ret)
{
	const struct event_payload *other = payload_of_call(w, number);
	const int64_t *schema = other ? walk_schema(w, other->schema) : NULL;
	size_t len = w->len, width = other ? type_size(other->schema) : 0, first, limit;
	const uint8_t *data = w->data;

	ret->count = 0;
	if (!other)
		return;
	w->data = other->data;
	w->len = other->len;
	if (schema) {
		walk_entries(w, schema, &first, &limit);
		if (first < limit && walk_entry(w, first)[ENTRY_OFFSET] >= 0)
			lengths_of_entry(w, walk_entry(w, first), (size_t)walk_entry(w, first)[ENTRY_OFFSET], ret);
	} else if (width) {
		read_lengths(w, other->schema, 0, w->len / width, 0, ret);
	}
	w->data = data;
	w->len = len;
}

/* Elements up to one whose bytes are all zero. */
static uint64_t count_to_zero(struct walk *w, size_t at, size_t size)
{
	uint64_t count = 0;
	size_t zeros;

	for (; walk_has(w, at, size); at += size, count++) {
		for (zeros = 0; zeros < size && !w->data[at + zeros];)
			zeros++;
		if (zeros == size || walk_spend(w, 1 + zeros / 8) < 0)
			break;
	}
	return count;
}

/* How many elements the entry has, by its flags; no dimension when that cannot be found out. */
static void find_dimensions(struct walk *w, const struct frame *f, const int64_t *entry, size_t at, size_t size, struct dimensions *ret)
{
	const int64_t *other;
	size_t place = NOWHERE;

	ret->count = 0;
	switch (entry[ENTRY_FLAGS] & FLAG_ARRAY) {
	case FLAG_ARRAY_FIXED:
		ret->lengths[0] = entry[ENTRY_DETAIL] < 0 ? 0 : (uint64_t)entry[ENTRY_DETAIL];
		ret->count = 1;
		return;
	case FLAG_ARRAY_ZERO:
		ret->lengths[0] = size ? count_to_zero(w, at, size) : 0;
		ret->count = size != 0;
		return;
	case FLAG_ARRAY_LENGTH:
		other = other_entry(w, f, entry[ENTRY_DETAIL], &place);
		lengths_of_entry(w, other, place, ret);
		return;
	case FLAG_ARRAY_PAYLOAD: lengths_of_payload(w, entry[ENTRY_DETAIL], ret); return;
	default: return;
	}
}

/* All dimensions together; no more than INT64_MAX. */
static uint64_t multiply_dimensions(const struct dimensions *d)
{
	uint64_t all = 1;

	for (unsigned i = 0; i < d->count; i++) {
		if (d->lengths[i] == 0)
			return 0;
		all = all > INT64_MAX / d->lengths[i] ? INT64_MAX : all * d->lengths[i];
	}
	return all;
}

static size_t array_end(size_t at, uint64_t count, size_t size)
{
	return size && count < (NOWHERE - 1) / size ? advance(at, (size_t)count * size) : NOWHERE;
}

/* One value: a number, a name, a structure. */
static int append_one(struct walk *w, const struct frame *f, const int64_t *entry, size_t at, size_t *end)
{
	const int64_t *schema = walk_schema(w, entry[ENTRY_TYPE]), *selector;
	int64_t selected = NO_MEMBER;
	uint64_t value;
	size_t place;

	if (!schema || walk_enum(w, entry[ENTRY_TYPE])) {
		size_t size = type_extent(w, entry[ENTRY_TYPE]).size;

		*end = size ? advance(at, size) : NOWHERE;
		return value_append(w, entry[ENTRY_TYPE], at);
	}
	if (schema[SCHEMA_TYPE] == SCHEMA_UNION && !(entry[ENTRY_FLAGS] & FLAG_ARRAY)) {
		selector = other_entry(w, f, entry[ENTRY_DETAIL], &place);
		if (selector && selector != entry && !(selector[ENTRY_FLAGS] & (FLAG_ARRAY | FLAG_POINTER | FLAG_OFFSETS)) &&
		    value_integer(w, selector[ENTRY_TYPE], place, &value) && value <= INT64_MAX)
			selected = (int64_t)value;
	}
	return append_schema(w, schema, at, selected, end);
}

/* One level of an array; `at` moves on. Elements that do not lie inside end it. */
static int append_elements(struct walk *w, const struct frame *f, const int64_t *entry, const struct dimensions *d, unsigned level,
			   size_t size, size_t *at)
{
	TRY(buf_puts(w->json, "["));
	for (uint64_t i = 0; i < d->lengths[level]; i++) {
		size_t begin = *at;

		if (!walk_has(w, *at, size ? size : 1))
			break;
		TRY(walk_step(w));
		if (i)
			TRY(buf_puts(w->json, ","));
		if (level + 1 < d->count)
			TRY(append_elements(w, f, entry, d, level + 1, size, at));
		else
			TRY(append_one(w, f, entry, *at, at));
		if (*at == begin) /* nothing can follow what takes no room */
			break;
	}
	return buf_puts(w->json, "]");
}

static int append_array(struct walk *w, const struct frame *f, const int64_t *entry, size_t at, size_t *end)
{
	size_t size = type_extent(w, entry[ENTRY_TYPE]).size, character = character_size(entry[ENTRY_TYPE]), stop = at;
	int zero_ends = (entry[ENTRY_FLAGS] & FLAG_ARRAY) == FLAG_ARRAY_ZERO, r;
	struct dimensions d;
	uint64_t count;

	find_dimensions(w, f, entry, at, size, &d);
	*end = NOWHERE;
	if (d.count == 0)
		return append_null(w);
	count = multiply_dimensions(&d);
	if (at > w->len || (count && !walk_has(w, at, size ? size : 1)))
		return append_null(w);
	if (size)
		*end = array_end(at, count + (zero_ends ? 1 : 0), size);
	if (character)
		return value_append_text(w, at, count > w->len ? w->len : (size_t)count, character);
	if (entry[ENTRY_TYPE] == TYPE_BYTE)
		return value_append_hex(w, at, count > w->len - at ? w->len - at : (size_t)count);
	if (count == 0)
		r = buf_puts(w->json, "[]");
	else
		r = append_elements(w, f, entry, &d, 0, size, &stop);
	if (!size)
		*end = stop;
	return r;
}

/* Texts of a fixed size, up to an empty one. */
static int append_text_list(struct walk *w, size_t at, size_t units, size_t width, size_t *end)
{
	size_t size = units * width, count = (size_t)count_to_zero(w, at, size);

	TRY(buf_puts(w->json, "["));
	for (size_t i = 0; i < count; i++) {
		TRY(walk_step(w));
		if (i)
			TRY(buf_puts(w->json, ","));
		TRY(value_append_text(w, at + i * size, units, width));
	}
	*end = array_end(at, (uint64_t)count + 1, size);
	return buf_puts(w->json, "]");
}

static int append_text(struct walk *w, const struct frame *f, const int64_t *entry, size_t at, size_t *end)
{
	size_t width = character_size(entry[ENTRY_TYPE]);
	int64_t array = entry[ENTRY_FLAGS] & FLAG_ARRAY;
	struct dimensions d = { { entry[ENTRY_DETAIL] < 0 ? 0 : (uint64_t)entry[ENTRY_DETAIL] }, 1 };
	uint64_t units;

	if (array == FLAG_ARRAY_ZERO && entry[ENTRY_DETAIL] > 0) {
		*end = NOWHERE;
		if ((uint64_t)entry[ENTRY_DETAIL] > w->len)
			return append_null(w);
		return append_text_list(w, at, (size_t)entry[ENTRY_DETAIL], width, end);
	}
	if (array)
		find_dimensions(w, f, entry, at, width, &d);
	units = multiply_dimensions(&d);
	*end = d.count ? array_end(at, units + (array == FLAG_ARRAY_ZERO ? 1 : 0), width) : NOWHERE;
	if (!d.count || (units && !walk_has(w, at, 1)))
		return append_null(w);
	return value_append_text(w, at, units > w->len ? w->len : (size_t)units, width);
}

/* The value of an entry; `end` is where the next may begin. */
static int append_entry(struct walk *w, const struct frame *f, const int64_t *entry, size_t at, size_t *end)
{
	int64_t type = entry[ENTRY_TYPE];

	*end = NOWHERE;
	if (at == NOWHERE || entry[ENTRY_FLAGS] & FLAG_OFFSETS)
		return append_null(w);
	if (entry_is_copied_text(entry)) {
		*end = advance(at, type_size(TYPE_ADDRESS));
		return value_append_copied_text(w, at);
	}
	/* What other pointers lead to is not in the report: the address is what there is. */
	if (entry[ENTRY_FLAGS] & FLAG_POINTER || (type_is_text(type) && !(entry[ENTRY_FLAGS] & FLAG_ARRAY) && !entry[ENTRY_DETAIL])) {
		*end = advance(at, type_size(TYPE_ADDRESS));
		return type_is_text(type) ? append_null(w) : value_append(w, TYPE_ADDRESS, at);
	}
	if (type_is_text(type))
		return append_text(w, f, entry, at, end);
	if (entry[ENTRY_FLAGS] & FLAG_ARRAY)
		return append_array(w, f, entry, at, end);
	return append_one(w, f, entry, at, end);
}

static int append_name(struct walk *w, const int64_t *entry)
{
	size_t len;
	const char *name = report_text(w->q->report, (uint64_t)entry[ENTRY_NAME], &len);

	if (name)
		return value_append_string(w, name, len);
	return buf_printf(w->json, "\"%" PRId64 "\"", entry[ENTRY_INDEX]);
}

/* Where an entry lies: as registered or worked out by the agent, else behind the last one by
 * natural alignment. */
static size_t place_entry(struct walk *w, const struct frame *f, const int64_t *entry, size_t end)
{
	size_t align, at;

	if (entry[ENTRY_OFFSET] > 0)
		return advance(f->base, (size_t)entry[ENTRY_OFFSET]);
	if (f->schema[SCHEMA_TYPE] >= SCHEMA_UNION)
		return f->base;
	if (end == NOWHERE)
		return NOWHERE;
	align = entry_extent(w, entry).align;
	if (f->schema[SCHEMA_ALIGN] > 0 && align > (uint64_t)f->schema[SCHEMA_ALIGN])
		align = (size_t)f->schema[SCHEMA_ALIGN];
	at = end - f->base;
	return align > 1 ? advance(end, (align - at % align) % align) : end;
}

/* The member an entry of the union itself selects. */
static int64_t inner_selection(struct walk *w, const struct frame *f)
{
	uint64_t value;
	size_t at;

	for (size_t i = f->first; i < f->limit; i++) {
		const int64_t *entry = walk_entry(w, i);

		if (entry[ENTRY_TYPE] != TYPE_SELECTOR || entry[ENTRY_OFFSET] < 0)
			continue;
		at = advance(f->base, (size_t)entry[ENTRY_OFFSET]);
		if (value_integer(w, TYPE_SELECTOR, at, &value) && (int64_t)value != entry[ENTRY_INDEX])
			return (int64_t)value;
		break;
	}
	return NO_MEMBER;
}

static int append_fields(struct walk *w, struct frame *f, int64_t selected, size_t *ret_end)
{
	const char *separator = "{";
	size_t at, end = f->base;

	*ret_end = f->base;
	/* A number beyond the members selects nothing: all are shown. */
	if (f->first < f->limit && selected > walk_entry(w, f->limit - 1)[ENTRY_INDEX])
		selected = NO_MEMBER;
	for (size_t i = f->first; i < f->limit; i++) {
		const int64_t *entry = walk_entry(w, i);

		/* Defined twice: the agent was not sure that the first time came through. */
		if (i > f->first && entry[ENTRY_INDEX] == walk_entry(w, i - 1)[ENTRY_INDEX])
			continue;
		at = place_entry(w, f, entry, end);
		if (entry[ENTRY_INDEX] >= 0 && entry[ENTRY_INDEX] < MAX_PLACES)
			f->places[entry[ENTRY_INDEX]] = at;
		if (selected != NO_MEMBER && entry[ENTRY_INDEX] != selected)
			continue;
		TRY(walk_step(w));
		TRY(buf_puts(w->json, separator));
		TRY(append_name(w, entry));
		TRY(buf_puts(w->json, ":"));
		TRY(append_entry(w, f, entry, at, &end));
		separator = ",";
		if (*ret_end != NOWHERE && (end == NOWHERE || end > *ret_end))
			*ret_end = end;
	}
	return separator[0] == '{' ? buf_puts(w->json, "{}") : buf_puts(w->json, "}");
}

static int append_schema(struct walk *w, const int64_t *schema, size_t at, int64_t selected, size_t *end)
{
	struct frame f = { .schema = schema, .base = at };
	size_t size;
	int r;

	*end = NOWHERE;
	TRY(walk_step(w));
	if (w->depth >= PAYLOAD_MAX_DEPTH || at > w->len)
		return append_null(w);
	for (int i = 0; i < MAX_PLACES; i++)
		f.places[i] = NOWHERE;
	walk_entries(w, schema, &f.first, &f.limit);
	if (schema[SCHEMA_TYPE] == SCHEMA_UNION_SELECTED)
		selected = inner_selection(w, &f);
	w->depth++;
	r = append_fields(w, &f, selected, end);
	w->depth--;
	size = type_extent(w, schema[SCHEMA_ID]).size;
	if (size)
		*end = advance(at, size);
	return r;
}

/* A payload of one of NVTX's own types: a text, a number, or as many as there are. */
static int append_predefined(struct walk *w, int64_t type)
{
	size_t size = type_size(type);
	struct frame none = { .base = 0 };
	int64_t entry[ENTRY_WIDTH] = { [ENTRY_TYPE] = type, [ENTRY_FLAGS] = FLAG_ARRAY_FIXED };
	size_t end;

	if (type == TYPE_RAW)
		return value_append_hex(w, 0, w->len);
	if (type_is_text(type))
		return value_append_text(w, 0, w->len, character_size(type));
	if (!size)
		return -ENOENT;
	if (w->len < 2 * size)
		return value_append(w, type, 0);
	entry[ENTRY_DETAIL] = (int64_t)(w->len / size);
	return append_array(w, &none, entry, 0, &end);
}

static int append_payload(struct walk *w, int64_t id)
{
	const int64_t *schema = walk_schema(w, id);
	size_t end;

	if (schema)
		return append_schema(w, schema, 0, NO_MEMBER, &end);
	if (walk_enum(w, id))
		return value_append(w, id, 0);
	return append_predefined(w, id);
}

uint64_t payload_steps(struct query *q)
{
	size_t size;

	report_bytes(q->report, &size);
	return STEPS_ALWAYS + (uint64_t)size * STEPS_PER_BYTE;
}

int payloads_to_json(struct buf *json, struct query *q, int64_t process, int64_t domain, const struct event_payload *payloads, size_t count,
		     uint64_t *steps)
{
	/* clang-format off */
	struct walk w = { .q = q, .json = json, .process = process, .domain = domain, .payloads = payloads, .count = count,
			  .most_steps = *steps < PAYLOAD_MAX_STEPS ? (unsigned)*steps : PAYLOAD_MAX_STEPS };
	/* clang-format on */
	int r = 0, shown = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		w.current = i;
		w.data = payloads[i].data;
		w.len = payloads[i].len;
		if (count > 1)
			r = buf_puts(json, i ? "," : "[");
		if (r >= 0)
			r = w.len > PAYLOAD_MAX_DATA ? -E2BIG : append_payload(&w, payloads[i].schema);
		shown += r >= 0;
		if (r == -ENOENT && count > 1)
			r = append_null(&w);
	}
	*steps -= w.steps;
	if (r >= 0 && count > 1)
		r = buf_puts(json, "]");
	if (r >= 0 && json->len > PAYLOAD_MAX_TEXT)
		return -E2BIG;
	TRY(r);
	return shown ? 0 : -ENOENT;
}
