// Kernels whose result depends on each having run exactly once: in place, with atomics, on several streams, with memory of every
// kind. Prints one number that any pass too many, or memory not put back, would change.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

static const int N = 1 << 22;
__device__ unsigned long long total; // a variable of the module

__global__ void in_place(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 1.5f + 1.0f;
}

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float s = 0;
	for (int k = 0; k < n; k++)
		s += a[y * n + k] * b[k * n + x];
	c[y * n + x] += s;
}

__global__ void histogram(const float *a, unsigned *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		atomicAdd(&bins[(unsigned)a[i] % 256u], 1u);
		atomicAdd(&total, 1ull);
	}
}

__global__ void to_host(unsigned *mapped, const unsigned *bins)
{
	mapped[threadIdx.x] = mapped[threadIdx.x] * 3u + bins[threadIdx.x];
}

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

int main()
{
	const int n = 1024;
	float *a, *b, *c, *pooled, *managed;
	unsigned *bins, *mapped, *mapped_device;
	cudaStream_t one, two;

	CHECK(cudaStreamCreate(&one));
	CHECK(cudaStreamCreate(&two));
	CHECK(cudaMalloc(&a, N * sizeof(float)));
	CHECK(cudaMalloc(&b, N * sizeof(float)));
	CHECK(cudaMalloc(&c, N * sizeof(float)));
	CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
	CHECK(cudaMallocAsync(&pooled, N * sizeof(float), one));
	CHECK(cudaMallocManaged(&managed, N * sizeof(float)));
	CHECK(cudaHostAlloc(&mapped, 256 * sizeof(unsigned), cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer(&mapped_device, mapped, 0));
	CHECK(cudaMemset(a, 0, N * sizeof(float)));
	CHECK(cudaMemset(b, 0, N * sizeof(float)));
	CHECK(cudaMemset(c, 0, N * sizeof(float)));
	CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
	CHECK(cudaMemsetAsync(pooled, 0, N * sizeof(float), one));
	for (int i = 0; i < N; i++)
		managed[i] = i % 7;
	for (int i = 0; i < 256; i++)
		mapped[i] = i;
	for (int round = 0; round < 3; round++) {
		in_place<<<N / 256, 256, 0, one>>>(a, N);
		in_place<<<N / 256, 256, 0, two>>>(b, N);
		in_place<<<N / 256, 256, 0, one>>>(pooled, N);
		in_place<<<N / 256, 256, 0, two>>>(managed, N);
		CHECK(cudaDeviceSynchronize());
		multiply<<<dim3(n / 32, n / 32), dim3(32, 32), 0, one>>>(a, b, c, n);
		histogram<<<N / 256, 256, 0, one>>>(c, bins, N);
		to_host<<<1, 256, 0, one>>>(mapped_device, bins);
		CHECK(cudaDeviceSynchronize());
	}
	std::vector<float> host(N);
	uint64_t sum = 0;
	for (float *memory : { a, b, c, pooled, managed }) {
		CHECK(cudaMemcpy(host.data(), memory, N * sizeof(float), cudaMemcpyDefault));
		for (int i = 0; i < N; i += 97)
			sum = sum * 1099511628211ull + (uint64_t)(host[i] * 16);
	}
	for (int i = 0; i < 256; i++)
		sum = sum * 1099511628211ull + mapped[i];
	unsigned long long counted;
	CHECK(cudaMemcpyFromSymbol(&counted, total, sizeof(counted)));
	printf("sum %llu counted %llu\n", (unsigned long long)sum, counted);
	return 0;
}
