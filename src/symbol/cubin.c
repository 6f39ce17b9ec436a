#include "symbol/cubin.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define MOST_FUNCTIONS (1u << 20)
#define MOST_LINES (1u << 24)
#define MOST_TABLES (1u << 16)

/* Functions lie in sections that all begin at address 0: to tell their lines apart, each section gets addresses of its own. */
#define SECTION_BASE(section) ((uint64_t)(section) << 32)

struct line {
	uint64_t address;
	const char *file; /* NULL: none from here on */
	uint32_t line;
};

struct cubin {
	uint8_t *image;
	size_t size;
	Elf *elf;                         /* names are its own */
	Elf *placed;                      /* the same with addresses in the line table */
	Dwarf *dwarf;
	unsigned step;
	struct cubin_function *functions; /* by name */
	size_t function_count;
	struct line *lines;               /* by address */
	size_t line_count, line_capacity;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct cubin_function *)a)->name, ((const struct cubin_function *)b)->name);
}

static int by_address(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The end of one piece is where another begins. */
	return (x->file != NULL) - (y->file != NULL);
}

static int take_functions(struct cubin *c, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	struct cubin_function *f;
	const char *name;
	GElf_Sym symbol;

	if (count > MOST_FUNCTIONS || c->functions)
		return 0;
	c->functions = calloc(count + 1, sizeof(*c->functions));
	if (!c->functions)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_shndx >= SHN_LORESERVE)
			continue;
		name = elf_strptr(c->elf, header->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		f = &c->functions[c->function_count++];
		*f = (struct cubin_function){ name, (uint32_t)i, symbol.st_shndx, symbol.st_value, symbol.st_size };
	}
	qsort(c->functions, c->function_count, sizeof(*c->functions), by_name);
	return 0;
}

/* Writes what a relocation of the line table means into our copy: libdw itself does not, for files that are not relocatable. */
static void place_line_address(struct cubin *c, const GElf_Shdr *lines, uint64_t offset, const GElf_Sym *symbol, int64_t addend)
{
	uint64_t address = SECTION_BASE(symbol->st_shndx) + ((symbol->st_value + (uint64_t)addend) & UINT32_MAX);

	if (offset > lines->sh_size || lines->sh_size - offset < sizeof(address) || lines->sh_offset > c->size ||
	    c->size - lines->sh_offset < lines->sh_size)
		return;
	memcpy(c->image + lines->sh_offset + offset, &address, sizeof(address));
}

static void relocate(struct cubin *c, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *target = elf_getscn(c->elf, header->sh_info), *table = elf_getscn(c->elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL), *symbols = table ? elf_getdata(table, NULL) : NULL;
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Shdr lines;
	GElf_Rela entry;
	GElf_Sym symbol;
	GElf_Rel plain;

	if (!target || !symbols || !gelf_getshdr(target, &lines))
		return;
	for (size_t i = 0; i < count; i++) {
		if (header->sh_type == SHT_RELA) {
			if (!gelf_getrela(data, (int)i, &entry))
				return;
		} else {
			if (!gelf_getrel(data, (int)i, &plain))
				return;
			entry = (GElf_Rela){ plain.r_offset, plain.r_info, 0 };
		}
		if (gelf_getsym(symbols, (int)GELF_R_SYM(entry.r_info), &symbol))
			place_line_address(c, &lines, entry.r_offset, &symbol, entry.r_addend);
	}
}

static int is_line_table(const struct cubin *c, size_t names, size_t number)
{
	Elf_Scn *section = elf_getscn(c->elf, number);
	GElf_Shdr header;
	const char *name = section && gelf_getshdr(section, &header) ? elf_strptr(c->elf, names, header.sh_name) : NULL;

	return name && strcmp(name, ".debug_line") == 0 && header.sh_type == SHT_PROGBITS;
}

static int read_sections(struct cubin *c)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(c->elf, &names) != 0)
		return -EBADMSG;
	while (r >= 0 && (section = elf_nextscn(c->elf, section))) {
		if (!gelf_getshdr(section, &header))
			return -EBADMSG;
		if (header.sh_type == SHT_SYMTAB)
			r = take_functions(c, section, &header);
		else if ((header.sh_type == SHT_RELA || header.sh_type == SHT_REL) && is_line_table(c, names, header.sh_info))
			relocate(c, section, &header);
	}
	return r;
}

