/* Ways in which processes and threads begin, go on and end, each with a known
 * number of ranges. `life MODE` prints nothing; what must be in the report is
 * in tests/e2e/t_life. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sonde/annotate.h"

extern char **environ;

static void ranges(const char *name, int count)
{
	for (int i = 0; i < count; i++) {
		sonde_range_push(name);
		sonde_range_pop();
	}
}

static int reap(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int mode_plain(char **argv)
{
	(void)argv;
	ranges("main", 10);
	return 0;
}

/* One range over everything the recorder does at its start. */
static int mode_long(char **argv)
{
	(void)argv;
	sonde_range_push("long");
	usleep(300000);
	ranges("within", 2);
	sonde_range_pop();
	return 0;
}

static int mode_fork(char **argv)
{
	pid_t child;

	(void)argv;
	ranges("parent", 3);
	child = fork();
	if (child == 0) {
		ranges("child", 5);
		exit(0);
	}
	ranges("parent", 4);
	return reap(child);
}

/* A raw clone: no fork handler runs in the child. */
static int mode_clone(char **argv)
{
	pid_t child;

	(void)argv;
	ranges("parent", 3);
	child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	if (child == 0) {
		ranges("child", 5);
		_exit(0);
	}
	return reap(child);
}

static int mode_vfork(char **argv)
{
	pid_t child;

	ranges("parent", 3);
	child = vfork();
	if (child == 0) {
		execl(argv[0], argv[0], "plain", (char *)NULL);
		_exit(127);
	}
	ranges("parent", 4);
	return reap(child);
}

static int mode_exec(char **argv)
{
	ranges("before", 7);
	execl(argv[0], argv[0], "plain", (char *)NULL);
	return 127;
}

static int mode_exec_failed(char **argv)
{
	(void)argv;
	ranges("before", 2);
	if (execl("/nonexistent/program", "program", (char *)NULL) != -1 || errno != ENOENT)
		return 99;
	ranges("after", 2);
	return 0;
}

static int mode_spawn(char **argv)
{
	char plain[] = "plain";
	char *child_argv[] = { argv[0], plain, NULL };
	pid_t child;

	ranges("parent", 3);
	if (posix_spawn(&child, argv[0], NULL, NULL, child_argv, environ) != 0)
		return 99;
	return reap(child);
}

static int mode_cleanenv(char **argv)
{
	char plain[] = "plain";
	char *child_argv[] = { argv[0], plain, NULL };
	char *empty[] = { NULL };
	pid_t child;

	ranges("parent", 3);
	if (posix_spawn(&child, argv[0], NULL, NULL, child_argv, empty) != 0)
		return 99;
	return reap(child);
}

static int mode_daemon(char **argv)
{
	(void)argv;
	ranges("before", 2);
	if (daemon(0, 0) != 0)
		return 99;
	usleep(300000);
	ranges("daemon", 6);
	return 0;
}

static void *thread_that_exits(void *argument)
{
	sonde_range_push("cut short");
	ranges("thread", 3);
	pthread_exit(argument);
}

static int mode_pthread_exit(char **argv)
{
	pthread_t thread;

	(void)argv;
	pthread_create(&thread, NULL, thread_that_exits, NULL);
	pthread_join(thread, NULL);
	ranges("main", 2);
	pthread_exit(NULL);
}

static void *thread_to_cancel(void *argument)
{
	ranges("thread", 3);
	sonde_range_push("cancelled");
	for (;;)
		pause();
	return argument;
}

static int mode_cancel(char **argv)
{
	pthread_t thread;

	(void)argv;
	pthread_create(&thread, NULL, thread_to_cancel, NULL);
	usleep(100000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	ranges("main", 2);
	return 0;
}

static int mode_setuid(char **argv)
{
	(void)argv;
	ranges("root", 2);
	if (geteuid() == 0 && setuid(65534) != 0)
		return 99;
	ranges("nobody", 3);
	return 0;
}

static int mode_closeall(char **argv)
{
	(void)argv;
	ranges("before", 2);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	ranges("after", 3);
	/* The lowest descriptor is ours: nothing of Sonde's came in between. */
	return open("/dev/null", 0) == 0 ? 0 : 98;
}

static int mode_dlopen(char **argv)
{
	void *library;
	void (*plugin_ranges)(int);

	(void)argv;
	for (int i = 0; i < 3; i++) {
		library = dlopen(getenv("LIFE_PLUGIN"), RTLD_NOW);
		if (!library)
			return 99;
		*(void **)&plugin_ranges = dlsym(library, "plugin_ranges");
		plugin_ranges(2);
		dlclose(library);
	}
	ranges("main", 1);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	ranges("handler", 1);
}

static int mode_signals(char **argv)
{
	(void)argv;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 20; i++) {
		sonde_range_push("around");
		raise(SIGUSR1);
		sonde_range_pop();
	}
	return 0;
}

