#include "inject/dynsym.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inject/image.h"

#define SEGMENTS_LIMIT 64u
#define DYNAMIC_LIMIT 512u
#define SYMBOLS_LIMIT (1u << 20)
#define STRINGS_LIMIT (64u << 20)
#define CHAIN_LIMIT 4096u

/* The linker adds the base to these in memory, in most libraries. */
static uint64_t in_memory(const struct dynsym *d, uint64_t value)
{
	return value && value < d->bias ? value + d->bias : value;
}

static void take_dynamic_entry(struct dynsym *d, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB: d->symbols = in_memory(d, entry->d_un.d_ptr); break;
	case DT_STRTAB: d->strings = in_memory(d, entry->d_un.d_ptr); break;
	case DT_STRSZ: d->strings_size = entry->d_un.d_val; break;
	case DT_GNU_HASH: d->gnu_hash = in_memory(d, entry->d_un.d_ptr); break;
	case DT_HASH: d->sysv_hash = in_memory(d, entry->d_un.d_ptr); break;
	default: break;
	}
}

static int read_dynamic(struct dynsym *d, uint64_t address)
{
	Elf64_Dyn entry;

	for (unsigned i = 0; i < DYNAMIC_LIMIT; i++) {
		if (image_read(d->image, address + i * sizeof(entry), &entry, sizeof(entry)) < 0)
			return -ENOENT;
		if (entry.d_tag == DT_NULL)
			break;
		take_dynamic_entry(d, &entry);
	}
	return d->symbols && d->strings && (d->gnu_hash || d->sysv_hash) ? 0 : -ENOENT;
}

int dynsym_open(struct dynsym *ret, const struct image *image, uint64_t base)
{
	uint64_t dynamic = 0, first = UINT64_MAX;
	Elf64_Ehdr header;
	Elf64_Phdr phdr;

	*ret = (struct dynsym){ .image = image };
	if (!base || image_read(image, base, &header, sizeof(header)) < 0 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(phdr) || header.e_phnum > SEGMENTS_LIMIT)
		return -ENOENT;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (image_read(image, base + header.e_phoff + i * sizeof(phdr), &phdr, sizeof(phdr)) < 0)
			return -ENOENT;
		if (phdr.p_type == PT_LOAD && first == UINT64_MAX)
			first = phdr.p_vaddr - phdr.p_offset;
		if (phdr.p_type == PT_DYNAMIC)
			dynamic = phdr.p_vaddr;
	}
	if (!dynamic || first == UINT64_MAX)
		return -ENOENT;
	ret->bias = base - first;
	return read_dynamic(ret, ret->bias + dynamic);
}

static int is_function(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && symbol->st_value;
}

static int has_symbol_name(const struct dynsym *d, const Elf64_Sym *symbol, const char *name)
{
	char text[64];
	size_t length = strlen(name) + 1;

	if (length > sizeof(text) || symbol->st_name >= d->strings_size || d->strings_size - symbol->st_name < length ||
	    image_read(d->image, d->strings + symbol->st_name, text, length) < 0)
		return 0;
	return memcmp(text, name, length) == 0;
}

static int read_symbol(const struct dynsym *d, uint32_t number, Elf64_Sym *ret)
{
	return image_read(d->image, d->symbols + (uint64_t)number * sizeof(*ret), ret, sizeof(*ret));
}

static int read_dynsym_word(const struct dynsym *d, uint64_t address, uint32_t *ret)
{
	return image_read(d->image, address, ret, sizeof(*ret));
}

struct gnu_hash {
	uint32_t buckets, first, filter_words, shift;
};

