/* Single values of payloads, as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/arch.h"
#include "base/cleanup.h"
#include "base/text/json_text.h"
#include "query/payload/walk.h"

#define MAX_ANCESTORS 32

__extension__ typedef unsigned __int128 wide_unsigned;

static int append_null(struct walk *w)
{
	return buf_puts(w->json, "null");
}

int value_append_string(struct walk *w, const char *text, size_t len)
{
	return len > PAYLOAD_MAX_TEXT ? -E2BIG : json_append_text(w->json, text, len);
}

static uint64_t read_bits(const uint8_t *at, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static int64_t sign_extended(uint64_t value, size_t width)
{
	unsigned shift = (unsigned)(64 - 8 * width);

	return (int64_t)(value << shift) >> shift;
}

static int is_signed(int64_t type)
{
	switch (type) {
	case TYPE_CHAR:
	case TYPE_INT8:
	case TYPE_SHORT:
	case TYPE_INT16:
	case TYPE_INT:
	case TYPE_INT32:
	case TYPE_WCHAR:
	case TYPE_LONG:
	case TYPE_LONGLONG:
	case TYPE_INT64: return 1;
	default: return 0;
	}
}

static int is_integer(int64_t type)
{
	switch (type) {
	case TYPE_FLOAT:
	case TYPE_DOUBLE:
	case TYPE_LONG_DOUBLE:
	case TYPE_INT128:
	case TYPE_UINT128:
	case TYPE_FLOAT16:
	case TYPE_FLOAT32:
	case TYPE_FLOAT64:
	case TYPE_FLOAT128:
	case TYPE_BF16:
	case TYPE_TF32:
	case TYPE_REGISTERED: return 0;
	default: return type_size(type) != 0;
	}
}

int value_integer(struct walk *w, int64_t type, size_t at, uint64_t *ret)
{
	const int64_t *row = walk_enum(w, type);
	size_t width = row ? (size_t)row[ENUM_SIZE] : type_size(type);

	if ((!row && !is_integer(type)) || !walk_has(w, at, width))
		return 0;
	*ret = read_bits(w->data + at, width);
	if (is_signed(type))
		*ret = (uint64_t)sign_extended(*ret, width);
	return 1;
}

/* Sixteen bytes as a decimal number. */
static int append_wide(struct walk *w, const uint8_t *at, int with_sign)
{
	wide_unsigned value = (wide_unsigned)read_bits(at + 8, 8) << 64 | read_bits(at, 8);
	int negative = with_sign && at[15] >> 7;
	char digits[48];
	size_t i = sizeof(digits);

	if (negative)
		value = -value;
	do {
		digits[--i] = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value);
	if (negative)
		digits[--i] = '-';
	return buf_append(w->json, digits + i, sizeof(digits) - i);
}

/* As few digits as read back to the same number; `digits` are always enough. */
static int append_real(struct walk *w, double value, int digits, int single)
{
	char text[64];

	if (isnan(value))
		return buf_puts(w->json, "\"NaN\"");
	if (isinf(value))
		return buf_puts(w->json, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	for (int precision = digits - 3; precision <= digits; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, value);
		if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			break;
	}
	return buf_puts(w->json, text);
}

static int append_single(struct walk *w, uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return append_real(w, (double)value, 9, 1);
}

static int append_double(struct walk *w, uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return append_real(w, value, 17, 0);
}

static int append_half(struct walk *w, uint32_t bits)
{
	int exponent = (int)(bits >> 10 & 31);
	double fraction = bits & 1023, value;

	if (exponent == 31)
		value = fraction != 0 ? (double)NAN : (double)INFINITY;
	else
		value = exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
	return append_real(w, bits >> 15 ? -value : value, 9, 1);
}

/* Sign and 15 bits of exponent over `top` (the upper 64 bits of the fraction, its leading one included):
 * what a double cannot hold is null. */
