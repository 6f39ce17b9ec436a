/* Calls every function of osrt_calls.def that can be called without harm, and prints what each gave: the same
 * with and without a recorder. Most get arguments that make no sense to the kernel. Not called: sync and
 * reboot, which are everybody's, and locks, which need somebody to wait for. */
#include <aio.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum kind { KIND_INT, KIND_LONG, KIND_POINTER, KIND_VOID };

static const struct {
	const char *name;
	const char *class;
	enum kind kind;
} functions[] = {
#define OSRT_CALL(class, name, result, arguments, file) { #name, #class, KIND_##result },
#include "fmt/osrt_calls.def"
};

/* These want sensible arguments. */
static const char by_hand[] =
	" mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkstemps64 mkdtemp closefrom sync opendir readdir readdir64 closedir"
	" scandir scandir64 utimes aio_read aio_read64 aio_write aio_write64 aio_fsync aio_suspend aio_suspend64"
	" sbrk shm_open shm_unlink getaddrinfo getnameinfo gethostbyname gethostbyname2 gethostbyaddr"
	" gethostbyname_r ppoll select pselect sleep usleep thrd_sleep pause alarm kill killpg tgkill pthread_sigqueue"
	" system popen pclose reboot getpwnam getpwuid getgrnam getgrgid msgget shmget mq_open mq_unlink mq_notify ";

static void told(const char *name, long result)
{
	int error = errno;

	printf("%s %ld %d\n", name, result, result < 0 ? error : 0);
	errno = 0;
}

#define TELL(name, call) told(name, (long)(call))
#define SIGN(name, call) told(name, (call) > 0)
#define SET(name, call) told(name, (call) != NULL)

static int is_by_hand(const char *name, const char *class)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(by_hand, word) || strcmp(class, "STDIO") == 0 || strcmp(class, "THREAD") == 0 || strcmp(class, "WAIT") == 0;
}

static void call_without_sense(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		long (*function)(long, long, long, long, long, long);
		long result;

		if (is_by_hand(functions[i].name, functions[i].class) || !dlsym(libc, functions[i].name))
			continue;
		function = (long (*)(long, long, long, long, long, long))dlsym(RTLD_DEFAULT, functions[i].name);
		errno = 0;
		result = function(-1, -1, -1, -1, -1, -1);
		if (functions[i].kind == KIND_INT)
			result = (int)result;
		else if (functions[i].kind == KIND_POINTER)
			result = result == -1 ? -1 : result != 0;
		else if (functions[i].kind == KIND_VOID)
			result = 0;
		told(functions[i].name, result);
	}
}

static int temporary(const char *which, int (*make)(char *), int (*make_flags)(char *, int), const char *ending, int flags)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "eachXXXXXX%s", ending);
	fd = make ? make(name) : make_flags(name, flags);
	told(which, fd >= 0);
	unlink(name);
	return fd;
}

static int temporary_files(void)
{
	char folder[] = "eachXXXXXX";
	int fd;

	close(temporary("mkstemp", mkstemp, NULL, "", 0));
	close(temporary("mkstemp64", mkstemp64, NULL, "", 0));
	close(temporary("mkostemp", NULL, mkostemp, "", O_CLOEXEC));
	close(temporary("mkostemp64", NULL, mkostemp64, "", O_CLOEXEC));
	close(temporary("mkstemps", NULL, mkstemps, ".x", 2));
	fd = temporary("mkstemps64", NULL, mkstemps64, ".x", 2);
	SET("mkdtemp", mkdtemp(folder));
	rmdir(folder);
	closefrom(1000);
	told("closefrom", 0);
	return fd;
}

