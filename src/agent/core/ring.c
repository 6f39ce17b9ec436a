/* The writer's side of a ring: slots and chunks, taken by one atomic each. */
#include <errno.h>
#include <time.h>

#include "agent/core/sampling.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"

__thread struct agent_tls agent_tls __attribute__((tls_model("initial-exec")));

/* Chunks ahead that are faulted in together. */
#define POPULATE_CHUNKS 16u
/* How long a thread of ours waits for a recorder that gives nothing back. */
#define PATIENCE_NS 2000000000l
#define PATIENCE_STEP_NS 500000l

void agent_ring_doorbell(void)
{
	_Atomic uint32_t *sleeping = &agent_pages.doorbell.sleeping;

	if (atomic_load_explicit(sleeping, memory_order_relaxed) && atomic_exchange_explicit(sleeping, 0, memory_order_acq_rel))
		raw_futex_wake(sleeping);
}

/* The next one that was never used, as index + 1. The recorder is woken: it has some to
 * hand back. */
static uint32_t take_fresh(_Atomic uint32_t *fresh, uint32_t limit)
{
	uint32_t index = atomic_load_explicit(fresh, memory_order_relaxed);

	agent_ring_doorbell();
	while (index < limit)
		if (atomic_compare_exchange_weak_explicit(fresh, &index, index + 1, memory_order_relaxed, memory_order_relaxed))
			return index + 1;
	return 0;
}

static uint32_t fresh_chunk(struct ring_pool *pool)
{
	uint32_t limit = atomic_load_explicit(&pool->chunk_limit, memory_order_relaxed) +
			 atomic_load_explicit(&pool->fresh_slots, memory_order_relaxed);
	uint32_t index = take_fresh(&pool->fresh_chunks, limit < pool->chunk_cap ? limit : pool->chunk_cap);

	/* One call for some chunks costs about as much as one page fault for each page of one. */
	if (index && index % POPULATE_CHUNKS == 0 && pool->chunk_cap - index >= POPULATE_CHUNKS)
		raw_madvise(agent_chunk(pool, index), POPULATE_CHUNKS * RING_CHUNK_SIZE, MADV_POPULATE_WRITE);
	return index;
}

/* A list and the things on it: where the first one keeps its `next_free`, how far it is to the
 * next one's, and how many there are. */
struct free_list {
	_Atomic uint64_t *head;
	void *first;
	size_t stride;
	uint32_t count;
};

/* Index + 1 of what was on top; 0 when the list is empty. */
static uint32_t pop(struct free_list list)
{
	uint64_t head = atomic_load_explicit(list.head, memory_order_acquire);
	_Atomic uint32_t *next_free;
	uint32_t index, next;

	while ((index = ring_list_index(head)) != 0 && index <= list.count) {
		next_free = (_Atomic uint32_t *)((uint8_t *)list.first + (index - 1) * list.stride);
		next = atomic_load_explicit(next_free, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(list.head, &head, ring_list_head(ring_list_pops(head) + 1, next),
							  memory_order_acquire, memory_order_acquire))
			return index;
	}
	return 0;
}

static uint32_t pop_chunk(struct ring_pool *pool, _Atomic uint64_t *head)
{
	return pop((struct free_list){ head, &agent_chunk(pool, 0)->next_free, sizeof(struct ring_chunk), pool->chunk_cap });
}

static uint32_t pop_slot(struct ring_pool *pool)
{
	return pop((struct free_list){ &pool->free_slots, &agent_slot(pool, 0)->next_free, sizeof(struct ring_slot), pool->slot_count });
}

/* Memory of the thread in this slot; the next thread in it gets the same. */
static struct agent_thread_memory *memory_for_slot(uint32_t index)
{
	struct agent_thread_memory *memory = atomic_load_explicit(&agent_state.memory[index], memory_order_acquire);

