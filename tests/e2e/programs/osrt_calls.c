/* OS runtime calls with known effects, one mode each; what it prints is the same with and without a recorder. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* As many calls as asked for, of functions that are one system call each. */
static int counts(const char *argument)
{
	int n = atoi(argument), pair[2], fd;
	char bytes[64] = "";

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	for (int i = 0; i < n; i++) {
		send(pair[0], bytes, 64, 0);
		recv(pair[1], bytes, 64, 0);
		fd = open("/dev/zero", O_RDWR);
		read(fd, bytes, 64);
		write(fd, bytes, 64);
		pread(fd, bytes, 64, 0);
		poll(&(struct pollfd){ .fd = pair[1], .events = POLLIN }, 1, 0);
		dup2(fd, pair[1] + 10);
		fsync(fd);
		close(fd);
	}
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_barrier_t barrier;

static _Atomic int wanted;

/* 30 ms after the n-th is wanted. */
static void wait_for_wish(int n)
{
	while (wanted < n)
		sleep_ms(1);
	sleep_ms(30);
}

static void *hold(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_spin_lock(&spin);
	pthread_barrier_wait(&barrier);
	wait_for_wish(1);
	pthread_mutex_unlock(&mutex);
	wait_for_wish(2);
	pthread_rwlock_unlock(&rwlock);
	wait_for_wish(3);
	pthread_spin_unlock(&spin);
	wait_for_wish(4);
	sem_post(&semaphore);
	return unused;
}

__attribute__((noinline)) static int wants_the_lock(void)
{
	int result = pthread_mutex_lock(&mutex);

	pthread_mutex_unlock(&mutex);
	return result;
}

/* Each is got after 30 ms; a thousand uncontended ones before. */
static int locks(const char *unused)
{
	pthread_t holder;

	(void)unused;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 1000; i++)
		wants_the_lock();
	pthread_create(&holder, NULL, hold, NULL);
	pthread_barrier_wait(&barrier);
	wanted = 1;
	printf("%d ", wants_the_lock());
	wanted = 2;
	printf("%d ", pthread_rwlock_rdlock(&rwlock));
	wanted = 3;
	printf("%d ", pthread_spin_lock(&spin));
	wanted = 4;
	printf("%d\n", sem_wait(&semaphore));
	pthread_join(holder, NULL);
	return 0;
}

static void *die_with_it(void *given)
{
	pthread_mutex_lock(given);
	return NULL;
}

static void make(pthread_mutex_t *m, int type, int robust, int protocol)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutex_init(m, &attributes);
}

static int kinds(const char *unused)
{
	struct timespec soon;
	pthread_mutex_t m;
	pthread_t t;

	(void)unused;
	for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
		make(&m, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, protocol);
		printf("recursive %d %d", pthread_mutex_lock(&m), pthread_mutex_lock(&m));
		printf(" %d %d", pthread_mutex_unlock(&m), pthread_mutex_unlock(&m));
		printf(" %d\n", pthread_mutex_unlock(&m));
		make(&m, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, protocol);
		printf("errorcheck %d %d", pthread_mutex_lock(&m), pthread_mutex_lock(&m));
		clock_gettime(CLOCK_REALTIME, &soon);
		printf(" %d\n", pthread_mutex_timedlock(&m, &soon));
		make(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol);
		pthread_create(&t, NULL, die_with_it, &m);
		pthread_join(t, NULL);
		printf("robust %d", pthread_mutex_lock(&m));
		printf(" %d", pthread_mutex_unlock(&m)); /* not made consistent */
		printf(" %d\n", pthread_mutex_lock(&m));
	}
	printf("write lock twice %d", pthread_rwlock_wrlock(&rwlock));
	printf(" %d", pthread_rwlock_wrlock(&rwlock));
	printf(" %d\n", pthread_rwlock_rdlock(&rwlock));
	errno = 77;
	sem_init(&semaphore, 0, 1);
	printf("semaphore %d errno %d\n", sem_wait(&semaphore), errno);
	return 0;
}

static int pipe_ends[2];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int cleaned;

static void clean(void *what)
{
	cleaned++;
	if (what)
		pthread_mutex_unlock(what);
}

static void *cancelled_in_read(void *unused)
{
	char byte;

	pthread_cleanup_push(clean, NULL);
	read(pipe_ends[0], &byte, 1);
	pthread_cleanup_pop(0);
	return unused;
}

