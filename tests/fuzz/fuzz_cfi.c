/* libFuzzer: call frame information and stacks that nobody has checked. Rows must make sense, walks must
 * end.
 *
 * Layout of an input: a byte, 0: the rest is a whole ELF file; otherwise the rest is .eh_frame, with
 * this many entries in its sorted table (255: none), two bytes each (place of its FDE, in words) in front
 * of it. The last 256 bytes are also the stack that is unwound. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/cfi_file.h"
#include "replay.h"
#include "symbol/unwind/cfi.h"
#include "symbol/unwind/unwind.h"

#define INPUT_LIMIT (1u << 16)
#define STACK 0x7000u
#define STACK_SIZE 256u
#define STEP 7u

struct subject {
	struct cfi *cfi;
	struct elf_file *file;
};

static void check(int right)
{
	if (!right)
		abort();
}

static int find(void *context, uint64_t address, int sure, struct unwind_place *ret)
{
	struct subject *s = context;

	if (address < 0x1000 || address >= 2 * CFI_FILE_CODE)
		return -ENOENT;
	ret->row = cfi_find(s->cfi, address);
	if (!ret->row)
		ret->row = cfi_read(s->cfi, s->file, address);
	ret->cfi = s->cfi;
	ret->generation = 1;
	return 0;
}

static void walk(struct subject *s, const uint8_t *data, size_t size)
{
	struct unwind_source source = { s, 1, find };
	struct stack_copy copy = { .bytes = data + (size > STACK_SIZE ? size - STACK_SIZE : 0),
				   .size = size > STACK_SIZE ? STACK_SIZE : size };
	struct unwinder *u = unwinder_new();
	uint64_t pcs[64];
	uint8_t cut;

	check(u != NULL);
	for (unsigned i = 0; i < 8; i++) {
		for (unsigned r = 0; r < ARCH_DWARF_REGISTERS; r++)
			copy.registers[r] = STACK + (r * 24 + i) % STACK_SIZE;
		copy.registers[ARCH_DWARF_STACK] = STACK;
		copy.registers[ARCH_DWARF_RETURN] = CFI_FILE_CODE + i * 16;
		check(unwind(u, &source, &copy, pcs, 64, &cut) >= 1);
	}
	unwinder_free(u);
}

static void read_rows(struct subject *s, uint64_t from)
{
	for (uint64_t address = from; address < from + 40 * STEP; address += STEP) {
		const struct cfi_row *row = cfi_read(s->cfi, s->file, address);

		check(row != NULL && row->start <= address && address < row->end);
		check(row->rule_count <= ARCH_DWARF_REGISTERS);
		check(cfi_find(s->cfi, address) == row);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[CFI_FILE_FRAMES + INPUT_LIMIT];
	struct cfi_file_entry entries[CFI_FILE_ENTRIES];
	unsigned count = size ? data[0] : 0;
	struct subject s;
	int r;

	if (size < 2 || size > INPUT_LIMIT)
		return 0;
	if (count == 0) {
		r = elf_file_open_memory(&s.file, data + 1, size - 1, NULL);
	} else {
		unsigned used = count == 255 ? 0 : count % CFI_FILE_ENTRIES;
		size_t rest;

		if (size < 1 + 2 * used)
			return 0;
		for (unsigned i = 0; i < used; i++)
			entries[i] = (struct cfi_file_entry){ CFI_FILE_CODE + i * 16, 4u * (data[1 + 2 * i] | data[2 + 2 * i] << 8) };
		rest = cfi_file_make(image, data + 1 + 2 * used, size - 1 - 2 * used, entries, count == 255 ? -1 : (int)used);
		r = elf_file_open_memory(&s.file, image, rest, NULL);
	}
	if (r < 0)
		return 0;
	s.cfi = cfi_new();
	check(s.cfi != NULL);
	read_rows(&s, CFI_FILE_CODE);
	if (count == 0)
		read_rows(&s, 0x1000);
	walk(&s, data, size);
	cfi_free(s.cfi);
	elf_file_close(s.file);
	return 0;
}
