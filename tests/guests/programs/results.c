/* Calls into the OS runtime in many ways, right and wrong ones, each printed with its result and errno: the lines must be the
 * same whoever looks on. Usage: results, in an empty folder. */
#include <aio.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* errno before each call is one no call sets: a call that succeeds leaves it alone. */
#define TELL(call) \
	do { \
		errno = EHWPOISON; \
		long long result_ = (long long)(call); \
		int error_ = errno; \
		printf("%s = %lld, errno %d\n", #call, result_, error_); \
	} while (0)

/* Where the result is a pointer, only whether there is one. */
#define TELL_IF(call) TELL((call) != NULL)

static void *const volatile nowhere = (void *)8;
static const char *const volatile no_name;

static struct timespec soon(clockid_t clock, long milliseconds)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += milliseconds * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void files(void)
{
	struct iovec parts[2] = { { (char[4]){ "ab" }, 2 }, { (char[4]){ "cd" }, 2 } };
	char bytes[64] = "", name[] = "made-XXXXXX", other[] = "madeXXXXXX.tail";
	struct stat status;
	mode_t mask = umask(022);
	int fd, copy;
	off_t place = 0;

	TELL(fd = open("one", O_RDWR | O_CREAT | O_TRUNC, 0640));
	TELL(stat("one", &status) + (int)(status.st_mode & 0777));
	TELL(openat(AT_FDCWD, "one", O_RDWR | O_CREAT | O_EXCL, 0600));
	TELL(open("/nonexistent/one", O_RDONLY));
	TELL(open(no_name, O_RDONLY));
	TELL(creat("/", 0600));
	TELL(write(fd, "hello", 5));
	TELL(writev(fd, parts, 2));
	TELL(pwrite(fd, "J", 1, 0));
	TELL(pwritev(fd, parts, 1, 9));
	TELL(pread(fd, bytes, 3, 2));
	TELL(lseek(fd, 0, SEEK_SET));
	TELL(read(fd, bytes, sizeof(bytes)));
	puts(bytes);
	TELL(read(fd, bytes, sizeof(bytes)));
	TELL(read(-1, bytes, 1));
	TELL(read(fd, nowhere, 0));
	TELL(preadv(fd, parts, 2, 0));
	TELL(write(fd, nowhere, 10));
	TELL(copy = dup(fd));
	TELL(dup2(fd, copy));
	TELL(dup3(fd, fd, 0));
	TELL(fcntl(copy, F_GETFD));
	TELL(fcntl(copy, F_SETFD, FD_CLOEXEC));
	TELL(fcntl(copy, F_GETFD));
	TELL(fcntl(copy, F_DUPFD, 50));
	TELL(close(50));
	TELL(fcntl(copy, 12345));
	TELL(ioctl(copy, FIONREAD, bytes));
	TELL(ioctl(copy, TCGETS, bytes));
	TELL(flock(fd, LOCK_EX));
	TELL(lockf(fd, F_TLOCK, 5));
	TELL(fsync(fd));
	TELL(fdatasync(fd));
	TELL(ftruncate(fd, 5));
	TELL(truncate("nothing", 5));
	TELL(posix_fallocate(fd, 0, -1));
	TELL(sendfile(copy, fd, &place, 2));
	TELL(close(copy));
	TELL(close(copy));
	TELL(close(fd));
	TELL(fsync(fd));
	TELL((fd = mkstemp(name)) >= 0);
	TELL(strlen(name) + unlink(name));
	TELL((copy = mkstemps(other, 5)) >= 0);
	TELL(unlink(other));
	TELL(close(fd) + close(copy));
	TELL(mkdir("folder", 0700));
	TELL(mkdir("folder", 0700));
	TELL(rename("one", "folder/two"));
	TELL(link("folder/two", "three"));
	TELL(symlink("three", "four"));
	TELL(rmdir("folder"));
	TELL(mkfifo("fifo", 0600));
	TELL(open("fifo", O_WRONLY | O_NONBLOCK));
	TELL(remove("fifo"));
	TELL(unlink("fifo"));
	TELL(chroot("/nonexistent"));
	umask(mask);
}

static int all_but_dots(const struct dirent *entry)
{
	errno = ENOTTY; /* a call of ours within one of libc's */
	return access(entry->d_name, F_OK) == 0 && entry->d_name[0] != '.';
}

static void folders(void)
{
	struct dirent **list;
	DIR *folder;
	int count = 0;

	TELL(scandir(".", &list, all_but_dots, alphasort));
	TELL(scandir("/nonexistent", &list, NULL, NULL));
	TELL_IF(folder = opendir("folder"));
	while (folder && readdir(folder))
		count++;
	TELL(count);
	TELL(closedir(folder));
	TELL_IF(opendir("three"));
}

static int wide_print(FILE *file, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = vfprintf(file, format, arguments);
	va_end(arguments);
	return result;
}

static void stdio(void)
{
	char bytes[100] = "", *line = NULL;
	size_t room = 0;
	FILE *file;
	fpos_t place;
	int a = 0;
	double b = 0;

	TELL_IF(fopen("/nonexistent/file", "r"));
	TELL_IF(file = fopen("text", "w+"));
	TELL(fprintf(file, "%d %s %.3f %c %lld %g %Lg\n", 1, "two", 3.5, '4', 5LL, 6.25, 7.5L));
	TELL(wide_print(file, "%5.1f|%-5d|%s|%x|%f|%f|%f|%f|%f|%f|%f|%f|%f\n", 1.25, 2, "x", 255, 1., 2., 3., 4., 5., 6., 7., 8., 9.));
	TELL(fputs("a line\n", file));
	TELL(fputc('x', file));
	TELL(putc('\n', file));
	TELL(fwrite("12345", 2, 2, file));
	TELL(fflush(file));
	TELL(ftell(file));
	TELL(fseek(file, 0, SEEK_SET));
	TELL(fscanf(file, "%d %99s %lf", &a, bytes, &b));
	printf("%d %s %f\n", a, bytes, b);
	TELL_IF(fgets(bytes, sizeof(bytes), file));
	TELL(fgetpos(file, &place));
	TELL(getline(&line, &room, file));
	fputs(line, stdout);
	TELL(getc(file));
	TELL(ungetc('q', file));
	TELL(fgetc(file));
	TELL(fread(bytes, 1, sizeof(bytes), file));
	TELL(feof(file) != 0);
	TELL(fsetpos(file, &place));
	rewind(file);
	TELL(fgetc(file));
	TELL(fclose(file));
	TELL_IF(file = popen("echo from a child; exit 3", "r"));
	TELL_IF(fgets(bytes, sizeof(bytes), file));
	fputs(bytes, stdout);
	TELL(pclose(file));
	TELL(dprintf(-1, "%d", 1));
	TELL_IF(file = tmpfile());
	TELL(fclose(file));
	TELL_IF(freopen("/nonexistent/file", "r", stdin));
	TELL(system("exit 7"));
	TELL(system(NULL) != 0);
	errno = ENOENT;
	perror("perror");
	free(line);
}

static void sockets(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	struct addrinfo *found, hints = { .ai_flags = AI_NUMERICHOST };
	struct epoll_event event = { .events = EPOLLIN };
	struct timespec moment = { 0, 1000000 };
	struct timeval instant = { 0, 1000 };
	struct pollfd polled;
	char bytes[32] = "", host[64];
	int pair[2], server, client, accepted, ends[2], queue;
	fd_set set;

	TELL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	TELL(send(pair[0], "hello", 5, 0));
	TELL(recv(pair[1], bytes, sizeof(bytes), MSG_PEEK));
	TELL(recvfrom(pair[1], bytes, sizeof(bytes), 0, NULL, NULL));
	TELL(recv(pair[1], bytes, sizeof(bytes), MSG_DONTWAIT));
	TELL(server = socket(AF_INET, SOCK_STREAM, 0));
	TELL(bind(server, (struct sockaddr *)&address, sizeof(address)));
	TELL(listen(server, 2));
	getsockname(server, (struct sockaddr *)&address, &size);
	TELL(client = socket(AF_INET, SOCK_STREAM, 0));
	TELL(connect(client, (struct sockaddr *)&address, sizeof(address)));
	TELL(accepted = accept(server, NULL, NULL));
	TELL(shutdown(client, SHUT_RDWR));
	TELL(read(accepted, bytes, 1));
	TELL(accept4(accepted, NULL, NULL, SOCK_CLOEXEC));
	TELL(socket(12345, 0, 0));
	TELL(connect(-1, NULL, 0));
	polled = (struct pollfd){ .fd = pair[1], .events = POLLIN };
	TELL(poll(&polled, 1, 1));
	TELL(ppoll(&polled, 1, &moment, NULL));
	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	TELL(select(pair[1] + 1, &set, NULL, NULL, &instant));
	TELL(send(pair[0], "x", 1, 0));
	TELL(poll(&polled, 1, -1) + polled.revents);
	TELL(queue = epoll_create1(0));
	TELL(epoll_ctl(queue, EPOLL_CTL_ADD, pair[1], &event));
	TELL(epoll_wait(queue, &event, 1, 100));
	TELL(epoll_wait(queue, &event, 0, 0));
	TELL(pipe(ends));
	TELL(close(ends[0]));
	signal(SIGPIPE, SIG_IGN);
	TELL(write(ends[1], "x", 1));
	TELL(getaddrinfo("127.0.0.1", "80", &hints, &found));
	TELL(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof(host), NULL, 0, NI_NUMERICHOST));
	puts(host);
	freeaddrinfo(found);
	TELL(getaddrinfo("no address", "80", &hints, &found));
	for (int fd = 3; fd < 20; fd++)
		close(fd);
}

