/* Ways in which programs make it hard to be a guest in them. Usage: awkward WAY */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_NO_NEW_PRIVS
#define PR_SET_NO_NEW_PRIVS 38
#endif

static void burn(int milliseconds)
{
	volatile uint64_t x = 1;
	clock_t end = clock() + (clock_t)milliseconds * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		for (int i = 0; i < 1000; i++)
			x = x * 3 + 1;
}

static void nap(long microseconds)
{
	struct timespec t = { microseconds / 1000000, microseconds % 1000000 * 1000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* Descriptors 3 and up must be the program's: the first it opens has the lowest number. */
static int closes_everything(void)
{
	int file;

	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	file = open("/dev/null", O_RDWR);
	printf("first descriptor %d, written %d\n", file, (int)write(file, "x", 1));
	fflush(stdout);
	burn(20);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	nap(2000);
	return open("/dev/null", O_RDWR) == 0 ? 12 : 1;
}

static int blocks_signals(void)
{
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	kill(getpid(), SIGTERM);
	burn(20);
	nap(2000);
	sigprocmask(SIG_BLOCK, NULL, &now);
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && !sigismember(&now, i))
			return 1;
	sigpending(&now);
	for (int i = 1; i < 65; i++)
		if (sigismember(&now, i))
			printf("pending %d\n", i);
	return 0;
}

static void *small_life(void *argument)
{
	pthread_mutex_t *mutex = argument;
	char text[64];

	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(mutex);
		snprintf(text, sizeof(text), "%d", i);
		nap(100);
		pthread_mutex_unlock(mutex);
	}
	burn(5);
	return (void *)(intptr_t)atoi(text);
}

static int tiny_stacks(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_attr_t attributes;
	pthread_t threads[4];
	void *result;
	int sum = 0;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, 16384) != 0)
		return 1;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], &attributes, small_life, &mutex) != 0)
			return 2;
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		sum += (int)(intptr_t)result;
	}
	printf("sum %d\n", sum);
	return 0;
}

/* Only read, write, exit and sigreturn are left. */
static int strict_seccomp(void)
{
	char text[8] = "", hello[] = "still here\n";
	int pipes[2];

	if (pipe(pipes) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		return 1;
	for (int i = 0; i < 1000; i++)
		if (write(pipes[1], "abc", 3) != 3 || read(pipes[0], text, sizeof(text)) != 3)
			syscall(SYS_exit, 2);
	if (write(1, hello, sizeof(hello) - 1) < 0)
		syscall(SYS_exit, 3);
	syscall(SYS_exit, 21);
	return 0;
}

/* What is not needed kills, as in sandboxes of browsers and file parsers. */
static int enter_filter(int by_system_call)
{
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	/* clang-format off */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read), ALLOW(write), ALLOW(exit_group), ALLOW(clock_nanosleep), ALLOW(rt_sigreturn), ALLOW(futex),
		ALLOW(clock_gettime), ALLOW(newfstatat), ALLOW(clone), ALLOW(wait4), ALLOW(set_robust_list),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	/* clang-format on */
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	/* A question, not yet the thing. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 || errno != EFAULT)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (by_system_call)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int life_in_sandbox(int by_system_call)
{
	int file = open("/dev/null", O_WRONLY), status = 0;
	pid_t child;

	puts("entering the sandbox");
	fflush(stdout);
	if (enter_filter(by_system_call) < 0)
		return 1;
	nap(3000);
	burn(20);
	for (int i = 0; i < 20000; i++)
		if (write(file, "x", 1) != 1)
			return 2;
	child = fork();
	if (child == 0) {
		nap(2000);
		_exit(write(file, "x", 1) == 1 ? 5 : 1);
	}
	waitpid(child, &status, 0);
	printf("in the sandbox, %d\n", WEXITSTATUS(status));
	fflush(stdout);
	return 22;
}

static int filter_seccomp(void)
{
	return life_in_sandbox(0);
}

static int filter_by_call(void)
{
	return life_in_sandbox(1);
}

static atomic_int ticks;
static void count_tick(int signal_number)
{
	(void)signal_number;
	ticks++;
}

/* A profiler of its own: its handler gets its signals, and no others. */
static int own_sigprof(void)
{
	struct sigaction action = { .sa_handler = count_tick, .sa_flags = SA_RESTART }, found;
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, off = { { 0, 0 }, { 0, 0 } };
	int before;

	sigaction(SIGPROF, NULL, &found);
	printf("default %d\n", found.sa_handler == SIG_DFL);
	if (sigaction(SIGPROF, &action, NULL) < 0)
		return 1;
	burn(50);
	printf("before its timer %d\n", (int)ticks);
	raise(SIGPROF);
	printf("raised %d\n", (int)ticks);
	before = ticks;
	setitimer(ITIMER_PROF, &every, NULL);
	burn(300);
	setitimer(ITIMER_PROF, &off, NULL);
	before = ticks - before;
	printf("ticks %s\n", before >= 10 && before <= 60 ? "as asked" : "wrong");
	sigaction(SIGPROF, NULL, &found);
	printf("its handler %d\n", found.sa_handler == count_tick);
	return 0;
}

static void on_fault(int signal_number)
{
	static const char text[] = "fault on another stack\n";

	(void)signal_number;
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(1);
	nap(1000);
	_exit(23);
}

static int grow(volatile char *above)
{
	volatile char page[4096];

	page[0] = *above;
	return grow(page) + page[0];
}

/* A stack that is full, and a handler that runs elsewhere. */
static int alternate_stack(void)
{
	static char space[65536];
	stack_t stack = { .ss_sp = space, .ss_size = sizeof(space) };
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	struct rlimit limit = { 1 << 20, 1 << 20 };
	volatile char start = 0;

	fflush(stdout);
	setrlimit(RLIMIT_STACK, &limit);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	return grow(&start);
}

static void *short_life(void *argument)
{
	sem_t *semaphore = argument;

	sem_wait(semaphore);
	sem_post(semaphore);
	return NULL;
}

static int many_threads(void)
{
	sem_t semaphore;
	pthread_t threads[100];

	sem_init(&semaphore, 0, 1);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++)
			if (pthread_create(&threads[i], NULL, short_life, &semaphore) != 0)
				return 1;
		for (int i = 0; i < 100; i++)
			pthread_join(threads[i], NULL);
	}
	puts("all joined");
	return 0;
}