	if (!memory) {
		memory = agent_permanent_lines(sizeof(*memory));
		atomic_store_explicit(&agent_state.memory[index], memory, memory_order_release);
		if (!memory)
			return NULL;
	}
	for (uint32_t i = 0; i < AGENT_LEVEL_DOMAINS; i++)
		memory->levels[i] = 0;
	memory->life++;
	memory->sample = (struct agent_sample_thread){ 0 };
	memory->operators = (struct agent_operators){ 0 };
	memory->capture = 0;
	return memory;
}

/* An event under way, further out on this stack, needs its pointers: what comes now is refused by the guard. */
static void restart_thread_ring(void)
{
	if (!agent_tls.busy || agent_guard_is_stale(agent_tls.busy))
		agent_forget_thread();
}

void agent_new_window(uint32_t attached, uint32_t gate)
{
	struct agent_thread_memory *memory = agent_memory();

	if (!memory)
		return;
	if (agent_tls.attached != attached) {
		restart_thread_ring();
		return;
	}
	for (uint32_t i = 0; i < AGENT_LEVEL_DOMAINS; i++)
		memory->levels[i] = 0;
	agent_tls.ranges = 0; /* levels kept elsewhere go by this number */
	agent_tls.gate = gate;
	memory->operators = (struct agent_operators){ 0 };
	memory->capture = 0;
}

static int take_slot(struct ring_pool *pool, struct agent_tls *tls)
{
	uint32_t attached = atomic_load_explicit(&agent_pages.attached, memory_order_acquire);
	uint32_t index = attached & AGENT_ATTACHED ? pop_slot(pool) : 0;
	struct ring_slot *slot;
	struct agent_thread_memory *memory;

	if (!(attached & AGENT_ATTACHED))
		return -ESHUTDOWN; /* meanwhile: nothing is lost that was to be recorded */
	if (!index)
		index = take_fresh(&pool->fresh_slots, pool->slot_count);
	if (!index)
		return -EAGAIN;
	memory = memory_for_slot(index - 1);
	if (!memory)
		return -ENOMEM;
	slot = agent_slot(pool, index - 1);
	slot->tid = (uint32_t)raw_gettid();
	slot->start_time = agent_now();
	slot->end_time = 0;
	atomic_store_explicit(&slot->first_chunk, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->dropped, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->refused, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->unmatched, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->stacks_cut, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->details, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->call, 0, memory_order_relaxed);
	raw_thread_name(slot->comm);
	tls->levels = memory->levels;
	tls->slot = slot;
	tls->write = tls->end = NULL;
	tls->attached = attached;
	tls->gate = atomic_load_explicit(&agent_pages.session.gate, memory_order_relaxed);
	atomic_store_explicit(&slot->state, RING_SLOT_LIVE, memory_order_release);
	if (agent_state.has_key)
		pthread_setspecific(agent_state.key, slot);
	return 0;
}

/* The next chunk of this thread's chain. Linking it publishes the end of the one before. */
static int take_chunk(struct ring_pool *pool, struct agent_tls *tls, int use_reserve)
{
	uint32_t index = pop_chunk(pool, &pool->free_chunks);
	struct ring_chunk *chunk;

	if (!index)
		index = fresh_chunk(pool);
	if (!index && use_reserve)
		index = pop_chunk(pool, &pool->free_reserve);
	if (!index)
		return -ENOSPC;
	chunk = agent_chunk(pool, index - 1);
	chunk->slot = (uint32_t)(tls->slot - agent_slot(pool, 0));
	atomic_store_explicit(&chunk->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->next, 0, memory_order_relaxed);
	if (tls->end) {
		atomic_store_explicit(&agent_chunk_at(tls->end)->next, index, memory_order_release);
		agent_ring_doorbell();
	} else {
		atomic_store_explicit(&tls->slot->first_chunk, index, memory_order_release);
	}
	tls->write = chunk->data;
	tls->end = chunk->data + RING_CHUNK_DATA;
	return 0;
}

/* What to do where there is no room. */
enum want { WANT_ROOM, WANT_RESERVE, WANT_PATIENCE, WANT_PIECE };