static int append_extended(struct walk *w, unsigned sign_exponent, uint64_t top)
{
	int exponent = (int)(sign_exponent & 0x7fff);
	double value = exponent == 0x7fff ? (top << 1 ? (double)NAN : (double)INFINITY) : ldexp((double)top, exponent - 16383 - 63);

	if (exponent != 0x7fff && isinf(value))
		return append_null(w);
	return append_real(w, sign_exponent >> 15 ? -value : value, 17, 0);
}

static int append_quad(struct walk *w, const uint8_t *at)
{
	unsigned sign_exponent = (unsigned)read_bits(at + 14, 2);
	uint64_t top = read_bits(at + 6, 8) >> 1;

	return append_extended(w, sign_exponent, sign_exponent & 0x7fff ? top | UINT64_C(1) << 63 : top);
}

static int append_registered(struct walk *w, size_t at)
{
	int64_t key[] = { w->process, (int64_t)read_bits(w->data + at, 8) };
	const int64_t *row = NULL;
	const char *text;
	size_t len = 0;

	/* The agent has put ids in place of handles, but not in arrays and unions. */
	for (unsigned i = 0; i < MAX_ANCESTORS && !row && key[0] && key[1]; i++) {
		row = index_find_last(&w->q->index.registered, key, 2);
		if (!row)
			row = index_find_last(&w->q->index.handles, key, 2);
		key[0] = index_forked_from(&w->q->index, key[0]);
	}
	text = row ? report_text(w->q->report, (uint64_t)row[REGISTERED_NAME], &len) : NULL;
	return text ? value_append_string(w, text, len) : append_null(w);
}

/* The names of the bits that are set, joined by '|'; 0 when some bit has none. */
static int flag_names(struct walk *w, const int64_t *row, uint64_t value, struct buf *ret)
{
	const struct index_table *labels = &w->q->index.payload_labels;
	uint64_t left = value;
	size_t len;

	for (size_t i = index_lower_bound(labels, row, 3); i < labels->count; i++) {
		const int64_t *label = labels->rows + i * LABEL_WIDTH;
		uint64_t bits = (uint64_t)label[LABEL_VALUE];
		const char *name;

		if (memcmp(label, row, 3 * sizeof(*row)) != 0 || walk_step(w) < 0)
			break;
		if (!label[LABEL_IS_FLAG] || !bits || (value & bits) != bits)
			continue;
		name = report_text(w->q->report, (uint64_t)label[LABEL_NAME], &len);
		if (!name || (ret->len && buf_puts(ret, "|") < 0) || buf_append(ret, name, len) < 0)
			return 0;
		left &= ~bits;
	}
	return value && !left;
}

/* The name of the value, or the value where it has none. */
static int append_enum(struct walk *w, const int64_t *row, size_t at)
{
	size_t width = (size_t)row[ENUM_SIZE], len = 0;
	uint64_t bits = read_bits(w->data + at, width);
	int64_t key[] = { row[ENUM_PROCESS], row[ENUM_DOMAIN], row[ENUM_SCHEMA], sign_extended(bits, width) };
	const int64_t *label = index_find_last(&w->q->index.payload_labels, key, 4);
	struct buf names = BUF_INIT;
	const char *name;
	int r;

	if (!label) {
		key[3] = (int64_t)bits;
		label = index_find_last(&w->q->index.payload_labels, key, 4);
	}
	name = label ? report_text(w->q->report, (uint64_t)label[LABEL_NAME], &len) : NULL;
	if (name)
		return value_append_string(w, name, len);
	if (flag_names(w, row, bits, &names))
		r = value_append_string(w, names.data, names.len);
	else
		r = buf_printf(w->json, "%" PRId64, sign_extended(bits, width));
	buf_release(&names);
	return r;
}

static int append_integer(struct walk *w, int64_t type, size_t at)
{
	uint64_t value = 0;

	if (!value_integer(w, type, at, &value))
		return append_null(w);
	return is_signed(type) ? buf_printf(w->json, "%" PRId64, (int64_t)value) : buf_printf(w->json, "%" PRIu64, value);
}

