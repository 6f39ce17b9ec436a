/* Call frame information put together byte by byte, as DWARF defines it: what it says is known before it is
 * read. Expressions, and tables that lie. */
#include "support.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "../../support/cfi_file.h"
#include "symbol/unwind/cfi.h"
#include "symbol/unwind/cfi_expression.h"

#define FRAMES_SIZE 4096
#define CIE_SIZE 24u

struct frames {
	uint8_t bytes[FRAMES_SIZE];
	size_t size;
	struct cfi_file_entry entries[4];
	int count;
};

static void put(struct frames *f, const void *bytes, size_t size)
{
	assert_true(f->size + size <= FRAMES_SIZE);
	if (size)
		memcpy(f->bytes + f->size, bytes, size);
	f->size += size;
}

static void put32(struct frames *f, uint32_t value)
{
	put(f, &value, sizeof(value));
}

/* Augmentation "zR" or "zRS", addresses relative, CFA = rsp + 8, return address at CFA - 8. */
static void put_cie(struct frames *f, int is_signal)
{
	static const uint8_t plain[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	static const uint8_t signal_frame[] = { 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0 };

	put32(f, CIE_SIZE - 4);
	put32(f, 0);
	put(f, is_signal ? signal_frame : plain, 16);
}

/* Code of `length` bytes at CFI_FILE_CODE + at, of the CIE at the beginning. */
static void put_fde(struct frames *f, uint32_t at, uint32_t length, const uint8_t *program, uint32_t size)
{
	uint32_t start = (uint32_t)f->size, padded = (13 + size + 3) & ~3u;

	f->entries[f->count++] = (struct cfi_file_entry){ CFI_FILE_CODE + at, start };
	put32(f, padded);
	put32(f, start + 4);
	put32(f, CFI_FILE_CODE + at - (CFI_FILE_FRAMES + start + 8));
	put32(f, length);
	put(f, "", 1);
	put(f, program, size);
	while (f->size < start + 4 + padded)
		put(f, "", 1);
}

struct opened {
	struct cfi *cfi;
	struct elf_file *file;
};

static struct opened open_frames(const struct frames *f, int count)
{
	static uint8_t image[CFI_FILE_FRAMES + FRAMES_SIZE];
	struct opened o = { cfi_new(), NULL };

	assert_int_equal(elf_file_open_memory(&o.file, image, cfi_file_make(image, f->bytes, f->size, f->entries, count), NULL), 0);
	return o;
}

static void close_frames(struct opened *o)
{
	cfi_free(o->cfi);
	elf_file_close(o->file);
}

static const struct cfi_row *row_at(struct opened *o, uint32_t at)
{
	const struct cfi_row *row = cfi_read(o->cfi, o->file, CFI_FILE_CODE + at);

	assert_non_null(row);
	assert_in_range(CFI_FILE_CODE + at, row->start, row->end - 1);
	assert_ptr_equal(cfi_find(o->cfi, CFI_FILE_CODE + at), row);
	return row;
}

static const struct cfi_rule *rule_of(const struct cfi_row *row, unsigned number)
{
	for (uint32_t i = 0; i < row->rule_count; i++)
		if (row->rules[i].target == number)
			return &row->rules[i];
	return NULL;
}

static void expect_saved(const struct cfi_row *row, unsigned number, int32_t offset)
{
	const struct cfi_rule *rule = rule_of(row, number);

	assert_non_null(rule);
	assert_int_equal(rule->kind, CFI_SAVED);
	assert_int_equal(rule->value, offset);
}

static void expect_range(const struct cfi_row *row, uint32_t start, uint32_t end)
{
	assert_int_equal(row->start - CFI_FILE_CODE, start);
	assert_int_equal(row->end - CFI_FILE_CODE, end);
}

/* push %rbp; mov %rsp,%rbp; ... remember; leave; ret; restore; ... */
static const uint8_t usual[] = {
	0x41, 0x0e, 16,   0x86, 2, /* +1: CFA = rsp + 16, rbp at CFA - 16 */
	0x43, 0x0d, 6,             /* +3: CFA = rbp + 16 */
	0x50, 0x0a, 0x0c, 7,    8, /* +16: remember; CFA = rsp + 8 */
	0x41, 0x0b                 /* +1: restore */
};

static void check_usual(struct opened *o)
{
	const struct cfi_row *row = row_at(o, 30);

	/* First what lies behind the restored state: it must not swallow what is between. */
	assert_int_equal(row->cfa_register, 6);
	assert_int_equal(row->cfa_offset, 16);
	assert_int_equal(row->end - CFI_FILE_CODE, 64);
	row = row_at(o, 20);
	assert_int_equal(row->cfa_register, 7);
	assert_int_equal(row->cfa_offset, 8);
	expect_range(row, 20, 21);
	row = row_at(o, 0);
	expect_range(row, 0, 1);
	assert_int_equal(row->cfa_offset, 8);
	expect_saved(row, ARCH_DWARF_RETURN, -8);
	assert_null(rule_of(row, 6));
	row = row_at(o, 2);
	expect_range(row, 1, 4);
	assert_int_equal(row->cfa_register, 7);
	assert_int_equal(row->cfa_offset, 16);
	expect_saved(row, 6, -16);
	row = row_at(o, 10);
	expect_range(row, 4, 20);
	assert_int_equal(row->cfa_register, 6);
	assert_int_equal(row->covered, 1);
	assert_int_equal(row->root, 0);
	assert_int_equal(row->signal, 0);
	assert_int_equal(row_at(o, 64)->covered, 0);
}

static void a_function_with_prologue_and_epilogue(void **state)
{
	struct frames f = { .size = 0 };
	struct opened o;

	put_cie(&f, 0);
	put_fde(&f, 0, 64, usual, sizeof(usual));
	o = open_frames(&f, f.count);
	check_usual(&o);
	/* The file is closed and comes back: what was read is still there. */
	cfi_detach(o.cfi);
	elf_file_close(o.file);
	assert_int_equal(cfi_find(o.cfi, CFI_FILE_CODE + 10)->cfa_register, 6);
	cfi_free(o.cfi);
	put32(&f, 0);
	o = open_frames(&f, -1);
	check_usual(&o);
	close_frames(&o);
}

static void roots_and_signal_frames(void **state)
{
	static const uint8_t undefined[] = { 0x07, 16 };
	struct frames f = { .size = 0 };
	struct opened o;

	put_cie(&f, 1);
	put_fde(&f, 0, 16, undefined, sizeof(undefined));
	put_fde(&f, 16, 16, NULL, 0);
	o = open_frames(&f, f.count);
	assert_int_equal(row_at(&o, 0)->root, 1);
	assert_int_equal(row_at(&o, 16)->root, 0);
	assert_int_equal(row_at(&o, 16)->signal, 1);
	close_frames(&o);
}

/* The PLT's: CFA = rsp + 8 + ((rip & 15) >= 11) << 3. */
static void expressions_of_all_kinds(void **state)
{
	/* clang-format off */
	static const uint8_t program[] = {
		0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22,
		0x09, 13, 12,                 /* r13 is in r12 */
		0x10, 3, 2, 0x77, 16,         /* rbx at rsp + 16 */
		0x16, 14, 2, 0x7c, 0x7f,      /* r14 = r12 - 1 */
		0x14, 15, 1                   /* r15 = CFA - 8 */
	};
	/* clang-format on */
	struct frames f = { .size = 0 };
	struct stack_copy copy = { .size = 0 };
	struct cfi_expression e;
	const struct cfi_row *row;
	struct opened o;
	uint64_t value;

	put_cie(&f, 0);
	put_fde(&f, 0, 16, program, sizeof(program));
	o = open_frames(&f, f.count);
	row = row_at(&o, 5);
	assert_int_equal(row->cfa_register, CFI_BY_EXPRESSION);
	e = cfi_expression(o.cfi, row->cfa_offset);
	copy.registers[ARCH_DWARF_STACK] = 1000;
	for (unsigned i = 0; i < 16; i++) {
		copy.registers[ARCH_DWARF_RETURN] = 0x5550 + i;
		assert_int_equal(cfi_evaluate(&e, &copy, copy.registers, 0, &value), 0);
		assert_int_equal(value, i >= 11 ? 1016 : 1008);
	}
	assert_int_equal(rule_of(row, 13)->kind, CFI_REGISTER);
	assert_int_equal(rule_of(row, 13)->value, 12);
	assert_int_equal(rule_of(row, 15)->kind, CFI_VALUE);
	assert_int_equal(rule_of(row, 15)->value, -8);
	assert_int_equal(rule_of(row, 3)->kind, CFI_SAVED_BY_EXPRESSION);
	assert_int_equal(rule_of(row, 14)->kind, CFI_VALUE_BY_EXPRESSION);
	e = cfi_expression(o.cfi, rule_of(row, 14)->value);
	copy.registers[12] = 43;
	assert_int_equal(cfi_evaluate(&e, &copy, copy.registers, 7, &value), 0);
	assert_int_equal(value, 42);
	close_frames(&o);
}

static int evaluate(const Dwarf_Op *ops, size_t count, uint64_t *ret)
{
	static const uint64_t words[2] = { 111, 222 };
	struct stack_copy copy = { .bytes = (const uint8_t *)words, .size = sizeof(words) };
	struct cfi_expression e = { count, ops };

	copy.registers[ARCH_DWARF_STACK] = 0x1000;
	return cfi_evaluate(&e, &copy, copy.registers, 0x2000, ret);
}

static void expressions_that_lie(void **state)
{
	const Dwarf_Op forever[] = { { DW_OP_skip, (Dwarf_Word)-3, 0, 0 } };
	const Dwarf_Op nowhere[] = { { DW_OP_skip, 5, 0, 0 } };
	const Dwarf_Op empty[] = { { DW_OP_plus, 0, 0, 0 } };
	const Dwarf_Op by_zero[] = { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_lit0, 0, 0, 1 }, { DW_OP_div, 0, 0, 2 } };
	const Dwarf_Op strange[] = { { DW_OP_breg0 + 30, 0, 0, 0 } };
	const Dwarf_Op growing[] = { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_dup, 0, 0, 1 }, { DW_OP_skip, (Dwarf_Word)-4, 0, 2 } };
	const Dwarf_Op outside[] = { { DW_OP_breg7, 9, 0, 0 }, { DW_OP_deref, 0, 0, 2 } };
	const Dwarf_Op inside[] = { { DW_OP_breg7, 8, 0, 0 }, { DW_OP_deref, 0, 0, 2 } };
	const Dwarf_Op nothing[] = { { DW_OP_nop, 0, 0, 0 } };
	uint64_t value;

	assert_int_equal(evaluate(forever, 1, &value), -EBADMSG);
	assert_int_equal(evaluate(nowhere, 1, &value), -EBADMSG);
	assert_int_equal(evaluate(empty, 1, &value), -EBADMSG);
	assert_int_equal(evaluate(by_zero, 3, &value), -EBADMSG);
	assert_int_equal(evaluate(strange, 1, &value), -EBADMSG);
	assert_int_equal(evaluate(growing, 3, &value), -EBADMSG);
	assert_int_equal(evaluate(nothing, 1, &value), -EBADMSG);
	assert_int_equal(evaluate(outside, 2, &value), -EFAULT);
	assert_int_equal(evaluate(inside, 2, &value), 0);
	assert_int_equal(value, 222);
}

