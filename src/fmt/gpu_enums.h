/* Words for CUPTI's numbers, from gpu_enums.def. */
#ifndef SONDE_FMT_GPU_ENUMS_H
#define SONDE_FMT_GPU_ENUMS_H

#include <stdint.h>

enum {
#define COPY_KIND(number, NAME, ...) GPU_COPY_##NAME = number,
#define MEMORY_KIND(number, NAME, ...) GPU_MEMORY_##NAME = number,
#define MEMORY_KIND_ELSEWHERE(number, NAME, ...) GPU_MEMORY_##NAME = number,
#define MEMORY_OPERATION(number, NAME, ...) GPU_MEMORY_##NAME = number,
#define SYNC_KIND(number, NAME, ...) GPU_SYNC_##NAME = number,
#define JIT_OPERATION(number, NAME, ...) GPU_JIT_##NAME = number,
#define OVERHEAD_KIND(number, NAME, ...) GPU_OVERHEAD_##NAME = number,
#include "fmt/gpu_enums.def"
};

struct gpu_word {
	const char *word, *text, *kineto; /* NULL where there is none */
	int64_t nsys;                     /* number */
};

/* For numbers that are not known those of 0. */
const struct gpu_word *gpu_copy_kind(int64_t number);
const struct gpu_word *gpu_memory_kind(int64_t number);
const struct gpu_word *gpu_sync_kind(int64_t number);
/* NULL for numbers that are not known. */
const char *gpu_memory_operation_word(int64_t number);
const char *gpu_jit_operation_word(int64_t number);
/* For CUPTI's kinds of overhead, of which those that are CUPTI's own are numbered from 1 << 16 on. */
const char *gpu_overhead_word(int64_t kind);
const char *gpu_overhead_text(int64_t kind);
/* Its number in gpu_enums.def; -1 for one that is not known. */
int64_t gpu_overhead_number(int64_t kind);
/* For numbers that are not known that of compiling. */
const char *gpu_jit_operation_kineto(int64_t number);

/* CUPTI's number of nsys's, or of the kind that a text of Kineto's begins with; GPU_MEMORY_UNKNOWN where it is not known. */
int64_t gpu_memory_kind_of_nsys(int64_t nsys);
int64_t gpu_memory_kind_of_text(const char *text);

#endif
