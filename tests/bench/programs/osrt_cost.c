/* What calls of the OS runtime cost that are not recorded, in a process of two threads. Prints nanoseconds per call:
 * minimum and median over bursts.
 *
 *   osrt_cost mutex|rwlock|semaphore|read|getc|rdtsc [bursts]
 *
 * Two steps come first, so that a schedule may have had a window by then. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "sonde/annotate.h"

#define CALLS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static volatile uint64_t sum;
static int zero;
static FILE *zeros;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burst_mutex(void)
{
	for (int i = 0; i < CALLS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void burst_rwlock(void)
{
	for (int i = 0; i < CALLS; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
}

static void burst_semaphore(void)
{
	for (int i = 0; i < CALLS; i++) {
		sem_wait(&semaphore);
		sem_post(&semaphore);
	}
}

static void burst_read(void)
{
	char bytes[64];

	for (int i = 0; i < CALLS; i++)
		sum += (uint64_t)read(zero, bytes, sizeof(bytes));
}

static void burst_getc(void)
{
	for (int i = 0; i < CALLS; i++)
		sum += (uint64_t)getc(zeros);
}

static void burst_clock(void)
{
	for (int i = 0; i < CALLS; i++)
		sum += __rdtsc();
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*burst)(void);
	} modes[] = { { "mutex", burst_mutex }, { "rwlock", burst_rwlock }, { "semaphore", burst_semaphore },
		      { "read", burst_read },   { "getc", burst_getc },     { "rdtsc", burst_clock } };
	const char *mode = argc > 1 ? argv[1] : "mutex";
	int bursts = argc > 2 ? atoi(argv[2]) : 2000;
	double *cost = calloc((size_t)bursts, sizeof(*cost));
	void (*burst)(void) = NULL;
	pthread_t other;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, mode) == 0)
			burst = modes[i].burst;
	zero = open("/dev/zero", O_RDONLY);
	zeros = fopen("/dev/zero", "r");
	if (!cost || !burst || zero < 0 || !zeros || sem_init(&semaphore, 0, 1) || pthread_create(&other, NULL, wait_for_ever, NULL))
		return 1;
	for (int i = 0; i < 2; i++) {
		sonde_range_push("step");
		sonde_range_pop();
	}
	for (int i = -50; i < bursts; i++) {
		int64_t start = now();

		burst();
		if (i >= 0)
			cost[i] = (double)(now() - start) / CALLS;
	}
	qsort(cost, (size_t)bursts, sizeof(*cost), compare);
	printf("%.2f %.2f\n", cost[0], cost[bursts / 2]);
	free(cost);
	return 0;
}
