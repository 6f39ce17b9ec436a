/* Ranges of realistic shape, for the size of a report: log-normal lengths (median 20 us,
 * sigma 1), 200 names, three deep; or a tight loop; or very many names.
 *
 *   nvtx_shapes lognormal|tight|names COUNT */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sonde/annotate.h"

static uint64_t state = 88172645463325252ull;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double uniform(void)
{
	return ((double)(next_random() >> 11) + 0.5) / 9007199254740992.0;
}

static void spin(double nanoseconds)
{
	struct timespec t;
	double start, at;

	clock_gettime(CLOCK_MONOTONIC, &t);
	start = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		at = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	} while (at - start < nanoseconds);
}

static void log_normal(long count)
{
	char names[200][24];

	for (int i = 0; i < 200; i++)
		snprintf(names[i], sizeof(names[i]), "layer_%d_forward", i);
	for (long i = 0; i < count; i += 3) {
		for (int depth = 0; depth < 3; depth++)
			sonde_range_push(names[next_random() % 200]);
		spin(20000 * exp(sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform())));
		for (int depth = 0; depth < 3; depth++)
			sonde_range_pop();
	}
}

static void tight(long count)
{
	for (long i = 0; i < count; i++) {
		sonde_range_push("tight loop");
		sonde_range_pop();
		if (i % 500 == 499)
			spin(200000);
	}
}

static void many_names(long count)
{
	char name[48];

	for (long i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "request %ld of a long day", i);
		sonde_range_push(name);
		sonde_range_pop();
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "lognormal";
	long count = argc > 2 ? atol(argv[2]) : 300000;

	if (strcmp(mode, "lognormal") == 0)
		log_normal(count);
	else if (strcmp(mode, "tight") == 0)
		tight(count);
	else
		many_names(count);
	return 0;
}
