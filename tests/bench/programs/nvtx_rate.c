/* Emits ranges at a given total rate from busy threads, or as fast as it can.
 * Prints how many events (a push and a pop are two) were emitted.
 *
 *   nvtx_rate THREADS EVENTS_PER_SECOND(0 = no pause) SECONDS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sonde/annotate.h"

#define BATCH 500 /* pairs between two looks at the clock */

struct worker {
	pthread_t thread;
	double pairs_per_second;
	double seconds;
	uint64_t pairs;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *argument)
{
	static const char *const names[] = { "load batch", "decode", "augment image", "transfer to device" };
	struct worker *worker = argument;
	double start = now(), elapsed;

	while ((elapsed = now() - start) < worker->seconds) {
		if (worker->pairs_per_second > 0 && (double)worker->pairs > elapsed * worker->pairs_per_second)
			continue;
		for (int i = 0; i < BATCH; i++) {
			sonde_range_push(names[i & 3]);
			sonde_range_pop();
		}
		worker->pairs += BATCH;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	double rate = argc > 2 ? atof(argv[2]) : 0, seconds = argc > 3 ? atof(argv[3]) : 1;
	struct worker *workers = calloc((size_t)threads, sizeof(*workers));
	uint64_t pairs = 0;

	for (int i = 0; i < threads; i++) {
		workers[i].pairs_per_second = rate / 2 / threads;
		workers[i].seconds = seconds;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		pairs += workers[i].pairs;
	}
	printf("%llu\n", (unsigned long long)(pairs * 2));
	free(workers);
	return 0;
}
