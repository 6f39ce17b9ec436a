/* From addresses to modules: mappings replaced, split, inherited and forgotten; files that are there, gone or
 * others than those mapped. Seen through the FRAME, MODULE and MAPPING rows of the report. */
#include "support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../support/cfi_file.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "record/session/frames.h"

#define ROWS 256
#define PATH_SIZE 1024

static uint64_t one(struct bench *b, struct space *space, uint64_t pc)
{
	struct stack_walk walk = { .count = 1, .pcs = { pc } };

	return stacks_intern(&b->session, space, &walk);
}

static void map(struct bench *b, struct space *space, uint64_t address, uint64_t size, uint64_t offset, const char *path)
{
	struct space_mapping mapping = { .time = 5, .address = address, .size = size, .offset = offset, .path = path };

	space_map(&b->session, space, &mapping);
}

/* "PATH+OFFSET" of the place a stack's leaf is in, from the finished report. */
static const char *place(struct bench *b, uint64_t stack)
{
	static char text[512];
	struct row stacks[ROWS], frames[ROWS], modules[ROWS];
	size_t stack_count = bench_rows(b, TABLE_STACK, stacks, ROWS);
	size_t frame_count = bench_rows(b, TABLE_FRAME, frames, ROWS);
	size_t module_count = bench_rows(b, TABLE_MODULE, modules, ROWS);
	struct row *frame;

	assert_true(stack >= 1 && stack <= stack_count);
	assert_int_equal(stacks[stack - 1].values[COLUMN_STACK_ID], stack);
	assert_in_range(stacks[stack - 1].values[COLUMN_STACK_FRAME], 1, frame_count);
	frame = &frames[stacks[stack - 1].values[COLUMN_STACK_FRAME] - 1];
	if (frame->nulls[COLUMN_FRAME_MODULE]) {
		snprintf(text, sizeof(text), "nothing+%llx", (long long)frame->values[COLUMN_FRAME_OFFSET]);
		return text;
	}
	assert_in_range(frame->values[COLUMN_FRAME_MODULE], 1, module_count);
	snprintf(text, sizeof(text), "%s+%llx", bench_text(b, &modules[frame->values[COLUMN_FRAME_MODULE] - 1], COLUMN_MODULE_PATH),
		 (long long)frame->values[COLUMN_FRAME_OFFSET]);
	return text;
}

static void overlaps_split_what_was_there(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	uint64_t before, hit, behind, outside;

	map(b, space, 0x10000, 0x10000, 0x1000, "/nowhere/a");
	map(b, space, 0x14000, 0x2000, 0x8000, "/nowhere/b");
	before = one(b, space, 0x13fff);
	hit = one(b, space, 0x15000);
	behind = one(b, space, 0x16000);
	outside = one(b, space, 0x20000);
	bench_finish(b);
	/* Their files do not exist: offsets stay those of the files. */
	assert_string_equal(place(b, before), "/nowhere/a+4fff");
	assert_string_equal(place(b, hit), "/nowhere/b+9000");
	assert_string_equal(place(b, behind), "/nowhere/a+7000");
	assert_string_equal(place(b, outside), "nothing+20000");
}

static void a_mapping_over_many(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	uint64_t stacks[4];

	for (unsigned i = 0; i < 40; i++)
		map(b, space, 0x100000 + i * 0x1000, 0x1000, 0, i % 2 ? "/nowhere/odd" : "/nowhere/even");
	map(b, space, 0x100800, 0x26000, 0x4000, "/nowhere/over");
	stacks[0] = one(b, space, 0x100000);
	stacks[1] = one(b, space, 0x100800);
	stacks[2] = one(b, space, 0x1267ff);
	stacks[3] = one(b, space, 0x126800);
	bench_finish(b);
	assert_string_equal(place(b, stacks[0]), "/nowhere/even+0");
	assert_string_equal(place(b, stacks[1]), "/nowhere/over+4000");
	assert_string_equal(place(b, stacks[2]), "/nowhere/over+29fff");
	assert_string_equal(place(b, stacks[3]), "/nowhere/even+800");
}

