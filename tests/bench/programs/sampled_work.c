/* What being sampled costs: pieces of fixed work of about a millisecond each, so that at 1 kHz
 * each has one sample. Prints the median time of a piece, in nanoseconds.
 *
 *   sampled_work [pieces] [depth]      64 calls deep unless told otherwise */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 100000

static volatile uint64_t sink;
static uint32_t piece_loops = 400000;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static int64_t piece(void)
{
	int64_t start = now();
	uint64_t sum = (uint64_t)start;

	for (uint32_t i = 0; i < piece_loops; i++)
		sum = sum * 6364136223846793005u + i;
	sink = sum;
	return now() - start;
}

/* With a frame of its own for each level, as programs have. */
__attribute__((noinline)) static void deep(int depth, int64_t *times, int pieces)
{
	volatile char room[80];

	room[0] = (char)depth;
	if (depth > 0)
		deep(depth - 1, times, pieces);
	else
		for (int i = 0; i < pieces; i++)
			times[i] = piece();
	room[1] = room[0];
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static int64_t times[MOST];
	int pieces = argc > 1 ? atoi(argv[1]) : 400, depth = argc > 2 ? atoi(argv[2]) : 64;

	if (pieces < 1 || pieces > MOST)
		return 1;
	deep(depth, times, pieces);
	qsort(times, (size_t)pieces, sizeof(times[0]), compare);
	printf("%lld\n", (long long)times[pieces / 2]);
	return 0;
}
