// A kernel with the name of one of tests/double/counted, made of functions that are inlined in each other.
__device__ __forceinline__ int deep(int *p, int i)
{
	return p[i] * 3; // written
}

__device__ __forceinline__ int middle(int *p, int i)
{
	int x = deep(p, i); // first call
	return x + deep(p, i + 1000); // second call
}

template <class T>
__global__ void add(T *p)
{
	p[threadIdx.x] = middle(p, threadIdx.x + 5); // outermost
	p[threadIdx.x + 99] = middle(p, threadIdx.x + 77); // outermost, again
}
template __global__ void add<int>(int *);

// Another one behind it: calls are numbered anew in each.
extern "C" __global__ void plain_kernel(int *p)
{
	p[threadIdx.x] = deep(p, threadIdx.x); // plain
}