static void the_same_again_and_nonsense(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	struct row rows[ROWS];

	for (unsigned i = 0; i < 3; i++)
		map(b, space, 0x10000, 0x1000, 0, "/nowhere/a");
	map(b, space, 0x30000, 0, 0, "/nowhere/empty");
	map(b, space, UINT64_MAX - 0x1000, 0x8000, 0, "/nowhere/around");
	one(b, space, 0x10000);
	one(b, space, UINT64_MAX - 0x800);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_MAPPING, rows, ROWS), 1);
	assert_int_equal(rows[0].values[COLUMN_MAPPING_ADDRESS], 0x10000);
	assert_int_equal(rows[0].values[COLUMN_MAPPING_SIZE], 0x1000);
	assert_int_equal(rows[0].values[COLUMN_MAPPING_TIME], 5);
}

static void a_child_has_its_own_copy(void **state)
{
	struct bench *b = *state;
	struct space *parent = space_of(&b->session, 1, 0), *child;
	uint64_t inherited, changed, kept;

	map(b, parent, 0x10000, 0x1000, 0, "/nowhere/a");
	space_fork(&b->session, 1, 2, 0);
	child = space_of(&b->session, 2, 0);
	inherited = one(b, child, 0x10010);
	map(b, child, 0x10000, 0x1000, 0, "/nowhere/b");
	changed = one(b, child, 0x10010);
	kept = one(b, parent, 0x10010);
	bench_finish(b);
	assert_string_equal(place(b, inherited), "/nowhere/a+10");
	assert_string_equal(place(b, changed), "/nowhere/b+10");
	assert_int_equal(kept, inherited);
}

static void the_ended_are_forgotten_after_a_while(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	uint64_t soon, late;

	map(b, space, 0x10000, 0x1000, 0, "/nowhere/a");
	space_end(&b->session, 1);
	soon = one(b, space_of(&b->session, 1, 0), 0x10010);
	for (uint64_t i = 2; i < 1002; i++) {
		space_of(&b->session, i, 0);
		space_end(&b->session, i);
		space_end(&b->session, i);
	}
	late = one(b, space_of(&b->session, 1, 0), 0x10010);
	bench_finish(b);
	assert_string_equal(place(b, soon), "/nowhere/a+10");
	assert_string_equal(place(b, late), "nothing+10010");
}

static void code_without_a_file(void **state)
{
	struct bench *b = *state;
	struct space *one_space = space_of(&b->session, 1, 0), *other = space_of(&b->session, 2, 0);
	uint64_t anonymous, memfd, elsewhere, vsyscall;
	struct row rows[ROWS];

	map(b, one_space, 0x10000, 0x1000, 0x10000, "//anon");
	map(b, one_space, 0x20000, 0x1000, 0, "/memfd:doublemapper (deleted)");
	map(b, other, 0x10000, 0x1000, 0x10000, "//anon");
	map(b, one_space, 0xffffffffff600000, 0x1000, 0xffffffffff600000, "[vsyscall]");
	anonymous = one(b, one_space, 0x10010);
	memfd = one(b, one_space, 0x20010);
	elsewhere = one(b, other, 0x10010);
	vsyscall = one(b, one_space, 0xffffffffff600400);
	bench_finish(b);
	assert_string_equal(place(b, anonymous), "[jit]+10010");
	assert_string_equal(place(b, memfd), "[jit]+20010");
	assert_string_equal(place(b, elsewhere), "[jit]+10010");
	assert_int_not_equal(anonymous, elsewhere);
	assert_string_equal(place(b, vsyscall), "[vsyscall]+400");
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, ROWS), 3);
	assert_int_equal(rows[0].values[COLUMN_MODULE_KIND], MODULE_JIT);
	assert_int_equal(rows[0].values[COLUMN_MODULE_PROCESS], 1);
	assert_int_equal(rows[1].values[COLUMN_MODULE_PROCESS], 2);
}

struct found {
	const char *part;
	uint64_t base;
};

static int find_base(struct dl_phdr_info *info, size_t size, void *data)
{
	struct found *found = data;

	if (!strstr(info->dlpi_name, found->part))
		return 0;
	found->base = info->dlpi_addr;
	return 1;
}

