/* Locks and semaphores: tried first, and only one that somebody else has is timed.
 *
 * Trying gives what locking would give in every case but two: EBUSY, and the same for a thread that has the lock already
 * (recursive ones are counted up by trying, too). Only then the real function decides: it waits, or returns
 * EDEADLK. What comes from a robust mutex (EOWNERDEAD: it is ours now) comes from trying as well. */
#include "agent/osrt/osrt.h"

#include <errno.h>

/* Values in whole registers: those a function does not have, it does not look at. */
typedef int (*wait_fn)(long, long, long);
typedef int (*try_fn)(long);

#define EXPORT(name, parameters) \
	AGENT_EXPORT int osrt_call_##name parameters __asm__(#name); \
	int osrt_call_##name parameters

/* Out of the way of those that wait for nothing. */
__attribute__((noinline)) static int wait_for(uint32_t number, wait_fn real, long a, long b, long c)
{
	struct osrt_frame frame;
	int result;

	osrt_begin(&frame, number);
	result = real(a, b, c);
	osrt_end(&frame, result, OSRT_FILE_NONE, NULL);
	return result;
}

/* `busy`: what the trying function says when somebody else has it. Programs without threads
 * may have no function to try with: then there is nobody to wait for. */
#define LOCK(name, trying, busy) \
	EXPORT(name, (long lock, long b, long c)) \
	{ \
		wait_fn real = (wait_fn)osrt_pick(OSRT_REAL_##name); \
		try_fn try_first = (try_fn)osrt_real[OSRT_REAL_##trying]; \
		int result; \
\
		if (agent_unlikely(!osrt_on() || !try_first)) \
			return real(lock, b, c); \
		result = try_first(lock); \
		if (agent_likely(result != (busy))) \
			return result; \
		return wait_for(OSRT_##name, real, lock, b, c); \
	}

/* C11's own numbering. */
#define THRD_BUSY 1

LOCK(pthread_mutex_lock, pthread_mutex_trylock, EBUSY)
LOCK(pthread_mutex_timedlock, pthread_mutex_trylock, EBUSY)
LOCK(pthread_mutex_clocklock, pthread_mutex_trylock, EBUSY)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY)
LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, EBUSY)
LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, EBUSY)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY)
LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, EBUSY)
LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, EBUSY)
LOCK(pthread_spin_lock, pthread_spin_trylock, EBUSY)
LOCK(mtx_lock, mtx_trylock, THRD_BUSY)
LOCK(mtx_timedlock, mtx_trylock, THRD_BUSY)

/* Waiting for a semaphore is a cancellation point even when there is nothing to wait for. Returns
 * whether it was got; errno stays as it was. */
static int semaphore_at_once(long semaphore)
{
	void (*test_cancel)(void) = osrt_real[OSRT_REAL_pthread_testcancel];
	int saved_errno = errno, result;

	if (!test_cancel)
		return 0;
	test_cancel();
	result = ((try_fn)osrt_pick(OSRT_REAL_sem_trywait))(semaphore);
	errno = saved_errno;
	return result == 0;
}

#define SEMAPHORE(name) \
	EXPORT(name, (long semaphore, long b, long c)) \
	{ \
		wait_fn real = (wait_fn)osrt_pick(OSRT_REAL_##name); \
\
		if (agent_unlikely(!osrt_on())) \
			return real(semaphore, b, c); \
		if (semaphore_at_once(semaphore)) \
			return 0; \
		return wait_for(OSRT_##name, real, semaphore, b, c); \
	}

SEMAPHORE(sem_wait)
SEMAPHORE(sem_timedwait)
SEMAPHORE(sem_clockwait)

/* The child begins with nothing recorded: the time is the parent's. */
EXPORT(fork, (void))
{
	int (*real)(void) = (int (*)(void))osrt_pick(OSRT_REAL_fork);
	struct osrt_frame frame;
	int result;

	if (agent_unlikely(!osrt_on()))
		return real();
	osrt_begin(&frame, OSRT_fork);
	result = real();
	if (result == 0)
		agent_tls.call = 0;
	else
		osrt_end(&frame, result, OSRT_FILE_NONE, NULL);
	return result;
}