static int status_of_vforked(void)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 3", NULL);
		_exit(1);
	}
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

static int vfork_exec(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++)
		sum += status_of_vforked();
	printf("sum %d\n", sum);
	return 0;
}

static int many_forks(void)
{
	int status, sum = 0;

	for (int i = 0; i < 50; i++)
		if (fork() == 0) {
			nap(100);
			_exit(i % 7);
		}
	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	printf("sum %d\n", sum);
	return 0;
}

static int turns_daemon(void)
{
	int pipes[2];
	char text[32] = "";

	fflush(stdout);
	if (pipe(pipes) < 0)
		return 1;
	if (fork() == 0) {
		dup2(pipes[1], 9);
		if (daemon(0, 0) < 0)
			_exit(1);
		nap(5000);
		_exit(write(9, "daemon", 6) != 6);
	}
	close(pipes[1]);
	while (read(pipes[0], text, sizeof(text)) > 0)
		;
	wait(NULL);
	nap(100000);
	puts(text);
	return 0;
}

static int clone_life(void *argument)
{
	*(int *)argument = (int)syscall(SYS_getpid) == getppid() ? -1 : 5;
	return 6;
}

/* A process that shares our memory, made without libc's knowledge. */
static int raw_clone(void)
{
	static char stack[65536];
	int seen = 0, status;
	pid_t child = clone(clone_life, stack + sizeof(stack), CLONE_VM | SIGCHLD, &seen);

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	printf("seen %d, status %d\n", seen, WEXITSTATUS(status));
	return 0;
}

static int raw_exit(void)
{
	fflush(stdout);
	nap(1000);
	syscall(SYS_exit_group, 24);
	return 0;
}

static int aborts(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	fflush(stdout);
	nap(1000);
	abort();
}

static void *wait_to_be_cancelled(void *argument)
{
	char byte;

	(void)argument;
	for (;;)
		if (read(0, &byte, 1) <= 0)
			pause();
	return NULL;
}

/* Cancellation unwinds through the function that waits, and so through a wrapper of it. */
static int cancels(void)
{
	pthread_t thread;
	void *result;

	for (int i = 0; i < 20; i++) {
		if (pthread_create(&thread, NULL, wait_to_be_cancelled, NULL) != 0)
			return 1;
		nap(500);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != PTHREAD_CANCELED)
			return 2;
	}
	puts("cancelled");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} ways[] = {
	{ "closes-everything", closes_everything },
	{ "blocks-signals", blocks_signals },
	{ "tiny-stacks", tiny_stacks },
	{ "strict-seccomp", strict_seccomp },
	{ "filter-seccomp", filter_seccomp },
	{ "filter-by-call", filter_by_call },
	{ "own-sigprof", own_sigprof },
	{ "alternate-stack", alternate_stack },
	{ "many-threads", many_threads },
	{ "vfork-exec", vfork_exec },
	{ "many-forks", many_forks },
	{ "daemon", turns_daemon },
	{ "clone", raw_clone },
	{ "raw-exit", raw_exit },
	{ "abort", aborts },
	{ "cancel", cancels },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run();
	fprintf(stderr, "usage: awkward WAY\n");
	return 99;
}
