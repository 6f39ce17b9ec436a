#include "symbol/cubin.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define MACHINE_CUDA 190
#define MOST_FUNCTIONS (1u << 20)
#define MOST_LINES (1u << 24)
#define MOST_TABLES (1u << 16)
#define SOURCE_TABLE ".debug_line"
#define PTX_TABLE ".nv_debug_line_sass"
#define PTX_TEXT ".nv_debug_ptx_txt"

/* Functions lie in sections that all begin at address 0: to tell their lines apart, each section gets addresses of its own. */
#define SECTION_BASE(section) ((uint64_t)(section) << 32)

struct line {
	uint64_t address;
	const char *file;     /* NULL: none from here on */
	const char *function; /* NULL: not inlined, or its name is not known */
	uint32_t line;
	uint32_t caller; /* number of the line, from 1, that it was inlined at; always an earlier one; 0: none */
};

struct line_table {
	struct line *lines; /* as they were read */
	const struct line **by_address;
	size_t count, capacity;
};

struct cubin {
	uint8_t *image, *image_ptx; /* nothing is written into one once texts of it are handed out: what ends them might go */
	size_t size;
	Elf *elf;
	Elf *placed;     /* the same with addresses in the line table */
	Elf *placed_ptx; /* the same again, as if the table of PTX were that of source lines */
	Dwarf *dwarf, *dwarf_ptx;
	unsigned step;
	struct cubin_function *functions; /* by name */
	size_t function_count;
	struct line_table lines; /* source lines */
	struct line_table ptx;   /* lines of PTX; files are names of sections */
};

static int compare_cubin_functions(const void *a, const void *b)
{
	return strcmp(((const struct cubin_function *)a)->name, ((const struct cubin_function *)b)->name);
}

static int compare_cubin_lines(const void *a, const void *b)
{
	const struct line *x = *(const struct line *const *)a, *y = *(const struct line *const *)b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The end of one piece is where another begins. */
	if (!x->file != !y->file)
		return x->file ? 1 : -1;
	/* What was inlined comes behind the place it was inlined at. */
	return (x > y) - (x < y);
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
		name = strdup(name);
		if (!name)
			return -ENOMEM;
		f = &c->functions[c->function_count++];
		*f = (struct cubin_function){ name, (uint32_t)i, symbol.st_shndx, symbol.st_value, symbol.st_size };
	}
	qsort(c->functions, c->function_count, sizeof(*c->functions), compare_cubin_functions);
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

static const char *section_name(const struct cubin *c, size_t names, Elf_Scn *section, GElf_Shdr *ret_header)
{
	const char *name = section && gelf_getshdr(section, ret_header) ? elf_strptr(c->elf, names, ret_header->sh_name) : NULL;

	return name ? name : "";
}