static sigjmp_buf out_of_here;
static volatile int interruptions, armed;

static void jump_out(int signal_number)
{
	siglongjmp(out_of_here, signal_number);
}

static void interrupt(int signal_number)
{
	char bytes[8];
	int ends[2];

	(void)signal_number;
	/* Calls within a call that waits. */
	if (armed && pipe(ends) == 0) {
		interruptions += write(ends[1], "abc", 3) == 3 && read(ends[0], bytes, 3) == 3;
		close(ends[0]);
		close(ends[1]);
	}
	armed = 0;
	errno = ENOTTY;
}

/* A signal that came before its call began to wait comes again: the machine may be busy. */
static void arm(void (*handler)(int), int microseconds)
{
	struct sigaction action = { .sa_handler = handler };

	armed = 1;
	sigaction(SIGALRM, &action, NULL);
	ualarm((useconds_t)microseconds, 500000);
}

static void disarm(void)
{
	ualarm(0, 0);
}

/* Signals that come while a call waits: EINTR, and jumps that never come back from it. */
static void signals(void)
{
	struct timespec second = { 1, 0 }, moment = { 0, 1000000 };
	sigset_t set, old;
	char byte;
	int ends[2];

	if (pipe(ends) < 0)
		return;
	arm(interrupt, 5000);
	TELL(read(ends[0], &byte, 1));
	arm(interrupt, 5000);
	TELL(nanosleep(&second, &second));
	arm(interrupt, 5000);
	TELL(pause());
	arm(interrupt, 5000);
	TELL(poll(NULL, 0, 1000));
	disarm();
	TELL(interruptions);
	for (int i = 0; i < 30; i++) {
		if (sigsetjmp(out_of_here, 1) == 0) {
			arm(jump_out, 1000);
			if (read(ends[0], &byte, 1) >= 0)
				puts("read came back");
			puts("no jump");
		}
	}
	disarm();
	TELL(write(ends[1], "y", 1));
	TELL(read(ends[0], &byte, 1));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	TELL(kill(getpid(), SIGUSR1));
	TELL(sigtimedwait(&set, NULL, &moment));
	TELL(sigtimedwait(&set, NULL, &moment));
	TELL(raise(SIGUSR1));
	TELL(sigwaitinfo(&set, NULL));
	TELL(kill(-12345678, 0));
	TELL(kill(getpid(), 12345));
	sigprocmask(SIG_SETMASK, &old, NULL);
	TELL(usleep(100));
	TELL(sleep(0));
	TELL(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, -5 }, NULL));
	TELL(sched_yield());
	close(ends[0]);
	close(ends[1]);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int turn;