/* Cut at every byte, and with every byte changed: never more than a wrong row. */
static void damaged_tables(void **state)
{
	struct frames whole = { .size = 0 }, f;

	put_cie(&whole, 0);
	put_fde(&whole, 0, 64, usual, sizeof(usual));
	for (size_t i = 0; i < whole.size * 2; i++) {
		struct opened o;

		f = whole;
		if (i < whole.size)
			f.size = i;
		else
			f.bytes[i - whole.size] ^= (uint8_t)(0xff >> i % 5);
		o = open_frames(&f, i % 3 ? f.count : -1);
		for (uint32_t at = 0; at < 80; at += 3)
			row_at(&o, at);
		close_frames(&o);
	}
}

/* An entry whose CIE is itself, or lies before the beginning. */
static void circles(void **state)
{
	struct frames whole = { .size = 0 }, f;
	const uint32_t pointers[] = { 4, 0x7fffffff, 0xffffffff, 28 };

	put_cie(&whole, 0);
	put_fde(&whole, 0, 64, usual, sizeof(usual));
	for (unsigned i = 0; i < 4; i++) {
		struct opened o;

		f = whole;
		memcpy(f.bytes + CIE_SIZE + 4, &pointers[i], 4);
		o = open_frames(&f, f.count);
		assert_int_equal(row_at(&o, 5)->covered, pointers[i] == CIE_SIZE + 4);
		close_frames(&o);
	}
}

