#include "base/system/elf_peek.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "base/text/path.h"

#define MAX_SCRIPT_DEPTH 5
#define MAX_SEGMENTS 64
#define MAX_DYNAMIC 1024

/* Raw calls: libc's own may be wrapped by the very library we are part of. */
static long read_at(int fd, void *to, size_t size, uint64_t offset)
{
	long n = syscall(SYS_pread64, fd, to, size, (off_t)offset);

	return n < 0 ? 0 : n;
}

static int starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* As the kernel decides about AT_SECURE. */
static int is_privileged(int fd)
{
	struct stat st;
	char capability[64];
	uid_t uid = (uid_t)syscall(SYS_getuid);
	gid_t gid = (gid_t)syscall(SYS_getgid);

	if (syscall(SYS_fstat, fd, &st) < 0)
		return 0;
	if ((st.st_mode & S_ISUID) && st.st_uid != uid)
		return 1;
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != gid)
		return 1;
	return uid != 0 && syscall(SYS_fgetxattr, fd, "security.capability", capability, sizeof(capability)) > 0;
}

struct image {
	int fd;
	Elf64_Ehdr header;
	uint64_t dynamic_offset;
	uint64_t dynamic_count;
	uint64_t strings; /* file offset of the dynamic string table */
	uint64_t soname;  /* index in it + 1 */
};

static int read_segment(const struct image *image, unsigned i, Elf64_Phdr *ret)
{
	uint64_t offset = image->header.e_phoff + (uint64_t)i * sizeof(*ret);

	return read_at(image->fd, ret, sizeof(*ret), offset) == (long)sizeof(*ret);
}

