/* Phases that keep one part of the GPU busy each, in NVTX ranges: nothing, all multiprocessors, the memory, the bus.
 * Says how much was moved. */
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "tell.h"
#include "work.h"

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.4;
	uint64_t phase = (uint64_t)(seconds * 1e9), began, times;
	size_t bytes = (size_t)1 << 30;
	cudaDeviceProp properties;
	char *from, *to, *pinned;

	MUST(cudaGetDeviceProperties(&properties, 0));
	int blocks = properties.multiProcessorCount * 8;
	MUST(cudaMalloc(&from, bytes));
	MUST(cudaMalloc(&to, bytes));
	MUST(cudaMallocHost(&pinned, bytes / 8));
	MUST(cudaMemset(from, 1, bytes));
	MUST(cudaDeviceSynchronize());

	nvtxRangePushA("idle");
	usleep((useconds_t)(phase / 1000));
	nvtxRangePop();

	nvtxRangePushA("compute");
	for (began = now_ns(), times = 0; now_ns() - began < phase; times++) {
		compute<<<blocks, 256>>>((float *)to, 200000);
		MUST(cudaDeviceSynchronize());
	}
	nvtxRangePop();
	tell("compute", "\"kernels\": %llu", (unsigned long long)times);

	nvtxRangePushA("memory");
	for (began = now_ns(), times = 0; now_ns() - began < phase;) {
		for (int i = 0; i < 20; i++, times++)
			move<<<blocks, 256>>>((const float4 *)from, (float4 *)to, bytes / sizeof(float4));
		MUST(cudaDeviceSynchronize());
	}
	uint64_t took = now_ns() - began;
	nvtxRangePop();
	tell("memory", "\"read\": %.0f, \"unit\": \"B/s\", \"allocated\": %zu",
	     (double)times * bytes / (double)took * 1e9, 2 * bytes);

	nvtxRangePushA("bus");
	for (began = now_ns(), times = 0; now_ns() - began < phase; times++) {
		MUST(cudaMemcpyAsync(from, pinned, bytes / 8, cudaMemcpyHostToDevice, 0));
		MUST(cudaDeviceSynchronize());
	}
	took = now_ns() - began;
	nvtxRangePop();
	tell("bus", "\"written\": %.0f, \"unit\": \"B/s\"", (double)times * (bytes / 8) / (double)took * 1e9);
	return 0;
}
