#include "symbol/unwind/cfi_image.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define IMAGE_LIMIT (16ull << 30) /* of addresses; what is not filled costs nothing */
#define SORTED_LIMIT (256ull << 20)
#define SEGMENTS_LIMIT 65536u
#define BLOCK 1024u

/* .eh_frame_hdr as every linker writes it: offsets of four bytes, sorted. */
struct sorted_head {
	uint8_t version;
	uint8_t pointer_encoding; /* relative to where it is, four bytes, signed */
	uint8_t count_encoding;   /* four bytes */
	uint8_t table_encoding;   /* relative to the head, four bytes, signed */
	int32_t pointer;          /* to .eh_frame */
	uint32_t count;
};

struct sorted_entry {
	int32_t code;
	int32_t frame;
};

/* The part of the file that is loaded at an address, up to the end of its segment. */
static int find_loaded(Elf *elf, uint64_t address, uint64_t *ret_offset, uint64_t *ret_end)
{
	GElf_Phdr phdr;
	size_t count;

	if (elf_getphdrnum(elf, &count) < 0)
		return -ENOENT;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD || address < phdr.p_vaddr ||
		    address - phdr.p_vaddr >= phdr.p_filesz || phdr.p_offset > IMAGE_LIMIT || phdr.p_filesz > IMAGE_LIMIT)
			continue;
		*ret_offset = phdr.p_offset + (address - phdr.p_vaddr);
		*ret_end = phdr.p_offset + phdr.p_filesz;
		return 0;
	}
	return -ENOENT;
}

static int find_sorted(Elf *elf, GElf_Phdr *ret)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) < 0)
		return -ENOENT;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, ret) && ret->p_type == PT_GNU_EH_FRAME)
			return 0;
	return -ENOENT;
}

/* Learns from the segments where things are. */
static int find_tables(struct cfi_image *image, const struct elf_file *file, GElf_Phdr *ret_sorted)
{
	Elf *elf = elf_file_elf(file);
	struct sorted_head head;
	GElf_Phdr phdr;

	if (find_sorted(elf, &phdr) < 0 || phdr.p_filesz < sizeof(head) || phdr.p_filesz > SORTED_LIMIT || phdr.p_offset > IMAGE_LIMIT ||
	    elf_file_read(file, phdr.p_offset, &head, sizeof(head)) < 0)
		return -ENOENT;
	if (head.version != 1 || head.pointer_encoding != 0x1b || head.count_encoding != 0x03 || head.table_encoding != 0x3b ||
	    head.count > (phdr.p_filesz - sizeof(head)) / sizeof(struct sorted_entry))
		return -ENOENT;
	image->sorted = phdr.p_offset + sizeof(head);
	image->entries = head.count;
	image->sorted_base = phdr.p_vaddr;
	image->frames_address = phdr.p_vaddr + 4 + (uint64_t)(int64_t)head.pointer;
	*ret_sorted = phdr;
	return find_loaded(elf, image->frames_address, &image->frames, &image->frames_end);
}

static int copy_headers(struct cfi_image *image, const struct elf_file *file, const GElf_Phdr *sorted, const GElf_Ehdr *header)
{
	Elf64_Ehdr *copy = (Elf64_Ehdr *)image->bytes;

	if (elf_file_read(file, 0, copy, sizeof(*copy)) < 0 ||
	    elf_file_read(file, header->e_phoff, image->bytes + header->e_phoff, (size_t)header->e_phnum * header->e_phentsize) < 0 ||
	    elf_file_read(file, sorted->p_offset, image->bytes + sorted->p_offset, sorted->p_filesz) < 0)
		return -ENOENT;
	/* No sections: then libdw looks at the segments. */
	copy->e_shoff = 0;
	copy->e_shnum = copy->e_shstrndx = 0;
	image->elf = elf_memory((char *)image->bytes, image->size);
	return image->elf ? 0 : -ENOENT;
}

