#include "symbol/unwind/cfi.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/arch.h"
#include "base/array.h"
#include "symbol/unwind/cfi_image.h"

#define ROW_LIMIT (1u << 18)
#define EXPRESSION_LIMIT (1u << 16)
#define OPS_LIMIT 64u                /* of one expression */
#define DEBUG_LIMIT (64ull << 20)    /* bytes of debug sections read to get at .debug_frame */
#define HEADLESS_LIMIT (16ull << 20) /* of a file without section headers, which is read whole */

struct cfi {
	struct cfi_row **rows; /* sorted, without overlaps */
	uint32_t row_count;
	uint32_t row_cap;
	struct cfi_expression *expressions;
	uint32_t expression_count;
	uint32_t expression_cap;
	/* The file, while it is open. */
	const struct elf_file *file;
	struct cfi_image image; /* of its tables, where they are of the usual kind */
	Dwarf_CFI *exceptions;  /* .eh_frame */
	Dwarf *debug;
	Dwarf_CFI *frames;       /* .debug_frame, belongs to `debug` */
	struct cfi_row *scratch; /* where a row is put together */
	uint8_t debug_wanted;    /* it is there, and not too costly; not read yet */
};

struct cfi *cfi_new(void)
{
	struct cfi *cfi = calloc(1, sizeof(*cfi));

	if (!cfi)
		return NULL;
	cfi->scratch = calloc(1, sizeof(*cfi->scratch) + (ARCH_DWARF_REGISTERS + 1) * sizeof(struct cfi_rule));
	if (!cfi->scratch) {
		free(cfi);
		return NULL;
	}
	return cfi;
}

void cfi_detach(struct cfi *cfi)
{
	if (!cfi)
		return;
	if (cfi->exceptions)
		dwarf_cfi_end(cfi->exceptions);
	cfi_image_release(&cfi->image);
	if (cfi->debug)
		dwarf_end(cfi->debug);
	cfi->file = NULL;
	cfi->exceptions = cfi->frames = NULL;
	cfi->debug = NULL;
	cfi->debug_wanted = 0;
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	cfi_detach(cfi);
	for (uint32_t i = 0; i < cfi->row_count; i++)
		free(cfi->rows[i]);
	for (uint32_t i = 0; i < cfi->expression_count; i++)
		free((void *)cfi->expressions[i].ops);
	free(cfi->rows);
	free(cfi->expressions);
	free(cfi->scratch);
	free(cfi);
}

struct cfi_expression cfi_expression(const struct cfi *cfi, int32_t number)
{
	return cfi->expressions[number];
}

/* The first row that ends behind the address. */
static uint32_t position(const struct cfi *cfi, uint64_t address)
{
	uint32_t low = 0, high = cfi->row_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cfi->rows[middle]->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct cfi_row *cfi_find(const struct cfi *cfi, uint64_t address)
{
	uint32_t at = position(cfi, address);

	return at < cfi->row_count && cfi->rows[at]->start <= address ? cfi->rows[at] : NULL;
}

/* What reading the file's tables would cost. */
struct weight {
	int sections;   /* there are any */
	int has_frames; /* .debug_frame */
	uint64_t debug; /* bytes of all debug sections */
};

static struct weight weigh(Elf *elf)
{
	struct weight weight = { 0 };
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return weight;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		weight.sections = 1;
		if (!gelf_getshdr(section, &header) || !(name = elf_strptr(elf, names, header.sh_name)))
			continue;
		weight.has_frames |= strcmp(name, ".debug_frame") == 0;
		if (strncmp(name, ".debug_", 7) == 0)
			weight.debug += header.sh_size;
	}
	return weight;
}

static void load_cfi_tables(struct cfi *cfi, const struct elf_file *file)
{
	Elf *elf = elf_file_elf(file);
	struct weight weight = weigh(elf);

	cfi->file = file;
	if (cfi_image_make(&cfi->image, file) == 0)
		cfi->exceptions = dwarf_getcfi_elf(cfi->image.elf);
	else if (weight.sections || elf_file_size(file) <= HEADLESS_LIMIT)
		cfi->exceptions = dwarf_getcfi_elf(elf);
	cfi->debug_wanted = weight.has_frames && weight.debug <= DEBUG_LIMIT;
}

