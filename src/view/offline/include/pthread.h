/* Threads where there are none: locks are nothing, and none can be started, so that the work is done by who asks. */
#ifndef SONDE_VIEW_OFFLINE_PTHREAD_H
#define SONDE_VIEW_OFFLINE_PTHREAD_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

/* clang-format off */
#define PTHREAD_MUTEX_INITIALIZER { { { 0 } } }
/* clang-format on */

static inline int pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *how)
{
	return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *lock)
{
	return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *lock)
{
	return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	return 0;
}

static inline int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *how)
{
	return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *condition)
{
	return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *condition)
{
	return 0;
}

/* Nobody could end the wait: whoever would wait has started a thread before, which cannot be. */
static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	__builtin_trap();
}

static inline int pthread_create(pthread_t *ret, const pthread_attr_t *how, void *(*run)(void *), void *context)
{
	return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **ret)
{
	return EINVAL;
}

#endif