/* Where the buckets are; the chains are behind them. */
static uint64_t gnu_buckets(const struct dynsym *d, const struct gnu_hash *head)
{
	return d->gnu_hash + sizeof(*head) + 8ull * head->filter_words;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static int read_gnu_head(const struct dynsym *d, struct gnu_hash *ret)
{
	if (image_read(d->image, d->gnu_hash, ret, sizeof(*ret)) < 0 || !ret->buckets || ret->buckets > SYMBOLS_LIMIT ||
	    ret->filter_words > SYMBOLS_LIMIT)
		return -ENOENT;
	return 0;
}

static int find_by_gnu_hash(const struct dynsym *d, const char *name, uint64_t *ret)
{
	uint32_t hash = gnu_hash_of(name), number, value;
	uint64_t buckets, chains;
	struct gnu_hash head;
	Elf64_Sym symbol;

	if (read_gnu_head(d, &head) < 0)
		return -ENOENT;
	buckets = gnu_buckets(d, &head);
	chains = buckets + 4ull * head.buckets;
	if (read_dynsym_word(d, buckets + 4ull * (hash % head.buckets), &number) < 0 || number < head.first)
		return -ENOENT;
	for (unsigned i = 0; i < CHAIN_LIMIT; i++, number++) {
		if (read_dynsym_word(d, chains + 4ull * (number - head.first), &value) < 0)
			return -ENOENT;
		if ((value | 1) == (hash | 1) && read_symbol(d, number, &symbol) == 0 && is_function(&symbol) &&
		    has_symbol_name(d, &symbol, name)) {
			*ret = d->bias + symbol.st_value;
			return 0;
		}
		if (value & 1)
			return -ENOENT;
	}
	return -ENOENT;
}

/* The last symbol is at the end of the last chain. */
static uint32_t count_by_gnu_hash(const struct dynsym *d)
{
	uint32_t last = 0, *buckets, value = 0;
	struct gnu_hash head;
	uint64_t at;

	if (read_gnu_head(d, &head) < 0 || !(buckets = malloc(4ull * head.buckets)))
		return 0;
	at = gnu_buckets(d, &head);
	if (image_read(d->image, at, buckets, 4ull * head.buckets) == 0)
		for (uint32_t i = 0; i < head.buckets; i++)
			if (buckets[i] > last)
				last = buckets[i];
	free(buckets);
	at += 4ull * head.buckets;
	for (unsigned i = 0; last >= head.first && i < CHAIN_LIMIT && last < SYMBOLS_LIMIT; i++, last++)
		if (read_dynsym_word(d, at + 4ull * (last - head.first), &value) < 0 || (value & 1))
			return last + 1;
	return 0;
}

static uint32_t count_symbols(const struct dynsym *d)
{
	uint32_t head[2];

	if (d->gnu_hash)
		return count_by_gnu_hash(d);
	if (image_read(d->image, d->sysv_hash, head, sizeof(head)) < 0 || head[1] > SYMBOLS_LIMIT)
		return 0;
	return head[1];
}

int dynsym_each(const struct dynsym *d, void (*take)(void *context, const char *name, uint64_t start, uint64_t size), void *context)
{
	uint32_t count = count_symbols(d);
	uint64_t strings_size = d->strings_size;
	Elf64_Sym *symbols;
	char *strings;
	int r = -ENOENT;

	if (!count || !strings_size || strings_size > STRINGS_LIMIT)
		return -ENOENT;
	symbols = malloc(count * sizeof(*symbols));
	strings = malloc(strings_size);
	if (symbols && strings && image_read(d->image, d->symbols, symbols, count * sizeof(*symbols)) == 0 &&
	    image_read(d->image, d->strings, strings, strings_size) == 0) {
		strings[strings_size - 1] = '\0';
		for (uint32_t i = 0; i < count; i++)
			if (is_function(&symbols[i]) && symbols[i].st_name < strings_size)
				take(context, strings + symbols[i].st_name, d->bias + symbols[i].st_value, symbols[i].st_size);
		r = 0;
	}
	free(symbols);
	free(strings);
	return r;
}

struct wanted {
	const char *name;
	uint64_t address;
};

static void compare_name(void *context, const char *name, uint64_t start, uint64_t size)
{
	struct wanted *wanted = context;

	if (strcmp(name, wanted->name) == 0)
		wanted->address = start;
}

int dynsym_find(const struct dynsym *d, const char *name, uint64_t *ret)
{
	struct wanted wanted = { name, 0 };

	if (d->gnu_hash)
		return find_by_gnu_hash(d, name, ret);
	if (dynsym_each(d, compare_name, &wanted) < 0 || !wanted.address)
		return -ENOENT;
	*ret = wanted.address;
	return 0;
}
