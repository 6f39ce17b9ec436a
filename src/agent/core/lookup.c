/* Finding the function behind a wrapper: the next one in load order, so that a
 * user's own preloaded library keeps its place; straight from libc's symbol table on systems
 * whose program has no libdl. */
#include "agent/core/old_glibc.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/core/wrappers.h"

struct search {
	const char *name;
	void *found;
};

struct symbol_table {
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const uint32_t *gnu_hash;
};

static void read_dynamic(const ElfW(Dyn) *dynamic, struct symbol_table *table)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *address = (const void *)dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			table->symbols = address;
		else if (dynamic->d_tag == DT_STRTAB)
			table->strings = address;
		else if (dynamic->d_tag == DT_VERSYM)
			table->versions = address;
		else if (dynamic->d_tag == DT_GNU_HASH)
			table->gnu_hash = address;
	}
}

/* One past the highest symbol that any hash chain reaches. */
static uint32_t symbol_limit(const uint32_t *gnu_hash)
{
	uint32_t bucket_count = gnu_hash[0], first = gnu_hash[1], bloom_words = gnu_hash[2];
	const uint32_t *buckets = gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chains = buckets + bucket_count;
	uint32_t last = 0;

	for (uint32_t i = 0; i < bucket_count; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < first)
		return first;
	while (!(chains[last - first] & 1))
		last++;
	return last + 1;
}

static void *find_in(const struct symbol_table *table, uintptr_t base, const char *name)
{
	uint32_t limit = symbol_limit(table->gnu_hash);

	for (uint32_t i = 0; i < limit; i++) {
		const ElfW(Sym) *symbol = &table->symbols[i];

		/* Bit 15 of the version marks one that new programs do not bind to. */
		if (symbol->st_shndx != SHN_UNDEF && !(table->versions && table->versions[i] & 0x8000) &&
		    strcmp(table->strings + symbol->st_name, name) == 0)
			return (void *)(base + symbol->st_value);
	}
	return NULL;
}

static int look_into(struct dl_phdr_info *object, size_t size, void *context)
{
	struct search *search = context;
	struct symbol_table table = { 0 };
	const char *file = strrchr(object->dlpi_name, '/');

	(void)size;
	if (!file || strncmp(file, "/libc.so", 8) != 0)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic((const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr),
				     &table);
	if (table.symbols && table.strings && table.gnu_hash)
		search->found = find_in(&table, object->dlpi_addr, search->name);
	return search->found != NULL;
}

static int same_object(void *a, void *b)
{
	Dl_info in_a, in_b;

	return dladdr && dladdr(a, &in_a) && dladdr(b, &in_b) && in_a.dli_fbase == in_b.dli_fbase;
}

/* The version chooses among several in libc; a user's library has none, and asking for
 * one would pass it over. */
static void *find_next(const struct agent_wrapper *wrapper)
{
	void *next = dlsym ? dlsym(RTLD_NEXT, wrapper->name) : NULL;
	void *exact = dlvsym ? dlvsym(RTLD_NEXT, wrapper->name, wrapper->version) : NULL;

	return exact && (!next || same_object(next, exact)) ? exact : next;
}

static void *find_real(const struct agent_wrapper *wrapper)
{
	struct search search = { .name = wrapper->name, .found = find_next(wrapper) };

	if (!search.found)
		dl_iterate_phdr(look_into, &search);
	return search.found;
}

void agent_wrappers_find(const struct agent_wrapper *table, unsigned count)
{
	if (count == 0 || *table[0].real)
		return;
	/* Backwards: the first entry says that all are there. */
	for (unsigned i = count; i-- > 0;)
		if (table[i].real)
			*table[i].real = find_real(&table[i]);
}

void agent_wrappers_resolve(void)
{
	agent_wrappers_find(agent_wrappers, agent_wrapper_count);
}
