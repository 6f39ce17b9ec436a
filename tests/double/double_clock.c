/* Times: by the client's function where it gave one, else by a clock of our own that runs a little wrong. */
#include <time.h>

#include "double.h"

static struct {
	uint64_t (*stamp)(void); /* what was measured */
	double rate;             /* units a nanosecond; 0 = not measured */
	uint64_t raw, units;     /* at the begin of measuring */
	uint64_t measured;       /* raw time of the last measurement */
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

/* Both clocks at one moment: not while the thread waits for a CPU between them. */
static void read_pair(uint64_t (*stamp)(void), uint64_t *raw, uint64_t *units)
{
	for (int i = 0; i < 100; i++) {
		*raw = read_clock(CLOCK_MONOTONIC_RAW);
		*units = stamp ? stamp() : own_clock();
		if (read_clock(CLOCK_MONOTONIC_RAW) - *raw < 1000)
			return;
	}
}

/* The client's units a nanosecond: measured over at least 2 ms, and better the longer it runs. */
static void measure(void)
{
	uint64_t (*stamp)(void);
	uint64_t raw, units;

	do {
		stamp = __atomic_load_n(&cupti_double.client.stamp, __ATOMIC_ACQUIRE);
		if (!clock_rate.raw || stamp != clock_rate.stamp) {
			clock_rate.stamp = stamp;
			read_pair(stamp, &clock_rate.raw, &clock_rate.units);
		}
		do {
			read_pair(stamp, &raw, &units);
		} while (raw - clock_rate.raw < 2000000);
	} while (stamp != __atomic_load_n(&cupti_double.client.stamp, __ATOMIC_ACQUIRE));
	clock_rate.rate = (double)(units - clock_rate.units) / (double)(raw - clock_rate.raw);
	clock_rate.measured = raw;
}

uint64_t double_units(int64_t ns)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t (*stamp)(void) = __atomic_load_n(&cupti_double.client.stamp, __ATOMIC_ACQUIRE);

	if (clock_rate.rate == 0 || stamp != clock_rate.stamp || clock_rate.measured - clock_rate.raw < 50000000) {
		pthread_mutex_lock(&lock);
		measure();
		pthread_mutex_unlock(&lock);
	}
	return (uint64_t)(int64_t)((double)ns * clock_rate.rate);
}
