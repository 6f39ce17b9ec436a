#include "symbol/elf/symtab_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STRINGS_READ_WHOLE (1u << 20)
#define STRING_PIECE 256u
#define SYMBOLS_AT_ONCE 512u
#define NAMES_LIMIT (256u << 20)
#define WORK_LIMIT (1u << 26)
#define SECTIONS_LIMIT 65536u

void string_table_open(struct string_table *t, const struct elf_file *file, const GElf_Shdr *section)
{
	*t = (struct string_table){ .file = file, .offset = section->sh_offset, .size = section->sh_size };
	if (section->sh_type != SHT_STRTAB || t->offset > elf_file_size(file) || t->size > elf_file_size(file) - t->offset)
		t->size = 0;
	if (!t->size || t->size > STRINGS_READ_WHOLE)
		return;
	t->whole = malloc(t->size);
	if (t->whole && elf_file_read(file, t->offset, t->whole, t->size) < 0) {
		free(t->whole);
		t->whole = NULL;
	}
}

void string_table_close(struct string_table *t)
{
	free(t->whole);
	t->whole = NULL;
}

int string_table_get(const struct string_table *t, uint64_t at, char *to, size_t size)
{
	size_t have = 0, limit;

	if (at >= t->size)
		return -EBADMSG;
	limit = t->size - at < size - 1 ? (size_t)(t->size - at) : size - 1;
	while (have < limit) {
		size_t piece = limit - have < STRING_PIECE ? limit - have : STRING_PIECE;
		const char *end;

		if (t->whole)
			memcpy(to + have, t->whole + at + have, piece);
		else if (elf_file_read(t->file, t->offset + at + have, to + have, piece) < 0)
			return -EBADMSG;
		end = memchr(to + have, '\0', piece);
		if (end)
			return (int)(end - to);
		have += piece;
	}
	to[have] = '\0';
	return (int)have;
}

