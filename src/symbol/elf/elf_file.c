#include "symbol/elf/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "symbol/elf/build_id.h"

struct elf_file {
	Elf *elf;
	int fd; /* -1 for an image in memory */
	char *image;
	uint64_t size;
	size_t phdr_count;
	size_t build_id_size;
	uint8_t build_id[BUILD_ID_LIMIT];
};

static void find_build_id_in(struct elf_file *file, Elf_Data *data)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz == 0 || note.n_descsz > BUILD_ID_LIMIT ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) != 0)
			continue;
		file->build_id_size = note.n_descsz;
		memcpy(file->build_id, (char *)data->d_buf + desc, note.n_descsz);
		return;
	}
}

static void find_build_id(struct elf_file *file)
{
	for (size_t i = 0; i < file->phdr_count && !file->build_id_size; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(file->elf, (int)i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		find_build_id_in(file, elf_getdata_rawchunk(file->elf, (int64_t)phdr.p_offset, phdr.p_filesz,
							    phdr.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
	}
}

/* file->elf is there, or NULL. */
static int check_elf_header(struct elf_file *file, struct error *err)
{
	GElf_Ehdr header;

	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
		return error_set(err, ENOEXEC, "not an ELF file");
	if (gelf_getclass(file->elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != ARCH_ELF_MACHINE)
		return error_set(err, ENOEXEC, "an ELF file of another machine");
	if (elf_getphdrnum(file->elf, &file->phdr_count) < 0)
		return error_set(err, EBADMSG, "damaged program headers");
	find_build_id(file);
	return 0;
}

static int finish_open(struct elf_file **ret, struct elf_file *file, struct error *err)
{
	int r = check_elf_header(file, err);

	if (r < 0) {
		elf_file_close(file);
		return r;
	}
	*ret = file;
	return 0;
}

int elf_file_open(struct elf_file **ret, int fd, struct error *err)
{
	struct elf_file *file = calloc(1, sizeof(*file));
	struct stat st;

	if (!file || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		free(file);
		return file ? error_set(err, ENOEXEC, "not a regular file") : error_set(err, ENOMEM, "no memory to open a file");
	}
	elf_version(EV_CURRENT);
	file->fd = fd;
	file->size = (uint64_t)st.st_size;
	file->elf = elf_begin(fd, ELF_C_READ, NULL);
	return finish_open(ret, file, err);
}

int elf_file_open_memory(struct elf_file **ret, const void *bytes, size_t size, struct error *err)
{
	struct elf_file *file = calloc(1, sizeof(*file));

	if (!file || !(file->image = malloc(size ? size : 1))) {
		free(file);
		return error_set(err, ENOMEM, "no memory for an image of %zu bytes", size);
	}
	elf_version(EV_CURRENT);
	file->fd = -1;
	file->size = size;
	memcpy(file->image, bytes, size);
	file->elf = elf_memory(file->image, size);
	return finish_open(ret, file, err);
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->image);
	free(file);
}

Elf *elf_file_elf(const struct elf_file *file)
{
	return file->elf;
}

size_t elf_file_build_id(const struct elf_file *file, const uint8_t **ret)
{
	*ret = file->build_id;
	return file->build_id_size;
}

int elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < file->phdr_count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(file->elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		if (offset >= phdr.p_offset && offset - phdr.p_offset < phdr.p_filesz) {
			*ret = offset - phdr.p_offset + phdr.p_vaddr;
			return 0;
		}
	}
	return -ENOENT;
}

int elf_file_read(const struct elf_file *file, uint64_t offset, void *to, size_t size)
{
	char *at = to;

	if (offset > file->size || size > file->size - offset)
		return -EBADMSG;
	if (file->image) {
		memcpy(to, file->image + offset, size);
		return 0;
	}
	while (size) {
		ssize_t n = pread(file->fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EBADMSG;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

uint64_t elf_file_size(const struct elf_file *file)
{
	return file->size;
}
