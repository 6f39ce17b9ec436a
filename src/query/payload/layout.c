/* Where the fields of a payload lie, and the schemas that say so. */
#include <errno.h>

#include "query/payload/walk.h"

#define MAX_FORKS 32
#define POINTER_SIZE 8u

/* clang-format off */
static const uint8_t type_sizes[] = {
	[TYPE_CHAR] = 1, [TYPE_UCHAR] = 1, [TYPE_SHORT] = 2, [TYPE_USHORT] = 2, [TYPE_INT] = 4, [TYPE_UINT] = 4,
	[TYPE_LONG] = 8, [TYPE_ULONG] = 8, [TYPE_LONGLONG] = 8, [TYPE_ULONGLONG] = 8, [TYPE_INT8] = 1,
	[TYPE_UINT8] = 1, [TYPE_INT16] = 2, [TYPE_UINT16] = 2, [TYPE_INT32] = 4, [TYPE_UINT32] = 4,
	[TYPE_INT64] = 8, [TYPE_UINT64] = 8, [TYPE_FLOAT] = 4, [TYPE_DOUBLE] = 8, [TYPE_LONG_DOUBLE] = 16,
	[TYPE_SIZE] = 8, [TYPE_ADDRESS] = 8, [TYPE_WCHAR] = 4, [TYPE_CHAR8] = 1, [TYPE_CHAR16] = 2,
	[TYPE_CHAR32] = 4, [TYPE_BYTE] = 1, [TYPE_INT128] = 16, [TYPE_UINT128] = 16, [TYPE_FLOAT16] = 2,
	[TYPE_FLOAT32] = 4, [TYPE_FLOAT64] = 8, [TYPE_FLOAT128] = 16, [TYPE_BF16] = 2, [TYPE_TF32] = 4,
	[TYPE_CATEGORY] = 4, [TYPE_COLOR] = 4, [TYPE_SCOPE] = 8, [TYPE_PID32] = 4, [TYPE_PID64] = 8,
	[TYPE_TID32] = 4, [TYPE_TID64] = 8, [TYPE_REGISTERED] = 8, [TYPE_SELECTOR] = 1,
};
/* clang-format on */

int walk_spend(struct walk *w, size_t steps)
{
	if (steps > w->most_steps - w->steps || w->json->len > PAYLOAD_MAX_TEXT) {
		w->steps = w->most_steps;
		return -E2BIG;
	}
	w->steps += (unsigned)steps;
	return 0;
}

/* A forked process goes on with what its parent had registered. */
static const int64_t *find_inherited(struct walk *w, const struct index_table *table, int64_t id)
{
	int64_t key[] = { w->process, w->domain, id };
	const int64_t *row = NULL;

	for (unsigned i = 0; i < MAX_FORKS && !row && key[0]; i++) {
		row = index_find_last(table, key, 3);
		key[0] = index_forked_from(&w->q->index, key[0]);
	}
	return row;
}

const int64_t *walk_schema(struct walk *w, int64_t id)
{
	return id < TYPE_PREDEFINED_LIMIT ? NULL : find_inherited(w, &w->q->index.payload_schemas, id);
}

const int64_t *walk_enum(struct walk *w, int64_t id)
{
	const int64_t *row = id < TYPE_PREDEFINED_LIMIT ? NULL : find_inherited(w, &w->q->index.payload_enums, id);

	return row && row[ENUM_SIZE] > 0 && row[ENUM_SIZE] <= 8 ? row : NULL;
}

void walk_entries(struct walk *w, const int64_t *schema, size_t *first, size_t *limit)
{
	const struct index_table *entries = &w->q->index.payload_entries;
	int64_t next[] = { schema[SCHEMA_PROCESS], schema[SCHEMA_DOMAIN], schema[SCHEMA_ID] };

	*first = *limit = index_lower_bound(entries, next, 3);
	if (next[2] == INT64_MAX)
		return;
	next[2]++;
	*limit = index_lower_bound(entries, next, 3);
}

const int64_t *walk_entry(struct walk *w, size_t i)
{
	return w->q->index.payload_entries.rows + i * ENTRY_WIDTH;
}

size_t type_size(int64_t type)
{
	return type > 0 && type < (int64_t)sizeof(type_sizes) ? type_sizes[type] : 0;
}

int type_is_text(int64_t type)
{
	return type >= TYPE_TEXT && type <= TYPE_TEXT_UTF32;
}

