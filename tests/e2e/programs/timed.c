/* Programs for samples taken by timers: each mode prints the same whether it is recorded or not,
 * and fails when a signal, or a call that a signal ended, shows that it is.
 *
 *   timed MODE [ARGUMENT] */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
			exit(1); \
		} \
	} while (0)

static volatile uint64_t sink;

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Functions with the same body are to stay apart, under their own names. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

#define BURN(name) \
	APART static void name(double seconds) \
	{ \
		double end = cpu_seconds() + seconds; \
		do \
			for (int i = 0; i < 20000; i++) \
				sink += (uint64_t)i; \
		while (cpu_seconds() < end); \
	}
BURN(burn)
BURN(burn_seventy)
BURN(burn_thirty)

static void *burn_thread(void *milliseconds)
{
	burn((double)(intptr_t)milliseconds / 1000);
	return milliseconds;
}

static void split(void)
{
	burn_seventy(1.4);
	burn_thirty(0.6);
}

static pthread_t start(const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, attributes, routine, argument) == 0);
	return thread;
}

static void join(pthread_t thread, void *want)
{
	void *got;

	CHECK(pthread_join(thread, &got) == 0 && got == want);
}

static void many(void)
{
	pthread_t threads[50];

	for (int i = 0; i < 50; i++)
		threads[i] = start(NULL, burn_thread, (void *)20);
	for (int i = 0; i < 50; i++)
		join(threads[i], (void *)20);
}

static int own_timers(void)
{
	FILE *f = fopen("/proc/self/timers", "r");
	char line[128];
	int count = 0;

	while (f && fgets(line, sizeof(line), f))
		count += strncmp(line, "ID:", 3) == 0;
	if (f)
		fclose(f);
	return count;
}

static void *exit_early(void *argument)
{
	pthread_exit(argument);
}

static void *wait_for_cancel(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void brief(void)
{
	pthread_t thread;

	for (int i = 0; i < 1000; i++)
		join(start(NULL, i % 2 ? exit_early : burn_thread, (void *)0), (void *)0);
	thread = start(NULL, wait_for_cancel, NULL);
	CHECK(pthread_cancel(thread) == 0);
	join(thread, PTHREAD_CANCELED);
	/* At most the one of this thread is left. */
	CHECK(own_timers() <= 1);
}

static void tiny(void)
{
	size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setstacksize(&attributes, size) == 0);
	join(start(&attributes, burn_thread, (void *)200), (void *)200);
	CHECK(pthread_attr_setstack(&attributes, memory, size) == 0);
	join(start(&attributes, burn_thread, (void *)200), (void *)200);
	pthread_attr_destroy(&attributes);
}

static volatile sig_atomic_t handled, last_code;

static void count(int number)
{
	(void)number;
	handled++;
}

static void count_with_info(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	CHECK(!sigismember(&interrupted->uc_sigmask, SIGURG));
	last_code = info->si_code;
	handled++;
}

/* How often a handler was called by a timer of its own: once for each 10 ms of CPU time. */
static void profiler(void)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = count, .sa_flags = SA_RESTART }, old;

	CHECK(sigaction(SIGPROF, &action, &old) == 0 && old.sa_handler == SIG_DFL);
	CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
	burn(0.5);
	CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
	fprintf(stderr, "%d\n", (int)handled);
	CHECK(sigaction(SIGPROF, NULL, &old) == 0 && old.sa_handler == count);
}

static void raise_while_burning(int times)
{
	for (int i = 0; i < times; i++) {
		burn(0.002);
		CHECK(kill(getpid(), SIGURG) == 0);
	}
}

