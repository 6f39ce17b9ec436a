/* .gnu_debugdata: an ELF file with the local functions, compressed, inside the file itself. */
#include "symbol/elf/symtab_internal.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define PACKED_LIMIT (64u << 20)
#define UNPACKED_LIMIT (256u << 20)
#define MEMORY_LIMIT (128u << 20)

Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;
	const char *its_name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, ret))
			continue;
		its_name = elf_strptr(elf, names, ret->sh_name);
		if (its_name && strcmp(its_name, name) == 0)
			return section;
	}
	return NULL;
}

/* The size is not told ahead: room grows as it is filled. */
static int unpack(const uint8_t *packed, size_t size, struct buf *ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&stream, MEMORY_LIMIT, 0);

	stream.next_in = packed;
	stream.avail_in = size;
	while (r == LZMA_OK && ret->len < UNPACKED_LIMIT) {
		if (buf_reserve(ret, 1u << 20) < 0)
			break;
		stream.next_out = (uint8_t *)ret->data + ret->len;
		stream.avail_out = ret->cap - ret->len;
		r = lzma_code(&stream, LZMA_FINISH);
		ret->len = ret->cap - stream.avail_out;
	}
	lzma_end(&stream);
	return r == LZMA_STREAM_END ? 0 : -EBADMSG;
}

static int open_packed(struct elf_file **ret, struct elf_file *file, const GElf_Shdr *section)
{
	CLEANUP(buf_release) struct buf unpacked = BUF_INIT;
	CLEANUP_FREE uint8_t *packed = malloc(section->sh_size + 1);

	TRY(packed ? elf_file_read(file, section->sh_offset, packed, section->sh_size) : -ENOMEM);
	TRY(unpack(packed, section->sh_size, &unpacked));
	return elf_file_open_memory(ret, unpacked.data, unpacked.len, NULL);
}

int minidebug_open(struct elf_file **ret, struct elf_file *file, struct error *err)
{
	GElf_Shdr section;
	int r;

	if (!find_section(elf_file_elf(file), ".gnu_debugdata", &section) || section.sh_type != SHT_PROGBITS)
		return -ENOENT;
	if (section.sh_size > PACKED_LIMIT || section.sh_size > elf_file_size(file))
		return error_set(err, EBADMSG, "its .gnu_debugdata is damaged");
	r = open_packed(ret, file, &section);
	return r < 0 ? error_set(err, r == -ENOMEM ? ENOMEM : EBADMSG, "its .gnu_debugdata is damaged") : 0;
}
