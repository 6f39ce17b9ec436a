/* A lock that is waited for only so long: a signal handler may end the process, and then flush, on top of the thread
 * that holds it. */
#ifndef SONDE_AGENT_CUDA_LOCK_H
#define SONDE_AGENT_CUDA_LOCK_H

#include <stdatomic.h>

#include "agent/core/syscalls.h"

#define CUDA_LOCK_TRIES 20000

struct cuda_lock {
	_Atomic int held;
};

/* 0: somebody has it, and kept it. */
static inline int cuda_lock_take(struct cuda_lock *lock)
{
	for (int i = 0; i < CUDA_LOCK_TRIES; i++) {
		if (!atomic_load_explicit(&lock->held, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&lock->held, 1, memory_order_acquire))
			return 1;
		if (i % 16 == 15)
			raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return 0;
}

static inline void cuda_lock_release(struct cuda_lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
