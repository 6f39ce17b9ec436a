/* frame_lines(): where in the source a frame is. The frames are functions of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/query.h"
#include "report/writer.h"
#include "symbol/elf/build_id.h"
#include "symbol/elf/elf_file.h"

enum { NOP_AT = __LINE__ + 3 };
static inline __attribute__((always_inline)) int inlined_here(int x)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
	return x + 1;
}

enum { CALL_AT = __LINE__ + 3 };
__attribute__((noinline)) static int not_inlined(int x)
{
	return inlined_here(x) * 3;
}

static char path[64], exe[4096];

static uint64_t address_in_file(struct elf_file *file, const void *code)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long from, to, offset;
	uint64_t address = 0;
	char line[4200];

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 && (uintptr_t)code >= from && (uintptr_t)code < to)
			assert_int_equal(elf_file_address(file, (uintptr_t)code - from + offset, &address), 0);
	fclose(maps);
	assert_int_not_equal(address, 0);
	return address;
}

static void append(struct report_writer *w, enum table_id table, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(w, table, 0), values, present), 0);
}

static int set_up(void **state)
{
	static const uint8_t nops[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	const uint8_t *code = memmem((const void *)not_inlined, 64, nops, sizeof(nops)), *id;
	char text[BUILD_ID_TEXT_SIZE];
	size_t id_size;
	struct report_writer *w;
	struct elf_file *file;
	struct error err;
	int64_t module[] = { 1, MODULE_FILE, 0, 0 }, frame[] = { 1, 1, 0 }, foreign[] = { 2, 0, 77 };

	assert_non_null(code);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(elf_file_open(&file, open(exe, O_RDONLY | O_CLOEXEC), &err), 0);
	id_size = elf_file_build_id(file, &id);
	build_id_to_text(id, id_size, text);
	frame[2] = (int64_t)address_in_file(file, code + 2);
	snprintf(path, sizeof(path), "lines-%d.sonde", (int)getpid());
	assert_int_equal(report_writer_open(&w, path, 1, NULL, 0, &err), 0);
	module[2] = (int64_t)report_string(w, exe, strlen(exe));
	module[3] = (int64_t)report_string(w, text, strlen(text));
	append(w, TABLE_MODULE, module, 15);
	append(w, TABLE_FRAME, frame, 7);
	append(w, TABLE_FRAME, foreign, 5);
	assert_int_equal(report_writer_finish(w, &err), 0);
	elf_file_close(file);
	setenv("XDG_CACHE_HOME", "/nowhere", 1);
	return 0;
}

static int tear_down(void **state)
{
	return unlink(path);
}

static void expect_row(sqlite3_stmt *s, int depth, const char *function, int line)
{
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(s, 0), depth);
	assert_string_equal((const char *)sqlite3_column_text(s, 1), function);
	assert_non_null(strstr((const char *)sqlite3_column_text(s, 2), "test_frame_lines.c"));
	assert_int_equal(sqlite3_column_int(s, 3), line);
}

static void lines_of_a_frame(void **state)
{
	struct query *q;
	struct error err;
	sqlite3_stmt *s;

	assert_int_equal(query_open(&q, path, &err), 0);
	assert_int_equal(sqlite3_prepare_v2(query_db(q),
					    "SELECT l.depth, l.function, l.file, l.line, l.frame "
					    "FROM sonde_frame f, frame_lines(f.id) l ORDER BY f.id, l.depth",
					    -1, &s, NULL),
			 SQLITE_OK);
	expect_row(s, 0, "inlined_here", NOP_AT);
	assert_int_equal(sqlite3_column_int(s, 4), 1);
	expect_row(s, 1, "not_inlined", CALL_AT);
	/* The other frame lies in nothing that is known. */
	assert_int_equal(sqlite3_step(s), SQLITE_DONE);
	sqlite3_finalize(s);
	assert_int_equal(sqlite3_prepare_v2(query_db(q), "SELECT count(*) FROM frame_lines(99)", -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(s, 0), 0);
	sqlite3_finalize(s);
	/* It cannot be read as a whole: there is no end of addresses. */
	assert_int_not_equal(sqlite3_prepare_v2(query_db(q), "SELECT * FROM frame_lines", -1, &s, NULL), SQLITE_OK);
	query_close(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(lines_of_a_frame, set_up, tear_down) };

	return not_inlined(1) == 6 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
