/* Locks and semaphores: tried first, and only one that somebody else has is timed.
 *
 * Trying gives what locking would give in every case but two: EBUSY, and the same for a thread that has the lock already
 * (recursive ones are counted up by trying, too). Only then the real function decides: it waits, or returns
 * EDEADLK. What comes from a robust mutex (EOWNERDEAD: it is ours now) comes from trying as well. */
#include "agent/osrt/osrt.h"

#include <errno.h>

typedef int (*lock1)(void *);
typedef int (*lock2)(void *, long);
typedef int (*lock3)(void *, long, long);

#define EXPORT(name, parameters)                                  \
	AGENT_EXPORT int osrt_call_##name parameters __asm__(#name); \
	int osrt_call_##name parameters

#define REAL(type, name) ((type)osrt_pick(OSRT_REAL_##name))

/* `busy`: what the trying function says when somebody else has it. Programs without threads
 * may have no function to try with: then there is nobody to wait for. */
#define LOCK(name, trying, busy, parameters, type, arguments)                                  \
	EXPORT(name, parameters)                                                               \
	{                                                                                      \
		type real = REAL(type, name);                                                  \
		lock1 try_first = (lock1)osrt_real[OSRT_REAL_##trying];                        \
		struct osrt_frame frame;                                                       \
		int result;                                                                    \
                                                                                               \
		if (agent_unlikely(!osrt_on() || !try_first))                                  \
			return real arguments;                                                 \
		result = try_first(lock);                                                      \
		if (agent_likely(result != (busy)))                                            \
			return result;                                                         \
		osrt_begin(&frame, OSRT_##name);                                               \
		result = real arguments;                                                       \
		osrt_end(&frame, result, OSRT_FILE_NONE, NULL);                                \
		return result;                                                                 \
	}

/* C11's own numbering. */
#define THRD_BUSY 1

LOCK(pthread_mutex_lock, pthread_mutex_trylock, EBUSY, (void *lock), lock1, (lock))
LOCK(pthread_mutex_timedlock, pthread_mutex_trylock, EBUSY, (void *lock, long until), lock2, (lock, until))
LOCK(pthread_mutex_clocklock, pthread_mutex_trylock, EBUSY, (void *lock, long clock, long until), lock3,
     (lock, clock, until))
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, (void *lock), lock1, (lock))
LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, EBUSY, (void *lock, long until), lock2, (lock, until))
LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, EBUSY, (void *lock, long clock, long until), lock3,
     (lock, clock, until))
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, (void *lock), lock1, (lock))
LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, EBUSY, (void *lock, long until), lock2, (lock, until))
LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, EBUSY, (void *lock, long clock, long until), lock3,
     (lock, clock, until))
LOCK(pthread_spin_lock, pthread_spin_trylock, EBUSY, (void *lock), lock1, (lock))
LOCK(mtx_lock, mtx_trylock, THRD_BUSY, (void *lock), lock1, (lock))
LOCK(mtx_timedlock, mtx_trylock, THRD_BUSY, (void *lock, long until), lock2, (lock, until))

/* Waiting for a semaphore is a cancellation point even when there is nothing to wait for. Returns
 * whether it was got; errno stays as it was. */
static int semaphore_at_once(void *semaphore)
{
	void (*test_cancel)(void) = osrt_real[OSRT_REAL_pthread_testcancel];
	int saved_errno = errno, result;

	if (!test_cancel)
		return 0;
	test_cancel();
	result = REAL(lock1, sem_trywait)(semaphore);
	errno = saved_errno;
	return result == 0;
}

#define SEMAPHORE(name, parameters, type, arguments)                                           \
	EXPORT(name, parameters)                                                               \
	{                                                                                      \
		type real = REAL(type, name);                                                  \
		struct osrt_frame frame;                                                       \
		int result;                                                                    \
                                                                                               \
		if (agent_unlikely(!osrt_on()))                                                \
			return real arguments;                                                 \
		if (semaphore_at_once(semaphore))                                              \
			return 0;                                                              \
		osrt_begin(&frame, OSRT_##name);                                               \
		result = real arguments;                                                       \
		osrt_end(&frame, result, OSRT_FILE_NONE, NULL);                                \
		return result;                                                                 \
	}

SEMAPHORE(sem_wait, (void *semaphore), lock1, (semaphore))
SEMAPHORE(sem_timedwait, (void *semaphore, long until), lock2, (semaphore, until))
SEMAPHORE(sem_clockwait, (void *semaphore, long clock, long until), lock3, (semaphore, clock, until))

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
