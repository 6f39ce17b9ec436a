/* The top of a caller's stack, for the recorder to unwind. */
#include <string.h>

#include "agent/core/agent.h"

#define PIECE_BYTES ((RING_CHUNK_DATA - (uint32_t)sizeof(struct record_stack)) & ~7u)

/* Where the stack ends is not known (it may be one of the program's own making), and what lies beyond may go at any
 * moment: `size` is what was asked for, and becomes what there was. */
static int write_piece(uint64_t time, const uint64_t *registers, uint32_t at, uint32_t *size, uint32_t left)
{
	struct record_stack *record = agent_begin_piece((uint32_t)sizeof(*record) + *size);
	uint32_t whole;

	if (!record)
		return 0;
	record->time = time;
	memcpy(record->registers, registers, sizeof(record->registers));
	if (*size)
		*size = agent_copy_stack(record + 1, registers[ARCH_DWARF_STACK] + at, *size);
	whole = (uint32_t)sizeof(*record) + *size;
	agent_end(record, record_head(RECORD_STACK, 0, whole, left, 0), whole);
	return 1;
}

__attribute__((noinline)) int agent_write_stack(uint64_t time, uint32_t size)
{
	uint64_t registers[ARCH_DWARF_REGISTERS] = { 0 };
	uint32_t at, part, got;
	int ended = 0;

	agent_report_objects(time);
	size = agent_room_for_stack(size, sizeof(struct record_stack));
	arch_unwind_registers(registers);
	/* As many pieces as the first one said, the last of them empty where the stack ended before. */
	for (at = 0; at < size; at += part) {
		part = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		got = ended ? 0 : part;
		if (!write_piece(time, registers, at, &got, (size - at - 1) / PIECE_BYTES))
			return 0;
		ended |= got < part;
	}
	return size > 0;
}
