#include "report/format/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"

#define COMPRESS_LEVEL 3
#define COMPRESS_MIN 64 /* below this a zstd frame saves nothing */

uint64_t block_seed(const uint8_t id[16])
{
	uint64_t seed;

	memcpy(&seed, id, sizeof(seed));
	return seed;
}

static uint64_t header_hash(const struct file_header *h)
{
	return XXH3_64bits(h, offsetof(struct file_header, checksum));
}

void file_header_seal(struct file_header *h)
{
	h->checksum = header_hash(h);
}

int file_header_sound(const struct file_header *h)
{
	return h->checksum == header_hash(h);
}

/* The header is hashed with the payload's hash in place of the checksum. */
static uint64_t block_checksum(const struct block_header *h, const void *payload, uint64_t seed)
{
	struct block_header copy = *h;

	copy.checksum = h->kind == BLOCK_SKIP ? 0 : XXH3_64bits_withSeed(payload, h->size, seed);
	return XXH3_64bits_withSeed(&copy, sizeof(copy), seed);
}

static int ratio_allowed(uint64_t raw, uint64_t stored)
{
	return raw <= stored * MAX_RATIO + RATIO_ALLOWANCE;
}

/* Appends the payload, compressed if it then is smaller; returns the bytes stored. */
static int64_t append_payload(struct buf *out, const void *payload, size_t size, ZSTD_CCtx *cctx, int *ret_compressed)
{
	size_t bound, packed;

	*ret_compressed = 0;
	if (cctx && size >= COMPRESS_MIN) {
		bound = ZSTD_compressBound(size);
		TRY(buf_reserve(out, bound));
		packed = ZSTD_compressCCtx(cctx, out->data + out->len, bound, payload, size, COMPRESS_LEVEL);
		if (!ZSTD_isError(packed) && packed < size && ratio_allowed(size, packed)) {
			out->len += packed;
			*ret_compressed = 1;
			return (int64_t)packed;
		}
	}
	TRY(buf_append(out, payload, size));
	return (int64_t)size;
}

int block_append(struct buf *out, struct block_header *h, const void *payload, size_t size, ZSTD_CCtx *cctx, uint64_t seed)
{
	static const char padding[8];
	size_t start = out->len;
	int compressed;
	int64_t stored;

	TRY(buf_append(out, h, sizeof(*h)));
	stored = append_payload(out, payload, size, cctx, &compressed);
	if (stored < 0)
		return (int)stored;
	h->magic = BLOCK_MAGIC;
	h->size = (uint64_t)stored;
	h->raw_size = size;
	h->flags = (uint16_t)((h->flags & ~BLOCK_COMPRESSED) | (compressed ? BLOCK_COMPRESSED : 0));
	h->checksum = block_checksum(h, out->data + start + sizeof(*h), seed);
	TRY(buf_append(out, padding, align8(h->size) - h->size));
	memcpy(out->data + start, h, sizeof(*h));
	return 0;
}

void block_skip(struct block_header *h, uint64_t span, uint64_t seed)
{
	*h = (struct block_header){
		.magic = BLOCK_MAGIC, .kind = BLOCK_SKIP, .flags = BLOCK_META, .size = span - sizeof(*h), .raw_size = span - sizeof(*h)
	};
	h->checksum = block_checksum(h, NULL, seed);
}

uint64_t block_span(const struct block_header *h)
{
	return sizeof(*h) + align8(h->size);
}

int block_peek(const uint8_t *at, uint64_t left, struct block_header *ret)
{
	if (left < sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, at, sizeof(*ret));
	if (ret->magic != BLOCK_MAGIC || ret->size > left - sizeof(*ret) || block_span(ret) > left)
		return -EBADMSG;
	if (ret->flags & BLOCK_COMPRESSED ? !ratio_allowed(ret->raw_size, ret->size) : ret->raw_size != ret->size)
		return -EBADMSG;
	return 0;
}

int block_sound(const uint8_t *at, const struct block_header *h, uint64_t seed)
{
	return h->checksum == block_checksum(h, at + sizeof(*h), seed);
}

int block_payload(const uint8_t *at, const struct block_header *h, const uint8_t **ret, uint8_t **ret_owned)
{
	uint8_t *raw;
	size_t n;

	*ret_owned = NULL;
	*ret = at + sizeof(*h);
	if (!(h->flags & BLOCK_COMPRESSED))
		return 0;
	raw = malloc(h->raw_size + 1);
	if (!raw)
		return -ENOMEM;
	n = ZSTD_decompress(raw, h->raw_size, at + sizeof(*h), h->size);
	if (ZSTD_isError(n) || n != h->raw_size) {
		free(raw);
		return -EBADMSG;
	}
	*ret = *ret_owned = raw;
	return 0;
}
