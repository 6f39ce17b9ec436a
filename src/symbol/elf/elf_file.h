/* An ELF file of unknown origin, opened for reading: nothing in it is believed. */
#ifndef SONDE_SYMBOL_ELF_ELF_FILE_H
#define SONDE_SYMBOL_ELF_ELF_FILE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_file;

/* Takes the descriptor, in any case. -ENOEXEC when it is no ELF file of this machine's
 * kind, -EBADMSG when it is damaged beyond use. What is asked for is read, not mapped: a
 * file may be large, and one that is cut while it is mapped would end the reader. */
int elf_file_open(struct elf_file **ret, int fd, struct error *err);
/* The same for an image in memory (the vDSO); the bytes are copied. */
int elf_file_open_memory(struct elf_file **ret, const void *bytes, size_t size, struct error *err);
void elf_file_close(struct elf_file *file);

Elf *elf_file_elf(const struct elf_file *file);
/* Its size; *ret points to the bytes. 0 where there is none. */
size_t elf_file_build_id(const struct elf_file *file, const uint8_t **ret);
/* The virtual address at which a byte of the file is loaded: 0, or -ENOENT when it is in no
 * loadable segment. */
int elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret);
/* Bytes of the file, in one piece: 0, or -EBADMSG when they are not all there. */
int elf_file_read(const struct elf_file *file, uint64_t offset, void *to, size_t size);
uint64_t elf_file_size(const struct elf_file *file);

#endif
