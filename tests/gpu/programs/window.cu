/* window [never]: kernels before, in and after two capture windows of the program's own. With `never` no window is
 * opened. */
#include <cuda_profiler_api.h>

#include "tell.h"

__global__ void outside(void)
{
}

__global__ void inside(void)
{
}

__global__ void inside_again(void)
{
}

static void some(void (*kernel)(void), int count, cudaStream_t stream)
{
	for (int i = 0; i < count; i++)
		kernel<<<1, 32, 0, stream>>>();
	MUST(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	int windows = !(argc > 1 && !strcmp(argv[1], "never"));
	cudaStream_t stream;

	/* Made before any window: it must be known all the same. */
	MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
	some(outside, 100, stream);
	if (windows)
		MUST(cudaProfilerStart());
	some(inside, windows ? 50 : 0, stream);
	if (windows)
		MUST(cudaProfilerStop());
	some(outside, 100, stream);
	if (windows)
		MUST(cudaProfilerStart());
	some(inside_again, windows ? 30 : 0, stream);
	if (windows)
		MUST(cudaProfilerStop());
	some(outside, 100, stream);
	tell("window", "\"inside\": %d, \"again\": %d, \"outside\": 300", windows ? 50 : 0, windows ? 30 : 0);
	return 0;
}