/* This very process: no mapping was told, /proc has them all. The loader knows the base of each. */
static void maps_of_proc_when_nothing_is_known(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, (uint32_t)getpid());
	struct found libc = { "libc.so", 0 };
	uint64_t in_libc = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "lfind"), stack;
	struct row rows[ROWS];
	const char *text;
	char expected[64];

	dl_iterate_phdr(find_base, &libc);
	assert_true(libc.base != 0);
	stack = one(b, space, in_libc);
	bench_finish(b);
	snprintf(expected, sizeof(expected), "+%llx", (unsigned long long)(in_libc - libc.base));
	text = place(b, stack);
	assert_non_null(strstr(text, "libc.so"));
	assert_string_equal(strchr(text, '+'), expected);
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, ROWS), 1);
	assert_int_equal(rows[0].values[COLUMN_MODULE_KIND], MODULE_FILE);
	/* Debian's has one, of 20 bytes. */
	assert_int_equal(strlen(bench_text(b, &rows[0], COLUMN_MODULE_BUILD_ID)), 40);
}

static void path_in_folder(struct bench *b, const char *name, char *ret)
{
	char here[512];

	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(ret, PATH_SIZE, "%s/%s/%s", here, b->folder, name);
}

static void copy_file(const char *from, const char *to)
{
	char command[2 * PATH_SIZE];

	snprintf(command, sizeof(command), "cp -f '%s' '%s'", from, to);
	assert_int_equal(system(command), 0);
}

static int has_diagnostic(struct bench *b, const char *part)
{
	struct row rows[ROWS];
	size_t count = bench_rows(b, TABLE_DIAGNOSTIC, rows, ROWS);

	for (size_t i = 0; i < count; i++)
		if (strstr(bench_text(b, &rows[i], COLUMN_DIAGNOSTIC_TEXT), part))
			return 1;
	return 0;
}

static void a_replaced_file_is_not_believed(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	static const uint8_t other_id[20] = { 1, 2, 3 };
	char path[PATH_SIZE];
	struct space_mapping mapping = {
		.time = 1, .address = 0x10000, .size = 0x1000, .offset = 0x1000, .path = path, .build_id = other_id, .build_id_size = 20
	};
	struct row rows[ROWS];

	path_in_folder(b, "replaced", path);
	copy_file("/proc/self/exe", path);
	space_map(&b->session, space, &mapping);
	one(b, space, 0x10010);
	one(b, space, 0x10020);
	unlink(path);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, ROWS), 1);
	assert_int_equal(rows[0].values[COLUMN_MODULE_KIND], MODULE_OTHER);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_MODULE_BUILD_ID), "0102030000000000000000000000000000000000");
	assert_true(has_diagnostic(b, "has been replaced"));
	assert_int_equal(bench_rows(b, TABLE_DIAGNOSTIC, rows, ROWS), 1);
}

/* Its number tells, where no build-id was told. */
static void another_inode_is_another_file(void **state)
{
	struct bench *b = *state;
	struct space_mapping mapping = { .time = 1, .address = 0x10000, .size = 0x1000, .path = "/bin/sh" };
	struct stat st;
	struct row rows[ROWS];

	assert_int_equal(stat("/bin/sh", &st), 0);
	mapping.device = st.st_dev;
	mapping.inode = st.st_ino;
	space_map(&b->session, space_of(&b->session, 1, 0), &mapping);
	mapping.inode = st.st_ino + 1;
	space_map(&b->session, space_of(&b->session, 2, 0), &mapping);
	one(b, space_of(&b->session, 1, 0), 0x10010);
	one(b, space_of(&b->session, 2, 0), 0x10010);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, ROWS), 2);
	assert_int_equal(rows[0].values[COLUMN_MODULE_KIND], MODULE_FILE);
	assert_int_equal(rows[1].values[COLUMN_MODULE_KIND], MODULE_OTHER);
	assert_true(has_diagnostic(b, "/bin/sh has been replaced"));
}

/* Mapped here and deleted: /proc/PID/map_files still has it, for those who may look. */
static void a_deleted_file_is_found_through_its_mapping(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, (uint32_t)getpid());
	char path[PATH_SIZE], in_proc[64];
	struct row rows[ROWS];
	void *mapped;
	int fd;

	if (geteuid() != 0)
		skip();
	path_in_folder(b, "deleted", path);
	copy_file("/proc/self/exe", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	close(fd);
	unlink(path);
	snprintf(in_proc, sizeof(in_proc), "/proc/self/map_files/%lx-%lx", (unsigned long)mapped, (unsigned long)mapped + 0x1000);
	fd = open(in_proc, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		munmap(mapped, 0x1000);
		skip();
	}
	close(fd);
	one(b, space, (uint64_t)(uintptr_t)mapped);
	munmap(mapped, 0x1000);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, ROWS), 1);
	assert_int_equal(rows[0].values[COLUMN_MODULE_KIND], MODULE_FILE);
	assert_null(strstr(bench_text(b, &rows[0], COLUMN_MODULE_PATH), "(deleted)"));
	assert_false(has_diagnostic(b, "deleted"));
}

