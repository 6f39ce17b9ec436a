#include "record/control/cuda_page.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/kernel_choice.h"
#include "record/drain/osrt.h"
#include "record/control/recorder.h"

/* Backtraces of calls are as deep as those of OS runtime calls. */
#define STACK_SIZE 16384u

static uint32_t cuda_flags(const struct profile_options *o)
{
	const struct cuda_options *cuda = &o->cuda;
	uint32_t flags = 0;

	flags |= cuda->all_apis ? RING_CUDA_ALL_APIS : 0;
	flags |= cuda->graph_nodes ? RING_CUDA_GRAPH_NODES : 0;
	flags |= cuda->memory_usage ? RING_CUDA_MEMORY : 0;
	flags |= cuda->cpu_faults ? RING_CUDA_CPU_FAULTS : 0;
	flags |= cuda->gpu_faults ? RING_CUDA_GPU_FAULTS : 0;
	flags |= cuda->event_times ? RING_CUDA_EVENT_TIMES : 0;
	flags |= cuda->flush_on_stop ? RING_CUDA_FLUSH_ON_STOP : 0;
	/* A session's capture may want it later. */
	if (o->capture_range == CAPTURE_RANGE_CUDA_PROFILER || (o->interactive && o->trace & TRACE_BIT(TRACE_CUDA)))
		flags |= RING_CUDA_PROFILER_API;
	if (o->capture_range == CAPTURE_RANGE_CUDA_PROFILER && o->capture_end == CAPTURE_END_NONE)
		flags |= RING_CUDA_KEEP_OPEN;
	flags |= o->kernels ? RING_CUDA_COUNTERS : 0;
	flags |= o->kernels && o->kernels->nvtx ? RING_CUDA_NVTX : 0;
	flags |= o->kernels && o->kernels->nvtx_process ? RING_CUDA_NVTX_PROCESS : 0;
	for (unsigned i = 0; i < RING_CUDA_CALL_KINDS; i++)
		flags |= cuda->backtrace_ns[i] >= 0 ? RING_CUDA_BACKTRACES : 0;
	return flags;
}

void cuda_page_window(struct ring_session *page, const struct profile_options *o)
{
	const uint32_t of_window = RING_CUDA_KEEP_OPEN | RING_CUDA_FLUSH_ON_STOP;

	page->cuda_flags = (page->cuda_flags & ~of_window) | (cuda_flags(o) & of_window);
}

void cuda_fill_page(struct ring_session *page, const struct profile_options *o, int use_tsc)
{
	double rate;

	/* The calls that open a window are seen by the CUDA agent even where nothing of CUDA is
	 * recorded. */
	page->cuda_flags = cuda_flags(o);
	if (!(o->trace & TRACE_BIT(TRACE_CUDA)))
		return;
	page->modules |= RING_GATE_CUDA;
	page->cuda_flush_ms = (uint32_t)o->cuda.flush_interval_ms;
	if (!(page->cuda_flags & RING_CUDA_BACKTRACES))
		return;
	rate = ticks_per_ns(use_tsc);
	page->cuda_stack_size = STACK_SIZE;
	for (unsigned i = 0; i < RING_CUDA_CALL_KINDS; i++)
		page->cuda_stack_threshold[i] = o->cuda.backtrace_ns[i] < 0 ? UINT64_MAX :
									      (uint64_t)((double)o->cuda.backtrace_ns[i] * rate);
}

/* What is missing here; NULL: nothing that can be seen. */
static const char *what_is_missing(const struct profile_options *o)
{
	if (!o->cuda.agent_path)
		return "libsonde-cuda.so was not found beside sonde; copy or install all files of a build together";
	if (o->inherit_environment && getenv("CUDA_INJECTION64_PATH"))
		return "CUDA_INJECTION64_PATH was already set, for another tool. Unset it to record CUDA";
	/* Windows lends its driver. */
	if (access("/dev/dxg", F_OK) == 0)
		return NULL;
	if (access("/proc/driver/nvidia/version", F_OK) < 0 && access("/dev/nvidiactl", F_OK) < 0)
		return "no NVIDIA driver is loaded on this machine. On a machine with a GPU, install the driver ('sonde doctor' "
		       "checks it); in a container, pass the GPU (docker run --gpus all)";
	if (access("/dev/nvidiactl", F_OK) < 0)
		return "the GPUs of this machine are not visible. Pass them to the container (docker run --gpus all)";
	return NULL;
}

void cuda_explain(struct recorder *r)
{
	struct session *s = &r->drain.session;
	const char *missing;

	if (s->cuda_trouble[0])
		recorder_note(r, "%s", s->cuda_trouble);
	if ((!r->options->cuda.asked && !r->options->kernels) || s->cuda_seen)
		return;
	missing = what_is_missing(r->options);
	if (missing) {
		recorder_note(r, "There is no CUDA data: %s.", missing);
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "There is no CUDA data: %s.", missing);
	} else if (r->target_attached) {
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0, "There is no CUDA data: the program did not use CUDA.");
	}
}
