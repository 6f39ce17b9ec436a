#include "symbol/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "symbol/elf/symtab_internal.h"

#define DWARF_LIMIT (4ull << 30) /* more is not read into memory */

struct lines {
	struct debug_wanted wanted;
	struct line_cache *cache;
	struct elf_file *file; /* opened here; NULL: the caller's, or none */
	Dwarf *dwarf;
	bool tried;
};

int lines_new(struct lines **ret, const struct debug_wanted *wanted, const char *folder)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->wanted = *wanted;
	if (line_cache_open(&l->cache, folder, wanted->build_id, wanted->build_id_size) < 0) {
		free(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	dwarf_end(l->dwarf);
	elf_file_close(l->file);
	line_cache_close(l->cache);
	free(l);
}

/* Whether it is worth opening, and fits into memory. */
static bool has_dwarf(const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t size = 0;

	while ((section = elf_nextscn(elf_file_elf(file), section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS && !(header.sh_flags & SHF_ALLOC))
			size += header.sh_size;
	if (size > DWARF_LIMIT)
		return false;
	return (find_section(elf_file_elf(file), ".debug_info", &header) || find_section(elf_file_elf(file), ".zdebug_info", &header)) &&
	       header.sh_type != SHT_NOBITS;
}

/* The DWARF is in the file itself or in its debug file. */
static void open_dwarf(struct lines *l)
{
	struct elf_file *file = l->wanted.file;

	l->tried = true;
	if (!file && debug_file_find_original(&l->file, &l->wanted) == 0)
		file = l->wanted.file = l->file;
	if (!file || !has_dwarf(file)) {
		struct elf_file *debug;

		if (debug_file_find(&debug, &l->wanted) < 0)
			return;
		l->wanted.file = NULL;
		elf_file_close(l->file);
		file = l->file = debug;
		if (!has_dwarf(file))
			return;
	}
	l->dwarf = dwarf_begin_elf(elf_file_elf(file), DWARF_C_READ, NULL);
}

struct unit {
	Dwarf_Die skeleton; /* has the lines */
	Dwarf_Die die;      /* has the functions; the same unless the DWARF is split */
};

static void take_split(struct unit *u)
{
	uint8_t type;
	Dwarf_Die inner;

	u->die = u->skeleton;
	if (dwarf_cu_info(u->skeleton.cu, NULL, &type, NULL, &inner, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton &&
	    dwarf_tag(&inner) != DW_TAG_invalid)
		u->die = inner;
}

/* By .debug_aranges, or, where a compiler leaves that away, by asking every unit. */
static bool find_dwarf_unit(Dwarf *dwarf, uint64_t address, struct unit *ret)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;

	memset(ret, 0, sizeof(*ret));
	if (dwarf_addrdie(dwarf, address, &ret->skeleton)) {
		take_split(ret);
		return true;
	}
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &ret->skeleton, NULL) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && dwarf_haspc(&ret->skeleton, address) == 1) {
			take_split(ret);
			return true;
		}
	return false;
}

/* Whether a text ends before the section it is in: libdw does not always look. */
static bool ends_inside(Elf *elf, const char *text)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		size_t at;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS || (header.sh_flags & SHF_ALLOC))
			continue;
		data = elf_rawdata(section, NULL);
		at = data && data->d_buf ? (size_t)((uintptr_t)text - (uintptr_t)data->d_buf) : SIZE_MAX;
		if (data && at < data->d_size)
			return memchr(text, '\0', data->d_size - at) != NULL;
	}
	return false;
}

static const char *attribute_text(Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);
	Dwarf *dwarf = dwarf_cu_getdwarf(attribute->cu), *shared;

	if (!text || ends_inside(dwarf_getelf(dwarf), text))
		return text;
	shared = dwarf_getalt(dwarf); /* what dwz moved to a file for several */
	return shared && ends_inside(dwarf_getelf(shared), text) ? text : NULL;
}

static char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	char *plain;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) || dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = attribute_text(&attribute);
	plain = name ? demangle(name) : NULL;
	if (plain)
		return plain;
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &attribute))
		name = attribute_text(&attribute);
	return strdup(name ? name : "");
}

static uint32_t read_die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Where the inlined function is called. */
static void call_place(struct unit *u, Dwarf_Die *die, struct source_line *ret)
{
	Dwarf_Files *files;
	size_t count;
	uint32_t file = read_die_number(die, DW_AT_call_file);
	const char *path = NULL;

	if (dwarf_getsrcfiles(&u->die, &files, &count) == 0 && file < count)
		path = dwarf_filesrc(files, file, NULL, NULL);
	ret->file = path ? path : "";
	ret->line = read_die_number(die, DW_AT_call_line);
}

static void first_place(struct unit *u, uint64_t address, struct source_line *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->skeleton, address);
	const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int at = 0;

	if (line && dwarf_lineno(line, &at) < 0)
		at = 0;
	ret->file = path ? path : "";
	ret->line = at > 0 ? (uint32_t)at : 0;
}

/* The functions around the address, from the innermost that was inlined to the one that was not. */
static uint32_t walk_scopes(struct unit *u, Dwarf_Die *scopes, int count, struct source_lines *lines)
{
	uint32_t n = 0;

	for (int i = 0; i < count && n < SOURCE_LINES_DEPTH; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		lines->at[n].function = function_name(&scopes[i]);
		if (!lines->at[n].function)
			return n;
		n++;
		if (tag == DW_TAG_subprogram || n == SOURCE_LINES_DEPTH)
			break;
		call_place(u, &scopes[i], &lines->at[n]);
	}
	return n;
}

static void find_functions(struct unit *u, uint64_t address, struct source_lines *lines)
{
	Dwarf_Die *scopes = NULL, *around = NULL, innermost;
	int count = dwarf_getscopes(&u->die, address, &scopes);

	if (count > 0) {
		/* These end at the function as it was written; its callers are around the innermost one. */
		innermost = scopes[0];
		count = dwarf_getscopes_die(&innermost, &around);
		if (count > 0)
			lines->count = walk_scopes(u, around, count, lines);
	}
	free(scopes);
	free(around);
}

static int look_up_lines(struct lines *l, uint64_t address)
{
	struct source_lines lines = { .count = 0 };
	struct unit u;
	uint32_t functions;
	int r;

	if (find_dwarf_unit(l->dwarf, address, &u)) {
		first_place(&u, address, &lines.at[0]);
		find_functions(&u, address, &lines);
	}
	functions = lines.count;
	if (!functions && lines.at[0].line) {
		lines.at[0].function = "";
		lines.count = 1;
	}
	r = line_cache_put(l->cache, address, &lines);
	for (uint32_t i = 0; i < functions; i++)
		free((char *)(uintptr_t)lines.at[i].function);
	return r;
}

int lines_find(struct lines *l, uint64_t address, struct source_lines *ret)
{
	int r = line_cache_get(l->cache, address, ret);

	if (r == -ENOENT) {
		if (!l->tried)
			open_dwarf(l);
		if (!l->dwarf)
			return -ENOENT;
		TRY(look_up_lines(l, address));
		r = line_cache_get(l->cache, address, ret);
	}
	if (r == 0 && !ret->count) {
		source_lines_release(ret);
		return -ENOENT;
	}
	return r;
}