int value_append(struct walk *w, int64_t type, size_t at)
{
	const int64_t *row = walk_enum(w, type);
	size_t width = row ? (size_t)row[ENUM_SIZE] : type_size(type);
	const uint8_t *data;

	if (!width || !walk_has(w, at, width))
		return append_null(w);
	if (row)
		return append_enum(w, row, at);
	data = w->data + at;
	switch (type) {
	case TYPE_FLOAT:
	case TYPE_FLOAT32:
	case TYPE_TF32: return append_single(w, (uint32_t)read_bits(data, 4));
	case TYPE_DOUBLE:
	case TYPE_FLOAT64: return append_double(w, read_bits(data, 8));
	case TYPE_FLOAT16: return append_half(w, (uint32_t)read_bits(data, 2));
	case TYPE_BF16: return append_single(w, (uint32_t)read_bits(data, 2) << 16);
	case TYPE_FLOAT128: return append_quad(w, data);
#if ARCH_LONG_DOUBLE_X87
	case TYPE_LONG_DOUBLE: return append_extended(w, (unsigned)read_bits(data + 8, 2), read_bits(data, 8));
#else
	case TYPE_LONG_DOUBLE: return append_quad(w, data);
#endif
	case TYPE_INT128: return append_wide(w, data, 1);
	case TYPE_UINT128: return append_wide(w, data, 0);
	case TYPE_REGISTERED: return append_registered(w, at);
	default: return append_integer(w, type, at);
	}
}

/* UTF-8 of a character; what is none becomes U+FFFD. */
static int put_character(struct buf *text, uint32_t code)
{
	uint8_t bytes[4];
	size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (code > 0x10ffff || (code >> 11) == 0x1b) {
		code = 0xfffd;
		count = 3;
	}
	bytes[0] = (uint8_t)code;
	for (size_t i = count - 1; i > 0; i--, code >>= 6)
		bytes[i] = (uint8_t)(0x80 | (code & 0x3f));
	if (count > 1)
		bytes[0] = (uint8_t)(0xf00u >> count | code);
	return buf_append(text, bytes, count);
}

static int append_wide_text(struct walk *w, size_t at, size_t units, size_t width)
{
	struct buf text = BUF_INIT;
	uint32_t code, low;
	int r = 0;

	for (size_t i = 0; i < units && r >= 0; i++) {
		code = (uint32_t)read_bits(w->data + at + i * width, width);
		if (!code)
			break;
		if (width == 2 && code >> 10 == 0x36 && i + 1 < units) {
			low = (uint32_t)read_bits(w->data + at + (i + 1) * width, width);
			if (low >> 10 == 0x37) {
				code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
				i++;
			}
		}
		r = put_character(&text, code);
	}
	if (r >= 0)
		r = value_append_string(w, text.data ? text.data : "", text.len);
	buf_release(&text);
	return r;
}

int value_append_text(struct walk *w, size_t at, size_t units, size_t width)
{
	if (at > w->len)
		return append_null(w);
	if (units > (w->len - at) / width)
		units = (w->len - at) / width;
	if (width > 1)
		return append_wide_text(w, at, units, width);
	return value_append_string(w, (const char *)w->data + at, strnlen((const char *)w->data + at, units));
}

int value_append_copied_text(struct walk *w, size_t at)
{
	uint64_t offset = walk_has(w, at, 8) ? read_bits(w->data + at, 8) : 0;

	if (offset == 0 || offset >= w->len)
		return append_null(w);
	return value_append_text(w, (size_t)offset, w->len, 1);
}

int value_append_hex(struct walk *w, size_t at, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	TRY(buf_reserve(w->json, size * 2 + 2));
	TRY(buf_puts(w->json, "\""));
	for (size_t i = 0; i < size; i++) {
		char pair[2] = { digits[w->data[at + i] >> 4], digits[w->data[at + i] & 15] };

		TRY(buf_append(w->json, pair, 2));
	}
	return buf_puts(w->json, "\"");
}
