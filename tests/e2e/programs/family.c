/* family [MILLISECONDS]: a process with a second thread, a child by fork, a child that executes this
 * program again, and short-lived children; each burns CPU time and says who it is. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int burn_ms = 200;

static void burn(int ms)
{
	volatile uint64_t sum = 0;
	struct timespec t;
	int64_t end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + ms * 1000000ll;
	do {
		for (int i = 0; i < 20000; i++)
			sum += (uint64_t)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec < end);
	(void)sum;
}

static void say(const char *what)
{
	printf("%s %d %d\n", what, (int)getpid(), (int)syscall(SYS_gettid));
	fflush(stdout);
}

static void *second_thread(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "second");
	say("thread");
	burn(burn_ms);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char ms[16];

	if (argc > 2 && strcmp(argv[1], "executed") == 0) {
		say("executed");
		burn(atoi(argv[2]));
		return 0;
	}
	if (argc > 1)
		burn_ms = atoi(argv[1]);
	snprintf(ms, sizeof(ms), "%d", burn_ms);
	say("main");
	pthread_create(&thread, NULL, second_thread, NULL);
	burn(burn_ms);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		say("forked");
		burn(burn_ms);
		_exit(0);
	}
	if (fork() == 0) {
		execl("/proc/self/exe", "family", "executed", ms, NULL);
		_exit(1);
	}
	for (int i = 0; i < 20; i++)
		if (fork() == 0)
			_exit(0);
	while (wait(NULL) > 0)
		;
	return 0;
}
