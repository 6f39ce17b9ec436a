/* Two tables of things known by their bytes. Looking up takes no lock: a slot is set once, and a table that has
 * become too small is replaced by a larger one and stays where it is. What cannot be kept, for want of memory
 * or because there are too many, gets a new number each time and is told each time. */
#include "agent/cuda/records/names.h"

#include <string.h>

#include "agent/cuda/lock.h"
#include "agent/cuda/records/definitions.h"

#define FIRST_SLOTS 1024u
#define MOST_KNOWN (1u << 20)
#define RECENT_NAMES 4096u

struct known {
	uint64_t hash;
	uint32_t id;
	uint32_t size;
	_Atomic uint32_t reported;
	uint8_t bytes[];
};

struct table {
	uint32_t mask;
	_Atomic(struct known *) slots[];
};

struct numbers {
	struct cuda_lock lock;
	_Atomic(struct table *) table;
	uint32_t count;
	_Atomic uint32_t last;
	_Atomic int reported;
	int (*report)(uint32_t id, const void *bytes, uint32_t size);
};

static int report_function(uint32_t id, const void *bytes, uint32_t size)
{
	(void)size;
	return cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_FUNCTION, .id = id, .text = bytes });
}

static int report_launch(uint32_t id, const void *bytes, uint32_t size)
{
	return cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_LAUNCH, .id = id, .body = bytes, .body_size = size });
}

static struct numbers functions = { .report = report_function };
static struct numbers launches = { .report = report_launch };
/* Names by the address CUPTI keeps them at. A module that is loaded later may have others there, so the text
 * decides. */
static _Atomic(struct known *) recent[RECENT_NAMES];

static uint64_t mix_name_hash(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_bytes(const uint8_t *bytes, uint32_t size)
{
	uint64_t hash = size, word;
	uint32_t at = 0;

	for (; at + 8 <= size; at += 8) {
		memcpy(&word, bytes + at, 8);
		hash = mix_name_hash(hash, word);
	}
	word = 0;
	memcpy(&word, bytes + at, size - at);
	return mix_name_hash(hash, word);
}

static struct known *find_numbered_name(struct table *table, uint64_t hash, const void *bytes, uint32_t size)
{
	struct known *known;

	if (!table)
		return NULL;
	for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
		known = atomic_load_explicit(&table->slots[i & table->mask], memory_order_acquire);
		if (!known || (known->hash == hash && known->size == size && memcmp(known->bytes, bytes, size) == 0))
			return known;
	}
}

static void put_numbered_name(struct table *table, struct known *known)
{
	uint32_t i = (uint32_t)(known->hash >> 32);

	while (atomic_load_explicit(&table->slots[i & table->mask], memory_order_relaxed))
		i++;
	atomic_store_explicit(&table->slots[i & table->mask], known, memory_order_release);
}

/* At most half full, so that looking for what is not there ends soon. */
static struct table *with_room(struct numbers *n)
{
	struct table *old = atomic_load_explicit(&n->table, memory_order_relaxed), *table;
	uint32_t slots = old ? old->mask + 1 : 0;

	if (n->count >= MOST_KNOWN)
		return NULL;
	if (n->count < slots / 2)
		return old;
	slots = slots ? slots * 2 : FIRST_SLOTS;
	table = cuda_agent.core->permanent(sizeof(*table) + slots * sizeof(table->slots[0]));
	if (!table)
		return NULL;
	memset(table, 0, sizeof(*table) + slots * sizeof(table->slots[0]));
	table->mask = slots - 1;
	for (uint32_t i = 0; old && i <= old->mask; i++) {
		struct known *known = atomic_load_explicit(&old->slots[i], memory_order_relaxed);

		if (known)
			put_numbered_name(table, known);
	}
	atomic_store_explicit(&n->table, table, memory_order_release);
	return table;
}

static uint32_t next_number(struct numbers *n)
{
	return atomic_fetch_add_explicit(&n->last, 1, memory_order_relaxed) + 1;
}

/* With the lock held. */
static struct known *add_numbered_name(struct numbers *n, uint64_t hash, const void *bytes, uint32_t size)
{
	struct known *known = find_numbered_name(atomic_load_explicit(&n->table, memory_order_relaxed), hash, bytes, size);
	struct table *table;

	if (known)
		return known;
	table = with_room(n);
	known = table ? cuda_agent.core->permanent(sizeof(*known) + size) : NULL;
	if (!known)
		return NULL;
	known->hash = hash;
	known->size = size;
	known->id = next_number(n);
	atomic_store_explicit(&known->reported, 0, memory_order_relaxed);
	memcpy(known->bytes, bytes, size);
	put_numbered_name(table, known);
	n->count++;
	return known;
}

static struct known *know_name(struct numbers *n, const void *bytes, uint32_t size)
{
	uint64_t hash = hash_bytes(bytes, size);
	struct known *known = find_numbered_name(atomic_load_explicit(&n->table, memory_order_acquire), hash, bytes, size);

	if (!known && cuda_lock_take(&n->lock)) {
		known = add_numbered_name(n, hash, bytes, size);
		cuda_lock_release(&n->lock);
	}
	return known;
}

/* Two threads that meet the same thing for the first time both tell it: each has it in its ring before it is
 * used. */
static uint32_t report_name_number(struct numbers *n, struct known *known)
{
	if (!atomic_load_explicit(&known->reported, memory_order_acquire) && n->report(known->id, known->bytes, known->size) == 0)
		atomic_store_explicit(&known->reported, 1, memory_order_release);
	return known->id;
}

static uint32_t number_of_unknown(struct numbers *n, const void *bytes, uint32_t size)
{
	uint32_t id = next_number(n);

	if (!atomic_exchange_explicit(&n->reported, 1, memory_order_relaxed))
		cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, "CUDA: out of memory for names and launch configurations; the report is "
							      "complete, but larger");
	n->report(id, bytes, size);
	return id;
}

uint32_t cuda_function_number(const char *name)
{
	_Atomic(struct known *) *slot;
	struct known *known;
	size_t size;

	if (!name)
		return 0;
	slot = &recent[mix_name_hash(0, (uintptr_t)name) >> 32 & (RECENT_NAMES - 1)];
	known = atomic_load_explicit(slot, memory_order_acquire);
	if (known && strcmp((const char *)known->bytes, name) == 0)
		return report_name_number(&functions, known);
	size = strlen(name) + 1;
	known = know_name(&functions, name, (uint32_t)size);
	if (!known)
		return number_of_unknown(&functions, name, (uint32_t)size);
	atomic_store_explicit(slot, known, memory_order_release);
	return report_name_number(&functions, known);
}

uint32_t cuda_launch_number(const struct cuda_wire_launch *launch)
{
	struct known *known = know_name(&launches, launch, sizeof(*launch));

	return known ? report_name_number(&launches, known) : number_of_unknown(&launches, launch, sizeof(*launch));
}

static void forget_name_numbers(struct numbers *n)
{
	struct table *table = atomic_load_explicit(&n->table, memory_order_acquire);

	for (uint32_t i = 0; table && i <= table->mask; i++) {
		struct known *known = atomic_load_explicit(&table->slots[i], memory_order_acquire);

		if (known)
			atomic_store_explicit(&known->reported, 0, memory_order_relaxed);
	}
	atomic_store(&n->reported, 0);
}

void cuda_names_forget(void)
{
	forget_name_numbers(&functions);
	forget_name_numbers(&launches);
}
