/* Protocol Buffers, the wire format: fields are written one after the other into growing memory. */
#ifndef SONDE_EXPORT_PERFETTO_PROTOBUF_H
#define SONDE_EXPORT_PERFETTO_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct proto {
	uint8_t *data;
	size_t len;
	size_t cap;
	bool failed; /* no memory: what was to be written since is missing */
};

#define PROTO_MAX_VARINT 10

static inline bool proto_room(struct proto *p, size_t extra)
{
	if (ARRAY_ROOM(p->data, p->len, p->cap, extra))
		return true;
	p->failed = true;
	return false;
}

static inline void proto_varint(struct proto *p, uint64_t value)
{
	if (!proto_room(p, PROTO_MAX_VARINT))
		return;
	for (; value >= 0x80; value >>= 7)
		p->data[p->len++] = (uint8_t)(value | 0x80);
	p->data[p->len++] = (uint8_t)value;
}

static inline void proto_number(struct proto *p, unsigned field, uint64_t value)
{
	proto_varint(p, (uint64_t)field << 3);
	proto_varint(p, value);
}

static inline void proto_fixed64(struct proto *p, unsigned field, uint64_t value)
{
	proto_varint(p, (uint64_t)field << 3 | 1);
	if (!proto_room(p, 8))
		return;
	for (unsigned i = 0; i < 8; i++)
		p->data[p->len++] = (uint8_t)(value >> 8 * i);
}

static inline void proto_real(struct proto *p, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(p, field, bits);
}

static inline void proto_bytes(struct proto *p, unsigned field, const void *data, size_t len)
{
	proto_varint(p, (uint64_t)field << 3 | 2);
	proto_varint(p, len);
	if (len && proto_room(p, len)) {
		memcpy(p->data + p->len, data, len);
		p->len += len;
	}
}

static inline void proto_text(struct proto *p, unsigned field, const char *text)
{
	proto_bytes(p, field, text, strlen(text));
}

/* A message within: the result goes to proto_end(). Most are short, so that one byte is kept for the length. */
static inline size_t proto_begin(struct proto *p, unsigned field)
{
	proto_varint(p, (uint64_t)field << 3 | 2);
	if (proto_room(p, 1))
		p->len++;
	return p->len;
}

static inline void proto_end(struct proto *p, size_t begin)
{
	size_t len = p->len - begin, more = 0;

	if (p->failed)
		return;
	for (size_t rest = len; rest >= 0x80; rest >>= 7)
		more++;
	if (more && proto_room(p, more)) {
		memmove(p->data + begin + more, p->data + begin, len);
		p->len += more;
	}
	if (p->failed)
		return;
	for (size_t at = begin - 1; at < begin + more; at++, len >>= 7)
		p->data[at] = (uint8_t)(len & 0x7f) | (at + 1 < begin + more ? 0x80 : 0);
}

static inline void proto_release(struct proto *p)
{
	free(p->data);
	*p = (struct proto){ 0 };
}

#endif
