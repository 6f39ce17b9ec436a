/* Names for addresses, beside what nm says of the same files. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/debug_file.h"
#include "symbol/elf/symtab.h"

static struct elf_file *open_elf(const char *path)
{
	struct elf_file *file = NULL;
	struct error err;

	assert_int_equal(elf_file_open(&file, open(path, O_RDONLY | O_CLOEXEC), &err), 0);
	return file;
}

/* nm's view: address, size, name, in order of addresses. */
struct known {
	struct {
		uint64_t address, size;
		char type;
		char name[512];
	} * list;
	size_t count;
};

static struct known nm(void **state, const char *options, const char *path)
{
	char *text = shell_output(state, "nm -n -S --defined-only --without-symbol-versions %s %s", options, path);
	struct known all = { NULL, 0 };
	unsigned long long address, size;
	size_t cap = 0;
	char type;

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (all.count == cap)
			all.list = realloc(all.list, (cap = 2 * cap + 64) * sizeof(*all.list));
		if (sscanf(line, "%llx %llx %c %511s", &address, &size, &type, all.list[all.count].name) != 4 || !strchr("tTwWiu", type) ||
		    !size)
			continue;
		all.list[all.count].address = address;
		all.list[all.count].size = size;
		all.list[all.count++].type = type;
	}
	free(text);
	return all;
}

static bool nm_says(const struct known *all, uint64_t address, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (address >= all->list[i].address && address - all->list[i].address < all->list[i].size &&
		    strcmp(all->list[i].name, name) == 0)
			return true;
	return false;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Every `step`th function: its first, middle and last byte get a name nm knows for them. */
static void compare_with_nm(void **state, struct elf_file *file, struct elf_file *debug, const struct known *all, size_t step)
{
	uint64_t *addresses = malloc((3 * all->count + 1) * sizeof(*addresses));
	struct symbol_search *s;
	struct symbol_match match;
	size_t n = 0;
	struct error err;

	for (size_t i = 0; i < all->count; i += step) {
		addresses[n++] = all->list[i].address;
		addresses[n++] = all->list[i].address + all->list[i].size / 2;
		addresses[n++] = all->list[i].address + all->list[i].size - 1;
	}
	qsort(addresses, n, sizeof(*addresses), by_value);
	assert_int_equal(symbol_search_new(&s, addresses, n), 0);
	assert_int_equal(symbol_search_file(s, file, false, &err), 0);
	if (debug)
		assert_int_equal(symbol_search_file(s, debug, true, &err), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(symbol_search_result(s, i, &match), 0);
		if (!nm_says(all, addresses[i], match.name))
			fail_msg("%llx: %s", (unsigned long long)addresses[i], match.name);
	}
	symbol_search_free(s);
	free(addresses);
}

/* The name of one address; "" where there is none. */
static const char *name_of(struct elf_file *file, struct elf_file *debug, uint64_t address, struct symbol_match *ret)
{
	static char name[1024];
	struct symbol_search *s;
	struct error err;

	assert_int_equal(symbol_search_new(&s, &address, 1), 0);
	assert_int_equal(symbol_search_file(s, file, false, &err), 0);
	if (debug)
		assert_int_equal(symbol_search_file(s, debug, true, &err), 0);
	name[0] = '\0';
	if (symbol_search_result(s, 0, ret) == 0)
		snprintf(name, sizeof(name), "%s", ret->name);
	symbol_search_free(s);
	return name;
}

static uint64_t address_of(void **state, const char *path, const char *name)
{
	char *text = shell_output(state, "nm %s | awk '$3 == \"%s\" { print $1 }'", path, name);
	uint64_t address = strtoull(text, NULL, 16);

	free(text);
	assert_int_not_equal(address, 0);
	return address;
}

static int build(void **state)
{
	if (folder_set_up(state) < 0)
		return -1;
	return shell(state,
		     "g++ -g -O1 -fno-pie -no-pie -Wl,--build-id -o shapes %s/shapes.cpp && "
		     "objcopy --only-keep-debug shapes shapes.debug && "
		     "cp shapes stripped && strip stripped && "
		     "objcopy --add-gnu-debuglink=shapes.debug stripped linked",
		     PROGRAMS_FOLDER);
}

static void test_all_functions_of_a_program(void **state)
{
	struct elf_file *file = open_elf(in_folder(state, "shapes"));
	struct known all = nm(state, "", "shapes");

	assert_true(all.count > 12);
	compare_with_nm(state, file, NULL, &all, 1);
	free(all.list);
	elf_file_close(file);
}

/* A library without .symtab: only what it exports is known. */
static void test_all_functions_of_a_library(void **state)
{
	char *path = shell_output(state, "ldd shapes | awk '/libc.so/ { printf \"%%s\", $3 }'");
	struct elf_file *file = open_elf(path);
	struct known all = nm(state, "-D", path);

	assert_true(all.count > 1000);
	compare_with_nm(state, file, NULL, &all, 3);
	free(all.list);
	elf_file_close(file);
	free(path);
}

static void expect(void **state, struct elf_file *file, uint64_t address, const char *name, int source)
{
	struct symbol_match match;

	assert_string_equal(name_of(file, NULL, address, &match), name);
	if (name[0])
		assert_int_equal(match.source, source);
}

static void test_what_people_expect(void **state)
{
	struct elf_file *file = open_elf(in_folder(state, "shapes"));
	uint64_t bare = address_of(state, "shapes", "bare_label");

	/* An alias without underscores, an indirect function, local and unnamed ones. */
	expect(state, file, address_of(state, "shapes", "__internal_name"), "visible_name", SYMBOL_SYMTAB);
	expect(state, file, address_of(state, "shapes", "chosen"), "chosen", SYMBOL_SYMTAB);
	expect(state, file, address_of(state, "shapes", "_ZL14local_functionPKc"), "_ZL14local_functionPKc", SYMBOL_SYMTAB);
	/* Labels without sizes reach to what comes next, not over it. */
	expect(state, file, bare, "bare_label", SYMBOL_SYMTAB);
	expect(state, file, bare + 4, "bare_label", SYMBOL_SYMTAB);
	expect(state, file, address_of(state, "shapes", "local_label") + 2, "local_label", SYMBOL_SYMTAB);
	expect(state, file, address_of(state, "shapes", "sized_after") + 1, "sized_after", SYMBOL_SYMTAB);
	/* Not code. */
	expect(state, file, 8, "", 0);
	expect(state, file, UINT64_MAX, "", 0);
	expect(state, file, address_of(state, "shapes", "__bss_start"), "", 0);
	elf_file_close(file);
}

/* objdump names the stubs as well. */
static void test_stubs(void **state)
{
	struct elf_file *file = open_elf(in_folder(state, "stripped"));
	char *text = shell_output(state, "objdump -d shapes | awk '/@plt>:$/ { print $1, $2 }'");
	unsigned long long address;
	char name[256], *line, *save;
	unsigned count = 0;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%llx <%255[^>]", &address, name) != 2 || strchr(name, '*'))
			continue;
		expect(state, file, address + 2, name, SYMBOL_PLT);
		count++;
	}
	assert_true(count >= 4);
	free(text);
	elf_file_close(file);
}

