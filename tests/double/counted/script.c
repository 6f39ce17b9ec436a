/* counted_script WORD...: does what the words say, one after the other.
 *
 *   add twice plain         launches; add<int>(int*), outer::twice(int*), plain_kernel
 *   grid:N stream:N device:N   of the launches that follow
 *   push:NAME pop push@DOMAIN:NAME pop@DOMAIN start:NAME start@DOMAIN:NAME end   NVTX; end: of the range started last that is open
 *   name-stream:NAME        NVTX's name of the stream
 *   cu-start cu-stop cuda-start cuda-stop   the profiler's calls, of the driver and of the runtime
 *   thread                  what follows, up to "join", is done by another thread
 *   beside                  the same, while this thread goes on behind it
 *   set in:N sync alloc     memory is set to sevens, gets a number; is waited for; more is allocated
 *   print pause             what memory holds; 10 ms
 *   capture captured        of the stream; how it ended is printed
 *   loads:N                 asks for the function of a kernel, whose module is loaded at the first time; N from 1
 *   destroy exit abort      the context ends; exit: _exit, at once
 *   fork                    what follows is done by a child, and waited for
 *   exec:PATH               the rest are the words of that program, in a child, and waited for */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counted.h"
#include "sonde/annotate.h"

int cuInit(unsigned flags);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuLaunchKernel(void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
		   void *stream, void **parameters, void **extra);
int cuProfilerStart(void);
int cuCtxSynchronize(void);
int cuMemsetD8_v2(uint64_t address, uint8_t value, size_t size);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuProfilerStop(void);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuKernelGetFunction(void **function, void *kernel);
int cuStreamEndCapture(void *stream, void **graph);
int cuDevicePrimaryCtxReset_v2(int device);

#define MODULE_CUDA 2
#define NAME_STREAM 5

static void add(void **parameters)
{
	++**(int **)parameters[0];
}

static struct counted_kernel kernels[] = {
	{ "_Z3addIiEvPT_", add },
	{ "_ZN5outer5twiceEPi", add },
	{ "plain_kernel", add },
};
static const char *const kernel_words[] = { "add", "twice", "plain" };

struct state {
	char **words;
	int count;
	int at;
	uint64_t memory;
	uint32_t grid;
	uintptr_t stream;
	int device;
	sonde_range_id started[16];
	int started_count;
};

static void run(struct state *s);

static int launch(struct state *s, const char *word)
{
	void *parameters[] = { &s->memory };

	for (int i = 0; i < 3; i++)
		if (strcmp(word, kernel_words[i]) == 0)
			return cuLaunchKernel(&kernels[i], s->grid, 1, 1, 64, 1, 1, 0, (void *)s->stream, parameters, NULL) == 0;
	return 0;
}

/* "push@DOMAIN:NAME" -> the domain, and what follows the colon. */
static sonde_domain domain_of(const char *word, const char **name)
{
	const char *at = strchr(word, '@'), *colon = strchr(word, ':');
	char domain[64];

	*name = colon ? colon + 1 : "";
	if (!at || (colon && at > colon))
		return NULL;
	snprintf(domain, sizeof(domain), "%.*s", (int)(colon ? colon - at - 1 : (long)strlen(at + 1)), at + 1);
	return sonde_domain_create(domain);
}

static int nvtx(struct state *s, const char *word)
{
	const char *name;
	sonde_domain domain = domain_of(word, &name);
	void (*name_stream)(void *, const char *);

	if (strncmp(word, "push", 4) == 0)
		domain ? sonde_domain_range_push(domain, name) : sonde_range_push(name);
	else if (strncmp(word, "pop", 3) == 0)
		domain ? sonde_domain_range_pop(domain) : sonde_range_pop();
	else if (strncmp(word, "start", 5) == 0)
		s->started[s->started_count++] = domain ? sonde_domain_range_start(domain, name) : sonde_range_start(name);
	else if (strcmp(word, "end") == 0)
		sonde_range_end(s->started[--s->started_count]);
	else if (strncmp(word, "name-stream", 11) == 0) {
		name_stream = (void (*)(void *, const char *))sonde_nvtx_get(MODULE_CUDA, NAME_STREAM);
		if (name_stream)
			name_stream((void *)s->stream, name);
	} else
		return 0;
	return 1;
}

