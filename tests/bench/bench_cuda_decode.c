/* Cost of turning CUPTI's records into ring records: buffers as full as CUPTI would give them back, over a
 * stand-in for the core that uses one chunk again and again. Prints nanoseconds per record, zeroing of the
 * buffer included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/cuda/records/buffers.h"
#include "agent/cuda/records/decode.h"
#include "unit/agent/fake_cuda.h"

#define RUNS 31
#define RECORDS 5000
#define LIMIT_NS 200.0

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static char names[64][400];

static void make_names(void)
{
	for (int i = 0; i < 64; i++) {
		memset(names[i], 'a' + i % 26, sizeof(names[i]) - 1);
		snprintf(names[i], sizeof(names[i]), "_ZN2at6native%d", i);
		names[i][strlen(names[i])] = '_';
	}
}

/* As a training step: 64 kernels, each with a few sizes, names of 400 characters. */
static void add_kernel(struct fake_buffer *buffer, uint32_t i)
{
	struct cupti_kernel k = { .kind = CUPTI_KIND_CONCURRENT_KERNEL,
				  .start = i * 1000,
				  .end = i * 1000 + 500,
				  .grid = { (int)(i / 64 % 8), 1, 1 },
				  .block = { 128, 1, 1 },
				  .correlation = i,
				  .name = names[i % 64] };

	fake_buffer_add(buffer, &k, sizeof(k));
}

static void add_call(struct fake_buffer *buffer, uint32_t i)
{
	struct cupti_api api = {
		.kind = CUPTI_KIND_RUNTIME, .id = 5, .start = i * 1000, .end = i * 1000 + 500, .thread = 77, .correlation = i
	};

	fake_buffer_add(buffer, &api, sizeof(api));
}

static double run(void (*add)(struct fake_buffer *, uint32_t))
{
	struct fake_buffer buffer;
	double best = 1e30, before, each;

	for (int i = 0; i < RUNS; i++) {
		fake_buffer_take(&buffer);
		for (uint32_t n = 0; n < RECORDS; n++)
			add(&buffer, n);
		before = now_ns();
		fake_buffer_complete(&buffer);
		each = (now_ns() - before) / RECORDS;
		best = each < best ? each : best;
	}
	return best;
}

int main(void)
{
	double kernel, call;

	fake_cuda_reset(130001);
	fake_agent.recycle = 1;
	fake_cuda.runtime_names[5] = "cudaLaunchKernel_v7000";
	if (cuda_activities_prepare() != 0)
		return 1;
	make_names();
	kernel = run(add_kernel);
	call = run(add_call);
	printf("kernel record %6.1f ns\ncall record   %6.1f ns\n", kernel, call);
	return kernel > LIMIT_NS || call > LIMIT_NS;
}
