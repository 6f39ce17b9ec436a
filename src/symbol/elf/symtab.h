/* Names for the addresses of one file, found in one sweep over its symbol tables: no table is
 * kept, and of the names only those that are wanted are read.
 *
 * Of several symbols that could be meant, people expect: the one that covers the address before one
 * without a size that lies before it; functions before labels; the innermost; and of several at the
 * same place a global name before a local one, then the one with fewer leading underscores. */
#ifndef SONDE_SYMBOL_ELF_SYMTAB_H
#define SONDE_SYMBOL_ELF_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "fmt/tables.h"
#include "symbol/elf/elf_file.h"

struct symbol_search;

struct symbol_match {
	const char *name; /* as the linker writes it, without a version; lives as long as the search */
	uint64_t start;
	uint64_t size; /* 0: not told */
	enum symbol_source source;
	uint32_t id; /* the same for all addresses of one symbol; below symbol_search_limit() */
};

/* The addresses must rise. They stay the caller's, and must outlive the search. */
int symbol_search_new(struct symbol_search **ret, const uint64_t *addresses, size_t count);
void symbol_search_free(struct symbol_search *s);

/* Looks in the file's own tables: .symtab; for what that does not name .dynsym and .gnu_debugdata; then the
 * stubs for calls to other libraries. With `debug` the file is another's debug file. -EBADMSG when a table is
 * damaged: what could be read counts. */
int symbol_search_file(struct symbol_search *s, struct elf_file *file, bool debug, struct error *err);

/* Whether .symtab had a function for every address: there is no use in looking for another table. */
bool symbol_search_complete(const struct symbol_search *s);

uint32_t symbol_search_limit(const struct symbol_search *s);
/* After the last file. -ENOENT: no name was found for addresses[i]. */
int symbol_search_result(struct symbol_search *s, size_t i, struct symbol_match *ret);

#endif
