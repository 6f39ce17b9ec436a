#include "agent/cuda/records/decode.h"

#include <string.h>

#include "base/macros.h"

/* Bytes of each kind that are read, by the version found; 0 = a kind we do not know. */
static uint16_t sizes[CUPTI_KINDS];
static void (*decoders[CUPTI_KINDS])(const struct cuda_source *source);

/* Room for any record. */
union any_record {
	struct cupti_record any;
	uint64_t aligned;
#define CUPTI_ACTIVITY_WHOLE(kind, structure, since) uint8_t kind##_##since[sizeof(struct structure)];
#define CUPTI_ACTIVITY_RECORD(kind, structure, since, field) CUPTI_ACTIVITY_WHOLE(kind, structure, since)
	CUPTI_ACTIVITY_RECORDS
#undef CUPTI_ACTIVITY_RECORD
#undef CUPTI_ACTIVITY_WHOLE
};

static struct {
	_Atomic uint32_t base;
	_Atomic uint32_t highest;
} correlation;

uint32_t cuda_correlation(uint32_t theirs)
{
	uint32_t seen = atomic_load_explicit(&correlation.highest, memory_order_relaxed);

	if (theirs == 0 || theirs == CUDA_NO_ID)
		return theirs;
	while (theirs > seen &&
	       !atomic_compare_exchange_weak_explicit(&correlation.highest, &seen, theirs, memory_order_relaxed, memory_order_relaxed))
		;
	return theirs + atomic_load_explicit(&correlation.base, memory_order_relaxed);
}

void cuda_correlation_restart(void)
{
	atomic_fetch_add(&correlation.base, atomic_exchange(&correlation.highest, 0));
}

static struct {
	_Atomic uint64_t from;
	_Atomic uint64_t until;
	_Atomic uint32_t newest; /* correlation of the last call that was kept */
	_Atomic uint32_t last;   /* of the last before the warm-up */
} warm;

void cuda_warm_set(uint64_t from, uint64_t until)
{
	if (until == UINT64_MAX)
		atomic_store(&warm.last, atomic_load(&warm.newest));
	atomic_store(&warm.from, from);
	atomic_store(&warm.until, until);
}

int cuda_warm_is_used(void)
{
	return atomic_load_explicit(&warm.from, memory_order_relaxed) != 0;
}

static int is_warm(uint64_t ticks)
{
	return ticks < atomic_load_explicit(&warm.until, memory_order_relaxed) &&
	       ticks >= atomic_load_explicit(&warm.from, memory_order_relaxed);
}

static int is_after(uint32_t call, uint32_t other)
{
	return (int32_t)(call - other) > 0;
}

static void keep_highest(_Atomic uint32_t *highest, uint32_t call)
{
	if (is_after(call, atomic_load_explicit(highest, memory_order_relaxed)))
		atomic_store_explicit(highest, call, memory_order_relaxed);
}

int cuda_call_is_left_out(uint64_t ticks, uint32_t call)
{
	if (is_warm(ticks))
		return 1;
	keep_highest(&warm.newest, call);
	if (ticks < atomic_load_explicit(&warm.from, memory_order_relaxed))
		keep_highest(&warm.last, call);
	return 0;
}

int cuda_work_is_left_out(uint64_t ticks, uint32_t call)
{
	return is_warm(ticks) &&
	       (call == 0 || call == CUDA_NO_ID || is_after(call, atomic_load_explicit(&warm.last, memory_order_relaxed)));
}

const struct cuda_kind *cuda_kind_at(unsigned i)
{
	static const struct cuda_kind *const lists[] = { cuda_work_kinds, cuda_host_kinds, cuda_memory_kinds, cuda_object_kinds };

	for (size_t l = 0; l < COUNT_OF(lists); l++)
		for (const struct cuda_kind *k = lists[l]; k->kind; k++)
			if (i-- == 0)
				return k;
	return NULL;
}

void cuda_decode_prepare(uint32_t version)
{
	memset(sizes, 0, sizeof(sizes));
#define CUPTI_ACTIVITY_SIZE(kind, since, size) \
	if (version >= (since)) \
		sizes[CUPTI_KIND_##kind] = (uint16_t)(size);
#define CUPTI_ACTIVITY_RECORD(kind, structure, since, field) CUPTI_ACTIVITY_SIZE(kind, since, offsetof(struct structure, field))
#define CUPTI_ACTIVITY_WHOLE(kind, structure, since) CUPTI_ACTIVITY_SIZE(kind, since, sizeof(struct structure))
	CUPTI_ACTIVITY_RECORDS
#undef CUPTI_ACTIVITY_RECORD
#undef CUPTI_ACTIVITY_WHOLE
#undef CUPTI_ACTIVITY_SIZE
	for (unsigned i = 0; cuda_kind_at(i); i++)
		decoders[cuda_kind_at(i)->kind] = cuda_kind_at(i)->decode;
}

void cuda_decode(struct cuda_decoding *decoding, const struct cupti_record *record, size_t room)
{
	uint32_t kind = record->kind, size = kind < CUPTI_KINDS ? sizes[kind] : 0;
	union any_record copy;
	struct cuda_source source = { decoding, &copy, size };

	decoding->records++;
	if (kind == CUPTI_KIND_INTERNAL_LAUNCH_API)
		return;
	if (size == 0 || size > room || !decoders[kind]) {
		decoding->unknown++;
		return;
	}
	memcpy(&copy, record, size);
	memset((uint8_t *)&copy + size, 0, sizeof(copy) - size);
	decoders[kind](&source);
}

void cuda_decode_look(struct cuda_decoding *decoding, const struct cupti_record *record, size_t room)
{
	struct cuda_source source = { .decoding = decoding };
	struct cupti_api api;

	if ((record->kind != CUPTI_KIND_RUNTIME && record->kind != CUPTI_KIND_DRIVER) || sizes[record->kind] > room ||
	    sizes[record->kind] < sizeof(api))
		return;
	memcpy(&api, record, sizeof(api));
	cuda_call_is_left_out(cuda_at(&source, api.start), cuda_correlation(api.correlation));
}
