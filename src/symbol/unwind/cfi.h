/* Call frame information of an ELF file: for an address, where the caller's registers are. Rows are
 * read when they are first asked for, and kept. */
#ifndef SONDE_SYMBOL_UNWIND_CFI_H
#define SONDE_SYMBOL_UNWIND_CFI_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf/elf_file.h"

enum cfi_kind {
	CFI_SAVED = 1,    /* in memory at CFA + value */
	CFI_VALUE = 2,    /* is CFA + value */
	CFI_REGISTER = 3, /* is in register `value` */
	CFI_SAVED_BY_EXPRESSION = 4,
	CFI_VALUE_BY_EXPRESSION = 5
};

struct cfi_rule {
	uint8_t target; /* DWARF number of the caller's register */
	uint8_t kind;   /* enum cfi_kind */
	int32_t value;  /* or number of the expression */
};

#define CFI_BY_EXPRESSION 255

/* Registers without a rule have the value they have in the callee. */
struct cfi_row {
	uint64_t start; /* ELF addresses it is good for */
	uint64_t end;
	uint8_t covered;      /* 0: nothing is known about this address */
	uint8_t root;         /* it has no caller */
	uint8_t signal;       /* the caller was interrupted: its address is exact */
	uint8_t cfa_register; /* CFA = register + cfa_offset, or CFI_BY_EXPRESSION */
	int32_t cfa_offset;   /* or number of the expression */
	uint32_t rule_count;
	struct cfi_rule rules[];
};

struct cfi_expression {
	size_t count;
	const Dwarf_Op *ops;
};

struct cfi;

struct cfi *cfi_new(void); /* NULL without memory */
void cfi_free(struct cfi *cfi);

/* The row of an address that was read before; NULL when there is none. Rows stay as they are and where they
 * are. */
const struct cfi_row *cfi_find(const struct cfi *cfi, uint64_t address);
/* The same; reads it from the file if need be. Where the file tells nothing there is a row that says so;
 * NULL only without memory, or when there are very many already. The file must be the same each time, until cfi_detach(). */
const struct cfi_row *cfi_read(struct cfi *cfi, const struct elf_file *file, uint64_t address);
/* The file is about to be closed. What was read stays. */
void cfi_detach(struct cfi *cfi);

struct cfi_expression cfi_expression(const struct cfi *cfi, int32_t number);

#endif