/* Where it is counted that something had no room: an event, or what only belongs to events. */
static _Atomic uint64_t *counter_of(struct ring_slot *slot, enum want want)
{
	return want == WANT_RESERVE ? &slot->details : want == WANT_PIECE ? &slot->stacks_cut : &slot->dropped;
}

/* The guard is ours: nobody else writes the slot's counters. */
static void count_dropped(struct agent_tls *tls, struct ring_pool *pool, enum want want)
{
	_Atomic uint64_t *counter = tls->slot ? counter_of(tls->slot, want) : NULL;

	if (counter)
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
	else if (want != WANT_RESERVE && want != WANT_PIECE)
		atomic_fetch_add_explicit(&pool->dropped_without_slot, 1, memory_order_relaxed);
}

static int reserve_ring_bytes(uint32_t size, int use_reserve)
{
	struct agent_tls *tls = &agent_tls;
	struct ring_pool *pool = agent_state.pool;
	int result = 0;

	if (size > RING_CHUNK_DATA)
		return -ENOSPC;
	/* A pool of a recording that is over, or of the parent after a fork by another thread. */
	if (tls->slot && !agent_thread_is_current())
		agent_forget_thread();
	if (!tls->slot)
		result = take_slot(pool, tls);
	if (result == 0 && (size_t)(tls->end - tls->write) < record_stride(size))
		result = take_chunk(pool, tls, use_reserve);
	return result;
}

/* Chunks come back when the recorder has read them. Its process may be stopped, or gone: not waited for
 * again then, until it has given one back. */
static int wait_for_room(uint32_t size)
{
	static _Atomic uint32_t given_up;
	const struct timespec pause = { .tv_nsec = PATIENCE_STEP_NS };
	struct ring_pool *pool = agent_state.pool;
	uint64_t head = atomic_load(&pool->free_chunks), now;
	int result = reserve_ring_bytes(size, 0);

	for (long waited = 0; result == -ENOSPC && waited < PATIENCE_NS && !atomic_load(&given_up); waited += PATIENCE_STEP_NS) {
		agent_ring_doorbell();
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		now = atomic_load(&pool->free_chunks);
		if (now != head)
			waited = 0;
		head = now;
		result = reserve_ring_bytes(size, 0);
	}
	atomic_store(&given_up, result == -ENOSPC);
	return result;
}

/* An event refused by the guard, in a signal handler that may be interrupted by another one. */
static void count_refused(struct agent_tls *tls, struct ring_pool *pool, enum want want)
{
	if (want == WANT_ROOM || want == WANT_PATIENCE)
		atomic_fetch_add_explicit(tls->slot ? &tls->slot->refused : &pool->dropped_without_slot, 1, memory_order_relaxed);
}

static void *begin_ring_record(uint32_t size, enum want want)
{
	struct agent_tls *tls = &agent_tls;
	int saved_errno = errno;
	int result;

	if (tls->busy && !agent_guard_is_stale(tls->busy)) {
		count_refused(tls, agent_state.pool, want);
		return NULL;
	}
	tls->busy = arch_stack_pointer();
	atomic_signal_fence(memory_order_seq_cst);
	result = want == WANT_PATIENCE && size <= RING_CHUNK_DATA ? wait_for_room(size) : reserve_ring_bytes(size, want == WANT_RESERVE);
	errno = saved_errno;
	if (result == 0)
		return tls->write;
	if (result != -ESHUTDOWN)
		count_dropped(tls, agent_state.pool, want);
	if (result == -ENOSPC && agent_state.late)
		agent_doubt_recorder();
	atomic_signal_fence(memory_order_seq_cst);
	tls->busy = 0;
	return NULL;
}

void *agent_begin_slow(uint32_t size)
{
	return begin_ring_record(size, WANT_ROOM);
}

void *agent_begin_piece(uint32_t size)
{
	return agent_has_room(size) ? agent_begin_here() : begin_ring_record(size, WANT_PIECE);
}

