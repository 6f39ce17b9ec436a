/* Code for GPUs: a cubin is an ELF file with a section for each function. Its functions, and where each instruction comes from. */
#ifndef SONDE_SYMBOL_CUBIN_H
#define SONDE_SYMBOL_CUBIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cubin;

struct cubin_function {
	const char *name;     /* mangled */
	uint32_t symbol;      /* its number in the symbol table */
	uint32_t section;
	uint64_t offset;      /* in its section */
	uint64_t size;
};

struct cubin_place {
	const char *file;
	uint32_t line;
};

/* The image is copied. */
int cubin_open(struct cubin **ret, const void *image, size_t size, struct error *err);
void cubin_close(struct cubin *cubin);

/* NULL where it has none of this name. */
const struct cubin_function *cubin_find(const struct cubin *cubin, const char *name);
const struct cubin_function *cubin_functions(const struct cubin *cubin, size_t *ret_count);
/* Bytes of an instruction. */
unsigned cubin_step(const struct cubin *cubin);
/* Compiled with -lineinfo, or for debugging. */
int cubin_has_lines(const struct cubin *cubin);
/* Whether it is known. The text lives as long as the cubin. */
int cubin_line(const struct cubin *cubin, const struct cubin_function *function, uint64_t pc, struct cubin_place *ret);

#endif
