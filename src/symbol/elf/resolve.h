/* All that is known about names for the addresses of one ELF file: its own tables, then its debug file's. */
#ifndef SONDE_SYMBOL_ELF_RESOLVE_H
#define SONDE_SYMBOL_ELF_RESOLVE_H

#include "symbol/elf/debug_file.h"
#include "symbol/elf/symtab.h"

/* Fills the search. wanted->file is the file itself, or NULL where only its build-id is known. 0 when all went
 * well, found or not; -ENOENT when there was nothing to look in; otherwise what is wrong stands in *err. */
int resolve_elf(struct symbol_search *s, const struct debug_wanted *wanted, struct error *err);

#endif
