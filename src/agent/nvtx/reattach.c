/* Programs that are attached to: a recording ends, and another begins that knows none of the names given before. Domains and strings
 * are in the tables anyway; of all other definitions a copy is kept from the first recording on, also of those made while there is
 * none. All are told again when the next one begins. */
#include "agent/core/wrappers.h"
#include "agent/nvtx/nvtx.h"

#define KEPT_MAX (1u << 16)

struct nvtx_kept {
	_Atomic(struct nvtx_kept *) next;
	struct nvtx_definition what;
	uint32_t size;
	_Alignas(8) uint8_t body[];
};

/* In the order in which they were made. */
static struct {
	_Atomic uint32_t count;
	_Atomic(struct nvtx_kept *) first;
	_Atomic(struct nvtx_kept *) last;
} kept;

static struct nvtx_kept *kept_of(void *body)
{
	return (struct nvtx_kept *)(void *)((uint8_t *)body - offsetof(struct nvtx_kept, body));
}

static int is_in_tables(enum define_kind kind)
{
	return kind == DEFINE_DOMAIN || kind == DEFINE_DOMAIN_END || kind == DEFINE_STRING;
}

int nvtx_is_kept(const struct nvtx_definition *what)
{
	return agent_comes_again() && !is_in_tables(what->kind);
}

void *nvtx_keep_begin(const struct nvtx_definition *what, uint32_t size)
{
	struct nvtx_kept *fresh;

	if (size > RING_CHUNK_DATA - sizeof(struct record_define) || atomic_load_explicit(&kept.count, memory_order_relaxed) >= KEPT_MAX)
		return NULL;
	fresh = agent_permanent(sizeof(*fresh) + size);
	if (!fresh)
		return NULL;
	fresh->what = *what;
	return fresh->body;
}

static void put_nvtx_definition(struct record_define *record, const struct nvtx_definition *what, const void *body, uint32_t size)
{
	uint32_t whole = (uint32_t)sizeof(*record) + size;

	if (!record)
		return;
	record->time = agent_now();
	record->id = what->id;
	record->extra = what->extra;
	arch_copy(record + 1, body, size);
	agent_end(record, record_head(RECORD_DEFINE, what->kind, whole, 0, what->domain), whole);
}

void nvtx_keep_end(void *body, uint32_t size)
{
	struct nvtx_kept *fresh = kept_of(body), *before;

	fresh->size = size;
	atomic_fetch_add_explicit(&kept.count, 1, memory_order_relaxed);
	before = atomic_exchange(&kept.last, fresh);
	atomic_store(before ? &before->next : &kept.first, fresh);
	if (agent_attached())
		put_nvtx_definition(agent_begin_definition((uint32_t)sizeof(struct record_define) + size), &fresh->what, fresh->body, size);
}

/* This thread is not the program's: it waits for room. */
static void repeat_nvtx_definition(const struct nvtx_definition *what, const void *body, uint32_t size)
{
	put_nvtx_definition(agent_begin_patiently((uint32_t)sizeof(struct record_define) + size), what, body, size);
}

static void report_domain(struct nvtx_domain *domain)
{
	struct nvtx_definition what = { .kind = DEFINE_DOMAIN, .id = domain->id };

	repeat_nvtx_definition(&what, domain->name, domain->node.size);
	atomic_store_explicit(&domain->node.defined, 1, memory_order_relaxed);
}

static void send_string(struct nvtx_string *string)
{
	struct nvtx_definition what = {
		.kind = DEFINE_STRING, .domain = (uint32_t)string->node.key, .id = string->id, .extra = (uint64_t)(uintptr_t)string
	};

	repeat_nvtx_definition(&what, string->text, string->node.size);
	atomic_store_explicit(&string->node.defined, 1, memory_order_relaxed);
}

/* What a window waits for is another thing in each recording. */
static void reset_window_state(void)
{
	atomic_store(&nvtx_state.window_range, 0);
	atomic_store(&nvtx_state.window_gate, 0);
	atomic_store(&nvtx_state.seen_looks, 0);
	for (unsigned i = 0; i < NVTX_SEEN; i++)
		atomic_store(&nvtx_state.seen[i].key, NULL);
	atomic_store(&nvtx_state.cut_reported, 0);
	atomic_store(&nvtx_state.domains_reported, 0);
	atomic_store(&nvtx_state.times_reported, 0);
}

static void report_tables(void)
{
	struct nvtx_node *node;

	for (unsigned i = 0; i < NVTX_OTHER_BUCKETS; i++)
		for (node = atomic_load(&nvtx_state.others[i]); node; node = atomic_load(&node->next))
			if (node->key >> 32 == NVTX_NODE_DOMAIN)
				report_domain((struct nvtx_domain *)node);
	for (unsigned i = 0; i < NVTX_STRING_BUCKETS; i++)
		for (node = atomic_load(&nvtx_state.strings[i]); node; node = atomic_load(&node->next))
			send_string((struct nvtx_string *)node);
}

static void note_nvtx_attach(void)
{
	if (!atomic_load(&nvtx_state.used) || !agent_comes_again())
		return;
	reset_window_state();
	report_tables();
	for (struct nvtx_kept *k = atomic_load(&kept.first); k; k = atomic_load(&k->next))
		repeat_nvtx_definition(&k->what, k->body, k->size);
}

const struct agent_part agent_part_nvtx = { .attached = note_nvtx_attach };