static void files(void)
{
	struct dirent **list = NULL;
	struct dirent64 **list64 = NULL;
	int fd = temporary_files();
	char bytes[] = "12345678";
	struct aiocb block = { .aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = 8 };
	const struct aiocb *blocks[] = { &block };
	DIR *folder = opendir("/proc/self/task");

	SET("readdir", readdir(folder));
	SET("readdir64", readdir64(folder));
	TELL("closedir", closedir(folder));
	TELL("scandir", scandir("/proc/self/task", &list, NULL, alphasort));
	TELL("scandir64", scandir64("/proc/self/task", &list64, NULL, alphasort64));
	TELL("utimes", utimes("/nonexistent/file", NULL));
	TELL("aio_write", aio_write(&block));
	TELL("aio_suspend", aio_suspend(blocks, 1, NULL));
	TELL("aio_return", aio_return(&block));
	TELL("aio_read", aio_read(&block));
	TELL("aio_suspend64", aio_suspend64((const struct aiocb64 *const *)(void *)blocks, 1, NULL));
	TELL("aio_return", aio_return(&block));
	TELL("aio_read64", aio_read64((struct aiocb64 *)(void *)&block));
	while (aio_error(&block) == EINPROGRESS)
		;
	TELL("aio_write64", aio_write64((struct aiocb64 *)(void *)&block));
	while (aio_error(&block) == EINPROGRESS)
		;
	TELL("aio_fsync", aio_fsync(O_SYNC, &block));
	while (aio_error(&block) == EINPROGRESS)
		;
	close(fd);
	told("sbrk", sbrk(0) != (void *)-1);
	SIGN("shm_open", shm_open("/sonde-each", O_CREAT | O_RDWR, 0600) + 1);
	TELL("shm_unlink", shm_unlink("/sonde-each"));
}

static void names(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found = NULL;
	struct hostent host, *answer;
	char text[256], port[32], room[1024];
	int error;

	TELL("getaddrinfo", getaddrinfo("127.0.0.1", NULL, &hints, &found));
	freeaddrinfo(found);
	TELL("getnameinfo", getnameinfo((struct sockaddr *)&address, sizeof(address), text, sizeof(text), port, sizeof(port),
					NI_NUMERICHOST | NI_NUMERICSERV));
	printf("%s %s\n", text, port);
	SET("gethostbyname", gethostbyname("127.0.0.1"));
	SET("gethostbyname2", gethostbyname2("127.0.0.1", AF_INET));
	SET("gethostbyaddr", gethostbyaddr(&address.sin_addr, 1, AF_INET) ? NULL : &address);
	TELL("gethostbyname_r", gethostbyname_r("127.0.0.1", &host, room, sizeof(room), &answer, &error));
	SET("getpwnam", getpwnam("root"));
	SET("getpwuid", getpwuid(0));
	SET("getgrnam", getgrnam("root"));
	SET("getgrgid", getgrgid(0));
}

static void on_alarm(int number)
{
	(void)number;
}

static void waiting(void)
{
	struct timespec none = { 0 };
	struct timeval no_time = { 0 };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	union sigval value = { 0 };

	signal(SIGALRM, on_alarm);
	TELL("prctl", prctl(PR_GET_DUMPABLE));
	TELL("ppoll", ppoll(NULL, 0, &none, NULL));
	TELL("select", select(0, NULL, NULL, NULL, &no_time));
	TELL("pselect", pselect(0, NULL, NULL, NULL, &none, NULL));
	TELL("sleep", sleep(0));
	TELL("usleep", usleep(1));
	TELL("thrd_sleep", thrd_sleep(&none, NULL));
	setitimer(ITIMER_REAL, &soon, NULL);
	TELL("pause", pause());
	TELL("alarm", alarm(0));
	TELL("kill", kill(getpid(), 0));
	TELL("killpg", killpg(getpgrp(), 0));
	TELL("tgkill", tgkill(getpid(), (pid_t)syscall(SYS_gettid), 0));
	TELL("pthread_kill", pthread_kill(pthread_self(), 0));
	TELL("pthread_sigqueue", pthread_sigqueue(pthread_self(), 0, value));
}

static void processes(void)
{
	FILE *stream;
	int status = 0, queue, memory;
	pid_t child = fork();

	if (child == 0)
		_exit(7);
	SIGN("fork", child);
	SIGN("waitpid", waitpid(child, &status, 0));
	printf("status %d\n", WEXITSTATUS(status));
	fflush(stdout);
	TELL("system", system("exit 3"));
	stream = popen("echo from the shell", "r");
	SET("popen", stream);
	SET("fgets", fgets((char[80]){ 0 }, 80, stream));
	TELL("pclose", pclose(stream));
	queue = msgget(IPC_PRIVATE, 0600);
	SIGN("msgget", queue + 1);
	msgctl(queue, IPC_RMID, NULL);
	memory = shmget(IPC_PRIVATE, 4096, 0600);
	SIGN("shmget", memory + 1);
	shmctl(memory, IPC_RMID, NULL);
	TELL("mq_open", mq_open("no slash", O_RDONLY));
	TELL("mq_unlink", mq_unlink("/sonde-none"));
	TELL("mq_notify", mq_notify((mqd_t)-1, NULL));
}

