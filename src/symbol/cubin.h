/* Code for GPUs: a cubin is an ELF file with a section for each function. Its functions, and where each instruction comes from. */
#ifndef SONDE_SYMBOL_CUBIN_H
#define SONDE_SYMBOL_CUBIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cubin;

struct cubin_function {
	const char *name; /* mangled */
	uint32_t symbol;  /* its number in the symbol table */
	uint32_t section;
	uint64_t offset; /* in its section */
	uint64_t size;
};

struct cubin_place {
	const char *file;
	uint32_t line;
	const char *function; /* mangled: what was inlined here; NULL: the function itself, or it is not known */
};

/* The image is copied. */
int cubin_open(struct cubin **ret, const void *image, size_t size, struct error *err);
void cubin_close(struct cubin *cubin);

/* NULL where it has none of this name. */
const struct cubin_function *cubin_find(const struct cubin *cubin, const char *name);
const struct cubin_function *cubin_functions(const struct cubin *cubin, size_t *ret_count);
/* Bytes of an instruction. */
unsigned cubin_step(const struct cubin *cubin);
/* Where an instruction was written, then where that was inlined, and so on to the function itself. How many of them, at most `room`; 0: not known.
 * Texts live as long as the cubin. */
size_t cubin_places(const struct cubin *cubin, const struct cubin_function *function, uint64_t pc, struct cubin_place *ret, size_t room);
/* The same in PTX, which the compiler keeps along with lines: `file` is the name of its text. */
int cubin_ptx_place(const struct cubin *cubin, const struct cubin_function *function, uint64_t pc, struct cubin_place *ret);
/* All of a text of PTX, each line ended by a 0 (the last one may not be); NULL: there is none. It lives as long as the cubin. */
const char *cubin_ptx_text(const struct cubin *cubin, const char *name, size_t *ret_size);

#endif
