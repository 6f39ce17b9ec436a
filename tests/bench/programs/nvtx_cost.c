/* What one annotated range costs: bursts of pairs with pauses between them, so that a recorder
 * keeps up and the cost is that of the steady state. Prints nanoseconds per pair:
 * minimum and median over the bursts.
 *
 *   nvtx_cost push|pushex|rdtsc [bursts]
 *
 * Two steps come first, so that a schedule may have had a window by then. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "sonde/annotate.h"

#define PAIRS 500
#define PAUSE_NS 250000

static volatile uint64_t ticks_sum;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burst_push(void)
{
	for (int i = 0; i < PAIRS; i++) {
		sonde_range_push("twenty characters ok");
		sonde_range_pop();
	}
}

static void burst_push_event(void)
{
	struct sonde_event event = sonde_event_named("twenty characters ok");

	sonde_event_color(&event, 0xff336699);
	sonde_event_category(&event, 7);
	for (int i = 0; i < PAIRS; i++) {
		sonde_event_uint64(&event, (uint64_t)i);
		sonde_domain_push_event(NULL, &event);
		sonde_domain_range_pop(NULL);
	}
}

static void burst_clock(void)
{
	for (int i = 0; i < PAIRS; i++)
		ticks_sum += __rdtsc();
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "push";
	int bursts = argc > 2 ? atoi(argv[2]) : 2000;
	void (*burst)(void) = strcmp(mode, "push") == 0 ? burst_push : strcmp(mode, "pushex") == 0 ? burst_push_event : burst_clock;
	double *cost = calloc((size_t)bursts, sizeof(*cost));
	int64_t start, until;

	if (!cost)
		return 1;
	for (int i = 0; i < 2; i++) {
		sonde_range_push("step");
		sonde_range_pop();
	}
	for (int i = -50; i < bursts; i++) {
		start = now();
		burst();
		until = now();
		if (i >= 0)
			cost[i] = (double)(until - start) / PAIRS;
		for (until += PAUSE_NS; now() < until;)
			;
	}
	qsort(cost, (size_t)bursts, sizeof(*cost), compare);
	printf("%.2f %.2f\n", cost[0], cost[bursts / 2]);
	free(cost);
	return 0;
}
