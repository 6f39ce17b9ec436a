/* Source lines once found, kept by build-id: in memory, and in the user's cache folder for the next reader.
 * A file of the cache is private, only appended to, and checked when it is read. */
#ifndef SONDE_SYMBOL_LINE_CACHE_H
#define SONDE_SYMBOL_LINE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SOURCE_LINES_DEPTH 64

struct source_line {
	const char *function; /* "" where it is not known */
	const char *file;     /* the same */
	uint32_t line;        /* 0: not known */
};

/* What stands at an address, the innermost inlined function first. */
struct source_lines {
	uint32_t count;
	struct source_line at[SOURCE_LINES_DEPTH];
	char *texts; /* what they point to */
};

void source_lines_release(struct source_lines *lines);

struct line_cache;

/* `folder`: where files are kept; NULL: nowhere. What cannot be read or is not ours is done without. -ENOMEM. */
int line_cache_open(struct line_cache **ret, const char *folder, const uint8_t *build_id, size_t build_id_size);
/* Keeps what was added. */
void line_cache_close(struct line_cache *cache);

/* ${XDG_CACHE_HOME:-~/.cache}/sonde/lines, made if need be; -ENOENT where there can be none. */
int line_cache_folder(char *ret, size_t size);

/* -ENOENT when the address was not added so far. */
int line_cache_get(const struct line_cache *cache, uint64_t address, struct source_lines *ret);
/* Texts longer than a few KB are cut. -ENOMEM. */
int line_cache_put(struct line_cache *cache, uint64_t address, const struct source_lines *lines);

#endif