static void attach_debug(struct cfi *cfi)
{
	cfi->debug_wanted = 0;
	cfi->debug = dwarf_begin_elf(elf_file_elf(cfi->file), DWARF_C_READ, NULL);
	if (cfi->debug)
		cfi->frames = dwarf_getcfi(cfi->debug);
}

static int is_32_bit_value(int64_t value)
{
	return value == (int32_t)value;
}

/* Its number, or -1. */
static int32_t keep_expression(struct cfi *cfi, const Dwarf_Op *ops, size_t count)
{
	Dwarf_Op *copy;

	if (!count || count > OPS_LIMIT || cfi->expression_count >= EXPRESSION_LIMIT)
		return -1;
	if (!ARRAY_ROOM(cfi->expressions, cfi->expression_count, cfi->expression_cap, 1))
		return -1;
	copy = malloc(count * sizeof(*copy));
	if (!copy)
		return -1;
	memcpy(copy, ops, count * sizeof(*copy));
	cfi->expressions[cfi->expression_count] = (struct cfi_expression){ count, copy };
	return (int32_t)cfi->expression_count++;
}

static int take_cfa(struct cfi *cfi, Dwarf_Frame *frame, struct cfi_row *row)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) < 0 || count == 0)
		return -EBADMSG;
	if (count == 1 && ops[0].atom == DW_OP_bregx && ops[0].number < ARCH_DWARF_REGISTERS && is_32_bit_value((int64_t)ops[0].number2)) {
		row->cfa_register = (uint8_t)ops[0].number;
		row->cfa_offset = (int32_t)ops[0].number2;
		return 0;
	}
	row->cfa_register = CFI_BY_EXPRESSION;
	row->cfa_offset = keep_expression(cfi, ops, count);
	return row->cfa_offset < 0 ? -EBADMSG : 0;
}

/* A location (or, with a last DW_OP_stack_value, a value) as a rule. */
static int make_rule(struct cfi *cfi, const Dwarf_Op *ops, size_t count, struct cfi_rule *ret)
{
	int is_value = ops[count - 1].atom == DW_OP_stack_value;
	size_t used = count - (is_value ? 1 : 0);
	int64_t offset = used == 2 ? (int64_t)ops[1].number : 0;

	if (count == 1 && ops[0].atom == DW_OP_regx && ops[0].number < ARCH_DWARF_REGISTERS) {
		ret->kind = CFI_REGISTER;
		ret->value = (int32_t)ops[0].number;
		return 0;
	}
	if (used && ops[0].atom == DW_OP_call_frame_cfa && is_32_bit_value(offset) &&
	    (used == 1 || (used == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		ret->kind = is_value ? CFI_VALUE : CFI_SAVED;
		ret->value = (int32_t)offset;
		return 0;
	}
	ret->kind = is_value ? CFI_VALUE_BY_EXPRESSION : CFI_SAVED_BY_EXPRESSION;
	ret->value = keep_expression(cfi, ops, used);
	return ret->value < 0 ? -EBADMSG : 0;
}

/* Registers that the callee may have destroyed are not recovered; nobody needs them, but the
 * return address: a function without one has no caller. */
static int take_register(struct cfi *cfi, Dwarf_Frame *frame, unsigned number, struct cfi_row *row)
{
	struct cfi_rule *rule = &row->rules[row->rule_count];
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) < 0)
		return -EBADMSG;
	if (count == 0) {
		if (number == ARCH_DWARF_RETURN && !ops)
			return -EBADMSG;
		row->root |= number == ARCH_DWARF_RETURN;
		return 0;
	}
	*rule = (struct cfi_rule){ .target = (uint8_t)number };
	if (make_rule(cfi, ops, count, rule) < 0)
		return -EBADMSG;
	/* The caller's stack pointer is the CFA unless it is told otherwise. */
	if (number != ARCH_DWARF_STACK || rule->kind != CFI_VALUE || rule->value != 0)
		row->rule_count++;
	return 0;
}

