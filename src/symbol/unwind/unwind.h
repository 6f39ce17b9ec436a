/* From registers and a copy of the stack to the addresses of the callers. */
#ifndef SONDE_SYMBOL_UNWIND_UNWIND_H
#define SONDE_SYMBOL_UNWIND_UNWIND_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/system/arch.h"
#include "symbol/unwind/cfi.h"

/* Registers by DWARF number and the bytes of the stack from the stack pointer upwards. */
struct stack_copy {
	uint64_t registers[ARCH_DWARF_REGISTERS];
	const uint8_t *bytes;
	size_t size;
};

/* -EFAULT outside the copy. */
static inline int stack_copy_read(const struct stack_copy *copy, uint64_t address, void *ret, size_t size)
{
	uint64_t at = address - copy->registers[ARCH_DWARF_STACK];

	if (at > copy->size || copy->size - at < size)
		return -EFAULT;
	memcpy(ret, copy->bytes + at, size);
	return 0;
}

/* What is known about the code at an address. */
struct unwind_place {
	const struct cfi *cfi;
	const struct cfi_row *row; /* NULL: there is code, and no more is known */
	uint64_t generation;       /* the answer is good as long as the source has the same one */
};

struct unwind_source {
	void *context;
	uint64_t generation;
	/* -ENOENT when there is no code at the address. `sure`: there should be. */
	int (*find)(void *context, uint64_t address, int sure, struct unwind_place *ret);
};

/* One for each thread that unwinds: it keeps what it found. */
struct unwinder;

struct unwinder *unwinder_new(void); /* NULL without memory */
void unwinder_free(struct unwinder *u);

/* Writes the program counter and those of its callers, at most `room`, to pcs. All but the first are return
 * addresses; that of an instruction (where a signal interrupted, and where its handler will return to) is given
 * plus one, as if it were. *ret_cut is 1 when there
 * are more callers that could not be found. Returns how many were written. */
uint32_t unwind(struct unwinder *u, const struct unwind_source *source, const struct stack_copy *copy, uint64_t *pcs, uint32_t room,
		uint8_t *ret_cut);

#endif
