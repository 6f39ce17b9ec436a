/* A file's unwind tables alone, as an ELF image in memory that is filled where it is needed. libdw would read
 * all of .eh_frame, which is tens of megabytes in large libraries, and where .eh_frame_hdr lies behind it
 * (gold) would go through it entry by entry. The image has the headers, the sorted table of .eh_frame_hdr and,
 * once cfi_image_load() was asked for an address, the entries that are about it; libdw finds its way
 * through the segments. */
#ifndef SONDE_SYMBOL_UNWIND_CFI_IMAGE_H
#define SONDE_SYMBOL_UNWIND_CFI_IMAGE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf/elf_file.h"

struct cfi_image {
	Elf *elf;       /* NULL: there is no image */
	uint8_t *bytes; /* mapped; offsets are those of the file */
	size_t size;
	uint64_t sorted; /* offset of the sorted table's entries */
	uint32_t entries;
	uint64_t sorted_base; /* ELF address its numbers count from */
	uint64_t frames;      /* offset of .eh_frame */
	uint64_t frames_end;
	uint64_t frames_address;
	uint8_t *loaded; /* a bit for each block of .eh_frame */
};

/* 0, or -ENOENT when the file has no sorted table of the usual kind. */
int cfi_image_make(struct cfi_image *ret, const struct elf_file *file);
void cfi_image_release(struct cfi_image *image);
/* Fills in what there is about an address. The file is the one the image was made of. */
void cfi_image_load(struct cfi_image *image, const struct elf_file *file, uint64_t address);

#endif
