/* Where counters cannot be read, how long a kernel takes still can be: CUPTI's records of activities are for everyone. */
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "vendor/cupti/activity.h"

#define BUFFER_SIZE (64u << 10)

static struct {
	int begun;
	_Atomic uint32_t correlation; /* of the launch that is waited for */
	_Atomic uint64_t duration;
} timed;

static void give_timed_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_SIZE);
	*size = *buffer ? BUFFER_SIZE : 0;
	*max_records = 0;
}

static void take_timed_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;
	struct cupti_kernel kernel;

	(void)context;
	(void)stream;
	(void)size;
	while (buffer && cuda_agent.cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK) {
		if (record->kind != CUPTI_KIND_CONCURRENT_KERNEL ||
		    (size_t)(buffer + valid - (uint8_t *)record) < offsetof(struct cupti_kernel, grid_id))
			continue;
		memcpy(&kernel, record, offsetof(struct cupti_kernel, grid_id));
		if (kernel.correlation == timed.correlation && kernel.end > kernel.start)
			timed.duration = kernel.end - kernel.start;
	}
	free(buffer);
}

void kernel_timed_begin(uint32_t correlation)
{
	if (!timed.begun && cuda_agent.cupti.cuptiActivityRegisterCallbacks(give_timed_buffer, take_timed_buffer) == CUPTI_OK &&
	    cuda_agent.cupti.cuptiActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL) == CUPTI_OK)
		timed.begun = 1;
	timed.correlation = correlation;
	timed.duration = 0;
}

uint64_t kernel_timed_end(void)
{
	if (timed.begun)
		cuda_agent.cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	return timed.duration;
}