/* The signal that samples are taken with, used by the program. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void shared_signal(void)
{
	struct sigaction action = { .sa_sigaction = count_with_info, .sa_flags = SA_SIGINFO | SA_RESTART }, old;

	CHECK(sigaction(SIGURG, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	raise_while_burning(10);
	CHECK(sigaction(SIGURG, &action, &old) == 0 && old.sa_handler == SIG_DFL);
	raise_while_burning(50);
	CHECK(handled == 50 && last_code == SI_USER);
	CHECK(signal(SIGURG, count) == (void (*)(int))(uintptr_t)count_with_info);
	raise_while_burning(50);
	CHECK(handled == 100);
	CHECK(sigaction(SIGURG, NULL, &old) == 0 && old.sa_handler == count && old.sa_flags & SA_RESTART);
	CHECK(sysv_signal(SIGURG, count) == count);
	raise_while_burning(2);
	CHECK(handled == 101);
	CHECK(signal(SIGURG, SIG_IGN) == SIG_DFL);
	raise_while_burning(2);
	CHECK(sigset(SIGURG, count) == SIG_IGN && sigset(SIGURG, SIG_HOLD) == count);
	raise_while_burning(2);
	CHECK(handled == 101 && sigset(SIGURG, count) == SIG_HOLD && handled == 102);
	CHECK(sigignore(SIGURG) == 0 && signal(SIGURG, SIG_DFL) == SIG_IGN);
}

static void *blocked_thread(void *argument)
{
	struct timespec none = { 0, 0 };
	sigset_t all, pending, old;
	struct signalfd_siginfo info;
	int fd;

	sigfillset(&all);
	for (int i = 0; i < 20; i++) {
		CHECK(pthread_sigmask(SIG_BLOCK, &all, &old) == 0 && !sigismember(&old, SIGURG));
		fd = signalfd(-1, &all, SFD_NONBLOCK);
		burn(0.015);
		CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGURG));
		CHECK(sigtimedwait(&all, NULL, &none) < 0 && errno == EAGAIN);
		CHECK(read(fd, &info, sizeof(info)) < 0 && errno == EAGAIN);
		close(fd);
		CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
		burn(0.015);
	}
	return argument;
}

static void blocked(void)
{
	join(start(NULL, blocked_thread, NULL), NULL);
}

/* Blocking the signal all the time must not keep samples away. */
static void often_blocked(void)
{
	double end = cpu_seconds() + 0.5;
	sigset_t all, old;

	sigfillset(&all);
	while (cpu_seconds() < end) {
		sigprocmask(SIG_BLOCK, &all, &old);
		sigprocmask(SIG_SETMASK, &old, NULL);
		for (int i = 0; i < 1000; i++)
			sink += (uint64_t)i;
	}
}

static sigjmp_buf back;

