/* What the CUDA test programs share: a call that must succeed, and the lines of JSON that say what was done. */
#ifndef SONDE_TESTS_GPU_TELL_H
#define SONDE_TESTS_GPU_TELL_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MUST(call) \
	do { \
		cudaError_t must_result = (call); \
		if (must_result != cudaSuccess) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(must_result)); \
			exit(3); \
		} \
	} while (0)

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* One line {"kind": "...", ...}: the rest is JSON already. */
__attribute__((format(printf, 2, 3))) static inline void tell(const char *kind, const char *format, ...)
{
	va_list list;

	printf("{\"kind\": \"%s\"", kind);
	if (*format)
		printf(", ");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("}\n");
}

/* `count` launches of this kind, each on the stream that was created as the stream-th (0 = the default stream). */
struct told_kernel {
	const char *name;
	dim3 grid;
	dim3 block;
	int fixed; /* static shared memory */
	int dynamic;
	int cluster; /* along x; 0 = none */
	int type;    /* 0 regular, 1 cooperative */
	int stream;
	int count;
};

static inline void tell_kernel(const struct told_kernel *k)
{
	tell("kernel",
	     "\"name\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"static\": %d, \"dynamic\": %d, "
	     "\"cluster\": %d, \"type\": %d, \"stream\": %d, \"count\": %d",
	     k->name, k->grid.x, k->grid.y, k->grid.z, k->block.x, k->block.y, k->block.z, k->fixed, k->dynamic, k->cluster, k->type,
	     k->stream, k->count);
}

/* kind as CUPTI numbers copies: 1 host to device, 2 device to host, 8 device to device, 10 peer. */
static inline void tell_copy(int kind, size_t bytes, int stream, int count)
{
	tell("copy", "\"copy\": %d, \"bytes\": %zu, \"stream\": %d, \"count\": %d", kind, bytes, stream, count);
}

static inline void tell_set(int value, size_t bytes, int stream, int count)
{
	tell("set", "\"value\": %d, \"bytes\": %zu, \"stream\": %d, \"count\": %d", value, bytes, stream, count);
}

/* Calls of this name; result as the call returned it. */
static inline void tell_call(const char *name, int result, int count)
{
	tell("call", "\"name\": \"%s\", \"result\": %d, \"count\": %d", name, result, count);
}

#endif