/* Two copies, two names, two processes: one module. */
static void the_same_build_id_is_the_same_module(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	char first[PATH_SIZE], second[PATH_SIZE];
	uint64_t a, c;

	path_in_folder(b, "first", first);
	path_in_folder(b, "second", second);
	copy_file("/proc/self/exe", first);
	copy_file("/proc/self/exe", second);
	map(b, space, 0x10000, 0x1000, 0, first);
	map(b, space, 0x20000, 0x1000, 0, second);
	a = one(b, space, 0x10010);
	c = one(b, space, 0x20010);
	unlink(first);
	unlink(second);
	bench_finish(b);
	assert_int_equal(a, c);
	assert_string_equal(strrchr(place(b, a), '/'), "/first+10");
}

/* The same name, and perhaps the same inode number: the program was built anew between two runs. */
static void a_file_built_anew_is_another(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0), *later = space_of(&b->session, 2, 0);
	char path[PATH_SIZE];
	struct row rows[ROWS];

	path_in_folder(b, "built", path);
	copy_file("/proc/self/exe", path);
	map(b, space, 0x10000, 0x1000, 0, path);
	one(b, space, 0x10010);
	copy_file("/bin/true", path);
	map(b, later, 0x10000, 0x1000, 0, path);
	one(b, later, 0x10010);
	unlink(path);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, ROWS), 2);
	assert_string_not_equal(bench_text(b, &rows[0], COLUMN_MODULE_BUILD_ID), bench_text(b, &rows[1], COLUMN_MODULE_BUILD_ID));
}

static unsigned open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* More files than are kept open: all are looked into, few at a time. */
static void many_files(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	unsigned before = open_files(), count = 400;
	static uint8_t image[CFI_FILE_FRAMES];
	size_t size = cfi_file_make(image, NULL, 0, NULL, 0);
	struct stack_copy copy = { .size = 0 };
	struct stack_walk walk;
	char name[32], path[PATH_SIZE];
	struct row rows[512];

	for (unsigned i = 0; i < count; i++) {
		int fd;

		snprintf(name, sizeof(name), "file%u", i);
		path_in_folder(b, name, path);
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, image, size), size);
		close(fd);
		map(b, space, 0x100000 + i * 0x1000, 0x1000, 0, path);
	}
	for (unsigned i = 0; i < 2 * count; i++) {
		walk = (struct stack_walk){ 0 };
		copy.registers[ARCH_DWARF_RETURN] = 0x100000 + i % count * 0x1000 + 16 + i / count;
		space_unwind(&b->session, space, &copy, &walk);
		assert_int_equal(walk.count, 1);
		stacks_intern(&b->session, space, &walk);
	}
	assert_in_range(open_files() - before, 100, 300);
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "file%u", i);
		path_in_folder(b, name, path);
		unlink(path);
	}
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, 512), count);
	assert_int_equal(rows[count / 2].values[COLUMN_MODULE_KIND], MODULE_FILE);
	assert_false(has_diagnostic(b, "file"));
}

static void no_elf_file(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 1, 0);
	uint64_t stack;

	map(b, space, 0x10000, 0x1000, 0x2000, "/etc/passwd");
	stack = one(b, space, 0x10010);
	bench_finish(b);
	assert_string_equal(place(b, stack), "/etc/passwd+2010");
	assert_true(has_diagnostic(b, "/etc/passwd is not a readable ELF file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(overlaps_split_what_was_there, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_mapping_over_many, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(the_same_again_and_nonsense, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_child_has_its_own_copy, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(the_ended_are_forgotten_after_a_while, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(code_without_a_file, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(maps_of_proc_when_nothing_is_known, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_replaced_file_is_not_believed, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(another_inode_is_another_file, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_deleted_file_is_found_through_its_mapping, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(the_same_build_id_is_the_same_module, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_file_built_anew_is_another, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(many_files, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(no_elf_file, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
