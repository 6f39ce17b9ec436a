/* NVIDIA's disassembler (nvdisasm), which is found when it is needed: instructions as text. */
#ifndef SONDE_KERNEL_SOURCE_DISASSEMBLE_H
#define SONDE_KERNEL_SOURCE_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* SONDE_NVDISASM, then PATH, then where toolkits and Python packages put it. 0, or -ENOENT with what to install. */
int disassembler_find(char *ret, size_t size, struct error *err);

/* An instruction of a section ".text.FUNCTION". The texts are good during the call. */
typedef int (*disassembled_fn)(void *context, const char *function, uint32_t pc, const char *text);
/* Functions by their numbers in the symbol table; those in the same section come along. */
int disassemble(const char *program, const void *image, size_t size, const uint32_t *symbols, size_t symbol_count, disassembled_fn take,
		void *context, struct error *err);
/* One line of its output, for those who have it: `function` is kept from line to line. */
struct disassembly {
	char function[4096];
};
int disassembly_line(struct disassembly *d, char *line, disassembled_fn take, void *context);

#endif
