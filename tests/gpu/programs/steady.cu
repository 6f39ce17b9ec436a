/* steady [SECONDS]: steps of ten kernels each, within an NVTX range `step N`, until the time is over or a line comes on standard
 * input. A kernel's grid is its step's number + 1, so that a recording of a part shows which steps it has. */
#include <nvtx3/nvToolsExt.h>
#include <poll.h>
#include <unistd.h>

#include "tell.h"

#define KERNELS 10

__global__ void tick(unsigned long long *sum)
{
	if (threadIdx.x == 0 && blockIdx.x == 0)
		atomicAdd(sum, gridDim.x);
}

/* The end of the input is no line. */
static int told_to_end(void)
{
	struct pollfd in = { 0, POLLIN, 0 };
	char c;

	return poll(&in, 1, 0) > 0 && read(0, &c, 1) == 1;
}

static void step(unsigned number, unsigned long long *sum, cudaStream_t stream)
{
	char name[32];

	snprintf(name, sizeof(name), "step %u", number);
	nvtxRangePushA(name);
	for (int i = 0; i < KERNELS; i++)
		tick<<<number + 1, 32, 0, stream>>>(sum);
	MUST(cudaStreamSynchronize(stream));
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 10));
	unsigned long long *sum, result = 0, expected = 0;
	unsigned steps = 0;
	cudaStream_t stream;

	MUST(cudaStreamCreate(&stream));
	MUST(cudaMalloc(&sum, sizeof(*sum)));
	MUST(cudaMemset(sum, 0, sizeof(*sum)));
	tell("ready", "");
	fflush(stdout);
	for (; now_ns() < end && !told_to_end(); steps++) {
		step(steps, sum, stream);
		expected += (unsigned long long)KERNELS * (steps + 1);
		usleep(500);
	}
	MUST(cudaMemcpy(&result, sum, sizeof(result), cudaMemcpyDeviceToHost));
	tell("steady", "\"steps\": %u, \"right\": %s", steps, result == expected ? "true" : "false");
	return result == expected ? 0 : 1;
}
