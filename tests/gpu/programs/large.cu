/* A program that has taken nearly half of the GPU's memory, as one with a model in it has: three kernels change 64 MiB of it in place;
 * the sum of all of it is told. */
#include "tell.h"

#define PART (16u << 20) /* of the memory, in words: what kernels change */

__global__ void fill(unsigned *memory, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		memory[i] = (unsigned)(i * 2654435761u);
}

__global__ void change(unsigned *memory, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		memory[i] = memory[i] * 3 + 1;
}

__global__ void add_up(const unsigned *memory, size_t count, unsigned long long *sum)
{
	unsigned long long mine = 0;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		mine += memory[i];
	atomicAdd(sum, mine);
}

int main(void)
{
	size_t available, total, count;
	unsigned long long *sum, found;
	unsigned *memory;

	MUST(cudaMemGetInfo(&available, &total));
	count = total / 100 * 45 / sizeof(*memory);
	MUST(cudaMalloc(&memory, count * sizeof(*memory)));
	MUST(cudaMalloc(&sum, sizeof(*sum)));
	MUST(cudaMemset(sum, 0, sizeof(*sum)));
	fill<<<1056, 256>>>(memory, count);
	for (int i = 0; i < 3; i++)
		change<<<1056, 256>>>(memory, PART);
	add_up<<<1056, 256>>>(memory, count, sum);
	MUST(cudaMemcpy(&found, sum, sizeof(found), cudaMemcpyDeviceToHost));
	tell("large", "\"bytes\": %zu, \"sum\": %llu", count * sizeof(*memory), found);
	return 0;
}
