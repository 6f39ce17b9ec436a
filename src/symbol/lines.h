/* Source lines and inlined functions of one file's addresses, from its DWARF: asked for by readers, one
 * address at a time, and cached. */
#ifndef SONDE_SYMBOL_LINES_H
#define SONDE_SYMBOL_LINES_H

#include "symbol/elf/debug_file.h"
#include "symbol/line_cache.h"

struct lines;

/* Opens nothing yet but the cache in `folder` (NULL: none). What `wanted` points to must outlive it; its file, where
 * it has one, stays the caller's. -ENOMEM. */
int lines_new(struct lines **ret, const struct debug_wanted *wanted, const char *folder);
void lines_free(struct lines *l);

/* The line and the inlined functions of an address, innermost first. -ENOENT where nothing is known. The
 * caller releases *ret. */
int lines_find(struct lines *l, uint64_t address, struct source_lines *ret);

#endif
