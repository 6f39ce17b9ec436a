/* Runs for a while, emitting a range "beat" every five milliseconds, and answers signals in a
 * known way.
 *
 *   patient SECONDS [int=ignore|catch] [term=ignore|catch] [exit=N] [threads] [forks]
 *
 * Prints "ready PID" at the beginning, "beating" after 60 ranges, "got NAME" for a signal it catches (and then
 * ends with status 5) and "beats N longest MS" at the end: how many ranges were closed and how
 * long the longest turn took. `threads` and `forks` start a thread or a child in every
 * twentieth turn, which emits a range "thread" or "child". */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sonde/annotate.h"

#define WARM 60u

struct wishes {
	double seconds;
	int status;
	int threads;
	int forks;
};

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

static void answer(const char *word)
{
	int number = strncmp(word, "int=", 4) == 0 ? SIGINT : SIGTERM;
	struct sigaction action = { .sa_handler = strstr(word, "=catch") ? on_signal : SIG_IGN };

	sigaction(number, &action, NULL);
}

static struct wishes read_wishes(int argc, char **argv)
{
	struct wishes wishes = { argc > 1 ? atof(argv[1]) : 1, 0, 0, 0 };

	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "exit=", 5) == 0)
			wishes.status = atoi(argv[i] + 5);
		else if (strcmp(argv[i], "threads") == 0)
			wishes.threads = 1;
		else if (strcmp(argv[i], "forks") == 0)
			wishes.forks = 1;
		else
			answer(argv[i]);
	}
	return wishes;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *short_life(void *name)
{
	sonde_range_push(name);
	sonde_range_pop();
	return NULL;
}

static void start_others(const struct wishes *wishes)
{
	static char in_thread[] = "thread", in_child[] = "child";
	pthread_t thread;
	pid_t child;

	if (wishes->threads && pthread_create(&thread, NULL, short_life, in_thread) == 0)
		pthread_join(thread, NULL);
	if (!wishes->forks)
		return;
	child = fork();
	if (child == 0) {
		short_life(in_child);
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void beat(void)
{
	struct timespec pause = { 0, 4000000 };

	sonde_range_push("beat");
	nanosleep(&pause, NULL);
	sonde_range_pop();
	pause.tv_nsec = 1000000;
	nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	struct wishes wishes = read_wishes(argc, argv);
	double end = now() + wishes.seconds, turn, longest = 0;
	unsigned beats = 0;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while ((turn = now()) < end && !caught) {
		beat();
		if (++beats % 20 == 0)
			start_others(&wishes);
		if (beats == WARM) {
			puts("beating");
			fflush(stdout);
		}
		if (now() - turn > longest)
			longest = now() - turn;
	}
	if (caught)
		printf("got %s\n", caught == SIGINT ? "INT" : "TERM");
	printf("beats %u longest %.0f\n", beats, longest * 1000);
	fflush(stdout);
	return caught ? 5 : wishes.status;
}
