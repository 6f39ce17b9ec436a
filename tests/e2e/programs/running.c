/* running: a program that knows nothing of Sonde, for those that attach to it. Two threads ("worker-0", "worker-1") and a child
 * process ("below") spend their CPU time 70 : 30 in two functions, and compute the same sum again and again, which must stay
 * the same. Says who is who in lines "NAME pid tid", then "ready". Obeys lines on stdin:
 *   thread   starts a thread "later", which works for 300 ms of its CPU time
 *   fork     starts a process "forked", which does
 *   quiet    threads and child work no more
 *   end      (or the end of stdin) ends it; the last line is "wrong N"
 * With an argument: so many threads are born, each by the one before it, all the time. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 25000

struct common {
	_Atomic int stop;
	_Atomic int wrong;
};

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say(const char *name)
{
	char line[64];

	prctl(PR_SET_NAME, name);
	snprintf(line, sizeof(line), "%s %d %d\n", name, (int)getpid(), (int)syscall(SYS_gettid));
	if (write(1, line, strlen(line)) < 0)
		_exit(9);
}

/* Each its own code. The sum over a fixed number of steps is always the same. */
#define WORK(name, factor) \
	__attribute__((noinline)) static uint64_t name(int64_t ns) \
	{ \
		int64_t start = cpu_ns(); \
		uint64_t sum = 0; \
\
		do { \
			sum = factor; \
			for (int i = 0; i < 20000; i++) \
				sum = sum * 6364136223846793005u + (uint64_t)i; \
		} while (cpu_ns() - start < ns); \
		return sum; \
	}

WORK(work_seventy, 7)
WORK(work_thirty, 3)

static int is_over(struct common *common, int64_t end)
{
	return end ? cpu_ns() >= end : atomic_load(&common->stop);
}

static void work(struct common *common, int64_t end)
{
	uint64_t seven = work_seventy(0), three = work_thirty(0);
	uint32_t random = 2463534242u;

	/* Of changing length, so that they keep no step with samples. */
	while (!is_over(common, end)) {
		int64_t slice = SLICE_NS + (int64_t)(random % (2 * SLICE_NS));

		random ^= random << 13, random ^= random >> 17, random ^= random << 5;
		if (work_seventy(7 * slice) != seven || work_thirty(3 * slice) != three)
			atomic_fetch_add(&common->wrong, 1);
	}
}

struct worker {
	struct common *common;
	char name[16];
	int64_t ms; /* 0: until it is told to stop */
};

static void *thread_main(void *argument)
{
	struct worker w = *(struct worker *)argument;

	free(argument);
	say(w.name);
	work(w.common, w.ms ? cpu_ns() + w.ms * 1000000 : 0);
	return NULL;
}

static pthread_t start(struct common *common, const char *name, int64_t ms)
{
	struct worker *w = calloc(1, sizeof(*w));
	pthread_t thread;

	w->common = common;
	w->ms = ms;
	snprintf(w->name, sizeof(w->name), "%s", name);
	if (pthread_create(&thread, NULL, thread_main, w))
		_exit(8);
	return thread;
}

static pid_t start_process(struct common *common, const char *name, int64_t ms)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, 9);
	if (getppid() != parent)
		_exit(0);
	say(name);
	work(common, ms ? cpu_ns() + ms * 1000000 : 0);
	_exit(atomic_load(&common->wrong) != 0);
}

/* The one born last bears the next. */
static void *heir(void *argument)
{
	struct common *common = argument;
	pthread_t next;

	work(common, cpu_ns() + 200000);
	if (!atomic_load(&common->stop) && pthread_create(&next, NULL, heir, common) == 0)
		pthread_detach(next);
	return NULL;
}

static void obey(struct common *common, const char *line)
{
	if (strcmp(line, "thread\n") == 0)
		pthread_detach(start(common, "later", 300));
	else if (strcmp(line, "fork\n") == 0)
		start_process(common, "forked", 300);
	else if (strcmp(line, "quiet\n") == 0)
		atomic_store(&common->stop, 1);
}

int main(int argc, char **argv)
{
	static struct common common;
	pthread_t workers[2], thread;
	char name[16], line[64];
	int status = 0, heirs = argc > 1 ? atoi(argv[1]) : 0;
	pid_t below = start_process(&common, "below", 0);

	say("running");
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "worker-%d", i);
		workers[i] = start(&common, name, 0);
	}
	for (int i = 0; i < heirs; i++)
		if (pthread_create(&thread, NULL, heir, &common) == 0)
			pthread_detach(thread);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n") != 0)
		obey(&common, line);
	atomic_store(&common.stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i], NULL);
	kill(below, SIGTERM);
	while (waitpid(below, &status, 0) < 0)
		;
	printf("wrong %d\n", atomic_load(&common.wrong) + (WIFEXITED(status) && WEXITSTATUS(status)));
	return 0;
}
