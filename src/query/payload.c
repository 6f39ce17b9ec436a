#include "query/payload.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* NVTX's numbers of entry types (nvToolsExtPayload.h). */
enum entry_type {
	ENTRY_CHAR = 1, ENTRY_UCHAR, ENTRY_SHORT, ENTRY_USHORT, ENTRY_INT, ENTRY_UINT, ENTRY_LONG,
	ENTRY_ULONG, ENTRY_LONGLONG, ENTRY_ULONGLONG, ENTRY_INT8, ENTRY_UINT8, ENTRY_INT16, ENTRY_UINT16,
	ENTRY_INT32, ENTRY_UINT32, ENTRY_INT64, ENTRY_UINT64, ENTRY_FLOAT, ENTRY_DOUBLE,
	ENTRY_LONG_DOUBLE, ENTRY_SIZE, ENTRY_ADDRESS, ENTRY_WCHAR, ENTRY_CHAR8, ENTRY_CHAR16, ENTRY_CHAR32,
	ENTRY_BYTE = 32, ENTRY_TEXT = 75, ENTRY_TEXT_UTF8 = 76, ENTRY_REGISTERED = 80
};

/* Width in bytes; the sign says whether the number is signed. 0: not a plain integer. */
static int integer_width(int64_t type)
{
	switch (type) {
	case ENTRY_CHAR: case ENTRY_INT8: return -1;
	case ENTRY_UCHAR: case ENTRY_UINT8: case ENTRY_CHAR8: case ENTRY_BYTE: return 1;
	case ENTRY_SHORT: case ENTRY_INT16: return -2;
	case ENTRY_USHORT: case ENTRY_UINT16: case ENTRY_CHAR16: return 2;
	case ENTRY_INT: case ENTRY_INT32: case ENTRY_WCHAR: return -4;
	case ENTRY_UINT: case ENTRY_UINT32: case ENTRY_CHAR32: return 4;
	case ENTRY_LONG: case ENTRY_LONGLONG: case ENTRY_INT64: return -8;
	case ENTRY_ULONG: case ENTRY_ULONGLONG: case ENTRY_UINT64: case ENTRY_SIZE: case ENTRY_ADDRESS: return 8;
	default: return 0;
	}
}

/* Bytes of an enumeration's values; 0 when the entry's type is none. */
static size_t enum_width(struct query *q, const int64_t *entry)
{
	int64_t key[] = { entry[ENTRY_PROCESS], entry[ENTRY_DOMAIN], entry[ENTRY_TYPE] };
	const int64_t *found = index_find_last(&q->index.payload_enums, key, 3);

	return found && found[ENUM_SIZE] > 0 && found[ENUM_SIZE] <= 8 ? (size_t)found[ENUM_SIZE] : 0;
}

static size_t entry_width(struct query *q, const int64_t *entry)
{
	int64_t type = entry[ENTRY_TYPE];
	int width = integer_width(type);

	if (enum_width(q, entry))
		return enum_width(q, entry);

	if (width)
		return (size_t)(width < 0 ? -width : width);
	if (type == ENTRY_FLOAT)
		return 4;
	return type == ENTRY_LONG_DOUBLE ? 16 : 8;
}

int json_append_string(struct buf *json, const char *text, size_t len)
{
	int r = buf_puts(json, "\"");
	unsigned char c;

	for (size_t i = 0; r >= 0 && i < len; i++) {
		c = (unsigned char)text[i];
		if (c == '"' || c == '\\')
			r = buf_printf(json, "\\%c", c);
		else if (c == '\n')
			r = buf_puts(json, "\\n");
		else if (c == '\t')
			r = buf_puts(json, "\\t");
		else if (c == '\r')
			r = buf_puts(json, "\\r");
		else if (c < 0x20)
			r = buf_printf(json, "\\u%04x", c);
		else
			r = buf_append(json, &text[i], 1);
	}
	return r < 0 ? r : buf_puts(json, "\"");
}

/* Width as of integer_width(). */
static uint64_t read_integer(const uint8_t *at, int width)
{
	unsigned bytes = (unsigned)(width < 0 ? -width : width);
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	if (width < 0 && bytes < 8 && value >> (8 * bytes - 1) & 1)
		value |= ~(uint64_t)0 << (8 * bytes);
	return value;
}

static int append_integer(struct buf *json, const uint8_t *at, int width)
{
	uint64_t value = read_integer(at, width);

	return width > 0 ? buf_printf(json, "%" PRIu64, value) : buf_printf(json, "%" PRId64, (int64_t)value);
}