static void jump(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void jumps(void)
{
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	double end = cpu_seconds() + 0.5;
	volatile int jumped = 0;

	signal(SIGVTALRM, jump);
	CHECK(setitimer(ITIMER_VIRTUAL, &every, NULL) == 0);
	if (sigsetjmp(back, 1))
		jumped++;
	while (cpu_seconds() < end)
		burn(0.001);
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	CHECK(jumped > 5);
}

static ucontext_t main_context, other_context;

static void coroutine(void)
{
	burn(0.3);
	swapcontext(&other_context, &main_context);
}

static void burn_in_handler(int number)
{
	(void)number;
	burn(0.3);
	handled++; /* no tail call: this function stays on the stack */
}

/* On stacks that are not the thread's own, at the very end of what is mapped. */
static void stacks(void)
{
	size_t size = 65536;
	char *memory = mmap(NULL, 4 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t other = { .ss_sp = memory + 2 * size, .ss_size = size };
	struct sigaction action = { .sa_handler = burn_in_handler, .sa_flags = SA_ONSTACK };

	CHECK(mprotect(memory, size, PROT_READ | PROT_WRITE) == 0);
	CHECK(mprotect(memory + 2 * size, size, PROT_READ | PROT_WRITE) == 0);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = memory;
	other_context.uc_stack.ss_size = size;
	makecontext(&other_context, coroutine, 0);
	CHECK(swapcontext(&main_context, &other_context) == 0);
	CHECK(sigaltstack(&other, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	raise(SIGUSR1);
}

static void family(const char *self)
{
	char *again[] = { (char *)self, (char *)"burn", NULL };
	int status;
	pid_t child = fork();

	if (child == 0) {
		burn(0.3);
		join(start(NULL, burn_thread, (void *)200), (void *)200);
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	child = fork();
	if (child == 0) {
		execv(self, again);
		_exit(127);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	child = vfork();
	if (child == 0) {
		signal(SIGURG, SIG_IGN);
		execv(self, again);
		_exit(127);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(signal(SIGURG, SIG_DFL) == SIG_DFL);
	burn(0.1);
}

/* A handler set behind everybody's back. */
static void raw_reset(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} none = { SIG_DFL, 0, NULL, 0 };

	burn(0.1);
	CHECK(syscall(SYS_rt_sigaction, SIGURG, &none, NULL, sizeof(none.mask)) == 0);
	burn(0.1);
	join(start(NULL, burn_thread, (void *)100), (void *)100);
}

/* Kills the process for any call but two: not even a signal handler could return. */
static void shut_in(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
	for (int i = 0; i < 100000000; i++)
		sink += (uint64_t)i;
	syscall(SYS_write, 1, "confined\n", 9);
	syscall(SYS_exit_group, 0);
}

/* A child that has done nothing else, and this process. */
static void confined(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		shut_in();
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	burn(0.1);
	shut_in();
}

static double wall_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* For a while: the call may fail, but not because of a signal. */
#define REPEAT(call) \
	do { \
		double end_ = wall_seconds() + 0.06; \
		while (wall_seconds() < end_) \
			CHECK((call) >= 0 || errno != EINTR); \
	} while (0)

/* Nothing here sets a handler, so no call may say that one was called. */
#define DESCRIPTORS 2000
static void *calls(void *argument)
{
	static struct pollfd many_of_one[DESCRIPTORS];
	struct timespec moment = { 0, 1000 }, past = { 0, 0 };
	struct timeval little, patience = { 0, 1 };
	int epoll = epoll_create1(0), pipes[2], sockets[2], semaphores;
	struct sembuf down = { 0, -1, 0 };
	struct epoll_event event = { 0 };
	sigset_t none, usr2;
	sem_t semaphore;
	char byte;

	CHECK(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	CHECK(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
	for (int i = 0; i < DESCRIPTORS; i++)
		many_of_one[i] = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	sem_init(&semaphore, 0, 0);
	sigemptyset(&none);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	REPEAT(poll(many_of_one, DESCRIPTORS, 1));
	REPEAT(ppoll(many_of_one, DESCRIPTORS, &moment, &none));
	REPEAT((little = (struct timeval){ 0, 1 }, select(0, NULL, NULL, NULL, &little)));
	REPEAT(pselect(0, NULL, NULL, NULL, &moment, &none));
	REPEAT(epoll_wait(epoll, &event, 1, 1));
	REPEAT(epoll_pwait(epoll, &event, 1, 1, &none));
	REPEAT(nanosleep(&moment, NULL));
	REPEAT(-(errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL)));
	REPEAT(usleep(1));
	REPEAT(sem_timedwait(&semaphore, &past));
	REPEAT(semtimedop(semaphores, &down, 1, &moment));
	REPEAT(sigtimedwait(&usr2, NULL, &moment));
	REPEAT(recv(sockets[0], &byte, 1, 0));
	semctl(semaphores, 0, IPC_RMID);
	return argument;
}

/* What a tick carries, to tell it from other signals; 0 where there are no timers. */
static uintptr_t mark_of_ticks(void)
{
	FILE *f = fopen("/proc/self/timers", "r");
	unsigned long mark = 0;
	char line[128];

	while (f && !mark && fgets(line, sizeof(line), f))
		sscanf(line, "signal: 23/%lx", &mark);
	if (f)
		fclose(f);
	return mark;
}

/* A process that sends ticks to a thread of this one at any moment: kernels differ in whether they
 * deliver them within a call. Not a thread: the C library has other ways when it is alone. */
static pid_t disturb(pid_t thread)
{
	siginfo_t info = { .si_signo = SIGURG, .si_code = SI_TIMER };
	pid_t target = getpid(), child;

	info.si_value.sival_ptr = (void *)mark_of_ticks();
	child = info.si_value.sival_ptr ? fork() : 0;
	if (!info.si_value.sival_ptr || child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0;; i++) {
		usleep(2000 + i * 1237 % 5000);
		syscall(SYS_rt_tgsigqueueinfo, target, thread, SIGURG, &info);
	}
}

static void *disturbed_calls(void *argument)
{
	pid_t child = disturb((pid_t)syscall(SYS_gettid));
	void *result = calls(argument);

	if (child > 0) {
		kill(child, SIGKILL);
		CHECK(waitpid(child, NULL, 0) == child);
	}
	return result;
}

/* Both ways of the C library: alone, and with other threads. */
static void patient(void)
{
	disturbed_calls(NULL);
	join(start(NULL, disturbed_calls, NULL), NULL);
}

/* A signal of the program's own still ends its calls. */
static void woken(void)
{
	struct sigaction action = { .sa_handler = count };
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } };
	double end = cpu_seconds() + 0.3;
	int ended = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (cpu_seconds() < end && ended < 200) {
		burn(0.001);
		CHECK(poll(NULL, 0, 10000) < 0 && errno == EINTR);
		CHECK(pause() < 0 && errno == EINTR);
		ended += 2;
	}
	CHECK(handled >= ended && ended > 20);
}

static void do_nothing_more(void)
{
	burn(0.1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = { { "split", split },         { "many", many },
		      { "brief", brief },         { "tiny", tiny },
		      { "profiler", profiler },   { "shared", shared_signal },
		      { "blocked", blocked },     { "often_blocked", often_blocked },
		      { "jumps", jumps },         { "stacks", stacks },
		      { "raw", raw_reset },       { "confined", confined },
		      { "patient", patient },     { "woken", woken },
		      { "burn", do_nothing_more } };
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (strcmp(mode, "family") == 0) {
		family(argv[0]);
		puts("family");
		return 0;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(mode, modes[i].name) != 0)
			continue;
		modes[i].run();
		puts(mode);
		return 0;
	}
	return 2;
}