/* A file as a linker makes it; where the function's first instruction is, nm tells. */
static void check_linked(void **state, const char *arguments)
{
	struct opened o = { cfi_new(), NULL };
	const struct cfi_row *row;
	uint64_t address;
	char *text;

	write_text(state, "f.s",
		   ".globl f\nf: .cfi_startproc\nnop\npush %rbp\n.cfi_def_cfa_offset 16\n"
		   ".cfi_offset 6,-16\nnop\npop %rbp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n");
	write_text(state, "d.s", ".cfi_sections .debug_frame\n.include \"f.s\"\n");
	if (shell(state, "%s", arguments) != 0)
		skip();
	text = shell_output(state, "nm f.so | grep ' f$'");
	address = strtoull(text, NULL, 16);
	free(text);
	assert_int_equal(elf_file_open(&o.file, open(in_folder(state, "f.so"), O_RDONLY | O_CLOEXEC), NULL), 0);
	row = cfi_read(o.cfi, o.file, address + 2);
	assert_int_equal(row->covered, 1);
	assert_int_equal(row->cfa_offset, 16);
	assert_int_equal(row->start, address + 2);
	assert_int_equal(row->end, address + 4);
	expect_saved(row, 6, -16);
	assert_int_equal(cfi_read(o.cfi, o.file, address)->cfa_offset, 8);
	assert_int_equal(cfi_read(o.cfi, o.file, address + 100000)->covered, 0);
	close_frames(&o);
}

static void frames_for_debuggers(void **state)
{
	check_linked(state, "gcc -shared -nostdlib d.s -o f.so");
}

/* gold puts .eh_frame_hdr behind .eh_frame. */
static void frames_of_other_linkers(void **state)
{
	check_linked(state, "gcc -shared -nostdlib -fuse-ld=gold f.s -o f.so");
}

static void frames_without_a_sorted_table(void **state)
{
	check_linked(state, "gcc -shared -nostdlib -Wl,--no-eh-frame-hdr f.s -o f.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_with_prologue_and_epilogue),
		cmocka_unit_test(roots_and_signal_frames),
		cmocka_unit_test(expressions_of_all_kinds),
		cmocka_unit_test(expressions_that_lie),
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(circles),
		cmocka_unit_test_setup_teardown(frames_for_debuggers, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(frames_of_other_linkers, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(frames_without_a_sorted_table, folder_set_up, folder_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
