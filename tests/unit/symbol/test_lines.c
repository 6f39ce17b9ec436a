/* Lines and inlined functions, beside what addr2line says; and the cache they are kept in. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf/elf_file.h"
#include "symbol/lines.h"

static int build(void **state)
{
	if (folder_set_up(state) < 0)
		return -1;
	return shell(state,
		     "cp %s/shapes.cpp . && g++ -g -O2 -Wl,--build-id -o shapes shapes.cpp && "
		     "g++ -g -gdwarf-4 -O2 -Wl,--build-id -o dwarf4 shapes.cpp && "
		     "g++ -g -gsplit-dwarf -O2 -Wl,--build-id -o split shapes.cpp && "
		     "g++ -g -gz -O2 -Wl,--build-id -o packed shapes.cpp && "
		     "g++ -O2 -Wl,--build-id -o bare shapes.cpp && "
		     "objcopy --only-keep-debug shapes shapes.debug && cp shapes stripped && strip stripped && "
		     "objcopy --add-gnu-debuglink=shapes.debug stripped linked && mkdir -m 700 cache",
		     PROGRAMS_FOLDER);
}

struct opened {
	struct elf_file *file;
	struct debug_wanted wanted;
	struct lines *lines;
};

static void open_lines(void **state, struct opened *o, const char *name, const char *cache)
{
	struct error err;

	assert_int_equal(elf_file_open(&o->file, open(in_folder(state, name), O_RDONLY | O_CLOEXEC), &err), 0);
	o->wanted = (struct debug_wanted){ .path = strdup(in_folder(state, name)), .file = o->file };
	o->wanted.build_id_size = elf_file_build_id(o->file, &o->wanted.build_id);
	assert_int_equal(lines_new(&o->lines, &o->wanted, cache), 0);
}

static void close_lines(struct opened *o)
{
	lines_free(o->lines);
	elf_file_close(o->file);
	free((char *)(uintptr_t)o->wanted.path);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* One address of addr2line's answer: lines "function\nfile:line". Returns how many levels. For the innermost of several
 * it gives the name of the symbol, which is that of the outermost. */
static unsigned compare_levels(char **at, const struct source_lines *lines)
{
	unsigned level = 0;

	while (**at && strncmp(*at, "0x", 2) != 0) {
		char *function = strsep(at, "\n"), *place = strsep(at, "\n"), *line = strrchr(place, ':');

		*line++ = '\0';
		if (strcmp(function, "??") == 0 || strcmp(line, "?") == 0 || strcmp(line, "0") == 0) {
			level = 100;
			continue;
		}
		assert_true(level < lines->count);
		/* Between functions it names the one before. */
		if (lines->at[level].function[0] && (level || lines->count == 1))
			assert_string_equal(lines->at[level].function, function);
		assert_string_equal(base_name(lines->at[level].file), base_name(place));
		assert_int_equal(lines->at[level].line, strtoul(line, NULL, 10));
		level++;
	}
	return level;
}

static void compare_with_addr2line(void **state, const char *name, const char *peer)
{
	char *text = shell_output(state,
				  "for s in outer main _ZNK8geometry6VectorIdLi4EE3sumEv; do nm %s | "
				  "awk -v s=$s '$3 == s { print $1 }'; done | while read a; do "
				  "for i in $(seq 0 24); do printf '0x%%x\\n' $((0x$a + i)); done; done | "
				  "xargs addr2line -a -f -i -C -e %s | sed 's/ (discriminator [0-9]*)//'",
				  peer, peer);
	char *at = text;
	struct opened o;
	unsigned deepest = 0, compared = 0;

	open_lines(state, &o, name, NULL);
	while (at && *at) {
		uint64_t address = strtoull(strsep(&at, "\n"), NULL, 16);
		struct source_lines lines = { .count = 0 };
		unsigned levels;

		lines_find(o.lines, address, &lines);
		levels = compare_levels(&at, &lines);
		if (levels < 100) {
			compared++;
			deepest = levels > deepest ? levels : deepest;
			assert_int_equal(lines.count, levels);
		}
		source_lines_release(&lines);
	}
	close_lines(&o);
	free(text);
	assert_true(compared > 40);
	assert_true(deepest >= 3); /* innermost in middle in outer */
}

static void test_like_addr2line(void **state)
{
	compare_with_addr2line(state, "shapes", "shapes");
	compare_with_addr2line(state, "dwarf4", "dwarf4");
	compare_with_addr2line(state, "packed", "packed");
}

/* The DWARF is in the debug file. */
static void test_debug_file(void **state)
{
	compare_with_addr2line(state, "linked", "shapes");
}

/* Without aranges every unit is asked. */
static void test_without_aranges(void **state)
{
	assert_int_equal(shell(state, "objcopy --remove-section .debug_aranges shapes noaranges"), 0);
	compare_with_addr2line(state, "noaranges", "noaranges");
}

static uint64_t address_of(void **state, const char *path, const char *name)
{
	char *text = shell_output(state, "nm %s | awk '$3 == \"%s\" { print $1 }'", path, name);
	uint64_t address = strtoull(text, NULL, 16);

	free(text);
	return address;
}

