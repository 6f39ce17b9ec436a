/* The top of a caller's stack, for the recorder to unwind. */
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/osrt/osrt.h"

#define PAGE 4096u
#define PIECE_BYTES ((RING_CHUNK_DATA - (uint32_t)sizeof(struct record_stack)) & ~7u)

/* Where the stack ends is not known (it may be one of the program's own making): pages are asked for, one
 * by one. */
static uint32_t readable_bytes(uintptr_t from, uint32_t size)
{
	uintptr_t end = from + size;

	for (uintptr_t page = (from & ~(uintptr_t)(PAGE - 1)) + PAGE; page < end; page += PAGE)
		if (!raw_readable((const void *)page))
			return (uint32_t)(page - from);
	return size;
}

static int write_piece(uint64_t time, const uint64_t *registers, uint32_t at, uint32_t size, uint32_t left)
{
	uint32_t whole = (uint32_t)sizeof(struct record_stack) + size;
	struct record_stack *record = agent_begin(whole);

	if (!record)
		return 0;
	record->time = time;
	memcpy(record->registers, registers, sizeof(record->registers));
	arch_copy(record + 1, (const uint8_t *)registers[ARCH_DWARF_STACK] + at, size);
	agent_end(record, record_head(RECORD_STACK, 0, whole, left, 0), whole);
	return 1;
}

__attribute__((noinline)) int osrt_write_stack(uint64_t time)
{
	uint64_t registers[ARCH_DWARF_REGISTERS] = { 0 };
	uint32_t size, at, part;

	agent_tell_objects(time);
	arch_unwind_registers(registers);
	size = readable_bytes(registers[ARCH_DWARF_STACK], agent_pages.session.osrt_stack_size);
	for (at = 0; at < size; at += part) {
		part = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		if (!write_piece(time, registers, at, part, (size - at - 1) / PIECE_BYTES))
			return 0;
	}
	return 1;
}
