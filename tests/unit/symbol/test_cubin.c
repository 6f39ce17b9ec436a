/* Code for GPUs: functions and lines of a cubin that nvcc makes here, and of damaged copies of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/cubin.h"

#define MOST 8

struct code {
	uint8_t image[1 << 20];
	size_t size; /* 0: there is no compiler */
};
static struct code plain, inlined, linked;

static void read_code(struct code *ret, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (file) {
		ret->size = fread(ret->image, 1, sizeof(ret->image), file);
		fclose(file);
	}
}

/* No compiler is no failure. */
static int make_cubins(void **state)
{
	static const char script[] =
		"cd '%s' && PATH=$PATH:/usr/local/cuda/bin && "
		"{ nvcc -cubin -arch=sm_90 -lineinfo '%s/counted.cu' -o plain.cubin & "
		"nvcc -cubin -arch=sm_90 -lineinfo '%s/inlined.cu' -o inlined.cubin & "
		"nvcc -cubin -arch=sm_90 -lineinfo -rdc=true '%s/counted.cu' -o one.cubin & "
		"nvcc -cubin -arch=sm_90 -lineinfo -rdc=true -Dadd=sum -Dplain_kernel=simple '%s/inlined.cu' -o two.cubin & wait; "
		"nvlink -arch=sm_90 one.cubin two.cubin -o linked.cubin; } >/dev/null 2>&1";
	char folder[] = "/tmp/sonde-test-cubin-XXXXXX", command[4096];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(command, sizeof(command), script, folder, CUDA_PROGRAMS, CUDA_PROGRAMS, CUDA_PROGRAMS, CUDA_PROGRAMS);
	if (system(command) == 0) {
		struct code *const all[] = { &plain, &inlined, &linked };
		static const char *const names[] = { "plain.cubin", "inlined.cubin", "linked.cubin" };

		for (size_t i = 0; i < 3; i++) {
			snprintf(command, sizeof(command), "%s/%s", folder, names[i]);
			read_code(all[i], command);
		}
	}
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

/* The line of a file that has this text. */
static uint32_t line_with(const char *name, const char *text)
{
	char line[512];
	uint32_t number = 0;
	FILE *file;

	snprintf(line, sizeof(line), "%s/%s", CUDA_PROGRAMS, name);
	file = fopen(line, "r");
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
		if (cubin_places(c, f, pc, &place, 1) && place.line == line) {
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
	if (!plain.size)
		skip();
	assert_int_equal(cubin_open(&c, plain.image, plain.size, &err), 0);
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
	assert_true(has_line(c, add, line_with("counted.cu", "line 5")) > 0);
	assert_int_equal(has_line(c, add, line_with("counted.cu", "line 12")), 0);
	assert_true(has_line(c, twice, line_with("counted.cu", "line 12")) > 0);
	assert_int_equal(has_line(c, twice, line_with("counted.cu", "line 5")), 0);
	/* Beyond its end. */
	assert_int_equal(cubin_places(c, add, add->size + 4096, &place, 1), 0);
	cubin_close(c);
}

static struct cubin *opened(const struct code *code)
{
	struct cubin *c;
	struct error err;

	if (!code->size)
		skip();
	assert_int_equal(cubin_open(&c, code->image, code->size, &err), 0);
	return c;
}

/* An instruction of deep() in the kernel add: called by middle(), which the kernel calls. Which of the four ways it was. */
static unsigned way_to_deep(const struct cubin_place *at, size_t count, bool named)
{
	static const char *const calls[] = { "// first call", "// second call" }, *const outer[] = { "// outermost",
												     "// outermost, again" };
	unsigned way = 0;

	assert_int_equal(count, 3);
	if (named) {
		assert_string_equal(at[0].function, "_Z4deepPii");
		assert_string_equal(at[1].function, "_Z6middlePii");
	} else {
		assert_null(at[0].function);
		assert_null(at[1].function);
	}
	assert_null(at[2].function);
	for (size_t i = 0; i < count; i++)
		assert_non_null(strstr(at[i].file, "inlined.cu"));
	for (unsigned i = 0; i < 4; i++)
		if (at[1].line == line_with("inlined.cu", calls[i % 2]) && at[2].line == line_with("inlined.cu", outer[i / 2]))
			way |= 1u << i;
	assert_int_not_equal(way, 0);
	return way;
}

static unsigned ways_to_deep(const struct cubin *c, const char *function, bool named)
{
	const struct cubin_function *f = cubin_find(c, function);
	struct cubin_place at[MOST];
	unsigned ways = 0;

	assert_non_null(f);
	for (uint64_t pc = 0; pc < f->size; pc += cubin_step(c)) {
		size_t count = cubin_places(c, f, pc, at, MOST);

		assert_true(count > 0);
		/* The chain ends in the kernel itself, and can be cut short. */
		assert_true(at[count - 1].line >= line_with("inlined.cu", "__global__"));
		if (at[0].line == line_with("inlined.cu", "// written"))
			ways |= way_to_deep(at, count, named);
		assert_int_equal(cubin_places(c, f, pc, at, 1), 1);
	}
	return ways;
}

static void inlined_calls(void **state)
{
	struct cubin *c = opened(&inlined);
	const struct cubin_function *f = cubin_find(c, "plain_kernel");
	struct cubin_place at[MOST];
	unsigned found = 0;

	(void)state;
	assert_int_equal(ways_to_deep(c, "_Z3addIiEvPT_", true), 15);
	assert_non_null(f);
	for (uint64_t pc = 0; pc < f->size; pc += cubin_step(c)) {
		if (cubin_places(c, f, pc, at, MOST) < 2)
			continue;
		found++;
		assert_string_equal(at[0].function, "_Z4deepPii");
		assert_int_equal(at[1].line, line_with("inlined.cu", "// plain"));
	}
	assert_true(found > 0);
	cubin_close(c);
}

/* A linker leaves offsets of names as they were: none is better than a wrong one. */
static void linked_code(void **state)
{
	struct cubin *c = opened(&linked);

	(void)state;
	assert_int_equal(ways_to_deep(c, "_Z3sumIiEvPT_", false), 15);
	cubin_close(c);
}

/* Whether an instruction of a function leads to a line of PTX with this text. */
static int leads_to_ptx(const struct cubin *c, const char *function, const char *text)
{
	const struct cubin_function *f = cubin_find(c, function);
	struct cubin_place at;
	int found = 0;

	assert_non_null(f);
	for (uint64_t pc = 0; pc < f->size; pc += cubin_step(c)) {
		const char *ptx = NULL, *end;
		size_t size = 0;

		assert_true(cubin_ptx_place(c, f, pc, &at));
		ptx = cubin_ptx_text(c, at.file, &size);
		assert_non_null(ptx);
		end = ptx + size;
		for (uint32_t line = 1; ptx < end && line < at.line; ptx++)
			line += !*ptx;
		assert_true(ptx < end);
		found += strncmp(ptx, text, strlen(text)) == 0;
	}
	return found;
}

static void ptx(void **state)
{
	struct cubin *c = opened(&inlined);
	size_t size;

	(void)state;
	assert_true(leads_to_ptx(c, "_Z3addIiEvPT_", "st.global") > 0);
	assert_true(leads_to_ptx(c, "plain_kernel", "ld.global") > 0);
	assert_int_equal(leads_to_ptx(c, "plain_kernel", "st.shared"), 0);
	assert_null(cubin_ptx_text(c, ".strtab", &size));
	assert_null(cubin_ptx_text(c, ".nv_debug_ptx_txt.1", &size));
	cubin_close(c);
	/* Each part has a text of its own. */
	c = opened(&linked);
	assert_true(leads_to_ptx(c, "_Z3addIiEvPT_", "st.global") > 0);
	assert_true(leads_to_ptx(c, "_Z3sumIiEvPT_", "st.global") > 0);
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
	struct cubin_place at[MOST];
	struct cubin *c;
	struct error err;
	size_t count, size;

	if (cubin_open(&c, bytes, length, &err) < 0)
		return;
	all = cubin_functions(c, &count);
	for (size_t i = 0; i < count && i < 16; i++) {
		assert_non_null(cubin_find(c, all[i].name));
		for (uint64_t pc = 0; pc < all[i].size && pc < 4096; pc += 16) {
			size_t places = cubin_places(c, &all[i], pc, at, MOST);

			for (size_t k = 0; k < places; k++)
				assert_non_null(at[k].file);
			if (cubin_ptx_place(c, &all[i], pc, &at[0]))
				cubin_ptx_text(c, at[0].file, &size);
		}
	}
	cubin_close(c);
}

/* Cut short anywhere, and with any byte changed: no crash, no endless loop. */
static void damaged(void **state)
{
	const struct code *from = &inlined;
	uint8_t *copy = malloc(sizeof(from->image));

	(void)state;
	assert_non_null(copy);
	if (!from->size) {
		free(copy);
		skip();
	}
	for (size_t cut = 0; cut < from->size; cut += 97) {
		memcpy(copy, from->image, cut);
		ask_everything(copy, cut);
	}
	for (size_t at = 0; at < from->size; at += 17) {
		memcpy(copy, from->image, from->size);
		copy[at] ^= 0xff;
		ask_everything(copy, from->size);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_lines), cmocka_unit_test(inlined_calls),
		cmocka_unit_test(linked_code),         cmocka_unit_test(ptx),
		cmocka_unit_test(what_is_none),        cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, make_cubins, NULL);
}
