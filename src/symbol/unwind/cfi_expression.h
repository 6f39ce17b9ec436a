/* DWARF expressions as call frame information has them, evaluated on a copy of the stack. */
#ifndef SONDE_SYMBOL_UNWIND_CFI_EXPRESSION_H
#define SONDE_SYMBOL_UNWIND_CFI_EXPRESSION_H

#include <stdint.h>

#include "symbol/unwind/cfi.h"
#include "symbol/unwind/unwind.h"

/* 0; -EFAULT when it reads what is not in the copy, -EBADMSG when it makes no sense or goes on too long. */
int cfi_evaluate(const struct cfi_expression *expression, const struct stack_copy *copy, const uint64_t *registers, uint64_t cfa,
		 uint64_t *ret);

#endif
