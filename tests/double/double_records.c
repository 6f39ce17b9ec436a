/* Activity records, from their layouts. */
#include <stdlib.h>
#include <string.h>

#include "double.h"

struct field {
	uint32_t since;
	uint8_t bytes;
	uint8_t key;
};

#define RECORD(NAME, kind) static const struct field fields_##NAME[] = {
#define FIELD(since, bytes, key) { since, bytes, KEY_##key },
/* clang-format off */
#define RECORD_END { 0, 0, 0 } };
/* clang-format on */
#include "double_records.def"
#undef RECORD
#undef FIELD
#undef RECORD_END

static const struct field *const layouts[KIND_COUNT] = {
#define RECORD(NAME, kind) [kind] = fields_##NAME,
#define FIELD(since, bytes, key)
#define RECORD_END
#include "double_records.def"
#undef RECORD
#undef FIELD
#undef RECORD_END
};

unsigned double_record_named(const char *name)
{
#define RECORD(NAME, kind) \
	if (!strcmp(name, #NAME)) \
		return kind;
#define FIELD(since, bytes, key)
#define RECORD_END
#include "double_records.def"
#undef RECORD
#undef FIELD
#undef RECORD_END
	double_log("no such record: %s", name);
	abort();
}

static size_t rounded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

size_t double_record_size(unsigned kind)
{
	size_t size = 0;

	if (kind >= KIND_COUNT || !layouts[kind])
		return 0;
	for (const struct field *f = layouts[kind]; f->bytes; f++)
		if (f->since <= cupti_double.settings.version)
			size += f->bytes;
	return rounded(size);
}

size_t double_record_make(unsigned kind, const int64_t *values, uint8_t *ret_bytes)
{
	uint8_t *at = ret_bytes;

	for (const struct field *f = layouts[kind]; f->bytes; f++) {
		int64_t value = f->key == KEY_RECORD ? (int64_t)kind : values[f->key];

		if (f->since > cupti_double.settings.version)
			break;
		memcpy(at, &value, f->bytes);
		at += f->bytes;
	}
	while ((at - ret_bytes) % 8)
		*at++ = 0;
	return (size_t)(at - ret_bytes);
}
