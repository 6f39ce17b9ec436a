/* Emits numbered ranges at a steady rate and keeps, in a shared file, how many were
 * complete at each millisecond: the truth to hold a report against after somebody
 * was killed.
 *
 *   steady LOG SECONDS RANGES_PER_MILLISECOND */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sonde/annotate.h"

#define MAX_MILLISECONDS 65536

struct log {
	volatile uint64_t start_ns;                /* MONOTONIC */
	volatile uint64_t complete;                /* ranges closed so far */
	volatile uint64_t after[MAX_MILLISECONDS]; /* ranges closed when that millisecond had passed */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, rate = argc > 3 ? strtoull(argv[3], NULL, 10) : 10;
	struct sonde_event event = sonde_event_named("step");
	struct log *log;
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*log)) != 0)
		return 99;
	log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED)
		return 99;
	sonde_range_push("whole run");
	log->start_ns = now();
	for (uint64_t ms = 0; ms < seconds * 1000 && ms < MAX_MILLISECONDS; ms++) {
		for (uint64_t i = 0; i < rate; i++) {
			sonde_event_uint64(&event, log->complete);
			sonde_domain_push_event(NULL, &event);
			sonde_domain_range_pop(NULL);
			log->complete++;
		}
		while (now() < log->start_ns + (ms + 1) * 1000000)
			usleep(200);
		log->after[ms] = log->complete;
	}
	sonde_range_pop();
	return 0;
}
