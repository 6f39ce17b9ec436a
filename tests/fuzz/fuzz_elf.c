/* libFuzzer target: any bytes as an ELF file whose symbols, stubs, lines and inlined functions are asked for. */
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay.h"
#include "symbol/demangle.h"
#include "symbol/lines.h"
#include "symbol/elf/symtab.h"

#define ADDRESSES 24

const char *__lsan_default_suppressions(void);

/* elfutils loses a few bytes over some damaged files. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so\n";
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Some in each section with code, and some that are nowhere. */
static void choose_addresses(const struct elf_file *file, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	unsigned n = 0;

	while (n + 4 < ADDRESSES && (section = elf_nextscn(elf_file_elf(file), section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR)) {
			ret[n++] = header.sh_addr;
			ret[n++] = header.sh_addr + header.sh_size / 2;
			ret[n++] = header.sh_addr + header.sh_size - 1;
		}
	for (uint64_t other = 0; n < ADDRESSES; other += 0x1111111)
		ret[n++] = other;
	qsort(ret, ADDRESSES, sizeof(*ret), by_value);
}

static void find_symbols(struct elf_file *file, const uint64_t *addresses)
{
	struct symbol_match match;
	struct symbol_search *s;
	struct error err;

	if (symbol_search_new(&s, addresses, ADDRESSES) < 0)
		return;
	symbol_search_file(s, file, false, &err);
	symbol_search_file(s, file, true, &err);
	for (size_t i = 0; i < ADDRESSES; i++)
		if (symbol_search_result(s, i, &match) == 0) {
			if (match.size && (addresses[i] < match.start || addresses[i] - match.start >= match.size))
				abort();
			free(demangle(match.name));
		}
	symbol_search_free(s);
}

static void find_lines(struct elf_file *file, const uint64_t *addresses)
{
	struct debug_wanted wanted = { .file = file, .root = "/nowhere" };
	struct source_lines found;
	struct lines *l;

	if (lines_new(&l, &wanted, NULL) < 0)
		return;
	for (size_t i = 0; i < ADDRESSES; i++)
		if (lines_find(l, addresses[i], &found) == 0) {
			for (uint32_t k = 0; k < found.count; k++)
				if (strlen(found.at[k].function) + strlen(found.at[k].file) > (1u << 20))
					abort();
			source_lines_release(&found);
		}
	lines_free(l);
}

static void ask_all(struct elf_file *file)
{
	uint64_t addresses[ADDRESSES];

	choose_addresses(file, addresses);
	find_symbols(file, addresses);
	find_lines(file, addresses);
	elf_file_close(file);
}

/* Files are read piece by piece, images lie in memory: not the same code in libelf. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *file;
	struct error err;
	int fd;

	if (elf_file_open_memory(&file, data, size, &err) < 0)
		return 0;
	ask_all(file);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_file_open(&file, fd, &err) == 0)
		ask_all(file);
	return 0;
}
