/* CUPTI keeps data for each thread that has been in it, and gives the C library a destructor for them (pthread_key_create). That looks
 * whether CUPTI is there, waits for a lock, and goes on without a second look: if cuptiFinalize had the lock, the thread, and with it
 * the program, dies of SIGSEGV (CUPTI 13.0). So CUPTI gets a destructor of ours around its own, by its import table. While CUPTI is being
 * finalised ours does nothing: cuptiFinalize frees the data of all threads. */
#include "agent/cuda/life/thread_ends.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "agent/core/old_glibc.h"
#include "agent/core/syscalls.h"
#include "agent/cuda/cuda.h"

typedef void (*destructor)(void *);

/* CUPTI makes a new key whenever it begins anew, always with the same destructor. */
#define DESTRUCTORS 4
#define WAIT_NS 1000000l
#define WAITS 200u

static struct {
	_Atomic(destructor) real[DESTRUCTORS];
	_Atomic uint32_t held;
	_Atomic uint32_t inside;
	_Atomic uint32_t seen;
} ends;

static void destroy(unsigned which, void *data)
{
	atomic_fetch_add(&ends.inside, 1);
	if (!atomic_load(&ends.held))
		atomic_load (&ends.real[which])(data);
	atomic_fetch_sub(&ends.inside, 1);
}

#define DESTROY(n) \
	static void destroy_##n(void *data) \
	{ \
		destroy(n, data); \
	}
DESTROY(0)
DESTROY(1)
DESTROY(2)
DESTROY(3)

static destructor wrap_destructor(destructor real)
{
	static const destructor ours[DESTRUCTORS] = { destroy_0, destroy_1, destroy_2, destroy_3 };

	for (unsigned i = 0; i < DESTRUCTORS; i++) {
		destructor known = NULL;

		if (atomic_compare_exchange_strong(&ends.real[i], &known, real) || known == real)
			return ours[i];
	}
	return NULL;
}

static int create_key(pthread_key_t *key, destructor real)
{
	destructor ours = real ? wrap_destructor(real) : NULL;

	if (ours)
		atomic_store(&ends.seen, 1);
	return pthread_key_create(key, ours ? ours : real);
}

void cuda_thread_ends_prepare(const void *function)
{
	if (pthread_key_create)
		cuda_agent.core->replace_import(function, "pthread_key_create", (void *)create_key);
}

int cuda_thread_ends_seen(void)
{
	return atomic_load(&ends.seen) != 0;
}

int cuda_thread_ends_hold(void)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };

	atomic_store(&ends.held, 1);
	for (unsigned i = 0; atomic_load(&ends.inside) && i < WAITS; i++)
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	if (!atomic_load(&ends.inside))
		return 1;
	cuda_thread_ends_release();
	return 0;
}

void cuda_thread_ends_release(void)
{
	atomic_store(&ends.held, 0);
}
