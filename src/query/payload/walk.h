/* Shared by the files that show payloads. */
#ifndef SONDE_QUERY_PAYLOAD_WALK_H
#define SONDE_QUERY_PAYLOAD_WALK_H

#include "query/payload/payload.h"

/* NVTX's numbers of entry types. */
/* clang-format off */
enum entry_type {
	TYPE_CHAR = 1, TYPE_UCHAR, TYPE_SHORT, TYPE_USHORT, TYPE_INT, TYPE_UINT, TYPE_LONG, TYPE_ULONG,
	TYPE_LONGLONG, TYPE_ULONGLONG, TYPE_INT8, TYPE_UINT8, TYPE_INT16, TYPE_UINT16, TYPE_INT32,
	TYPE_UINT32, TYPE_INT64, TYPE_UINT64, TYPE_FLOAT, TYPE_DOUBLE, TYPE_LONG_DOUBLE, TYPE_SIZE,
	TYPE_ADDRESS, TYPE_WCHAR, TYPE_CHAR8, TYPE_CHAR16, TYPE_CHAR32,
	TYPE_BYTE = 32, TYPE_INT128, TYPE_UINT128,
	TYPE_FLOAT16 = 42, TYPE_FLOAT32, TYPE_FLOAT64, TYPE_FLOAT128, TYPE_BF16 = 50, TYPE_TF32 = 52,
	TYPE_CATEGORY = 68, TYPE_COLOR, TYPE_SCOPE, TYPE_PID32, TYPE_PID64, TYPE_TID32, TYPE_TID64,
	TYPE_TEXT = 75, TYPE_TEXT_UTF8, TYPE_TEXT_UTF16, TYPE_TEXT_UTF32,
	TYPE_REGISTERED = 80, TYPE_SELECTOR = 100, TYPE_RAW = 1023,
	TYPE_PREDEFINED_LIMIT = 1 << 24 /* schemas from here on */
};
/* clang-format on */

/* Flags of an entry. */
#define FLAG_POINTER (1 << 1)
#define FLAG_OFFSETS (3 << 2) /* the data lies elsewhere, by an offset */
#define FLAG_ARRAY (7 << 4)
#define FLAG_ARRAY_FIXED (1 << 4)
#define FLAG_ARRAY_ZERO (2 << 4)
#define FLAG_ARRAY_LENGTH (3 << 4)  /* given by another entry */
#define FLAG_ARRAY_PAYLOAD (4 << 4) /* given by another payload */

enum schema_type { SCHEMA_STATIC = 1, SCHEMA_DYNAMIC, SCHEMA_UNION, SCHEMA_UNION_SELECTED };

#define PAYLOAD_MAX_DEPTH 16u
#define PAYLOAD_MAX_STEPS (1u << 20)
#define PAYLOAD_MAX_DATA (1u << 20) /* the recorder keeps less */
#define PAYLOAD_MAX_TEXT (16u << 20)
#define NOWHERE SIZE_MAX /* a place that is not known */

/* Showing one payload. A report is untrusted input: whatever schemas say, depth, work and
 * text are limited, and nothing outside of the data is touched. */
struct walk {
	struct query *q;
	struct buf *json;
	int64_t process;
	int64_t domain;
	const struct event_payload *payloads;
	size_t count;
	size_t current;      /* the payload being shown */
	const uint8_t *data; /* its bytes */
	size_t len;
	unsigned depth;
	unsigned steps, most_steps;
};

/* layout.c */

/* Counts work; -E2BIG when there was too much. */
int walk_spend(struct walk *w, size_t steps);
static inline int walk_step(struct walk *w)
{
	return walk_spend(w, 1);
}
static inline int walk_has(const struct walk *w, size_t at, size_t size)
{
	return at <= w->len && size <= w->len - at;
}

/* The row of the schema or enumeration of that id, of this process or one it was forked from; NULL. */
const int64_t *walk_schema(struct walk *w, int64_t id);
const int64_t *walk_enum(struct walk *w, int64_t id);
/* Its entries: rows [*first, *limit) of the index, in order. */
void walk_entries(struct walk *w, const int64_t *schema, size_t *first, size_t *limit);
const int64_t *walk_entry(struct walk *w, size_t i);

struct extent {
	size_t size; /* 0: the data says, or not known */
	size_t align;
};

/* Bytes of one of NVTX's own types; 0 for texts and what is not known. */
size_t type_size(int64_t type);
int type_is_text(int64_t type);
/* Characters: arrays of them are shown as text. 0 for other types. */
size_t character_size(int64_t type);
/* One value of a type, be it NVTX's, a schema or an enumeration. */
struct extent type_extent(struct walk *w, int64_t type);
/* One element of an entry. */
struct extent entry_extent(struct walk *w, const int64_t *entry);
/* Whether the entry is a pointer to a text, replaced by the place of a copy (fmt/nvtx_wire.h). */
int entry_is_copied_text(const int64_t *entry);

/* value.c */

/* A whole number of any of the integer types or enumerations; 0 when it is none or outside. */
int value_integer(struct walk *w, int64_t type, size_t at, uint64_t *ret);
/* One value of a type that is not a schema. */
int value_append(struct walk *w, int64_t type, size_t at);
/* Text of up to `units` characters of `width` bytes; ends at a zero. */
int value_append_text(struct walk *w, size_t at, size_t units, size_t width);
int value_append_copied_text(struct walk *w, size_t at);
int value_append_hex(struct walk *w, size_t at, size_t size);
/* Quoted; bytes that are no UTF-8 become U+FFFD. */
int value_append_string(struct walk *w, const char *text, size_t len);

#endif
