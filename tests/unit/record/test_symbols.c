/* Frames of this very process, named when the recording ends. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record/session/address_space.h"
#include "record/stacks/stacks.h"

#define ROWS 1024

__attribute__((noinline)) static int a_static_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static struct space *own_space(struct bench *b)
{
	return space_of(&b->session, 1, (uint32_t)getpid());
}

static uint64_t intern(struct bench *b, const void *pc)
{
	struct stack_walk *walk = calloc(1, sizeof(*walk));
	uint64_t stack;

	walk->count = 1;
	walk->pcs[0] = (uintptr_t)pc;
	stack = stacks_intern(&b->session, own_space(b), walk);
	free(walk);
	assert_int_not_equal(stack, 0);
	return stack;
}

/* The row of the symbol of a stack's only frame; NULL where it got none. */
static const struct row *symbol_of(struct bench *b, uint64_t stack, struct row *room)
{
	struct row *rows = calloc(ROWS, sizeof(*rows));
	size_t count;
	int64_t frame, symbol = 0;

	assert_in_range(stack, 1, bench_rows(b, TABLE_STACK, rows, ROWS));
	frame = rows[stack - 1].values[COLUMN_STACK_FRAME];
	count = bench_rows(b, TABLE_FRAME_SYMBOL, rows, ROWS);
	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_FRAME_SYMBOL_FRAME] == frame)
			symbol = rows[i].values[COLUMN_FRAME_SYMBOL_SYMBOL];
	if (symbol) {
		assert_in_range(symbol, 1, bench_rows(b, TABLE_SYMBOL, rows, ROWS));
		*room = rows[symbol - 1];
		assert_int_equal(room->values[COLUMN_SYMBOL_ID], symbol);
	}
	free(rows);
	return symbol ? room : NULL;
}

static void expect(struct bench *b, uint64_t stack, const char *name, enum symbol_source source)
{
	struct row room;
	const struct row *symbol = symbol_of(b, stack, &room);

	if (!name) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	assert_string_equal(bench_text(b, symbol, COLUMN_SYMBOL_NAME), name);
	assert_int_equal(symbol->values[COLUMN_SYMBOL_SOURCE], source);
}

static void functions_of_program_and_library(void **state)
{
	struct bench *b = *state;
	uint64_t first = intern(b, (const char *)a_static_function), inside = intern(b, (const char *)a_static_function + 1);
	uint64_t library = intern(b, (const void *)qsort_r);
	struct row x, y;

	stacks_resolve(&b->session, NULL);
	bench_finish(b);
	expect(b, first, "a_static_function", SYMBOL_SYMTAB);
	expect(b, inside, "a_static_function", SYMBOL_SYMTAB);
	symbol_of(b, first, &x);
	symbol_of(b, inside, &y);
	assert_int_equal(x.values[COLUMN_SYMBOL_ID], y.values[COLUMN_SYMBOL_ID]);
	assert_non_null(symbol_of(b, library, &x));
	assert_non_null(strstr(bench_text(b, &x, COLUMN_SYMBOL_NAME), "qsort_r"));
	assert_int_equal(a_static_function(1), 2);
}

static void write_map(const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	if (!text)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void code_made_while_running(void **state)
{
	struct bench *b = *state;
	char *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[512];
	uint64_t first, second, none;

	assert_ptr_not_equal(code, MAP_FAILED);
	snprintf(text, sizeof(text), "%lx 40 old name\n0x%lx 20 py::work:/app/job.py\nnonsense\n%lx 40 _Z4calcv\n", (unsigned long)code,
		 (unsigned long)code, (unsigned long)code + 64);
	write_map(text);
	first = intern(b, code + 4);
	second = intern(b, code + 65);
	none = intern(b, code + 4096);
	stacks_resolve(&b->session, NULL);
	write_map(NULL);
	bench_finish(b);
	expect(b, first, "py::work:/app/job.py", SYMBOL_PERF_MAP);
	expect(b, second, "calc()", SYMBOL_PERF_MAP);
	expect(b, none, NULL, 0);
	munmap(code, 8192);
}

/* The kernel's part of a stack: a name where this machine shows its symbols, one diagnostic where not. */
static void kernel_functions(void **state)
{
	struct bench *b = *state;
	struct stack_walk *walk = calloc(1, sizeof(*walk));
	FILE *f = popen("grep -m1 ' T ksys_read$' /proc/kallsyms", "r");
	unsigned long long address = 0;
	uint64_t stack;

	assert_int_equal(fscanf(f, "%llx", &address), 1);
	pclose(f);
	walk->count = walk->kernel = 1;
	walk->pcs[0] = address ? address + 1 : 0xffffffff81234567;
	stack = stacks_intern(&b->session, own_space(b), walk);
	free(walk);
	stacks_resolve(&b->session, NULL);
	bench_finish(b);
	if (address) {
		expect(b, stack, "ksys_read", SYMBOL_KALLSYMS);
	} else {
		struct row rows[8];

		expect(b, stack, NULL, 0);
		assert_int_equal(bench_rows(b, TABLE_DIAGNOSTIC, rows, 8), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_of_program_and_library, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(code_made_while_running, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(kernel_functions, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
