/* NVTX lives in each library that was built with it, and decides at its first use whether there is a tool: those that were used before we
 * came have decided against us for good. They are named in the report, as far as they can be found: by the name of their state, where the
 * file still has its names; by the variable that they ask for otherwise. Files are read, not mapped: somebody may be replacing them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/core/attach.h"
#include "agent/core/elf_object.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "base/text/path.h"

#define UNITS 64u
#define PATH_ROOM 512u
#define SECTIONS 4096u
#define LARGEST_TABLE (64u << 20)
#define LARGEST_SEARCH (32u << 20)
#define BLOCK (64u << 10)
#define STATE_BYTES 4096u

static const char variable[] = "NVTX_INJECTION64_PATH";

struct unit {
	uintptr_t base;
	char path[PATH_ROOM];
};

struct units {
	unsigned count;
	struct unit items[UNITS];
};

/* What stands in a library's table of names, of those that it wants from others. */
static int object_wants_name(const struct agent_object *object, const char *name)
{
	uint32_t count = object->gnu_hash ? object->gnu_hash[1] : object->hash[1];

	for (uint32_t i = 1; i < count; i++)
		if (object->symbols[i].st_shndx == SHN_UNDEF && !strcmp(object->strings + object->symbols[i].st_name, name))
			return 1;
	return 0;
}

static int note_unit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct units *units = context;
	struct agent_object object;
	struct unit *unit;

	(void)size;
	if (units->count == UNITS)
		return 1;
	if (agent_object_is_ours(info) || agent_object_is_c_library(info->dlpi_name) || !agent_object_read(info, &object) ||
	    !object_wants_name(&object, "getenv") || !object_wants_name(&object, "dlopen") || strnlen(object.path, PATH_ROOM) == PATH_ROOM)
		return 0;
	unit = &units->items[units->count++];
	unit->base = object.base;
	strcpy(unit->path, *object.path ? object.path : "/proc/self/exe");
	return 0;
}

static void *take_memory(size_t size)
{
	void *memory = raw_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return raw_failed(memory) ? NULL : memory;
}

static void give_memory(void *memory, size_t size)
{
	if (memory)
		raw_syscall(SYS_munmap, (long)memory, (long)size, 0, 0, 0, 0);
}

static int read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return raw_syscall(SYS_pread64, fd, (long)to, (long)size, (long)offset, 0, 0) == (long)size;
}

/* A part of the file in memory of its own, with a zero behind it; NULL: it is not there, or too large. */
static void *read_section(int fd, const ElfW(Shdr) *section)
{
	void *bytes = section->sh_size && section->sh_size <= LARGEST_TABLE ? take_memory(section->sh_size + 1) : NULL;

	if (bytes && !read_at(fd, bytes, section->sh_size, section->sh_offset)) {
		give_memory(bytes, section->sh_size + 1);
		return NULL;
	}
	return bytes;
}

struct file {
	int fd;
	ElfW(Ehdr) head;
	ElfW(Shdr) *sections;
	size_t size; /* of them */
};

static int open_unit_file(struct file *file, const char *path)
{
	*file = (struct file){ .fd = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0) };
	if (file->fd < 0)
		return -1;
	if (!read_at(file->fd, &file->head, sizeof(file->head), 0) || memcmp(file->head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    file->head.e_shentsize != sizeof(*file->sections) || file->head.e_shnum > SECTIONS || !file->head.e_shnum)
		return -1;
	file->size = file->head.e_shnum * sizeof(*file->sections);
	file->sections = take_memory(file->size);
	return file->sections && read_at(file->fd, file->sections, file->size, file->head.e_shoff) ? 0 : -1;
}

static void close_file(struct file *file)
{
	give_memory(file->sections, file->size);
	if (file->fd >= 0)
		raw_close(file->fd);
}

static int is_state(const char *name)
{
	return strcmp(name, "nvtxGlobals_v3") == 0 || strcmp(name, "sonde_nvtx_state") == 0;
}

/* Finds the state by its name; returns whether it did. */
static int find_state(const struct file *file, const ElfW(Shdr) *table, ElfW(Sym) *ret)
{
	const ElfW(Shdr) *names = table->sh_link < file->head.e_shnum ? &file->sections[table->sh_link] : NULL;
	ElfW(Sym) *symbols = names ? read_section(file->fd, table) : NULL;
	char *texts = symbols ? read_section(file->fd, names) : NULL;
	int found = 0;

	for (size_t i = 0; texts && i < table->sh_size / sizeof(*symbols) && !found; i++) {
		found = symbols[i].st_name < names->sh_size && ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT &&
			is_state(texts + symbols[i].st_name);
		if (found)
			*ret = symbols[i];
	}
	give_memory(symbols, table->sh_size + 1);
	give_memory(texts, names ? names->sh_size + 1 : 0);
	return found;
}

