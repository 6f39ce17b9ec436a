// Kernels with the names of those of tests/double/counted, to be compiled with line numbers: their code stands for the program's.
template <class T>
__global__ void add(T *a)
{
	a[threadIdx.x] += 1; // line 5
}
template __global__ void add<int>(int *);

namespace outer {
__global__ void twice(int *a)
{
	a[threadIdx.x * 33] *= 2; // line 12
}
}

extern "C" __global__ void plain_kernel(int *a)
{
	a[0] = 3;
}
