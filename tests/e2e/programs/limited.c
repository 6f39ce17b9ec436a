/* A program that checks its own threads and memory: what it is refused it says.
 *
 *   limited MEGABYTES THREADS
 *   limited exec PROGRAM        from a thread with the smallest stack there is, which names things first */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sonde/annotate.h"

#define MOST 64
#define SMALL 100000
#define LARGE (1u << 20)

static int fill(size_t size, int keep)
{
	char *p = malloc(size);

	if (!p)
		return 1;
	memset(p, 1, size);
	if (!keep)
		free(p);
	return 0;
}

static void *work(void *failed)
{
	sonde_range_push("thread");
	*(int *)failed = fill(SMALL, 0);
	sonde_range_pop();
	return NULL;
}

static int run_limited(int argc, char **argv)
{
	int megabytes = argc > 1 ? atoi(argv[1]) : 10, count = argc > 2 ? atoi(argv[2]) : 4, failed = 0, started = 0;
	int refused[MOST] = { 0 };
	pthread_t threads[MOST];

	for (int i = 0; i < count && i < MOST; i++)
		if (pthread_create(&threads[started], NULL, work, &refused[i]) == 0)
			started++;
		else
			failed++;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < MOST; i++)
		failed += refused[i];
	for (int i = 0; i < megabytes; i++)
		failed += fill(LARGE, 1);
	printf("%d refused\n", failed);
	return failed != 0;
}

static void *become(void *program)
{
	char *const words[] = { program, NULL };
	sonde_domain domain = sonde_domain_create("a domain");
	struct sonde_event event = sonde_event_of(sonde_register_string(domain, "a name"));

	sonde_domain_push_event(domain, &event);
	execvp(program, words);
	return program;
}

static int run_exec(char *program)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attributes, become, program) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "exec") == 0)
		return run_exec(argv[2]);
	return run_limited(argc, argv);
}
