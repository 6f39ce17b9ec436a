/* The recorder's side of a pool: makes it, follows the chains of chunks, hands
 * read chunks back. Everything in the pool may be written by a broken or hostile process at any
 * moment: values are copied out once, then checked; what the reader needs to know for
 * sure (which chunk is whose, how far a ring was read) it keeps to itself. */
#ifndef SONDE_RING_READER_H
#define SONDE_RING_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ring/ring_layout.h"

enum ring_block_kind {
	RING_BLOCK_OPEN = 1,   /* a thread took the slot; data is its struct ring_slot */
	RING_BLOCK_DATA = 2,   /* whole records, as far as the writer tells the truth */
	RING_BLOCK_CLOSE = 3,  /* the thread ended and all it wrote came before; struct ring_slot */
	RING_BLOCK_DAMAGED = 4 /* the ring makes no sense; no more data will come from it */
};

struct ring_block {
	void *owner; /* the reader's `owner` */
	uint32_t slot;
	uint32_t kind;   /* enum ring_block_kind */
	uint32_t offset; /* in the batch's data */
	uint32_t size;
};

#define RING_BATCH_SIZE (256u * 1024u)
#define RING_BATCH_BLOCKS 2048u

/* What one go over the rings copied out, from any number of readers. */
struct ring_batch {
	uint8_t *data; /* RING_BATCH_SIZE bytes */
	uint32_t used;
	uint32_t count;
	struct ring_block blocks[RING_BATCH_BLOCKS];
};

struct ring_batch *ring_batch_new(void);
void ring_batch_free(struct ring_batch *batch);

struct reader_slot {
	uint32_t chunk;  /* index + 1 of the chunk being read; 0 = none yet */
	uint32_t offset; /* bytes of it read */
	uint32_t flags;
};

struct ring_reader {
	void *owner;
	uint8_t *base;
	size_t size;
	uint32_t slot_count;
	uint32_t chunk_cap;
	uint32_t chunk_offset;
	uint32_t chunk_limit; /* chunks the writers may use by now */
	uint32_t slots_found; /* modulo 2^32, as pops are counted */
	uint32_t reserve_size;
	uint32_t reserve_pushed;
	uint32_t cursor; /* where an interrupted round goes on */
	uint32_t budget; /* chunks the slot at the cursor may still hand in */
	uint32_t open_count;
	uint64_t bytes; /* read so far */
	uint32_t *open; /* slots with a thread */
	struct reader_slot *slots;
	uint8_t *chunk_owned; /* 1: part of a chain */
	uint8_t in_round;     /* the last collect() found the batch full */
	uint8_t more;         /* a ring had more to read than one round takes */
	uint8_t own_mapping;  /* unmap `base` on release */
};

struct ring_pool_size {
	uint32_t slots; /* room for */
	uint32_t chunks;
	uint32_t initial_chunks; /* that may be used at once */
	uint32_t reserve;        /* of these, for definitions */
};

/* Makes a sealed memfd, lays the pool out and maps it. *ret_fd is the caller's. */
int ring_reader_create(struct ring_reader *r, const struct ring_pool_size *size, int *ret_fd, struct error *err);
/* Reads a pool that exists in memory, all of it in use (tests). */
int ring_reader_adopt(struct ring_reader *r, void *base, size_t size, uint32_t slots, uint32_t chunks);
void ring_reader_release(struct ring_reader *r);

/* Bytes of a pool of that many slots and chunks. */
size_t ring_pool_bytes(uint32_t slots, uint32_t chunks);

/* Copies what is committed into the batch and hands chunks and slots back. Returns 1 when the
 * batch is full: empty it and call again; 0 when the round is done. */
int ring_reader_collect(struct ring_reader *r, struct ring_batch *batch);

/* Lets the writers use more chunks when they have come to more than half of what they may; at
 * most `chunks_allowed` more. Returns how many were added. */
uint32_t ring_reader_grow(struct ring_reader *r, uint32_t chunks_allowed);

/* A copy of the slot as it is now. */
void ring_reader_slot(const struct ring_reader *r, uint32_t slot, struct ring_slot *ret);
struct ring_pool *ring_reader_pool(const struct ring_reader *r);

#endif
