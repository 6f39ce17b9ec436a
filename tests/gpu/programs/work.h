/* Kernels that keep the multiprocessors, or the memory, busy. */
#pragma once

__global__ void compute(float *out, int rounds)
{
	float a = threadIdx.x, b = 1.0001f;

	for (int i = 0; i < rounds; i++)
		a = a * b + 0.5f;
	if (a == 12345.0f)
		*out = a;
}

__global__ void move(const float4 *from, float4 *to, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}