static int add_line(struct cubin *c, Dwarf_Line *from)
{
	const char *file = dwarf_linesrc(from, NULL, NULL);
	struct line line = { .file = file };
	bool ends = false;
	Dwarf_Addr address;
	int number = 0;

	if (dwarf_lineaddr(from, &address) != 0 || dwarf_lineendsequence(from, &ends) != 0 || dwarf_lineno(from, &number) != 0)
		return 0;
	line.address = address;
	line.line = number > 0 ? (uint32_t)number : 0;
	if (ends || !line.line)
		line.file = NULL;
	if (c->line_count == c->line_capacity) {
		size_t capacity = c->line_capacity ? 2 * c->line_capacity : 256;
		struct line *lines = capacity <= MOST_LINES ? reallocarray(c->lines, capacity, sizeof(*lines)) : NULL;

		if (!lines)
			return -ENOMEM;
		c->lines = lines;
		c->line_capacity = capacity;
	}
	c->lines[c->line_count++] = line;
	return 0;
}

/* Without .debug_info: all tables of the section, one after the other. */
static int read_lines(struct cubin *c)
{
	Dwarf_Off at = 0, next = 0;
	Dwarf_Lines *lines;
	size_t count;
	int r = 0;

	for (unsigned i = 0; i < MOST_TABLES && r >= 0; i++) {
		Dwarf_CU *unit = NULL;

		lines = NULL;
		count = 0;
		if (dwarf_next_lines(c->dwarf, at, &next, &unit, NULL, NULL, &lines, &count) != 0 || next <= at)
			break;
		for (size_t k = 0; lines && k < count && r >= 0; k++)
			r = add_line(c, dwarf_onesrcline(lines, k));
		at = next;
	}
	if (c->line_count)
		qsort(c->lines, c->line_count, sizeof(*c->lines), by_address);
	return r;
}

static int open_image(struct cubin *c, struct error *err)
{
	GElf_Ehdr header;
	int r;

	elf_version(EV_CURRENT);
	c->elf = elf_memory((char *)c->image, c->size);
	if (!c->elf || elf_kind(c->elf) != ELF_K_ELF || !gelf_getehdr(c->elf, &header) || header.e_machine != MACHINE_CUDA)
		return error_set(err, EBADMSG, "This is no code for a GPU");
	/* Turing and later, and Volta: 16 bytes. */
	c->step = 16;
	r = read_sections(c);
	if (r < 0)
		return error_set(err, -r, r == -ENOMEM ? "Not enough memory" : "Code for a GPU is damaged");
	c->placed = elf_memory((char *)c->image, c->size);
	c->dwarf = c->placed ? dwarf_begin_elf(c->placed, DWARF_C_READ, NULL) : NULL;
	if (c->dwarf && read_lines(c) < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	return 0;
}

int cubin_open(struct cubin **ret, const void *image, size_t size, struct error *err)
{
	struct cubin *c = calloc(1, sizeof(*c));
	int r;

	*ret = NULL;
	if (!c)
		return error_set(err, ENOMEM, "Not enough memory");
	c->image = malloc(size ? size : 1);
	if (!c->image) {
		free(c);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	memcpy(c->image, image, size);
	c->size = size;
	r = open_image(c, err);
	if (r < 0) {
		cubin_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

void cubin_close(struct cubin *c)
{
	if (!c)
		return;
	dwarf_end(c->dwarf);
	elf_end(c->placed);
	elf_end(c->elf);
	free(c->functions);
	free(c->lines);
	free(c->image);
	free(c);
}

const struct cubin_function *cubin_find(const struct cubin *c, const char *name)
{
	struct cubin_function key = { .name = name };

	return c->function_count ? bsearch(&key, c->functions, c->function_count, sizeof(key), by_name) : NULL;
}

const struct cubin_function *cubin_functions(const struct cubin *c, size_t *ret_count)
{
	*ret_count = c->function_count;
	return c->functions;
}

unsigned cubin_step(const struct cubin *c)
{
	return c->step;
}

int cubin_has_lines(const struct cubin *c)
{
	return c->line_count != 0;
}

int cubin_line(const struct cubin *c, const struct cubin_function *f, uint64_t pc, struct cubin_place *ret)
{
	uint64_t address = SECTION_BASE(f->section) + ((f->offset + pc) & UINT32_MAX);
	size_t low = 0, high = c->line_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !c->lines[low - 1].file || c->lines[low - 1].address >> 32 != f->section)
		return 0;
	*ret = (struct cubin_place){ c->lines[low - 1].file, c->lines[low - 1].line };
	return 1;
}
