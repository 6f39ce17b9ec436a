#include <string.h>

#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/definitions.h"

static void decode_memory(const struct cuda_source *s)
{
	const struct cupti_memory *m = s->record;
	uint32_t name_size = cuda_text_room(sizeof(struct record_cuda_memory), m->name);
	uint32_t size = (uint32_t)sizeof(struct record_cuda_memory) + name_size;
	struct record_cuda_memory *record = cuda_begin_work(s, m->time, m->correlation, size);

	if (!record)
		return;
	record->time = cuda_at(s, m->time);
	record->place = (struct cuda_place){ m->device, m->context, m->async ? m->stream : CUDA_NO_ID, cuda_correlation(m->correlation) };
	record->address = m->address;
	record->bytes = m->bytes;
	record->pc = m->pc;
	record->operation = m->operation;
	record->kind = m->memory_kind;
	record->pool_type = m->pool_type;
	record->pad = 0;
	record->pool = m->pool;
	record->pool_threshold = m->pool_threshold;
	record->pool_size = m->pool_size;
	record->pool_used = m->pool_used;
	memcpy(record + 1, m->name ? m->name : "", name_size);
	cuda_end(record, RECORD_CUDA_MEMORY, 0, 0, size);
}

static void decode_pool(const struct cuda_source *s)
{
	const struct cupti_memory_pool *p = s->record;
	struct record_cuda_pool *record = cuda_begin_work(s, p->time, p->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, p->time);
	record->device = p->device;
	record->correlation = cuda_correlation(p->correlation);
	record->operation = p->operation;
	record->type = p->type;
	record->address = p->address;
	record->keep = p->keep;
	record->threshold = p->threshold;
	record->size = p->size;
	record->used = p->used;
	cuda_end(record, RECORD_CUDA_POOL, 0, 0, sizeof(*record));
}

/* Unified memory is watched between windows, too: to stop and start again takes CUPTI seconds. */
static int is_between_windows(uint64_t ticks)
{
	return ticks >= atomic_load_explicit(&cuda_agent.closed_ticks, memory_order_relaxed) &&
	       ticks < atomic_load_explicit(&cuda_agent.opened_ticks, memory_order_relaxed);
}

/* CUPTI numbers the CPU as it likes; which side of a migration it is on follows from the kind. */
static void decode_unified(const struct cuda_source *s)
{
	const struct cupti_unified *u = s->record;
	uint32_t kind = u->counter_kind;
	int from_host = kind == CUPTI_UNIFIED_HTOD || kind == CUPTI_UNIFIED_CPU_FAULT;
	int to_host = kind == CUPTI_UNIFIED_DTOH || kind == CUPTI_UNIFIED_CPU_FAULT || kind == CUPTI_UNIFIED_GPU_FAULT ||
		      kind == CUPTI_UNIFIED_THRASHING || kind == CUPTI_UNIFIED_THROTTLING;
	uint64_t time = cuda_at(s, u->start);
	struct record_cuda_unified *record = is_between_windows(time) ? NULL : cuda_begin(sizeof(*record));

	if (!record)
		return;
	record->time = time;
	record->end = kind == CUPTI_UNIFIED_CPU_FAULT ? 0 : cuda_at(s, u->end);
	record->value = kind == CUPTI_UNIFIED_CPU_FAULT ? 1 : u->value;
	record->address = u->address;
	record->kind = kind;
	record->source = from_host ? CUDA_NO_ID : u->source;
	record->target = to_host ? CUDA_NO_ID : u->target;
	record->stream = CUDA_NO_ID;
	record->flags = u->flags;
	record->pad = 0;
	record->pc = kind == CUPTI_UNIFIED_CPU_FAULT ? u->value : 0;
	cuda_end(record, RECORD_CUDA_UNIFIED, 0, 0, sizeof(*record));
}

const struct cuda_kind cuda_memory_kinds[] = {
	{ CUPTI_KIND_MEMORY2, 1, decode_memory, RING_CUDA_MEMORY, "--cuda-memory-usage" },
	{ CUPTI_KIND_MEMORY_POOL, 1, decode_pool, RING_CUDA_MEMORY, NULL },
	{ CUPTI_KIND_UNIFIED_MEMORY_COUNTER, 0, decode_unified, 0, NULL },
	{ 0 },
};
