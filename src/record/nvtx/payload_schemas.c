/* Payload schemas and enumerations: several records may describe one. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "fmt/nvtx_wire.h"
#include "record/nvtx/definitions.h"

/* Texts lie behind the fixed part, one after the other. */
struct texts {
	const uint8_t *at;
	size_t left;
};

/* 0 when the body is too short. */
static int take_schema_text(struct session *s, struct texts *texts, size_t size, int64_t *ret)
{
	if (size > texts->left)
		return 0;
	*ret = size ? (int64_t)report_string(s->writer, (const char *)texts->at, size) : 0;
	texts->at += size;
	texts->left -= size;
	return 1;
}

static void schema_row(struct session *s, uint64_t process, uint64_t domain, uint64_t id, const struct nvtx_wire_schema *schema,
		       int64_t name)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BITS_TO(COLUMN_NVTX_SCHEMA_ALIGN);

	v[COLUMN_NVTX_SCHEMA_PROCESS] = (int64_t)process;
	v[COLUMN_NVTX_SCHEMA_DOMAIN] = (int64_t)domain;
	v[COLUMN_NVTX_SCHEMA_ID] = (int64_t)id;
	v[COLUMN_NVTX_SCHEMA_NAME] = name;
	v[COLUMN_NVTX_SCHEMA_TYPE] = (int64_t)schema->type;
	v[COLUMN_NVTX_SCHEMA_FLAGS] = (int64_t)schema->flags;
	v[COLUMN_NVTX_SCHEMA_ENTRIES] = schema->entries;
	v[COLUMN_NVTX_SCHEMA_SIZE] = (int64_t)schema->static_size;
	v[COLUMN_NVTX_SCHEMA_ALIGN] = schema->pack_align;
	if (!name)
		present &= ~BIT(COLUMN_NVTX_SCHEMA_NAME);
	session_row(s, TABLE_NVTX_SCHEMA, v, present);
}

static int entry_row(struct session *s, uint64_t process, uint64_t domain, uint64_t id, uint32_t index, const struct nvtx_wire_entry *entry,
		     struct texts *texts)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BITS_TO(COLUMN_NVTX_SCHEMA_ENTRY_OFFSET);

	if (!take_schema_text(s, texts, entry->name_size, &v[COLUMN_NVTX_SCHEMA_ENTRY_NAME]) ||
	    !take_schema_text(s, texts, entry->description_size, &v[COLUMN_NVTX_SCHEMA_ENTRY_DESCRIPTION]))
		return -EBADMSG;
	v[COLUMN_NVTX_SCHEMA_ENTRY_PROCESS] = (int64_t)process;
	v[COLUMN_NVTX_SCHEMA_ENTRY_DOMAIN] = (int64_t)domain;
	v[COLUMN_NVTX_SCHEMA_ENTRY_SCHEMA] = (int64_t)id;
	v[COLUMN_NVTX_SCHEMA_ENTRY_INDEX] = index;
	v[COLUMN_NVTX_SCHEMA_ENTRY_FLAGS] = (int64_t)entry->flags;
	v[COLUMN_NVTX_SCHEMA_ENTRY_TYPE] = (int64_t)entry->type;
	v[COLUMN_NVTX_SCHEMA_ENTRY_DETAIL] = (int64_t)entry->detail;
	/* Where the entry lies in the payload; as registered where that is not known. */
	v[COLUMN_NVTX_SCHEMA_ENTRY_OFFSET] = entry->position != UINT32_MAX ? entry->position : (int64_t)entry->offset;
	if (!entry->name_size)
		present &= ~BIT(COLUMN_NVTX_SCHEMA_ENTRY_NAME);
	if (!entry->description_size)
		present &= ~BIT(COLUMN_NVTX_SCHEMA_ENTRY_DESCRIPTION);
	session_row(s, TABLE_NVTX_SCHEMA_ENTRY, v, present);
	return 0;
}