static void *hold_for_a_while(void *argument)
{
	struct timespec t = { 0, 60000000 };

	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_barrier_wait(&barrier);
	nanosleep(&t, NULL);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void locks(void)
{
	pthread_mutexattr_t kind;
	pthread_mutex_t checking, recursive, robust;
	pthread_spinlock_t spin;
	struct timespec t = soon(CLOCK_REALTIME, 2), long_ago = { 1, 0 }, wrong = { 1, -1 };
	pthread_t thread;
	void *result = NULL;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checking, &kind);
	TELL(pthread_mutex_lock(&checking));
	TELL(pthread_mutex_lock(&checking));
	TELL(pthread_mutex_trylock(&checking));
	TELL(pthread_mutex_unlock(&checking));
	TELL(pthread_mutex_unlock(&checking));
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &kind);
	TELL(pthread_mutex_lock(&recursive));
	TELL(pthread_mutex_lock(&recursive));
	TELL(pthread_mutex_unlock(&recursive) + pthread_mutex_unlock(&recursive));
	TELL(pthread_mutex_unlock(&recursive));
	pthread_barrier_init(&barrier, NULL, 2);
	TELL(pthread_create(&thread, NULL, hold_for_a_while, &mutex));
	pthread_barrier_wait(&barrier);
	TELL(pthread_mutex_trylock(&mutex));
	TELL(pthread_mutex_timedlock(&mutex, &t));
	TELL(pthread_mutex_timedlock(&mutex, &long_ago));
	TELL(pthread_mutex_timedlock(&mutex, &wrong));
	TELL(pthread_rwlock_tryrdlock(&rwlock));
	t = soon(CLOCK_REALTIME, 2);
	TELL(pthread_rwlock_timedrdlock(&rwlock, &t));
	TELL(pthread_rwlock_timedwrlock(&rwlock, &long_ago));
	TELL(pthread_mutex_lock(&mutex));
	TELL(pthread_mutex_unlock(&mutex));
	TELL(pthread_rwlock_rdlock(&rwlock));
	TELL(pthread_rwlock_rdlock(&rwlock));
	TELL(pthread_rwlock_unlock(&rwlock) + pthread_rwlock_unlock(&rwlock));
	TELL(pthread_rwlock_wrlock(&rwlock));
	TELL(pthread_rwlock_wrlock(&rwlock));
	TELL(pthread_rwlock_unlock(&rwlock));
	TELL(pthread_join(thread, &result));
	TELL(result == &mutex);
	pthread_spin_init(&spin, 0);
	TELL(pthread_spin_lock(&spin));
	TELL(pthread_spin_trylock(&spin));
	TELL(pthread_spin_unlock(&spin));
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&robust, &kind);
	TELL(pthread_mutex_lock(&robust));
	TELL(pthread_mutex_unlock(&robust));
}

