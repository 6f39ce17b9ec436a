/* The agent's half of a pool, in the test's own process: pops chunks and slots as the
 * protocol in ring_layout.h says, and can be told to misbehave. */
#ifndef SONDE_TESTS_FAKE_WRITER_H
#define SONDE_TESTS_FAKE_WRITER_H

#include <stdint.h>

#include "ring/ring_layout.h"

struct fake_writer {
	struct ring_pool *pool;
	struct ring_slot *slot;
	uint32_t slot_index;
	struct ring_chunk *chunk;
	uint32_t chunk_index;
	uint32_t used;
};

struct ring_chunk *fake_chunk(struct ring_pool *pool, uint32_t index);
struct ring_slot *fake_slot(struct ring_pool *pool, uint32_t index);

/* Takes a slot; 0 when there was none. */
int fake_open(struct fake_writer *w, struct ring_pool *pool, uint32_t tid, uint64_t time);
/* Appends bytes as one record (their first 8 bytes are the head); 0 when dropped. */
int fake_write(struct fake_writer *w, const void *record, uint32_t size);
void fake_close(struct fake_writer *w, uint64_t time);

/* Records. */
int fake_push(struct fake_writer *w, uint64_t time, unsigned domain, unsigned level, const char *text);
int fake_pop(struct fake_writer *w, uint64_t time, unsigned domain, unsigned level);

#endif
