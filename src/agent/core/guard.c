/* Is an event still being written, or was its frame thrown away?
 *
 * Between agent_begin() and agent_end() only a signal handler can come. If it makes an
 * event itself, that one is refused. If it leaves by longjmp, the guard stays set, and must not
 * lock this thread out: the two are told apart by looking for the signal frame, which
 * lies on the stack between the interrupted event and us as long as the handler runs. Its return address is
 * the restorer that the kernel was given with the handler. A word that looks like one by accident
 * costs an event, which is counted; nothing can be overwritten. */
#include "agent/core/state.h"
#include "agent/core/syscalls.h"

#define SIGNALS 64
#define PAGE 4096u
/* Further apart than any one stack reaches: the handler has a stack of its own. */
#define SAME_STACK_BYTES (8u << 20)
/* Less than the kernel puts on the stack before a handler: red zone (128), floating-point state
 * (at least 512) and context (over 400). Whoever is closer is no handler. */
#define SIGNAL_FRAME_BYTES 768u

struct kernel_sigaction {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

/* The kernel's own structure and call: libc's hides the restorer. */
static unsigned find_restorers(uintptr_t *restorers, unsigned room)
{
	struct kernel_sigaction action;
	unsigned count = 0, i;

	for (long number = 1; number <= SIGNALS && count < room; number++) {
		action.restorer = 0;
		if (raw_syscall(SYS_rt_sigaction, number, 0, (long)&action, sizeof(action.mask), 0, 0) < 0 || !action.restorer)
			continue;
		for (i = 0; i < count && restorers[i] != action.restorer; i++)
			;
		if (i == count)
			restorers[count++] = action.restorer;
	}
	return count;
}

__attribute__((noinline)) static int signal_frame_between(uintptr_t from, uintptr_t to)
{
	uintptr_t restorers[4];
	unsigned count = find_restorers(restorers, 4);

	for (const uintptr_t *word = (const uintptr_t *)(from & ~(uintptr_t)7); (uintptr_t)word < to; word++) {
		/* Two stacks, after all. */
		if ((uintptr_t)word % PAGE == 0 && !raw_readable(word))
			return 0;
		for (unsigned i = 0; i < count; i++)
			if (*word == restorers[i])
				return 1;
	}
	return 0;
}

int agent_guard_is_stale(uintptr_t guard)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (here >= guard)
		return here - guard < SAME_STACK_BYTES;
	if (guard - here < SIGNAL_FRAME_BYTES)
		return 1;
	return guard - here < SAME_STACK_BYTES && !signal_frame_between(here, guard);
}
