/* Waits in a system call, named by its first word, while it is visited. Writes "ready PID" before, and "right" or what was wrong afterwards.
 * A child process ends the wait when a line comes from standard input; some end when their time is up. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 4

/* What both processes see. */
struct shared {
	uint32_t word;
	sem_t semaphore;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
};

struct wait_setup {
	struct shared *shared;
	int events[2]; /* a pipe: one byte when it is time */
	int sockets[2];
	int semaphores, messages;
	pid_t waiter;
};

static volatile sig_atomic_t handled;

static void handler(int number)
{
	handled++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wake_all(struct wait_setup *s)
{
	struct {
		long type;
		char text[1];
	} message = { 1, "x" };
	struct sembuf up = { 0, 1, 0 };

	__atomic_store_n(&s->shared->word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &s->shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	sem_post(&s->shared->semaphore);
	pthread_mutex_lock(&s->shared->mutex);
	pthread_cond_signal(&s->shared->condition);
	pthread_mutex_unlock(&s->shared->mutex);
	semop(s->semaphores, &up, 1);
	msgsnd(s->messages, &message, 1, 0);
	if (write(s->events[1], "x", 1) < 0 || write(s->sockets[1], "x", 1) < 0)
		_exit(2);
	kill(s->waiter, SIGUSR1);
}

/* Each returns NULL when the call's result was right. */
static const char *wait_read(struct wait_setup *s)
{
	char c;

	return read(s->events[0], &c, 1) == 1 && c == 'x' ? NULL : strerror(errno);
}

static const char *wait_poll(struct wait_setup *s)
{
	struct pollfd p = { s->events[0], POLLIN, 0 };

	return poll(&p, 1, -1) == 1 && p.revents == POLLIN ? NULL : strerror(errno);
}

static const char *wait_ppoll(struct wait_setup *s)
{
	struct pollfd p = { s->events[0], POLLIN, 0 };
	struct timespec t = { 100, 0 };
	sigset_t mask, after;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	if (ppoll(&p, 1, &t, &mask) != 1)
		return strerror(errno);
	sigprocmask(SIG_BLOCK, NULL, &after);
	return sigismember(&after, SIGUSR2) ? "the mask has stayed" : NULL;
}

static const char *wait_select(struct wait_setup *s)
{
	struct timeval t = { 100, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(s->events[0], &set);
	return select(s->events[0] + 1, &set, NULL, NULL, &t) == 1 ? NULL : strerror(errno);
}

static const char *epoll_with(struct wait_setup *s, const sigset_t *mask, int timeout)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 77 }, got = { 0 };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, s->events[0], &e);
	if (epoll_pwait(fd, &got, 1, timeout, mask) != 1)
		return strerror(errno);
	return got.data.u64 == 77 ? NULL : "another event";
}

static const char *wait_epoll(struct wait_setup *s)
{
	return epoll_with(s, NULL, -1);
}

static const char *wait_epoll_mask(struct wait_setup *s)
{
	sigset_t mask;

	sigfillset(&mask);
	return epoll_with(s, &mask, 100000);
}

static const char *wait_futex(struct wait_setup *s)
{
	long r = syscall(SYS_futex, &s->shared->word, FUTEX_WAIT, 0, NULL, NULL, 0);

	return r == 0 ? NULL : strerror(errno);
}

static const char *wait_semaphore(struct wait_setup *s)
{
	return sem_wait(&s->shared->semaphore) == 0 ? NULL : strerror(errno);
}

static const char *wait_condition(struct wait_setup *s)
{
	struct timespec t;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 100;
	pthread_mutex_lock(&s->shared->mutex);
	while (!s->shared->word && r == 0)
		r = pthread_cond_timedwait(&s->shared->condition, &s->shared->mutex, &t);
	pthread_mutex_unlock(&s->shared->mutex);
	return r == 0 ? NULL : strerror(r);
}

static const char *wait_semop(struct wait_setup *s)
{
	struct sembuf down = { 0, -1, 0 };

	return semop(s->semaphores, &down, 1) == 0 ? NULL : strerror(errno);
}

static const char *wait_message(struct wait_setup *s)
{
	struct {
		long type;
		char text[1];
	} message;

	return msgrcv(s->messages, &message, 1, 0, 0) == 1 && message.text[0] == 'x' ? NULL : strerror(errno);
}

static const char *wait_signal(struct wait_setup *s)
{
	struct timespec t = { 100, 0 };
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, &info, &t) == SIGUSR1 ? NULL : strerror(errno);
}

