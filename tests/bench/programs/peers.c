/* What tracers and profilers are measured on. A second thread is there, as in any program worth tracing: libc's short cuts
 * for programs with one thread do not count. Usage: peers read|mutex|sleep|cpu N; prints nanoseconds for each of the N, of the best
 * of fifty parts: what else runs on the machine is in the others. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 32
#define PARTS 50

static void *stand_by(void *argument)
{
	(void)argument;
	pause();
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void reads(long count)
{
	int fd = open("/dev/zero", O_RDONLY);
	char bytes[64];

	for (long i = 0; i < count; i++)
		if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			abort();
	close(fd);
}

static void mutex_pairs(long count)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void sleeps(long count)
{
	struct timespec t = { 0, 50000 };

	for (long i = 0; i < count; i++)
		nanosleep(&t, NULL);
}

static __attribute__((noinline)) uint64_t spin(uint64_t x, int depth)
{
	if (depth)
		return spin(x, depth - 1) + 1;
	for (int i = 0; i < 10000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void computes(long count)
{
	volatile uint64_t x = 1;

	for (long i = 0; i < count; i++)
		x = spin(x, DEPTH);
}

static double best_of_parts(void (*run)(long count), long count)
{
	long part = count / PARTS ? count / PARTS : 1;
	double best = 0;

	for (long done = 0; done < count; done += part) {
		double began = now_ns(), each;

		run(part);
		each = (now_ns() - began) / (double)part;
		best = best == 0 || each < best ? each : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long count);
	} kinds[] = { { "read", reads }, { "mutex", mutex_pairs }, { "sleep", sleeps }, { "cpu", computes } };
	long count = argc == 3 ? atol(argv[2]) : 0;
	pthread_t other;

	if (count <= 0 || pthread_create(&other, NULL, stand_by, NULL) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0) {
			printf("%.3f\n", best_of_parts(kinds[i].run, count));
			return 0;
		}
	return 1;
}