size_t character_size(int64_t type)
{
	switch (type) {
	case TYPE_CHAR:
	case TYPE_CHAR8:
	case TYPE_TEXT:
	case TYPE_TEXT_UTF8: return 1;
	case TYPE_CHAR16:
	case TYPE_TEXT_UTF16: return 2;
	case TYPE_WCHAR:
	case TYPE_CHAR32:
	case TYPE_TEXT_UTF32: return 4;
	default: return 0;
	}
}

static size_t align_up(size_t at, size_t align)
{
	return align > 1 ? (at + align - 1) / align * align : at;
}

static int64_t elements_of(const int64_t *entry)
{
	if (entry[ENTRY_FLAGS] & FLAG_POINTER || entry_is_copied_text(entry))
		return 1;
	switch (entry[ENTRY_FLAGS] & FLAG_ARRAY) {
	case 0: return type_is_text(entry[ENTRY_TYPE]) && entry[ENTRY_DETAIL] ? entry[ENTRY_DETAIL] : 1;
	case FLAG_ARRAY_FIXED: return entry[ENTRY_DETAIL];
	default: return 0;
	}
}

/* By the alignment rules of C: size 0 as soon as one entry's depends on the data. */
static struct extent schema_extent(struct walk *w, const int64_t *schema)
{
	struct extent all = { 0, 1 }, one;
	size_t first, limit, at, end = 0;
	int known = schema[SCHEMA_TYPE] != SCHEMA_DYNAMIC;
	int64_t count;

	walk_entries(w, schema, &first, &limit);
	for (size_t i = first; i < limit; i++) {
		const int64_t *entry = walk_entry(w, i);

		if (walk_step(w) < 0)
			return (struct extent){ 0, 0 };
		one = entry_extent(w, entry);
		count = elements_of(entry);
		if (schema[SCHEMA_ALIGN] > 0 && one.align > (uint64_t)schema[SCHEMA_ALIGN])
			one.align = (size_t)schema[SCHEMA_ALIGN];
		if (one.align > all.align)
			all.align = one.align;
		if (one.size == 0 || count <= 0 || (uint64_t)count > UINT32_MAX / one.size || entry[ENTRY_OFFSET] < 0 ||
		    entry[ENTRY_OFFSET] > UINT32_MAX)
			known = 0;
		if (!known)
			continue;
		at = entry[ENTRY_OFFSET] > 0             ? (size_t)entry[ENTRY_OFFSET] :
		     schema[SCHEMA_TYPE] >= SCHEMA_UNION ? 0 :
							   align_up(end, one.align);
		end = at + one.size * (size_t)count;
		if (end > all.size)
			all.size = end;
	}
	all.size = known ? align_up(all.size, all.align) : 0;
	if (schema[SCHEMA_SIZE] > 0 && schema[SCHEMA_SIZE] <= UINT32_MAX && schema[SCHEMA_TYPE] != SCHEMA_DYNAMIC)
		all.size = (size_t)schema[SCHEMA_SIZE];
	return all;
}

struct extent type_extent(struct walk *w, int64_t type)
{
	struct extent extent = { type_size(type), type_size(type) };
	const int64_t *row = walk_enum(w, type);

	if (row)
		return (struct extent){ (size_t)row[ENUM_SIZE], (size_t)row[ENUM_SIZE] };
	row = walk_schema(w, type);
	if (!row || w->depth >= PAYLOAD_MAX_DEPTH)
		return extent;
	w->depth++;
	extent = schema_extent(w, row);
	w->depth--;
	return extent;
}

int entry_is_copied_text(const int64_t *entry)
{
	return (entry[ENTRY_TYPE] == TYPE_TEXT || entry[ENTRY_TYPE] == TYPE_TEXT_UTF8) && entry[ENTRY_DETAIL] == 0 &&
	       !(entry[ENTRY_FLAGS] & (FLAG_ARRAY | FLAG_OFFSETS));
}

struct extent entry_extent(struct walk *w, const int64_t *entry)
{
	int64_t type = entry[ENTRY_TYPE];
	size_t character = character_size(type);

	if (entry[ENTRY_FLAGS] & FLAG_OFFSETS)
		return (struct extent){ 0, 0 };
	if (entry[ENTRY_FLAGS] & FLAG_POINTER || entry_is_copied_text(entry) ||
	    (type_is_text(type) && !(entry[ENTRY_FLAGS] & FLAG_ARRAY) && !entry[ENTRY_DETAIL]))
		return (struct extent){ POINTER_SIZE, POINTER_SIZE };
	if (type_is_text(type))
		return (struct extent){ character, character };
	return type_extent(w, type);
}