static int profiler(const char *word)
{
	if (strcmp(word, "cu-start") == 0)
		return cuProfilerStart() == 0;
	if (strcmp(word, "cu-stop") == 0)
		return cuProfilerStop() == 0;
	if (strcmp(word, "cuda-start") == 0)
		return counted_runtime_start() == 0;
	return strcmp(word, "cuda-stop") == 0 && counted_runtime_stop() == 0;
}

static void *run_thread(void *argument)
{
	struct state s = *(struct state *)argument;

	counted_use(s.device);
	run(&s);
	((struct state *)argument)->at = s.at;
	return NULL;
}

static void in_thread(struct state *s)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_thread, s);
	pthread_join(thread, NULL);
}

static void *run_beside(void *argument)
{
	run(argument);
	free(argument);
	return NULL;
}

/* The program ends without waiting for it, as some do. */
static void beside(struct state *s)
{
	struct state *copy = malloc(sizeof(*copy));
	pthread_t thread;

	*copy = *s;
	pthread_create(&thread, NULL, run_beside, copy);
	while (s->at < s->count && strcmp(s->words[s->at++], "join") != 0)
		;
}

static void in_child(struct state *s, const char *program)
{
	pid_t child = fork();

	if (child == 0 && program) {
		s->words[s->at - 1] = (char *)program;
		execv(program, s->words + s->at - 1);
		_exit(127);
	}
	if (child != 0) {
		waitpid(child, NULL, 0);
		s->at = s->count;
	}
}

static int memory(struct state *s, const char *word)
{
	int number = strncmp(word, "in:", 3) == 0 ? atoi(word + 3) : 0;
	uint64_t more;

	if (strcmp(word, "set") == 0)
		return cuMemsetD8_v2(s->memory, 7, sizeof(int)) == 0;
	if (strncmp(word, "in:", 3) == 0)
		return cuMemcpyHtoD_v2(s->memory, &number, sizeof(number)) == 0;
	if (strcmp(word, "sync") == 0)
		return cuCtxSynchronize() == 0;
	if (strcmp(word, "alloc") == 0)
		return cuMemAlloc_v2(&more, 64) == 0;
	if (strcmp(word, "pause") == 0)
		return usleep(10000) == 0;
	return strcmp(word, "print") == 0 && printf("holds %d\n", *(int *)(uintptr_t)s->memory) > 0;
}

static int capture(struct state *s, const char *word)
{
	void *graph;

	if (strcmp(word, "capture") == 0)
		return cuStreamBeginCapture_v2((void *)s->stream, 0) == 0;
	return strcmp(word, "captured") == 0 && printf("captured %d\n", cuStreamEndCapture((void *)s->stream, &graph)) > 0;
}

static int ending(const char *word)
{
	fflush(stdout);
	if (strcmp(word, "exit") == 0)
		_exit(7);
	if (strcmp(word, "abort") == 0)
		abort();
	return strcmp(word, "destroy") == 0 && cuDevicePrimaryCtxReset_v2(0) == 0;
}

static int setting(struct state *s, const char *word)
{
	int value = strchr(word, ':') ? atoi(strchr(word, ':') + 1) : 0;
	void *function;

	if (strncmp(word, "grid:", 5) == 0)
		s->grid = (uint32_t)value;
	else if (strncmp(word, "stream:", 7) == 0)
		s->stream = (uintptr_t)value;
	else if (strncmp(word, "device:", 7) == 0)
		counted_use(s->device = value);
	else if (strncmp(word, "loads:", 6) == 0)
		return cuKernelGetFunction(&function, (void *)(uintptr_t)value) == 0;
	else
		return 0;
	return 1;
}

static void run(struct state *s)
{
	const char *word;

	while (s->at < s->count) {
		word = s->words[s->at++];
		if (strcmp(word, "join") == 0)
			return;
		if (strcmp(word, "thread") == 0)
			in_thread(s);
		else if (strcmp(word, "beside") == 0)
			beside(s);
		else if (strcmp(word, "fork") == 0)
			in_child(s, NULL);
		else if (strncmp(word, "exec:", 5) == 0)
			in_child(s, word + 5);
		else if (!setting(s, word) && !launch(s, word) && !profiler(word) && !memory(s, word) && !capture(s, word) &&
			 !nvtx(s, word) && !ending(word)) {
			fprintf(stderr, "no such word: %s\n", word);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct state s = { .words = argv, .count = argc, .at = 1, .grid = 4 };

	cuInit(0);
	cuMemAlloc_v2(&s.memory, sizeof(int));
	run(&s);
	return 0;
}