int schema_record(struct session *s, uint64_t process, uint64_t domain, uint64_t id, const uint8_t *body, size_t size)
{
	struct nvtx_wire_schema schema;
	struct nvtx_wire_entry entry;
	struct texts texts;
	size_t fixed;
	int64_t name;

	if (size < sizeof(schema))
		return -EBADMSG;
	memcpy(&schema, body, sizeof(schema));
	if (schema.count > (size - sizeof(schema)) / sizeof(entry))
		return -EBADMSG;
	fixed = sizeof(schema) + schema.count * sizeof(entry);
	texts = (struct texts){ body + fixed, size - fixed };
	if (!take_schema_text(s, &texts, schema.name_size, &name))
		return -EBADMSG;
	if (schema.first == 0)
		schema_row(s, process, domain, id, &schema, name);
	for (uint32_t i = 0; i < schema.count; i++) {
		memcpy(&entry, body + sizeof(schema) + i * sizeof(entry), sizeof(entry));
		if (entry_row(s, process, domain, id, schema.first + i, &entry, &texts) < 0)
			return -EBADMSG;
	}
	return 0;
}

static void enum_row(struct session *s, uint64_t process, uint64_t domain, uint64_t id, const struct nvtx_wire_enum *e, int64_t name)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BITS_TO(COLUMN_NVTX_ENUM_SIZE);

	v[COLUMN_NVTX_ENUM_PROCESS] = (int64_t)process;
	v[COLUMN_NVTX_ENUM_DOMAIN] = (int64_t)domain;
	v[COLUMN_NVTX_ENUM_SCHEMA] = (int64_t)id;
	v[COLUMN_NVTX_ENUM_NAME] = name;
	v[COLUMN_NVTX_ENUM_ENTRIES] = e->entries;
	v[COLUMN_NVTX_ENUM_SIZE] = (int64_t)e->size;
	if (!name)
		present &= ~BIT(COLUMN_NVTX_ENUM_NAME);
	session_row(s, TABLE_NVTX_ENUM, v, present);
}

static int enum_entry_row(struct session *s, uint64_t process, uint64_t domain, uint64_t id, uint32_t index,
			  const struct nvtx_wire_enum_entry *entry, struct texts *texts)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BITS_TO(COLUMN_NVTX_ENUM_ENTRY_IS_FLAG);

	if (!take_schema_text(s, texts, entry->name_size, &v[COLUMN_NVTX_ENUM_ENTRY_NAME]))
		return -EBADMSG;
	v[COLUMN_NVTX_ENUM_ENTRY_PROCESS] = (int64_t)process;
	v[COLUMN_NVTX_ENUM_ENTRY_DOMAIN] = (int64_t)domain;
	v[COLUMN_NVTX_ENUM_ENTRY_SCHEMA] = (int64_t)id;
	v[COLUMN_NVTX_ENUM_ENTRY_INDEX] = index;
	v[COLUMN_NVTX_ENUM_ENTRY_VALUE] = (int64_t)entry->value;
	v[COLUMN_NVTX_ENUM_ENTRY_IS_FLAG] = entry->is_flag;
	if (!entry->name_size)
		present &= ~BIT(COLUMN_NVTX_ENUM_ENTRY_NAME);
	session_row(s, TABLE_NVTX_ENUM_ENTRY, v, present);
	return 0;
}

int enum_record(struct session *s, uint64_t process, uint64_t domain, uint64_t id, const uint8_t *body, size_t size)
{
	struct nvtx_wire_enum e;
	struct nvtx_wire_enum_entry entry;
	struct texts texts;
	size_t fixed;
	int64_t name;

	if (size < sizeof(e))
		return -EBADMSG;
	memcpy(&e, body, sizeof(e));
	if (e.count > (size - sizeof(e)) / sizeof(entry))
		return -EBADMSG;
	fixed = sizeof(e) + e.count * sizeof(entry);
	texts = (struct texts){ body + fixed, size - fixed };
	if (!take_schema_text(s, &texts, e.name_size, &name))
		return -EBADMSG;
	if (e.first == 0)
		enum_row(s, process, domain, id, &e, name);
	for (uint32_t i = 0; i < e.count; i++) {
		memcpy(&entry, body + sizeof(e) + i * sizeof(entry), sizeof(entry));
		if (enum_entry_row(s, process, domain, id, e.first + i, &entry, &texts) < 0)
			return -EBADMSG;
	}
	return 0;
}
