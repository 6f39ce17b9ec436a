/* GPUs that do not exist: libraries in place of NVML, the CUDA driver and CUPTI's PM sampling, with values known in advance. What they do wrong is said by the
 * variable GPU_DOUBLE: words separated by spaces, with a number behind a colon. */
#ifndef SONDE_TESTS_DOUBLE_GPU_H
#define SONDE_TESTS_DOUBLE_GPU_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int64_t raw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
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
