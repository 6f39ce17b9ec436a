#include "agent/torch/names.h"

int torch_learn_name(struct agent_thread_memory *memory, uint64_t key, const struct torch_text *text)
{
	unsigned number = ((unsigned)(key >> 32) % TORCH_NAME_PAIRS) * 2 + (memory->operators.turn++ & 1);
	uint32_t size = (uint32_t)sizeof(struct record_torch_name) + text->length;
	uint64_t thread = torch_state.call.thread_number();
	struct record_torch_name *record = agent_begin(size);

	if (!record)
		return -1;
	record->time = agent_now();
	record->thread = thread;
	arch_copy(record + 1, text->text, text->length);
	memory->operator_names[number] = key;
	agent_end(record, record_head(RECORD_TORCH_NAME, 0, size, number, 0), size);
	return (int)number;
}
