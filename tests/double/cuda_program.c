/* Stands for a CUDA program and its driver: plays the script named by CUPTI_DOUBLE_SCRIPT with real threads, processes,
 * sleeping and NVTX ranges. What concerns CUDA goes to the double of CUPTI when that is loaded, as the driver would tell CUPTI. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fmt/attach.h"
#include "ring/ring_layout.h"
#include "script.h"
#include "sonde/annotate.h"

static struct script script;
static cupti_double_play *play_in_double;
static void *user_library;

static int find_double(struct dl_phdr_info *object, size_t size, void *found)
{
	void *library;

	if (!strstr(object->dlpi_name, "libcupti.so"))
		return 0;
	library = dlopen(object->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
	*(void **)found = library ? dlsym(library, "cupti_double_play") : NULL;
	return *(void **)found != NULL;
}

static void bind_double(void)
{
	void *found = NULL;

	dl_iterate_phdr(find_double, &found);
	memcpy(&play_in_double, &found, sizeof(found));
}

/* What cuInit does for tools. */
static void initialise(struct script_line *line)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*inject)(void);

	if (symbol) {
		memcpy(&inject, &symbol, sizeof(symbol));
		inject();
	}
	bind_double();
	if (play_in_double)
		play_in_double(line);
}

/* A library beside this program. */
static void *load(const char *name)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 32);

	path[size < 0 ? 0 : size] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The driver's functions, as the runtime finds them. */
static struct {
	int (*start)(void);
	int (*stop)(void);
	int (*make_stream)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	int (*make_graph)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	void (*counts)(int *);
} driver;

static void look_up_driver(void)
{
	void *library = load("libdriver_double.so");
	int (*get)(const char *, void **, int, uint64_t, int *) = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
	int status;

	if (!get || get("cuProfilerStart", (void **)&driver.start, 12000, 0, &status) ||
	    get("cuProfilerStop", (void **)&driver.stop, 12000, 0, &status) ||
	    get("cuStreamCreateWithPriority", (void **)&driver.make_stream, 12000, 0, &status) ||
	    get("cuGraphAddKernelNode", (void **)&driver.make_graph, 12000, 0, &status))
		exit(96);
	driver.counts = dlsym(library, "driver_double_counts");
}

/* What of a line is also a call of the driver. */
static void call_driver(const struct script_line *line)
{
	int result = 0;

	if (!driver.start)
		return;
	if (line->action == ACTION_CONTEXT || line->action == ACTION_STREAM || line->action == ACTION_MODULE)
		result = driver.make_stream(1, 2, 3, 4, 5, 6, 7);
	else if (line->action == ACTION_GRAPH || line->action == ACTION_NODE)
		result = driver.make_graph(1, 2, 3, 4, 5, 6, 7);
	else if (line->action == ACTION_CALL && !strcmp(line->text, "cudaProfilerStart"))
		result = driver.start();
	else if (line->action == ACTION_CALL && !strcmp(line->text, "cudaProfilerStop"))
		result = driver.stop();
	if (result)
		exit(97);
}

static void use_cupti(const char *what)
{
	void *symbol;
	void (*function)(void);

	if (!user_library)
		user_library = load("libcupti_user.so");
	symbol = user_library ? dlsym(user_library, what) : NULL;
	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		exit(91);
	}
	memcpy(&function, &symbol, sizeof(symbol));
	function();
	bind_double();
}

/* What an injected thread would do, with the libraries that the environment names. */
static struct attach_request request = { .magic = ATTACH_MAGIC, .version = ATTACH_VERSION, .modules = RING_GATE_CUDA };

static void fill_request(const char *session)
{
	FILE *file = fopen(session, "r");

	if (!file || !fgets(request.session, sizeof(request.session), file))
		exit(98);
	request.session[strcspn(request.session, "\n")] = '\0';
	fclose(file);
	snprintf(request.agent_path, sizeof(request.agent_path), "%s", getenv("LATE_AGENT"));
	snprintf(request.cuda_path, sizeof(request.cuda_path), "%s", getenv("LATE_CUDA_AGENT"));
}

static void *visit(void *name)
{
	void *library = dlopen(request.agent_path, RTLD_NOW);
	int (*function)(const struct attach_request *) = library ? (int (*)(const struct attach_request *))dlsym(library, name) : NULL;

	return (void *)(intptr_t)(function ? function(&request) : 1);
}

static void call_agent(const char *name)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, visit, (void *)name) || pthread_join(thread, &result))
		exit(99);
	printf("%s %d\n", name, (int)(intptr_t)result);
	fflush(stdout);
	bind_double();
}

static void enter(const char *session)
{
	fill_request(session);
	call_agent(ATTACH_ENTER);
}

