/* What changing import tables rests on: how pages are protected, what slots held, and functions by name and version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/core/elf_object.h"
#include "agent/core/attach/maps.h"
#include "agent/core/attach/slots.h"
#include "agent/core/wrappers.h"

#define PAGE 4096u

const struct agent_part *const agent_parts[] = { NULL };
const unsigned agent_part_count = 0;

static void protections(void **state)
{
	uint8_t *pages = mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t at = (uintptr_t)pages;
	struct agent_maps maps;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(mprotect(pages + 4 * PAGE, PAGE, PROT_READ | PROT_EXEC), 0);
	assert_int_equal(munmap(pages + 6 * PAGE, PAGE), 0);
	assert_int_equal(agent_maps_read(&maps), 0);
	assert_int_equal(agent_maps_protection(&maps, at, at + 2 * PAGE), PROT_READ);
	assert_int_equal(agent_maps_protection(&maps, at + PAGE, at + PAGE + 1), PROT_READ);
	assert_int_equal(agent_maps_protection(&maps, at + 2 * PAGE, at + 3 * PAGE), PROT_READ | PROT_WRITE);
	assert_int_equal(agent_maps_protection(&maps, at + 4 * PAGE, at + 5 * PAGE), PROT_READ | PROT_EXEC);
	assert_int_equal(agent_maps_protection(&maps, at, at + 3 * PAGE), -EINVAL);
	assert_int_equal(agent_maps_protection(&maps, at + 6 * PAGE, at + 7 * PAGE), -ENOENT);
	assert_int_equal(agent_maps_protection(&maps, at + 5 * PAGE, at + 7 * PAGE), -ENOENT);
	assert_int_equal(agent_maps_protection(&maps, 0, PAGE), -ENOENT);
	agent_maps_free(&maps);
	munmap(pages, 8 * PAGE);
}

static void hostile_maps(void **state)
{
	/* clang-format off */
	static const char *const texts[] = { "", "\n", "zz", "1000", "1000-", "1000-2000", "1000-2000 ", "1000-2000 r",
					     "1000-2000 r--p", "-\n-\n-" };
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t size = strlen(texts[i]);
		char *exact = malloc(size + 1); /* reads behind the text are seen */
		struct agent_maps maps = { .text = exact, .size = size };

		memcpy(exact, texts[i], size);
		assert_true(agent_maps_protection(&maps, 0x1000, 0x2000) <= PROT_READ);
		assert_true(agent_maps_protection(&maps, 0x5000, 0x6000) < 0);
		free(exact);
	}
}

static void contents_of_slots(void **state)
{
	enum { COUNT = 20000 };
	_Atomic(void *) *slots = calloc(COUNT, sizeof(*slots));
	void *old;

	(void)state;
	assert_int_equal(agent_slots_find(&slots[0], &old), 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(agent_slots_keep(&slots[i], (void *)(i + 1)), 1);
	assert_int_equal(agent_slots_keep(&slots[7], (void *)700), 1);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(agent_slots_find(&slots[i], &old), 1);
		assert_ptr_equal(old, (void *)(i == 7 ? 700 : i + 1));
	}
	assert_int_equal(agent_slots_find((_Atomic(void *) *)&old, &old), 0);
	free(slots);
}

static int find_c_library(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	return agent_object_is_c_library(info->dlpi_name) && strstr(info->dlpi_name, "libc.so") && agent_object_read(info, context);
}

static void functions_by_version(void **state)
{
	struct agent_object library;

	(void)state;
	assert_int_equal(dl_iterate_phdr(find_c_library, &library), 1);
	assert_ptr_equal(agent_object_find(&library, "getpid", NULL), dlsym(RTLD_DEFAULT, "getpid"));
	assert_null(agent_object_find(&library, "no_such_function", NULL));
	assert_non_null(dlvsym(RTLD_DEFAULT, "realpath", "GLIBC_2.3"));
	assert_ptr_equal(agent_object_find(&library, "realpath", "GLIBC_2.3"), dlvsym(RTLD_DEFAULT, "realpath", "GLIBC_2.3"));
	assert_ptr_equal(agent_object_find(&library, "realpath", "GLIBC_2.2.5"), dlvsym(RTLD_DEFAULT, "realpath", "GLIBC_2.2.5"));
	assert_ptr_equal(agent_object_find(&library, "realpath", NULL), dlvsym(RTLD_DEFAULT, "realpath", "GLIBC_2.3"));
	assert_ptr_not_equal(agent_object_find(&library, "realpath", "GLIBC_2.2.5"), agent_object_find(&library, "realpath", NULL));
}

static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	agent_object_read(info, context);
	return 1;
}

/* The version a program wants is the one it was linked with. Of a function that no sanitizer has another one of. */
static void versions_wanted(void **state)
{
	struct agent_object program;
	const char *version = NULL;

	(void)state;
	assert_true(getppid() > 0);
	dl_iterate_phdr(find_program, &program);
	for (uint32_t i = 1; i < (program.gnu_hash ? program.gnu_hash[1] : program.hash[1]); i++)
		if (strcmp(program.strings + program.symbols[i].st_name, "getppid") == 0)
			version = agent_object_version(&program, i);
	assert_non_null(version);
	assert_string_equal(version, "GLIBC_2.2.5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(protections),          cmocka_unit_test(hostile_maps),    cmocka_unit_test(contents_of_slots),
		cmocka_unit_test(functions_by_version), cmocka_unit_test(versions_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
