/* Which programs can carry the agent, told from files made here or found everywhere. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/elf_peek.h"

#define FILE_NAME "elf-peek-test-file"

/* A tiny ELF file: an interpreter, a dynamic section with one needed library. */
struct tiny {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3];
	char interpreter[64];
	Elf64_Dyn dynamic[4];
	char strings[64];
};

static void write_file(const void *data, size_t size)
{
	int fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static struct tiny make_tiny(const char *interpreter, const char *needed)
{
	struct tiny t = { 0 };

	memcpy(t.header.e_ident, ELFMAG, SELFMAG);
	t.header.e_ident[EI_CLASS] = ELFCLASS64;
	t.header.e_type = ET_DYN;
#ifdef __x86_64__
	t.header.e_machine = EM_X86_64;
#else
	t.header.e_machine = EM_AARCH64;
#endif
	t.header.e_phoff = offsetof(struct tiny, segments);
	t.header.e_phentsize = sizeof(Elf64_Phdr);
	t.header.e_phnum = interpreter ? 3 : 1;
	t.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = sizeof(t), .p_vaddr = 0x1000 };
	t.segments[1] = (Elf64_Phdr){ .p_type = PT_INTERP,
				      .p_offset = offsetof(struct tiny, interpreter),
				      .p_filesz = sizeof(t.interpreter) };
	t.segments[2] = (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_offset = offsetof(struct tiny, dynamic), .p_filesz = sizeof(t.dynamic) };
	t.dynamic[0] = (Elf64_Dyn){ .d_tag = DT_NEEDED, .d_un.d_val = 1 };
	t.dynamic[1] = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = 0x1000 + offsetof(struct tiny, strings) };
	if (interpreter)
		strcpy(t.interpreter, interpreter);
	strcpy(t.strings + 1, needed);
	return t;
}

static void expect(const char *interpreter, const char *needed, enum elf_peek_kind kind)
{
	struct tiny t = make_tiny(interpreter, needed);

	write_file(&t, sizeof(t));
	assert_int_equal(elf_peek_path(FILE_NAME), kind);
}

static void linked_in_several_ways(void **state)
{
	expect("/lib64/ld-linux-x86-64.so.2", "libc.so.6", ELF_PEEK_OK);
	expect("/nix/store/x/lib/ld-linux-x86-64.so.2", "libc.so.6", ELF_PEEK_OK);
	expect("/lib/ld-musl-x86_64.so.1", "libc.so", ELF_PEEK_OTHER_LIBC);
	expect("/system/bin/linker64", "libc.so", ELF_PEEK_OTHER_LIBC);
	expect("/lib64/ld-linux-x86-64.so.2", "libasan.so.8", ELF_PEEK_ASAN);
	expect("/lib64/ld-linux-x86-64.so.2", "libclang_rt.asan-x86_64.so", ELF_PEEK_ASAN);
	expect("/lib64/ld-linux-x86-64.so.2", "libasanother.so", ELF_PEEK_OK);
	expect(NULL, "", ELF_PEEK_STATIC);
}

static void other_machines(void **state)
{
	struct tiny t = make_tiny("/lib64/ld-linux-x86-64.so.2", "libc.so.6");

	t.header.e_machine = EM_RISCV;
	write_file(&t, sizeof(t));
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_MACHINE);
	t.header.e_ident[EI_CLASS] = ELFCLASS32;
	write_file(&t, sizeof(t));
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_32BIT);
}

static void scripts_are_followed(void **state)
{
	write_file("#!/bin/sh\necho\n", 15);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_OK);
	write_file("#! /bin/sh -e\n", 14);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_OK);
	write_file("#!/no/such/interpreter\n", 23);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_UNREADABLE);
	write_file("#!" FILE_NAME "\n", sizeof("#!" FILE_NAME "\n") - 1); /* itself, for ever */
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_FOREIGN);
	write_file("#!\n", 3);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_FOREIGN);
	write_file("echo\n", 5);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_FOREIGN);
}

static void raised_privileges(void **state)
{
	struct tiny t = make_tiny("/lib64/ld-linux-x86-64.so.2", "libc.so.6");

	if (getuid() != 0)
		skip();
	write_file(&t, sizeof(t));
	assert_int_equal(chown(FILE_NAME, 65534, 65534), 0);
	assert_int_equal(chmod(FILE_NAME, 04755), 0);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_PRIVILEGED);
	/* Setuid to who we are already raises nothing. */
	assert_int_equal(chown(FILE_NAME, 0, 0), 0);
	assert_int_equal(chmod(FILE_NAME, 04755), 0);
	assert_int_equal(elf_peek_path(FILE_NAME), ELF_PEEK_OK);
	unlink(FILE_NAME);
}

/* Every truncation, and every byte set to 255: an answer, never a crash. */
static void damaged_files(void **state)
{
	struct tiny t = make_tiny("/lib64/ld-linux-x86-64.so.2", "libasan.so.8"), damaged;

	for (size_t size = 0; size < sizeof(t); size += 7) {
		write_file(&t, size);
		assert_true(elf_peek_path(FILE_NAME) < ELF_PEEK_KIND_COUNT);
	}
	for (size_t i = 0; i < sizeof(t); i += 3) {
		damaged = t;
		((uint8_t *)&damaged)[i] = 255;
		write_file(&damaged, sizeof(damaged));
		assert_true(elf_peek_path(FILE_NAME) < ELF_PEEK_KIND_COUNT);
	}
}

static void errno_and_reasons(void **state)
{
	errno = 77;
	assert_int_equal(elf_peek_path("/no/such/file"), ELF_PEEK_UNREADABLE);
	assert_int_equal(errno, 77);
	for (int kind = 0; kind < ELF_PEEK_KIND_COUNT; kind++)
		assert_non_null(elf_peek_reason((enum elf_peek_kind)kind));
	assert_true(elf_peek_preloadable(ELF_PEEK_OK));
	assert_false(elf_peek_preloadable(ELF_PEEK_ASAN));
	assert_true(elf_peek_preloadable(ELF_PEEK_STATIC)); /* its children may be dynamic */
	assert_true(elf_peek_loadable(ELF_PEEK_ASAN));
	assert_false(elf_peek_loadable(ELF_PEEK_OTHER_LIBC));
	unlink(FILE_NAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linked_in_several_ways), cmocka_unit_test(other_machines), cmocka_unit_test(scripts_are_followed),
		cmocka_unit_test(raised_privileges),      cmocka_unit_test(damaged_files),  cmocka_unit_test(errno_and_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