/* Chunks that can be had now, beside those that are kept for events. */
static uint32_t chunks_left(struct ring_pool *pool)
{
	uint32_t pops = ring_list_pops(atomic_load_explicit(&pool->free_chunks, memory_order_acquire));
	uint32_t free = atomic_load_explicit(&pool->chunks_pushed, memory_order_relaxed) - pops;
	uint32_t fresh = atomic_load_explicit(&pool->fresh_chunks, memory_order_relaxed);
	uint32_t limit = atomic_load_explicit(&pool->chunk_limit, memory_order_relaxed);

	return free + (fresh < limit ? limit - fresh : 0);
}

/* Of each chunk, where few are left, this much is for events. */
#define EVENTS_BYTES 1024u
#define LEAST_STACK 256u

uint32_t agent_room_for_stack(uint32_t size, uint32_t head)
{
	const struct agent_tls *tls = &agent_tls;
	struct ring_pool *pool = agent_state.pool;
	uint32_t room = tls->end && agent_thread_is_current() ? (uint32_t)(tls->end - tls->write) : RING_CHUNK_DATA;
	uint32_t limit = atomic_load_explicit(&pool->chunk_limit, memory_order_relaxed);

	if (room >= size + head + EVENTS_BYTES || chunks_left(pool) > limit / 4)
		return size;
	room = room > head + EVENTS_BYTES ? room - head - EVENTS_BYTES : 0;
	if (tls->slot)
		atomic_fetch_add_explicit(&tls->slot->stacks_cut, 1, memory_order_relaxed);
	return room < LEAST_STACK ? 0 : room & ~7u;
}

void *agent_begin_patiently(uint32_t size)
{
	if (agent_has_room(size) && agent_thread_is_current())
		return agent_begin_here();
	return agent_attached() ? begin_ring_record(size, WANT_PATIENCE) : NULL;
}

void agent_take_slot(void)
{
	int saved_errno = errno;

	if (agent_tls.busy)
		return;
	agent_begin_here();
	reserve_ring_bytes(0, 0);
	errno = saved_errno;
	atomic_signal_fence(memory_order_seq_cst);
	agent_tls.busy = 0;
}

void *agent_begin_definition(uint32_t size)
{
	if (!agent_attached() && !agent_revive(0))
		return NULL;
	return begin_ring_record(size, WANT_RESERVE);
}

struct agent_thread_memory *agent_each_memory(uint32_t *position)
{
	struct agent_thread_memory *memory = NULL;

	while (!memory && *position < agent_state.pool->slot_count &&
	       *position < atomic_load_explicit(&agent_state.pool->fresh_slots, memory_order_relaxed))
		memory = atomic_load_explicit(&agent_state.memory[(*position)++], memory_order_acquire);
	return memory;
}

/* Set by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

int agent_owns_code(uintptr_t address)
{
	return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)etext;
}

void agent_count_unmatched(void)
{
	if (agent_tls.slot)
		atomic_fetch_add_explicit(&agent_tls.slot->unmatched, 1, memory_order_relaxed);
}

uint32_t agent_slot_index(void)
{
	return agent_tls.slot ? (uint32_t)(agent_tls.slot - agent_slot(agent_state.pool, 0)) : 0;
}

void agent_forget_thread(void)
{
	agent_tls = (struct agent_tls){ .busy = agent_tls.busy };
}

/* Destructor of the thread key. A later destructor that still makes events
 * simply takes a slot again. */
void agent_thread_ends(void *unused)
{
	struct ring_slot *slot = agent_tls.slot;

	(void)unused;
	if (!slot || !agent_attached() || !agent_thread_is_current())
		return;
	agent_sample_thread_ends();
	raw_thread_name(slot->comm);
	slot->end_time = agent_now();
	agent_forget_thread();
	agent_tls.busy = 0;
	atomic_store_explicit(&slot->state, RING_SLOT_CLOSED, memory_order_release);
}