static unsigned segment_count(const struct image *image)
{
	unsigned n = image->header.e_phnum;

	if (image->header.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	return n < MAX_SEGMENTS ? n : MAX_SEGMENTS;
}

static uint64_t file_offset(const struct image *image, uint64_t address)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < segment_count(image); i++) {
		if (!read_segment(image, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	}
	return 0;
}

static void find_strings(struct image *image)
{
	Elf64_Dyn entry;

	for (uint64_t i = 0; i < image->dynamic_count; i++) {
		if (read_at(image->fd, &entry, sizeof(entry), image->dynamic_offset + i * sizeof(entry)) != (long)sizeof(entry) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			image->strings = file_offset(image, entry.d_un.d_ptr);
		if (entry.d_tag == DT_SONAME)
			image->soname = entry.d_un.d_val + 1;
	}
}

static int string_starts_with(const struct image *image, uint64_t index, const char *prefix)
{
	char text[32] = "";

	if (!image->strings || read_at(image->fd, text, sizeof(text) - 1, image->strings + index) <= 0)
		return 0;
	return starts_with(text, prefix);
}

static int needs_asan(const struct image *image)
{
	Elf64_Dyn entry;

	for (uint64_t i = 0; image->strings && i < image->dynamic_count; i++) {
		if (read_at(image->fd, &entry, sizeof(entry), image->dynamic_offset + i * sizeof(entry)) != (long)sizeof(entry) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_NEEDED && (string_starts_with(image, entry.d_un.d_val, "libasan.so") ||
						 string_starts_with(image, entry.d_un.d_val, "libclang_rt.asan")))
			return 1;
	}
	return 0;
}

static enum elf_peek_kind peek_interpreter(const struct image *image, const Elf64_Phdr *segment)
{
	char name[256] = "";
	size_t size = segment->p_filesz < sizeof(name) - 1 ? segment->p_filesz : sizeof(name) - 1;

	if (read_at(image->fd, name, size, segment->p_offset) <= 0)
		return ELF_PEEK_FOREIGN;
	if (starts_with(path_name(name), "ld-musl") || starts_with(path_name(name), "linker64"))
		return ELF_PEEK_OTHER_LIBC;
	return ELF_PEEK_OK;
}

static enum elf_peek_kind peek_elf64(struct image *image)
{
	enum elf_peek_kind kind = ELF_PEEK_STATIC;
	Elf64_Phdr segment;

	for (unsigned i = 0; i < segment_count(image); i++) {
		if (!read_segment(image, i, &segment))
			return ELF_PEEK_FOREIGN;
		if (segment.p_type == PT_INTERP)
			kind = peek_interpreter(image, &segment);
		if (segment.p_type == PT_DYNAMIC) {
			image->dynamic_offset = segment.p_offset;
			image->dynamic_count = segment.p_filesz / sizeof(Elf64_Dyn);
			if (image->dynamic_count > MAX_DYNAMIC)
				image->dynamic_count = MAX_DYNAMIC;
		}
	}
	find_strings(image);
	/* The dynamic linker itself, run as a program, preloads all the same. */
	if (kind == ELF_PEEK_STATIC && image->soname && string_starts_with(image, image->soname - 1, "ld-linux"))
		return ELF_PEEK_OK;
	if (kind == ELF_PEEK_OK && needs_asan(image))
		return ELF_PEEK_ASAN;
	return kind;
}

/* "#! interpreter [argument]": cuts the interpreter's path out of the line. */
static char *script_interpreter(char *line)
{
	char *start = line + 2;
	char *end;

	start += strspn(start, " \t");
	end = start + strcspn(start, " \t\n");
	*end = '\0';
	return *start ? start : NULL;
}

static enum elf_peek_kind peek_fd(int fd, char *line, size_t size, char **ret_script)
{
	struct image image = { .fd = fd };
	long n = read_at(fd, line, size - 1, 0);

	line[n] = '\0';
	if (n == 0)
		return ELF_PEEK_UNREADABLE;
	if (line[0] == '#' && line[1] == '!') {
		*ret_script = script_interpreter(line);
		return ELF_PEEK_FOREIGN;
	}
	if (n < EI_NIDENT || memcmp(line, ELFMAG, SELFMAG) != 0)
		return ELF_PEEK_FOREIGN;
	if (is_privileged(fd))
		return ELF_PEEK_PRIVILEGED;
	if (line[EI_CLASS] != ELFCLASS64)
		return ELF_PEEK_32BIT;
	if (n < (long)sizeof(image.header))
		return ELF_PEEK_FOREIGN;
	memcpy(&image.header, line, sizeof(image.header));
	if (image.header.e_machine != ARCH_ELF_MACHINE)
		return ELF_PEEK_MACHINE;
	return peek_elf64(&image);
}

enum elf_peek_kind elf_peek_path(const char *path)
{
	enum elf_peek_kind kind = ELF_PEEK_FOREIGN;
	char lines[2][256]; /* the path may lie in the line read before */
	char *script;
	int saved_errno = errno;
	int fd;

	for (int depth = 0; path && depth < MAX_SCRIPT_DEPTH; depth++) {
		script = NULL;
		fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0) {
			kind = ELF_PEEK_UNREADABLE;
			break;
		}
		kind = peek_fd(fd, lines[depth & 1], sizeof(lines[0]), &script);
		syscall(SYS_close, fd);
		path = script;
	}
	errno = saved_errno;
	return kind;
}

const char *elf_peek_reason(enum elf_peek_kind kind)
{
	switch (kind) {
	case ELF_PEEK_OK: return "can be traced";
	case ELF_PEEK_UNREADABLE: return "cannot be read";
	case ELF_PEEK_FOREIGN: return "is not an ELF program";
	case ELF_PEEK_STATIC: return "is statically linked";
	case ELF_PEEK_32BIT: return "is a 32-bit program";
	case ELF_PEEK_MACHINE: return "is made for another CPU";
	case ELF_PEEK_OTHER_LIBC: return "is linked with a C library other than glibc";
	case ELF_PEEK_ASAN: return "is built with AddressSanitizer, which refuses preloaded libraries";
	case ELF_PEEK_SMALL_STACK: return "has a limit on its stack ('ulimit -s') that leaves no room for the agent";
	case ELF_PEEK_PRIVILEGED: return "runs with raised privileges (setuid, setgid or capabilities)";
	default: return "is of an unknown kind";
	}
}

int elf_peek_preloadable(enum elf_peek_kind kind)
{
	/* What cannot be read may well be traceable; static and privileged programs ignore
	 * the variable by themselves, and may start others that do not. */
	return !(kind == ELF_PEEK_SMALL_STACK || kind == ELF_PEEK_32BIT || kind == ELF_PEEK_MACHINE || kind == ELF_PEEK_OTHER_LIBC ||
		 kind == ELF_PEEK_ASAN);
}

int elf_peek_loadable(enum elf_peek_kind kind)
{
	return elf_peek_preloadable(kind) || kind == ELF_PEEK_ASAN;
}
