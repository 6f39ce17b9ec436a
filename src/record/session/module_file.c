/* From a module to its file: the one that is mapped, wherever it is now. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "record/session/module.h"

#define PATH_SIZE 4200

static int64_t changed_at(const struct stat *st)
{
	return st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec;
}

int module_changed(const struct module *m, uint32_t pid)
{
	char path[PATH_SIZE];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, m->path);
	if ((!pid || stat(path, &st) < 0) && stat(m->path, &st) < 0)
		return 0;
	return (uint64_t)st.st_size != m->file_size || changed_at(&st) != m->file_changed;
}

static void take_segments(struct module *m, Elf *elf)
{
	size_t count;

	m->segment_count = 0;
	if (elf_getphdrnum(elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && m->segment_count < MODULE_SEGMENTS; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		m->segments[m->segment_count++] = (struct module_segment){ phdr.p_offset, phdr.p_filesz, phdr.p_vaddr };
	}
}

/* How a file was reached. */
enum reached {
	BY_PATH,    /* as the process sees it: a file system that shows other device numbers in /proc than
		     * stat() does (overlayfs, btrfs) cannot be compared, and is believed */
	BY_NAME,    /* the same path as we see it, perhaps in another file system */
	BY_MAPPING, /* it can be no other */
	BY_PROCESS  /* its program, which may be another file: its numbers must agree */
};

/* Whether the file is the one that was mapped. */
static int is_it(const struct module *m, const struct elf_file *file, const struct stat *st, enum reached reached)
{
	const uint8_t *id;
	size_t size = elf_file_build_id(file, &id);

	if (m->build_id_size)
		return size == m->build_id_size && memcmp(id, m->build_id, size) == 0;
	if (m->file_size)
		return (uint64_t)st->st_size == m->file_size && changed_at(st) == m->file_changed;
	if (reached == BY_PROCESS)
		return m->inode && m->device == st->st_dev && m->inode == st->st_ino;
	return reached == BY_MAPPING || !m->inode || m->inode == st->st_ino || (reached == BY_PATH && m->device != st->st_dev);
}

static void accept_file(struct module *m, struct elf_file *file, const struct stat *st)
{
	const uint8_t *id;

	m->file = file;
	m->file_size = (uint64_t)st->st_size;
	m->file_changed = changed_at(st);
	if (!m->build_id_size) {
		m->build_id_size = elf_file_build_id(file, &id);
		memcpy(m->build_id, id, m->build_id_size);
	}
	take_segments(m, elf_file_elf(file));
}

static int try_path(struct module *m, const char *path, enum reached reached)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct elf_file *file;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EBADF;
	}
	TRY(elf_file_open(&file, fd, NULL));
	if (!is_it(m, file, &st, reached)) {
		elf_file_close(file);
		return -ESTALE;
	}
	accept_file(m, file, &st);
	return 0;
}

/* Our own: the kernel gives all processes the same. */
static int open_vdso(struct module *m)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	struct stat st = { 0 };
	struct elf_file *file;
	size_t size;

	if (!image)
		return -ENOENT;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	TRY(elf_file_open_memory(&file, image, size, NULL));
	st.st_size = (off_t)size;
	accept_file(m, file, &st);
	return 0;
}

int module_open(struct module *m)
{
	char path[PATH_SIZE];
	int r = -ENOENT, last;

	if (m->kind == MODULE_VDSO)
		return open_vdso(m);
	if (m->path[0] != '/')
		return -ENOENT;
	if (m->pid) {
		snprintf(path, sizeof(path), "/proc/%u/root%s", m->pid, m->path);
		r = try_path(m, path, BY_PATH);
		if (r == 0)
			return 0;
	}
	last = try_path(m, m->path, BY_NAME);
	if (last == 0)
		return 0;
	if (r == -ENOENT)
		r = last;
	if (!m->pid)
		return r;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", m->pid, (unsigned long long)m->mapped_start,
		 (unsigned long long)m->mapped_end);
	if (try_path(m, path, BY_MAPPING) == 0)
		return 0;
	/* The program itself can be opened without privileges even when its file is gone. */
	snprintf(path, sizeof(path), "/proc/%u/exe", m->pid);
	return try_path(m, path, BY_PROCESS) == 0 ? 0 : r;
}
