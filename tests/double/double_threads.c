/* What CUPTI 13.0 cannot bear: another thread in its code when it is finalised, its own among them, and one that ends meanwhile, whose
 * data it is freeing. All of that ends the program here, too. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "double.h"

static struct {
	pthread_mutex_t lock;
	pthread_key_t key;
	bool begun; /* there is a key */
	_Atomic unsigned finalizing;
	_Atomic int inside; /* threads in CUPTI's code */
} threads = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local int depth;

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* CUPTI's own code does not sleep. */
static void work_us(unsigned us)
{
	int64_t end = us ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) + us * 1000ll : 0;

	while (us && nanoseconds(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

void double_sleep_ms(unsigned ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000l };

	if (ms)
		nanosleep(&time, NULL);
}

static void die(const char *why)
{
	double_log("%s", why);
	fprintf(stderr, "%s\n", why);
	abort();
}

static void thread_ends(void *data)
{
	(void)data;
	work_us(cupti_double.settings.slow);
	if (threads.finalizing)
		die("a thread ended while CUPTI was being finalised");
}

static void have_data(void)
{
	pthread_mutex_lock(&threads.lock);
	if (!threads.begun && pthread_key_create(&threads.key, thread_ends) == 0)
		threads.begun = true;
	if (threads.begun)
		pthread_setspecific(threads.key, &threads);
	pthread_mutex_unlock(&threads.lock);
}

void double_thread_enters(void)
{
	have_data();
	if (!depth++)
		threads.inside++;
	work_us(cupti_double.settings.slow);
}

void double_thread_leaves(void)
{
	work_us(cupti_double.settings.slow);
	if (!--depth)
		threads.inside--;
}

void double_finalize_begin(void)
{
	if (threads.inside > (depth > 0))
		die("cuptiFinalize while another thread was in CUPTI");
	if (double_delivers())
		die("cuptiFinalize while a buffer was being handed over");
	threads.finalizing = 1;
	double_sleep_ms(cupti_double.settings.finalize_ms);
}

void double_finalize_end(void)
{
	pthread_mutex_lock(&threads.lock);
	if (threads.begun)
		pthread_key_delete(threads.key);
	threads.begun = false;
	pthread_mutex_unlock(&threads.lock);
	threads.finalizing = 0;
}
