/* GPUs that do not exist: libraries in place of NVML, the CUDA driver and CUPTI's PM sampling, with values known in advance. What they do wrong is said by the
 * variable GPU_DOUBLE: words separated by spaces, with a number behind a colon.
 * What they did they write down in the file GPU_DOUBLE_LOG, a word and numbers in each line: tests compare with that, not with the time that
 * has passed. */
#ifndef SONDE_TESTS_DOUBLE_GPU_H
#define SONDE_TESTS_DOUBLE_GPU_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline int64_t raw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* In one piece: threads and processes write to the same file. */
static inline void note(const char *format, ...)
{
	const char *path = getenv("GPU_DOUBLE_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	char line[256];
	va_list args;
	int size;

	if (fd < 0)
		return;
	va_start(args, format);
	size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(fd, line, (size_t)size) != size)
		abort();
	close(fd);
}

/* How long this thread has waited for a processor, in ns. */
static inline long long waited(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	long long ran, ns = 0;

	if (f && fscanf(f, "%lld %lld", &ran, &ns) != 2)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

/* The number behind "word:", 1 for "word" alone, `otherwise` without it. */
static inline long told(const char *word, long otherwise)
{
	const char *all = getenv("GPU_DOUBLE"), *at = all ? strstr(all, word) : NULL;

	if (!at)
		return otherwise;
	at += strlen(word);
	return *at == ':' ? atol(at + 1) : 1;
}

#endif
