/* Two threads that burn CPU time 64 calls deep, in 2,000 distinct stacks, one after the other.
 * Prints how many stacks were visited.
 *
 *   deep_stacks [seconds] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STACKS 2000
#define DEPTH 62 /* and main or start_thread, run, the leaf ... */
#define STAY_NS 300000

static double seconds = 10;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static uint64_t leaf(void)
{
	int64_t end = now() + STAY_NS;
	uint64_t sum = 0;

	do {
		for (uint64_t i = 0; i < 20000; i++)
			sum = sum * 6364136223846793005u + i;
	} while (now() < end);
	return sum;
}

static uint64_t left(int depth, unsigned path);

/* The lowest bits of the path decide who calls whom in the outermost calls. */
__attribute__((noinline)) static uint64_t right(int depth, unsigned path)
{
	if (depth == 0)
		return leaf() + 1;
	return (path & 1 ? left(depth - 1, path >> 1) : right(depth - 1, path >> 1)) + 3;
}

__attribute__((noinline)) static uint64_t left(int depth, unsigned path)
{
	if (depth == 0)
		return leaf() + 2;
	return (path & 1 ? left(depth - 1, path >> 1) : right(depth - 1, path >> 1)) + 5;
}

static void *run(void *argument)
{
	int64_t end = now() + (int64_t)(seconds * 1e9);
	uint64_t *visits = argument;
	unsigned path = 0;

	for (; now() < end; path = (path + 1) % STACKS) {
		visits[1] += right(DEPTH, path);
		visits[0]++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t visits[2][2] = { { 0 } };
	pthread_t second;

	if (argc > 1)
		seconds = atof(argv[1]);
	pthread_create(&second, NULL, run, visits[1]);
	run(visits[0]);
	pthread_join(second, NULL);
	printf("%llu\n", (unsigned long long)(visits[0][0] + visits[1][0]));
	return 0;
}