static struct elf_file *find_debug(void **state, const char *name, const char *folders, int with_build_id)
{
	struct elf_file *file = open_elf(in_folder(state, name)), *debug = NULL;
	struct debug_wanted wanted = {
		.file = file, .path = in_folder(state, name), .folders = folders, .root = in_folder(state, "no-such-folder")
	};

	wanted.build_id_size = elf_file_build_id(file, &wanted.build_id);
	assert_int_equal(wanted.build_id_size != 0, with_build_id);
	if (debug_file_find(&debug, &wanted) < 0)
		debug = NULL;
	elf_file_close(file);
	return debug;
}

static void expect_debug(void **state, const char *name, const char *folders)
{
	struct elf_file *debug = find_debug(state, name, folders, 1), *file = open_elf(in_folder(state, name));
	struct known all = nm(state, "", "shapes");
	struct symbol_match match;

	assert_non_null(debug);
	compare_with_nm(state, file, debug, &all, 1);
	name_of(file, debug, address_of(state, "shapes", "outer"), &match);
	assert_int_equal(match.source, SYMBOL_DEBUG_FILE);
	free(all.list);
	elf_file_close(debug);
	elf_file_close(file);
}

static void test_debug_files(void **state)
{
	char folders[1200];

	/* By the name in the file: beside it. */
	assert_null(find_debug(state, "stripped", NULL, 1));
	expect_debug(state, "linked", NULL);
	/* By build-id, under a folder. */
	assert_int_equal(shell(state, "id=$(readelf -n shapes | sed -n 's/.*Build ID: //p') && "
				      "mkdir -p d/.build-id/$(echo $id | cut -c1-2) && "
				      "cp shapes.debug d/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug"),
			 0);
	snprintf(folders, sizeof(folders), "/nowhere:%s", in_folder(state, "d"));
	expect_debug(state, "stripped", folders);
	/* In a folder, whatever the name: the build-id decides. */
	assert_int_equal(shell(state, "mkdir -p e && cp shapes.debug e/stripped.debug"), 0);
	expect_debug(state, "stripped", in_folder(state, "e"));
}