/* The range of the state at an address. Behind DW_CFA_restore_state libdw tells the start of the state that
 * was remembered: it is good only if the state there lasts until here. */
static void take_range(Dwarf_CFI *in, Dwarf_Frame *frame, uint64_t address, struct cfi_row *row)
{
	Dwarf_Addr start, end, there, lasts;
	Dwarf_Frame *first;
	bool unused;

	if (dwarf_frame_info(frame, &start, &end, &unused) < 0 || start > address || address >= end)
		return;
	row->end = end;
	if (start == address || dwarf_cfi_addrframe(in, start, &first) != 0)
		return;
	if (dwarf_frame_info(first, &there, &lasts, &unused) >= 0 && lasts > address)
		row->start = start;
	free(first);
}

static int take_cfi_frame(struct cfi *cfi, Dwarf_Frame *frame, struct cfi_row *row)
{
	bool is_signal = false;
	int r;

	if (dwarf_frame_info(frame, NULL, NULL, &is_signal) < 0)
		return -EBADMSG;
	row->signal = is_signal;
	r = take_cfa(cfi, frame, row);
	for (unsigned i = 0; i < ARCH_DWARF_REGISTERS && r == 0; i++)
		r = take_register(cfi, frame, i, row);
	row->covered = r == 0;
	return r;
}

static int look_up_cfi_row(struct cfi *cfi, Dwarf_CFI *in, uint64_t address, struct cfi_row *row)
{
	Dwarf_Frame *frame;
	int r;

	if (!in || dwarf_cfi_addrframe(in, address, &frame) != 0)
		return -ENOENT;
	r = take_cfi_frame(cfi, frame, row);
	if (r == 0)
		take_range(in, frame, address, row);
	free(frame);
	return r;
}

/* Puts it between its neighbours, cut to the room they leave. */
static const struct cfi_row *insert(struct cfi *cfi, const struct cfi_row *found)
{
	size_t size = sizeof(*found) + found->rule_count * sizeof(found->rules[0]);
	uint32_t at = position(cfi, found->start);
	struct cfi_row *row;

	if (!ARRAY_ROOM(cfi->rows, cfi->row_count, cfi->row_cap, 1))
		return NULL;
	row = malloc(size);
	if (!row)
		return NULL;
	memcpy(row, found, size);
	memmove(cfi->rows + at + 1, cfi->rows + at, (cfi->row_count - at) * sizeof(*cfi->rows));
	cfi->rows[at] = row;
	cfi->row_count++;
	return row;
}

static void cut_to_room(const struct cfi *cfi, struct cfi_row *row, uint64_t address)
{
	uint32_t next = position(cfi, address);

	if (next < cfi->row_count && cfi->rows[next]->start < row->end)
		row->end = cfi->rows[next]->start;
	if (next > 0 && cfi->rows[next - 1]->end > row->start)
		row->start = cfi->rows[next - 1]->end;
}

static void begin_cfi_row(struct cfi_row *row, uint64_t address)
{
	*row = (struct cfi_row){ .start = address, .end = address + 1 };
}

const struct cfi_row *cfi_read(struct cfi *cfi, const struct elf_file *file, uint64_t address)
{
	const struct cfi_row *known = cfi_find(cfi, address);
	struct cfi_row *row = cfi->scratch;

	if (known)
		return known;
	if (cfi->row_count >= ROW_LIMIT || address == UINT64_MAX)
		return NULL;
	if (cfi->file != file) {
		cfi_detach(cfi);
		load_cfi_tables(cfi, file);
	}
	if (cfi->image.elf)
		cfi_image_load(&cfi->image, file, address);
	begin_cfi_row(row, address);
	if (look_up_cfi_row(cfi, cfi->exceptions, address, row) < 0) {
		if (cfi->debug_wanted)
			attach_debug(cfi);
		begin_cfi_row(row, address);
		if (look_up_cfi_row(cfi, cfi->frames, address, row) < 0)
			begin_cfi_row(row, address);
	}
	cut_to_room(cfi, row, address);
	return insert(cfi, row);
}
