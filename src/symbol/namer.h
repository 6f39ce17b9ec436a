/* Names for the frames of a report, module by module: at the end of a recording, and later. */
#ifndef SONDE_SYMBOL_NAMER_H
#define SONDE_SYMBOL_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmt/tables.h"
#include "symbol/elf/elf_file.h"

struct namer_frame {
	uint64_t offset;
	uint32_t module; /* uid */
	uint32_t id;
};

struct namer_module {
	enum module_kind kind;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
	struct elf_file *file; /* the one that was mapped; NULL: not at hand, one with its build-id may be looked for */
	uint32_t pid;          /* JIT: whose map is read; 0: none is */
};

/* A row of SYMBOL to be. */
struct namer_symbol {
	uint64_t id;
	uint32_t module;
	const char *name;
	const char *linkage; /* NULL: the same */
	uint64_t offset;
	uint64_t size; /* 0: not known */
	enum symbol_source source;
};

/* Where names go. Calls come from the caller's thread, module by module. */
struct namer {
	void *context;
	/* Describes a module; false: it is to be left out. */
	bool (*describe)(void *context, uint32_t module, struct namer_module *ret);
	void (*symbol)(void *context, const struct namer_symbol *symbol);
	void (*frame)(void *context, uint32_t frame, uint64_t symbol);
	/* What went wrong with a module, half a sentence that begins with its name. */
	void (*trouble)(void *context, const char *text);
	/* How many frames of a module have no name after all; may be NULL. */
	void (*left)(void *context, uint32_t module, size_t frames);
	const char *folders;  /* with debug files, "folder:folder"; NULL: none */
	const char *kallsyms; /* NULL: kernel frames are left alone */
	uint64_t last_symbol; /* ids go on behind it */
	uint64_t named;       /* frames that got one */
};

/* Puts the frames in order of modules and offsets. -ENOMEM. */
int namer_run(struct namer *n, struct namer_frame *frames, size_t count);

#endif
