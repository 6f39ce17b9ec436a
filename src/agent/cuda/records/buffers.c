#include "agent/cuda/records/buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/decode.h"

enum buffer_state { BUFFER_NONE, BUFFER_FREE, BUFFER_IN_USE, BUFFER_CHANGING };

struct buffer {
	_Atomic int state;
	_Atomic(uint8_t *) memory;
};

static struct buffer buffers[CUDA_BUFFERS + CUDA_SPARE_BUFFERS];
static _Atomic int kept;
/* Buffers that CUPTI has, and its threads that are in our callbacks. */
static _Atomic int out, inside;
static _Atomic uint64_t decoded;
static _Atomic int full_reported, unknown_reported;

void cuda_buffers_prepare(void)
{
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);

	if (cuda_agent.cupti.cuptiActivitySetAttribute)
		cuda_agent.cupti.cuptiActivitySetAttribute(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, &size, &zeroed);
}

static unsigned buffer_count(void)
{
	return CUDA_BUFFERS + (cuda_agent.cupti.version < CUPTI_12_9 ? CUDA_SPARE_BUFFERS : 0);
}

static size_t buffer_size(const struct buffer *buffer)
{
	return buffer < buffers + CUDA_BUFFERS ? CUDA_BUFFER_SIZE : CUDA_SPARE_SIZE;
}

static struct buffer *take_activity_buffer(int state)
{
	unsigned count = buffer_count();
	int expected;

	for (unsigned i = 0; i < count; i++) {
		expected = state;
		if (atomic_load_explicit(&buffers[i].state, memory_order_relaxed) == state &&
		    atomic_compare_exchange_strong_explicit(&buffers[i].state, &expected, BUFFER_CHANGING, memory_order_acquire,
							    memory_order_relaxed))
			return &buffers[i];
	}
	return NULL;
}

static int map_buffer(struct buffer *buffer)
{
	void *memory = raw_mmap(NULL, buffer_size(buffer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (raw_failed(memory)) {
		atomic_store_explicit(&buffer->state, BUFFER_NONE, memory_order_release);
		return 0;
	}
	atomic_store_explicit(&buffer->memory, memory, memory_order_relaxed);
	atomic_store_explicit(&buffer->state, BUFFER_IN_USE, memory_order_release);
	return 1;
}

static struct buffer *take_buffer(void)
{
	struct buffer *buffer = take_activity_buffer(BUFFER_FREE);

	if (buffer) {
		atomic_fetch_sub_explicit(&kept, 1, memory_order_relaxed);
		atomic_store_explicit(&buffer->state, BUFFER_IN_USE, memory_order_release);
		return buffer;
	}
	buffer = take_activity_buffer(BUFFER_NONE);
	return buffer && map_buffer(buffer) ? buffer : NULL;
}

/* The written part is zeroed here, on CUPTI's own thread mostly. */
static void give_back(uint8_t *memory, size_t valid)
{
	struct buffer *buffer = NULL;
	unsigned count = buffer_count();

	for (unsigned i = 0; i < count && !buffer; i++)
		if (atomic_load_explicit(&buffers[i].memory, memory_order_relaxed) == memory &&
		    atomic_load_explicit(&buffers[i].state, memory_order_acquire) == BUFFER_IN_USE)
			buffer = &buffers[i];
	if (!buffer)
		return;
	atomic_fetch_sub(&out, 1);
	if (atomic_fetch_add_explicit(&kept, 1, memory_order_relaxed) < (int)CUDA_BUFFERS_KEPT) {
		memset(memory, 0, valid);
		atomic_store_explicit(&buffer->state, BUFFER_FREE, memory_order_release);
		return;
	}
	atomic_fetch_sub_explicit(&kept, 1, memory_order_relaxed);
	atomic_store_explicit(&buffer->memory, NULL, memory_order_relaxed);
	raw_syscall(SYS_munmap, (long)memory, (long)buffer_size(buffer), 0, 0, 0, 0);
	atomic_store_explicit(&buffer->state, BUFFER_NONE, memory_order_release);
}

uint64_t cuda_buffers_records(void)
{
	return atomic_load_explicit(&decoded, memory_order_relaxed);
}

int cuda_buffers_out(void)
{
	return atomic_load(&out) > 0;
}

int cuda_buffers_inside(void)
{
	return atomic_load(&inside) > 0;
}

void cuda_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct buffer *taken;

	atomic_fetch_add(&inside, 1);
	taken = take_buffer();
	atomic_fetch_add(&out, taken != NULL);
	*buffer = taken ? atomic_load_explicit(&taken->memory, memory_order_relaxed) : NULL;
	*size = taken ? buffer_size(taken) : 0;
	*max_records = 0;
	if (!*buffer && !atomic_exchange_explicit(&full_reported, 1, memory_order_relaxed))
		cuda_agent.core->diagnose(DIAGNOSTIC_WARNING,
					  "CUDA: out of memory for CUPTI's records; some are lost, see the counts of losses");
	atomic_fetch_sub(&inside, 1);
}

static void each_record(struct cuda_decoding *decoding, uint8_t *buffer, size_t valid,
			void (*visit)(struct cuda_decoding *decoding, const struct cupti_record *record, size_t room))
{
	struct cupti_record *record = NULL;

	while (cuda_agent.cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK && record) {
		size_t at = (size_t)((uint8_t *)record - buffer);

		if (at + sizeof(*record) > valid)
			return;
		visit(decoding, record, valid - at);
	}
}

/* Work may stand before the call it belongs to. */
static void decode_all(struct cuda_decoding *decoding, uint8_t *buffer, size_t valid)
{
	if (cuda_warm_is_used())
		each_record(decoding, buffer, valid, cuda_decode_look);
	each_record(decoding, buffer, valid, cuda_decode);
}

static void write_batch(const struct cuda_decoding *decoding, uint64_t dropped)
{
	struct record_cuda_batch *record = cuda_begin(sizeof(*record));

	if (!record)
		return;
	record->time = cuda_agent.core->now();
	record->records = decoding->records;
	record->dropped = dropped;
	cuda_end(record, RECORD_CUDA_BATCH, 0, 0, sizeof(*record));
}

/* We ask for kinds we know: this is a CUPTI that has changed. */
static void report_unknown(void)
{
	if (!atomic_exchange_explicit(&unknown_reported, 1, memory_order_relaxed))
		cuda_agent.core->diagnose(DIAGNOSTIC_WARNING, "CUDA: this CUPTI writes records that Sonde does not know; they are "
							      "left out");
}

void cuda_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cuda_decoding decoding;
	size_t dropped = 0;
	int saved = errno;

	atomic_fetch_add(&inside, 1);
	decoding.records = decoding.unknown = 0;
	if (valid > size)
		valid = size;
	if (valid > 0 && cuda_agent.core->attached()) {
		cuda_clock_compare();
		cuda_clock_get(&decoding.clock);
		decode_all(&decoding, buffer, valid);
		atomic_fetch_add_explicit(&decoded, decoding.records, memory_order_relaxed);
		cuda_agent.cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
		write_batch(&decoding, dropped);
		if (decoding.unknown)
			report_unknown();
	}
	give_back(buffer, valid);
	errno = saved;
	atomic_fetch_sub(&inside, 1);
}