static int is_line_table(const struct cubin *c, size_t names, size_t number)
{
	GElf_Shdr header;
	const char *name = section_name(c, names, elf_getscn(c->elf, number), &header);

	return (strcmp(name, SOURCE_TABLE) == 0 || strcmp(name, PTX_TABLE) == 0) && header.sh_type == SHT_PROGBITS;
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

static int keep_line(struct line_table *t, const struct line *line)
{
	if (t->count >= MOST_LINES || !ARRAY_ROOM(t->lines, t->count, t->capacity, 1))
		return -ENOMEM;
	t->lines[t->count++] = *line;
	return 0;
}

/* Lines of one unit. */
struct unit {
	Dwarf_Lines *from;
	size_t count;
	size_t before; /* lines of units before it */
	size_t piece;  /* where the function at hand begins */
};

/* A line is inlined at another one of the same function, which is told by its number in that; libdw takes it for a number in the unit. */
static uint32_t caller_of(const struct unit *u, size_t number)
{
	const char *first = (const char *)dwarf_onesrcline(u->from, 0), *second = (const char *)dwarf_onesrcline(u->from, 1);
	const char *context = (const char *)dwarf_linecontext(u->from, dwarf_onesrcline(u->from, number));
	size_t at;

	if (!context || !first || !second)
		return 0;
	at = u->piece + (size_t)(context - first) / (size_t)(second - first);
	return at < number ? (uint32_t)(u->before + at + 1) : 0;
}

static int add_cubin_line(struct line_table *t, Dwarf *dwarf, struct unit *u, size_t number)
{
	Dwarf_Line *from = dwarf_onesrcline(u->from, number);
	struct line line = { .file = dwarf_linesrc(from, NULL, NULL) };
	bool ends = false;
	Dwarf_Addr address;
	int at = 0;

	if (dwarf_lineaddr(from, &address) == 0 && dwarf_lineendsequence(from, &ends) == 0 && dwarf_lineno(from, &at) == 0) {
		line.address = address;
		line.line = at > 0 ? (uint32_t)at : 0;
		line.caller = caller_of(u, number);
		line.function = line.caller ? dwarf_linefunctionname(dwarf, from) : NULL;
	}
	if (ends || !line.line)
		line.file = NULL;
	if (ends)
		u->piece = number + 1;
	return keep_line(t, &line);
}

static int sort_lines(struct line_table *t)
{
	t->by_address = calloc(t->count + 1, sizeof(t->by_address[0]));
	if (!t->by_address)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++)
		t->by_address[i] = &t->lines[i];
	qsort(t->by_address, t->count, sizeof(t->by_address[0]), compare_cubin_lines);
	return 0;
}

/* Without .debug_info: all tables of the section, one after the other. */
static int read_cubin_lines(struct line_table *t, Dwarf *dwarf)
{
	Dwarf_Off at = 0, next = 0;
	unsigned units = 0;

	for (; units < MOST_TABLES; units++) {
		struct unit u = { .before = t->count };
		Dwarf_CU *unit = NULL;

		if (dwarf_next_lines(dwarf, at, &next, &unit, NULL, NULL, &u.from, &u.count) != 0 || next <= at)
			break;
		for (size_t k = 0; u.from && k < u.count; k++)
			TRY(add_cubin_line(t, dwarf, &u, k));
		at = next;
	}
	/* A linker puts the names of all units together, and does not correct where the lines say they are. */
	for (size_t i = 0; units > 1 && i < t->count; i++)
		t->lines[i].function = NULL;
	return sort_lines(t);
}

/* Where in an image the number of a section's name is; 0: there is no such section. */
static size_t name_place(const struct cubin *c, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	GElf_Shdr about;
	size_t names, at;

	if (elf_getshdrstrndx(c->elf, &names) != 0 || !gelf_getehdr(c->elf, &header) || header.e_shentsize < sizeof(Elf64_Shdr))
		return 0;
	while ((section = elf_nextscn(c->elf, section))) {
		at = header.e_shoff + elf_ndxscn(section) * header.e_shentsize;
		if (strcmp(section_name(c, names, section, &about), name) == 0 && at < c->size && c->size - at >= sizeof(Elf64_Shdr))
			return at;
	}
	return 0;
}

/* The table that leads to PTX is one as libdw reads them, but for the section's name: it changes names with the other one. */
static int open_ptx(struct cubin *c)
{
	size_t ptx = name_place(c, PTX_TABLE), source = name_place(c, SOURCE_TABLE), name = sizeof(Elf64_Word);

	if (!ptx || !source)
		return 0;
	c->image_ptx = malloc(c->size);
	if (!c->image_ptx)
		return -ENOMEM;
	memcpy(c->image_ptx, c->image, c->size);
	memcpy(c->image_ptx + ptx, c->image + source, name);
	memcpy(c->image_ptx + source, c->image + ptx, name);
	c->placed_ptx = elf_memory((char *)c->image_ptx, c->size);
	c->dwarf_ptx = c->placed_ptx ? dwarf_begin_elf(c->placed_ptx, DWARF_C_READ, NULL) : NULL;
	return c->dwarf_ptx ? read_cubin_lines(&c->ptx, c->dwarf_ptx) : 0;
}

