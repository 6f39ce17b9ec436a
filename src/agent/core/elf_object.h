/* A loaded ELF object, as the dynamic linker uses it: symbols by name and version. */
#ifndef SONDE_AGENT_CORE_ELF_OBJECT_H
#define SONDE_AGENT_CORE_ELF_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct agent_object {
	uintptr_t base;
	const char *path;
	const ElfW(Phdr) *segments;
	unsigned segment_count;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const ElfW(Verdef) *definitions;
	uintptr_t definition_count;
	const ElfW(Verneed) *needs;
	uintptr_t need_count;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
	/* Two tables of relocations: of functions, and of everything. */
	struct {
		const ElfW(Rela) *first;
		size_t bytes;
	} relocations[2];
	uintptr_t plt_kind; /* DT_RELA, or there are none that we understand */
};

#pragma GCC visibility push(hidden)

/* Returns whether it has symbols that can be looked up. */
int agent_object_read(const struct dl_phdr_info *info, struct agent_object *ret);
/* A symbol that is defined there: of this version, where there is one (or none is asked for) the one that new programs get. */
const ElfW(Sym) *agent_object_symbol(const struct agent_object *object, const char *name, const char *version);
void *agent_object_find(const struct agent_object *object, const char *name, const char *version);
/* The version of a symbol, defined or wanted there; "" where there is none. */
const char *agent_object_version(const struct agent_object *object, uint32_t symbol);

/* The loaded object whose file's name begins so. Not in a forked child that has loaded nothing itself: the loader's lock may be held
 * there for ever. */
int agent_object_find_loaded(const char *file, struct agent_object *ret);

int agent_object_is_ours(const struct dl_phdr_info *info);
int agent_object_is_c_library(const char *path);

#pragma GCC visibility pop

#endif