/* The wrong file under the right name is not taken: by build-id, and by checksum where there is none. */
static void test_wrong_debug_files(void **state)
{
	struct elf_file *debug;

	assert_int_equal(shell(state,
			       "mkdir -p w && g++ -g -O2 -Wl,--build-id -o other %s/shapes.cpp && "
			       "cp other w/stripped.debug && "
			       "g++ -g -O1 -Wl,--build-id=none -o plain %s/shapes.cpp && "
			       "objcopy --only-keep-debug plain plain.debug && strip plain && "
			       "objcopy --add-gnu-debuglink=plain.debug plain plain.linked",
			       PROGRAMS_FOLDER, PROGRAMS_FOLDER),
			 0);
	assert_null(find_debug(state, "stripped", in_folder(state, "w"), 1));
	debug = find_debug(state, "plain.linked", NULL, 0);
	assert_non_null(debug);
	elf_file_close(debug);
	assert_int_equal(shell(state, "printf x >> plain.debug"), 0);
	assert_null(find_debug(state, "plain.linked", NULL, 0));
}

/* As Fedora makes them: what .dynsym lacks, packed into the file. */
static void test_minidebug(void **state)
{
	struct elf_file *file;
	struct symbol_match match;
	uint64_t address = address_of(state, "shapes", "_ZL14local_functionPKc");

	if (shell(state, "command -v xz") != 0) {
		skip();
		return;
	}
	assert_int_equal(shell(state, "cp shapes mini.debug && strip --strip-debug --remove-section .comment mini.debug && "
				      "objcopy --only-keep-debug mini.debug mini.small && "
				      "xz -k mini.small && cp stripped mini && "
				      "objcopy --add-section .gnu_debugdata=mini.small.xz mini"),
			 0);
	file = open_elf(in_folder(state, "mini"));
	assert_string_equal(name_of(file, NULL, address, &match), "_ZL14local_functionPKc");
	assert_int_equal(match.source, SYMBOL_MINIDEBUG);
	elf_file_close(file);
	/* Cut short: an error, and no more. */
	assert_int_equal(shell(state, "head -c 500 mini.small.xz > cut.xz && cp stripped cut && "
				      "objcopy --add-section .gnu_debugdata=cut.xz cut"),
			 0);
	file = open_elf(in_folder(state, "cut"));
	struct symbol_search *s;
	struct error err;

	assert_int_equal(symbol_search_new(&s, &address, 1), 0);
	assert_int_equal(symbol_search_file(s, file, false, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "gnu_debugdata"));
	symbol_search_free(s);
	elf_file_close(file);
}

/* Every byte of the headers and tables changed in turn: an error or a name, nothing worse. */
static void test_damaged(void **state)
{
	char *bytes,
		*text = shell_output(state, "readelf -SW shapes | sed -n 's/.*\\] \\.symtab *SYMTAB *[0-9a-f]* \\([0-9a-f]*\\) .*/\\1/p'");
	size_t size, table = strtoull(text, NULL, 16);
	uint64_t addresses[64], main_at = address_of(state, "shapes", "main");
	FILE *f = fopen(in_folder(state, "shapes"), "r");
	unsigned opened = 0;

	fseek(f, 0, SEEK_END);
	size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(size);
	assert_int_equal(fread(bytes, 1, size, f), size);
	fclose(f);
	assert_true(table > 64 && table < size);
	for (unsigned i = 0; i < 64; i++)
		addresses[i] = main_at - 1024 + 64 * i;
	for (size_t i = 0; i < 3000; i++) {
		size_t at = i < 64 ? i : i < 1500 ? table + i : size - 1 - (i - 1500);
		struct elf_file *file;
		struct symbol_search *s;
		struct error err;
		char saved = bytes[at];

		bytes[at] = (char)(saved ^ (i % 2 ? 0x80 : 0xff));
		if (elf_file_open_memory(&file, bytes, i % 5 ? size : at + 1, &err) == 0) {
			opened++;
			assert_int_equal(symbol_search_new(&s, addresses, 64), 0);
			symbol_search_file(s, file, false, &err);
			symbol_search_free(s);
			elf_file_close(file);
		}
		bytes[at] = saved;
	}
	assert_true(opened > 1000);
	free(bytes);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_functions_of_a_program),
		cmocka_unit_test(test_all_functions_of_a_library),
		cmocka_unit_test(test_what_people_expect),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_debug_files),
		cmocka_unit_test(test_wrong_debug_files),
		cmocka_unit_test(test_minidebug),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, build, folder_tear_down);
}