int symbol_search_new(struct symbol_search **ret, const uint64_t *addresses, size_t count)
{
	struct symbol_search *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->addresses = addresses;
	s->count = count;
	s->work = WORK_LIMIT;
	s->covering = calloc(count + 1, sizeof(*s->covering));
	s->before = calloc(count + 1, sizeof(*s->before));
	s->sized_start = calloc(count + 1, sizeof(*s->sized_start));
	if (!s->covering || !s->before || !s->sized_start) {
		symbol_search_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void symbol_search_free(struct symbol_search *s)
{
	if (!s)
		return;
	free(s->covering);
	free(s->before);
	free(s->sized_start);
	free(s->found);
	free(s->candidates);
	buf_release(&s->names);
	free(s);
}

size_t search_first(const struct symbol_search *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Whether `name` at c is better than the one chosen so far for the same address. */
static bool is_better(const struct symbol_search *s, const struct candidate *c, const char *name, const struct candidate *old)
{
	const char *old_name = s->names.data + old->name;

	if (c->function != old->function)
		return c->function;
	if (c->start != old->start)
		return c->start > old->start;
	if ((c->binding == STB_LOCAL) != (old->binding == STB_LOCAL))
		return c->binding != STB_LOCAL;
	if (underscores(name) != underscores(old_name))
		return underscores(name) < underscores(old_name);
	if (c->binding != old->binding)
		return c->binding == STB_GLOBAL;
	if (strlen(name) != strlen(old_name))
		return strlen(name) < strlen(old_name);
	return strcmp(name, old_name) < 0;
}

/* 1 + the index of the new candidate, named by s->scratch; 0 without memory. */
static uint32_t keep_candidate(struct symbol_search *s, const struct candidate *c)
{
	size_t len = strlen(s->scratch) + 1;

	if (s->names.len + len > NAMES_LIMIT)
		return 0;
	if (!ARRAY_ROOM(s->candidates, s->candidate_count, s->candidate_cap, 1))
		return 0;
	s->candidates[s->candidate_count] = *c;
	s->candidates[s->candidate_count].name = (uint32_t)s->names.len;
	if (buf_append(&s->names, s->scratch, len) < 0)
		return 0;
	return (uint32_t)++s->candidate_count;
}

/* Labels of assemblers and compilers say nothing to people. The version behind a name is left away. */
static bool read_name(struct symbol_search *s, const struct string_table *names, uint64_t at)
{
	char *version;

	if (string_table_get(names, at, s->scratch, sizeof(s->scratch)) <= 0)
		return false;
	version = strchr(s->scratch + 1, '@');
	if (version)
		*version = '\0';
	return strncmp(s->scratch, ".L", 2) != 0;
}

static int offer_unsized(struct symbol_search *s, const struct candidate *c, size_t i, const struct string_table *names, uint64_t at)
{
	if (s->addresses[i] >= c->end || !read_name(s, names, at))
		return 0;
	if (s->before[i] && s->candidates[s->before[i] - 1].start > c->start)
		return 0;
	if (s->before[i] && s->candidates[s->before[i] - 1].start == c->start &&
	    !is_better(s, c, s->scratch, &s->candidates[s->before[i] - 1]))
		return 0;
	s->before[i] = keep_candidate(s, c);
	return s->before[i] ? 0 : -ENOMEM;
}

int search_offer(struct symbol_search *s, const struct candidate *c, const struct string_table *names, uint64_t at)
{
	size_t i = search_first(s, c->start);
	uint32_t kept = 0;

	if (i == s->count)
		return 0;
	if (!c->sized)
		return offer_unsized(s, c, i, names, at);
	if (c->start + 1 > s->sized_start[i])
		s->sized_start[i] = c->start + 1;
	if (s->addresses[i] >= c->end || !read_name(s, names, at))
		return 0;
	for (; i < s->count && s->addresses[i] < c->end; i++) {
		if (s->work-- == 0)
			return -EBADMSG;
		if (s->covering[i] && !is_better(s, c, s->scratch, &s->candidates[s->covering[i] - 1]))
			continue;
		if (!kept && !(kept = keep_candidate(s, c)))
			return -ENOMEM;
		s->covering[i] = kept;
	}
	return 0;
}

int search_settle(struct symbol_search *s, const struct candidate *c, size_t from, size_t to)
{
	uint32_t kept = keep_candidate(s, c);

	for (size_t i = from; i < to && kept; i++)
		s->covering[i] = kept;
	return kept ? 0 : -ENOMEM;
}

bool search_is_found(const struct symbol_search *s, size_t i)
{
	return s->covering[i] != 0;
}

/* Sections by number: where code is. */
struct sections {
	struct section {
		uint64_t address, end;
		bool code;
	} * list;
	size_t count;
};

static int sections_load(struct sections *all, Elf *elf)
{
	size_t count;
	GElf_Shdr header;

	if (elf_getshdrnum(elf, &count) < 0 || count > SECTIONS_LIMIT)
		return -EBADMSG;
	all->count = count;
	all->list = calloc(count + 1, sizeof(*all->list));
	if (!all->list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getshdr(elf_getscn(elf, i), &header) || header.sh_addr + header.sh_size < header.sh_addr)
			continue;
		all->list[i] = (struct section){ header.sh_addr, header.sh_addr + header.sh_size, (header.sh_flags & SHF_EXECINSTR) != 0 };
	}
	return 0;
}

/* Whether a symbol can name code, and as what. */
static bool to_candidate(const Elf64_Sym *symbol, const struct sections *sections, struct candidate *ret)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	const struct section *section = symbol->st_shndx < sections->count ? &sections->list[symbol->st_shndx] : NULL;

	if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	ret->function = type != STT_NOTYPE;
	ret->sized = symbol->st_size != 0;
	if (!section ? !ret->function || !ret->sized : !section->code)
		return false;
	ret->start = symbol->st_value;
	ret->end = ret->sized ? symbol->st_value + symbol->st_size : section->end;
	ret->binding = ELF64_ST_BIND(symbol->st_info);
	return ret->end > ret->start;
}

static int offer_symbols(struct symbol_search *s, const Elf64_Sym *symbols, size_t count, const struct sections *sections,
			 const struct string_table *names, enum symbol_source source)
{
	struct candidate c = { .source = (uint8_t)source };
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		if (to_candidate(&symbols[i], sections, &c))
			r = search_offer(s, &c, names, symbols[i].st_name);
	return r;
}

static int search_table(struct symbol_search *s, struct elf_file *file, const GElf_Shdr *table, const struct sections *sections,
			enum symbol_source source)
{
	Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	struct string_table names;
	GElf_Shdr strings;
	uint64_t left = table->sh_size / sizeof(*symbols), at = table->sh_offset;
	int r = 0;

	if (!gelf_getshdr(elf_getscn(elf_file_elf(file), table->sh_link), &strings))
		return -EBADMSG;
	string_table_open(&names, file, &strings);
	while (left && r == 0) {
		size_t count = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;

		r = elf_file_read(file, at, symbols, count * sizeof(*symbols));
		if (r == 0)
			r = offer_symbols(s, symbols, count, sections, &names, source);
		at += count * sizeof(*symbols);
		left -= count;
	}
	string_table_close(&names);
	return r;
}

/* -ENOENT when the file has no such table. */
static int search_tables(struct symbol_search *s, struct elf_file *file, const struct sections *sections, uint32_t type,
			 enum symbol_source source)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = -ENOENT;

	while ((section = elf_nextscn(elf_file_elf(file), section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type && header.sh_size) {
			r = search_table(s, file, &header, sections, source);
			if (r < 0)
				return r;
		}
	return r;
}

static int search_minidebug(struct symbol_search *s, struct elf_file *file, struct error *err)
{
	struct sections sections = { NULL, 0 };
	struct elf_file *inner;
	int r = minidebug_open(&inner, file, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = sections_load(&sections, elf_file_elf(inner));
	if (r == 0)
		r = search_tables(s, inner, &sections, SHT_SYMTAB, SYMBOL_MINIDEBUG);
	free(sections.list);
	elf_file_close(inner);
	return r == -ENOENT ? 0 : r;
}

static bool all_covered(const struct symbol_search *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->covering[i])
			return false;
	return true;
}

/* A .symtab has all there is, unless somebody took a part of it away. */
static int search_own(struct symbol_search *s, struct elf_file *file, const struct sections *sections, bool debug, struct error *err)
{
	int r = search_tables(s, file, sections, SHT_SYMTAB, debug ? SYMBOL_DEBUG_FILE : SYMBOL_SYMTAB);

	s->complete = r == 0 && all_covered(s);
	if ((r < 0 && r != -ENOENT) || s->complete || debug)
		return r == -ENOENT ? 0 : r;
	r = search_tables(s, file, sections, SHT_DYNSYM, SYMBOL_DYNSYM);
	return r < 0 && r != -ENOENT ? r : search_minidebug(s, file, err);
}

int symbol_search_file(struct symbol_search *s, struct elf_file *file, bool debug, struct error *err)
{
	struct sections sections = { NULL, 0 };
	int r = sections_load(&sections, elf_file_elf(file)), plt = 0;

	error_set(err, EBADMSG, "its symbol table is damaged");
	if (r >= 0) {
		r = search_own(s, file, &sections, debug, err);
		plt = debug ? 0 : search_plt(s, file);
	}
	free(sections.list);
	return r < 0 ? r : plt;
}

bool symbol_search_complete(const struct symbol_search *s)
{
	return s->complete;
}

uint32_t symbol_search_limit(const struct symbol_search *s)
{
	return (uint32_t)s->candidate_count;
}

/* What covers an address, or the last symbol without a size before it if nothing else begins between them. */
static int settle_all(struct symbol_search *s)
{
	uint32_t before = 0;
	uint64_t sized = 0;

	s->found = calloc(s->count + 1, sizeof(*s->found));
	if (!s->found)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++) {
		const struct candidate *c;

		if (s->sized_start[i] > sized)
			sized = s->sized_start[i];
		if (s->before[i])
			before = s->before[i];
		c = before ? &s->candidates[before - 1] : NULL;
		if (s->covering[i])
			s->found[i] = s->covering[i];
		else if (c && c->start + 1 >= sized && s->addresses[i] < c->end)
			s->found[i] = before;
	}
	return 0;
}

int symbol_search_result(struct symbol_search *s, size_t i, struct symbol_match *ret)
{
	const struct candidate *c;

	if ((!s->found && settle_all(s) < 0) || !s->found[i])
		return -ENOENT;
	c = &s->candidates[s->found[i] - 1];
	ret->name = s->names.data + c->name;
	ret->start = c->start;
	ret->size = c->sized ? c->end - c->start : 0;
	ret->source = c->source;
	ret->id = (uint32_t)(c - s->candidates);
	return 0;
}
