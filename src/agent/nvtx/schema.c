/* Payload schemas, enumerations and scopes. Their definitions go to the recorder; of schemas
 * the agent keeps what it needs to copy a payload: where pointers and the message lie. */
#include "agent/nvtx/nvtx.h"

#define ENTRIES_MAX 65535u
#define FIELDS_MAX 4096u
#define ENTRY_TEXT_MAX 1000u

const struct nvtx_schema *nvtx_schema_find(uint32_t domain, uint64_t id)
{
	if (id < NVTX_ID_STATIC_START)
		return NULL;
	return (const struct nvtx_schema *)nvtx_find_number(NVTX_NODE_SCHEMA, domain, id);
}

/* The attributes with everything cleared that the program did not set. */
static struct nvtx_schema_attributes set_only(const struct nvtx_schema_attributes *given)
{
	struct nvtx_schema_attributes a = { .fields = given->fields };

	if (a.fields & NVTX_SCHEMA_HAS_NAME)
		a.name = given->name;
	if (a.fields & NVTX_SCHEMA_HAS_TYPE)
		a.type = given->type;
	if (a.fields & NVTX_SCHEMA_HAS_FLAGS)
		a.flags = given->flags;
	if (a.fields & NVTX_SCHEMA_HAS_ENTRIES)
		a.entries = given->entries;
	if ((a.fields & NVTX_SCHEMA_HAS_ENTRY_COUNT) && a.entries)
		a.entry_count = given->entry_count < ENTRIES_MAX ? given->entry_count : ENTRIES_MAX;
	if (a.fields & NVTX_SCHEMA_HAS_SIZE)
		a.static_size = given->static_size;
	if (a.fields & NVTX_SCHEMA_HAS_ALIGN)
		a.pack_align = given->pack_align;
	if (a.fields & NVTX_SCHEMA_HAS_ID)
		a.id = given->id;
	return a;
}

static const struct nvtx_schema *nested_in(uint32_t domain, const struct nvtx_schema_entry *entry)
{
	if (entry->flags & (NVTX_ENTRY_POINTER | NVTX_ENTRY_ARRAY_MASK))
		return NULL;
	return nvtx_schema_find(domain, entry->type);
}

static uint32_t count_fields(uint32_t domain, const struct nvtx_schema_attributes *a)
{
	uint64_t count = 0;

	for (size_t i = 0; i < a->entry_count; i++) {
		const struct nvtx_schema *nested = nested_in(domain, &a->entries[i]);

		count += nested ? nested->field_count : 1;
	}
	return count < FIELDS_MAX ? (uint32_t)count : FIELDS_MAX;
}

static void add_field(struct nvtx_schema *schema, struct nvtx_field field)
{
	schema->fields[schema->field_count++] = field;
	if (field.type == NVTX_TYPE_REGISTERED || (field.flags & NVTX_FIELD_TEXT_POINTER))
		schema->touches_pointers = 1;
}

/* Inner fields keep their place in the inner schema in the upper half of `entry`. */
static void add_nested(struct nvtx_schema *schema, const struct nvtx_schema *nested, uint32_t entry, uint32_t position, uint32_t room)
{
	for (uint32_t i = 0; i < nested->field_count && schema->field_count < room; i++) {
		struct nvtx_field field = nested->fields[i];

		field.entry = entry | (field.entry + 1) << 16;
		if (position == UINT32_MAX || field.position == UINT32_MAX)
			field.position = UINT32_MAX;
		else
			field.position += position;
		add_field(schema, field);
	}
}

static void add_entries(struct nvtx_schema *schema, uint32_t domain, const struct nvtx_schema_attributes *a, uint32_t room)
{
	struct nvtx_layout layout;

	nvtx_layout_begin(&layout, domain, a->type, (uint32_t)a->pack_align);
	for (size_t i = 0; i < a->entry_count; i++) {
		const struct nvtx_schema_entry *entry = &a->entries[i];
		const struct nvtx_schema *nested = nested_in(domain, entry);
		struct nvtx_field field = { .type = entry->type, .entry = (uint32_t)i, .flags = (uint32_t)entry->flags & NVTX_ENTRY_FLAGS };

		nvtx_layout_next(&layout, entry, &field.position, &field.width);
		if (nvtx_entry_is_text_pointer(entry))
			field.flags |= NVTX_FIELD_TEXT_POINTER;
		/* Which member of a union is alive is not looked at. */
		if (layout.is_union || schema->field_count >= room)
			continue;
		if (nested)
			add_nested(schema, nested, field.entry, field.position, room);
		else
			add_field(schema, field);
	}
	schema->align = layout.align;
	schema->size = nvtx_layout_size(&layout);
	if (a->static_size && a->static_size <= NVTX_LAYOUT_MAX)
		schema->size = (uint32_t)a->static_size;
	else if (a->type == NVTX_SCHEMA_DYNAMIC)
		schema->size = 0;
}

