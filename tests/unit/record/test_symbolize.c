/* A report without names gets them later: from the file at its place, or from one with its build-id elsewhere. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "record/stacks/symbolize.h"
#include "symbol/elf/elf_file.h"

#define ROWS 1024

__attribute__((noinline, used)) static int the_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

struct program {
	uint8_t build_id[64];
	size_t build_id_size;
	uint64_t base; /* address of the file's first byte in memory */
};

static struct program self(void)
{
	struct program p = { .build_id_size = 0 };
	struct elf_file *file;
	const uint8_t *id;
	char path[4096], line[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	FILE *maps = fopen("/proc/self/maps", "r");

	assert_true(n > 0);
	path[n] = '\0';
	while (!p.base && fgets(line, sizeof(line), maps))
		if (strstr(line, path))
			p.base = strtoull(line, NULL, 16);
	fclose(maps);
	assert_int_equal(elf_file_open(&file, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), NULL), 0);
	p.build_id_size = elf_file_build_id(file, &id);
	memcpy(p.build_id, id, p.build_id_size);
	elf_file_close(file);
	assert_true(p.build_id_size > 2);
	return p;
}

/* One stack, in the_function() of this program as if it lay at `path`; the report is finished. */
static void record(struct bench *b, const char *path)
{
	struct program p = self();
	struct space_mapping mapping = {
		.address = p.base, .size = 1 << 24, .path = path, .build_id = p.build_id, .build_id_size = p.build_id_size
	};
	struct space *space = space_of(&b->session, 1, 0);
	struct stack_walk *walk = calloc(1, sizeof(*walk));

	space_map(&b->session, space, &mapping);
	walk->count = 1;
	walk->pcs[0] = (uintptr_t)the_function;
	assert_int_not_equal(stacks_intern(&b->session, space, walk), 0);
	free(walk);
	bench_finish(b);
	report_close(b->report);
	b->report = NULL;
}

static void count_trouble(void *context, const char *text)
{
	(void)text;
	++*(unsigned *)context;
}

static void count_left(void *context, const char *path, const char *build_id, size_t frames)
{
	assert_non_null(path);
	assert_int_equal(strlen(build_id), 2 * self().build_id_size);
	*(unsigned *)context += (unsigned)frames << 16;
}

static int run(const char *report, const char *output, const char *folders, bool all, uint64_t *ret_named)
{
	unsigned troubles = 0;
	/* clang-format off */
	struct symbolize_request request = { .report = report, .output = output, .overwrite = true, .all = all,
					     .folders = folders, .trouble = count_trouble, .left = count_left,
					     .context = &troubles };
	/* clang-format on */
	struct symbolize_result result;
	struct error err = { "" };
	int r = symbolize_report(&request, &result, &err);

	assert_int_equal(r < 0, err.text[0] != '\0');
	assert_int_equal(troubles >> 16, result.looked_at - result.named);
	*ret_named = result.named;
	return r;
}

static void reopen(struct bench *b, const char *path)
{
	struct error err;

	report_close(b->report);
	assert_int_equal(report_open(&b->report, path, &err), 0);
	assert_int_equal(report_is_partial(b->report), 0);
	assert_int_equal(report_is_damaged(b->report), 0);
}

/* The last row for a frame counts. */
static const char *name_of_frame(struct bench *b, int64_t frame)
{
	struct row rows[64], symbol;
	size_t count = bench_rows(b, TABLE_FRAME_SYMBOL, rows, 64);
	int64_t id = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_FRAME_SYMBOL_FRAME] == frame)
			id = rows[i].values[COLUMN_FRAME_SYMBOL_SYMBOL];
	count = bench_rows(b, TABLE_SYMBOL, rows, 64);
	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_SYMBOL_ID] == id) {
			symbol = rows[i];
			return bench_text(b, &symbol, COLUMN_SYMBOL_NAME);
		}
	return NULL;
}

