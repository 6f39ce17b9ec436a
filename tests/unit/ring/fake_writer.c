#include "fake_writer.h"

#include <string.h>

#include "fmt/record.h"

struct ring_chunk *fake_chunk(struct ring_pool *pool, uint32_t index)
{
	return (struct ring_chunk *)((uint8_t *)pool + pool->chunk_offset) + index;
}

struct ring_slot *fake_slot(struct ring_pool *pool, uint32_t index)
{
	return (struct ring_slot *)((uint8_t *)pool + RING_PAGE_SIZE) + index;
}

/* A list's top, or one that was never used; 0 when there is none. */
static int take(struct ring_pool *pool, _Atomic uint64_t *list, _Atomic uint32_t *fresh, uint32_t limit, int slots, uint32_t *ret)
{
	uint64_t head = atomic_load_explicit(list, memory_order_acquire);
	_Atomic uint32_t *next_free;
	uint32_t next;

	while (ring_list_index(head)) {
		*ret = ring_list_index(head) - 1;
		next_free = slots ? &fake_slot(pool, *ret)->next_free : &fake_chunk(pool, *ret)->next_free;
		next = atomic_load_explicit(next_free, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(list, &head, ring_list_head(ring_list_pops(head) + 1, next), memory_order_acquire,
							  memory_order_acquire))
			return 1;
	}
	*ret = atomic_load_explicit(fresh, memory_order_relaxed);
	while (*ret < limit)
		if (atomic_compare_exchange_weak_explicit(fresh, ret, *ret + 1, memory_order_relaxed, memory_order_relaxed))
			return 1;
	return 0;
}

static int pop_chunk(struct ring_pool *pool, uint32_t *ret)
{
	uint32_t limit = atomic_load_explicit(&pool->chunk_limit, memory_order_relaxed);

	return take(pool, &pool->free_chunks, &pool->fresh_chunks, limit, 0, ret);
}

static int pop_slot(struct ring_pool *pool, uint32_t *ret)
{
	return take(pool, &pool->free_slots, &pool->fresh_slots, pool->slot_count, 1, ret);
}

int fake_open(struct fake_writer *w, struct ring_pool *pool, uint32_t tid, uint64_t time)
{
	*w = (struct fake_writer){ .pool = pool };
	if (!pop_slot(pool, &w->slot_index))
		return 0;
	w->slot = fake_slot(pool, w->slot_index);
	w->slot->tid = tid;
	w->slot->start_time = time;
	strcpy(w->slot->comm, "fake");
	atomic_store_explicit(&w->slot->state, RING_SLOT_LIVE, memory_order_release);
	return 1;
}

static int next_chunk(struct fake_writer *w)
{
	uint32_t index;

	if (!pop_chunk(w->pool, &index))
		return 0;
	if (w->chunk)
		atomic_store_explicit(&w->chunk->next, index + 1, memory_order_release);
	else
		atomic_store_explicit(&w->slot->first_chunk, index + 1, memory_order_release);
	w->chunk = fake_chunk(w->pool, index);
	w->chunk_index = index;
	w->chunk->slot = w->slot_index;
	w->used = 0;
	return 1;
}

int fake_write(struct fake_writer *w, const void *record, uint32_t size)
{
	if ((!w->chunk || RING_CHUNK_DATA - w->used < record_stride(size)) && !next_chunk(w)) {
		atomic_fetch_add_explicit(&w->slot->dropped, 1, memory_order_relaxed);
		return 0;
	}
	memcpy(w->chunk->data + w->used, record, size);
	w->used += record_stride(size);
	atomic_store_explicit(&w->chunk->committed, w->used, memory_order_release);
	return 1;
}

void fake_close(struct fake_writer *w, uint64_t time)
{
	w->slot->end_time = time;
	atomic_store_explicit(&w->slot->state, RING_SLOT_CLOSED, memory_order_release);
}

int fake_push(struct fake_writer *w, uint64_t time, unsigned domain, unsigned level, const char *text)
{
	uint8_t bytes[512];
	size_t length = strlen(text);
	struct record_plain plain = { .time = time };
	uint32_t size = (uint32_t)(sizeof(plain) + length);

	plain.head = record_head(RECORD_NVTX_PUSH, 0, size, level, domain);
	memcpy(bytes, &plain, sizeof(plain));
	memcpy(bytes + sizeof(plain), text, length);
	return fake_write(w, bytes, size);
}

int fake_pop(struct fake_writer *w, uint64_t time, unsigned domain, unsigned level)
{
	struct record_plain plain = { .time = time };

	plain.head = record_head(RECORD_NVTX_POP, 0, sizeof(plain), level, domain);
	return fake_write(w, &plain, sizeof(plain));
}