static sigjmp_buf landing;

static void on_alarm(int number)
{
	(void)number;
	siglongjmp(landing, 1);
}

/* Signals interrupt the recording itself and jump out of it, many times. */
static int mode_longjmp(char **argv)
{
	(void)argv;
	signal(SIGVTALRM, on_alarm);
	for (volatile int i = 0; i < 200; i++) {
		if (sigsetjmp(landing, 1) == 0) {
			struct itimerval {
				struct timeval interval, value;
			} soon = { { 0, 0 }, { 0, 200 + i } };

			syscall(SYS_setitimer, 1, &soon, NULL);
			for (;;)
				sonde_mark("spin");
		}
	}
	usleep(1000000); /* the recorder has more marks to read than it can at once */
	ranges("after", 5);
	return 0;
}

static int mode__exit(char **argv)
{
	(void)argv;
	ranges("main", 10);
	sonde_range_push("open");
	_exit(3);
}

static int mode_abort(char **argv)
{
	(void)argv;
	ranges("main", 10);
	sonde_range_push("open");
	abort();
}

static int mode_popfirst(char **argv)
{
	(void)argv;
	sonde_range_pop();
	sonde_range_pop();
	ranges("main", 1);
	sonde_range_pop();
	return 0;
}

static int mode_samebuffer(char **argv)
{
	char name[16];

	(void)argv;
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		ranges(name, 1);
	}
	return 0;
}

static void *short_thread(void *argument)
{
	ranges("short", 1);
	return argument;
}

static int mode_threads(char **argv)
{
	int total = argv[2] ? atoi(argv[2]) : 1000, batch = 50;
	pthread_t threads[50];

	for (int done = 0; done < total; done += batch) {
		for (int i = 0; i < batch; i++)
			if (pthread_create(&threads[i], NULL, short_thread, NULL) != 0)
				return 99;
		for (int i = 0; i < batch; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

static pthread_barrier_t all_up;

static void *live_thread(void *argument)
{
	ranges("live", 2);
	pthread_barrier_wait(&all_up);
	ranges("live", 1);
	return argument;
}

static int mode_livethreads(char **argv)
{
	int total = argv[2] ? atoi(argv[2]) : 200;
	pthread_t *threads = calloc((size_t)total, sizeof(*threads));
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	pthread_barrier_init(&all_up, NULL, (unsigned)total + 1);
	for (int i = 0; i < total; i++)
		if (pthread_create(&threads[i], &attributes, live_thread, NULL) != 0)
			return 99;
	pthread_barrier_wait(&all_up);
	for (int i = 0; i < total; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}

static int mode_forks(char **argv)
{
	int total = argv[2] ? atoi(argv[2]) : 200;
	pid_t child;

	for (int i = 0; i < total; i++) {
		child = fork();
		if (child == 0) {
			ranges("child", 1);
			_exit(0);
		}
		if (child < 0 || reap(child) != 0)
			return 99;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **argv);
} modes[] = {
	{ "plain", mode_plain },
	{ "long", mode_long },
	{ "fork", mode_fork },
	{ "clone", mode_clone },
	{ "vfork", mode_vfork },
	{ "exec", mode_exec },
	{ "exec-failed", mode_exec_failed },
	{ "spawn", mode_spawn },
	{ "cleanenv", mode_cleanenv },
	{ "daemon", mode_daemon },
	{ "pthread_exit", mode_pthread_exit },
	{ "cancel", mode_cancel },
	{ "setuid", mode_setuid },
	{ "closeall", mode_closeall },
	{ "dlopen", mode_dlopen },
	{ "signals", mode_signals },
	{ "longjmp", mode_longjmp },
	{ "_exit", mode__exit },
	{ "abort", mode_abort },
	{ "popfirst", mode_popfirst },
	{ "samebuffer", mode_samebuffer },
	{ "threads", mode_threads },
	{ "livethreads", mode_livethreads },
	{ "forks", mode_forks },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv);
	fprintf(stderr, "life: unknown mode\n");
	return 2;
}
