/* Numbers for texts in a thread's ring. A text is its content at the call: its number is found by a hash of 64 bits over all of it, in which
 * the thread's life is mixed. */
#ifndef SONDE_AGENT_TORCH_NAMES_H
#define SONDE_AGENT_TORCH_NAMES_H

#include "agent/torch/torch.h"

#define TORCH_NAME_PAIRS (TORCH_NAMES / 2)

_Static_assert(TORCH_PLACES == AGENT_OPERATORS && TORCH_NAMES == AGENT_OPERATORS, "the thread's memory has room for them");

struct torch_text {
	const char *text;
	uint32_t length;
	uint64_t hash;
};

static inline uint64_t torch_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static inline struct torch_text torch_text_of(const char *text)
{
	struct torch_text ret = { .text = text };
	uint64_t last = 0;
	uint32_t at = 0;

	ret.length = text ? (uint32_t)arch_text_length(text, TORCH_TEXT_MAX) : 0;
	ret.hash = ret.length + 1;
	for (; at + 8 <= ret.length; at += 8)
		ret.hash = torch_mix(ret.hash, *(const uint64_t *)(const void *)(text + at));
	for (; at < ret.length; at++)
		last = last << 8 | (uint8_t)text[at];
	ret.hash = torch_mix(ret.hash, last);
	return ret;
}

/* The number that the text has from now on; -1: no room, which is counted. */
AGENT_COLD int torch_learn_name(struct agent_thread_memory *memory, uint64_t key, const struct torch_text *text)
	__attribute__((visibility("hidden")));

static inline int torch_name_number(struct agent_thread_memory *memory, const struct torch_text *text)
{
	uint64_t key = torch_mix(text->hash, memory->life) | 1;
	unsigned number = ((unsigned)(key >> 32) % TORCH_NAME_PAIRS) * 2;

	if (agent_likely(memory->operator_names[number] == key))
		return (int)number;
	if (memory->operator_names[number + 1] == key)
		return (int)number + 1;
	return torch_learn_name(memory, key, text);
}

#endif
