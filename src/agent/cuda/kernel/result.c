#include <string.h>

#include "agent/cuda/records/definitions.h"
#include "agent/cuda/kernel/kernel.h"

void kernel_report(const struct record_kernel *kernel, enum kernel_state state, const char *text)
{
	const char *said = state == KERNEL_FAILED && !*text ? KERNEL_NO_MEMORY : text;
	uint32_t text_size = cuda_text_room(sizeof(*kernel), said), size = (uint32_t)sizeof(*kernel) + text_size;
	struct record_kernel *record = cuda_agent.core->begin_patiently(size);

	if (!record)
		return;
	*record = *kernel;
	if (text_size)
		memcpy(record + 1, said, text_size);
	cuda_agent.core->end(record, record_head(RECORD_KERNEL, state, size, 0, 0), size);
	cuda_agent.core->ring_doorbell();
	/* Values of its device are those of a kernel that is known. */
	if (state == KERNEL_BEGUN)
		kernel_facts_report_device(kernel);
}

void kernel_report_some(enum kernel_values what, uint32_t number, uint64_t time, uint32_t first, const double *values, uint32_t count)
{
	uint32_t size = (uint32_t)(sizeof(struct record_kernel_values) + count * sizeof(double));
	struct record_kernel_values *record = cuda_agent.core->begin_patiently(size);

	if (!record)
		return;
	record->time = time;
	record->number = number;
	record->first = first;
	memcpy(record + 1, values, count * sizeof(double));
	cuda_agent.core->end(record, record_head(RECORD_KERNEL_VALUES, what, size, 0, 0), size);
}

/* Runs of metrics that follow each other in the request, as many as a record has room for. */
void kernel_report_values(const struct kernel_part *p, const double *values, uint32_t first, uint32_t number, uint64_t time)
{
	const uint32_t most = (RING_CHUNK_DATA - sizeof(struct record_kernel_values)) / sizeof(double);
	uint32_t begin = 0, end;

	while (begin < p->metric_count) {
		end = begin + 1;
		while (end < p->metric_count && end - begin < most && p->numbers[end] == p->numbers[end - 1] + 1)
			end++;
		kernel_report_some(KERNEL_VALUES_COUNTED, number, time, first + p->numbers[begin], values + begin, end - begin);
		begin = end;
	}
}
