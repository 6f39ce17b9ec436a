// Launches of every shape, all of them of integers so that the result is the same in every run: a graph that is replayed, ranges of
// cudaProfilerStart() and of NVTX over several streams, a cooperative launch and one in clusters. Prints what is left in memory.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

static const int N = 1 << 21;

__global__ void grow(unsigned *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 3u + 1u;
}

__global__ void add(const unsigned *a, unsigned *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] += a[i];
}

__global__ void count(const unsigned *a, unsigned *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&bins[a[i] % 64u], 1u);
}

__global__ void together(unsigned *a, int n)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int threads = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
	for (int i = first; i < n; i += threads)
		a[i] += 5u;
	grid.sync();
	for (int i = first; i < n; i += threads)
		a[i] += a[(i + 1) % n] & 0u;
}

__global__ void in_clusters(unsigned *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] ^= 0x55u;
}

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

static unsigned *a, *b, *bins;
static cudaStream_t one, two;

static int graph(void)
{
	cudaGraph_t made;
	cudaGraphExec_t ready;

	CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	grow<<<N / 256, 256, 0, one>>>(a, N);
	CHECK(cudaMemsetAsync(b + 1000, 1, 4000, one));
	add<<<N / 256, 256, 0, one>>>(a, b, N);
	count<<<N / 256, 256, 0, one>>>(b, bins, N);
	CHECK(cudaStreamEndCapture(one, &made));
	CHECK(cudaGraphInstantiate(&ready, made, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(ready, one));
	CHECK(cudaStreamSynchronize(one));
	CHECK(cudaGraphExecDestroy(ready));
	return 0;
}

static int range(cudaEvent_t event)
{
	grow<<<N / 256, 256, 0, one>>>(a, N);
	CHECK(cudaEventRecord(event, one));
	CHECK(cudaStreamWaitEvent(two, event, 0));
	add<<<N / 256, 256, 0, two>>>(a, b, N);
	CHECK(cudaMemsetAsync(bins + 64, 7, 64, two));
	count<<<N / 256, 256, 0, two>>>(b, bins, N);
	CHECK(cudaStreamSynchronize(two));
	return 0;
}

static int clusters(void)
{
	cudaLaunchAttribute of_two = {};
	cudaLaunchConfig_t config = {};

	of_two.id = cudaLaunchAttributeClusterDimension;
	of_two.val.clusterDim.x = 2;
	of_two.val.clusterDim.y = of_two.val.clusterDim.z = 1;
	config.gridDim = dim3(N / 256);
	config.blockDim = dim3(256);
	config.stream = one;
	config.attrs = &of_two;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&config, in_clusters, a, N));
	return 0;
}

static int single_kernels(void)
{
	grow<<<N / 256, 256, 0, one>>>(a, N);
	add<<<N / 256, 256, 0, one>>>(a, b, N);
	count<<<N / 256, 256, 0, one>>>(b, bins, N);
	CHECK(cudaDeviceSynchronize());
	return 0;
}

static int others(cudaEvent_t event)
{
	int n = N;
	void *arguments[] = { &a, &n };

	for (int i = 0; i < 2; i++) {
		nvtxRangePushA("step");
		if (range(event))
			return 1;
		nvtxRangePop();
	}
	CHECK(cudaLaunchCooperativeKernel((void *)together, dim3(132), dim3(256), arguments, 0, one));
	if (clusters())
		return 1;
	/* Last, as nothing is profiled after it. */
	CHECK(cudaProfilerStart());
	if (range(event))
		return 1;
	CHECK(cudaProfilerStop());
	return 0;
}

// With any argument: the graph alone.
int main(int argc, char **)
{
	unsigned *kept = new unsigned[N];
	uint64_t sum = 0;
	cudaEvent_t event;

	CHECK(cudaStreamCreate(&one));
	CHECK(cudaStreamCreate(&two));
	CHECK(cudaEventCreate(&event));
	CHECK(cudaMalloc(&a, N * sizeof(*a)));
	CHECK(cudaMalloc(&b, N * sizeof(*b)));
	CHECK(cudaMalloc(&bins, 128 * sizeof(*bins)));
	CHECK(cudaMemset(a, 0, N * sizeof(*a)));
	CHECK(cudaMemset(b, 0, N * sizeof(*b)));
	CHECK(cudaMemset(bins, 0, 128 * sizeof(*bins)));
	if ((argc == 1 && single_kernels()) || graph())
		return 1;
	if (argc == 1 && others(event))
		return 1;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(kept, a, N * sizeof(*a), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		sum = sum * 31 + kept[i];
	CHECK(cudaMemcpy(kept, b, N * sizeof(*b), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		sum = sum * 31 + kept[i];
	CHECK(cudaMemcpy(kept, bins, 128 * sizeof(*bins), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 128; i++)
		sum = sum * 31 + kept[i];
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