/* The source says in which line each of three nested functions is. */
static void check_inlined_names(void **state, const char *name)
{
	static const char *const names[] = { "innermost", "middle", "outer" };
	uint64_t start = address_of(state, name, "outer");
	unsigned long wanted[3], found = 0;
	struct source_lines lines;
	struct opened o;

	for (unsigned i = 0; i < 3; i++) {
		char *text = shell_output(state, "grep -n 'line of %s' shapes.cpp", names[i]);

		wanted[i] = strtoul(text, NULL, 10);
		free(text);
	}
	open_lines(state, &o, name, NULL);
	for (uint64_t address = start; address < start + 24; address++) {
		assert_int_equal(lines_find(o.lines, address, &lines), 0);
		assert_string_equal(lines.at[lines.count - 1].function, "outer");
		for (unsigned i = 0; i < 3 && lines.count == 3; i++) {
			assert_string_equal(lines.at[i].function, names[i]);
			assert_int_equal(lines.at[i].line, wanted[i]);
			found++;
		}
		source_lines_release(&lines);
	}
	close_lines(&o);
	assert_true(found > 3);
}

static void test_inlined_names(void **state)
{
	check_inlined_names(state, "shapes");
	check_inlined_names(state, "dwarf4");
	check_inlined_names(state, "packed");
	check_inlined_names(state, "split"); /* which binutils cannot read */
}

static void test_none(void **state)
{
	struct source_lines lines;
	struct opened o;

	open_lines(state, &o, "bare", NULL);
	assert_int_equal(lines_find(o.lines, address_of(state, "bare", "main"), &lines), -ENOENT);
	close_lines(&o);
	open_lines(state, &o, "shapes", NULL);
	assert_int_equal(lines_find(o.lines, 4, &lines), -ENOENT);
	assert_int_equal(lines_find(o.lines, UINT64_MAX, &lines), -ENOENT);
	close_lines(&o);
}

/* What was found is found again where there is no DWARF any more. */
static void test_cache(void **state)
{
	uint64_t address = address_of(state, "shapes", "outer") + 4;
	struct source_lines lines, again;
	struct opened o;
	struct stat st;
	char *file;

	open_lines(state, &o, "shapes", in_folder(state, "cache"));
	assert_int_equal(lines_find(o.lines, address, &lines), 0);
	close_lines(&o);
	file = shell_output(state, "ls cache | tr -d '\\n'");
	assert_true(strlen(file) == 40);
	char *path = strdup(in_folder(state, "cache"));
	char whole[1200];

	snprintf(whole, sizeof(whole), "%s/%s", path, file);
	assert_int_equal(stat(whole, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	open_lines(state, &o, "stripped", path);
	assert_int_equal(lines_find(o.lines, address, &again), 0);
	assert_int_equal(again.count, lines.count);
	for (uint32_t i = 0; i < lines.count; i++) {
		assert_string_equal(again.at[i].function, lines.at[i].function);
		assert_string_equal(again.at[i].file, lines.at[i].file);
		assert_int_equal(again.at[i].line, lines.at[i].line);
	}
	source_lines_release(&again);
	assert_int_equal(lines_find(o.lines, address + 1000000, &again), -ENOENT);
	close_lines(&o);

	/* Others may not have had their hands on it. */
	assert_int_equal(chmod(whole, 0666), 0);
	open_lines(state, &o, "stripped", path);
	assert_int_equal(lines_find(o.lines, address, &again), -ENOENT);
	close_lines(&o);
	assert_int_equal(chmod(whole, 0600), 0);

	/* One byte changed: the record is not believed, and the next reader with DWARF mends the file. */
	for (off_t at = 0; at < st.st_size; at += 7) {
		int fd = open(whole, O_RDWR);
		char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x41;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		open_lines(state, &o, "stripped", path);
		assert_int_equal(lines_find(o.lines, address, &again), -ENOENT);
		close_lines(&o);
		open_lines(state, &o, "shapes", path);
		assert_int_equal(lines_find(o.lines, address, &again), 0);
		source_lines_release(&again);
		close_lines(&o);
		open_lines(state, &o, "stripped", path);
		assert_int_equal(lines_find(o.lines, address, &again), 0);
		source_lines_release(&again);
		close_lines(&o);
	}
	source_lines_release(&lines);
	free(file);
	free(path);
}

static void test_cache_folder(void **state)
{
	char folder[512];
	struct stat st;

	setenv("XDG_CACHE_HOME", in_folder(state, "xdg"), 1);
	assert_int_equal(line_cache_folder(folder, sizeof(folder)), 0);
	assert_string_equal(folder, in_folder(state, "xdg/sonde/lines"));
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	/* Not through a link, and not where others write. */
	assert_int_equal(shell(state, "rm -r xdg/sonde && ln -s /tmp xdg/sonde"), 0);
	assert_int_equal(line_cache_folder(folder, sizeof(folder)), -ENOENT);
	assert_int_equal(shell(state, "rm xdg/sonde && mkdir -m 777 xdg/sonde"), 0);
	assert_int_equal(chmod(in_folder(state, "xdg/sonde"), 0777), 0);
	assert_int_equal(line_cache_folder(folder, sizeof(folder)), -ENOENT);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(line_cache_folder(folder, sizeof(folder)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_addr2line), cmocka_unit_test(test_debug_file), cmocka_unit_test(test_without_aranges),
		cmocka_unit_test(test_inlined_names),  cmocka_unit_test(test_none),       cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_folder),
	};

	return cmocka_run_group_tests(tests, build, folder_tear_down);
}
