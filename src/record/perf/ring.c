#include "record/perf/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_RECORD 65536u

int perf_ring_init(struct perf_ring *ring, void *memory, size_t page_size, size_t size)
{
	if (size < 4096 || (size & (size - 1)))
		return -EINVAL;
	*ring = (struct perf_ring){
		.page = memory, .data = (const uint8_t *)memory + page_size, .size = size, .wrapped = malloc(LARGEST_RECORD)
	};
	return ring->wrapped ? 0 : -ENOMEM;
}

void perf_ring_release(struct perf_ring *ring)
{
	free(ring->wrapped);
	*ring = (struct perf_ring){ 0 };
}

/* What lies between is not to be made sense of: go on with what comes next. */
static void skip_all(struct perf_ring *ring)
{
	ring->damaged++;
	ring->tail = ring->head;
}

uint64_t perf_ring_look(struct perf_ring *ring)
{
	if (!ring->page)
		return 0;
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	if (ring->head - ring->tail > ring->size)
		skip_all(ring);
	return ring->head - ring->tail;
}

const struct perf_event_header *perf_ring_next(struct perf_ring *ring)
{
	uint64_t ready = ring->head - ring->tail, at = ring->tail & (ring->size - 1);
	const struct perf_event_header *header = (const void *)(ring->data + at);
	uint64_t size, first;

	if (ready < sizeof(*header)) {
		if (ready)
			skip_all(ring);
		return NULL;
	}
	/* Records are multiples of 8 bytes: a header is never across the end. */
	size = header->size;
	if (size < sizeof(*header) || size % 8 || size > ready) {
		skip_all(ring);
		return NULL;
	}
	first = ring->size - at;
	if (size <= first)
		return header;
	memcpy(ring->wrapped, ring->data + at, first);
	memcpy(ring->wrapped + first, ring->data, size - first);
	return (const void *)ring->wrapped;
}

void perf_ring_advance(struct perf_ring *ring, const struct perf_event_header *header)
{
	ring->tail += header->size;
}

void perf_ring_give_back(struct perf_ring *ring)
{
	if (ring->page)
		__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
