/* pthread_create and thrd_create: where samples are taken in the target, a thread begins in a function
 * of ours that gives it a timer and jumps to the program's own, so that no frame of ours
 * stays on its stack. */
#include <errno.h>
#include <signal.h>
#include <threads.h>

#include "agent/core/old_glibc.h"
#include "agent/core/sampling.h"
#include "agent/core/syscalls.h"
#include "agent/core/wrappers.h"
#include "agent/osrt/osrt.h"
#include "base/macros.h"

#define STARTS 64

/* What the new thread has to do. Taken by whoever starts it, given back by the new thread
 * before it does anything else. */
struct thread_start {
	_Atomic uint32_t used;
	void *routine;
	void *argument;
	size_t stack_size;
};

struct thread_starts {
	struct thread_start items[STARTS];
	struct thread_starts *_Atomic next;
};

typedef int (*pthread_create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int (*thrd_create_fn)(thrd_t *, thrd_start_t, void *);

static struct {
	pthread_create_fn pthread_create;
	thrd_create_fn thrd_create;
} real;

static struct thread_starts first_starts;

static struct thread_start *take_start(void)
{
	struct thread_starts *starts = &first_starts, *next, *none;
	uint32_t unused;

	for (;;) {
		for (unsigned i = 0; i < STARTS; i++) {
			unused = 0;
			if (!atomic_load_explicit(&starts->items[i].used, memory_order_relaxed) &&
			    atomic_compare_exchange_strong(&starts->items[i].used, &unused, 1))
				return &starts->items[i];
		}
		next = atomic_load(&starts->next);
		if (!next) {
			next = agent_permanent(sizeof(*next));
			none = NULL;
			if (!next)
				return NULL;
			if (!atomic_compare_exchange_strong(&starts->next, &none, next))
				next = none;
		}
		starts = next;
	}
}

/* Small enough to be returned in registers. */
struct routine {
	void *function;
	void *argument;
};

__attribute__((noinline)) static struct routine begin_thread(struct thread_start *start)
{
	struct routine routine = { start->routine, start->argument };
	size_t stack_size = start->stack_size;

	atomic_store_explicit(&start->used, 0, memory_order_release);
	agent_sample_thread_begins(stack_size);
	return routine;
}

static void *run_pthread(void *start)
{
	struct routine routine = begin_thread(start);

	return ((void *(*)(void *))routine.function)(routine.argument);
}

static int run_thrd(void *start)
{
	struct routine routine = begin_thread(start);

	return ((int (*)(void *))routine.function)(routine.argument);
}

/* Of a thread with these attributes; 0 when it cannot be known. */
static size_t stack_size_of(const pthread_attr_t *attributes)
{
	pthread_attr_t usual;
	size_t size = 0;

	if (!pthread_attr_getstacksize)
		return 0;
	if (!attributes) {
		pthread_attr_init(&usual);
		pthread_attr_getstacksize(&usual, &size);
		pthread_attr_destroy(&usual);
	} else {
		pthread_attr_getstacksize(attributes, &size);
	}
	return size;
}

static struct thread_start *prepare_thread_start(const pthread_attr_t *attributes, void *routine, void *argument)
{
	struct thread_start *start = agent_sample_wanted() ? take_start() : NULL;

	if (start) {
		start->routine = routine;
		start->argument = argument;
		start->stack_size = stack_size_of(attributes);
	}
	return start;
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	struct thread_start *start = prepare_thread_start(attributes, (void *)routine, argument);
	int result;

	if (!start)
		return real.pthread_create(thread, attributes, routine, argument);
	result = real.pthread_create(thread, attributes, run_pthread, start);
	if (result)
		atomic_store_explicit(&start->used, 0, memory_order_release);
	return result;
}

/* Vendor libraries are called on it; what is not touched costs nothing. */
#define OWN_STACK (1u << 20)

int agent_start_thread(void *(*routine)(void *), void *argument)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int result;

	agent_wrappers_resolve();
	if (!real.pthread_create || pthread_attr_init(&attributes))
		return EAGAIN;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_attr_setstacksize)
		pthread_attr_setstacksize(&attributes, OWN_STACK);
	sigfillset(&all);
	/* Faults go to the program's handler, if it has one, wherever they are. */
	for (size_t i = 0; i < COUNT_OF(faults); i++)
		sigdelset(&all, faults[i]);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, 8, 0, 0);
	result = real.pthread_create(&thread, &attributes, routine, argument);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, 8, 0, 0);
	pthread_attr_destroy(&attributes);
	return result;
}

AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	struct osrt_frame frame;
	int result;

	agent_wrappers_resolve();
	if (!real.pthread_create)
		return EAGAIN;
	if (!osrt_on())
		return create(thread, attributes, routine, argument);
	osrt_begin(&frame, OSRT_pthread_create);
	result = create(thread, attributes, routine, argument);
	osrt_end(&frame, result, OSRT_FILE_NONE, NULL);
	return result;
}

AGENT_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
	struct thread_start *start;
	int result;

	agent_wrappers_resolve();
	if (!real.thrd_create)
		return thrd_error;
	start = prepare_thread_start(NULL, (void *)routine, argument);
	if (!start)
		return real.thrd_create(thread, routine, argument);
	result = real.thrd_create(thread, run_thrd, start);
	if (result != thrd_success)
		atomic_store_explicit(&start->used, 0, memory_order_release);
	return result;
}

static const struct agent_wrapper wrappers[] = {
	{ "pthread_create", NULL, (void **)&real.pthread_create },
	{ "thrd_create", NULL, (void **)&real.thrd_create },
};

const struct agent_part agent_part_threads = { .wrappers = wrappers, .wrapper_count = COUNT_OF(wrappers) };
