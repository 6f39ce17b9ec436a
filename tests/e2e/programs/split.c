/* split MILLISECONDS [THREADS]: three functions that share the CPU time 50 : 30 : 20, by the clock of the
 * thread itself, in slices of changing length, so that they keep no step with the samples. Prints the
 * shares as they came. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_NS 50000

static double wanted_ms;

struct shares {
	int64_t half, third, fifth;
};

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Each its own code: what is measured is where the program counter is. The clock is asked seldom. */
#define WORK(name, key) \
	__attribute__((noinline)) static int64_t name(int64_t ns) \
	{ \
		int64_t start = cpu_ns(), now = start; \
		volatile uint64_t sum = 0; \
\
		while (now - start < ns) { \
			for (int i = 0; i < 20000; i++) \
				sum += (uint64_t)i ^ key; \
			now = cpu_ns(); \
		} \
		(void)sum; \
		return now - start; \
	}

WORK(work_half, 2)
WORK(work_third, 3)
WORK(work_fifth, 5)

static void *run(void *argument)
{
	struct shares *s = argument;
	int64_t end = cpu_ns() + (int64_t)(wanted_ms * 1e6);
	uint32_t random = 2463534242u;

	while (cpu_ns() < end) {
		int64_t slice = SLICE_NS + (int64_t)(random % (2 * SLICE_NS));

		random ^= random << 13, random ^= random >> 17, random ^= random << 5;
		s->half += work_half(5 * slice);
		s->third += work_third(3 * slice);
		s->fifth += work_fifth(2 * slice);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	struct shares shares[16] = { { 0, 0, 0 } }, all = { 0, 0, 0 };
	pthread_t ids[16];
	double sum;

	wanted_ms = argc > 1 ? atof(argv[1]) : 1000;
	for (int i = 1; i < threads && i < 16; i++)
		pthread_create(&ids[i], NULL, run, &shares[i]);
	run(&shares[0]);
	for (int i = 1; i < threads && i < 16; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < 16; i++) {
		all.half += shares[i].half;
		all.third += shares[i].third;
		all.fifth += shares[i].fifth;
	}
	sum = (double)(all.half + all.third + all.fifth);
	printf("%.2f %.2f %.2f\n", 100 * (double)all.half / sum, 100 * (double)all.third / sum, 100 * (double)all.fifth / sum);
	return 0;
}
