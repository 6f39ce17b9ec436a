/* The kernel's own symbols (/proc/kallsyms): functions only, of the kernel and its modules. */
#ifndef SONDE_SYMBOL_KALLSYMS_H
#define SONDE_SYMBOL_KALLSYMS_H

#include <stdint.h>

#include "base/error.h"

#define KALLSYMS_PATH "/proc/kallsyms"

struct kallsyms;

/* The texts live as long as the table. */
struct kernel_symbol {
	const char *name;
	const char *module; /* NULL: the kernel itself */
	uint64_t start;
	uint64_t size; /* to the next symbol: the kernel does not tell sizes */
};

/* -EACCES when the kernel hides its addresses (kptr_restrict). */
int kallsyms_load(struct kallsyms **ret, const char *path, struct error *err);
void kallsyms_free(struct kallsyms *k);

/* 0, or -ENOENT when the address is in no function. */
int kallsyms_find(const struct kallsyms *k, uint64_t address, struct kernel_symbol *ret);
/* Where the kernel's text begins (_stext or _text): offsets of its frames count from here. 0 when unknown. */
uint64_t kallsyms_text_start(const struct kallsyms *k);
/* Where a module's first symbol is: offsets of its frames count from here. 0 when it has none. */
uint64_t kallsyms_module_start(const struct kallsyms *k, const char *module);

#endif