/* A text behind the fixed parts of a definition, as much of it as there is room for. */
static uint32_t put_schema_text(uint8_t **at, const uint8_t *end, const char *text)
{
	size_t room = (size_t)(end - *at), size;

	if (!text)
		return 0;
	size = arch_text_length(text, room < ENTRY_TEXT_MAX ? room : ENTRY_TEXT_MAX);
	arch_copy(*at, text, size);
	*at += size;
	return (uint32_t)size;
}

static uint32_t text_room(const char *text)
{
	return text ? (uint32_t)arch_text_length(text, ENTRY_TEXT_MAX) : 0;
}

static uint32_t entry_room(const struct nvtx_schema_entry *entry)
{
	return (uint32_t)sizeof(struct nvtx_wire_entry) + text_room(entry->name) + text_room(entry->description);
}

static uint32_t count_semantics(const struct nvtx_schema_attributes *a)
{
	uint32_t count = 0;

	for (size_t i = 0; i < a->entry_count; i++)
		count += a->entries[i].semantics != NULL;
	return count;
}

/* Writes entries from `first` on, as many as fit in one record; returns how many or -1. */
static int define_schema_piece(const struct nvtx_definition *what, const struct nvtx_schema_attributes *a, size_t first,
			       struct nvtx_layout *layout)
{
	struct nvtx_wire_schema *head;
	struct nvtx_wire_entry *wire;
	uint32_t count = 0, size = sizeof(*head) + (first == 0 ? text_room(a->name) : 0);
	uint8_t *at, *end;

	for (; first + count < a->entry_count; count++) {
		uint32_t more = entry_room(&a->entries[first + count]);

		if (size + more > NVTX_WIRE_PIECE_MAX)
			break;
		size += more;
	}
	head = nvtx_define_begin(what, size);
	if (!head)
		return -1;
	/* clang-format off */
	*head = (struct nvtx_wire_schema){
		.type = a->type, .flags = a->flags, .static_size = a->static_size,
		.pack_align = (uint32_t)a->pack_align, .entries = (uint32_t)a->entry_count,
		.first = (uint32_t)first, .count = count, .semantics = count_semantics(a),
	};
	/* clang-format on */
	wire = (struct nvtx_wire_entry *)(head + 1);
	at = (uint8_t *)(wire + count);
	end = (uint8_t *)head + size;
	if (first == 0)
		head->name_size = put_schema_text(&at, end, a->name);
	for (uint32_t i = 0; i < count; i++) {
		const struct nvtx_schema_entry *entry = &a->entries[first + i];

		wire[i] = (struct nvtx_wire_entry){
			.flags = entry->flags, .type = entry->type, .detail = entry->detail, .offset = entry->offset
		};
		nvtx_layout_next(layout, entry, &wire[i].position, &wire[i].width);
		wire[i].name_size = (uint16_t)put_schema_text(&at, end, entry->name);
		wire[i].description_size = (uint16_t)put_schema_text(&at, end, entry->description);
	}
	nvtx_define_end(what, head, (uint32_t)(at - (uint8_t *)head));
	return (int)count;
}

static void define_schema(uint32_t domain, struct nvtx_schema *schema, const struct nvtx_schema_attributes *a)
{
	struct nvtx_definition what = { .kind = DEFINE_SCHEMA, .domain = domain, .id = schema->id };
	struct nvtx_layout layout;
	size_t done = 0;

	if (atomic_load_explicit(&schema->node.defined, memory_order_relaxed))
		return;
	nvtx_layout_begin(&layout, domain, a->type, (uint32_t)a->pack_align);
	do {
		int count = define_schema_piece(&what, a, done, &layout);

		if (count < 0)
			return;
		done += (size_t)count;
	} while (done < a->entry_count);
	atomic_store_explicit(&schema->node.defined, 1, memory_order_relaxed);
}

uint64_t nvtx_schema_register(struct nvtx_domain *domain, const struct nvtx_schema_attributes *attributes)
{
	uint32_t domain_id = nvtx_domain_id(domain), room;
	struct nvtx_schema_attributes a;
	struct nvtx_schema *schema = NULL;

	if (!attributes || !nvtx_defining())
		return 0;
	a = set_only(attributes);
	if (a.id >= NVTX_ID_STATIC_START)
		schema = (struct nvtx_schema *)nvtx_find_number(NVTX_NODE_SCHEMA, domain_id, a.id);
	else
		a.id = nvtx_dynamic_id();
	if (!schema) {
		room = count_fields(domain_id, &a);
		schema = agent_permanent(sizeof(*schema) + room * sizeof(schema->fields[0]));
		if (!schema)
			return 0;
		add_entries(schema, domain_id, &a, room);
		schema = (struct nvtx_schema *)nvtx_insert_number(NVTX_NODE_SCHEMA, domain_id, a.id, &schema->node);
	}
	define_schema(domain_id, schema, &a);
	return schema->id;
}

