/* Memory for what lives as long as the process: handles, names, levels. */
#include "agent/core/state.h"
#include "agent/core/syscalls.h"

#define ARENA_BLOCK (256u << 10)

struct arena_block {
	_Atomic size_t used;
	size_t size;
};

static struct arena_block *new_block(size_t need)
{
	size_t size = need + sizeof(struct arena_block) > ARENA_BLOCK ? need + sizeof(struct arena_block) : ARENA_BLOCK;
	struct arena_block *block = raw_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (raw_failed(block))
		return NULL;
	block->size = size;
	atomic_store_explicit(&block->used, sizeof(*block), memory_order_relaxed);
	return block;
}

static void *take_arena_bytes(struct arena_block *block, size_t size)
{
	size_t at = atomic_fetch_add_explicit(&block->used, size, memory_order_relaxed);

	return at + size <= block->size ? (uint8_t *)block + at : NULL;
}

void *agent_permanent(size_t size)
{
	uintptr_t current = atomic_load_explicit(&agent_state.arena, memory_order_acquire);
	struct arena_block *block;
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (size > (64u << 20))
		return NULL;
	for (;;) {
		memory = current ? take_arena_bytes((struct arena_block *)current, size) : NULL;
		if (memory)
			return memory;
		block = new_block(size);
		if (!block)
			return NULL;
		/* Whoever loses the race gives its block back and uses the winner's. */
		if (!atomic_compare_exchange_strong(&agent_state.arena, &current, (uintptr_t)block))
			raw_syscall(SYS_munmap, (long)block, (long)block->size, 0, 0, 0, 0);
		else
			current = (uintptr_t)block;
	}
}

void *agent_permanent_lines(size_t size)
{
	uintptr_t memory = (uintptr_t)agent_permanent(size + 63);

	return (void *)(memory ? (memory + 63) & ~(uintptr_t)63 : 0);
}

uint64_t agent_next_string_id(void)
{
	return atomic_fetch_add_explicit(&agent_state.next_string, 1, memory_order_relaxed) + 1;
}

uint64_t agent_next_domain_id(void)
{
	return atomic_fetch_add_explicit(&agent_state.next_domain, 1, memory_order_relaxed) + 1;
}
