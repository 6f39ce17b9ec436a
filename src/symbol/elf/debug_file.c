#include "symbol/elf/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text/path.h"
#include "symbol/elf/build_id.h"
#include "symbol/elf/symtab_internal.h"

#define LINK_NAME_LIMIT 256
#define CRC_PIECE (256u << 10)

/* The name of the debug file as the file gives it, and the checksum it must have. */
struct debug_link {
	char name[LINK_NAME_LIMIT];
	uint32_t crc;
	bool there;
};

static void read_debug_link(struct debug_link *ret, const struct elf_file *file)
{
	char bytes[LINK_NAME_LIMIT + 8];
	GElf_Shdr section;
	size_t size, at;

	ret->there = false;
	if (!file || !find_section(elf_file_elf(file), ".gnu_debuglink", &section) || section.sh_type != SHT_PROGBITS ||
	    section.sh_size < 8 || section.sh_size > sizeof(bytes))
		return;
	size = (size_t)section.sh_size;
	if (elf_file_read(file, section.sh_offset, bytes, size) < 0)
		return;
	at = strnlen(bytes, size);
	if (at == 0 || at >= LINK_NAME_LIMIT || (at & ~(size_t)3) + 8 > size || memchr(bytes, '/', at))
		return;
	memcpy(ret->name, bytes, at + 1);
	memcpy(&ret->crc, bytes + (at & ~(size_t)3) + 4, sizeof(ret->crc));
	ret->there = true;
}

static bool crc_is(const struct elf_file *file, uint32_t wanted)
{
	uint64_t left = elf_file_size(file), at = 0;
	uint8_t *piece = malloc(CRC_PIECE);
	uLong crc = crc32(0, NULL, 0);
	bool whole = true;

	if (!piece)
		return 0;
	while (whole && left) {
		size_t size = left < CRC_PIECE ? (size_t)left : CRC_PIECE;

		whole = elf_file_read(file, at, piece, size) >= 0;
		if (whole)
			crc = crc32(crc, piece, (uInt)size);
		at += size;
		left -= size;
	}
	free(piece);
	return whole && (uint32_t)crc == wanted;
}