static void *die_with_lock(void *argument)
{
	pthread_mutex_lock(argument);
	return NULL;
}

static void robust_lock(void)
{
	pthread_mutexattr_t kind;
	pthread_mutex_t robust;
	pthread_t thread;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &kind);
	pthread_create(&thread, NULL, die_with_lock, &robust);
	pthread_join(thread, NULL);
	TELL(pthread_mutex_lock(&robust));
	TELL(pthread_mutex_consistent(&robust));
	TELL(pthread_mutex_unlock(&robust));
	pthread_create(&thread, NULL, die_with_lock, &robust);
	pthread_join(thread, NULL);
	TELL(pthread_mutex_lock(&robust));
	TELL(pthread_mutex_unlock(&robust));
	TELL(pthread_mutex_lock(&robust));
}

static void *take_turns(void *argument)
{
	int mine = (int)(intptr_t)argument;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 100; i++) {
		while (turn % 2 != mine)
			pthread_cond_wait(&condition, &mutex);
		turn++;
		pthread_cond_broadcast(&condition);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* The condition variable of glibc before 2.3.2, which old programs still ask for: one pointer, not 48 bytes. */
static void old_conditions(void)
{
	int (*wait_until)(void *, pthread_mutex_t *, const struct timespec *) = (int (*)(
		void *, pthread_mutex_t *, const struct timespec *))dlvsym(RTLD_DEFAULT, "pthread_cond_timedwait", "GLIBC_2.2.5");
	int (*wake)(void *) = (int (*)(void *))dlvsym(RTLD_DEFAULT, "pthread_cond_signal", "GLIBC_2.2.5");
	struct {
		void *old;
		char behind[64];
	} space = { NULL, { 0 } };
	struct timespec t = soon(CLOCK_REALTIME, 2);

	if (!wait_until || !wake)
		return;
	memset(space.behind, 0x5a, sizeof(space.behind));
	pthread_mutex_lock(&mutex);
	TELL(wait_until(&space.old, &mutex, &t));
	pthread_mutex_unlock(&mutex);
	TELL(wake(&space.old));
	for (size_t i = 0; i < sizeof(space.behind); i++)
		if (space.behind[i] != 0x5a)
			puts("written behind an old condition variable");
}

static void clean_up(void *argument)
{
	*(int *)argument += 1;
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_ever(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean_up, argument);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

static void conditions(void)
{
	struct timespec t = soon(CLOCK_REALTIME, 2);
	pthread_t threads[2];
	void *result;
	sem_t semaphore;
	int cleaned = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)(intptr_t)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	TELL(turn);
	pthread_mutex_lock(&mutex);
	TELL(pthread_cond_timedwait(&condition, &mutex, &t));
	TELL(pthread_mutex_trylock(&mutex));
	pthread_mutex_unlock(&mutex);
	pthread_create(&threads[0], NULL, wait_for_ever, &cleaned);
	usleep(3000);
	TELL(pthread_cancel(threads[0]));
	TELL(pthread_join(threads[0], &result));
	TELL(result == PTHREAD_CANCELED);
	TELL(cleaned);
	TELL(pthread_mutex_trylock(&mutex));
	pthread_mutex_unlock(&mutex);
	old_conditions();
	TELL(sem_init(&semaphore, 0, 1));
	TELL(sem_wait(&semaphore));
	TELL(sem_trywait(&semaphore));
	t = soon(CLOCK_REALTIME, 2);
	TELL(sem_timedwait(&semaphore, &t));
	arm(interrupt, 3000);
	TELL(sem_wait(&semaphore));
	disarm();
	TELL(sem_post(&semaphore));
	TELL(sem_wait(&semaphore));
	TELL(sem_destroy(&semaphore));
}

static int c11_life(void *argument)
{
	mtx_t *lock = argument;

	mtx_lock(lock);
	mtx_unlock(lock);
	return 33;
}

static void c11_threads(void)
{
	struct timespec t = soon(CLOCK_REALTIME, 2), moment = { 0, 1000 };
	thrd_t thread;
	cnd_t changed;
	mtx_t lock;
	int result = 0;

	TELL(mtx_init(&lock, mtx_timed));
	TELL(mtx_lock(&lock));
	TELL(mtx_trylock(&lock));
	TELL(mtx_timedlock(&lock, &t));
	TELL(thrd_create(&thread, c11_life, &lock));
	TELL(thrd_sleep(&moment, NULL));
	cnd_init(&changed);
	t = soon(CLOCK_REALTIME, 2);
	TELL(cnd_timedwait(&changed, &lock, &t));
	TELL(mtx_unlock(&lock));
	TELL(thrd_join(thread, &result));
	TELL(result);
}

static void processes(void)
{
	char *arguments[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "exit 5" }, NULL };
	int status = 0, in_child;
	siginfo_t info;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		in_child = wait(NULL) == -1 && errno == ECHILD;
		_exit(in_child ? 11 : 1);
	}
	TELL(waitpid(child, &status, 0) == child);
	TELL(WEXITSTATUS(status));
	TELL(wait(&status));
	TELL(waitpid(-1, &status, WNOHANG));
	TELL(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ));
	TELL(waitid(P_PID, (id_t)child, &info, WEXITED));
	TELL(info.si_status);
	TELL(posix_spawnp(&child, "no-such-program", NULL, NULL, arguments, environ));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		execlp("no-such-program", "x", (char *)NULL);
		_exit(execl("/bin/sh", "sh", "-c", "exit $((errno_is + 9))", (char *)NULL));
	}
	TELL(wait4(child, &status, 0, NULL) == child);
	TELL(WEXITSTATUS(status));
}

