/* Threads that all wake at once, wait for one another and mark what they do.
 *
 *   crowd THREADS ROUNDS
 *
 * Each thread waits at a barrier, emits a mark, waits for a lock and sleeps for a moment, ROUNDS times. Prints
 * how many marks were emitted. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sonde/annotate.h"

#define STACK_BYTES (128u << 10)
#define FRAME_BYTES 600
#define DEPTH 10
#define PAUSE_US 200

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long turns;
static int rounds;

static void one_round(void)
{
	pthread_barrier_wait(&barrier);
	sonde_mark("round");
	pthread_mutex_lock(&lock);
	turns++;
	pthread_mutex_unlock(&lock);
	usleep(PAUSE_US);
}

/* Some kilobytes of stack above the call, as in a real program. */
static __attribute__((noinline)) void deeper(int depth)
{
	volatile char frame[FRAME_BYTES];

	frame[0] = (char)depth;
	if (depth)
		deeper(depth - 1);
	else
		for (int i = 0; i < rounds; i++)
			one_round();
	frame[1] = frame[0];
}

static void *work(void *unused)
{
	(void)unused;
	deeper(DEPTH);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 500;
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t attributes;

	rounds = argc > 2 ? atoi(argv[2]) : 3;
	/* The tool is found with the first event: a crowd would wait for the one thread that looks for it, and give up after seconds. */
	sonde_mark("begin");
	pthread_barrier_init(&barrier, NULL, count);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, work, NULL) != 0) {
			fprintf(stderr, "crowd: thread %u of %u could not be started\n", i + 1, count);
			return 2;
		}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", turns);
	free(threads);
	return 0;
}
