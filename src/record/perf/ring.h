/* A perf ring: one per CPU, written by the kernel. */
#ifndef SONDE_RECORD_PERF_RING_H
#define SONDE_RECORD_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	uint64_t size;    /* of data: a power of two */
	uint64_t head;    /* as far as the kernel had come at the last look */
	uint64_t tail;    /* as far as we have read */
	uint64_t damaged; /* looks that found what no kernel writes */
	uint8_t *wrapped; /* 64 KiB, for a record across the end */
};

/* Sets up a ring over memory laid out as the kernel does: a page, then `size` bytes. */
int perf_ring_init(struct perf_ring *ring, void *memory, size_t page_size, size_t size);
void perf_ring_release(struct perf_ring *ring);

/* Sees how far the kernel has come. Returns the bytes that can be read. */
uint64_t perf_ring_look(struct perf_ring *ring);
/* The next record, all of it in one piece and at least a header; NULL when there is none up
 * to the last look. It stays valid until the ring is advanced. */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring);
/* Past that record. */
void perf_ring_advance(struct perf_ring *ring, const struct perf_event_header *header);
/* Gives the kernel back what was read. */
void perf_ring_give_back(struct perf_ring *ring);

#endif