static int open_image(struct cubin *c, struct error *err)
{
	GElf_Ehdr header;
	int r;

	elf_version(EV_CURRENT);
	c->elf = elf_memory((char *)c->image, c->size);
	if (!c->elf || elf_kind(c->elf) != ELF_K_ELF || !gelf_getehdr(c->elf, &header) || header.e_machine != MACHINE_CUDA)
		return error_set(err, EBADMSG, "This is not code for a GPU");
	/* Turing and later, and Volta: 16 bytes. */
	c->step = 16;
	r = read_sections(c);
	if (r < 0)
		return error_set(err, -r, r == -ENOMEM ? "Not enough memory" : "Code for a GPU is damaged");
	c->placed = elf_memory((char *)c->image, c->size);
	c->dwarf = c->placed ? dwarf_begin_elf(c->placed, DWARF_C_READ, NULL) : NULL;
	if ((c->dwarf && read_cubin_lines(&c->lines, c->dwarf) < 0) || open_ptx(c) < 0)
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
	dwarf_end(c->dwarf_ptx);
	elf_end(c->placed_ptx);
	dwarf_end(c->dwarf);
	elf_end(c->placed);
	elf_end(c->elf);
	for (size_t i = 0; i < c->function_count; i++)
		free((char *)c->functions[i].name);
	free(c->functions);
	free(c->lines.lines);
	free(c->lines.by_address);
	free(c->ptx.lines);
	free(c->ptx.by_address);
	free(c->image_ptx);
	free(c->image);
	free(c);
}

const struct cubin_function *cubin_find(const struct cubin *c, const char *name)
{
	struct cubin_function key = { .name = name };

	return c->function_count ? bsearch(&key, c->functions, c->function_count, sizeof(key), compare_cubin_functions) : NULL;
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

/* The line that an instruction is in; NULL: not known. */
static const struct line *find_line(const struct line_table *t, const struct cubin_function *f, uint64_t pc)
{
	uint64_t address = SECTION_BASE(f->section) + ((f->offset + pc) & UINT32_MAX);
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->by_address[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !t->by_address[low - 1]->file || t->by_address[low - 1]->address >> 32 != f->section)
		return NULL;
	return t->by_address[low - 1];
}

size_t cubin_places(const struct cubin *c, const struct cubin_function *f, uint64_t pc, struct cubin_place *ret, size_t room)
{
	const struct line *line = find_line(&c->lines, f, pc);
	size_t count = 0;

	for (; line && line->file && count < room; line = line->caller ? &c->lines.lines[line->caller - 1] : NULL)
		ret[count++] = (struct cubin_place){ line->file, line->line, line->caller ? line->function : NULL };
	return count;
}

int cubin_ptx_place(const struct cubin *c, const struct cubin_function *f, uint64_t pc, struct cubin_place *ret)
{
	const struct line *line = find_line(&c->ptx, f, pc);

	if (!line)
		return 0;
	/* Code that was linked names the section; other code has one. */
	*ret = (struct cubin_place){ strncmp(line->file, PTX_TEXT, strlen(PTX_TEXT)) == 0 ? line->file : PTX_TEXT, line->line, NULL };
	return 1;
}

const char *cubin_ptx_text(const struct cubin *c, const char *name, size_t *ret_size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (strncmp(name, PTX_TEXT, strlen(PTX_TEXT)) != 0 || elf_getshdrstrndx(c->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(c->elf, section))) {
		if (strcmp(section_name(c, names, section, &header), name) != 0 || header.sh_type != SHT_PROGBITS)
			continue;
		data = elf_getdata(section, NULL);
		*ret_size = data && data->d_buf ? data->d_size : 0;
		return *ret_size ? data->d_buf : NULL;
	}
	return NULL;
}
