/* Symbols read from memory: compared with what the dynamic linker says; and damaged images, which must be survived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "inject/dynsym.h"
#include "inject/image.h"

static int own_image(void **state)
{
	static struct image image;

	assert_int_equal(image_open(&image, getpid(), NULL), 0);
	*state = &image;
	return 0;
}

static int close_image(void **state)
{
	image_close(*state);
	return 0;
}

static void libc_symbols(void **state)
{
	static const char *const names[] = { "getpid", "mprotect", "munmap", "qsort", "dlopen", "pthread_create" };
	struct image *image = *state;
	struct image_object *libc = image_object_of(image, OBJECT_LIBC);
	void *handle = dlopen("libc.so.6", RTLD_NOW);
	struct dynsym d;
	uint64_t found;

	assert_non_null(libc);
	assert_non_null(handle);
	assert_int_equal(dynsym_open(&d, image, libc->base), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *want = dlsym(handle, names[i]);

		if (!want)
			continue;
		assert_int_equal(dynsym_find(&d, names[i], &found), 0);
		assert_int_equal(found, (uint64_t)(uintptr_t)want);
	}
	assert_int_equal(dynsym_find(&d, "no_such_function_at_all", &found), -ENOENT);
	assert_int_equal(dynsym_find(&d, "", &found), -ENOENT);
	dlclose(handle);
}

struct seen {
	int count, found, unsorted;
	uint64_t wanted;
};

static void see(void *context, const char *name, uint64_t start, uint64_t size)
{
	struct seen *seen = context;

	seen->count++;
	seen->found |= strcmp(name, "getpid") == 0 && start == seen->wanted && size > 0 && size < 4096;
}

static void all_symbols(void **state)
{
	struct image *image = *state;
	void *handle = dlopen("libc.so.6", RTLD_NOW);
	struct seen seen = { .wanted = (uint64_t)(uintptr_t)dlsym(handle, "getpid") };
	struct dynsym d;

	assert_int_equal(dynsym_open(&d, image, image_object_of(image, OBJECT_LIBC)->base), 0);
	assert_int_equal(dynsym_each(&d, see, &seen), 0);
	assert_true(seen.found);
	assert_true(seen.count > 1000);
	dlclose(handle);
}

static void roles(void **state)
{
	struct image *image = *state;
	struct image_object *object = image_object_at(image, (uint64_t)(uintptr_t)getauxval(AT_BASE));

	assert_non_null(object);
	assert_int_equal(object->role, OBJECT_LINKER);
	object = image_object_at(image, (uint64_t)(uintptr_t)roles);
	assert_non_null(object);
	assert_true(object->program);
	assert_null(image_object_at(image, 4096));
	/* Two looks without a change between them: only what malloc() did may differ. */
	assert_true(image_refresh(image, NULL) >= 0);
	assert_non_null(image_object_of(image, OBJECT_LIBC));
}

static void unreadable(void **state)
{
	struct image *image = *state;
	struct dynsym d;
	char text[8];

	assert_int_equal(image_read(image, 16, text, 8), -EFAULT);
	image_read_text(image, 16, text, sizeof(text));
	assert_string_equal(text, "");
	image_read_text(image, (uint64_t)(uintptr_t) "abcdefghijk", text, sizeof(text));
	assert_string_equal(text, "abcdefg");
	assert_int_equal(dynsym_open(&d, image, 0), -ENOENT);
	assert_int_equal(dynsym_open(&d, image, 4096), -ENOENT);
	assert_int_equal(
		dynsym_open(&d, image, (uint64_t)(uintptr_t) "no header, but long enough to be one, if it is read to its end ......."),
		-ENOENT);
}

/* The kernel's own library is small and whole: a copy of it is as good as a loaded one. */
static void damaged(void **state)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
	struct image *image = *state;
	struct dynsym d;
	struct seen seen;
	uint64_t found;
	size_t size;
	uint8_t *copy;

	if (!vdso) {
		skip();
		return;
	}
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, vdso, size);
	assert_int_equal(dynsym_open(&d, image, (uint64_t)(uintptr_t)copy), 0);
	assert_int_equal(dynsym_find(&d, "__vdso_clock_gettime", &found), 0);
	assert_true(found > (uint64_t)(uintptr_t)copy && found < (uint64_t)(uintptr_t)copy + size);
	srandom(1);
	for (int i = 0; i < 4000; i++) {
		memcpy(copy, vdso, size);
		for (int j = 0; j < 4; j++)
			copy[(size_t)random() % (random() % 2 ? 1200 : size)] = (uint8_t)(random() % 3 ? random() : 0xff);
		if (dynsym_open(&d, image, (uint64_t)(uintptr_t)copy) == 0) {
			seen = (struct seen){ 0 };
			dynsym_find(&d, "__vdso_clock_gettime", &found);
			dynsym_each(&d, see, &seen);
			assert_true(seen.count < 1 << 20);
		}
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(libc_symbols, own_image, close_image),
		cmocka_unit_test_setup_teardown(all_symbols, own_image, close_image),
		cmocka_unit_test_setup_teardown(roles, own_image, close_image),
		cmocka_unit_test_setup_teardown(unreadable, own_image, close_image),
		cmocka_unit_test_setup_teardown(damaged, own_image, close_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
