/* Names this thread used recently. A push whose name is among them is one word in the
 * ring: the name's number, given by a RECORD_NVTX_NAME before.
 *
 * An entry is found by the address of the text, but holds if the content is the same: a name is
 * its content at the call. A text that changed under its address is likely to change again (a
 * buffer written anew for each range): such an address is not given a number any more. */
#ifndef SONDE_AGENT_NVTX_RECENT_H
#define SONDE_AGENT_NVTX_RECENT_H

#include "agent/nvtx/nvtx.h"

#define RECENT_TEXT 96u

struct nvtx_recent {
	const void *key; /* the text's address, or a registered string */
	uint64_t kind;   /* see nvtx_look_kind */
	uint64_t look;   /* colour, category */
	uint64_t unused;
	char text[RECENT_TEXT];
};

_Static_assert(sizeof(struct nvtx_recent) == 128, "two lines an entry");
_Static_assert(sizeof(struct nvtx_recent) * RECORD_SHORT_NAMES <= AGENT_MODULE_MEMORY, "fits the thread's memory");

/* What a name is made of, beside its text. */
struct nvtx_look {
	const void *key;
	uint32_t domain;
	uint32_t flags; /* of the RECORD_NVTX_NAME; tells payload kind and registered or not */
	uint64_t look;  /* colour | category << 32 */
};

static inline unsigned nvtx_recent_number(const void *key, uint32_t domain)
{
	return (unsigned)(((uintptr_t)key + domain) * 0x9e3779b97f4a7c15ull >> 57);
}

static inline struct nvtx_recent *nvtx_recent_at(struct agent_thread_memory *memory, unsigned number)
{
	return (struct nvtx_recent *)(void *)memory->module + number;
}

/* Everything that is compared at once: whose entry it is, and what for. */
static inline uint64_t nvtx_look_kind(uint32_t life, uint32_t domain, uint32_t flags)
{
	return life | (uint64_t)domain << 32 | (uint64_t)flags << 48;
}

static inline int nvtx_recent_is(const struct nvtx_recent *entry, uint32_t life, const struct nvtx_look *look)
{
	if (entry->key != look->key || entry->look != look->look || entry->kind != nvtx_look_kind(life, look->domain, look->flags))
		return 0;
	return (look->flags & NVTX_FLAG_REGISTERED) || arch_text_is(entry->text, look->key, RECENT_TEXT);
}

/* Gives a name this number, in the ring and in the entry. 1 when it has it now, 0 when it is
 * to be written in full, -1 when there was no room (counted as the push that was lost). */
int nvtx_recent_learn(struct nvtx_recent *entry, unsigned number, const struct nvtx_look *look) __attribute__((visibility("hidden")));

#endif
