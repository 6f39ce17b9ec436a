#include "agent/core/attach/slots.h"

#include "agent/core/syscalls.h"

#define FIRST_SIZE 4096u /* entries; a power of two */

struct entry {
	_Atomic(void *) *slot; /* NULL: none */
	void *old;
};

/* Used by one thread at a time. */
static struct {
	struct entry *entries;
	size_t size;
	size_t used;
} table;

static struct entry *find_slot_entry(struct entry *entries, size_t size, _Atomic(void *) *slot)
{
	size_t at = (size_t)((uintptr_t)slot / sizeof(void *) * 0x9e3779b97f4a7c15u >> 20) & (size - 1);

	while (entries[at].slot && entries[at].slot != slot)
		at = (at + 1) & (size - 1);
	return &entries[at];
}

/* Never more than half full. */
static int reserve_slot_entry(void)
{
	size_t size = table.size ? 2 * table.size : FIRST_SIZE;
	struct entry *entries;

	if (2 * (table.used + 1) <= table.size)
		return 1;
	entries = raw_mmap(NULL, size * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (raw_failed(entries))
		return 0;
	for (size_t i = 0; i < table.size; i++)
		if (table.entries[i].slot)
			*find_slot_entry(entries, size, table.entries[i].slot) = table.entries[i];
	if (table.entries)
		raw_syscall(SYS_munmap, (long)table.entries, (long)(table.size * sizeof(*entries)), 0, 0, 0, 0);
	table.entries = entries;
	table.size = size;
	return 1;
}

int agent_slots_keep(_Atomic(void *) *slot, void *old)
{
	struct entry *entry;

	if (!reserve_slot_entry())
		return 0;
	entry = find_slot_entry(table.entries, table.size, slot);
	table.used += !entry->slot;
	*entry = (struct entry){ slot, old };
	return 1;
}

int agent_slots_find(_Atomic(void *) *slot, void **ret_old)
{
	struct entry *entry = table.entries ? find_slot_entry(table.entries, table.size, slot) : NULL;

	if (!entry || !entry->slot)
		return 0;
	*ret_old = entry->old;
	return 1;
}
