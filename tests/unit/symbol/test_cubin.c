/* Code for GPUs: functions and lines of a cubin that nvcc makes here, and of damaged copies of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/cubin.h"

static uint8_t image[1 << 20];
static size_t size;

/* As many compilers as there may be; none is no failure. */
static int make_cubin(void **state)
{
	char path[] = "/tmp/sonde-test-cubin-XXXXXX", command[1024];
	FILE *file;
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/local/cuda/bin nvcc -cubin -arch=sm_90 -lineinfo '%s/counted.cu' -o '%s' >/dev/null 2>&1", CUDA_PROGRAMS, path);
	if (system(command) == 0 && (file = fopen(path, "rb"))) {
		size = fread(image, 1, sizeof(image), file);
		fclose(file);
	}
	unlink(path);
	return 0;
}

/* The line of a file that has this text. */
static uint32_t line_with(const char *text)
{
	FILE *file = fopen(CUDA_PROGRAMS "/counted.cu", "r");
	char line[512];
	uint32_t number = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (strstr(line, text))
			break;
	}
	fclose(file);
	return number;
}

static int has_line(const struct cubin *c, const struct cubin_function *f, uint32_t line)
{
	struct cubin_place place;
	int found = 0;

	for (uint64_t pc = 0; pc < f->size; pc += cubin_step(c))
		if (cubin_line(c, f, pc, &place) && place.line == line) {
			assert_non_null(strstr(place.file, "counted.cu"));
			found++;
		}
	return found;
}

static void functions_and_lines(void **state)
{
	const struct cubin_function *add, *twice;
	struct cubin_place place;
	struct cubin *c;
	struct error err;
	size_t count;

	(void)state;
	if (!size)
		skip();
	assert_int_equal(cubin_open(&c, image, size, &err), 0);
	assert_true(cubin_has_lines(c));
	cubin_functions(c, &count);
	assert_int_equal(count, 3);
	add = cubin_find(c, "_Z3addIiEvPT_");
	twice = cubin_find(c, "_ZN5outer5twiceEPi");
	assert_non_null(add);
	assert_non_null(twice);
	assert_non_null(cubin_find(c, "plain_kernel"));
	assert_null(cubin_find(c, "plain_kerne"));
	assert_null(cubin_find(c, ""));
	/* All begin at address 0 of a section of their own: lines must not be mixed up. */
	assert_true(has_line(c, add, line_with("line 5")) > 0);
	assert_int_equal(has_line(c, add, line_with("line 12")), 0);
	assert_true(has_line(c, twice, line_with("line 12")) > 0);
	assert_int_equal(has_line(c, twice, line_with("line 5")), 0);
	/* Beyond its end. */
	assert_false(cubin_line(c, add, add->size + 4096, &place));
	cubin_close(c);
}

static void what_is_none(void **state)
{
	static const char text[] = "not an ELF file at all";
	uint8_t other[64] = "\177ELF\2\1\1";
	struct cubin *c;
	struct error err;

	(void)state;
	assert_true(cubin_open(&c, text, sizeof(text), &err) < 0);
	assert_null(c);
	assert_true(cubin_open(&c, "", 0, &err) < 0);
	assert_true(cubin_open(&c, other, sizeof(other), &err) < 0);
	/* Our own program is ELF, and no cubin. */
	FILE *self = fopen("/proc/self/exe", "rb");
	assert_non_null(self);
	uint8_t *bytes = malloc(1 << 16);
	size_t got = fread(bytes, 1, 1 << 16, self);
	fclose(self);
	assert_true(cubin_open(&c, bytes, got, &err) < 0);
	free(bytes);
}

static void ask_everything(const uint8_t *bytes, size_t length)
{
	const struct cubin_function *all;
	struct cubin_place place;
	struct cubin *c;
	struct error err;
	size_t count;

	if (cubin_open(&c, bytes, length, &err) < 0)
		return;
	all = cubin_functions(c, &count);
	for (size_t i = 0; i < count && i < 16; i++) {
		assert_non_null(cubin_find(c, all[i].name));
		for (uint64_t pc = 0; pc < all[i].size && pc < 4096; pc += 16)
			if (cubin_line(c, &all[i], pc, &place))
				assert_non_null(place.file);
	}
	cubin_close(c);
}

/* Cut short anywhere, and with any byte changed: no crash, no endless loop. */
static void damaged(void **state)
{
	uint8_t *copy = malloc(sizeof(image));

	(void)state;
	assert_non_null(copy);
	if (!size) {
		free(copy);
		skip();
	}
	for (size_t cut = 0; cut < size; cut += 97) {
		memcpy(copy, image, cut);
		ask_everything(copy, cut);
	}
	for (size_t at = 0; at < size; at += 31) {
		memcpy(copy, image, size);
		copy[at] ^= 0xff;
		ask_everything(copy, size);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_lines),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, make_cubin, NULL);
}