static uint64_t larger_address(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int cfi_image_make(struct cfi_image *ret, const struct elf_file *file)
{
	struct cfi_image image = { 0 };
	GElf_Phdr sorted;
	GElf_Ehdr header;

	if (!gelf_getehdr(elf_file_elf(file), &header) || header.e_phoff > SEGMENTS_LIMIT || header.e_phoff < sizeof(Elf64_Ehdr) ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || find_tables(&image, file, &sorted) < 0)
		return -ENOENT;
	image.size = larger_address(larger_address(image.frames_end, sorted.p_offset + sorted.p_filesz),
				    header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize);
	image.loaded = calloc((image.frames_end - image.frames) / BLOCK / 8 + 1, 1);
	image.bytes = mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (image.bytes == MAP_FAILED)
		image.bytes = NULL;
	if (!image.loaded || !image.bytes || copy_headers(&image, file, &sorted, &header) < 0) {
		cfi_image_release(&image);
		return -ENOENT;
	}
	*ret = image;
	return 0;
}

void cfi_image_release(struct cfi_image *image)
{
	if (image->elf)
		elf_end(image->elf);
	if (image->bytes)
		munmap(image->bytes, image->size);
	free(image->loaded);
	*image = (struct cfi_image){ 0 };
}

/* Has a part of .eh_frame read, block by block; `at` counts from its beginning. */
static int load_frame_blocks(struct cfi_image *image, const struct elf_file *file, uint64_t at, uint64_t size)
{
	uint64_t all = image->frames_end - image->frames;

	if (at > all || size > all - at)
		return -ENOENT;
	for (uint64_t block = at / BLOCK; block * BLOCK < at + size; block++) {
		uint64_t start = image->frames + block * BLOCK;
		uint64_t left = image->frames_end - start;

		if (image->loaded[block / 8] & 1u << block % 8)
			continue;
		image->loaded[block / 8] |= (uint8_t)(1u << block % 8);
		if (elf_file_read(file, start, image->bytes + start, left < BLOCK ? left : BLOCK) < 0)
			return -ENOENT;
	}
	return 0;
}

/* An entry, and where the number in it that leads to its CIE is. 64-bit entries nobody writes. */
static int load_entry(struct cfi_image *image, const struct elf_file *file, uint64_t at, uint32_t *ret_cie)
{
	uint32_t head[2];

	if (load_frame_blocks(image, file, at, sizeof(head)) < 0)
		return -ENOENT;
	memcpy(head, image->bytes + image->frames + at, sizeof(head));
	*ret_cie = head[1];
	return head[0] == UINT32_MAX ? -ENOENT : load_frame_blocks(image, file, at, sizeof(head[0]) + (uint64_t)head[0]);
}

/* The last entry that begins at the address or before; NULL when there is none. */
static const struct sorted_entry *search_sorted_entry(const struct cfi_image *image, uint64_t address)
{
	const uint8_t *table = image->bytes + image->sorted;
	int64_t wanted = (int64_t)(address - image->sorted_base);
	uint32_t low = 0, high = image->entries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct sorted_entry entry;

		memcpy(&entry, table + (size_t)middle * sizeof(entry), sizeof(entry));
		if (entry.code <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (const struct sorted_entry *)(table + (size_t)(low - 1) * sizeof(struct sorted_entry)) : NULL;
}

void cfi_image_load(struct cfi_image *image, const struct elf_file *file, uint64_t address)
{
	const struct sorted_entry *found = search_sorted_entry(image, address);
	struct sorted_entry entry;
	uint32_t back, unused;
	uint64_t at;

	if (!found)
		return;
	memcpy(&entry, found, sizeof(entry));
	at = image->sorted_base + (uint64_t)(int64_t)entry.frame - image->frames_address;
	if (load_entry(image, file, at, &back) == 0 && back <= at + 4)
		load_entry(image, file, at + 4 - back, &unused);
}
