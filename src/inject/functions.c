#include "inject/functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/arch_borrow.h"
#include "base/macros.h"
#include "inject/dynsym.h"

/* What __libc_dlopen_mode() wants to be told, that dlopen() tells it. */
#define RTLD_AS_DLOPEN 0x80000000u
#define PIECE 65536u

/* Anywhere in the C library or, before glibc 2.34, in its parts. */
static uint64_t find_in_libraries(struct image *image, const char *name)
{
	static const char *const parts[] = { "/libpthread", "/libdl" };
	struct image_object *libc = image_object_of(image, OBJECT_LIBC);
	struct dynsym symbols;
	uint64_t address;

	if (libc && dynsym_open(&symbols, image, libc->base) == 0 && dynsym_find(&symbols, name, &address) == 0)
		return address;
	for (size_t i = 0; i < image->object_count; i++)
		for (size_t j = 0; j < COUNT_OF(parts); j++)
			if (strstr(image->objects[i]->path, parts[j]) && dynsym_open(&symbols, image, image->objects[i]->base) == 0 &&
			    dynsym_find(&symbols, name, &address) == 0)
				return address;
	return 0;
}

static uint64_t find_bytes(const struct image *image, const struct image_mapping *m, const uint8_t *bytes, size_t size)
{
	uint8_t *piece = malloc(PIECE);
	uint64_t found = 0;

	for (uint64_t at = m->start; piece && !found && at < m->end; at += PIECE - size) {
		size_t length = m->end - at < PIECE ? (size_t)(m->end - at) : PIECE;
		const uint8_t *hit;

		if (image_read(image, at, piece, length) < 0)
			break;
		hit = memmem(piece, length, bytes, size);
		if (hit)
			found = at + (uint64_t)(hit - piece);
	}
	free(piece);
	return found;
}

static uint64_t find_trampoline(struct image *image)
{
	static const uint8_t code[ARCH_TRAMPOLINE_SIZE] = ARCH_TRAMPOLINE;
	const struct image_object *libc = image_object_of(image, OBJECT_LIBC);
	uint64_t found = 0;

	for (size_t i = 0; libc && i < image->mapping_count && !found; i++) {
		const struct image_mapping *m = &image->mappings[i];

		if (m->executable && m->object >= 0 && image->objects[m->object] == libc)
			found = find_bytes(image, m, code, sizeof(code));
	}
	return found;
}

int functions_find(struct functions *ret, struct image *image, struct error *err)
{
	*ret = (struct functions){
		.mmap = find_in_libraries(image, "mmap"),
		.mprotect = find_in_libraries(image, "mprotect"),
		.munmap = find_in_libraries(image, "munmap"),
		.dlopen = find_in_libraries(image, "dlopen"),
		.dlsym = find_in_libraries(image, "dlsym"),
		.dlerror = find_in_libraries(image, "dlerror"),
		.mode = RTLD_NOW,
		.pthread_create = find_in_libraries(image, "pthread_create"),
		.pthread_self = find_in_libraries(image, "pthread_self"),
		.pthread_detach = find_in_libraries(image, "pthread_detach"),
		.trampoline = find_trampoline(image),
	};
	if (!ret->dlopen || !ret->dlsym) {
		ret->dlopen = find_in_libraries(image, "__libc_dlopen_mode");
		ret->dlsym = find_in_libraries(image, "__libc_dlsym");
		ret->dlerror = 0;
		ret->mode = RTLD_NOW | RTLD_AS_DLOPEN;
	}
	if (!ret->pthread_self || !ret->pthread_detach)
		ret->pthread_create = 0;
	if (!ret->mmap || !ret->mprotect || !ret->munmap || !ret->dlopen || !ret->dlsym || !ret->trampoline)
		return error_set(err, ENOEXEC,
				 "its C library has not all the functions that are needed to "
				 "load a library");
	return 0;
}
