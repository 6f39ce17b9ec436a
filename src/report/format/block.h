/* Blocks: the unit of writing, checking and skipping. */
#ifndef SONDE_REPORT_FORMAT_BLOCK_H
#define SONDE_REPORT_FORMAT_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/buf.h"
#include "report/format/file_format.h"

/* Checksums are seeded with the file's id: blocks of another file that happen to lie
 * on the same disk sectors are not mistaken for this file's. */
uint64_t block_seed(const uint8_t id[16]);

void file_header_seal(struct file_header *h);
int file_header_sound(const struct file_header *h);

/* Appends header, payload and padding to `out`. The caller has filled what describes
 * the content; sizes, magic and checksum are filled here. With `cctx` the payload is
 * compressed where that pays. */
int block_append(struct buf *out, struct block_header *h, const void *payload, size_t size, ZSTD_CCtx *cctx, uint64_t seed);

/* The header in place of `span` bytes of blocks that were given up; what follows it is not looked at. */
void block_skip(struct block_header *h, uint64_t span, uint64_t seed);

/* The bytes a block takes in the file. */
uint64_t block_span(const struct block_header *h);

/* Copies the header at `at` and checks that it can be one and that the block fits
 * into `left` bytes; -EBADMSG otherwise. Does not look at the payload. */
int block_peek(const uint8_t *at, uint64_t left, struct block_header *ret);

/* Whether the checksum of a block that passed block_peek() holds. */
int block_sound(const uint8_t *at, const struct block_header *h, uint64_t seed);

/* The payload, decompressed into *ret_owned (to be freed) where it is compressed. */
int block_payload(const uint8_t *at, const struct block_header *h, const uint8_t **ret, uint8_t **ret_owned);

#endif