static void ipc(void)
{
	struct {
		long type;
		char text[8];
	} message = { 1, "hello" };
	struct sembuf operation = { 0, -1, IPC_NOWAIT };
	struct timespec moment = { 0, 1000000 };
	uint64_t value = 0;
	void *memory, *moved;
	int id, fd;

	TELL((id = msgget(IPC_PRIVATE, 0600)) >= 0);
	TELL(msgsnd(id, &message, 6, 0));
	TELL(msgrcv(id, &message, 8, 0, 0));
	TELL(msgrcv(id, &message, 8, 0, IPC_NOWAIT));
	TELL(msgctl(id, IPC_RMID, NULL));
	TELL((id = semget(IPC_PRIVATE, 1, 0600)) >= 0);
	TELL(semctl(id, 0, SETVAL, 1));
	TELL(semctl(id, 0, GETVAL));
	TELL(semop(id, &operation, 1));
	TELL(semop(id, &operation, 1));
	operation.sem_flg = 0;
	TELL(semtimedop(id, &operation, 1, &moment));
	TELL(semctl(id, 0, IPC_RMID));
	TELL((id = shmget(IPC_PRIVATE, 4096, 0600)) >= 0);
	TELL((memory = shmat(id, NULL, 0)) != (void *)-1);
	TELL(shmdt(memory));
	TELL(shmdt(memory));
	TELL(shmctl(id, IPC_RMID, NULL));
	TELL((memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED);
	TELL(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	TELL((moved = mremap(memory, 8192, 1 << 20, MREMAP_MAYMOVE)) != MAP_FAILED);
	TELL(mprotect(moved, 4096, PROT_READ));
	TELL(madvise(moved, 4096, MADV_DONTNEED));
	TELL(msync(moved, 4096, MS_SYNC));
	TELL(munmap(moved, 1 << 20));
	TELL(munmap((void *)1, 5));
	TELL(sbrk(0) != (void *)-1);
	TELL(fd = eventfd(3, EFD_NONBLOCK));
	TELL(eventfd_read(fd, &value) + (int)value);
	TELL(eventfd_read(fd, &value));
	TELL(eventfd_write(fd, 9));
	TELL(close(fd));
	TELL((fd = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
	TELL(timerfd_settime(fd, 0, &(struct itimerspec){ .it_value = { 0, 1000000 } }, NULL));
	TELL(read(fd, &value, sizeof(value)));
	TELL(close(fd));
	TELL(mq_open("no slash", O_RDONLY));
}

int main(void)
{
	files();
	folders();
	stdio();
	sockets();
	signals();
	locks();
	robust_lock();
	conditions();
	c11_threads();
	processes();
	ipc();
	return fflush(stdout) == 0 ? 31 : 1;
}
