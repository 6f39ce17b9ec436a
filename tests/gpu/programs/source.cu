// Instructions whose accesses are known: lines that end in a word with an exclamation mark are looked for by the tests.
#include <cstdio>

#include <cuda_runtime.h>

static const int N = 1 << 20;

// Each thread reads 4 bytes of a sector of its own.
__global__ void strided(const float *a, float *b)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = a[(size_t)i * 8 % N]; // strided!
	b[i] = x + 1.0f; // side by side!
}

// All threads of a warp want the same bank.
__global__ void conflicted(float *b)
{
	__shared__ float tile[32][32];
	int x = threadIdx.x % 32, y = threadIdx.x / 32;
	tile[y][x] = b[blockIdx.x * blockDim.x + threadIdx.x]; // no conflict!
	__syncthreads();
	float sum = 0;
	for (int k = 0; k < 8; k++)
		sum += tile[x][(y + k) % 32]; // conflict!
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static __device__ __noinline__ float helper(float x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1.0001f + 0.5f; // helper!
	return x;
}

__global__ void calls(float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i % 2) // diverges!
		b[i] = helper(b[i], n);
	else
		b[i] += 1;
}

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

int main()
{
	float *a, *b;
	double sum = 0;
	static float host[N];

	CHECK(cudaMalloc(&a, N * sizeof(float)));
	CHECK(cudaMalloc(&b, N * sizeof(float)));
	for (int i = 0; i < N; i++)
		host[i] = (float)(i % 1000);
	CHECK(cudaMemcpy(a, host, N * sizeof(float), cudaMemcpyHostToDevice));
	strided<<<N / 256, 256>>>(a, b);
	conflicted<<<N / 1024, 1024>>>(b);
	calls<<<N / 256, 256>>>(b, 64);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(host, b, N * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		sum += host[i];
	printf("sum %.6f\n", sum);
	return 0;
}
