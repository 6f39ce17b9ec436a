/* Names of code that a program made while running: /tmp/perf-PID.map, as perf defined it and as JITs write it.
 * Lines are "START SIZE NAME", hexadecimal; where two speak of the same place the later one is right. */
#ifndef SONDE_SYMBOL_PERF_MAP_H
#define SONDE_SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "symbol/elf/symtab.h"

/* Where the map of a process is, and whose it must be: through its own root and with the number it has
 * itself, as long as it lives; otherwise as its pid is seen from here. */
void perf_map_path(uint32_t pid, char *ret, size_t size, uid_t *ret_owner);

/* -ENOENT when there is none; -EPERM when it is a link, no plain file, or neither `owner`'s, ours nor root's:
 * anybody may write to /tmp. A map too long is read up to a limit: 1 then. */
int symbol_search_perf_map(struct symbol_search *s, const char *path, uid_t owner, struct error *err);

#endif
