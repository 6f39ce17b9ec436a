/* Finding the functions behind wrappers: in the objects after ours in load order, so that a user's own
 * preloaded library keeps its place. By reading their symbol tables: dlsym() may allocate, and an allocator that
 * was replaced may call functions we wrap before anything else has run. */
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/core/wrappers.h"

struct object {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const ElfW(Verdef) *definitions;
	uintptr_t definition_count;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

struct search {
	int past_us;        /* we have come by our own object */
	int anywhere;       /* second round: in the C library, wherever that lies */
};

static void read_dynamic(const ElfW(Dyn) *dynamic, struct object *object)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uintptr_t value = dynamic->d_un.d_ptr;
		const void *address = (const void *)(value < object->base ? value + object->base : value);

		if (dynamic->d_tag == DT_SYMTAB)
			object->symbols = address;
		else if (dynamic->d_tag == DT_STRTAB)
			object->strings = address;
		else if (dynamic->d_tag == DT_VERSYM)
			object->versions = address;
		else if (dynamic->d_tag == DT_VERDEF)
			object->definitions = address;
		else if (dynamic->d_tag == DT_VERDEFNUM)
			object->definition_count = value;
		else if (dynamic->d_tag == DT_GNU_HASH)
			object->gnu_hash = address;
		else if (dynamic->d_tag == DT_HASH)
			object->hash = address;
	}
}

static const char *version_name(const struct object *object, unsigned index)
{
	const ElfW(Verdef) *definition = object->definitions;

	for (uintptr_t i = 0; definition && i < object->definition_count; i++) {
		const ElfW(Verdaux) *name = (const void *)((const char *)definition + definition->vd_aux);

		if (definition->vd_ndx == index)
			return object->strings + name->vda_name;
		definition = (const void *)((const char *)definition + definition->vd_next);
	}
	return "";
}

/* What a symbol is good for: 3 the version asked for, 2 the one new programs bind to, 1 one kept for old programs
 * (bit 15 of the version), 0 nothing. */
static int match(const struct object *object, uint32_t index, const struct agent_wrapper *wrapper)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	unsigned version = object->versions ? object->versions[index] : 1;

	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    strcmp(object->strings + symbol->st_name, wrapper->name) != 0)
		return 0;
	if (wrapper->version && object->versions &&
	    strcmp(version_name(object, version & 0x7fff), wrapper->version) == 0)
		return 3;
	return version & 0x8000 ? 1 : 2;
}

struct best {
	const ElfW(Sym) *symbol;
	int match;
};

static void consider(const struct object *object, uint32_t index, const struct agent_wrapper *wrapper,
		     struct best *best)
{
	int quality = match(object, index, wrapper);

	if (quality > best->match)
		*best = (struct best){ &object->symbols[index], quality };
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

static void search_gnu_hash(const struct object *object, const struct agent_wrapper *wrapper, struct best *best)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0], first = table[1], bloom_words = table[2];
	const uint32_t *buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chains = buckets + bucket_count;
	uint32_t hash = gnu_hash_of(wrapper->name), index;

	if (bucket_count == 0)
		return;
	index = buckets[hash % bucket_count];
	if (index < first)
		return;
	for (;; index++) {
		if ((chains[index - first] | 1) == (hash | 1))
			consider(object, index, wrapper, best);
		if (chains[index - first] & 1)
			return;
	}
}

static void *find_in(const struct object *object, const struct agent_wrapper *wrapper)
{
	struct best best = { 0 };
	uintptr_t address;

	if (object->gnu_hash)
		search_gnu_hash(object, wrapper, &best);
	else
		for (uint32_t i = 0; i < object->hash[1]; i++)
			consider(object, i, wrapper, &best);
	if (!best.symbol)
		return NULL;
	address = object->base + best.symbol->st_value;
	if (ELF64_ST_TYPE(best.symbol->st_info) == STT_GNU_IFUNC)
		address = ((uintptr_t(*)(void))address)();
	return (void *)address;
}

static int is_ours(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)&agent_parts;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    here - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz)
			return 1;
	return 0;
}

static int is_c_library(const char *path)
{
	const char *file = strrchr(path, '/');

	return file && (strncmp(file, "/libc.so", 8) == 0 || strncmp(file, "/libpthread.so", 14) == 0 ||
			strncmp(file, "/librt.so", 9) == 0);
}

static void resolve_from(const struct object *object)
{
	for (unsigned p = 0; p < agent_part_count; p++) {
		const struct agent_part *part = agent_parts[p];

		for (unsigned i = 0; i < part->wrapper_count; i++)
			if (!*part->wrappers[i].real)
				*part->wrappers[i].real = find_in(object, &part->wrappers[i]);
	}
}

static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	struct object object = { .base = info->dlpi_addr };

	(void)size;
	if (is_ours(info)) {
		search->past_us = 1;
		return 0;
	}
	/* The program itself and the kernel's own object have no path. */
	if (search->anywhere ? !is_c_library(info->dlpi_name) :
			       !search->past_us || !strchr(info->dlpi_name, '/'))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic((const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				     &object);
	if (object.symbols && object.strings && (object.gnu_hash || object.hash))
		resolve_from(&object);
	return 0;
}

void agent_wrappers_resolve_missing(void)
{
	struct search search = { 0 };

	dl_iterate_phdr(look_into, &search);
	/* Loaded late, we may lie behind everything else. */
	search.anywhere = 1;
	dl_iterate_phdr(look_into, &search);
}

void agent_wrappers_resolve(void)
{
	static _Atomic int resolved;

	if (atomic_load_explicit(&resolved, memory_order_acquire))
		return;
	agent_wrappers_resolve_missing();
	atomic_store_explicit(&resolved, 1, memory_order_release);
}
