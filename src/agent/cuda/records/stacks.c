/* --cudabacktrace: the stack of a call that lasted long enough, taken as it ends, on its own thread. */
#include "agent/cuda/records/calls.h"
#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/resources.h"
#include "agent/cuda/records/definitions.h"

void cuda_stack_callback(int domain, uint32_t id, const struct cupti_call_data *data)
{
	enum cuda_api_class class = domain == CUPTI_DOMAIN_DRIVER ? CUDA_CLASS_DRIVER : CUDA_CLASS_RUNTIME;
	uint64_t now = cuda_agent.core->now(), start;

	if (!data->kept || !cuda_call_stack_possible(class, id))
		return;
	if (data->site == CUPTI_SITE_ENTER) {
		*data->kept = now;
		return;
	}
	start = *data->kept;
	/* 0: the window opened during the call. */
	if (start == 0 || now < start || now - start < cuda_call_stack_threshold(class, id))
		return;
	if (!cuda_agent.core->on(RING_GATE_CUDA))
		return; /* a warm-up */
	cuda_agent.core->stack(start, cuda_agent.core->session->cuda_stack_size);
	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_STACK,
					       .reporter = CUDA_REPORTER_PROGRAM,
					       .time = now,
					       .id = cuda_correlation(data->correlation),
					       .extra = start });
}
