/* An ELF file around a given .eh_frame, as a loader would see it: two segments, no sections. */
#ifndef SONDE_TESTS_CFI_FILE_H
#define SONDE_TESTS_CFI_FILE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define CFI_FILE_SORTED 0x100 /* offsets and addresses are the same */
#define CFI_FILE_FRAMES 0x400
#define CFI_FILE_CODE 0x100000 /* where the code would be */
#define CFI_FILE_ENTRIES 64u

struct cfi_file_entry {
	uint32_t code;  /* first address */
	uint32_t frame; /* offset of its FDE in .eh_frame */
};

/* Writes at most CFI_FILE_FRAMES + size bytes and returns how many. count < 0: no sorted table. */
static inline size_t cfi_file_make(uint8_t *to, const void *frames, size_t size, const struct cfi_file_entry *entries, int count)
{
	/* clang-format off */
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header), .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 };
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = CFI_FILE_FRAMES + size,
		  .p_memsz = CFI_FILE_FRAMES + size, .p_align = 4096 },
		{ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = CFI_FILE_SORTED, .p_vaddr = CFI_FILE_SORTED,
		  .p_filesz = 12 + (count > 0 ? (size_t)count * 8 : 0), .p_align = 4 } };
	/* clang-format on */
	uint8_t sorted[12] = { 1, 0x1b, count < 0 ? 0xff : 0x03, count < 0 ? 0xff : 0x3b };
	int32_t frames_from_here = CFI_FILE_FRAMES - CFI_FILE_SORTED - 4;

	memset(to, 0, CFI_FILE_FRAMES);
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), segments, sizeof(segments));
	memcpy(sorted + 4, &frames_from_here, 4);
	if (count >= 0)
		memcpy(sorted + 8, &count, 4);
	memcpy(to + CFI_FILE_SORTED, sorted, sizeof(sorted));
	for (int i = 0; i < count; i++) {
		int32_t pair[2] = { (int32_t)entries[i].code - CFI_FILE_SORTED,
				    (int32_t)entries[i].frame + CFI_FILE_FRAMES - CFI_FILE_SORTED };

		memcpy(to + CFI_FILE_SORTED + 12 + i * 8, pair, sizeof(pair));
	}
	if (size)
		memcpy(to + CFI_FILE_FRAMES, frames, size);
	return CFI_FILE_FRAMES + size;
}

#endif
