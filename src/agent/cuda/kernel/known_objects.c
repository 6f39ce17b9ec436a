/* Which of the program's objects were met before: a place for each, by its address. One that another took in between counts as new, which its users
 * can bear. */
#include "agent/cuda/kernel/kernel.h"

static void **find_seen_slot(struct kernel_seen *seen, const void *what)
{
	return &seen->slots[(uint32_t)(((uintptr_t)what >> 4) * 0x9e3779b1u % KERNEL_SEEN)];
}

int kernel_was_seen(struct kernel_seen *seen, const void *what)
{
	return __atomic_load_n(find_seen_slot(seen, what), __ATOMIC_RELAXED) == what;
}

void kernel_see(struct kernel_seen *seen, void *what)
{
	__atomic_store_n(find_seen_slot(seen, what), what, __ATOMIC_RELAXED);
}