/* The name of the value, or the value where it has none. */
static int append_enum(struct buf *json, struct query *q, const int64_t *entry, const uint8_t *at, size_t width)
{
	int64_t value = (int64_t)read_integer(at, -(int)width);
	int64_t key[] = { entry[ENTRY_PROCESS], entry[ENTRY_DOMAIN], entry[ENTRY_TYPE], value };
	const int64_t *label = index_find_last(&q->index.payload_labels, key, 4);
	size_t len = 0;
	const char *name = label ? report_text(q->report, (uint64_t)label[LABEL_NAME], &len) : NULL;

	return name ? json_append_string(json, name, len) : buf_printf(json, "%" PRId64, value);
}

static int append_real(struct buf *json, double value)
{
	return isfinite(value) ? buf_printf(json, "%.17g", value) : buf_puts(json, "null");
}

/* Pointers to texts were replaced by the offset of a copy behind the program's bytes. */
static int append_copied_text(struct buf *json, const uint8_t *data, size_t len, size_t at)
{
	uint64_t offset;

	memcpy(&offset, data + at, sizeof(offset));
	if (offset == 0 || offset >= len)
		return buf_puts(json, "null");
	return json_append_string(json, (const char *)data + offset,
				  strnlen((const char *)data + offset, len - offset));
}

static int append_registered(struct buf *json, struct query *q, const uint8_t *at)
{
	const char *text;
	uint64_t id;
	size_t len;

	memcpy(&id, at, sizeof(id));
	text = report_text(q->report, id, &len);
	return text ? json_append_string(json, text, len) : buf_puts(json, "null");
}

static int append_value(struct buf *json, struct query *q, const int64_t *entry, const uint8_t *data, size_t len,
			size_t at)
{
	int64_t type = entry[ENTRY_TYPE];
	float single;
	double real;

	if (at > len || entry_width(q, entry) > len - at)
		return buf_puts(json, "null");
	if (enum_width(q, entry))
		return append_enum(json, q, entry, data + at, enum_width(q, entry));
	if (integer_width(type))
		return append_integer(json, data + at, integer_width(type));
	switch (type) {
	case ENTRY_FLOAT:
		memcpy(&single, data + at, sizeof(single));
		return append_real(json, (double)single);
	case ENTRY_DOUBLE:
		memcpy(&real, data + at, sizeof(real));
		return append_real(json, real);
	case ENTRY_TEXT:
	case ENTRY_TEXT_UTF8:
		return append_copied_text(json, data, len, at);
	case ENTRY_REGISTERED:
		return append_registered(json, q, data + at);
	default:
		return buf_puts(json, "null");
	}
}

static int append_name(struct buf *json, struct query *q, const int64_t *entry)
{
	size_t len;
	const char *name = report_text(q->report, (uint64_t)entry[ENTRY_NAME], &len);

	if (name)
		return json_append_string(json, name, len);
	return buf_printf(json, "\"%" PRId64 "\"", entry[ENTRY_INDEX]);
}

/* Where a field lies: as registered, or behind the last one by natural alignment. */
static size_t place(struct query *q, const int64_t *entry, size_t end)
{
	size_t width = entry_width(q, entry);

	if (entry[ENTRY_OFFSET] > 0)
		return (size_t)entry[ENTRY_OFFSET];
	return (end + width - 1) / width * width;
}

int payload_to_json(struct buf *json, struct query *q, int64_t process, int64_t domain, int64_t schema,
		    const uint8_t *data, size_t len)
{
	const struct index_table *entries = &q->index.payload_entries;
	int64_t key[] = { process, domain, schema };
	size_t i = index_lower_bound(entries, key, 3), at, end = 0;
	const char *separator = "{";
	const int64_t *entry;
	int r = -ENOENT;

	for (; i < entries->count; i++) {
		entry = entries->rows + i * entries->width;
		if (memcmp(entry, key, sizeof(key)) != 0)
			break;
		at = place(q, entry, end);
		end = at + entry_width(q, entry);
		r = buf_puts(json, separator);
		if (r >= 0)
			r = append_name(json, q, entry);
		if (r >= 0)
			r = buf_puts(json, ":");
		if (r >= 0)
			r = append_value(json, q, entry, data, len, at);
		if (r < 0)
			return r;
		separator = ",";
	}
	return r < 0 ? r : buf_puts(json, "}");
}