/* One place to look at. With a build-id both must have the same; otherwise the checksum counts. */
static int try_path(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int try_path(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, const char *format, ...)
{
	struct elf_file *file;
	const uint8_t *id;
	char path[PATH_MAX];
	va_list args;
	size_t size;
	int n, fd;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENOENT;
	/* Not to be held up by a pipe of that name. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || elf_file_open(&file, fd, NULL) < 0)
		return -ENOENT;
	size = elf_file_build_id(file, &id);
	if (wanted->build_id_size ? size == wanted->build_id_size && memcmp(id, wanted->build_id, size) == 0 :
				    link && link->there && !size && crc_is(file, link->crc)) {
		*ret = file;
		return 0;
	}
	elf_file_close(file);
	return -ENOENT;
}

/* FOLDER/.build-id/xx/yyyy.debug, as Debian and others lay it out. */
static int try_build_id(struct elf_file **ret, const struct debug_wanted *wanted, const char *folder, int folder_len, const char *tail)
{
	char hex[BUILD_ID_TEXT_SIZE];

	if (wanted->build_id_size < 2 || wanted->build_id_size > BUILD_ID_LIMIT)
		return -ENOENT;
	build_id_to_text(wanted->build_id, wanted->build_id_size, hex);
	if (try_path(ret, wanted, NULL, "%.*s/.build-id/%.2s/%s%s", folder_len, folder, hex, hex + 2, tail) == 0)
		return 0;
	return try_path(ret, wanted, NULL, "%.*s/%.2s/%s%s", folder_len, folder, hex, hex + 2, tail);
}

/* A folder somebody named: any usual layout, or just the files. */
static int try_folder(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, const char *folder, int len)
{
	if (try_build_id(ret, wanted, folder, len, ".debug") == 0)
		return 0;
	if (link->there && try_path(ret, wanted, link, "%.*s/%s", len, folder, link->name) == 0)
		return 0;
	if (!wanted->path)
		return -ENOENT;
	if (try_path(ret, wanted, link, "%.*s/%s.debug", len, folder, path_name(wanted->path)) == 0 ||
	    try_path(ret, wanted, link, "%.*s%s.debug", len, folder, wanted->path) == 0 ||
	    try_path(ret, wanted, link, "%.*s%s", len, folder, wanted->path) == 0)
		return 0;
	return try_path(ret, wanted, link, "%.*s/%s", len, folder, path_name(wanted->path));
}

typedef int (*folder_fn)(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, const char *folder,
			 int len);

static int each_folder(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, folder_fn look)
{
	const char *at = wanted->folders;

	while (at && *at) {
		size_t len = strcspn(at, ":");

		if (len && len < PATH_MAX && look(ret, wanted, link, at, (int)len) == 0)
			return 0;
		at += len + (at[len] == ':');
	}
	return -ENOENT;
}

/* Beside the file, in .debug beside it, and under the system's folder. */
static int try_link(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, const char *root)
{
	const char *path = wanted->path;
	int folder = path && path[0] == '/' ? (int)(path_name(path) - path) : 0;

	if (!link->there || !folder)
		return -ENOENT;
	if (strcmp(path_name(path), link->name) != 0 && try_path(ret, wanted, link, "%.*s%s", folder, path, link->name) == 0)
		return 0;
	if (try_path(ret, wanted, link, "%.*s.debug/%s", folder, path, link->name) == 0)
		return 0;
	return try_path(ret, wanted, link, "%s%.*s%s", root, folder, path, link->name);
}

/* What debuginfod's client fetched earlier; nothing is fetched here. */
static int try_cache(struct elf_file **ret, const struct debug_wanted *wanted, const char *what)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char hex[BUILD_ID_TEXT_SIZE];

	if (!wanted->build_id_size || wanted->build_id_size > BUILD_ID_LIMIT)
		return -ENOENT;
	build_id_to_text(wanted->build_id, wanted->build_id_size, hex);
	if (cache && cache[0] == '/')
		return try_path(ret, wanted, NULL, "%s/debuginfod_client/%s/%s", cache, hex, what);
	if (!home || home[0] != '/')
		return -ENOENT;
	return try_path(ret, wanted, NULL, "%s/.cache/debuginfod_client/%s/%s", home, hex, what);
}

int debug_file_find(struct elf_file **ret, const struct debug_wanted *wanted)
{
	const char *root = wanted->root ? wanted->root : DEBUG_FILE_ROOT;
	struct debug_link link;

	read_debug_link(&link, wanted->file);
	if (each_folder(ret, wanted, &link, try_folder) == 0)
		return 0;
	if (try_build_id(ret, wanted, root, (int)strlen(root), ".debug") == 0 || try_link(ret, wanted, &link, root) == 0)
		return 0;
	return try_cache(ret, wanted, "debuginfo");
}

static int try_original(struct elf_file **ret, const struct debug_wanted *wanted, const struct debug_link *link, const char *folder,
			int len)
{
	if (try_build_id(ret, wanted, folder, len, "") == 0)
		return 0;
	if (!wanted->path)
		return -ENOENT;
	if (try_path(ret, wanted, link, "%.*s%s", len, folder, wanted->path) == 0)
		return 0;
	return try_path(ret, wanted, link, "%.*s/%s", len, folder, path_name(wanted->path));
}

int debug_file_find_original(struct elf_file **ret, const struct debug_wanted *wanted)
{
	const char *root = wanted->root ? wanted->root : DEBUG_FILE_ROOT;

	if (!wanted->build_id_size)
		return -ENOENT;
	if (each_folder(ret, wanted, NULL, try_original) == 0)
		return 0;
	if (wanted->path && wanted->path[0] == '/' && try_path(ret, wanted, NULL, "%s", wanted->path) == 0)
		return 0;
	if (try_build_id(ret, wanted, root, (int)strlen(root), "") == 0)
		return 0;
	return try_cache(ret, wanted, "executable");
}