static int asks_for_variable(const struct file *file, const ElfW(Shdr) *section)
{
	uint64_t size = section->sh_size < LARGEST_SEARCH ? section->sh_size : LARGEST_SEARCH;
	uint8_t *block = take_memory(BLOCK);
	int found = 0;
	long got;

	for (uint64_t at = 0; block && at < size && !found; at += BLOCK - sizeof(variable)) {
		got = raw_syscall(SYS_pread64, file->fd, (long)block, BLOCK, (long)(section->sh_offset + at), 0, 0);
		if (got <= 0)
			break;
		found = memmem(block, (size_t)got, variable, sizeof(variable)) != NULL;
	}
	give_memory(block, BLOCK);
	return found;
}

enum verdict { NO_NVTX, NVTX_OPEN, NVTX_DECIDED, NVTX_UNKNOWN };

/* The first word is 0 before the first use. One that has functions of ours has decided for us. */
static enum verdict judge(uintptr_t address, uint64_t size)
{
	uintptr_t words[STATE_BYTES / sizeof(uintptr_t)];
	uint32_t bytes = size < sizeof(words) ? (uint32_t)size : (uint32_t)sizeof(words);

	if (bytes < sizeof(words[0]) || agent_copy_readable(words, address, bytes) != bytes)
		return NVTX_UNKNOWN;
	if ((uint32_t)words[0] == 0)
		return NVTX_OPEN;
	for (uint32_t i = 1; i < bytes / sizeof(words[0]); i++)
		if (agent_owns_code(words[i]))
			return NVTX_OPEN;
	return NVTX_DECIDED;
}

static enum verdict look_into(const struct unit *unit)
{
	enum verdict verdict = NO_NVTX;
	struct file file;
	ElfW(Sym) state;

	if (open_unit_file(&file, unit->path) == 0)
		for (unsigned i = 0; i < file.head.e_shnum; i++) {
			const ElfW(Shdr) *section = &file.sections[i];

			if (section->sh_type == SHT_SYMTAB && find_state(&file, section, &state)) {
				verdict = judge(unit->base + state.st_value, state.st_size);
				break;
			}
			if (section->sh_type == SHT_PROGBITS && section->sh_flags == SHF_ALLOC && asks_for_variable(&file, section))
				verdict = NVTX_UNKNOWN;
		}
	close_file(&file);
	return verdict;
}

struct names {
	char text[300];
	size_t size;
};

static void add_unit_name(struct names *names, const struct unit *unit)
{
	char path[PATH_ROOM];
	const char *file;
	long length;

	strcpy(path, unit->path);
	length = raw_syscall(SYS_readlink, (long)unit->path, (long)path, PATH_ROOM - 1, 0, 0, 0);
	if (length > 0)
		path[length] = '\0';
	file = path_name(path);
	if (names->size + strlen(file) + 3 < sizeof(names->text))
		names->size += (size_t)snprintf(names->text + names->size, sizeof(names->text) - names->size, "%s%s",
						names->size ? ", " : "", file);
}

static void report_units(const char *before, const struct names *names, const char *after)
{
	char text[400];

	if (!names->size)
		return;
	snprintf(text, sizeof(text), "%s%s%s", before, names->text, after);
	agent_diagnose(DIAGNOSTIC_INFO, text);
}

void agent_nvtx_units(void)
{
	struct units *units = take_memory(sizeof(*units));
	struct names decided = { .size = 0 }, unknown = { .size = 0 };
	enum verdict verdict;

	if (!units)
		return;
	agent_walk_objects(note_unit, units);
	for (unsigned i = 0; i < units->count; i++) {
		verdict = look_into(&units->items[i]);
		if (verdict == NVTX_DECIDED)
			add_unit_name(&decided, &units->items[i]);
		else if (verdict == NVTX_UNKNOWN)
			add_unit_name(&unknown, &units->items[i]);
	}
	report_units("NVTX was used before Sonde attached, so these are not recorded: ", &decided, ".");
	report_units("NVTX is recorded in these only if it was not used before Sonde attached, which is not known: ", &unknown, ".");
	give_memory(units, sizeof(*units));
}
