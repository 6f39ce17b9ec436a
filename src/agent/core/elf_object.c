#include "agent/core/elf_object.h"

#include <string.h>

#include "agent/core/wrappers.h"

static void read_entry(const ElfW(Dyn) *entry, struct agent_object *object)
{
	uintptr_t value = entry->d_un.d_val;
	const void *address = (const void *)(value < object->base ? value + object->base : value);

	switch (entry->d_tag) {
	case DT_SYMTAB: object->symbols = address; break;
	case DT_STRTAB: object->strings = address; break;
	case DT_VERSYM: object->versions = address; break;
	case DT_VERDEF: object->definitions = address; break;
	case DT_VERDEFNUM: object->definition_count = value; break;
	case DT_VERNEED: object->needs = address; break;
	case DT_VERNEEDNUM: object->need_count = value; break;
	case DT_GNU_HASH: object->gnu_hash = address; break;
	case DT_HASH: object->hash = address; break;
	case DT_JMPREL: object->relocations[0].first = address; break;
	case DT_PLTRELSZ: object->relocations[0].bytes = value; break;
	case DT_PLTREL: object->plt_kind = value; break;
	case DT_RELA: object->relocations[1].first = address; break;
	case DT_RELASZ: object->relocations[1].bytes = value; break;
	}
}

int agent_object_read(const struct dl_phdr_info *info, struct agent_object *ret)
{
	*ret = (struct agent_object){ .base = info->dlpi_addr,
				      .path = info->dlpi_name ? info->dlpi_name : "",
				      .segments = info->dlpi_phdr,
				      .segment_count = info->dlpi_phnum };
	for (unsigned i = 0; i < ret->segment_count; i++) {
		const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (; entry->d_tag != DT_NULL; entry++)
			read_entry(entry, ret);
	}
	return ret->symbols && ret->strings && (ret->gnu_hash || ret->hash);
}

static const char *defined_version(const struct agent_object *object, unsigned index)
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

static const char *wanted_version(const struct agent_object *object, unsigned index)
{
	const ElfW(Verneed) *need = object->needs;

	for (uintptr_t i = 0; need && i < object->need_count; i++) {
		const ElfW(Vernaux) *version = (const void *)((const char *)need + need->vn_aux);

		for (unsigned j = 0; j < need->vn_cnt; j++) {
			if (version->vna_other == index)
				return object->strings + version->vna_name;
			version = (const void *)((const char *)version + version->vna_next);
		}
		need = (const void *)((const char *)need + need->vn_next);
	}
	return "";
}

const char *agent_object_version(const struct agent_object *object, uint32_t symbol)
{
	unsigned index = object->versions ? object->versions[symbol] & 0x7fffu : VER_NDX_GLOBAL;

	if (index <= VER_NDX_GLOBAL)
		return "";
	return object->symbols[symbol].st_shndx == SHN_UNDEF ? wanted_version(object, index) : defined_version(object, index);
}

struct wanted {
	const char *name;
	const char *version;
};

/* What a symbol is good for: 3 the version asked for, 2 the one new programs bind to, 1 one kept for old programs
 * (bit 15 of the version), 0 nothing. */
static int match(const struct agent_object *object, uint32_t index, const struct wanted *wanted)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	unsigned version = object->versions ? object->versions[index] : 1;

	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    strcmp(object->strings + symbol->st_name, wanted->name) != 0)
		return 0;
	if (wanted->version && object->versions && strcmp(defined_version(object, version & 0x7fff), wanted->version) == 0)
		return 3;
	return version & 0x8000 ? 1 : 2;
}

struct best {
	const ElfW(Sym) *symbol;
	int match;
};

static void consider(const struct agent_object *object, uint32_t index, const struct wanted *wanted, struct best *best)
{
	int quality = match(object, index, wanted);

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

/* Most names that are asked for are not there: a few bits of the hash tell. */
static int may_be_there(const uint32_t *table, uint32_t hash)
{
	const ElfW(Addr) *bloom = (const void *)(table + 4);
	unsigned bits = 8 * sizeof(*bloom);
	ElfW(Addr) word = bloom[hash / bits & (table[2] - 1)];

	return word >> (hash % bits) & word >> ((hash >> table[3]) % bits) & 1;
}

static void search_gnu_hash(const struct agent_object *object, const struct wanted *wanted, struct best *best)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0], first = table[1], bloom_words = table[2];
	const uint32_t *buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chains = buckets + bucket_count;
	uint32_t hash = gnu_hash_of(wanted->name), index;

	if (bucket_count == 0 || !may_be_there(table, hash))
		return;
	index = buckets[hash % bucket_count];
	if (index < first)
		return;
	for (;; index++) {
		if ((chains[index - first] | 1) == (hash | 1))
			consider(object, index, wanted, best);
		if (chains[index - first] & 1)
			return;
	}
}

const ElfW(Sym) *agent_object_symbol(const struct agent_object *object, const char *name, const char *version)
{
	struct wanted wanted = { name, version };
	struct best best = { 0 };

	if (object->gnu_hash)
		search_gnu_hash(object, &wanted, &best);
	else
		for (uint32_t i = 0; i < object->hash[1]; i++)
			consider(object, i, &wanted, &best);
	return best.symbol;
}

void *agent_object_find(const struct agent_object *object, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = agent_object_symbol(object, name, version);
	uintptr_t address;

	if (!symbol)
		return NULL;
	address = object->base + symbol->st_value;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		address = ((uintptr_t(*)(void))address)();
	return (void *)address;
}

int agent_object_is_ours(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)&agent_parts;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    here - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz)
			return 1;
	return 0;
}

int agent_object_is_c_library(const char *path)
{
	const char *file = strrchr(path, '/');

	return file &&
	       (strncmp(file, "/libc.so", 8) == 0 || strncmp(file, "/libpthread.so", 14) == 0 || strncmp(file, "/librt.so", 9) == 0);
}

struct search {
	const char *file;
	struct agent_object *found;
};

static int compare_file(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct search *search = context;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	return slash && strncmp(slash + 1, search->file, strlen(search->file)) == 0 && agent_object_read(info, search->found);
}

int agent_object_find_loaded(const char *file, struct agent_object *ret)
{
	struct search search = { file, ret };

	return dl_iterate_phdr(compare_file, &search);
}