static const char *wait_receive(struct wait_setup *s)
{
	struct timeval t = { 100, 0 };
	char c;

	setsockopt(s->sockets[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	return recv(s->sockets[0], &c, 1, 0) == 1 && c == 'x' ? NULL : strerror(errno);
}

static const char *wait_child(struct wait_setup *s)
{
	int status;

	return wait4(-1, &status, 0, NULL) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : strerror(errno);
}

/* These two end by a handler, with EINTR: then and only then. */
static const char *wait_pause(struct wait_setup *s)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (pause() != -1 || errno != EINTR)
		return "pause did not return EINTR";
	return handled == 1 ? NULL : "pause ended without its signal";
}

static const char *wait_suspend(struct wait_setup *s)
{
	sigset_t none, after;

	sigemptyset(&none);
	if (sigsuspend(&none) != -1 || errno != EINTR)
		return "sigsuspend did not return EINTR";
	sigprocmask(SIG_BLOCK, NULL, &after);
	if (!sigismember(&after, SIGUSR1))
		return "the old mask has not come back";
	return handled == 1 ? NULL : "sigsuspend ended without its signal";
}

/* These end by themselves, neither early nor as late as if they had begun anew. */
static const char *in_time(double began, int r, int want)
{
	double took = now() - began;

	if (r != want)
		return strerror(errno);
	if (took < SECONDS - 0.01)
		return "too early";
	return took > SECONDS + 1.9 ? "too late" : NULL;
}

static const char *sleep_nanosleep(struct wait_setup *s)
{
	struct timespec t = { SECONDS, 0 };
	double began = now();

	return in_time(began, nanosleep(&t, NULL), 0);
}

static const char *sleep_until(struct wait_setup *s)
{
	double began = now();
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += SECONDS;
	return in_time(began, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL), 0);
}

static const char *sleep_poll(struct wait_setup *s)
{
	double began = now();

	return in_time(began, poll(NULL, 0, SECONDS * 1000), 0);
}

static const char *sleep_futex(struct wait_setup *s)
{
	struct timespec t = { SECONDS, 0 };
	uint32_t word = 0;
	double began = now();

	errno = 0;
	if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) != -1 || errno != ETIMEDOUT)
		return strerror(errno);
	return in_time(began, 0, 0);
}

static const char *sleep_select(struct wait_setup *s)
{
	struct timeval t = { SECONDS, 0 };
	double began = now();

	return in_time(began, select(0, NULL, NULL, NULL, &t), 0);
}

/* clang-format off */
static const struct { const char *name; const char *(*wait)(struct wait_setup *); } waits[] = {
	{ "read", wait_read }, { "poll", wait_poll }, { "ppoll", wait_ppoll }, { "select", wait_select }, { "epoll", wait_epoll },
	{ "epoll_mask", wait_epoll_mask }, { "futex", wait_futex }, { "semaphore", wait_semaphore }, { "condition", wait_condition },
	{ "semop", wait_semop }, { "message", wait_message }, { "signal", wait_signal }, { "receive", wait_receive },
	{ "child", wait_child }, { "pause", wait_pause }, { "suspend", wait_suspend },
	{ "nanosleep", sleep_nanosleep }, { "sleep_until", sleep_until }, { "sleep_poll", sleep_poll }, { "sleep_futex", sleep_futex },
	{ "sleep_select", sleep_select },
};
/* clang-format on */

static void setup_shared(struct wait_setup *s)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;

	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&s->shared->semaphore, 1, 0);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->shared->mutex, &mutex);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->shared->condition, &condition);
	s->semaphores = semget(IPC_PRIVATE, 1, 0600);
	s->messages = msgget(IPC_PRIVATE, 0600);
	if (pipe(s->events) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, s->sockets) < 0)
		exit(2);
}

int main(int argc, char **argv)
{
	struct wait_setup s = { .waiter = getpid() };
	const char *wrong = "no such call";
	sigset_t usr1;
	pid_t child;
	char line[16];

	setup_shared(&s);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	signal(SIGUSR1, handler);
	child = fork();
	if (child == 0) {
		if (fgets(line, sizeof(line), stdin))
			wake_all(&s);
		_exit(0);
	}
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (argc > 1 && strcmp(waits[i].name, argv[1]) == 0)
			wrong = waits[i].wait(&s);
	semctl(s.semaphores, 0, IPC_RMID);
	msgctl(s.messages, IPC_RMID, NULL);
	puts(wrong ? wrong : "right");
	return 0;
}
