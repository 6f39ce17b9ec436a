/* Shared by the parts of a search. */
#ifndef SONDE_SYMBOL_ELF_SYMTAB_INTERNAL_H
#define SONDE_SYMBOL_ELF_SYMTAB_INTERNAL_H

#include <gelf.h>

#include "base/buf.h"
#include "symbol/elf/symtab.h"

#define SYMBOL_NAME_LIMIT (32u << 10) /* longer names are cut */

/* A string table: small ones are read once, large ones name by name. */
struct string_table {
	const struct elf_file *file;
	uint64_t offset;
	uint64_t size;
	char *whole;
};

void string_table_open(struct string_table *t, const struct elf_file *file, const GElf_Shdr *section);
void string_table_close(struct string_table *t);
/* A name, cut at `size` - 1 bytes; its length, or -EBADMSG. */
int string_table_get(const struct string_table *t, uint64_t at, char *to, size_t size);

/* A symbol that may be the one for some address. */
struct candidate {
	uint64_t start;
	uint64_t end;  /* first byte beyond; for one without a size: of its section */
	uint32_t name; /* place in names */
	uint8_t source;
	uint8_t sized;
	uint8_t function;
	uint8_t binding;
};

struct symbol_search {
	const uint64_t *addresses;
	size_t count;
	uint32_t *covering;    /* for each address: 1 + index of a candidate that covers it, or 0 */
	uint32_t *before;      /* 1 + index of the last one without a size since the address before */
	uint64_t *sized_start; /* start of the last sized one since the address before, + 1; or 0 */
	uint32_t *found;       /* what it comes to, once asked for */
	struct candidate *candidates;
	size_t candidate_count, candidate_cap;
	struct buf names;
	uint64_t work; /* comparisons left before a table is taken for a bad joke */
	bool complete;
	char scratch[SYMBOL_NAME_LIMIT];
};

/* Index of the first address that is not below. */
size_t search_first(const struct symbol_search *s, uint64_t address);
/* Offers a symbol whose name is read from the table only if it comes into question. */
int search_offer(struct symbol_search *s, const struct candidate *c, const struct string_table *names, uint64_t at);
/* The one symbol for addresses [from, to), whose name is in s->scratch. */
int search_settle(struct symbol_search *s, const struct candidate *c, size_t from, size_t to);
bool search_is_found(const struct symbol_search *s, size_t i);

/* Finds a section by name; NULL when there is none. */
Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret);

/* plt.c */
int search_plt(struct symbol_search *s, struct elf_file *file);
/* minidebug.c: the file inside the file; -ENOENT where there is none. */
int minidebug_open(struct elf_file **ret, struct elf_file *file, struct error *err);

#endif
