/* Times: by the client's function where it gave one, else by a clock of our own that runs a little wrong. */
#include <time.h>

#include "double.h"

static struct {
	double rate;          /* units a nanosecond; 0 = not measured */
	uint64_t raw, units;  /* at the begin of measuring */
	uint64_t measured;    /* raw time of the last measurement */
} clock_rate;

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t own_clock(void)
{
	const struct settings *s = &cupti_double.settings;
	uint64_t raw = read_clock(CLOCK_MONOTONIC_RAW);

	/* A second after the epoch of 2023, and drifting. */
	return 1700000000000000000u + raw + (uint64_t)s->offset + (uint64_t)((double)raw * s->drift / 1e6);
}

uint64_t double_stamp(void)
{
	uint64_t (*stamp)(void) = __atomic_load_n(&cupti_double.client.stamp, __ATOMIC_ACQUIRE);

	return stamp ? stamp() : own_clock();
}

/* The client's units a nanosecond: measured over at least 2 ms, and better the longer it runs. */
static void measure(void)
{
	uint64_t raw;

	if (!clock_rate.raw) {
		clock_rate.raw = read_clock(CLOCK_MONOTONIC_RAW);
		clock_rate.units = double_stamp();
	}
	do {
		raw = read_clock(CLOCK_MONOTONIC_RAW);
	} while (raw - clock_rate.raw < 2000000);
	clock_rate.rate = (double)(double_stamp() - clock_rate.units) / (double)(raw - clock_rate.raw);
	clock_rate.measured = raw;
}

uint64_t double_units(int64_t ns)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	if (clock_rate.rate == 0 || clock_rate.measured - clock_rate.raw < 50000000) {
		pthread_mutex_lock(&lock);
		measure();
		pthread_mutex_unlock(&lock);
	}
	return (uint64_t)(int64_t)((double)ns * clock_rate.rate);
}

void double_clock_changed(void)
{
	clock_rate.raw = 0;
	clock_rate.rate = 0;
}