static void *nothing(void *given)
{
	return given;
}

static int nothing_int(void *given)
{
	(void)given;
	return 5;
}

static pthread_t thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, nothing, NULL);
	return t;
}

static void threads(void)
{
	struct timespec long_ago = { 1, 0 }, later = { 0 };
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	pthread_barrier_t barrier;
	pthread_t t;
	thrd_t t11;
	mtx_t mutex11;
	cnd_t condition11;
	sem_t semaphore, *named;
	int result;

	clock_gettime(CLOCK_REALTIME, &later);
	later.tv_sec += 30;
	TELL("pthread_join", pthread_join(thread(), NULL));
	TELL("pthread_timedjoin_np", pthread_timedjoin_np(thread(), NULL, &later));
	TELL("pthread_clockjoin_np", pthread_clockjoin_np(thread(), NULL, CLOCK_REALTIME, &later));
	t = thread();
	TELL("pthread_cancel", pthread_cancel(t));
	pthread_join(t, NULL);
	thrd_create(&t11, nothing_int, NULL);
	TELL("thrd_join", thrd_join(t11, &result));
	pthread_barrier_init(&barrier, NULL, 1);
	TELL("pthread_barrier_wait", pthread_barrier_wait(&barrier));
	pthread_mutex_lock(&mutex);
	TELL("pthread_cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &long_ago));
	TELL("pthread_cond_clockwait", pthread_cond_clockwait(&condition, &mutex, CLOCK_REALTIME, &long_ago));
	TELL("pthread_cond_signal", pthread_cond_signal(&condition));
	TELL("pthread_cond_broadcast", pthread_cond_broadcast(&condition));
	mtx_init(&mutex11, mtx_plain);
	cnd_init(&condition11);
	mtx_lock(&mutex11);
	TELL("cnd_timedwait", cnd_timedwait(&condition11, &mutex11, &long_ago));
	TELL("cnd_signal", cnd_signal(&condition11));
	TELL("cnd_broadcast", cnd_broadcast(&condition11));
	sem_init(&semaphore, 0, 0);
	TELL("sem_post", sem_post(&semaphore));
	named = sem_open("/sonde-each", O_CREAT, 0600, 1);
	SET("sem_open", named);
	TELL("sem_close", sem_close(named));
	TELL("sem_unlink", sem_unlink("/sonde-each"));
}

__attribute__((format(printf, 3, 4))) static void by_list(FILE *stream, int fd, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	TELL("vfprintf", vfprintf(stream, format, list));
	va_end(list);
	va_start(list, format);
	TELL("vprintf", vprintf(format, list));
	va_end(list);
	va_start(list, format);
	TELL("vdprintf", vdprintf(fd, format, list));
	va_end(list);
}

__attribute__((format(scanf, 2, 3))) static void scan_list(FILE *stream, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	TELL("vfscanf", vfscanf(stream, format, list));
	va_end(list);
	va_start(list, format);
	TELL("vscanf", vscanf(format, list));
	va_end(list);
}

static void stream_positions(FILE *stream)
{
	fpos_t position;
	fpos64_t position64;

	TELL("fseek", fseek(stream, 0, SEEK_SET));
	TELL("fseeko", fseeko(stream, 0, SEEK_SET));
	TELL("fseeko64", fseeko64(stream, 0, SEEK_SET));
	TELL("ftell", ftell(stream));
	TELL("ftello", ftello(stream));
	TELL("ftello64", ftello64(stream));
	TELL("fgetpos", fgetpos(stream, &position));
	TELL("fgetpos64", fgetpos64(stream, &position64));
	TELL("fsetpos", fsetpos(stream, &position));
	TELL("fsetpos64", fsetpos64(stream, &position64));
	rewind(stream);
}

static void write_streams(FILE *stream)
{
	TELL("fprintf", fprintf(stream, "%d %.3f %s %Lg\n", 1, 2.5, "three", 4.25L));
	by_list(stream, STDOUT_FILENO, "%s %d %.2f %c %ld %f %f %f %f %f %f %f %f\n", "list", 7, 0.125, 'x', 8L, 1.0, 2.0, 3.0, 4.0, 5.0,
		6.0, 7.0, 8.0);
	TELL("dprintf", dprintf(STDOUT_FILENO, "%.1f\n", 0.5));
	TELL("fwrite", fwrite("some bytes\n", 1, 11, stream));
	TELL("fwrite_unlocked", fwrite_unlocked("some bytes\n", 1, 11, stream));
	TELL("fputs", fputs("a text\n", stream) >= 0);
	TELL("fputs_unlocked", fputs_unlocked("a text\n", stream) >= 0);
	TELL("puts", puts("to stdout") >= 0);
	TELL("putw", putw('\n' << 24 | 'a' << 16 | 'b' << 8 | 'c', stream));
	TELL("putc", putc('p', stream));
	TELL("fputc", fputc('q', stream));
	TELL("putchar", putchar('\n'));
	TELL("fflush", fflush(stream));
	TELL("fflush_unlocked", fflush_unlocked(stream));
}

static void read_streams(FILE *stream)
{
	char bytes[64] = "", word[32] = "", *line = NULL;
	int number = 0;
	float half = 0;
	size_t room = 0;

	told("fscanf", fscanf(stream, "%d %f", &number, &half));
	scan_list(stream, "%31s", word);
	printf("%d %.3f %s\n", number, half, word);
	TELL("scanf", scanf("%d", &number));
	printf("%d\n", number);
	TELL("getchar", getchar());
	TELL("fread", fread(bytes, 1, 4, stream));
	TELL("fread_unlocked", fread_unlocked(bytes, 1, 4, stream));
	SET("fgets", fgets(bytes, sizeof(bytes), stream));
	SET("fgets_unlocked", fgets_unlocked(bytes, sizeof(bytes), stream));
	printf("%s", bytes);
	TELL("getline", getline(&line, &room, stream));
	TELL("getdelim", getdelim(&line, &room, 't', stream));
	free(line);
	TELL("getw", getw(stream));
	TELL("getc", getc(stream));
	TELL("fgetc", fgetc(stream));
	TELL("ungetc", ungetc('u', stream));
}

static void streams(void)
{
	FILE *stream = fopen("each.txt", "w+"), *other;

	SET("fopen", stream);
	write_streams(stream);
	stream_positions(stream);
	read_streams(stream);
	other = freopen("/dev/null", "r", stream);
	SET("freopen", other);
	other = freopen64("/dev/null", "r", other);
	SET("freopen64", other);
	TELL("fclose", fclose(other));
	other = fopen64("each.txt", "r");
	SET("fopen64", other);
	fclose(other);
	other = fdopen(open("/dev/null", O_RDONLY), "r");
	SET("fdopen", other);
	fclose(other);
	other = tmpfile();
	SET("tmpfile", other);
	fclose(other);
	other = tmpfile64();
	SET("tmpfile64", other);
	fclose(other);
	errno = ENOENT;
	perror("each");
	unlink("each.txt");
	fflush(stdout);
	TELL("printf", printf("%.10f %e %g %a\n", 3.14159, 1e100, 0.1, 1.0));
	TELL("fcloseall", 0);
}

/* pthread_cond_wait() has nobody to wake it but another thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static mtx_t lock11;
static cnd_t woken11;
static int ready;

static void *wake(void *given)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_signal(&woken);
	pthread_mutex_unlock(&lock);
	mtx_lock(&lock11);
	ready = 2;
	cnd_signal(&woken11);
	mtx_unlock(&lock11);
	return given;
}

static void conditions(void)
{
	pthread_t t;
	int result = 0;

	mtx_init(&lock11, mtx_plain);
	cnd_init(&woken11);
	mtx_lock(&lock11);
	pthread_mutex_lock(&lock);
	pthread_create(&t, NULL, wake, NULL);
	while (!ready)
		result |= pthread_cond_wait(&woken, &lock);
	pthread_mutex_unlock(&lock);
	told("pthread_cond_wait", result);
	while (ready != 2)
		result |= cnd_wait(&woken11, &lock11);
	mtx_unlock(&lock11);
	told("cnd_wait", result);
	pthread_join(t, NULL);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	call_without_sense();
	files();
	names();
	waiting();
	processes();
	threads();
	conditions();
	streams();
	fflush(stdout);
	return fcloseall();
}
