/* Where the symbols of a stripped file are: its debug file, by build-id or by the name it carries
 * (.gnu_debuglink). What is found is checked to belong to it. */
#ifndef SONDE_SYMBOL_ELF_DEBUG_FILE_H
#define SONDE_SYMBOL_ELF_DEBUG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/elf/elf_file.h"

#define DEBUG_FILE_ROOT "/usr/lib/debug"

struct debug_wanted {
	const uint8_t *build_id; /* of the file; size 0: it has none */
	size_t build_id_size;
	const char *path;      /* of the file, absolute; NULL: not known */
	struct elf_file *file; /* the file itself, for its debuglink; NULL: not at hand */
	const char *folders;   /* "folder:folder", looked at first; NULL: none */
	const char *root;      /* where the system keeps them; NULL: DEBUG_FILE_ROOT */
};

/* -ENOENT when there is none. */
int debug_file_find(struct elf_file **ret, const struct debug_wanted *wanted);

/* For a report read elsewhere: the file itself by its build-id, under one of the folders or at its path. -ENOENT. */
int debug_file_find_original(struct elf_file **ret, const struct debug_wanted *wanted);

#endif
