#include "ring/ring_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

enum { SLOT_OPEN = 1, SLOT_DAMAGED = 2 };

/* One slot may not keep the others waiting: 512 KiB a round. */
#define CHUNKS_PER_VISIT 64u
/* A push only competes with pops; who makes it fail this often is an attacker. */
#define PUSH_ATTEMPTS 100000u

static uint32_t take_lesser_count(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

struct ring_batch *ring_batch_new(void)
{
	struct ring_batch *batch = malloc(sizeof(*batch));

	if (!batch)
		return NULL;
	batch->used = batch->count = 0;
	batch->data = malloc(RING_BATCH_SIZE);
	if (!batch->data) {
		free(batch);
		return NULL;
	}
	return batch;
}

void ring_batch_free(struct ring_batch *batch)
{
	if (batch)
		free(batch->data);
	free(batch);
}

static int batch_has_room(const struct ring_batch *batch, uint32_t size)
{
	return batch->count < RING_BATCH_BLOCKS && RING_BATCH_SIZE - batch->used >= size;
}

/* The caller has checked the room. Returns where the bytes go. */
static uint8_t *batch_add(struct ring_batch *batch, struct ring_reader *r, uint32_t slot, uint32_t kind, uint32_t size)
{
	struct ring_block *block = &batch->blocks[batch->count];
	uint8_t *at = batch->data + batch->used;

	CHECK(batch_has_room(batch, size));
	batch->count++;
	*block = (struct ring_block){ .owner = r->owner, .slot = slot, .kind = kind, .offset = batch->used, .size = size };
	batch->used += (size + 7u) & ~7u;
	return at;
}

struct ring_pool *ring_reader_pool(const struct ring_reader *r)
{
	return (struct ring_pool *)r->base;
}

static struct ring_slot *slot_at(const struct ring_reader *r, uint32_t slot)
{
	return (struct ring_slot *)(r->base + RING_PAGE_SIZE) + slot;
}

static struct ring_chunk *chunk_at(const struct ring_reader *r, uint32_t chunk)
{
	return (struct ring_chunk *)(r->base + r->chunk_offset) + chunk;
}

static uint32_t chunks_begin(uint32_t slots)
{
	uint32_t end = RING_PAGE_SIZE + slots * (uint32_t)sizeof(struct ring_slot);

	return (end + RING_PAGE_SIZE - 1) & ~(RING_PAGE_SIZE - 1);
}

size_t ring_pool_bytes(uint32_t slots, uint32_t chunks)
{
	return chunks_begin(slots) + (size_t)chunks * RING_CHUNK_SIZE;
}

static int push(_Atomic uint64_t *list, _Atomic uint32_t *next_free, uint32_t index)
{
	uint64_t head = atomic_load_explicit(list, memory_order_relaxed);

	for (uint32_t attempt = 0; attempt < PUSH_ATTEMPTS; attempt++) {
		atomic_store_explicit(next_free, ring_list_index(head), memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(list, &head, ring_list_head(ring_list_pops(head), index + 1),
							  memory_order_release, memory_order_relaxed))
			return 0;
	}
	return -EBUSY;
}

static void push_slot(struct ring_reader *r, uint32_t slot)
{
	struct ring_slot *s = slot_at(r, slot);

	push(&ring_reader_pool(r)->free_slots, &s->next_free, slot);
}

/* Definitions go first: their reserve is filled up before the common list. */
static void push_chunk(struct ring_reader *r, uint32_t chunk)
{
	struct ring_pool *pool = ring_reader_pool(r);
	struct ring_chunk *c = chunk_at(r, chunk);
	uint64_t reserve = atomic_load_explicit(&pool->free_reserve, memory_order_relaxed);

	atomic_store_explicit(&c->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&c->next, 0, memory_order_relaxed);
	if (r->reserve_pushed - ring_list_pops(reserve) < r->reserve_size) {
		if (push(&pool->free_reserve, &c->next_free, chunk) == 0)
			r->reserve_pushed++;
		return;
	}
	/* Told before it is there: who subtracts the pops he sees does not get less than nothing. */
	atomic_fetch_add_explicit(&pool->chunks_pushed, 1, memory_order_relaxed);
	push(&pool->free_chunks, &c->next_free, chunk);
}

/* Pages nobody touches cost nothing: most pools use a small part of their room. */
static void *allocate_zeroed(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static size_t tables_size(const struct ring_reader *r)
{
	return (size_t)r->slot_count * (sizeof(*r->slots) + sizeof(*r->open)) + r->chunk_cap;
}

static int make_tables(struct ring_reader *r)
{
	r->slots = allocate_zeroed(tables_size(r));
	if (!r->slots)
		return -ENOMEM;
	r->open = (uint32_t *)(r->slots + r->slot_count);
	r->chunk_owned = (uint8_t *)(r->open + r->slot_count);
	return 0;
}

static void lay_out(struct ring_reader *r, const struct ring_pool_size *size)
{
	struct ring_pool *pool = ring_reader_pool(r);

	pool->magic = RING_POOL_MAGIC;
	pool->abi = RING_ABI_VERSION;
	pool->slot_count = r->slot_count;
	pool->chunk_cap = r->chunk_cap;
	pool->chunk_offset = r->chunk_offset;
	pool->size = r->size;
	r->reserve_size = size->reserve;
	for (uint32_t i = size->reserve; i-- > 0;)
		push_chunk(r, i);
	r->chunk_limit = size->initial_chunks;
	atomic_store_explicit(&pool->fresh_chunks, size->reserve, memory_order_relaxed);
	atomic_store_explicit(&pool->chunk_limit, r->chunk_limit, memory_order_relaxed);
}

static int make_memfd(size_t size, struct error *err)
{
	int fd = memfd_create("sonde-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return error_set_errno(err, errno, "cannot make a memory file");
	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		error_set_errno(err, errno, "cannot size a memory file of %zu bytes", size);
		close(fd);
		return -EIO;
	}
	return fd;
}

int ring_reader_create(struct ring_reader *r, const struct ring_pool_size *size, int *ret_fd, struct error *err)
{
	int fd;

	*r = (struct ring_reader){ .slot_count = size->slots,
				   .chunk_cap = size->chunks,
				   .chunk_offset = chunks_begin(size->slots),
				   .own_mapping = 1,
				   .size = ring_pool_bytes(size->slots, size->chunks) };
	fd = make_memfd(r->size, err);
	if (fd < 0)
		return fd;
	r->base = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->base == MAP_FAILED || make_tables(r) < 0) {
		if (r->base != MAP_FAILED)
			munmap(r->base, r->size);
		r->base = NULL;
		close(fd);
		return error_set(err, ENOMEM, "no memory for a pool of %zu bytes", r->size);
	}
	lay_out(r, size);
	*ret_fd = fd;
	return 0;
}

int ring_reader_adopt(struct ring_reader *r, void *base, size_t size, uint32_t slots, uint32_t chunks)
{
	*r = (struct ring_reader){ .slot_count = slots,
				   .chunk_cap = chunks,
				   .base = base,
				   .size = size,
				   .chunk_offset = chunks_begin(slots),
				   .chunk_limit = chunks };
	if (size < ring_pool_bytes(slots, chunks))
		return -EINVAL;
	return make_tables(r);
}

void ring_reader_release(struct ring_reader *r)
{
	if (r->slots)
		munmap(r->slots, tables_size(r));
	if (r->own_mapping && r->base)
		munmap(r->base, r->size);
	*r = (struct ring_reader){ 0 };
}

void ring_reader_slot(const struct ring_reader *r, uint32_t slot, struct ring_slot *ret)
{
	const struct ring_slot *s = slot_at(r, slot);

	/* Acquire: what the writer stored before the state is seen with it. */
	uint32_t state = atomic_load_explicit(&s->state, memory_order_acquire);

	memset(ret, 0, sizeof(*ret));
	atomic_store_explicit(&ret->state, state, memory_order_relaxed);
	ret->tid = s->tid;
	ret->start_time = s->start_time;
	ret->end_time = state == RING_SLOT_CLOSED ? s->end_time : 0;
	ret->dropped = atomic_load_explicit(&s->dropped, memory_order_relaxed);
	ret->refused = atomic_load_explicit(&s->refused, memory_order_relaxed);
	ret->unmatched = atomic_load_explicit(&s->unmatched, memory_order_relaxed);
	ret->stacks_cut = atomic_load_explicit(&s->stacks_cut, memory_order_relaxed);
	ret->details = atomic_load_explicit(&s->details, memory_order_relaxed);
	ret->call = atomic_load_explicit(&s->call, memory_order_acquire);
	ret->call_start = atomic_load_explicit(&s->call_start, memory_order_relaxed);
	if (state == RING_SLOT_CLOSED || state == RING_SLOT_LIVE)
		memcpy(ret->comm, s->comm, sizeof(ret->comm));
	ret->comm[RING_COMM_SIZE - 1] = '\0';
}

static void add_slot_block(struct ring_reader *r, struct ring_batch *batch, uint32_t slot, uint32_t kind)
{
	uint8_t *at = batch_add(batch, r, slot, kind, sizeof(struct ring_slot));
	struct ring_slot copy;

	ring_reader_slot(r, slot, &copy);
	memcpy(at, &copy, sizeof(copy));
}

/* New threads: only looked for while more slots were popped than were found. */
static int find_new_slots(struct ring_reader *r, struct ring_batch *batch)
{
	struct ring_pool *pool = ring_reader_pool(r);
	uint32_t pops = ring_list_pops(atomic_load_explicit(&pool->free_slots, memory_order_acquire));
	uint32_t fresh = atomic_load_explicit(&pool->fresh_slots, memory_order_acquire);
	uint32_t state;

	if (pops + fresh == r->slots_found)
		return 0;
	for (uint32_t i = 0; i < take_lesser_count(fresh, r->slot_count); i++) {
		if (r->slots[i].flags & SLOT_OPEN)
			continue;
		state = atomic_load_explicit(&slot_at(r, i)->state, memory_order_acquire);
		if (state != RING_SLOT_LIVE && state != RING_SLOT_CLOSED)
			continue;
		if (!batch_has_room(batch, sizeof(struct ring_slot)))
			return 1;
		r->slots[i] = (struct reader_slot){ .flags = SLOT_OPEN };
		CHECK(r->open_count < r->slot_count);
		r->open[r->open_count++] = i;
		r->slots_found++;
		add_slot_block(r, batch, i, RING_BLOCK_OPEN);
	}
	return 0;
}

/* Takes a chunk into a chain; 0 when the index is none a writer can have. */
static int own_chunk(struct ring_reader *r, uint32_t index_plus_one)
{
	if (index_plus_one == 0 || index_plus_one > r->chunk_cap || r->chunk_owned[index_plus_one - 1])
		return 0;
	r->chunk_owned[index_plus_one - 1] = 1;
	return 1;
}

static void recycle_chunk(struct ring_reader *r, uint32_t index_plus_one)
{
	CHECK(index_plus_one > 0 && index_plus_one <= r->chunk_cap && r->chunk_owned[index_plus_one - 1]);
	r->chunk_owned[index_plus_one - 1] = 0;
	push_chunk(r, index_plus_one - 1);
}

enum visit { VISIT_DONE, VISIT_FULL, VISIT_BROKEN };

static enum visit first_chunk(struct ring_reader *r, uint32_t slot)
{
	uint32_t first = atomic_load_explicit(&slot_at(r, slot)->first_chunk, memory_order_acquire);

	if (first && !own_chunk(r, first))
		return VISIT_BROKEN;
	r->slots[slot].chunk = first;
	r->slots[slot].offset = 0;
	return VISIT_DONE;
}

/* Copies what is new in the chunk at hand. */
static enum visit copy_chunk(struct ring_reader *r, struct ring_batch *batch, uint32_t slot, uint32_t *ret_next)
{
	struct reader_slot *s = &r->slots[slot];
	struct ring_chunk *chunk = chunk_at(r, s->chunk - 1);
	uint32_t committed, size;

	/* next before committed: once a next one is linked, committed is final. */
	*ret_next = atomic_load_explicit(&chunk->next, memory_order_acquire);
	committed = atomic_load_explicit(&chunk->committed, memory_order_acquire);
	if (committed > RING_CHUNK_DATA || committed < s->offset || committed % 8)
		return VISIT_BROKEN;
	size = committed - s->offset;
	if (size == 0)
		return VISIT_DONE;
	if (!batch_has_room(batch, size))
		return VISIT_FULL;
	memcpy(batch_add(batch, r, slot, RING_BLOCK_DATA, size), chunk->data + s->offset, size);
	s->offset = committed;
	r->bytes += size;
	return VISIT_DONE;
}

static enum visit follow_chain(struct ring_reader *r, struct ring_batch *batch, uint32_t slot)
{
	struct reader_slot *s = &r->slots[slot];
	enum visit result = VISIT_DONE;
	uint32_t next, done;

	if (!s->chunk)
		result = first_chunk(r, slot);
	while (result == VISIT_DONE && s->chunk && r->budget) {
		result = copy_chunk(r, batch, slot, &next);
		if (result != VISIT_DONE || !next)
			break;
		if (!own_chunk(r, next))
			return VISIT_BROKEN;
		done = s->chunk;
		s->chunk = next;
		s->offset = 0;
		recycle_chunk(r, done);
		if (--r->budget == 0)
			r->more = 1;
	}
	return result;
}

static void close_slot(struct ring_reader *r, uint32_t slot)
{
	struct ring_slot *s = slot_at(r, slot);

	if (r->slots[slot].chunk)
		recycle_chunk(r, r->slots[slot].chunk);
	r->slots[slot] = (struct reader_slot){ 0 };
	atomic_store_explicit(&s->first_chunk, 0, memory_order_relaxed);
	atomic_store_explicit(&s->dropped, 0, memory_order_relaxed);
	atomic_store_explicit(&s->refused, 0, memory_order_relaxed);
	atomic_store_explicit(&s->unmatched, 0, memory_order_relaxed);
	atomic_store_explicit(&s->stacks_cut, 0, memory_order_relaxed);
	atomic_store_explicit(&s->details, 0, memory_order_relaxed);
	atomic_store_explicit(&s->state, RING_SLOT_FREE, memory_order_release);
	push_slot(r, slot);
}

/* Reads one slot; closes it when its thread ended before we read the rest. */
static enum visit visit_slot(struct ring_reader *r, struct ring_batch *batch, uint32_t slot, int *ret_closed)
{
	uint32_t state = atomic_load_explicit(&slot_at(r, slot)->state, memory_order_acquire);
	enum visit result;

	*ret_closed = 0;
	if (r->slots[slot].flags & SLOT_DAMAGED)
		return VISIT_DONE;
	if (!batch_has_room(batch, sizeof(struct ring_slot)))
		return VISIT_FULL;
	result = follow_chain(r, batch, slot);
	if (result == VISIT_BROKEN) {
		if (!batch_has_room(batch, 0))
			return VISIT_FULL;
		r->slots[slot].flags |= SLOT_DAMAGED;
		batch_add(batch, r, slot, RING_BLOCK_DAMAGED, 0);
		return VISIT_DONE;
	}
	if (result == VISIT_DONE && state == RING_SLOT_CLOSED && r->budget) {
		if (!batch_has_room(batch, sizeof(struct ring_slot)))
			return VISIT_FULL;
		add_slot_block(r, batch, slot, RING_BLOCK_CLOSE);
		close_slot(r, slot);
		*ret_closed = 1;
	}
	return result;
}

int ring_reader_collect(struct ring_reader *r, struct ring_batch *batch)
{
	int closed;

	if (!r->in_round) {
		if (find_new_slots(r, batch))
			return 1;
		r->budget = CHUNKS_PER_VISIT;
		r->in_round = 1;
		r->more = 0;
	}
	while (r->cursor < r->open_count) {
		if (visit_slot(r, batch, r->open[r->cursor], &closed) == VISIT_FULL)
			return 1;
		if (closed)
			r->open[r->cursor] = r->open[--r->open_count];
		else
			r->cursor++;
		r->budget = CHUNKS_PER_VISIT;
	}
	r->cursor = 0;
	r->in_round = 0;
	return 0;
}

uint32_t ring_reader_grow(struct ring_reader *r, uint32_t chunks_allowed)
{
	struct ring_pool *pool = ring_reader_pool(r);
	uint32_t fresh = atomic_load_explicit(&pool->fresh_chunks, memory_order_relaxed);
	uint32_t more;

	if (fresh <= r->chunk_limit / 2)
		return 0;
	more = take_lesser_count(take_lesser_count(r->chunk_limit, r->chunk_cap - r->chunk_limit), chunks_allowed);
	r->chunk_limit += more;
	atomic_store_explicit(&pool->chunk_limit, r->chunk_limit, memory_order_relaxed);
	return more;
}