static void sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static void play_section(const struct script_section *section);

static void *play_thread(void *section)
{
	play_section(section);
	return NULL;
}

struct running {
	const struct script_section *section;
	pthread_t thread;
};
static struct running running[64];

static void start_thread(const char *name)
{
	for (size_t i = 0; i < 64; i++)
		if (!running[i].section) {
			running[i].section = script_find(&script, name);
			if (pthread_create(&running[i].thread, NULL, play_thread, (void *)running[i].section))
				exit(92);
			return;
		}
	exit(92);
}

static void join_threads(const char *name)
{
	for (size_t i = 0; i < 64; i++)
		if (running[i].section && !strcmp(running[i].section->name, name)) {
			pthread_join(running[i].thread, NULL);
			running[i].section = NULL;
		}
}

static void fork_child(const char *name)
{
	pid_t pid = fork();

	if (pid == 0) {
		play_section(script_find(&script, name));
		_exit(0);
	}
	if (pid < 0)
		exit(93);
}

static void wait_child(void)
{
	int status;

	if (wait(&status) < 0 || status != 0)
		exit(94);
}

static void become(const char *path)
{
	char *arguments[] = { (char *)"cuda_program", NULL };

	setenv("CUPTI_DOUBLE_SCRIPT", path, 1);
	execv("/proc/self/exe", arguments);
	exit(95);
}

static void await_file(const char *path)
{
	while (access(path, F_OK))
		sleep_ms(2);
	/* Somebody may have brought it meanwhile. */
	if (!play_in_double)
		bind_double();
}

static void say(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

static void lap(void)
{
	static const clockid_t clocks[3] = { CLOCK_MONOTONIC_RAW, CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID };
	static __thread long long last[3];
	long long now[3];

	for (int i = 0; i < 3; i++) {
		struct timespec t;

		clock_gettime(clocks[i], &t);
		now[i] = t.tv_sec * 1000000000LL + t.tv_nsec;
	}
	if (last[0])
		printf("lap %lld %lld %lld\n", now[0] - last[0], now[1] - last[1], now[2] - last[2]);
	fflush(stdout);
	memcpy(last, now, sizeof(last));
}

static void play(struct script_line *line)
{
	switch (line->action) {
	case ACTION_INIT: initialise(line); break;
	case ACTION_START: start_thread(line->text); break;
	case ACTION_JOIN: join_threads(line->text); break;
	case ACTION_SLEEP: sleep_ms(atol(line->text)); break;
	case ACTION_PUSH: sonde_range_push(line->text); break;
	case ACTION_POP: sonde_range_pop(); break;
	case ACTION_SAY: say(line->text); break;
	case ACTION_LAP: lap(); break;
	case ACTION_TOUCH: close(open(line->text, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); break;
	case ACTION_AWAIT: await_file(line->text); break;
	case ACTION_FORK: fork_child(line->text); break;
	case ACTION_WAIT: wait_child(); break;
	case ACTION_EXEC: become(line->text); break;
	case ACTION_EXIT: exit(atoi(line->text));
	case ACTION_QUICK_EXIT: _exit(atoi(line->text));
	case ACTION_KILL: kill(getpid(), atoi(line->text)); break;
	case ACTION_USER_BEGIN: use_cupti("cupti_user_begin"); break;
	case ACTION_USER_END: use_cupti("cupti_user_end"); break;
	case ACTION_DRIVER: look_up_driver(); break;
	case ACTION_LIBCUDA: load("libcuda.so.1"); break;
	case ACTION_ENTER: enter(line->text); break;
	case ACTION_LEAVE: call_agent(ATTACH_LEAVE); break;
	default:
		call_driver(line);
		if (play_in_double)
			play_in_double(line);
	}
}

static void play_section(const struct script_section *section)
{
	long left[64] = { 0 };
	size_t depth = 0;

	for (size_t i = 0; i < section->count; i++) {
		struct script_line *line = &section->lines[i];

		if (line->action == ACTION_REPEAT)
			left[depth++] = atol(line->text);
		else if (line->action != ACTION_END)
			play(line);
		else if (--left[depth - 1] > 0)
			i = line->partner;
		else
			depth--;
	}
}

int main(void)
{
	const char *path = getenv("CUPTI_DOUBLE_SCRIPT");

	if (!path) {
		fputs("CUPTI_DOUBLE_SCRIPT names no script\n", stderr);
		return 90;
	}
	script_read(&script, path);
	play_section(script_find(&script, "main"));
	if (driver.counts) {
		int counts[3];

		driver.counts(counts);
		printf("driver %d %d %d\n", counts[0], counts[1], counts[2]);
	}
	return 0;
}