static void at_its_place(void **state)
{
	struct bench *b = *state;
	char path[4096] = "";
	uint64_t named;
	struct row rows[8];

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	record(b, path);
	assert_int_equal(run(b->path, b->path, NULL, false, &named), 0);
	assert_int_equal(named, 1);
	reopen(b, b->path);
	assert_string_equal(name_of_frame(b, 1), "the_function");
	/* What was there is still there, under its old ids. */
	assert_int_equal(bench_rows(b, TABLE_PROCESS, rows, 8), 1);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_PROCESS_NAME), "bench");
	assert_int_equal(bench_rows(b, TABLE_MODULE, rows, 8), 1);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_MODULE_PATH), path);
	/* Nothing is left to do; with all it is done again, and the later row counts. */
	assert_int_equal(run(b->path, b->path, NULL, false, &named), 0);
	assert_int_equal(named, 0);
	assert_int_equal(run(b->path, b->path, NULL, true, &named), 0);
	assert_int_equal(named, 1);
	reopen(b, b->path);
	assert_int_equal(report_row_count(b->report, TABLE_FRAME_SYMBOL), 2);
	assert_int_equal(bench_rows(b, TABLE_SYMBOL, rows, 8), 2);
	assert_int_equal(rows[1].values[COLUMN_SYMBOL_ID], 2);
	assert_string_equal(name_of_frame(b, 1), "the_function");
}

static void elsewhere(void **state)
{
	struct bench *b = *state;
	char folder[128], output[160], command[1024], id[160] = "";
	struct program p = self();
	uint64_t named;

	record(b, "/nowhere/at/all");
	assert_int_equal(run(b->path, b->path, "/nowhere", false, &named), 0);
	assert_int_equal(named, 0);
	for (size_t i = 0; i < p.build_id_size; i++)
		sprintf(id + 2 * i, "%02x", p.build_id[i]);
	snprintf(folder, sizeof(folder), "%s/files", b->folder);
	snprintf(command, sizeof(command), "mkdir -p %s/.build-id/%.2s && cp /proc/%d/exe %s/.build-id/%.2s/%s", folder, id, (int)getpid(),
		 folder, id, id + 2);
	assert_int_equal(system(command), 0);
	snprintf(output, sizeof(output), "%s/named.sonde", b->folder);
	assert_int_equal(run(b->path, output, folder, false, &named), 0);
	assert_int_equal(named, 1);
	reopen(b, output);
	assert_string_equal(name_of_frame(b, 1), "the_function");
	reopen(b, b->path);
	assert_int_equal(report_row_count(b->report, TABLE_FRAME_SYMBOL), 0);
	snprintf(command, sizeof(command), "rm -rf %s %s", folder, output);
	assert_int_equal(system(command), 0);
}

static char *read_whole(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "r");
	char *bytes = malloc(1 << 20);

	assert_non_null(f);
	*ret_size = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static size_t files_in(const char *folder)
{
	char command[256];
	size_t count = 0;
	FILE *f;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
	f = popen(command, "r");
	assert_int_equal(fscanf(f, "%zu", &count), 1);
	pclose(f);
	return count;
}

/* A report that cannot be written or read stays as it is, and nothing is left beside it. */
static void failures(void **state)
{
	struct bench *b = *state;
	char path[4096] = "", *before, *after;
	size_t size, size_after;
	uint64_t named;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	record(b, path);
	before = read_whole(b->path, &size);
	assert_int_equal(run(b->path, "/nowhere/at/all/x.sonde", NULL, false, &named), -ENOENT);
	assert_int_equal(run(b->path, b->folder, NULL, false, &named), -EISDIR);
	after = read_whole(b->path, &size_after);
	assert_int_equal(size, size_after);
	assert_memory_equal(before, after, size);
	assert_int_equal(files_in(b->folder), 1);
	/* Cut: not complete, and said so. */
	assert_int_equal(truncate(b->path, (off_t)size - 8), 0);
	assert_int_equal(run(b->path, b->path, NULL, false, &named), -EINVAL);
	assert_int_equal(files_in(b->folder), 1);
	assert_int_equal(run("/nowhere/at/all.sonde", b->path, NULL, false, &named), -ENOENT);
	free(before);
	free(after);
	unlink(b->path);
	b->report = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(at_its_place, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(elsewhere, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(failures, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