static void *cancelled_in_semaphore(void *unused)
{
	pthread_cleanup_push(clean, NULL);
	sem_wait(&semaphore);
	pthread_cleanup_pop(0);
	return unused;
}

static void *cancelled_in_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean, &mutex);
	while (1)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return unused;
}

/* A semaphore that could be had at once is a cancellation point all the same. */
static void *cancelled_before(void *unused)
{
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	pthread_cleanup_push(clean, NULL);
	sem_wait(&semaphore);
	pthread_cleanup_pop(0);
	return unused;
}

static int cancel(const char *unused)
{
	void *(*const functions[])(void *) = { cancelled_in_read, cancelled_in_semaphore, cancelled_in_condition, cancelled_before };
	pthread_t t;
	void *result;
	int value;

	(void)unused;
	pipe(pipe_ends);
	sem_init(&semaphore, 0, 0);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (functions[i] == cancelled_before)
			sem_post(&semaphore);
		pthread_create(&t, NULL, functions[i], NULL);
		sleep_ms(20);
		pthread_cancel(t);
		pthread_join(t, &result);
		printf("%zu %d %d\n", i, result == PTHREAD_CANCELED, cleaned);
	}
	sem_getvalue(&semaphore, &value);
	printf("left %d\n", value);
	return 0;
}

static sigjmp_buf back;
static volatile int jump;

static void on_signal(int number)
{
	struct timespec t = { 0, 3000000 };

	(void)number;
	nanosleep(&t, NULL); /* within the call that was interrupted */
	if (jump)
		siglongjmp(back, 1);
}

static void arm(int ms)
{
	struct itimerspec when = { .it_value.tv_nsec = ms * 1000000 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &when, NULL);
}

__attribute__((noinline)) static void deeper(int levels)
{
	volatile char room[256];

	room[0] = (char)levels;
	if (levels)
		deeper(levels - 1);
	else
		usleep(2000);
	room[1] = room[0];
}

static int signals(const char *unused)
{
	struct sigaction action = { .sa_handler = on_signal };
	char byte;

	(void)unused;
	pipe(pipe_ends);
	sigaction(SIGUSR1, &action, NULL);
	arm(20);
	printf("%zd", read(pipe_ends[0], &byte, 1));
	printf(" %d\n", errno);
	jump = 1;
	if (sigsetjmp(back, 1) == 0) {
		arm(20);
		read(pipe_ends[0], &byte, 1);
	}
	/* Not within the read that was left, however deep. */
	usleep(2000);
	deeper(0);
	deeper(20);
	printf("out of it\n");
	return 0;
}

static int processes(const char *program)
{
	char exit_mode[] = "exit", four[] = "4";
	char *const argv[] = { (char *)program, exit_mode, four, NULL };
	int status;
	pid_t child;

	child = fork();
	if (child == 0) {
		sleep_ms(5);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	child = vfork();
	if (child == 0)
		execv(program, argv);
	waitpid(child, &status, 0);
	printf("vfork %d\n", WEXITSTATUS(status));
	posix_spawn(&child, program, NULL, NULL, argv, environ);
	waitpid(child, &status, 0);
	printf("posix_spawn %d\n", WEXITSTATUS(status));
	fflush(stdout);
	printf("system %d\n", WEXITSTATUS(system("exit 6")));
	printf("popen %d\n", WEXITSTATUS(pclose(popen("exit 7", "r"))));
	return 0;
}

static int text(const char *unused)
{
	char *large = malloc(65537);

	(void)unused;
	memset(large, 'x', 65536);
	large[65536] = '\0';
	fprintf(stderr, "%f %d\n", 0.5, 1);
	printf("%d\n", printf("%s\n", large));
	printf("%d %f %s %lld %g %Lf %c %p %5.2f|%-8s|%+d %f %f %f %f %f %f %f\n", 1, 2.0, "three", 4ll, 5e5, 6.5L, 'c', (void *)0, 7.125,
	       "left", 8, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5);
	free(large);
	return 0;
}

/* 10 + 20 bytes into one file, 30 out of it, 12 through a duplicate, 7 through a stream. */
static int files(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), copy;
	char bytes[64] = "";
	FILE *stream;

	write(fd, bytes, 10);
	pwrite(fd, bytes, 20, 10);
	pread(fd, bytes, 64, 0);
	copy = dup(fd);
	close(fd);
	write(copy, bytes, 12);
	close(copy);
	stream = fopen(path, "a");
	fputs("sev", stream);
	fprintf(stream, "%s", "en");
	fputc('!', stream);
	fwrite("!", 1, 1, stream);
	fclose(stream);
	write(STDOUT_FILENO, "done\n", 5);
	return 0;
}

