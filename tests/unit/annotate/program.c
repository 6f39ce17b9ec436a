/* Helper of test_annotate: one behaviour per run, named by the argument. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <sonde/annotate.h>

#define THREADS 8
#define RANGES 1000

void second_unit(void);
void called_in_forked_child(void);

static void *annotate_much(void *barrier)
{
	int i;

	pthread_barrier_wait(barrier);
	for (i = 0; i < RANGES; i++) {
		SONDE_SCOPE("work");
	}
	return NULL;
}

static void first_call_from_all_threads(void)
{
	pthread_barrier_t barrier;
	pthread_t threads[THREADS];
	int i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, annotate_much, &barrier);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static void without_tool(void)
{
	sonde_domain domain;

	errno = 77;
	printf("push %d", sonde_range_push("nobody"));
	domain = sonde_domain_create("nobody");
	printf(" pop %d start %d domain %d errno %d\n", sonde_range_pop(), (int)sonde_range_start("nobody"), domain != NULL, errno);
	sonde_mark("nobody");
	sonde_name_thread("nobody");
	sonde_domain_destroy(domain);
}

void called_in_forked_child(void)
{
	sonde_range_push("lost");
	sonde_range_pop();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "threads"))
		first_call_from_all_threads();
	else if (!strcmp(what, "units"))
		second_unit(), sonde_range_push("in the program"), sonde_range_pop();
	else if (!strcmp(what, "quiet"))
		without_tool();
	else if (!strcmp(what, "fork"))
		called_in_forked_child();
	else
		return 2;
	return 0;
}
