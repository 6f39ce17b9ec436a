/* Checksums would hide everything behind them from a fuzzer: they are made right wherever a block can be recognised. */
#ifndef SONDE_TESTS_FUZZ_MEND_H
#define SONDE_TESTS_FUZZ_MEND_H

#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#include "report/format/block.h"

static void mend_header(uint8_t *data, size_t size)
{
	struct file_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	file_header_seal(&h);
	memcpy(data, &h, sizeof(h));
}

/* The checksum a block should have; as in the format's description. */
static void mend_block(uint8_t *at, struct block_header *h, uint64_t seed)
{
	h->checksum = h->kind == BLOCK_SKIP ? 0 : XXH3_64bits_withSeed(at + sizeof(*h), h->size, seed);
	h->checksum = XXH3_64bits_withSeed(h, sizeof(*h), seed);
	memcpy(at, h, sizeof(*h));
}

static void mend(uint8_t *data, size_t size)
{
	struct block_header h;
	uint64_t seed, at = sizeof(struct file_header);

	if (size < sizeof(struct file_header))
		return;
	seed = block_seed(data + offsetof(struct file_header, id));
	mend_header(data, size);
	while (at + sizeof(h) <= size) {
		if (block_peek(data + at, size - at, &h) < 0) {
			at += 8;
			continue;
		}
		mend_block(data + at, &h, seed);
		at += block_span(&h);
	}
}

#endif
