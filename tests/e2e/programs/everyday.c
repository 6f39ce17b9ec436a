/* A lock that two threads want, a file written and read, and a function that takes the CPU.
 * everyday FILE BLOCKS MILLISECONDS: writes and reads BLOCKS blocks of 1,000 bytes, then computes. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define TURNS 20

/* Not static: a compiler may rename what only it can see. */
void crunch(long steps);
void take_turns(void);
int copy_blocks(const char *path, int blocks);
void sort_slowly(long milliseconds);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double sink;

NOINLINE void crunch(long steps)
{
	for (long i = 0; i < steps; i++)
		sink += (double)i * 0.5;
}

NOINLINE void take_turns(void)
{
	pthread_mutex_lock(&lock);
	usleep(3000);
	pthread_mutex_unlock(&lock);
}

static void *thread_main(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		take_turns();
		usleep(100); /* a chance for the other */
	}
	return unused;
}

NOINLINE int copy_blocks(const char *path, int blocks)
{
	char block[1000] = "";
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600), r = 0;

	if (fd < 0)
		return -1;
	for (int i = 0; i < blocks; i++)
		r |= write(fd, block, sizeof(block)) != sizeof(block);
	r |= lseek(fd, 0, SEEK_SET) != 0;
	while (read(fd, block, sizeof(block)) > 0)
		;
	return close(fd) | r;
}

static int compare(const void *a, const void *b)
{
	crunch(2000);
	return *(const int *)a - *(const int *)b;
}

NOINLINE void sort_slowly(long milliseconds)
{
	struct timespec from, now;
	int numbers[100];

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		for (int i = 0; i < 100; i++)
			numbers[i] = rand();
		qsort(numbers, 100, sizeof(numbers[0]), compare);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < milliseconds);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc < 4 || copy_blocks(argv[1], atoi(argv[2])) != 0)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	sort_slowly(atol(argv[3]));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
