/* Where the entries of a payload lie: by the offsets the program gave or else by the
 * alignment rules of C. */
#include "agent/nvtx/nvtx.h"

/* Sizes of NVTX's predefined types in this process, which is the program's own;
 * each is aligned to its size. */
/* clang-format off */
static const uint8_t type_sizes[] = {
	[NVTX_TYPE_CHAR] = 1, [2] = 1, [3] = sizeof(short), [4] = sizeof(short),
	[5] = sizeof(int), [6] = sizeof(int), [7] = sizeof(long), [8] = sizeof(long),
	[9] = sizeof(long long), [10] = sizeof(long long),
	[NVTX_TYPE_INT8] = 1, [NVTX_TYPE_UINT8] = 1, [NVTX_TYPE_INT16] = 2, [NVTX_TYPE_UINT16] = 2,
	[NVTX_TYPE_INT32] = 4, [NVTX_TYPE_UINT32] = 4, [NVTX_TYPE_INT64] = 8, [NVTX_TYPE_UINT64] = 8,
	[NVTX_TYPE_FLOAT] = 4, [NVTX_TYPE_DOUBLE] = 8, [NVTX_TYPE_LONG_DOUBLE] = sizeof(long double),
	[NVTX_TYPE_SIZE] = sizeof(size_t), [NVTX_TYPE_ADDRESS] = sizeof(void *),
	[24] = sizeof(wchar_t), [25] = 1, [26] = 2, [27] = 4,
	[NVTX_TYPE_BYTE] = 1, [NVTX_TYPE_INT128] = 16, [NVTX_TYPE_UINT128] = 16,
	[NVTX_TYPE_FLOAT16] = 2, [NVTX_TYPE_FLOAT32] = 4, [NVTX_TYPE_FLOAT64] = 8,
	[NVTX_TYPE_FLOAT128] = 16, [NVTX_TYPE_BF16] = 2, [NVTX_TYPE_TF32] = 4,
	[NVTX_TYPE_CATEGORY] = 4, [NVTX_TYPE_COLOR] = 4, [NVTX_TYPE_SCOPE] = 8,
	[NVTX_TYPE_PID32] = 4, [NVTX_TYPE_PID64] = 8, [NVTX_TYPE_TID32] = 4, [NVTX_TYPE_TID64] = 8,
	[NVTX_TYPE_REGISTERED] = sizeof(void *),
};
/* clang-format on */

uint32_t nvtx_type_size(uint64_t type)
{
	return type < sizeof(type_sizes) ? type_sizes[type] : 0;
}

uint64_t nvtx_unsigned_of_size(uint32_t size)
{
	switch (size) {
	case 1: return NVTX_TYPE_UINT8;
	case 2: return NVTX_TYPE_UINT16;
	case 4: return NVTX_TYPE_UINT32;
	case 8: return NVTX_TYPE_UINT64;
	default: return NVTX_TYPE_BYTE;
	}
}

static uint32_t character_size(uint64_t type)
{
	if (type == NVTX_TYPE_TEXT_UTF16)
		return 2;
	return type == NVTX_TYPE_TEXT_UTF32 ? 4 : 1;
}

static int is_text_type(uint64_t type)
{
	return type >= NVTX_TYPE_TEXT && type <= NVTX_TYPE_TEXT_UTF32;
}

int nvtx_entry_is_text_pointer(const struct nvtx_schema_entry *entry)
{
	return (entry->type == NVTX_TYPE_TEXT || entry->type == NVTX_TYPE_TEXT_UTF8) && entry->detail == 0 &&
	       !(entry->flags & (NVTX_ENTRY_ARRAY_MASK | NVTX_ENTRY_OFFSET_BASE | NVTX_ENTRY_OFFSET_HERE));
}

/* Size and alignment of one element. Both 0 when they depend on the data. */
static void element_layout(uint32_t domain, const struct nvtx_schema_entry *entry, uint32_t *size, uint32_t *align)
{
	const struct nvtx_schema *nested;

	*size = *align = 0;
	if (entry->flags & (NVTX_ENTRY_OFFSET_BASE | NVTX_ENTRY_OFFSET_HERE))
		return;
	if ((entry->flags & NVTX_ENTRY_POINTER) || nvtx_entry_is_text_pointer(entry) ||
	    (is_text_type(entry->type) && !(entry->flags & NVTX_ENTRY_ARRAY_MASK) && !entry->detail)) {
		*size = *align = sizeof(void *);
	} else if (is_text_type(entry->type)) {
		*size = *align = character_size(entry->type);
	} else if (entry->type >= NVTX_ID_STATIC_START) {
		nested = nvtx_schema_find(domain, entry->type);
		if (nested) {
			*size = nested->size;
			*align = nested->align;
		}
	} else {
		*size = *align = nvtx_type_size(entry->type);
	}
}

/* Elements of an entry in the payload; 0 when the data says how many. */
static uint64_t element_count(const struct nvtx_schema_entry *entry)
{
	if (entry->flags & NVTX_ENTRY_POINTER)
		return 1;
	switch (entry->flags & NVTX_ENTRY_ARRAY_MASK) {
	case 0: return is_text_type(entry->type) && entry->detail ? entry->detail : 1;
	case NVTX_ENTRY_ARRAY_FIXED: return entry->detail;
	default: return 0;
	}
}

void nvtx_layout_begin(struct nvtx_layout *layout, uint32_t domain, uint64_t schema_type, uint32_t pack_align)
{
	*layout = (struct nvtx_layout){ .domain = domain,
					.pack_align = pack_align,
					.align = 1,
					.is_union = schema_type == NVTX_SCHEMA_UNION || schema_type == NVTX_SCHEMA_UNION_SELECTED };
}

void nvtx_layout_next(struct nvtx_layout *layout, const struct nvtx_schema_entry *entry, uint32_t *ret_position, uint32_t *ret_width)
{
	uint32_t size, align;
	uint64_t width, position;

	element_layout(layout->domain, entry, &size, &align);
	width = size * element_count(entry);
	if (width > NVTX_LAYOUT_MAX)
		width = 0;
	if (layout->pack_align && align > layout->pack_align)
		align = layout->pack_align;
	if (align > layout->align)
		layout->align = align;
	position = entry->offset;
	if (position == 0 && !layout->is_union) {
		position = layout->at;
		if (layout->count > 0 && align == 0)
			layout->lost = 1;
		if (align > 0)
			position = (position + align - 1) / align * align;
	}
	layout->count++;
	if ((layout->lost && entry->offset == 0) || position > NVTX_LAYOUT_MAX) {
		*ret_position = UINT32_MAX;
		*ret_width = (uint32_t)width;
		return;
	}
	/* An entry with an offset of its own brings the rest back on firm ground. */
	layout->lost = width == 0 && !layout->is_union;
	layout->at = position + width;
	if (layout->at > layout->end)
		layout->end = layout->at;
	if (width == 0)
		layout->open = 1;
	*ret_position = (uint32_t)position;
	*ret_width = (uint32_t)width;
}

uint32_t nvtx_layout_size(const struct nvtx_layout *layout)
{
	if (layout->open || layout->lost)
		return 0;
	return (uint32_t)((layout->end + layout->align - 1) / layout->align * layout->align);
}