static struct nvtx_enum_attributes enum_set_only(const struct nvtx_enum_attributes *given)
{
	struct nvtx_enum_attributes a = { .fields = given->fields };

	if (a.fields & NVTX_ENUM_HAS_NAME)
		a.name = given->name;
	if (a.fields & NVTX_ENUM_HAS_ENTRIES)
		a.entries = given->entries;
	if ((a.fields & NVTX_ENUM_HAS_ENTRY_COUNT) && a.entries)
		a.entry_count = given->entry_count < ENTRIES_MAX ? given->entry_count : ENTRIES_MAX;
	if (a.fields & NVTX_ENUM_HAS_SIZE)
		a.size = given->size;
	if (a.fields & NVTX_ENUM_HAS_ID)
		a.id = given->id;
	return a;
}

static int define_enum_piece(const struct nvtx_definition *what, const struct nvtx_enum_attributes *a, size_t first)
{
	struct nvtx_wire_enum *head;
	struct nvtx_wire_enum_entry *wire;
	uint32_t count = 0, size = sizeof(*head) + (first == 0 ? text_room(a->name) : 0);
	uint8_t *at, *end;

	for (; first + count < a->entry_count; count++) {
		uint32_t more = (uint32_t)sizeof(*wire) + text_room(a->entries[first + count].name);

		if (size + more > NVTX_WIRE_PIECE_MAX)
			break;
		size += more;
	}
	head = nvtx_define_begin(what, size);
	if (!head)
		return -1;
	*head = (struct nvtx_wire_enum){ .size = a->size, .entries = (uint32_t)a->entry_count, .first = (uint32_t)first, .count = count };
	wire = (struct nvtx_wire_enum_entry *)(head + 1);
	at = (uint8_t *)(wire + count);
	end = (uint8_t *)head + size;
	if (first == 0)
		head->name_size = put_schema_text(&at, end, a->name);
	for (uint32_t i = 0; i < count; i++) {
		const struct nvtx_enum_entry *entry = &a->entries[first + i];

		wire[i] = (struct nvtx_wire_enum_entry){ .value = entry->value, .is_flag = entry->is_flag != 0 };
		wire[i].name_size = (uint16_t)put_schema_text(&at, end, entry->name);
	}
	nvtx_define_end(what, head, (uint32_t)(at - (uint8_t *)head));
	return (int)count;
}

/* For payloads an enumeration is a number of its size. */
static struct nvtx_schema *enum_node(uint32_t domain, const struct nvtx_enum_attributes *a)
{
	struct nvtx_schema *schema = agent_permanent(sizeof(*schema) + sizeof(schema->fields[0]));

	if (!schema)
		return NULL;
	schema->size = schema->align = a->size <= 16 ? (uint32_t)a->size : 0;
	if (schema->size)
		add_field(schema, (struct nvtx_field){ .type = nvtx_unsigned_of_size(schema->size), .width = schema->size });
	return (struct nvtx_schema *)nvtx_insert_number(NVTX_NODE_SCHEMA, domain, a->id, &schema->node);
}

uint64_t nvtx_enum_register(struct nvtx_domain *domain, const struct nvtx_enum_attributes *attributes)
{
	struct nvtx_definition what = { .kind = DEFINE_ENUM, .domain = nvtx_domain_id(domain) };
	struct nvtx_enum_attributes a;
	struct nvtx_schema *node = NULL;
	size_t done = 0;

	if (!attributes || !nvtx_defining())
		return 0;
	a = enum_set_only(attributes);
	if (a.id >= NVTX_ID_STATIC_START)
		node = (struct nvtx_schema *)nvtx_find_number(NVTX_NODE_SCHEMA, what.domain, a.id);
	else
		a.id = nvtx_dynamic_id();
	if (!node)
		node = enum_node(what.domain, &a);
	what.id = a.id;
	if (!node || atomic_load_explicit(&node->node.defined, memory_order_relaxed))
		return a.id;
	do {
		int count = define_enum_piece(&what, &a, done);

		if (count < 0)
			return a.id;
		done += (size_t)count;
	} while (done < a.entry_count);
	atomic_store_explicit(&node->node.defined, 1, memory_order_relaxed);
	return a.id;
}

uint64_t nvtx_scope_register(struct nvtx_domain *domain, const struct nvtx_scope_attributes *attributes)
{
	struct nvtx_definition what = { .kind = DEFINE_SCOPE, .domain = nvtx_domain_id(domain) };
	struct nvtx_scope_attributes all = { 0 };
	struct nvtx_text path;

	if (!attributes || !nvtx_defining())
		return 0;
	arch_copy(&all, attributes, attributes->struct_size < sizeof(all) ? attributes->struct_size : sizeof(all));
	what.id = all.id >= NVTX_ID_STATIC_START ? all.id : nvtx_dynamic_id();
	what.extra = all.parent;
	path = nvtx_text_ascii(all.path);
	nvtx_define(&what, NULL, 0, &path);
	return what.id;
}
