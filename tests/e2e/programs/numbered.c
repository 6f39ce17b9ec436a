/* Threads that number their ranges, so that it can be told which are in a report. Progress is in a file that others may read:
 *
 *   numbered FILE THREADS MICROSECONDS
 *
 * FILE: 8-byte words; the first ends the program when it is not 0, the others are the ranges that each thread has ended. The
 * number of a range is in its payload, with that of its thread from bit 40 on. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sonde/annotate.h"

#define MOST 64

struct worker {
	pthread_t thread;
	_Atomic uint64_t *stop;
	_Atomic uint64_t *ended;
	long pause_ns;
	uint64_t tag;
	uint64_t sum;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	const struct timespec pause = { 0, w->pause_ns };
	struct sonde_event event = sonde_event_of(sonde_register_string(NULL, "step"));

	for (uint64_t i = 1; !atomic_load(w->stop); i++) {
		sonde_event_int64(&event, (int64_t)(w->tag | i));
		sonde_domain_push_event(NULL, &event);
		w->sum += i;
		sonde_domain_range_pop(NULL);
		atomic_store(w->ended, i);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[MOST];
	int count = argc > 2 ? atoi(argv[2]) : 1, fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	_Atomic uint64_t *words;

	if (fd < 0 || count < 1 || count > MOST || ftruncate(fd, 4096) < 0)
		return 1;
	words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (words == MAP_FAILED)
		return 1;
	for (int i = 0; i < count; i++) {
		workers[i] = (struct worker){ .stop = words,
					      .ended = words + 1 + i,
					      .tag = (uint64_t)i << 40,
					      .pause_ns = argc > 3 ? atol(argv[3]) * 1000 : 1000000 };
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	/* Who changed a number on the way would change a sum. */
	for (int i = 0; i < count; i++) {
		uint64_t n = atomic_load(workers[i].ended);

		if (workers[i].sum != n * (n + 1) / 2)
			return 2;
	}
	puts("numbered well");
	return 7;
}
