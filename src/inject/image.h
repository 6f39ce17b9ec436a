/* What is mapped in another process: its memory, the files in it, and their unwind tables. */
#ifndef SONDE_INJECT_IMAGE_H
#define SONDE_INJECT_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "symbol/unwind/cfi.h"
#include "symbol/elf/elf_file.h"

enum object_role {
	OBJECT_PLAIN,
	OBJECT_LINKER, /* ld.so */
	OBJECT_LIBC,
	OBJECT_ALLOCATOR /* brings a malloc() of its own */
};

struct image_object {
	char *path;
	uint64_t inode;
	uint64_t device;
	uint64_t base; /* where the beginning of the file is mapped; 0: nowhere */
	enum object_role role;
	uint8_t role_known;
	uint8_t program;       /* the program itself, not a library */
	uint8_t opened;        /* the file was looked for */
	struct elf_file *file; /* NULL: not there */
	struct cfi *cfi;
};

struct image_mapping {
	uint64_t start, end;
	uint64_t offset;
	int32_t object; /* -1: no file */
	uint8_t readable, writable, executable;
	uint8_t stack; /* the first thread's */
};

struct image {
	pid_t pid;                      /* a thread whose /proc entry is complete */
	uint64_t generation;            /* another one whenever the mappings have changed */
	struct image_mapping *mappings; /* rising */
	size_t mapping_count, mapping_room;
	struct image_object **objects;
	size_t object_count, object_room;
};

int image_open(struct image *ret, pid_t pid, struct error *err);
void image_close(struct image *image);
/* Reads what is mapped now. 1 when it has changed, 0 when not. */
int image_refresh(struct image *image, struct error *err);

const struct image_mapping *image_find(const struct image *image, uint64_t address);
/* NULL where no file is mapped. Its role is known. */
struct image_object *image_object_at(struct image *image, uint64_t address);
struct image_object *image_object_of(struct image *image, enum object_role role);
/* The object's file, opened if need be; NULL where it cannot be had. */
struct elf_file *image_file(struct image *image, struct image_object *object);

/* All of it, or -EFAULT; -ESRCH when the process has ended; -EPERM. */
int image_read(const struct image *image, uint64_t address, void *to, size_t size);
int image_write(const struct image *image, uint64_t address, const void *from, size_t size);
/* A text of at most size - 1 bytes. */
void image_read_text(const struct image *image, uint64_t address, char *to, size_t size);

#endif
