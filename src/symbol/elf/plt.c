/* Stubs through which a file calls functions of others: NAME@plt. Each jumps through a slot, which a
 * relocation ties to a symbol. */
#include "symbol/elf/symtab_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/arch.h"
#include "base/macros.h"

#define RELOCATIONS_LIMIT (64u << 20)

struct slot {
	uint64_t address;
	uint64_t symbol;
};

struct slots {
	struct slot *list;
	size_t count;
};

static int compare_plt_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int read_relocations(struct slots *all, const struct elf_file *file, const GElf_Shdr *section)
{
	size_t count = section->sh_size / sizeof(Elf64_Rela);
	Elf64_Rela *entries = malloc(section->sh_size + 1);
	struct slot *more = realloc(all->list, (all->count + count + 1) * sizeof(*more));
	int r = entries && more ? elf_file_read(file, section->sh_offset, entries, section->sh_size) : -ENOMEM;

	if (more)
		all->list = more;
	for (size_t i = 0; i < count && r == 0; i++)
		if (ELF64_R_TYPE(entries[i].r_info) == ARCH_RELOC_JUMP_SLOT || ELF64_R_TYPE(entries[i].r_info) == ARCH_RELOC_GLOB_DAT)
			all->list[all->count++] = (struct slot){ entries[i].r_offset, ELF64_R_SYM(entries[i].r_info) };
	free(entries);
	return r;
}

static int load_slots(struct slots *all, const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (r == 0 && (section = elf_nextscn(elf_file_elf(file), section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) &&
		    header.sh_size <= RELOCATIONS_LIMIT && header.sh_size <= elf_file_size(file))
			r = read_relocations(all, file, &header);
	if (all->count)
		qsort(all->list, all->count, sizeof(*all->list), compare_plt_slots);
	return r;
}

struct plt {
	struct symbol_search *search;
	struct elf_file *file;
	struct slots slots;
	GElf_Shdr symbols;
	struct string_table names;
};

/* The name of the symbol behind the slot, in the search's scratch, with "@plt". */
static bool name_slot(struct plt *p, uint64_t slot)
{
	struct slot key = { slot, 0 };
	const struct slot *found = p->slots.count ? bsearch(&key, p->slots.list, p->slots.count, sizeof(key), compare_plt_slots) : NULL;
	Elf64_Sym symbol;
	char *scratch = p->search->scratch;
	int len;

	if (!found || found->symbol >= p->symbols.sh_size / sizeof(symbol) ||
	    elf_file_read(p->file, p->symbols.sh_offset + found->symbol * sizeof(symbol), &symbol, sizeof(symbol)) < 0)
		return false;
	len = string_table_get(&p->names, symbol.st_name, scratch, SYMBOL_NAME_LIMIT - sizeof("@plt"));
	if (len <= 0)
		return false;
	strcpy(scratch + len, "@plt");
	return true;
}

static int name_stub(struct plt *p, const GElf_Shdr *section, uint64_t entry, size_t *i)
{
	struct symbol_search *s = p->search;
	struct candidate c = { .start = section->sh_addr + entry * section->sh_entsize, .sized = 1, .function = 1, .source = SYMBOL_PLT };
	uint8_t code[64];
	uint64_t slot;
	size_t from = *i;

	c.end = c.start + section->sh_entsize;
	while (*i < s->count && s->addresses[*i] < c.end)
		(*i)++;
	if (elf_file_read(p->file, section->sh_offset + entry * section->sh_entsize, code, section->sh_entsize) < 0 ||
	    !arch_stub_slot(code, section->sh_entsize, c.start, &slot) || !name_slot(p, slot))
		return 0;
	return search_settle(s, &c, from, *i);
}

static int name_section(struct plt *p, GElf_Shdr *section)
{
	struct symbol_search *s = p->search;
	int r = 0;

	if (section->sh_type != SHT_PROGBITS || section->sh_addr + section->sh_size < section->sh_addr)
		return 0;
	if (section->sh_entsize < 8 || section->sh_entsize > 64)
		section->sh_entsize = 16;
	for (size_t i = search_first(s, section->sh_addr);
	     i < s->count && s->addresses[i] < section->sh_addr + section->sh_size && r == 0;) {
		if (search_is_found(s, i)) {
			i++;
			continue;
		}
		r = name_stub(p, section, (s->addresses[i] - section->sh_addr) / section->sh_entsize, &i);
	}
	return r;
}

static bool any_in(const struct symbol_search *s, const GElf_Shdr *section)
{
	size_t i = search_first(s, section->sh_addr);

	return i < s->count && s->addresses[i] - section->sh_addr < section->sh_size;
}

static int name_sections(struct plt *p)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	GElf_Shdr section, strings;
	int r = 0;

	if (!find_section(elf_file_elf(p->file), ".dynsym", &p->symbols) ||
	    !gelf_getshdr(elf_getscn(elf_file_elf(p->file), p->symbols.sh_link), &strings))
		return 0;
	r = load_slots(&p->slots, p->file);
	string_table_open(&p->names, p->file, &strings);
	for (size_t k = 0; k < COUNT_OF(names) && r == 0; k++)
		if (find_section(elf_file_elf(p->file), names[k], &section))
			r = name_section(p, &section);
	string_table_close(&p->names);
	free(p->slots.list);
	return r;
}

int search_plt(struct symbol_search *s, struct elf_file *file)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	struct plt p = { .search = s, .file = file };
	GElf_Shdr section;

	for (size_t k = 0; k < COUNT_OF(names); k++)
		if (find_section(elf_file_elf(file), names[k], &section) && any_in(s, &section))
			return name_sections(&p);
	return 0;
}