static void *block(void *unused)
{
	char byte;

	read(pipe_ends[0], &byte, 1);
	return unused;
}

/* A call that never returns: the process is killed in it. */
static int killed(const char *unused)
{
	pthread_t t;

	(void)unused;
	pipe(pipe_ends);
	pthread_create(&t, NULL, block, NULL);
	sleep_ms(30);
	write(STDOUT_FILENO, "now\n", 4);
	kill(getpid(), SIGKILL);
	return 0;
}

/* The process ends while a thread waits. */
static int left(const char *unused)
{
	pthread_t t;

	(void)unused;
	pipe(pipe_ends);
	pthread_create(&t, NULL, block, NULL);
	sleep_ms(30);
	printf("gone\n");
	return 0;
}

__attribute__((noinline)) static void inner_sleep(void)
{
	sleep_ms(2);
	__asm__ volatile("");
}

__attribute__((noinline)) static void outer_sleep(void)
{
	inner_sleep();
	__asm__ volatile("");
}

/* Six arguments, the last of them an offset: the second page. */
static int raw(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *page;

	pwrite(fd, "first", 5, 0);
	pwrite(fd, "second", 6, 4096);
	page = (char *)syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 4096L);
	printf("%.6s %ld %d\n", page, syscall(SYS_close, -1), errno);
	printf("%ld\n", syscall(SYS_prctl, PR_SET_DUMPABLE, 1));
	unlink(path);
	return 0;
}

/* On a stack of our own that ends where nothing may be read: whoever copies it must stop there. */
static ucontext_t outside, inside;

static void on_small_stack(void)
{
	sleep_ms(2);
	printf("slept\n");
}

static int edge(const char *unused)
{
	char *memory = mmap(NULL, 6 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	mprotect(memory + 5 * 4096, 4096, PROT_NONE);
	getcontext(&inside);
	inside.uc_stack.ss_sp = memory;
	inside.uc_stack.ss_size = 5 * 4096;
	inside.uc_link = &outside;
	makecontext(&inside, on_small_stack, 0);
	swapcontext(&outside, &inside);
	return 0;
}

/* Two stacks, of a thread and within it of our own, end where another thread makes memory come and go, as it does above
 * the stack of a thread whose neighbour begins and ends. Whoever copies a stack finds it there one moment, and gone the next. */
#define STACK_BYTES (16 * 4096)
#define NEIGHBOUR_BYTES (4 * 4096)

static _Atomic int busy_neighbours;
static char *neighbours[2];

static char *stack_with_neighbour(int which)
{
	char *memory = mmap(NULL, STACK_BYTES + NEIGHBOUR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	neighbours[which] = memory + STACK_BYTES;
	return memory;
}

static void call_often(void)
{
	for (int i = 0; i < 20000; i++)
		write(-1, "", 1);
}

static void *call_on_both(void *memory)
{
	call_often();
	getcontext(&inside);
	inside.uc_stack.ss_sp = memory;
	inside.uc_stack.ss_size = STACK_BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, call_often, 0);
	swapcontext(&outside, &inside);
	busy_neighbours = 0;
	return NULL;
}

static int neighbour(const char *unused)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)unused;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack_with_neighbour(0), STACK_BYTES);
	busy_neighbours = 1;
	pthread_create(&thread, &attributes, call_on_both, stack_with_neighbour(1));
	for (int i = 0; busy_neighbours; i++)
		syscall(SYS_mprotect, neighbours[i / 2 % 2], NEIGHBOUR_BYTES, i % 2 ? PROT_READ : PROT_NONE);
	pthread_join(thread, NULL);
	printf("called\n");
	return 0;
}

static int stack(const char *unused)
{
	(void)unused;
	outer_sleep();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *);
	} modes[] = { { "counts", counts },       { "locks", locks },     { "kinds", kinds },
		      { "cancel", cancel },       { "signals", signals }, { "processes", processes },
		      { "text", text },           { "files", files },     { "killed", killed },
		      { "left", left },           { "stack", stack },     { "edge", edge },
		      { "neighbour", neighbour }, { "raw", raw },         { "exit", atoi } };
	const char *mode = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, mode) == 0)
			return modes[i].run(argc > 2 ? argv[2] : argv[0]);
	return 2;
}
