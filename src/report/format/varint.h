/* Numbers of one to ten bytes, seven bits each, lowest first. Reading never goes
 * past the end: a cursor that ran out stays failed and reads zeros. */
#ifndef SONDE_REPORT_FORMAT_VARINT_H
#define SONDE_REPORT_FORMAT_VARINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define VARINT_MAX 10

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	int failed;
};

static inline size_t varint_write(uint8_t *out, uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		out[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[n++] = (uint8_t)value;
	return n;
}

static inline uint64_t zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

static inline int put_varint(struct buf *b, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	return buf_append(b, bytes, varint_write(bytes, value));
}

static inline int put_zigzag(struct buf *b, int64_t value)
{
	return put_varint(b, zigzag(value));
}

static inline int put_byte(struct buf *b, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	return buf_append(b, &byte, 1);
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline uint8_t get_byte(struct cursor *c)
{
	if (c->at == c->end) {
		c->failed = 1;
		return 0;
	}
	return *c->at++;
}

static inline uint64_t get_varint(struct cursor *c)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		byte = get_byte(c);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = 1;
	return 0;
}

static inline int64_t get_zigzag(struct cursor *c)
{
	return unzigzag(get_varint(c));
}

/* `size` bytes, or NULL. */
static inline const uint8_t *get_bytes(struct cursor *c, uint64_t size)
{
	const uint8_t *at = c->at;

	if (size > cursor_left(c)) {
		c->failed = 1;
		return NULL;
	}
	c->at += size;
	return at;
}

#endif
