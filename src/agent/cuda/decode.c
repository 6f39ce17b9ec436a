#include "agent/cuda/decode.h"

#include <string.h>

/* Bytes of each kind that are read, by the version found; 0 = a kind we do not know. */
static uint16_t sizes[CUPTI_KINDS];

static struct {
	_Atomic uint32_t base;
	_Atomic uint32_t highest;
} correlation;

uint32_t cuda_correlation(uint32_t theirs)
{
	uint32_t seen = atomic_load_explicit(&correlation.highest, memory_order_relaxed);

	if (theirs == 0 || theirs == CUDA_NO_ID)
		return theirs;
	while (theirs > seen && !atomic_compare_exchange_weak_explicit(&correlation.highest, &seen, theirs,
								       memory_order_relaxed, memory_order_relaxed))
		;
	return theirs + atomic_load_explicit(&correlation.base, memory_order_relaxed);
}

void cuda_correlation_restart(void)
{
	atomic_fetch_add(&correlation.base, atomic_exchange(&correlation.highest, 0));
}

static void (*const decoders[CUPTI_KINDS])(const struct cuda_source *source) = {
	[CUPTI_KIND_MEMCPY] = cuda_decode_copy,
	[CUPTI_KIND_MEMSET] = cuda_decode_set,
	[CUPTI_KIND_DRIVER] = cuda_decode_driver,
	[CUPTI_KIND_RUNTIME] = cuda_decode_runtime,
	[CUPTI_KIND_DEVICE] = cuda_decode_device,
	[CUPTI_KIND_CONTEXT] = cuda_decode_context,
	[CUPTI_KIND_CONCURRENT_KERNEL] = cuda_decode_kernel,
	[CUPTI_KIND_OVERHEAD] = cuda_decode_overhead,
	[CUPTI_KIND_MEMCPY2] = cuda_decode_peer,
	[CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = cuda_decode_unified,
	[CUPTI_KIND_CUDA_EVENT] = cuda_decode_event,
	[CUPTI_KIND_STREAM] = cuda_decode_stream,
	[CUPTI_KIND_SYNCHRONIZATION] = cuda_decode_sync,
	[CUPTI_KIND_MEMORY2] = cuda_decode_memory,
	[CUPTI_KIND_MEMORY_POOL] = cuda_decode_pool,
	[CUPTI_KIND_GRAPH_TRACE] = cuda_decode_graph,
	[CUPTI_KIND_JIT] = cuda_decode_jit,
};

void cuda_decode_prepare(uint32_t version)
{
	memset(sizes, 0, sizeof(sizes));
#define CUPTI_ACTIVITY_SIZE(kind, since, size) \
	if (version >= (since))                \
		sizes[CUPTI_KIND_##kind] = (uint16_t)(size);
#define CUPTI_ACTIVITY_RECORD(kind, structure, since, field) \
	CUPTI_ACTIVITY_SIZE(kind, since, offsetof(struct structure, field))
#define CUPTI_ACTIVITY_WHOLE(kind, structure, since) CUPTI_ACTIVITY_SIZE(kind, since, sizeof(struct structure))
	CUPTI_ACTIVITY_RECORDS
#undef CUPTI_ACTIVITY_RECORD
#undef CUPTI_ACTIVITY_WHOLE
#undef CUPTI_ACTIVITY_SIZE
}

void cuda_decode(struct cuda_decoding *decoding, const struct cupti_record *record, size_t room)
{
	uint32_t kind = record->kind, size = kind < CUPTI_KINDS ? sizes[kind] : 0;
	union cuda_any_record copy;
	struct cuda_source source = { decoding, &copy, size };

	decoding->records++;
	if (kind == CUPTI_KIND_INTERNAL_LAUNCH_API)
		return;
	if (size == 0 || size > room) {
		decoding->unknown++;
		return;
	}
	memcpy(&copy, record, size);
	memset((uint8_t *)&copy + size, 0, sizeof(copy) - size);
	decoders[kind](&source);
}
